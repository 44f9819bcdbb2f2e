"""Rules over answers that the rules of text cannot tell: evaluated with these answers at worst and at best (ADR 0053).

An unknown answer has no score and does not lower the coverage, but it may be right or wrong. A rule that holds only if
the unknown answers are right is therefore open, whatever the other answers score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
from msgspec import structs

from assay.gates.rules import GateScores, describe_subject
from assay.metrics.answers.correctness import UNKNOWN_REASON
from assay.metrics.case_checks import ANSWER_UNKNOWN
from assay.metrics.catalog import find_metric, parse_metric
from assay.records.answer_numbers import NO_NUMBER, AnswerNumbers
from assay.records.counts import format_count
from assay.records.release_gates import Rule, RuleResult
from assay.records.scores import NOT_APPLICABLE, ScoreTable
from assay.scoring.case_outcomes import find_unknown_cases
from assay.scoring.column_values import (
    find_column,
    find_unknown_code,
    find_unreported_rows,
    format_case_ids,
    format_compared,
    get_range,
)
from assay.scoring.completed_scores import score_cells
from assay.stats.arrays import BoolArray, RowIndices

EvaluateRule = Callable[[Rule, GateScores], RuleResult]
_ON_BEHAVIOUR = Rule("behaviour", at_least=1.0)
_FAILED = "failed"
_METRICS_OF_AN_ANSWER = (ANSWER_UNKNOWN, "behaviour")


def evaluate_with_unknown_answers(rule: Rule, scores: GateScores, evaluate: EvaluateRule) -> RuleResult:
    """Return what `evaluate` finds, with the unknown answers of the rule's slice at worst and at best.

    If the rule holds either way it passes, and if it is violated either way it fails; else it is open, and `if_unknown`
    says what follows. The message states the range of the number that decides.
    """
    rows = find_unknown_rows(rule, scores)
    low, high = get_range(find_metric(parse_metric(rule.metric)))
    if not len(rows) or low is None or high is None:
        return evaluate(rule, scores)
    ends = [evaluate(rule, _score_rows_as(rule, scores, rows, value)) for value in (low, high)]
    worst, best = ends if rule.at_least is not None else ends[::-1]
    where, between = _describe_cases(rule, scores, rows), _describe_range(rule, ends)
    note = f"it {between}, because {where}" if between else where
    for result in ends:
        if result.state not in ("pass", "fail"):
            return structs.replace(result, message=f"{result.message}; {note}")
    if worst.state == best.state:
        deciding = worst if worst.state == "pass" else best
        return structs.replace(deciding, message=f"{deciding.message}; {note}")
    unknown = scores.get_case_ids(rows)
    subject = f"{describe_subject(rule)} {between or 'is open'}"
    message = f"{subject}, because {where}: the rule holds if these are right and is violated if they are wrong"
    return leave_open(structs.replace(worst, message=message, cases=unknown))


def leave_open(result: RuleResult) -> RuleResult:
    """Return a result as open for its unknown answers; `if_unknown` of its rule says what follows.

    A rule that fails whatever leaves it open (`if_inconclusive: fail`) fails for unknown answers too.
    """
    rule = result.rule
    if rule.if_unknown == "incomplete":
        return structs.replace(result, state="incomplete", value=None)
    if_inconclusive = "fail" if rule.max_regression is not None and rule.if_inconclusive == "fail" else rule.if_unknown
    opened = structs.replace(rule, if_inconclusive=if_inconclusive)
    return structs.replace(result, rule=opened, state="inconclusive", value=None)


def open_outcomes_of_unknown_cases(table: ScoreTable) -> ScoreTable:
    """Return the table with `failed` unknown for the cases that failed nothing and of whose answer nothing tells.

    Such a case fails as soon as its answer is wrong: a limit on failed cases that it could break is not kept.
    """
    failed = table.columns.get(_FAILED)
    unknown_cases = set(find_unknown_cases(table))
    if failed is None or not unknown_cases:
        return table
    rows = np.array([case_id in unknown_cases for case_id in table.case_ids], dtype=np.bool_)
    reasons = tuple(dict.fromkeys((*failed.reasons, UNKNOWN_REASON)))
    status, reason = failed.status.copy(), failed.reason.copy()
    status[rows], reason[rows] = NOT_APPLICABLE, reasons.index(UNKNOWN_REASON)
    answers = _number_answers(table, rows)
    opened = structs.replace(failed, status=status, reason=reason, reasons=reasons, answers=answers)
    return structs.replace(table, columns={**table.columns, _FAILED: opened})


def _number_answers(table: ScoreTable, rows: BoolArray) -> AnswerNumbers:
    """Return the numbers of the unknown answers, by which those that are the same in a baseline are known."""
    answers = np.full(len(rows), NO_NUMBER)
    for metric in _METRICS_OF_AN_ANSWER:
        column = table.columns.get(metric)
        if column is not None and column.answers is not None:
            answers = np.where(rows & (answers == NO_NUMBER), column.answers, answers)
    return answers


def find_unknown_rows(rule: Rule, scores: GateScores) -> RowIndices:
    """Return the rows of a rule's slice on which the rules of text cannot tell whether the answer is right."""
    column = find_column(scores.table, parse_metric(rule.metric))
    rows = scores.find_rows(rule.slice)
    unknown_code = find_unknown_code(column) if column is not None else None
    if column is None or unknown_code is None:
        return rows[:0]
    unknown: RowIndices = rows[column.reason[rows] == unknown_code]
    return unknown


def describe_unknown_behaviour(results: Sequence[RuleResult], scores: GateScores) -> list[str]:
    """Return a sentence that names the cases of which nobody can tell what the answer did, and that no rule counted."""
    rows = set(find_unknown_rows(_ON_BEHAVIOUR, scores).tolist())
    for result in results:
        if rows and result.state not in ("unmeasured", "no_data"):
            rows.difference_update(find_unknown_rows(result.rule, scores).tolist())
    if not rows:
        return []
    ids = scores.get_case_ids(np.array(sorted(rows), dtype=np.intp))
    return [
        f"nothing tells whether {format_count(len(ids), 'case')} refused or answered, and no rule looks at "
        f"{'it' if len(ids) == 1 else 'them'} ({format_case_ids(ids)}); a behaviour that the target declares tells"
    ]


def _score_rows_as(rule: Rule, scores: GateScores, rows: RowIndices, value: float) -> GateScores:
    """Return the same scores with these rows of the rule's metric scored as `value`."""
    column = find_column(scores.table, parse_metric(rule.metric))
    assert column is not None
    scored = score_cells(column, rows, value)
    columns = {key: scored if other is column else other for key, other in scores.table.columns.items()}
    bounded = copy(scores)
    bounded.table = structs.replace(scores.table, columns=columns)
    return bounded


def _describe_cases(rule: Rule, scores: GateScores, rows: RowIndices) -> str:
    ids = format_case_ids(scores.get_case_ids(rows))
    if find_metric(parse_metric(rule.metric)).is_sampled:
        return f"nobody decided about {format_count(len(rows), 'answer')} of the sample ({ids})"
    count = format_count(len(scores.find_rows(rule.slice)), "case")
    column = find_column(scores.table, parse_metric(rule.metric))
    if column is not None and find_unreported_rows(column, rows).any():
        return f"chunks without a text are reported on {len(rows)} of {count} ({ids})"
    return f"the rules cannot tell on {len(rows)} of {count} ({ids})"


def _describe_range(rule: Rule, ends: list[RuleResult]) -> str:
    """Say between which numbers the unknown answers leave the metric; empty where there is no number."""
    values = np.array([result.value for result in ends if result.value is not None])
    if len(values) < len(ends):
        return ""
    unit = find_metric(parse_metric(rule.metric)).unit
    return "is between {} and {}".format(*format_compared(float(values.min()), float(values.max()), unit))
