"""Whether an answer says that something holds on the other side of a value: "from 20:00" for "until 20:00".

The side is told by the bound of a quantity or by a word around it, in English, Vietnamese, German and French. What is
expected is said by the fact or the reference, or else by all passages of the evidence that have the value. The patterns
are for text as it is written: "den" is an article in German, and "đến" is until.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import REFUSED_BEYOND
from assay.text.facts.cues.limit_cues import ENDS
from assay.text.facts.cues.question_cues import ASKS_MOMENT
from assay.text.facts.cues.side_cues import (
    LEAST_BEFORE,
    LOWER_AFTER,
    LOWER_BEFORE,
    LOWER_BEFORE_MOMENT,
    MOST_BEFORE,
    TURNS_SIDE,
    UPPER_AFTER,
    UPPER_BEFORE,
    UPPER_BEFORE_MOMENT,
)
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText
from assay.text.facts.reading.sentence_around import get_sentence
from assay.text.facts.values.value_directions import find_direction
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import Quantity, is_span
from assay.text.quantities.quantity_agreement import is_same_value

Side = Literal["", "<", ">"]
"""On which side of a value something holds: up to it, from it on, or "" where nothing says so."""
_REACH = 32
"""Characters on either side of a value in which words for its side are searched."""
_TO_VALUE = r"(?: (?:the|den|dem|am|um|zum|le|la|du|ngày|lúc|tuần|week|age|of))* ?(?:[A-Z]{3} ?)?(?:US)?[$€£¥]?$"
_BEFORE = LatePattern(
    rf"(?P<turn>\b{TURNS_SIDE} )?\b(?:(?P<upper>{UPPER_BEFORE})|(?P<lower>{LOWER_BEFORE})){_TO_VALUE}", re.IGNORECASE
)
_BEFORE_MOMENT = LatePattern(
    rf"(?P<turn>\b{TURNS_SIDE} )?\b(?:(?P<upper>{UPPER_BEFORE}|{UPPER_BEFORE_MOMENT})"
    rf"|(?P<lower>{LOWER_BEFORE}|{LOWER_BEFORE_MOMENT})){_TO_VALUE}",
    re.IGNORECASE,
)
_AMOUNT_BEFORE = LatePattern(rf"\b(?:(?P<upper>{MOST_BEFORE})|(?P<lower>{LEAST_BEFORE})){_TO_VALUE}", re.IGNORECASE)
"""The bound of a span before something, where it is not read as a part of the quantity."""
_AFTER = LatePattern(
    rf"\.?(?: (?:uhr|jahren?|ans|tuổi|years?(?: old)?))? (?:(?P<upper>{UPPER_AFTER})|(?P<lower>{LOWER_AFTER}))\b",
    re.IGNORECASE,
)
_TO_AFTER = LatePattern(r" ?(?:-|–|(?:to|until|till|through|bis|à|đến|tới)\b)", re.IGNORECASE)
_OVER = LatePattern(r" (?:is|are|has|have) (?:over|passed|up|gone)\b", re.IGNORECASE)
_BEFORE_END = LatePattern(r"\bbefore (?:the )?$", re.IGNORECASE)
_AFTER_END = LatePattern(r"\bafter (?:the )?$", re.IGNORECASE)
_ENDS = build_pattern(rf"\b(?:{REFUSED_BEYOND}|{ENDS})\b")
_ASKS_MOMENT = build_pattern(rf"\b{ASKS_MOMENT}\b")


class BoundedValue(Struct, frozen=True):
    """The side of a value and the span of it with the words that say so."""

    side: Side
    start: int
    end: int


def judge_opposite_side(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return that a value is denied on whose other side an answer puts what is asked, and nothing else."""
    del occurrence
    opposite = None if stated is None else _find_opposite(texts, stated)
    return None if opposite is None or opposite.state != "denied" else opposite


def judge_open_side(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return that a value is open of whose other side an answer speaks, where it may say the contrary of that."""
    del occurrence
    if stated is None:
        return None
    opposite = _find_opposite(texts, stated)
    if opposite is None and is_span(stated) and _is_before_end(texts.answer, stated):
        after = (own for text in texts.passages for own in text.quantities if _is_after_end(text, own))
        if any(is_same_value(own, stated) for own in after):
            return FactJudgment(texts.fact, "unknown", "the answer says this of what is before the end of this time")
    return opposite


def _is_before_end(text: ReadText, span: Quantity) -> bool:
    """Whether something is said to be before a span is over: "before 10 days are over"."""
    is_over = _OVER.match(text.text, span.end) is not None
    return is_over and _BEFORE_END.search(text.text, max(0, span.start - _REACH), span.start) is not None


def _is_after_end(text: ReadText, span: Quantity) -> bool:
    """Whether something is said to be after a span: "after 10 days"."""
    return is_span(span) and _AFTER_END.search(text.text, max(0, span.start - _REACH), span.start) is not None


def _find_opposite(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    if stated.is_range or any(asked.bound for asked in texts.question.quantities):
        return None
    asks_moment = _ASKS_MOMENT.search(texts.question.plain) is not None
    bounded = find_bounded_value(texts.answer, stated, asks_moment=asks_moment)
    if bounded is None:
        return None
    expected = _find_expected_side((texts.read_fact, texts.reference), stated, asks_moment=asks_moment)
    is_of_evidence = not expected
    if is_of_evidence:
        expected = _find_expected_side(texts.passages, stated, asks_moment=asks_moment)
    if expected in ("", bounded.side) or _is_denied_or_ends(texts.answer, bounded):
        return None
    spelled = texts.answer.text[bounded.start : bounded.end].strip()
    reason = f'the answer says "{spelled}", the other side of what is expected'
    is_open = is_of_evidence or _is_said_of_more(texts, bounded)
    return FactJudgment(texts.fact, "unknown" if is_open else "denied", reason, "" if is_open else "other side")


def find_bounded_value(text: ReadText, value: Quantity, *, asks_moment: bool = False) -> BoundedValue | None:
    """Return on which side of a value a text says that something holds; None if it says nothing of it.

    Of a span before something only the words for an amount count: "until a day before" is a day before at the least.
    `asks_moment`: an hour is one of the clock.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> texts = [read_text(text) for text in ("23 or older", "Ab dem 1. Juli", "pas avant 20 h", "on 4 May", "4 days")]
    >>> [(own := find_bounded_value(text, text.quantities[0], asks_moment=True)) and own.side for text in texts]
    ['>', '>', '>', None, None]
    """
    if value.is_range:
        return None
    if value.bound:
        return BoundedValue("<" if value.bound[0] == "<" else ">", value.start, value.end)
    if is_span(value) and find_direction(value, text.plain) == "before":
        amount = _AMOUNT_BEFORE.search(text.text, max(0, value.start - _REACH), value.start)
        side: Side = "<" if amount is not None and amount["upper"] is not None else ">"
        return None if amount is None else BoundedValue(side, amount.start(), value.end)
    after = _AFTER.match(text.text, value.end, min(len(text.text), value.end + _REACH))
    if after is not None:
        return BoundedValue("<" if after["upper"] is not None else ">", value.start, after.end())
    is_moment = not is_span(value) or (asks_moment and _may_be_hour(value))
    pattern = _BEFORE_MOMENT if is_moment else _BEFORE
    before = pattern.search(text.text, max(0, value.start - _REACH), value.start)
    if before is None or _TO_AFTER.match(text.text, value.end) is not None:
        return None
    is_upper = (before["upper"] is not None) != (before["turn"] is not None)
    return BoundedValue("<" if is_upper else ">", before.start(), value.end)


def _find_expected_side(sources: Iterable[ReadText], stated: Quantity, *, asks_moment: bool) -> Side:
    """Return the side on which all sources that tell one put what they say of a value."""
    sides: set[Side] = set()
    for text in sources:
        for wanted in text.quantities:
            if is_same_value(wanted, stated):
                bounded = find_bounded_value(text, wanted, asks_moment=asks_moment)
                sides.add("" if bounded is None else bounded.side)
    sides.discard("")
    return sides.pop() if len(sides) == 1 else ""


_HOUR, _DAY = 3600, 86_400


def _may_be_hour(span: Quantity) -> bool:
    """Whether a span may be an hour of the clock: "à 20 h"."""
    return any(
        reading.dimension == "duration" and reading.low % _HOUR == 0 and reading.low < _DAY for reading in span.readings
    )


def _is_denied_or_ends(answer: ReadText, bounded: BoundedValue) -> bool:
    """Whether a sentence denies, refuses or ends something beyond a bound, and so may say what holds within it."""
    low, high = get_sentence(answer, bounded.start)
    if find_negations(answer, low, bounded.start) or find_negations(answer, bounded.end, high):
        return True
    return _ENDS.search(answer.plain, low, high) is not None


def _is_said_of_more(texts: FactTexts, bounded: BoundedValue) -> bool:
    """Whether a sentence has words of its own beside a bound, and so may say the contrary of what is asked."""
    answer = texts.answer
    low, high = get_sentence(answer, bounded.start)
    beside = (*answer.list_words(low, bounded.start), *answer.list_words(bounded.end, high))
    return any(texts.is_new(word) for word in beside if may_be_subject(word))
