"""Evaluates one rule on the scores of one configuration; a rule without measurements never passes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import structs

from assay.graders.base import Grader
from assay.graders.catalog import grader_of, parse
from assay.metrics.intervals import one_sided
from assay.metrics.paired import detectable
from assay.metrics.percentiles import percentile
from assay.metrics.rates import zero_event_upper
from assay.model import Case, Rule, RuleResult, RuleState, ScoreColumn, ScoreTable, Summary
from assay.scoring.measured import (
    LEAST_JUDGED,
    PERCENTILES,
    Measured,
    cluster_ids,
    column_of,
    ends_of,
    measure,
    not_reported,
    shared_clusters,
    statistic_of,
    worst_of,
)
from assay.scoring.pairs import aligned
from assay.scoring.rules import resolved, threshold_of
from assay.scoring.slices import Rows, rows_of_slice
from assay.scoring.summary import HEADLINE, summary_of
from assay.scoring.wording import compared, counted, interval_text, named

MIN_CASES_FOR_P95 = 20
NO_WORST = "all needed, because nothing bounds how bad an error is"


class Scores:
    """The scores that rules are compared with.

    They are the table of one configuration, the golden cases of its rows and, if there is one, the table of a baseline,
    aligned with both.
    """

    def __init__(self, table: ScoreTable, cases: Sequence[Case], baseline: ScoreTable | None = None) -> None:
        if [case.id for case in cases] != list(table.case_ids):
            raise ValueError("the table's rows are not the golden cases, in golden order")
        self.table, self.cases = table, cases
        self.baseline = aligned(baseline, table.case_ids) if baseline is not None else None
        self.clusters = cluster_ids(cases)
        self._rows: dict[str, Rows] = {}

    def rows(self, slice_name: str | None) -> Rows:
        """Return the rows of a slice, all without one."""
        if slice_name is None:
            return np.arange(len(self.cases), dtype=np.intp)
        if slice_name not in self._rows:
            self._rows[slice_name] = rows_of_slice(self.cases, slice_name)
        return self._rows[slice_name]

    def ids(self, rows: Rows) -> tuple[str, ...]:
        """Return the ids of the cases in these rows."""
        return tuple(self.table.case_ids[row] for row in rows.tolist())


def apply_rule(rule: Rule, scores: Scores) -> RuleResult:
    """Return the result of a usable rule: its state (ADR 0024), the number that decided and a sentence about it."""
    rule = resolved(rule)
    name = parse(rule.metric)
    column = column_of(scores.table, name)
    if column is None or any(part not in scores.table.columns for part in grader_of(name).parts):
        return RuleResult(rule, "unmeasured", None, 0, f"{subject(rule)} was not measured")
    return without_holes(_ThresholdRule(rule, scores, column).evaluate(), scores, column)


def without_holes(result: RuleResult, scores: Scores, column: ScoreColumn) -> RuleResult:
    """Turn a pass into inconclusive if some observed rows did not report what the metric is computed from.

    The rows that do report it may be the easy ones. A configuration that never reports it was not measured at all.
    """
    if result.state != "pass":
        return result
    rows = scores.rows(result.rule.slice)
    missing = set(scores.table.missing)
    unreported = [case_id for case_id in scores.ids(rows[not_reported(column, rows)]) if case_id not in missing]
    if not unreported:
        return result
    count = counted(len(rows), "case")
    message = f"{result.message}; not reported on {len(unreported)} of {count} ({named(unreported)})"
    return structs.replace(result, state="inconclusive", message=message)


def subject(rule: Rule) -> str:
    """Return the metric and slice of a rule, with which its sentences begin.

    >>> subject(Rule("recall@10", at_least=0.9, slice="tag=hr"))
    'recall@10 on tag=hr'
    """
    return rule.metric if rule.slice is None else f"{rule.metric} on {rule.slice}"


class _ThresholdRule:
    """One rule with a threshold, and the column that it is compared with."""

    def __init__(self, rule: Rule, scores: Scores, column: ScoreColumn) -> None:
        name = parse(rule.metric)
        self.rule, self.scores, self.column = rule, scores, column
        self.threshold = threshold_of(rule)
        self.grader: Grader = grader_of(name)
        self.statistic = statistic_of(self.grader, rule.metric)
        self.rows = scores.rows(rule.slice)
        self.values: Measured = measure(column, self.rows)
        self.summary: Summary = summary_of(
            scores.table,
            name,
            self.rows,
            slice_name=rule.slice or HEADLINE,
            clusters=scores.clusters,
            floor=min(rule.min_coverage, LEAST_JUDGED),
        )

    def evaluate(self) -> RuleResult:
        values = self.values
        if not values.applicable:
            return self._build_result("no_data", self._explain_no_data())
        if self.rule.zero_event:
            return self._evaluate_zero_event()
        if values.scored / values.applicable < self.rule.min_coverage:
            return self._report_incomplete(f"{self.rule.min_coverage:.0%} needed")
        if not values.scored:
            return self._build_result("no_data", f"was scored on none of {counted(values.errors, 'case')}")
        if self.statistic == "p95" and values.applicable < MIN_CASES_FOR_P95:
            message = f"is a p95 of {counted(values.applicable, 'case')} and needs {MIN_CASES_FOR_P95}"
            return self._build_result("inconclusive", message, self.summary.value)
        return self._evaluate_bound() if self.rule.basis == "bound" else self._evaluate_point()

    def _build_result(
        self,
        state: RuleState,
        message: str,
        value: float | None = None,
        upper: float | None = None,
        cases: tuple[str, ...] = (),
    ) -> RuleResult:
        sentence = f"{subject(self.rule)} {message}"
        return RuleResult(self.rule, state, value, self.values.scored, sentence, upper, cases, self._find_detectable())

    def _find_detectable(self) -> float | None:
        """Return how far the true mean must be from the threshold for these cases to show it (power 80%)."""
        if self.statistic not in ("mean", "rate") or self.rule.zero_event:
            return None
        low, high = ends_of(self.grader)
        span = None if low is None or high is None else high - low
        return detectable(self.values.values, clusters=shared_clusters(self.values, self.scores.clusters), span=span)

    def _explain_no_data(self) -> str:
        if not len(self.rows):
            return "has no case in this slice"
        return f"applies to none of {counted(len(self.rows), 'case')}{self._list_reasons(self.rows)}"

    def _report_incomplete(self, requirement: str) -> RuleResult:
        rows = self.values.error_rows
        coverage = f"was measured on {self.values.scored} of {counted(self.values.applicable, 'case')}"
        message = f"{coverage}, {requirement}{self._list_reasons(rows)}"
        return self._build_result("incomplete", message, cases=self.scores.ids(rows))

    def _list_reasons(self, rows: Rows) -> str:
        """Return the most common reasons of these rows, in parentheses."""
        codes, counts = np.unique(self.column.reason[rows], return_counts=True)
        reasons = [(-count, self.column.reasons[code]) for code, count in zip(codes, counts.tolist(), strict=True)]
        lines = [f"{reason}: {-count}" for count, reason in sorted(reasons) if reason]
        return f" ({'; '.join(lines[:3])})" if lines else ""

    def _evaluate_zero_event(self) -> RuleResult:
        """Fail on any event, even if other cases were not measured; without one, all cases must be measured.

        A rule that only warns is incomplete if cases were not measured, even with an event: an event that does not
        block must not hide that a case is missing.
        """
        values, n = self.values.values, self.values.scored
        at_most = self.rule.at_most is not None
        is_event = values > self.threshold if at_most else values < self.threshold
        events = int(np.count_nonzero(is_event))
        if not events and self.values.errors:
            return self._report_incomplete("all needed, because an unmeasured case may hide an event")
        message = f"is {'above' if at_most else 'below'} {self.threshold:g} on {events} of {counted(n, 'case')}"
        if not events:
            upper = zero_event_upper(n)
            message += f"; the true rate may still be up to {upper:.1%} (one-sided 95%)"
            return self._build_result("pass", message, self.summary.value, upper)
        cases = self.scores.ids(self.values.rows[is_event])
        message = f"{message} ({named(cases)})"
        if self.values.errors and self.rule.severity == "warn":
            unmeasured = self.scores.ids(self.values.error_rows)
            message = f"{message} and was not measured on {named(unmeasured)}"
            return self._build_result("incomplete", message, cases=(*cases, *unmeasured))
        return self._build_result("fail", message, self.summary.value, cases=cases)

    def _evaluate_point(self) -> RuleResult:
        value = self._find_deciding_value()
        if value is None:
            return self._report_incomplete(NO_WORST)
        if self.values.errors:
            detail = f"{counted(self.values.errors, 'error')} counted as worst, n {self.values.applicable}"
        else:
            detail = f"n {self.values.scored}{interval_text(self.summary.interval, self.grader.unit)}"
        return self._compare_with_threshold(value, "", detail)

    def _find_deciding_value(self) -> float | None:
        """Return the number that decides: with errors, the pessimistic one; None if an error has no worst value."""
        if not self.values.errors:
            return self.summary.value
        if self.statistic not in PERCENTILES:
            return self.summary.mean_worst
        worst = {"lower": sys.float_info.max, "higher": -sys.float_info.max}.get(self.grader.direction)
        if worst is None:
            return None
        value = percentile(self.values.pessimistic(worst).values, PERCENTILES[self.statistic])
        return None if value == worst else value

    def _evaluate_bound(self) -> RuleResult:
        """Compare the one-sided 95% bound with the threshold; without a bound the rule fails."""
        values, worst = self.values, worst_of(self.grader)
        if values.errors:
            if worst is None:
                return self._report_incomplete(NO_WORST)
            values = values.pessimistic(worst)
        side: Literal["lower", "upper"] = "upper" if self.rule.at_least is None else "lower"
        low, high = ends_of(self.grader)
        clusters = shared_clusters(values, self.scores.clusters)
        bound = one_sided(values.values, side, clusters=clusters, low=low, high=high)
        if bound is None:
            return self._build_result("fail", f"has no {side} bound to show (n {values.scored})", self.summary.value)
        return self._compare_with_threshold(bound.value, f"{side} 95% bound ", f"n {values.scored}, {bound.method}")

    def _compare_with_threshold(self, value: float, prefix: str, detail: str) -> RuleResult:
        """Compare the deciding value with the threshold; a value equal to its threshold meets it."""
        if self.rule.at_least is not None:
            is_met = value >= self.threshold
            sign = "≥" if is_met else "<"
        else:
            is_met = value <= self.threshold
            sign = "≤" if is_met else ">"
        left, right = compared(value, self.threshold, self.grader.unit)
        return self._build_result("pass" if is_met else "fail", f"{prefix}{left} {sign} {right} ({detail})", value)
