"""The rule on the correctness of answers: measured by the best signal that golden set and calibration allow (ADR 0042).

In this order: a calibrated judge; what the cases require of an answer (`correct_answer`); an uncalibrated judge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import structs

from assay.gates.rules import GateScores, evaluate_rule
from assay.gates.uncalibrated_rules import weigh_lenient_judge, weigh_uncalibrated
from assay.gates.unknown_answers import evaluate_with_unknown_answers
from assay.metrics.answers.correctness import CORRECT_ANSWER
from assay.metrics.catalog import parse_metric
from assay.records.counts import format_count
from assay.records.release_gates import Gate, Rule, RuleResult
from assay.records.scores import NOT_APPLICABLE, SCORED
from assay.scoring.case_outcomes import classify_checks
from assay.scoring.column_values import find_column

JUDGED_CORRECTNESS = "correctness(by=judge)"
NOT_CHECKED = "correctness of answers was not checked"
_BEHAVIOUR, _ANSWER = "behaviour", "answer"
_FAILED = "failed"
_CORRECTNESS_METRICS = frozenset(
    {CORRECT_ANSWER, "correctness", "completeness", "keywords", "exact_match", "number_match", _FAILED}
)
"""The metrics that a wrong answer lowers; similarity to the reference alone shows nothing."""
_LOOKED = ("pass", "fail", "inconclusive", "uncalibrated", "incomplete")
_UNCHECKED = ("no_data", "unmeasured")
_REMEDY = "add must_have, or run `assay judge`"
_REMEDY_OF_A_JUDGED_RUN = "add must_have, or label a sample and run `assay calibrate`, so that the judge's labels count"
_SCORE_AGAIN = "save or score it again"
"""Of a baseline of an earlier version, which does not have the metric."""
_REASON = "a release that answers wrongly helps nobody"


def evaluate_correctness(gate: Gate, scores: GateScores) -> list[RuleResult]:
    """Return the result of the gate's rule on correctness; none without such a rule, or where nothing was answered.

    Where neither the golden set nor a judge can tell, the bound fails, as a rule on `correct_answer` does that applies
    to no case (ADR 0160).
    """
    if gate.correctness is None or not _has_answers(scores):
        return []
    uncalibrated = JUDGED_CORRECTNESS in scores.table.uncalibrated
    if _is_measured(JUDGED_CORRECTNESS, scores) and not uncalibrated:
        metric = JUDGED_CORRECTNESS
    elif _is_measured(CORRECT_ANSWER, scores):
        metric = CORRECT_ANSWER
    elif _is_measured(JUDGED_CORRECTNESS, scores):
        metric = JUDGED_CORRECTNESS
    else:
        metric = CORRECT_ANSWER  # no case states what is right, or the rules cannot tell of any answer
    rule = Rule(metric, at_least=gate.correctness, reason=_REASON)
    result = evaluate_with_unknown_answers(rule, scores, evaluate_rule)
    if result.state in _UNCHECKED:
        remedy = _SCORE_AGAIN if result.state == "unmeasured" else _choose_remedy(scores)
        return [structs.replace(result, message=f"{NOT_CHECKED}: {result.message}; {remedy}")]
    if metric == JUDGED_CORRECTNESS:
        result = (weigh_uncalibrated if uncalibrated else weigh_lenient_judge)(result, scores.table)
    return [result]


def describe_unchecked_answers(gate: Gate, results: Sequence[RuleResult], scores: GateScores) -> list[str]:
    """Return a sentence if answers were given and no rule on all cases looked at whether most of them are right.

    A gate with `exempt_from_correctness` is not meant to look: `describe_exemption` says so.
    """
    if gate.exempt_from_correctness or not _has_answers(scores):
        return []
    checking = [result for result in results if _looks_at_correctness(result)]
    checked = [_count_checked(result, scores) for result in checking if result.rule.slice is None]
    if checked:
        return _describe_small_part(max(checked), scores)
    if gate.correctness is not None:
        return []
    only = sorted({result.rule.slice for result in checking if result.rule.slice is not None})
    if only:
        return [f"{NOT_CHECKED}, except on {', '.join(only)}"]
    # A rule that could be applied to no case says so itself: that the gate has none would contradict it.
    has_rule = any(_is_on_correctness(result.rule) for result in results)
    return [] if has_rule else [f"{NOT_CHECKED}: the gate has no rule on it"]


def _count_checked(result: RuleResult, scores: GateScores) -> int:
    """Return on how many cases a rule looked at the answer. A case that failed nothing and of whose answer nothing
    tells has a score of `failed`, which looked at no answer."""
    if parse_metric(result.rule.metric).base != _FAILED:
        return result.scored
    return result.scored - sum(classify_checks(checks) == "unknown" for checks in scores.table.checks)


def _describe_small_part(checked: int, scores: GateScores) -> list[str]:
    """Return a sentence if answers were checked on fewer than half of the cases that expect one."""
    answered = _count_answers(scores)
    if 2 * checked >= answered:
        return []
    return [f"{NOT_CHECKED} on {answered - checked} of {format_count(answered, 'case')}; {_choose_remedy(scores)}"]


def _choose_remedy(scores: GateScores) -> str:
    """Return what makes it known whether answers are right: a judge that was asked needs a calibration."""
    return _REMEDY_OF_A_JUDGED_RUN if _is_measured(JUDGED_CORRECTNESS, scores) else _REMEDY


def describe_exemption(gate: Gate, scores: GateScores) -> list[str]:
    """Return the sentence of a gate that is exempt from a rule on correctness; none where nothing was answered."""
    if not gate.exempt_from_correctness or not _has_answers(scores):
        return []
    return [f"{NOT_CHECKED}: {gate.exempt_from_correctness}"]


def _looks_at_correctness(result: RuleResult) -> bool:
    return result.state in _LOOKED and _is_on_correctness(result.rule)


def _is_on_correctness(rule: Rule) -> bool:
    return parse_metric(rule.metric).base in _CORRECTNESS_METRICS


def _is_measured(metric: str, scores: GateScores) -> bool:
    """Return whether a metric applies to any case; errors count, a system that fails is not unmeasured."""
    column = find_column(scores.table, parse_metric(metric))
    return column is not None and bool(np.any(column.status != NOT_APPLICABLE))


def _has_answers(scores: GateScores) -> bool:
    """Return whether the system answered, or did anything else, on any case that expects an answer."""
    return _count_answers(scores) > 0


def _count_answers(scores: GateScores) -> int:
    column = scores.table.columns.get(_BEHAVIOUR)
    if column is None:
        return 0
    expects_answer = np.array([case.behaviour == _ANSWER for case in scores.cases], dtype=np.bool_)
    return int(np.count_nonzero((column.status == SCORED) & expects_answer))
