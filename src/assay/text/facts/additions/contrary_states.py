"""Where an answer says a state in which a fact is of no use: the contrary of the one asked for, or a breakdown.

"We are open on 3 May" asked for the closed days; "the lift is on the left, but out of order". The patterns are for
folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import BROKEN
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.opposite_words import find_opposite_state
from assay.text.facts.reading.text_parts import Part
from assay.text.quantities.quantity import Quantity, is_time


def name_opposite(texts: FactTexts, own: Part, stated: Quantity | None) -> str:
    """Return how a part of an answer says a state that is the contrary of the one that is asked for, "" if not.

    When something opens may be said by until when it is closed.
    """
    if (stated is not None and is_time(stated)) or find_negations(texts.answer, own.start, own.end):
        return ""
    if any(find_negations(text) for text in (texts.question, texts.read_fact)):
        return ""
    opposite = find_opposite_state(texts.explaining, texts.answer, own.start, own.end)
    return (
        f'the answer says this with "{opposite[1]}", and the question is about "{opposite[0]}"'
        if opposite is not None
        else ""
    )


_BROKEN = build_pattern(rf"\b{BROKEN}\b")


def name_breakdown(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return how the sentence of a fact says that what it names is of no use now; "" if it does not."""
    cue = _BROKEN.search(texts.answer.plain, occurrence.clause.sentence_start, occurrence.clause.sentence_end)
    if cue is None or any(_BROKEN.search(text.plain) for text in texts.explaining):
        return ""
    return f'the answer says "{texts.answer.text[slice(*cue.span())]}", so this may be of no use now'
