"""The HTML report: one file that asks for nothing, made from the built page and three kinds of data islands.

`report` is plain JSON and is enough for the first screen: the script stands right behind it and does not wait for the
rest. `rows` holds a slim row for every case, `scores-N` the scores of one configuration, `detail-N` whole cases as far
as the budget goes; these are deflated, and unpacked when a reader asks for them.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Generator, Iterator
from typing import Any

import msgspec

from assay.report.html_case import detail_of
from assay.report.html_data import HtmlData
from assay.report.html_rows import rows_of, scores_of
from assay.report.html_summary import report_of

CSP_MARK, ISLANDS_MARK = "<!--assay:csp-->", "<!--assay:islands-->"
ISLAND_BYTES = 256 * 1024
"""JSON in one island of whole cases: what is decoded when a reader opens one of them."""
LARGEST = 2_000_000
"""JSON of one whole case that is held; a larger one is left to `assay explain`, so that it does not cost all others."""

_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style>", re.DOTALL)
_ESCAPES = tuple(
    (sign.encode(), rf"\u{ord(sign):04x}".encode()) for sign in ("<", ">", "&", "\N{LINE SEPARATOR}", "\u2029")
)


def to_html(data: HtmlData, asset: str) -> Iterator[bytes]:
    """Yield the document in pieces; the same data and asset give the same bytes.

    `asset` is the built page, with a mark for the policy and one for the islands. Raises ValueError where it is not.
    """
    for mark in (CSP_MARK, ISLANDS_MARK):
        if asset.count(mark) != 1:
            raise ValueError(f"the page must hold {mark} once")
    head, _, tail = asset.partition(ISLANDS_MARK)
    script = _SCRIPT.search(head)
    if script is None:
        raise ValueError("the page must hold a script")
    head = head.replace(CSP_MARK, f'<meta http-equiv="Content-Security-Policy" content="{policy(asset)}">')
    yield head.replace(script[0], "").encode()
    yield _island("report", "application/json", escaped(report_of(data)))
    yield f'<script type="module" async>{script[1]}</script>\n'.encode()
    for number, (_, result) in enumerate(sorted(data.scoring.configs.items())):
        yield _packed(f"scores-{number}", msgspec.json.encode(scores_of(result, data)))
    islands = yield from _details(data)
    yield _packed("rows", msgspec.json.encode(rows_of(data, islands)))
    yield tail.encode()


def policy(asset: str) -> str:
    """Return the content security policy: only the page's own script and style may run, and nothing may be fetched."""
    scripts = " ".join(_hash(match[1]) for match in _SCRIPT.finditer(asset))
    styles = " ".join(_hash(match[1]) for match in _STYLE.finditer(asset))
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def escaped(record: Any) -> bytes:
    """Return JSON that may stand inside a script element: nothing in it ends the element or a line.

    >>> escaped(["</script>&"]).decode()
    '["\\\\u003c/script\\\\u003e\\\\u0026"]'
    """
    text: bytes = msgspec.json.encode(record)
    for sign, code in _ESCAPES:
        text = text.replace(sign, code)
    return text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _details(data: HtmlData) -> Generator[bytes, None, dict[int, int]]:
    """Yield islands of whole cases until the budget is spent; return the island of each case that is in one."""
    left = data.detail_mb * 1_000_000
    found: dict[int, int] = {}
    waiting: dict[int, bytes] = {}
    number = size = 0
    for detail in data.details if left > 0 else ():
        text = msgspec.json.encode(detail_of(detail, data))
        if len(text) > LARGEST:
            continue
        left -= len(text)
        if left < 0:
            break
        waiting[detail.place] = text
        size += len(text)
        if size >= ISLAND_BYTES:
            yield _filled(number, waiting, found)
            waiting, size, number = {}, 0, number + 1
    if waiting:
        yield _filled(number, waiting, found)
    return found


def _filled(number: int, waiting: dict[int, bytes], found: dict[int, int]) -> bytes:
    found.update(dict.fromkeys(waiting, number))
    members = b",".join(b'"%d":%b' % (place, text) for place, text in waiting.items())
    return _packed(f"detail-{number}", b"{" + members + b"}")


def _packed(name: str, text: bytes) -> bytes:
    return _island(name, "text/plain", base64.b64encode(zlib.compress(text, 6)))


def _island(name: str, kind: str, content: bytes) -> bytes:
    return f'<script type="{kind}" id="{name}">'.encode() + content + b"</script>\n"
