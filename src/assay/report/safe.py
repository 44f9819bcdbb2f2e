"""Escaping of untrusted text, one function for each kind of output: Markdown, a terminal or build log, a CSV cell.

Ids, questions and answers are untrusted. Characters that would have an effect in the output are replaced by escapes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

WITHHELD = "[withheld]"

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

# Character references never start a Markdown construct, so one table serves cells, headings and running text.
_MARKDOWN = {ord(sign): f"&#{ord(sign)};" for sign in "\\`*[]|~"} | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
}
_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_ACTIVE_COLON_OR_DOT = re.compile(r":(?=//)|(?<=www)\.|(?<=mailto):|(?<!\S):(?=:)", re.IGNORECASE)
_BLOCK_MARK = re.compile(r"^\s*(?:[-+](?=\s|$)|[-=](?=[-=\s]*$)|#(?=#*(?:\s|$))|\d{1,9}[.)](?=\s|$))")

# GitHub reads `::command` after white space at the start of a line, `##[command]` anywhere; Azure `##vso[…]` anywhere.
# A narrow table may break a line inside a word, so GitHub's own commands are escaped wherever they occur.
_GITHUB = (
    "add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|notice|remove-matcher|save-state|set-env|set-output"
    "|stop-commands|warning"
)
_WORKFLOW_COMMAND = re.compile(rf"(?<!\S):(?=:)|:(?=:(?:{_GITHUB})\b)|#(?=#[A-Za-z]*\[)", re.IGNORECASE)

_FORMULA_STARTS = tuple("=+-@\t\r\n\0＝＋－＠")


def visible(text: str) -> str:
    r"""Return `text` with control, bidirectional, zero-width and other invisible characters as `\u` escapes.

    >>> visible("a\u202eb\x1b[2J\n")
    'a\\u202eb\\u001b[2J\\u000a'
    """
    if text.isprintable():
        return text
    return "".join(
        _escape_character(sign) if unicodedata.category(sign) in _INVISIBLE_CATEGORIES else sign for sign in text
    )


def _escape_character(sign: str) -> str:
    code = ord(sign)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def encodable(text: str) -> str:
    r"""Return `text` with lone surrogates as escapes; Python decodes file names that are not UTF-8 to them.

    >>> encodable("r\udce9sum\udce9")
    'r\\udce9sum\\udce9'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def one_line(text: str, limit: int = 120) -> str:
    r"""Return `text` on one line, runs of white space joined, cut to `limit` characters.

    >>> one_line("How many\n  days?", limit=10)
    'How many …'
    """
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def markdown(text: str) -> str:
    r"""Return `text` as inert Markdown for a cell or a line: no cell border, link, code, HTML, list or heading.

    >>> markdown("a|b `c` <script> [x](javascript:1)")
    'a&#124;b &#96;c&#96; &lt;script&gt; &#91;x&#93;(javascript:1)'
    >>> markdown("# hr_leave_001")
    '&#35; hr_leave_001'
    """
    safe = visible(text).translate(_MARKDOWN)
    safe = _EDGE_UNDERSCORE.sub("&#95;", safe)
    safe = _ACTIVE_COLON_OR_DOT.sub(lambda match: f"&#{ord(match[0])};", safe)
    mark = _BLOCK_MARK.match(safe)
    if mark is None:
        return safe
    end = mark.end()
    return f"{safe[: end - 1]}&#{ord(safe[end - 1])};{safe[end:]}"


def terminal(text: str) -> str:
    r"""Return `text` for a terminal or a build log: nothing in it moves the cursor or is read as a build command.

    >>> terminal("::set-output name=x::1 ##vso[task.complete]")
    '\\u003a:set-output name=x::1 \\u0023#vso[task.complete]'
    """
    return _WORKFLOW_COMMAND.sub(lambda match: _escape_character(match[0]), visible(text))


def json_for_log(text: str) -> str:
    r"""Return equivalent JSON text that a build server does not read as a command when it is in the build log.

    >>> json_for_log('{"name": "##[add-path]/tmp"}')
    '{"name": "\\u0023#[add-path]/tmp"}'
    """
    return _WORKFLOW_COMMAND.sub(lambda match: _escape_character(match[0]), text)


def csv_cell(text: str) -> str:
    """Return `text` so that no spreadsheet takes it for a formula; the CSV writer adds quotes.

    >>> csv_cell("=1+1")
    "'=1+1"
    """
    if text.startswith(_FORMULA_STARTS) or text.lstrip().startswith(_FORMULA_STARTS):
        return "'" + text
    return text


def without(text: str, secrets: Iterable[str]) -> str:
    """Return `text` with each of `secrets` replaced, ignoring case and white space.

    >>> without("The code is Zebra-7.", ["zebra-7"])
    'The code is [withheld].'
    """
    for secret in sorted(secrets, key=lambda secret_text: (-len(secret_text), secret_text)):
        words = secret.split()
        if words:
            text = re.sub(r"\s+".join(map(re.escape, words)), WITHHELD, text, flags=re.IGNORECASE)
    return text
