"""Take Markdown, HTML and typographic characters off a text, so that texts are compared by what a reader sees."""

from __future__ import annotations

import html
import re
import unicodedata

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.text_cache import cache_by_text

_ESCAPED = LatePattern(r"\\([\\`*_{}\[\]()#+\-.!|~>])")
_ESCAPED_MARKS = "\\`*_{}[]()#+-.!|~>"
_FIRST_HIDDEN = 0xE100  # private characters that stand for escaped marks while markup is removed
_HIDE = {ord(mark): chr(_FIRST_HIDDEN + number) for number, mark in enumerate(_ESCAPED_MARKS)}
_SHOW = {_FIRST_HIDDEN + number: mark for number, mark in enumerate(_ESCAPED_MARKS)}
_HIDDEN = compile_pattern(f"[{min(_HIDE.values())}-{max(_HIDE.values())}]")

_STRUCK = LatePattern(r"~~[^~\n]{1,400}~~|<(del|s|strike)>[^<>]{0,400}</\1>", re.IGNORECASE)
_BREAKING_TAG = LatePattern(
    r"</?(?:br|p|div|ul|ol|li|h[1-6]|table|tr|td|th|thead|tbody|pre|blockquote|hr)\b[^<>]{0,200}>", re.IGNORECASE
)
_INLINE_TAG = LatePattern(
    r"</?(?:b|strong|i|em|u|s|del|ins|span|code|sup|sub|a|font|mark|small|big|kbd|abbr|cite|q|img)\b[^<>]{0,400}>",
    re.IGNORECASE,
)
_COMMENT_START, _COMMENT_END, _LONGEST_COMMENT = "<!--", "-->", 2000
_LINK = LatePattern(r"!?\[([^\[\]\n]{0,400})\]\([^()\s]{0,400}(?: \"[^\"\n]{0,200}\")?\)")
_CITATION = LatePattern(r" ?\[\^?\d{1,3}(?: ?[-,–] ?\d{1,3}){0,8}\]|\[\^[\w-]{1,40}\]|【[^【】\n]{1,80}】")
_FENCE = LatePattern(r"^[ \t]*(?:`{3,}|~{3,})[\w+-]*[ \t]*$|`{3,}", re.MULTILINE)
_CODE = LatePattern(r"`([^`\n]{1,400})`")
_GERMAN_DATE = (
    r"(?!\d{1,2}\. (?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)"
    r"(?: \d{4}\b|[.,;]|$))"
)
"""What is no number of a list: "12. März 2024"."""
_LINE_START = compile_pattern(
    rf"^[ \t]*(?:>[ \t>]*)?(?:#{{1,6}}[ \t]+|[-*+•‣▪●][ \t]+|{_GERMAN_DATE}\d{{1,3}}[.)][ \t]+)?", re.MULTILINE
)
_TABLE_RULE = compile_pattern(
    r"^[ \t]*+(?:\|[ \t]*+)?:?-{2,}+:?[ \t]*+(?>(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)*)\|?[ \t]*+$", re.MULTILINE
)
_STARS = LatePattern(r"(\*{2,3})(?=\S)([^*\n]{1,800}?)(?<=\S)\1")
_STAR = LatePattern(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,800}?)(?<=[^\s*])\*(?![\w*])")
_UNDERSCORES = LatePattern(r"(?<![^\W_])(_{1,3})(?=[^\s_])([^\n]{1,800}?)(?<=[^\s_])\1(?![^\W_])")
_MARKUP = compile_pattern(r"[*_`~<|\[\\#>&]|^[ \t]*(?:[-+•‣▪●]|\d{1,3}[.)])[ \t]|【", re.MULTILINE)

_SPELLINGS = {
    **dict.fromkeys("‘’‚‛ʼʹ′´＇", "'"),
    **dict.fromkeys("“”„‟″«»＂", '"'),
    **dict.fromkeys("‐‑‒–−﹣－", "-"),
    **dict.fromkeys("—―", " - "),
    "⁄": "/",
    "º": "°",
}
_FRACTIONS = {"½": "5", "¼": "25", "¾": "75", "⅕": "2", "⅖": "4", "⅗": "6", "⅘": "8", "⅛": "125"}
_FRACTION = LatePattern(rf"(?<!\d)(\d*+)([{''.join(_FRACTIONS)}])")
_INVISIBLE = compile_pattern("[\u00ad\u2060\ufeff\u200c\u200d]|(?<=[a-zA-Z])\u200b(?=[a-zA-Z])")
_HAS_SPELLING = compile_pattern(f"[{''.join(map(re.escape, _SPELLINGS))}]")


class _PlainTable(dict[int, str]):
    """A table for `str.translate`, filled on demand: what a typographic or full-width character stands for."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = _SPELLINGS.get(character)
        if plain is None:
            plain = (
                unicodedata.normalize("NFKC", character) if unicodedata.decomposition(character)[:1] == "<" else None
            )
        self[code] = plain = character if plain is None else plain
        return plain


_PLAIN = _PlainTable()


_NUMBERED = compile_pattern(rf"^[ \t]*(?:>[ \t>]*)?{_GERMAN_DATE}(\d{{1,3}})[.)](?=[ \t]+\S)", re.MULTILINE)


def blank_list_numbers(text: str) -> str:
    """Return a text with the numbers of its numbered lists as spaces: they count lines, and state nothing.

    A list begins with 1, and each of its lines has the next number; a line that begins with another one states it.

    >>> blank_list_numbers("Two:\\n1. Paris\\n2. Rome\\n40. The last seat").splitlines()
    ['Two:', '   Paris', '   Rome', '40. The last seat']
    """
    parts: list[str] = []
    done = last = 0
    for match in _NUMBERED.finditer(text):
        number = int(match[1])
        if number not in (1, last + 1):
            continue
        last = number
        parts += [text[done : match.start(1)], " " * (match.end() - match.start(1))]
        done = match.end()
    return "".join([*parts, text[done:]])


@cache_by_text(maxsize=4096, longest=4000)  # every metric of an answer compares the same text
def remove_markup(text: str) -> str:
    """Return the text as it is read: without Markdown, HTML, struck-out text and numbered citation markers.

    Entities, full-width and typographic characters become plain ones; diacritics stay. Lines are kept.

    >>> remove_markup("You get **１２**&nbsp;days, ~~not 14~~ see `a_b` and [HR](https://example.org) [1].")
    'You get 12 days,  see a_b and HR.'
    """
    if not text.isascii():
        text = _make_plain(text)
    return _strip_markup(text) if _MARKUP.search(text) else text


def _make_plain(text: str) -> str:
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    if unicodedata.is_normalized("NFKC", text) and not _HAS_SPELLING.search(text):
        return text  # accented letters alone, as in most texts
    text = _FRACTION.sub(lambda match: f"{match[1] or 0}.{_FRACTIONS[match[2]]}", text)
    return text.translate(_PLAIN)


def _replace_comments(text: str) -> str:
    """Replace each HTML comment of at most 2,000 characters by a space, in one pass over the text."""
    parts: list[str] = []
    done = start = 0
    while (start := text.find(_COMMENT_START, start)) >= 0:
        inside = start + len(_COMMENT_START)
        end = text.find(_COMMENT_END, inside, inside + _LONGEST_COMMENT + len(_COMMENT_END))
        if end < 0:
            start = inside
            continue
        parts += [text[done:start], " "]
        done = start = end + len(_COMMENT_END)
    return "".join([*parts, text[done:]])


def _strip_markup(text: str) -> str:
    if "\\" in text:
        text = _ESCAPED.sub(lambda match: _HIDE[ord(match[1])], text)
    if "&" in text:
        unescaped = html.unescape(text)
        if unescaped != text:
            # "&lt;b&gt;" is shown as "<b>": marks that come from entities are no markup
            text = _unescape_hidden(text)
    if "<" in text:
        text = _replace_comments(text)
        text = _STRUCK.sub("", text)
        text = _INLINE_TAG.sub("", _BREAKING_TAG.sub("\n", text))
    elif "~~" in text:
        text = _STRUCK.sub("", text)
    if "[" in text or "【" in text:
        text = _CITATION.sub("", _LINK.sub(r"\1", text))
    if "`" in text or "~~~" in text:
        text = _CODE.sub(r"\1", _FENCE.sub("", text))
    if "|" in text:
        text = _TABLE_RULE.sub("", text).replace("|", " ")
    text = _LINE_START.sub("", text)
    if "_" in text:
        text = _UNDERSCORES.sub(r"\2", text)
    if "*" in text:
        text = _STAR.sub(r"\1", _STARS.sub(r"\2", text))
    return text.translate(_SHOW) if _HIDDEN.search(text) is not None else text


_FEWEST_COLUMNS = 3  # of a table whose header tells the values of a row apart
_LONGEST_TABLE = 20_000


def spell_table_rows(text: str) -> str:
    """Return the text with each row of a Markdown table of three or more columns as a sentence with its headers.

    >>> print(spell_table_rows("| Plan | Basic | Pro |\\n|---|---|---|\\n| Storage | 5 GB | 20 GB |"))
    Storage: Basic 5 GB, Pro 20 GB.
    """
    if "|" not in text or len(text) > _LONGEST_TABLE or _TABLE_RULE.search(text) is None:
        return text
    lines: list[str] = []
    header: list[str] = []
    for line in text.split("\n"):
        if "|" in line and _TABLE_RULE.fullmatch(line) and lines and "|" in lines[-1]:
            header = _split_cells(lines[-1])
            if len(header) >= _FEWEST_COLUMNS:
                lines.pop()
            else:
                header = []
        elif header and "|" in line:
            lines.append(_spell_row(header, _split_cells(line)))
        else:
            header = []
            lines.append(line)
    return "\n".join(lines)


def _split_cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _spell_row(header: list[str], cells: list[str]) -> str:
    named = [f"{name} {cell}".strip() for name, cell in zip(header[1:], cells[1:], strict=False) if cell]
    return f"{cells[0]}: {', '.join(named)}."


_ENTITY = LatePattern(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")


def _unescape_hidden(text: str) -> str:
    """Return the text with its entities as characters, those that could be markup hidden."""
    return _ENTITY.sub(lambda match: _make_plain(html.unescape(match[0])).translate(_HIDE), text)
