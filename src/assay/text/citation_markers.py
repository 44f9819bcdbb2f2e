"""Find the citation markers in an answer: their spans and the sources they name, as written."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec import Struct

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_LONGEST_MARKER = 200  # characters of a marker
_MOST_IN_RANGE = 20  # sources that a range may include


class CitationMarker(Struct, frozen=True):
    """A citation marker: its span and the source names in it, in order."""

    start: int
    end: int
    names: tuple[str, ...]


_MARKER = compile_pattern(
    rf"""
    \[(?P<in_square>[^\[\]\n]{{1,{_LONGEST_MARKER}}}+)\](?>(?:\((?P<link>[^()\s]{{0,{_LONGEST_MARKER}}}+)\))?):?
  | 【(?P<in_lenses>[^【】\n]{{1,{_LONGEST_MARKER}}}+)】
  | [(（](?P<in_round>[^()（）\n]{{1,{_LONGEST_MARKER}}}+)[)）]
  | <sup>(?P<in_tag>[^<>\n]{{1,40}}+)</sup>
  | (?<=[.!?,;:)"”。！？])(?P<raised>[¹²³⁰⁴-⁹]{{1,3}}+(?>(?:[,⁻˒ʼ]?[¹²³⁰⁴-⁹]{{1,3}}+){{0,5}}))
  | (?<=[.!?。！？])(?P<space>[ ]?)(?P<bare>[^\W\d_][^\s\[\](){{}}<>,;"'|]{{2,{_LONGEST_MARKER}}}+)(?![^\s,;|])
    """,
    re.VERBOSE,
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LABEL = compile_pattern(
    r"(?:sources?|docs?|documents?|refs?|references?|citations?|cit|cited|chunks?|passages?|contexts?|see|nguồn|theo"
    r"|tài liệu|trích dẫn|tham khảo|xem|đoạn|văn bản)(?:\s*[:：#]\s*|\s+(?=[\w^]))",
    re.IGNORECASE,
)
_STRONG_LABEL = compile_pattern(
    r"(?:sources?|references?|citations?|cited from|nguồn|trích dẫn|tài liệu tham khảo)\s*[:：]\s*", re.IGNORECASE
)
_SEPARATOR = compile_pattern(r"(?<!\s)\s*+[,;|]\s*+|(?<!\s)\s++(?:and|và)\s++")
_NUMBER = compile_pattern(r"\^?(\d{1,3})(?:\s?[-–]\s?(\d{1,3}))?")
_FOOTNOTE = compile_pattern(r"\^[\w-]{1,40}")
# An identifier: without spaces, with a mark that words do not have, or letters and digits mixed.
_ID = compile_pattern(r"(?=[^\s]{0,256}[^\W\d_])(?=[^\s]{0,256}(?:[:_#/]|\d))[^\W_][\w:.#/@-]*")
_GLUED_ID = LatePattern(r"(?=\S{0,256}\d)(?:[^\W\d][\w-]*(?:[:#][\w.-]+){2,}|[^\W\d_]\w*_[\w-]*[:#][\w.:#-]+)")
_SURE_ID = compile_pattern(r"(?=[^\s]{0,256}\d)(?=[^\s]{0,256}(?:[:#](?!//)|_))[^\W\d_][\w:.#/@-]*")


def find_citation_markers(text: str, citation_ids: Collection[str] = ()) -> list[CitationMarker]:
    """Return the citation markers of a text, in order.

    Markers are: numbers, footnotes and identifiers in square brackets ("[1, 2]", "[2-4]", "[^1]", "[hr_leave:v1:c3]",
    "[Source 1]", "【4†source】"); superscript numbers after punctuation; identifiers in parentheses that are in
    `citation_ids` or contain a digit and a colon or underscore; "(Source: …)"; and identifiers after a full stop
    that follow it without a space or are in `citation_ids`. A number in parentheses is a marker only if it is in
    `citation_ids`.

    >>> [marker.names for marker in find_citation_markers("It is 12 (days) [1][3-5]. See (hr:v1:c3).²")]
    [('1',), ('3', '4', '5'), ('hr:v1:c3',), ('2',)]
    """
    names = frozenset(citation_ids)
    found_markers: list[CitationMarker] = []
    names_by_text: dict[str, tuple[str, ...]] = {}
    for match in _MARKER.finditer(text):
        marker_text = match[0]
        marker_names = names_by_text.get(marker_text)
        if marker_names is None:
            marker_names = names_by_text[marker_text] = _parse_names(match, names)
        if not marker_names:
            continue
        if match.lastgroup == "bare":
            start = match.start("bare")
            found_markers.append(CitationMarker(start, start + len(marker_names[0]), marker_names))
        else:
            found_markers.append(CitationMarker(match.start(), match.end() - marker_text.endswith("]:"), marker_names))
    return found_markers


_MOST_ENTRIES = 200
_ENTRY = LatePattern(r"[ \t]{0,8}[-*•]?[ \t]?\[\^?([0-9]{1,3})\][ \t]?:?[ \t]*([^\n]{1,500})")


def is_source_entry(line: str) -> bool:
    """Return whether a line begins with a number in brackets, as those of a list of sources do."""
    return _ENTRY.match(line) is not None


def list_source_entries(answer: str) -> list[tuple[str, str]]:
    """Return number and text of the lines that begin with a number in brackets, at most 200.

    >>> list_source_entries("Twelve days [1].\\n\\n[1] leave.md")
    [('1', 'leave.md')]
    """
    if "[" not in answer:
        return []
    entries: list[tuple[str, str]] = []
    for line in answer.splitlines():
        match = _ENTRY.fullmatch(line)
        if match is not None and len(entries) < _MOST_ENTRIES:
            entries.append((match[1], match[2].strip()))
    return entries


_MAY_HAVE_MARKER = compile_pattern(r"[\[【(（<¹²³⁰⁴-⁹:#_]")
_SURELY_NO_FACT = compile_pattern(r"\^?\d*|.*[:#_].*")


def remove_citation_markers(text: str, *, only_sure: bool = False) -> str:
    """Return a text without its citation markers and the spaces before them: their numbers state nothing.

    With `only_sure`, an identifier that may be what was asked for ("[INC-2024-001]") stays.

    >>> remove_citation_markers("It opens at 10am [hours:2], not at 9 [1][INC-7].")
    'It opens at 10am, not at 9.'
    >>> remove_citation_markers("It opens at 10am [hours:2], not at 9 [1][INC-7].", only_sure=True)
    'It opens at 10am, not at 9[INC-7].'
    """
    if _MAY_HAVE_MARKER.search(text) is None:
        return text
    pieces: list[str] = []
    position = 0
    for marker in find_citation_markers(text):
        if not only_sure or all(map(_SURELY_NO_FACT.fullmatch, marker.names)):
            pieces.append(text[position : marker.start].rstrip(" "))
            position = marker.end
    return "".join((*pieces, text[position:]))


def _parse_names(match: re.Match[str], known_names: frozenset[str]) -> tuple[str, ...]:
    if match["raised"]:
        return tuple(part.translate(_SUPERSCRIPTS) for part in re.split(r"[^¹²³⁰⁴-⁹]", match["raised"]))
    if match["in_tag"]:
        return _split_names(match["in_tag"], known_names, _NUMBER)
    if match["in_lenses"]:
        inner = match["in_lenses"].partition("†")[0].strip()
        return _split_names(inner, known_names, _ID) or (inner,)
    if match["in_round"]:
        return _split_names(match["in_round"], known_names, _SURE_ID, numbers=False)
    if match["bare"]:
        name = match["bare"].rstrip(".:!?*")
        return (name,) if name in known_names or (not match["space"] and _GLUED_ID.fullmatch(name)) else ()
    inner = match["in_square"]
    if match["link"] is not None and inner not in known_names and not _NUMBER.fullmatch(inner):
        return ()  # a Markdown link
    return _split_names(inner, known_names, _ID)


def _split_names(
    inner: str, known_names: frozenset[str], shape: re.Pattern[str], numbers: bool = True
) -> tuple[str, ...]:
    """Return the names in a pair of brackets; empty unless everything in it is a name or a label introduces it."""
    inner = inner.strip().strip("*`\"'")
    if inner in known_names:
        return (inner,)
    label = _LABEL.match(inner)
    unlabelled = inner[label.end() :] if label else inner
    names: list[str] = []
    for part in _SEPARATOR.split(unlabelled.strip()):
        name = part.strip("`\"' ")
        inner_label = _LABEL.match(name)
        if inner_label:
            name = name[inner_label.end() :]
        number = _NUMBER.fullmatch(name)
        if name in known_names or shape.fullmatch(name) or (_FOOTNOTE.fullmatch(name) and not number):
            names.append(name)
        elif number and (numbers or label):
            names += _expand_range(number)
        else:
            strong_label = _STRONG_LABEL.match(inner)
            return (inner[strong_label.end() :],) if strong_label and strong_label.end() < len(inner) else ()
    return tuple(names)


def _expand_range(match: re.Match[str]) -> list[str]:
    """Return the numbers of a range; empty if it is not one ("0-1", "9-2")."""
    first, last = int(match[1]), int(match[2] or match[1])
    if match[2] is None:
        return [match[1]]
    return [str(number) for number in range(first, last + 1)] if 0 < first < last < first + _MOST_IN_RANGE else []
