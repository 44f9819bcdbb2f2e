"""Which event an answer dates with a value: the contrary one, its other end, or the end of a range.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.limit_cues import BEGINNING, BEGINNING_IN_OTHER_LANGUAGES, BY_THEN, ENDS, FROM
from assay.text.facts.cues.question_cues import ASKS_DEADLINE, ASKS_MOMENT, ASKS_WHICH_DAY
from assay.text.facts.expected.expected_limits import ExpectedLimit, is_limit_of_refusal
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.sentence_around import REACH_BEFORE, get_sentence
from assay.text.facts.reading.statement_marks import ASKS_UNTIL
from assay.text.facts.reading.text_parts import split_parts
from assay.text.facts.values.reversed_events import find_asked_end, find_reversed_event, is_other_end
from assay.text.quantities.quantity import Quantity, is_span, is_time, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity, is_same_value
from assay.text.quantities.weekdays import WEEKDAY

_ASKS_WHICH = build_pattern(rf"(?:on |at |from )?(?:when|which|what)\b|.{{0,80}}\b{ASKS_WHICH_DAY}\b")
_REACH = 160  # characters before a value in which words for the contrary event are searched


def judge_event(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a time at which something else happens: when it opens, not when it closes."""
    plain, clause = texts.answer.plain, occurrence.clause
    if stated is None and WEEKDAY.search(texts.read_fact.plain) and _ASKS_WHICH.match(texts.question.plain):
        sentence = plain[clause.sentence_start : clause.sentence_end]
        return _deny_event(texts, find_reversed_event(texts.question.plain, sentence, ""))
    if stated is None:
        return None
    if not (stated.date or is_time(stated)):
        return _judge_span(texts, occurrence, stated) if is_span(stated) and not stated.is_range else None
    if stated.is_range:
        return _judge_range(texts, occurrence, stated)
    low = max(clause.start, stated.start - _REACH)
    if is_other_end(texts.question.plain, plain[max(clause.start, stated.start - REACH_BEFORE) : stated.start]):
        is_same_moment = find_reversed_event(texts.question.plain, plain[low : stated.start], "") is not None
        if is_same_moment or find_negations(texts.answer, low, stated.start):  # "closed until nine" opens at nine
            return FactJudgment(texts.fact, "unknown", "the answer says until when the contrary holds")
        return FactJudgment(
            texts.fact, "denied", "the answer says this of the other end of the time that is asked about"
        )
    begins = _FIRST_DAY_BEFORE.search(plain, max(clause.start, stated.start - REACH_BEFORE), stated.start)
    asks_end = ASKS_UNTIL.search(texts.question.plain) or _ASKS_DEADLINE.search(texts.question.plain)
    if begins is not None and asks_end is not None:
        return FactJudgment(texts.fact, "unknown", "the answer says when this begins, and the question asks until when")
    return _judge_side(texts, stated) or _judge_other_event(texts, occurrence, stated)


def _judge_other_event(texts: FactTexts, occurrence: Occurrence, stated: Quantity) -> FactJudgment | None:
    plain, clause = texts.answer.plain, occurrence.clause
    for part in split_parts(texts.answer, clause.sentence_start, clause.sentence_end):
        if part.start <= stated.start < part.end:
            before = plain[part.start : stated.start]
            own = plain[part.start : part.end]
            question, reference = texts.question.plain, texts.reference.plain
            events = find_reversed_event(question, own, before) or find_reversed_event(reference, own, before)
            return _deny_event(texts, events)
    return None


_ASKS_MOMENT = build_pattern(rf"\b{ASKS_MOMENT}\b")
_HOUR, _DAY = 3600, 86_400


def _judge_span(texts: FactTexts, occurrence: Occurrence, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of an hour that is written like a span of time: "à 20 h"."""
    may_be_hour = any(reading.low % _HOUR == 0 and reading.low <= _DAY for reading in stated.readings)
    if not may_be_hour or _ASKS_MOMENT.search(texts.question.plain) is None:
        return None
    return _judge_other_event(texts, occurrence, stated)


_ENDS = build_pattern(rf"\b{ENDS}\b")
_UNTIL_BEFORE = build_pattern(rf"\b{BY_THEN}(?: the| ngày| lúc)? $")
_FROM_BEFORE = build_pattern(rf"\b(?:{FROM}|after|since|sau)(?: the| ngày| lúc)? $")

_ASKS_DEADLINE = build_pattern(rf"\b{ASKS_DEADLINE}\b")
_BEGINS_BEFORE = build_pattern(rf"\b{BEGINNING}(?: (?:at|on|from|lúc|từ|vào|ngày))* $")
_FIRST_DAY_BEFORE = build_pattern(
    rf"\b(?:{BEGINNING}|{BEGINNING_IN_OTHER_LANGUAGES})"
    r"(?: (?:at|on|from|lúc|từ|vào|ngày|am|ab|dem|den|le|à|du))* $"
)


def _judge_side(texts: FactTexts, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a date or time after which something is said to be, where it is expected before it.

    What is denied after a time ("not accepted after 15 March") is possible before it.
    """
    stated_side = _find_side(texts.answer.plain, stated)
    start, end = get_sentence(texts.answer, stated.start)
    if stated_side == "after" and _ENDS.search(texts.answer.plain, start, end) is not None:
        return None  # what expires after 14 days holds before
    is_refused = is_limit_of_refusal(stated, texts.answer.plain, end, ExpectedLimit("", False))
    if not stated_side or is_refused or find_negations(texts.answer, start, end):
        return None
    for text in (texts.read_fact, texts.reference):
        for wanted in text.quantities:
            if not is_same_value(wanted, stated):
                continue
            begins = _BEGINS_BEFORE.search(text.plain, max(0, wanted.start - REACH_BEFORE), wanted.start)
            expected_side = "after" if begins is not None else _find_side(text.plain, wanted)
            if expected_side and expected_side != stated_side:
                return FactJudgment(texts.fact, "unknown", f"the answer says {stated_side} and not {expected_side}")
    return None


def _find_side(plain: str, value: Quantity) -> str:
    """Return whether something is said to be before or after a value."""
    start = value.start
    low = max(0, start - REACH_BEFORE)
    if _UNTIL_BEFORE.search(plain, low, start):
        return "before"
    return "after" if _FROM_BEFORE.search(plain, low, start) else ""


def _judge_range(texts: FactTexts, occurrence: Occurrence, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a time that is the other end of a range than the one that the question asks for."""
    asked, ends = find_asked_end(texts.question.plain), split_range(stated)
    if not asked or not ends or len(texts.read_fact.quantities) != 1 or texts.read_fact.quantities[0].is_range:
        return None
    own, other = ends if asked == "start" else ends[::-1]
    wanted = texts.read_fact.quantities[0]
    if is_same_quantity(wanted, own) or not is_same_quantity(wanted, other):
        return None
    if any(is_same_quantity(expected, own) for expected in texts.expected):
        return None  # the case expects both ends
    sentence = texts.answer.plain[occurrence.clause.sentence_start : occurrence.clause.sentence_end]
    is_open = find_reversed_event(texts.question.plain, sentence, "") or find_negations(
        texts.answer, occurrence.clause.sentence_start, stated.start
    )
    return FactJudgment(
        texts.fact, "unknown" if is_open else "denied", f"the answer says this of the other end than the {asked}"
    )


def _deny_event(texts: FactTexts, events: tuple[str, str] | None) -> FactJudgment | None:
    if events is None or events[0] in texts.read_fact.plain:
        return None  # what is expected is that other event: "closed" on a day of which it is asked when it opens
    reason = f'the answer says when it "{events[0]}", and the question asks when it "{events[1]}"'
    return FactJudgment(texts.fact, "denied", reason)
