"""Where an answer corrects what it has just said ("Two months. Correction: three months"), or concludes otherwise:
"Class 1: 20 euros, class 2: 30 euros. So it's 30 euros."

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from assay.text.facts.additions.unexplained_additions import REACH
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.doubt_cues import BETTER_SAID, CORRECTION
from assay.text.facts.cues.link_cues import CONCLUDES, RESULT, SET_AGAINST_ANY, TO_READER
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import CLAUSE_REACH, ReadText
from assay.text.facts.reading.text_parts import list_quantities
from assay.text.facts.subjects.worked_out_values import is_worked_out
from assay.text.quantities.quantity import Quantity, is_time
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity, is_same_value

_CORRECTION = build_pattern(rf"\b{CORRECTION}")
_CONCLUSION = build_pattern(rf"\s*{CONCLUDES}\b")
_BETTER = build_pattern(rf"\b{BETTER_SAID}\b")
_RESULT = build_pattern(rf"\b{RESULT}\b")
_CONTRAST = build_pattern(rf"\b{SET_AGAINST_ANY}\b")
_TO_READER = build_pattern(rf"\b{TO_READER}\b")


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
    if stated is None:
        return ""
    return _name_conclusion(texts, occurrence, stated) or _name_other_result(texts, occurrence, stated)


def _name_conclusion(texts: FactTexts, occurrence: Occurrence, stated: Quantity) -> str:
    """Return the words with which an answer concludes in its last sentence that another value is the one; "" if it
    does not. A value of the question is none, neither is one that is denied, and neither is a new one: a sum."""
    answer = texts.answer
    last = answer.clauses[-1]
    if last.sentence_start < occurrence.end or _CONCLUSION.match(answer.plain, last.sentence_start) is None:
        return ""
    concluded = list_quantities(answer, last.sentence_start, last.sentence_end)
    concluded = [own for own in concluded if is_comparable(stated, own) and not _is_among(own, texts.question)]
    if any(_is_among(own, fact) for own in concluded for fact in texts.facts):
        return ""
    listed = list_quantities(answer, 0, last.sentence_start) if concluded else []
    listed += [own for text in texts.sources for own in text.quantities] if concluded else []
    is_other = any(is_same_value(own, other) for own in concluded for other in listed)
    if not is_other or find_negations(answer, last.sentence_start, last.sentence_end):
        return ""
    return f'the answer concludes "{answer.text[last.sentence_start : last.sentence_end].strip()}"'


def _name_other_result(texts: FactTexts, occurrence: Occurrence, stated: Quantity) -> str:
    """Return what an answer says to follow after a fact: another value for the one who asks; "" if nothing does.

    "Contracts made online: 14 days, but yours was made at the desk, so you have 7 days." What is worked out, and what
    is said per something else, is none; a time may be one at which to be there.
    """
    answer = texts.answer
    for cue in _RESULT.finditer(answer.plain, occurrence.end, occurrence.end + CLAUSE_REACH):
        end = answer.clause_at(cue.start()).sentence_end
        results = [own for own in list_quantities(answer, cue.end(), end) if is_comparable(stated, own)]
        if not results or any(_is_among(own, text) for own in results for text in texts.explaining):
            continue
        is_contrast = _CONTRAST.search(answer.plain, occurrence.clause.sentence_start, cue.start()) is not None
        is_told = _TO_READER.search(answer.plain, cue.start(), end) is not None and not is_time(stated)
        is_derived = any(is_worked_out(own, [*answer.quantities, *texts.question.quantities]) for own in results)
        if is_derived or not (is_contrast or is_told) or {own.rate for own in results} != {stated.rate}:
            continue
        if not find_negations(answer, cue.end(), end):
            return f'the answer concludes "{answer.text[cue.start() : end].strip(" ,.;")}"'
    return ""


def _is_among(value: Quantity, text: ReadText) -> bool:
    return any(is_same_value(own, value) for own in text.quantities)


def _has_other_value(texts: FactTexts, stated: Quantity, low: int, high: int) -> bool:
    """Whether the first value of the kind of a fact between two positions is one that nobody expects."""
    expected = (*texts.expected, *texts.question.quantities, *texts.reference.quantities)
    for own in list_quantities(texts.answer, low, high):
        if is_comparable(stated, own):
            return not any(is_same_quantity(wanted, own) for wanted in expected)
    return False
