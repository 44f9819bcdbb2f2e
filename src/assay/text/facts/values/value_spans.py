"""Whether an answer says of a span of time that something is within it, or only after it, and of a day that it is the
first one possible.

"Within 14 days" is not "after 14 days", and "not before 31 March" names no day. Nothing is said of a span after which
something ends or is refused ("after 14 days it is too late"), for that is what ends with it. The patterns are for
folded text (`fold_in_place`).
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import REFUSED_BEYOND
from assay.text.facts.cues.limit_cues import (
    EARLIEST,
    ENDS,
    FROM,
    LATER_AFTER_VALUE,
    LATER_THAN,
    LATEST,
    LOWER_LIMIT,
    NOT_UNTIL,
    STARTS_TO_BE,
    WITHIN,
)
from assay.text.facts.cues.question_cues import ASKS_HOW_LONG
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText
from assay.text.facts.reading.sentence_around import REACH_BEFORE, get_sentence
from assay.text.facts.reading.text_parts import find_part
from assay.text.quantities.quantity import Quantity, is_span
from assay.text.quantities.quantity_agreement import is_same_value

_WITHIN = build_pattern(rf"\b{WITHIN}(?: (?:the|about|next))? $")
_AFTER = build_pattern(rf"\b{LATER_THAN}(?: (?:the|about|more than|around))? $")
_NOT_UNTIL = build_pattern(rf"\b{NOT_UNTIL} (?:(?:the|about|around) )?")
_LATER = build_pattern(rf" {LATER_AFTER_VALUE}")
_LATEST = build_pattern(rf"\b{LATEST}\b")
_ENDS = build_pattern(rf"\b(?:{REFUSED_BEYOND}|{ENDS})\b")
"""Says that something is over after a span, and so that it is within it."""
_EARLIEST = build_pattern(rf"\b{EARLIEST}\b")
_FROM = build_pattern(rf"\b{FROM}\b")
_ASKS_HOW_LONG = build_pattern(rf"(?:for )?{ASKS_HOW_LONG}\b")
_STARTS = build_pattern(rf"\b{STARTS_TO_BE}\b")
_LOWER = build_pattern(rf"\b{LOWER_LIMIT}\b")


def judge_span(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> FactJudgment | None:
    """Return the judgment of a span after which the answer puts what is within it, or the other way round."""
    if stated is None:
        return None
    first = _judge_first(texts, occurrence, stated) if stated.date or is_span(stated) else None
    if first is not None or not is_span(stated):
        return first
    expected = next(filter(None, _list_expected_sides(texts, stated)), "")
    stated_side = _find_side(texts.answer, stated)
    if not expected and stated_side == "after" and _ASKS_HOW_LONG.match(texts.question.plain):
        return _judge_length(texts, occurrence, stated)
    if not expected or not stated_side or stated_side == expected:
        return None
    spelled = texts.answer.text[stated.start : stated.end]
    if stated_side == "within":
        return FactJudgment(texts.fact, "unknown", f'the answer says "{spelled}", and not after it')
    if not _is_not_until(texts.answer, stated) and is_end_of_what_holds(texts.answer, stated):
        return None
    return FactJudgment(texts.fact, "denied", f'the answer puts this after "{spelled}", and not within it')


def _judge_length(texts: FactTexts, occurrence: Occurrence, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a span that is asked for, and after which something is said to begin: "how long is it
    kept?" is not answered by "it comes back after 30 days"."""
    part = find_part(texts.answer, occurrence.clause, stated.start)
    if _STARTS.search(texts.answer.plain, part.start, part.end) is None:
        return None
    spelled = texts.answer.text[stated.start : stated.end]
    return FactJudgment(texts.fact, "unknown", f'the answer says what is after "{spelled}", and not what is until then')


def is_end_of_what_holds(answer: ReadText, span: Quantity) -> bool:
    """Return whether a sentence says that something ends or is refused after a span, so that it holds within it.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> answers = [read_text(text) for text in ("The claim expires after 14 days.", "You are paid after 14 days.")]
    >>> [is_end_of_what_holds(answer, answer.quantities[0]) for answer in answers]
    [True, False]
    """
    low, high = get_sentence(answer, span.start)
    return bool(find_negations(answer, low, high)) or _ENDS.search(answer.plain, low, high) is not None


def _list_expected_sides(texts: FactTexts, stated: Quantity) -> Iterator[str]:
    for text in (texts.read_fact, texts.reference):
        for wanted in text.quantities:
            if is_same_value(wanted, stated):
                yield _find_side(text, wanted)


def _find_side(text: ReadText, span: Quantity) -> str:
    """Return whether a text says of a span "within" or "after"; "" if neither."""
    if _is_not_until(text, span):
        return "after"
    if span.bound:
        return "within" if span.bound[:1] == "<" else ""
    low = max(0, span.start - REACH_BEFORE)
    if _WITHIN.search(text.plain, low, span.start):
        return "within"
    if _AFTER.search(text.plain, low, span.start) is None and _LATER.match(text.plain, span.end) is None:
        return ""
    is_latest = _LATEST.search(text.plain, *get_sentence(text, span.start)) is not None
    return "" if is_latest else "after"


def _is_not_until(text: ReadText, span: Quantity) -> bool:
    """Whether a text says with a negation that a span has to be over first: "not until 14 days after"."""
    low = max(0, span.start - REACH_BEFORE)
    cues = _NOT_UNTIL.finditer(text.plain, low, span.end)
    return any(span.start in cue.span() for cue in cues)


def _judge_first(texts: FactTexts, occurrence: Occurrence, stated: Quantity) -> FactJudgment | None:
    """Return the judgment of a day or span that an answer only calls the first one possible, where none is asked."""
    part = find_part(texts.answer, occurrence.clause, stated.start)
    if _EARLIEST.search(texts.answer.plain, part.start, part.end) is None:
        return None
    asks_from = texts.limit.side == ">" or _FROM.search(texts.read_fact.plain) is not None
    if asks_from or any(_speaks_of_first(text) for text in texts.explaining):
        return None
    spelled = texts.answer.text[stated.start : stated.end]
    return FactJudgment(texts.fact, "unknown", f'the answer says "{spelled}", and not more than that')


def _speaks_of_first(text: ReadText) -> bool:
    return _LOWER.search(text.plain) is not None or _EARLIEST.search(text.plain) is not None
