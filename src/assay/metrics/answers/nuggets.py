"""Nuggets: the share of the facts of a good answer that an answer states, over vital ones or all, strictly or in part.

The four scores are those of the TREC 2024 RAG track: Vital Strict, Vital, All Strict and All. An answer supports a
nugget (1), supports it in part (0.5; strictly 0), or does not (0), and a score is the mean over nuggets. Source:
R. Pradeep et al. (2024), "Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the AutoNuggetizer
Framework".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from assay.metrics.answer_metric import Scorers, define_answer_metric
from assay.metrics.answers.correctness import COMPLETENESS, is_accepted_refusal, no_answer_reason
from assay.metrics.answers.rubric_metrics import EMPTY_ANSWER
from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.judged.judge_requests import (
    JudgeDialogue,
    Outcome,
    Rubrics,
    collect_labels,
    find_rubric,
    make_item_requests,
    not_applicable_outcome,
    scored_outcome,
)
from assay.metrics.metric import Metric, MetricKey, MetricName
from assay.metrics.parsed_answer import REFUSED, ParsedAnswer, format_list
from assay.records.golden_set import Nugget
from assay.text.facts.stated_facts import judge_facts

NUGGETS = "nuggets"
NO_NUGGETS, NO_VITAL_NUGGETS = "no nuggets", "no vital nuggets"
PARTIAL_CREDIT = 0.5
_VITAL, _ALL, _STRICT, _PARTIAL = "vital", "all", "strict", "partial"
NUGGET_METRICS_BY_RULES = (
    "nuggets(by=rules)",
    "nuggets(by=rules,credit=partial)",
    "nuggets(by=rules,of=all)",
    "nuggets(by=rules,credit=partial,of=all)",
)
NUGGET_METRICS_BY_JUDGE = tuple(name.replace("by=rules", "by=judge") for name in NUGGET_METRICS_BY_RULES)


def select_nuggets(case: CaseIndex, of: str) -> tuple[Nugget, ...]:
    """Return the nuggets of a case that a score is about: the vital ones, or all."""
    return tuple(nugget for nugget in case.case.nuggets if of == _ALL or nugget.importance == _VITAL)


def average_credits(credits: Sequence[float], credit: str) -> float:
    """Return the mean credit of nuggets; strictly, less than full support counts nothing.

    >>> average_credits([1.0, 0.5, 0.0], "strict"), average_credits([1.0, 0.5, 0.0], "partial")
    (0.3333333333333333, 0.5)
    """
    counted = [value if credit == _PARTIAL or value == 1.0 else 0.0 for value in credits]
    return math.fsum(counted) / len(counted)


def _explain_exemption(reading: ParsedAnswer, of: str) -> str:
    if not reading.case.case.nuggets:
        return NO_NUGGETS
    if not select_nuggets(reading.case, of):
        return NO_VITAL_NUGGETS
    return REFUSED if is_accepted_refusal(reading) else ""


def score_nuggets_by_rules(reading: ParsedAnswer, of: str, credit: str) -> Outcome:
    """The mean credit by words: stated is full support, words that are only partly there are partial support."""
    exemption = _explain_exemption(reading, of)
    if exemption:
        return not_applicable_outcome(exemption)
    nuggets = select_nuggets(reading.case, of)
    case = reading.case.case
    judgments = judge_facts(reading.answer, [nugget.text for nugget in nuggets], case.question, case.reference or "")
    states = {judgment.fact: judgment.state for judgment in judgments}
    credits = []
    for nugget in nuggets:
        state = states.get(nugget.text, "missing")
        credits.append(1.0 if state == "stated" else PARTIAL_CREDIT if state == "unknown" else 0.0)
    return _conclude(nuggets, credits, credit)


def judge_nuggets(reading: ParsedAnswer, rubrics: Rubrics, of: str, credit: str) -> JudgeDialogue:
    """The mean credit by a judge, who labels each nugget with the rubric of completeness."""
    exemption = _explain_exemption(reading, of)
    if exemption:
        return not_applicable_outcome(exemption)
    nuggets = select_nuggets(reading.case, of)
    if not reading.answer.strip():
        return scored_outcome(0.0, EMPTY_ANSWER)
    # All nuggets are asked about in every variant, so that the four scores share their verdicts.
    asked = {f"n{number}": nugget for number, nugget in enumerate(reading.case.case.nuggets, 1)}
    rubric = find_rubric(rubrics, COMPLETENESS, reading.language)
    entries = [{"id": name, "text": nugget.text} for name, nugget in asked.items()]
    other_inputs = {"question": reading.question, "answer": reading.answer}
    requests = reading.cached_requests(NUGGETS, "", lambda: make_item_requests(rubric, "facts", entries, other_inputs))
    labels = collect_labels((yield requests), requests)
    if isinstance(labels, Outcome):
        return labels
    credits = [labels[name].value or 0.0 for name, nugget in asked.items() if nugget in nuggets]
    return _conclude(nuggets, credits, credit)


def _conclude(nuggets: Sequence[Nugget], credits: Sequence[float], credit: str) -> Outcome:
    lacking = [nugget.text for nugget, value in zip(nuggets, credits, strict=True) if value < 1.0]
    return scored_outcome(average_credits(credits, credit), format_list("lacking", lacking))


@cache
def _make_scorers(of: str, credit: str) -> Scorers:
    return Scorers(
        lambda reading: score_nuggets_by_rules(reading, of, credit),
        lambda reading, rubrics: judge_nuggets(reading, rubrics, of, credit),
        no_answer_reason,
    )


def _find_scorers(name: MetricName) -> Scorers:
    return _make_scorers(name.key_value("of", _VITAL), name.key_value("credit", _STRICT))


NUGGET_METRICS: tuple[Metric, ...] = (
    define_answer_metric(
        NUGGETS,
        "Share of the nuggets, the facts of a good answer, that the answer states.",
        "TREC 2024 RAG track, AutoNuggetizer: Vital Strict, Vital, All Strict, All (Pradeep et al. 2024)",
        "no answer expected, refused as the case accepts, or no (vital) nuggets",
        _find_scorers,
        rubrics=(COMPLETENESS,),
        yields_to_leaks=True,
        keys={
            "of": MetricKey(
                _VITAL, (_VITAL, _ALL), "vital: nuggets without which no answer is good; all: also okay ones"
            ),
            "credit": MetricKey(
                _STRICT, (_STRICT, _PARTIAL), "strict: full support counts; partial: partial support counts half"
            ),
        },
    ),
)
"""Nuggets of a case and how far answers state them."""
