"""Where an answer gives a value another meaning than the fact has, or puts another value beside or before it.

"Ten minutes is not enough", "30+ days", "after 07:00" for "before 07:00", "EUR 20, plus EUR 5 for the key". The
patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from assay.text.facts.additions.unexplained_additions import find_end, list_new_values
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.limit_cues import JOINS_VALUE, SIDE_SINCE, SIDE_UNTIL, THAN, THAN_IN_VIETNAMESE, UNFIT
from assay.text.facts.cues.question_cues import ASKS_FROM
from assay.text.facts.expected.fact_texts import FactTexts
from assay.text.facts.expected.yes_or_no import is_mere_decision
from assay.text.facts.presence.occurrences import Occurrence
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.statement_marks import ASKS_UNTIL
from assay.text.quantities.quantity import Quantity, is_plain, is_time
from assay.text.quantities.quantity_agreement import is_comparable, is_same_quantity, is_same_value

_UNFIT_AFTER = build_pattern(rf" (?:is|are|would be|was|were) {UNFIT}\b| {THAN} than\b| (?:{THAN_IN_VIETNAMESE}) hơn\b")


def name_unfit(texts: FactTexts, occurrence: Occurrence) -> str:
    """Return how an answer says right after a value that it is too little or much, or what differs by it."""
    cue = _UNFIT_AFTER.match(texts.answer.plain, occurrence.end, occurrence.clause.sentence_end)
    if cue is None or any(cue[0].split()[-1] in text.plain.split() for text in texts.explaining):
        return ""
    return f'the answer says "{cue[0].strip()}" of this'


_JOINED_VALUE = build_pattern(rf" (?:[a-z]+ ){{0,3}}?{JOINS_VALUE}\b[^.;,]{{0,12}}$")


def name_other_value(texts: FactTexts, occurrence: Occurrence, stated: Quantity | None) -> str:
    """Return a value in the sentence of a fact that changes it, and that nothing else has; "" without one."""
    answer, clause = texts.answer, occurrence.clause
    if stated is not None and "+" in answer.plain[stated.start + 1 : stated.end + 1] and "+" not in texts.fact:
        return f'the answer says "{answer.text[stated.start : stated.end].rstrip("+")}+"'
    for own in list_new_values(texts, clause.sentence_start, clause.sentence_end):
        replaced = next((wanted for wanted in texts.reference.quantities if _is_replaced(texts, wanted, own)), None)
        if replaced is not None and (stated is None or not is_comparable(replaced, stated)):
            in_reference = texts.reference.text[replaced.start : replaced.end]
            return f'the answer says "{answer.text[own.start : own.end]}", and the reference "{in_reference}"'
        is_limit = stated is None and own.start >= occurrence.end and not own.date and not is_mere_decision(texts.fact)
        if is_limit and _JOINED_VALUE.match(answer.plain, find_end(texts, occurrence), own.start):
            return f'the answer limits this by "{answer.text[own.start : own.end]}", of which nothing else speaks'
    return _name_other_side(texts, stated)


_SIDE_BEFORE = build_pattern(
    rf"\b(?:(?P<until>{SIDE_UNTIL})|(?P<since>{SIDE_SINCE}))(?: the| dem| der)?(?: age(?: of)?)? [$€£]?$"
)
_ASKS_SINCE = build_pattern(rf"\b{ASKS_FROM}\b")
_REACH = 24  # characters before a value in which its side is told


def _name_other_side(texts: FactTexts, stated: Quantity | None) -> str:
    """Return how an answer says a value from the other side than the fact does: "after 07:00" for "before 07:00".

    Which side is expected the question tells too: "until the age of 16", asked from which age.
    """
    if stated is None or "not" in texts.answer.plain[max(0, stated.start - 20) : stated.start].split():
        return ""
    side = _SIDE_BEFORE.search(texts.answer.plain, max(0, stated.start - _REACH), stated.start)
    if side is None:
        return ""
    for own in texts.read_fact.quantities:
        wanted = _SIDE_BEFORE.search(texts.read_fact.plain, max(0, own.start - _REACH), own.start)
        if wanted is not None and is_same_value(own, stated) and wanted.lastgroup != side.lastgroup:
            return f'the answer says "{side[0].strip()}", and expected is "{wanted[0].strip()}"'
    asked = texts.question.plain
    contrary = _ASKS_SINCE if side.lastgroup == "until" else ASKS_UNTIL
    is_point = bool(stated.date) or is_time(stated) or is_plain(stated)
    if is_point and contrary.search(asked) is not None and not _has_negation_near(texts, stated):
        return f'the answer says "{side[0].strip()}", and the question asks for the other side'
    return ""


def _has_negation_near(texts: FactTexts, stated: Quantity) -> bool:
    clause = texts.answer.clause_at(stated.start)
    return bool(find_negations(texts.answer, clause.sentence_start, clause.sentence_end))


def _is_replaced(texts: FactTexts, wanted: Quantity, own: Quantity) -> bool:
    """Whether an answer has a value in the place of one of the reference, which it does not have."""
    has_wanted = any(is_same_quantity(wanted, other) for other in texts.answer.quantities)
    return is_comparable(wanted, own) and not has_wanted
