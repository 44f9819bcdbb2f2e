"""Where an answer corrects what it has just said: "Two months. Correction: three months".

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from assay.text.facts.additions.unexplained_additions import REACH
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.doubt_cues import BETTER_SAID, CORRECTION
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.text_parts import list_quantities
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity

_CORRECTION = build_pattern(rf"\b{CORRECTION}")
_BETTER = build_pattern(rf"\b{BETTER_SAID}\b")


def name_correction(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> str:
    """Return the words with which an answer corrects itself after a fact; "" if it does not.

    The weaker ones ("actually") must have another value of the same kind in their sentence.
    """
    answer = texts.answer
    end = min(len(answer.plain), occurrence.end + REACH)
    for pattern in (_CORRECTION, _BETTER):
        cue = pattern.search(answer.plain, occurrence.end, end)
        if cue is None:
            continue
        is_sure = pattern is _CORRECTION and stated is None
        if is_sure or (stated is not None and _has_other_value(texts, stated, cue.end(), end)):
            return f'the answer corrects itself after this ("{answer.text[cue.start() : cue.end()]}")'
    return ""


def _has_other_value(texts: FactTexts, stated: Quantity, low: int, high: int) -> bool:
    """Whether the first value of the kind of a fact between two positions is one that nobody expects."""
    expected = (*texts.expected, *texts.question.quantities, *texts.reference.quantities)
    for own in list_quantities(texts.answer, low, high):
        if is_comparable(stated, own):
            return not any(is_same_quantity(wanted, own) for wanted in expected)
    return False
