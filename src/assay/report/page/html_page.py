"""The HTML report: one self-contained file, made from the built page and islands of data.

The island `report` is plain JSON and enough for the first screen: the script follows it directly and does not wait for
the rest of the file. `rows` holds a short row for every case, `scores-N` the scores of one configuration, `slices` how
each slice changed since the baseline, `detail-N` cases in full as far as the budget allows; these four are deflated,
and unpacked when they are needed. The shapes of all islands are in `report/schemas/html-page.schema.json`.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import msgspec

from assay.report.page.case_data import HtmlData, Json, build_case_detail, build_case_rows, build_score_columns
from assay.report.page.overview import build_answer_columns, shorten_case
from assay.report.page.summary import build_slice_changes, build_summary_data

CSP_MARK, ISLANDS_MARK = "<!--assay:csp-->", "<!--assay:islands-->"
MAX_ISLAND_BYTES = 256 * 1024
"""Bytes of JSON in one `detail-N` island: what the browser decodes to open one case."""
MAX_CASE_BYTES = 2_000_000
"""Bytes of JSON of the largest case that is held in full; `assay explain` shows larger ones.

Without the limit, one huge case could use up the budget of all others.
"""
FIRST_DETAILS = 32
"""Cases read before the first screen is written, so that it can show the answers of those that failed."""

_SCRIPT_ELEMENT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL)
_STYLE_ELEMENT = re.compile(r"<style\b[^>]*>(.*?)</style>", re.DOTALL)
_ESCAPES = tuple(
    (sign.encode(), rf"\u{ord(sign):04x}".encode()) for sign in ("<", ">", "&", "\N{LINE SEPARATOR}", "\u2029")
)


def render_html_report(data: HtmlData, asset: str) -> Iterator[bytes]:
    """Yield the document in pieces; the same data and asset give the same bytes.

    `asset` is the built page, with a mark for the policy and one for the islands. Raises ValueError if one is missing.
    """
    head, script, tail = split_asset(asset)
    details = data.details if data.detail_mb > 0 else ()
    cases = ((detail.case_index, build_case_detail(detail, data)) for detail in details)
    first_cases = list(islice(cases, FIRST_DETAILS))
    first_short = {case_index: shorten_case(case_data) for case_index, case_data in first_cases}
    yield head.encode()
    yield _render_island("report", "application/json", escape_script_json(build_summary_data(data, first_short)))
    yield f'<script type="module" async>{script}</script>\n'.encode()
    for number, (_, result) in enumerate(sorted(data.scoring.configs.items())):
        yield _render_packed_island(f"scores-{number}", msgspec.json.encode(build_score_columns(result, data)))
    if data.comparison is not None:
        slice_changes = build_slice_changes(data.comparison)
        yield _render_packed_island("slices", msgspec.json.encode(slice_changes))
    islands, short_cases = yield from _render_detail_islands(chain(first_cases, cases), data.detail_mb)
    yield _render_packed_island("rows", msgspec.json.encode(_build_rows(data, islands, short_cases)))
    yield tail.encode()


def split_asset(asset: str) -> tuple[str, str, str]:
    """Return what comes before the islands, with its policy and without the script; the script; and what comes after.

    Raises ValueError if `asset` is no built page.
    """
    for mark in (CSP_MARK, ISLANDS_MARK):
        if asset.count(mark) != 1:
            raise ValueError(f"the page must hold {mark} once")
    head, _, tail = asset.partition(ISLANDS_MARK)
    script = _SCRIPT_ELEMENT.search(head)
    if script is None:
        raise ValueError("the page must hold a script")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{build_security_policy(asset)}">'
    return head.replace(CSP_MARK, policy).replace(script[0], ""), script[1], tail


def render_data_page(record: Any, asset: str) -> bytes:
    """Return a page with all its data in one island, `page`; the same data and asset give the same bytes."""
    head, script, tail = split_asset(asset)
    island = _render_island("page", "application/json", escape_script_json(record))
    return head.encode() + island + f'<script type="module">{script}</script>\n'.encode() + tail.encode()


def _build_rows(data: HtmlData, islands: dict[int, int], short_cases: dict[int, Json]) -> Json:
    rows = build_case_rows(data, islands)
    rows["expected"] = [
        short_cases[number]["expected"] if number in short_cases else None for number in range(len(data.cases))
    ]
    for config, config_rows in rows["configs"].items():
        config_rows.update(build_answer_columns(config, len(data.cases), short_cases))
    return rows


def build_security_policy(asset: str) -> str:
    """Return the content security policy: only the page's own script and style may run, and nothing may be fetched."""
    scripts = " ".join(_hash_source(match[1]) for match in _SCRIPT_ELEMENT.finditer(asset))
    styles = " ".join(_hash_source(match[1]) for match in _STYLE_ELEMENT.finditer(asset))
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def escape_script_json(record: Any) -> bytes:
    """Return JSON escaped for a script element: nothing in it ends the element or a line.

    >>> escape_script_json(["</script>&"]).decode()
    '["\\\\u003c/script\\\\u003e\\\\u0026"]'
    """
    text: bytes = msgspec.json.encode(record)
    for sign, code in _ESCAPES:
        text = text.replace(sign, code)
    return text


def _hash_source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _render_detail_islands(
    cases: Iterable[tuple[int, Json]], detail_mb: float
) -> Generator[bytes, None, tuple[dict[int, int], dict[int, Json]]]:
    """Yield islands of cases in full until the budget is spent; return the island number and short form of each."""
    remaining = detail_mb * 1_000_000
    island_by_case: dict[int, int] = {}
    pending: dict[int, bytes] = {}
    island_number = size = 0
    short_cases: dict[int, Json] = {}
    for case_index, case_data in cases:
        text = msgspec.json.encode(case_data)
        if len(text) > MAX_CASE_BYTES:
            continue
        short = shorten_case(case_data)
        remaining -= len(text) + len(msgspec.json.encode(short))  # the short form is written too, with the rows
        if remaining < 0:
            break
        pending[case_index] = text
        short_cases[case_index] = short
        size += len(text)
        if size >= MAX_ISLAND_BYTES:
            yield _render_detail_island(island_number, pending, island_by_case)
            pending, size, island_number = {}, 0, island_number + 1
    if pending:
        yield _render_detail_island(island_number, pending, island_by_case)
    return island_by_case, short_cases


def _render_detail_island(island_number: int, pending: dict[int, bytes], island_by_case: dict[int, int]) -> bytes:
    island_by_case.update(dict.fromkeys(pending, island_number))
    members = b",".join(b'"%d":%b' % (case_index, text) for case_index, text in pending.items())
    return _render_packed_island(f"detail-{island_number}", b"{" + members + b"}")


def _render_packed_island(name: str, text: bytes) -> bytes:
    return _render_island(name, "text/plain", base64.b64encode(zlib.compress(text, 6)))


def _render_island(name: str, kind: str, content: bytes) -> bytes:
    return f'<script type="{kind}" id="{name}">'.encode() + content + b"</script>\n"
