"""Makes text safe to write: secrets are removed, and what would have an effect in an output is escaped.

Secrets are known values, and texts that look like keys. Ids, questions and answers are untrusted: each kind of output
(Markdown, a terminal or build log, a CSV cell) has its own escapes.
"""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.secret_forms import REDACTED, remove_secrets

MIN_SECRET_LENGTH = 6

_SECRET_NAME = LatePattern(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION)(_?\d+)?$", re.IGNORECASE)


class Redactor:
    """Replaces the given secret values in any text, and in messages also everything that looks like a secret.

    A value is also found where it is encoded in base64, hexadecimal digits or percent signs, and with the escapes of
    JSON (also JSON within JSON), HTML and Python.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        plain_secrets = {secret for secret in secrets if len(secret) >= MIN_SECRET_LENGTH}
        long_enough = {spelling for secret in plain_secrets for spelling in _list_spellings(secret)}
        # Longest first, so that a secret is replaced before another one that is part of it.
        self._secrets = tuple(sorted(long_enough, key=lambda secret: (-len(secret), secret)))
        self._json_secrets = [json.dumps(secret, ensure_ascii=False)[1:-1].encode() for secret in self._secrets]
        self._pattern = re.compile("|".join(map(re.escape, self._secrets))) if self._secrets else None

    def may_contain_secret(self, line: bytes) -> bool:
        """Return whether a line of JSON may hold a secret value: a fast test without false negatives."""
        return any(secret in line for secret in self._json_secrets)

    def redact_text(self, text: str) -> str:
        """Return `text` without the secret values."""
        if self._pattern is None or not any(secret in text for secret in self._secrets):
            return text
        return self._pattern.sub(REDACTED, text)

    def redact_message(self, text: str) -> str:
        """Return an error message without the secret values and without anything that looks like a key."""
        return remove_secrets(self.redact_text(text))[0]

    def redact_value(self, value: Any) -> Any:
        """Return plain values (objects with their keys, lists, texts) without the secret values."""
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, Mapping):
            return self._redact_members(value)
        if isinstance(value, (list, tuple)):
            return [self.redact_value(item) for item in value]
        return value

    def _redact_members(self, members: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the members with redacted keys; keys that become equal are numbered, so that no member is lost."""
        redacted: dict[Any, Any] = {}
        for key, item in members.items():
            clean_key = base = self.redact_text(key) if isinstance(key, str) else key
            number = 1
            while clean_key in redacted:
                number += 1
                clean_key = f"{base} {number}"
            redacted[clean_key] = self.redact_value(item)
        return redacted


_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _list_spellings(secret: str) -> set[str]:
    """Return a secret and its common encodings.

    >>> sorted(_list_spellings("s3cret+x"))[:4]
    ['7333637265742B78', '7333637265742b78', 'MzY3JldCt4', 'czNjcmV0K3']
    """
    import html  # few runs have secrets, and the table of entities in it takes as long to load as scoring a case

    data = secret.encode("utf-8", "surrogatepass")
    spellings = {secret, data.hex(), data.hex().upper(), repr(secret)[1:-1], repr(data)[2:-1]}
    for unescaped in (_UNRESERVED, _UNRESERVED | {"/"}, _UNRESERVED | frozenset("!$&'()*+,;=:@/")):
        for escape in ("%{:02X}", "%{:02x}"):  # what stays in a path and in a query differs, and so does the case
            percent = "".join(chr(byte) if chr(byte) in unescaped else escape.format(byte) for byte in data)
            spellings |= {percent, percent.replace("%20", "+")}
    for as_ascii in (True, False):
        once = json.dumps(secret, ensure_ascii=as_ascii)[1:-1]
        spellings |= {once, once.replace("/", "\\/"), json.dumps(once, ensure_ascii=as_ascii)[1:-1]}
    spellings |= {html.escape(secret), html.escape(secret, quote=False), secret.replace("&", "&amp;")}
    for offset in range(3):  # the secret may begin at any byte of a group of three
        encoded = b64encode(bytes(offset) + data).decode().rstrip("=")
        # The first and the last character may also hold bits of what is around the secret.
        first, last = -(-offset * 8 // 6), (offset + len(data)) * 8 // 6
        inner = encoded[first:last]
        spellings |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {spelling for spelling in spellings if len(spelling) >= MIN_SECRET_LENGTH}


WITHHELD = "[withheld]"

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

# Character references never start a Markdown construct, so one table serves cells, headings and running text.
_OWN_COMMAND = compile_pattern(r"`(assay(?: [A-Za-z0-9_.=-]+)*)`")
_MARKDOWN = {ord(sign): f"&#{ord(sign)};" for sign in "\\`*[]|~"} | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
}
_EDGE_UNDERSCORE = LatePattern(r"(?<![^\W_])_|_(?![^\W_])")
_ACTIVE_COLON_OR_DOT = LatePattern(r":(?=//)|(?<=www)\.|(?<=mailto):|(?<!\S):(?=:)", re.IGNORECASE)
# GitHub notifies people (@name, @team) and links issues (#1, GH-1) in the rendered text, where a character reference is
# a plain character again; only something between the sign and the name stops it.
# Within a word, and in the name of a metric such as ndcg(gain=linear)@10, the sign means nothing.
_GITHUB_REFERENCE = LatePattern(
    r"(?<!\w)(?<!\)(?=@\d{1,9}(?![\w-])))@(?=[A-Za-z0-9])|(?<!&)#(?=[0-9])|\bGH-(?=[0-9])", re.IGNORECASE
)
_BLOCK_MARK = LatePattern(r"^\s*(?:[-+](?=\s|$)|[-=](?=[-=\s]*$)|#(?=#*(?:\s|$))|\d{1,9}[.)](?=\s|$))")

# GitHub reads `::command` after white space at the start of a line, `##[command]` anywhere; Azure `##vso[…]` anywhere.
# A narrow table may break a line inside a word, so GitHub's own commands are escaped wherever they occur.
_GITHUB = (
    "add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|notice|remove-matcher|save-state|set-env|set-output"
    "|stop-commands|warning"
)
_WORKFLOW_COMMAND = compile_pattern(rf"(?<!\S):(?=:)|:(?=:(?:{_GITHUB})\b)|#(?=#[A-Za-z]*\[)", re.IGNORECASE)

# C1 controls, DEL, soft hyphen, bidirectional and zero-width characters, line separators, tags; not the line feed.
_INVISIBLE_IN_JSON = LatePattern(
    "[\x7f-\x9f\u00ad\u061c\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

_FORMULA_STARTS = tuple("=+-@\t\r\n\0＝＋－＠")


def escape_invisible(text: str) -> str:
    r"""Return `text` with control, bidirectional, zero-width and other invisible characters as `\u` escapes.

    >>> escape_invisible("a\u202eb\x1b[2J\n")
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


def escape_surrogates(text: str) -> str:
    r"""Return `text` with lone surrogates as escapes; Python decodes file names that are not UTF-8 to them.

    >>> escape_surrogates("r\udce9sum\udce9")
    'r\\udce9sum\\udce9'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shorten_to_line(text: str, limit: int = 120) -> str:
    r"""Return `text` on one line, runs of white space joined, cut to `limit` characters.

    >>> shorten_to_line("How many\n  days?", limit=10)
    'How many …'
    """
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def shorten_at_word(line: str, width: int) -> str:
    """Return a line of at most `width` characters, cut between two words where it is longer.

    >>> shorten_at_word(" - recall@10 is below the bound", 20), shorten_at_word("x" * 9, 5)
    (' - recall@10 is …', 'xxxx…')
    >>> shorten_at_word("acl_001, acl_003 … and 3 more", 22)
    'acl_001, acl_003 …'
    """
    if len(line) <= width:
        return line
    cut = line.rfind(" ", 0, width - 1)
    return f"{line[:cut].removesuffix(' …')} …" if line[: max(cut, 0)].strip(" -") else f"{line[: width - 1]}…"


def escape_markdown(text: str) -> str:
    r"""Return `text` as inert Markdown for a cell or a line: no cell border, link, code, HTML, list or heading.

    A command of Assay between backticks stays code: nothing in it is active.

    >>> escape_markdown("a|b `c` <script> [x](javascript:1)")
    'a&#124;b &#96;c&#96; &lt;script&gt; &#91;x&#93;(javascript:1)'
    >>> escape_markdown("# hr_leave_001")
    '&#35; hr_leave_001'
    >>> escape_markdown("run `assay judge` on *all*")
    'run `assay judge` on &#42;all&#42;'
    """
    # A text cannot end or open a code span of its own: the other backticks are escaped.
    pieces = _OWN_COMMAND.split(text)
    return "".join(f"`{piece}`" if index % 2 else _escape_line(piece) for index, piece in enumerate(pieces))


def _escape_line(text: str) -> str:
    safe = escape_invisible(text).translate(_MARKDOWN)
    safe = _EDGE_UNDERSCORE.sub("&#95;", safe)
    safe = _ACTIVE_COLON_OR_DOT.sub(lambda match: f"&#{ord(match[0])};", safe)
    safe = _GITHUB_REFERENCE.sub(r"\g<0>&#8203;", safe)
    mark = _BLOCK_MARK.match(safe)
    if mark is None:
        return safe
    end = mark.end()
    return f"{safe[: end - 1]}&#{ord(safe[end - 1])};{safe[end:]}"


def escape_terminal(text: str) -> str:
    r"""Return `text` for a terminal or a build log: nothing in it moves the cursor or is read as a build command.

    >>> escape_terminal("::set-output name=x::1 ##vso[task.complete]")
    '\\u003a:set-output name=x::1 \\u0023#vso[task.complete]'
    """
    return _WORKFLOW_COMMAND.sub(lambda match: _escape_character(match[0]), escape_invisible(text))


def escape_json_for_log(text: str) -> str:
    r"""Return equivalent JSON text for a terminal or a build log: no build command, no control or bidi character.

    >>> escape_json_for_log('{"name": "##[add-path]/tmp"}')
    '{"name": "\\u0023#[add-path]/tmp"}'
    """
    escaped = _WORKFLOW_COMMAND.sub(lambda match: _escape_character(match[0]), text)
    return _INVISIBLE_IN_JSON.sub(lambda match: json.dumps(match[0])[1:-1], escaped)


def escape_csv_cell(text: str) -> str:
    """Return `text` so that no spreadsheet takes it for a formula; the CSV writer adds quotes.

    >>> escape_csv_cell("=1+1")
    "'=1+1"
    """
    if text.startswith(_FORMULA_STARTS) or text.lstrip().startswith(_FORMULA_STARTS):
        return "'" + text
    return text


def withhold_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return `text` with each of `secrets` replaced, ignoring case and white space.

    >>> withhold_secrets("The code is Zebra-7.", ["zebra-7"])
    'The code is [withheld].'
    """
    for secret in sorted(secrets, key=lambda secret_text: (-len(secret_text), secret_text)):
        words = secret.split()
        if words:
            text = re.sub(r"\s+".join(map(re.escape, words)), WITHHELD, text, flags=re.IGNORECASE)
    return text
