"""Correctness, completeness and relevance: answers compared with reference, must-have facts and question."""

from __future__ import annotations

import math

from assay.graders.base import CaseIndex
from assay.graders.judging import ANSWER as WHOLE
from assay.graders.judging import (
    Asking,
    Outcome,
    Rubrics,
    item_requests,
    labels_of,
    not_applicable,
    request,
    rubric_of,
    scored,
)
from assay.graders.reading import REFUSED, Reading, listed
from assay.graders.textual import first_rule, veto
from assay.metrics.answers import facts_without_figures
from assay.metrics.similarity import answer_similarity
from assay.model import BEHAVIOURS

CORRECTNESS, COMPLETENESS, RELEVANCE = "correctness", "completeness", "relevance"
SIMILARITY = "answer_similarity"
EMPTY = "the answer is empty"
_ANSWER_BIT = 1 << BEHAVIOURS.index("answer")


def unexpected(case: CaseIndex) -> str:
    """Return why the case needs no answer, or "" if one is expected or accepted."""
    return "" if case.accepted_bits & _ANSWER_BIT else "no answer is expected"


def rightly_refused(reading: Reading) -> bool:
    """Return whether the answer is a refusal that the case accepts."""
    accepted_refusals = reading.case.accepted_bits & ~_ANSWER_BIT
    # Most cases accept no refusal, so this comes before the text is classified.
    if not accepted_refusals or not reading.refused:
        return False
    return bool(accepted_refusals >> BEHAVIOURS.index(reading.behaviour) & 1)


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def similar(reading: Reading) -> Outcome:
    """How similar the content words of answer and reference are, those of the question left out."""
    if not reading.case.case.reference:
        return not_applicable("no reference")
    value = reading.similarity
    if value is None:
        return not_applicable("the reference holds nothing beyond the question")
    return scored(value)


def correct_by_rules(reading: Reading) -> Outcome:
    """The first of keywords, exact value, number and facts that the case states, else the similarity."""
    if rightly_refused(reading):
        return not_applicable(REFUSED)
    rule_value = first_rule(reading.case, reading.answer)
    if rule_value is not None:
        return scored(rule_value[1], f"by {rule_value[0]}")
    outcome = similar(reading)
    return outcome._replace(detail=f"by {SIMILARITY}")


def relevant_by_rules(reading: Reading) -> Outcome:
    """How far the answer repeats the question's words, or agrees with the reference."""
    if reading.refused:
        return not_applicable(REFUSED)
    case = reading.case.case
    similarity = similar(reading)
    question_overlap = answer_similarity(reading.answer, case.question, "", reading.case.joins.idf)
    return scored(max(similarity.value, question_overlap or 0.0))


# ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────────


def _one_label(reading: Reading, rubrics: Rubrics, name: str, reference: str | None) -> Asking:
    """Ask for one label of the whole answer and return its number."""
    if not reading.answer.strip():
        return scored(0.0, EMPTY)
    inputs = {"question": reading.question, "reference": reference, "answer": reading.answer}
    rubric = rubric_of(rubrics, name, reading.language)
    requests = reading.requests(name, "", lambda: [request(rubric, inputs)])
    labels = labels_of((yield requests), requests)
    if isinstance(labels, Outcome):
        return labels
    answer_label = labels[WHOLE]
    if answer_label.value is None:
        return not_applicable(answer_label.label)
    return scored(answer_label.value, answer_label.label)


def correct_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """The judge's grade, capped where a deterministic rule shows the answer to be wrong."""
    case = reading.case.case
    reference = case.reference or "; ".join(case.must_have)
    if not reference:
        return not_applicable("no reference")
    if rightly_refused(reading):
        return not_applicable(REFUSED)
    outcome = yield from _one_label(reading, rubrics, CORRECTNESS, reference)
    failed_rule = veto(reading.case, reading.answer) if outcome.value > 0 else None
    if failed_rule is None or outcome.value <= failed_rule.most:
        return outcome
    return scored(failed_rule.most, f"{outcome.detail}, vetoed by {failed_rule.rule}")


def relevant_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """How far the answer addresses the question."""
    if reading.refused:
        return not_applicable(REFUSED)
    return (yield from _one_label(reading, rubrics, RELEVANCE, None))


def complete_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """The mean of the labels of the must-have facts; a fact whose figures are missing counts as not stated."""
    facts = {f"f{number}": fact for number, fact in enumerate(reading.case.case.must_have, 1)}
    if not facts:
        return not_applicable("the case states nothing to look for")
    if rightly_refused(reading):
        return not_applicable(REFUSED)
    if not reading.answer.strip():
        return scored(0.0, EMPTY)
    entries = [{"id": fact_id, "text": fact} for fact_id, fact in facts.items()]
    other_inputs = {"question": reading.question, "answer": reading.answer}
    rubric = rubric_of(rubrics, COMPLETENESS, reading.language)
    requests = reading.requests(COMPLETENESS, "", lambda: item_requests(rubric, "facts", entries, other_inputs))
    labels = labels_of((yield requests), requests)
    if isinstance(labels, Outcome):
        return labels
    facts_lacking_figures = facts_without_figures(reading.answer, tuple(facts.values()))
    vetoed_ids = {
        fact_id for fact_id, fact in facts.items() if labels[fact_id].value == 1 and fact in facts_lacking_figures
    }
    values = [0.0 if fact_id in vetoed_ids else labels[fact_id].value or 0.0 for fact_id in facts]
    lacking = []
    for fact_id, fact in facts.items():
        label = labels[fact_id]
        if fact_id in vetoed_ids:
            lacking.append(f"{fact} ({label.label}, vetoed: without its figures)")
        elif label.value != 1:
            lacking.append(f"{fact} ({label.label})")
    return scored(math.fsum(values) / len(values), listed("lacking", lacking))
