"""The parts of a sentence that commas, "and" and "but" separate, and how strongly they are kept apart.

The functions work on folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from msgspec import Struct

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.link_cues import AND, AND_BEFORE_MEMBER, NO_CLAUSE_BEFORE_CON, SET_AGAINST
from assay.text.facts.reading.read_text import ClauseSpan, ReadText, cache_of_texts
from assay.text.quantities.quantity import Quantity

_PART_CUT = build_pattern(
    r"(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)[;.!?] (?!\n)|[^\S\n]{0,4}\n\s*"
    rf"|, (?:(?:{AND}|{SET_AGAINST}|còn) )?| (?:{AND}|{SET_AGAINST}|plus|{AND_BEFORE_MEMBER}) "
    rf"|{NO_CLAUSE_BEFORE_CON} còn "
    r"| \((?=[^()]{0,40}\d)"
).compiled
SENTENCE_CUT, _CONTRAST_CUT, LIST_CUT = 3, 2, 1
"""How strongly what is on either side of a cut is kept apart."""
_SECOND_RATE = build_pattern(
    rf" {AND} (?:per )?(?:person|guest|head|seat|user|second|minute|hour|day|night|week|month|year|annum)\b"
).compiled
_CONTRAST = build_pattern(rf"; |,? (?:{SET_AGAINST}|còn) ").compiled
_MOST_PARTS = 40


class Part(Struct, frozen=True):
    """A part of an answer: its span, whether it is set against the part before it ("while", "but"), and how strongly
    it is separated from that."""

    start: int
    end: int
    is_contrast: bool
    separation: int = SENTENCE_CUT


@cache_of_texts(maxsize=256)
def split_parts(text: ReadText, low: int, high: int) -> Sequence[Part]:
    """Return the parts of a stretch of text that commas, "and" and "but" separate; quantities are not cut."""
    parts: list[Part] = []
    start, is_contrast, separation = low, False, SENTENCE_CUT
    for cut in _PART_CUT.finditer(text.lined, low, high):
        index = bisect_right(text.quantities, cut.start(), key=_get_quantity_start) - 1
        if index >= 0 and cut.start() < text.quantities[index].end and not _ends_sentence(text, cut, index):
            continue
        is_rate = index >= 0 and text.quantities[index].rate_span[1] == cut.start()
        if is_rate and _SECOND_RATE.match(text.plain, cut.start()) is not None:
            continue  # "$12 per seat and month"
        if cut[0] == " plus " and text.text[cut.start() + 1].isupper():
            continue  # a name: "Gói Plus"
        if "\n" in cut[0] and text.text[cut.end() : cut.end() + 1].islower():
            continue  # a line that is wrapped within a sentence
        if text.plain[start : cut.start()].strip():
            parts.append(Part(start, cut.start(), is_contrast, separation))
            separation = LIST_CUT
        is_contrast = _CONTRAST.search(cut[0]) is not None
        separation = max(separation, _measure_separation(text.lined, cut, is_contrast=is_contrast))
        start = cut.end()
    if text.plain[start:high].strip():
        parts.append(Part(start, high, is_contrast, separation))
    return parts[:_MOST_PARTS]


def find_part(text: ReadText, clause: ClauseSpan, position: int) -> Part:
    """Return the part of the sentence of a clause that holds a position, the clause where none does."""
    parts = split_parts(text, clause.sentence_start, clause.sentence_end)
    whole = Part(clause.start, clause.end, False)
    return next((part for part in parts if part.start <= position < part.end), whole)


def list_quantities(text: ReadText, low: int, high: int) -> list[Quantity]:
    """Return the quantities that start between two positions of a text."""
    first, last = (bisect_left(text.quantities, at, key=_get_quantity_start) for at in (low, high))
    return text.quantities[first:last]


def _ends_sentence(text: ReadText, cut: re.Match[str], index: int) -> bool:
    """Whether the point of "11 am." is the end of a sentence too."""
    is_last = cut.start() == text.quantities[index].end - 1 and cut[0][0] == "."
    return is_last and text.text[cut.end() : cut.end() + 1].isupper()


def _measure_separation(plain: str, cut: re.Match[str], *, is_contrast: bool) -> int:
    if cut[0][0] in ".!?" or ("\n" in cut[0] and not plain.endswith(":", 0, cut.start())):
        return SENTENCE_CUT
    return _CONTRAST_CUT if is_contrast else LIST_CUT


def _get_quantity_start(quantity: Quantity) -> int:
    return quantity.start
