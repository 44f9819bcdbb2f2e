"""Answers by deterministic rules of text: keywords, exact values, numbers, facts that must be present."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from assay.graders.answer import ANSWER, BIT, AnswerFacts
from assay.graders.base import Batch, CaseIndex, FactKey, Grader, Key, column, not_applicable
from assay.graders.names import MetricName
from assay.metrics.answers import (
    KeywordGrade,
    exact_match,
    facts_present,
    facts_without_figures,
    grade_keywords,
    number_match,
)
from assay.model import Observation, ScoreColumn


def keyword_grade(case: CaseIndex, answer: str) -> KeywordGrade | None:
    """Return the grade by keywords and incorrect patterns, or None if the case has neither."""
    rubric = case.case.rubric
    if rubric is None or not (rubric.correct_keywords or rubric.incorrect_patterns):
        return None
    return grade_keywords(answer, rubric.correct_keywords, rubric.incorrect_patterns, rubric.match)


def _score_keywords(case: CaseIndex, answer: str) -> float | None:
    graded = keyword_grade(case, answer)
    return None if graded is None else graded.score


def _score_keyword_ambiguity(case: CaseIndex, answer: str) -> float | None:
    graded = keyword_grade(case, answer)
    if graded is None or graded.score is None:
        return None
    return float(graded.hedged or graded.negated)


def _score_exact_match(case: CaseIndex, answer: str) -> float | None:
    rubric, reference = case.case.rubric, case.case.reference
    if rubric is None or rubric.kind != "exact" or not reference:
        return None
    return float(exact_match(answer, reference))


def _score_number_match(case: CaseIndex, answer: str) -> float | None:
    rubric, reference = case.case.rubric, case.case.reference
    if rubric is None or rubric.kind != "number" or not reference:
        return None
    matched = number_match(answer, reference, rubric.tolerance)
    return None if matched is None else float(matched)


def _score_facts(case: CaseIndex, answer: str) -> float | None:
    facts = case.case.must_have
    return len(facts_present(answer, facts)[0]) / len(facts) if facts else None


TEXT_RULES: dict[str, Callable[[CaseIndex, str], float | None]] = {
    "keywords": _score_keywords,
    "keywords_ambiguous": _score_keyword_ambiguity,
    "exact_match": _score_exact_match,
    "number_match": _score_number_match,
    "completeness": _score_facts,
}
"""A number for a case and an answer; None where the case states nothing to look for."""

DECISIVE = ("keywords", "exact_match", "number_match", "completeness")
"""The rules for correctness; the first that applies decides."""


def first_rule(case: CaseIndex, answer: str) -> tuple[str, float] | None:
    """Return the name and score of the first rule that applies to a case, or None."""
    for name in DECISIVE:
        value = TEXT_RULES[name](case, answer)
        if value is not None:
            return name, value
    return None


class Veto(NamedTuple):
    """A rule that shows an answer to be wrong, whatever a judge says, and the highest score that is left."""

    rule: str
    most: float


def veto(case: CaseIndex, answer: str) -> Veto | None:
    """Return the rule that caps the score of an answer, or None if no rule does.

    The cap is 0 for a missing exact value or number, for an incorrect pattern without any correct keyword, and if no
    must-have fact has its figures. It is 0.5 if some must-have facts lack their figures.
    """
    for name in ("exact_match", "number_match"):
        if TEXT_RULES[name](case, answer) == 0:
            return Veto(name, 0.0)
    graded = keyword_grade(case, answer)
    if graded is not None and graded.incorrect_found and not graded.score:
        return Veto(f"incorrect pattern {', '.join(graded.incorrect_found)}", 0.0)
    facts = case.case.must_have
    facts_lacking_figures = facts_without_figures(answer, facts)
    if not facts_lacking_figures:
        return None
    most = 0.5 if len(facts_lacking_figures) < len(facts) else 0.0
    return Veto(f"must_have {', '.join(facts_lacking_figures)}", most)


def _text_column(batch: Batch, name: MetricName) -> ScoreColumn:
    facts, rule = batch.of(AnswerFacts), TEXT_RULES[name.base]
    values = np.zeros(len(facts.cases))
    unstated = np.ones(len(facts.cases), dtype=np.bool_)
    for row in facts.checkable:
        graded = rule(facts.cases[row], facts.texts[row])
        if graded is not None:
            values[row], unstated[row] = graded, False
    return column(
        name,
        values,
        not_applicable((batch.behaviours[1] & BIT[ANSWER]) == 0, "no answer is expected"),
        not_applicable(unstated, "the case states nothing to look for"),
        *facts.unless(batch),
    )


def _need_answers(_: MetricName) -> tuple[FactKey, ...]:
    return ((AnswerFacts, ()),)


def _explain_missing_facts(case: CaseIndex, observation: Observation, _: MetricName) -> str:
    answer = observation.answer if isinstance(observation.answer, str) else ""
    missing = facts_present(answer, case.case.must_have)[1]
    return f"missing: {'; '.join(missing)}" if missing else ""


def _text_row(name: str, summary: str, source: str) -> Grader:
    return Grader(name, "answer", summary, source, needs=_need_answers, compute=_text_column, yields_to_leaks=True)


_BY = {"by": Key("", ("rules", "judge"), "rules: matching of text; judge: a recorded verdict")}

GRADERS: tuple[Grader, ...] = (
    _text_row("keywords", "Share of the case's keywords in the answer, correct ones first.", "keyword rubric"),
    replace(
        _text_row(
            "keywords_ambiguous",
            "Whether the keyword score rests on a hedged or negated phrase.",
            "traps of the keyword rubric",
        ),
        direction="lower",
        statistic="rate",
        yields_to_leaks=False,
    ),
    _text_row(
        "exact_match",
        "Whether the answer is the reference, but for case, spacing and outer punctuation.",
        "`rag-trace` contract",
    ),
    _text_row(
        "number_match", "Whether the answer holds the reference's numbers, with their units.", "`rag-trace` contract"
    ),
    replace(
        _text_row(
            "completeness",
            "Share of the must-have facts that the answer holds.",
            "`rag-trace` contract, tool-side evaluator",
        ),
        keys=_BY,
        explain=_explain_missing_facts,
    ),
)
