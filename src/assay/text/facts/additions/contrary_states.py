"""Where an answer says a state in which a fact is of no use: the contrary of the one asked for, or a breakdown.

"We are open on 3 May" asked for the closed days; "the lift is on the left, but out of order". The patterns are for
folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import BROKEN
from assay.text.facts.cues.term_cues import ONLY_THEN, UNAVAILABLE
from assay.text.facts.cues.value_cues import TO_BE_PAID
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.opposite_words import find_opposite_state
from assay.text.facts.reading.read_text import ReadText
from assay.text.facts.reading.statement_marks import WITHOUT_PAYING
from assay.text.facts.reading.text_parts import Part, list_quantities
from assay.text.quantities.quantity import Quantity, is_time
from assay.text.quantities.units import MONEY


def name_opposite(texts: FactTexts, own: Part, stated: Quantity | None) -> str:
    """Return how a part of an answer says a state that is the contrary of the one that is asked for, "" if not.

    When something opens may be said by until when it is closed, but from when to when it is open by no such time.
    """
    if (stated is not None and _is_moment(texts, own, stated)) or find_negations(texts.answer, own.start, own.end):
        return ""
    if any(find_negations(text) for text in (texts.question, texts.read_fact)):
        return ""
    opposite = find_opposite_state(texts.explaining, texts.answer, own.start, own.end)
    opposite = opposite or _find_only_then(texts, own)
    return (
        f'the answer says this with "{opposite[1]}", and the question is about "{opposite[0]}"'
        if opposite is not None
        else ""
    )


_ONLY_THEN = build_pattern(rf"\b{ONLY_THEN}\b")
_UNAVAILABLE = build_pattern(rf"\b{UNAVAILABLE}\b")


def _find_only_then(texts: FactTexts, own: Part) -> tuple[str, str] | None:
    """Return the word by which a question asks when something cannot be had, and the "only" with which an answer says
    when it can: "you may only enter then"."""
    asked = _UNAVAILABLE.search(texts.question.plain)
    only = _ONLY_THEN.search(texts.answer.plain, own.start, own.end)
    if (
        asked is None
        or only is None
        or any(_UNAVAILABLE.search(text.plain) for text in (texts.answer, texts.reference))
    ):
        return None
    return asked[0], texts.answer.text[slice(*only.span())]


def _is_moment(texts: FactTexts, own: Part, stated: Quantity) -> bool:
    """Whether a value is a time of the day, and not one from when to when something is so, which is expected."""
    if not is_time(stated):
        return False
    expected = [value for value in texts.expected if is_time(value)]
    times = [value for value in list_quantities(texts.answer, own.start, own.end) if is_time(value)]
    return not all(len(ends) >= _ENDS or any(value.is_range for value in ends) for ends in (expected, times))


_ENDS = 2
_TO_BE_PAID = build_pattern(rf"\b{TO_BE_PAID}\b")


def name_payment(texts: FactTexts, own: Part, stated: Quantity | None) -> str:
    """Return how a part of an answer says of what is paid for what is asked of what is free; "" if it does not.

    "The first 90 minutes cost €2 an hour; after that it is free", asked how long parking is free.
    """
    if stated is not None and any(reading.dimension.startswith(MONEY) for reading in stated.readings):
        return ""
    plain = texts.answer.plain
    asked = WITHOUT_PAYING.search(texts.question.plain)
    paid = _TO_BE_PAID.search(plain, own.start, own.end) if asked is not None else None
    if asked is None or paid is None or WITHOUT_PAYING.search(plain, own.start, own.end) is not None:
        return ""
    if find_negations(texts.answer, own.start, own.end) or _denies_beside(texts.question, asked):
        return ""
    return f'the answer says this with "{paid[0]}", and the question is about what is "{asked[0]}"'


def _denies_beside(text: ReadText, cue: re.Match[str]) -> bool:
    """Whether a text denies more than a cue of it says: "not free"."""
    return any(not cue.start() <= denial.start() < cue.end() for denial in find_negations(text))


_BROKEN = build_pattern(rf"\b{BROKEN}\b")


def name_breakdown(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return how the sentence of a fact says that what it names is of no use now; "" if it does not."""
    cue = _BROKEN.search(texts.answer.plain, occurrence.clause.sentence_start, occurrence.clause.sentence_end)
    if cue is None or any(_BROKEN.search(text.plain) for text in texts.explaining):
        return ""
    if any(word.folded == cue[0].split()[0] for word in texts.question.words):
        return ""  # "closed because …", asked why it is closed
    return f'the answer says "{texts.answer.text[slice(*cue.span())]}", so this may be of no use now'
