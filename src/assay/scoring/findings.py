"""What one rule finds in one configuration's scores; a rule that nothing was measured for never passes."""

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

SMALLEST_FOR_P95 = 20
NO_WORST = "all needed, because nothing bounds how bad an error is"


class Scores:
    """What rules are held against: one configuration's table, the golden cases of its rows, and a baseline's table, if
    there is one, aligned with both."""

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
    """Return what a usable rule finds: a state of DECISIONS 14, the number that decided and a sentence for people."""
    rule = resolved(rule)
    name = parse(rule.metric)
    column = column_of(scores.table, name)
    if column is None or any(part not in scores.table.columns for part in grader_of(name).parts):
        return RuleResult(rule, "unmeasured", None, 0, f"{subject(rule)} was not measured")
    return without_holes(_Held(rule, scores, column).result(), scores, column)


def without_holes(result: RuleResult, scores: Scores, column: ScoreColumn) -> RuleResult:
    """Return a pass as inconclusive where some observed rows did not report what the metric is made from.

    The rows that do report it may be the easy ones; a configuration that never reports it was not measured at all.
    """
    rows = scores.rows(result.rule.slice)
    silent = scores.ids(rows[not_reported(column, rows)])
    gone = [case_id for case_id in silent if case_id not in set(scores.table.missing)] if result.state == "pass" else []
    if not gone:
        return result
    message = f"{result.message}; not reported on {len(gone)} of {counted(len(rows), 'case')} ({named(gone)})"
    return structs.replace(result, state="inconclusive", message=message)


def subject(rule: Rule) -> str:
    """Return what a rule is about, as its sentences begin.

    >>> subject(Rule("recall@10", at_least=0.9, slice="tag=hr"))
    'recall@10 on tag=hr'
    """
    return rule.metric if rule.slice is None else f"{rule.metric} on {rule.slice}"


class _Held:
    """One rule held against one column."""

    def __init__(self, rule: Rule, scores: Scores, column: ScoreColumn) -> None:
        name = parse(rule.metric)
        self.rule, self.scores, self.column = rule, scores, column
        self.threshold = threshold_of(rule)
        self.grader: Grader = grader_of(name)
        self.statistic = statistic_of(self.grader, rule.metric)
        self.rows = scores.rows(rule.slice)
        self.seen: Measured = measure(column, self.rows)
        self.summary: Summary = summary_of(
            scores.table,
            name,
            self.rows,
            slice_name=rule.slice or HEADLINE,
            clusters=scores.clusters,
            floor=min(rule.min_coverage, LEAST_JUDGED),
        )

    def result(self) -> RuleResult:
        seen = self.seen
        if not seen.applicable:
            return self._say("no_data", self._nothing())
        if self.rule.zero_event:
            return self._zero_event()
        if seen.scored / seen.applicable < self.rule.min_coverage:
            return self._incomplete(f"{self.rule.min_coverage:.0%} needed")
        if not seen.scored:
            return self._say("no_data", f"was scored on none of {counted(seen.errors, 'case')}")
        if self.statistic == "p95" and seen.applicable < SMALLEST_FOR_P95:
            message = f"is a p95 of {counted(seen.applicable, 'case')} and needs {SMALLEST_FOR_P95}"
            return self._say("inconclusive", message, self.summary.value)
        return self._bound() if self.rule.basis == "bound" else self._point()

    def _say(
        self,
        state: RuleState,
        message: str,
        value: float | None = None,
        upper: float | None = None,
        cases: tuple[str, ...] = (),
    ) -> RuleResult:
        said = f"{subject(self.rule)} {message}"
        return RuleResult(self.rule, state, value, self.seen.scored, said, upper, cases, self._detectable())

    def _detectable(self) -> float | None:
        """How far the true mean must be from the threshold before so many cases are likely to show it."""
        if self.statistic not in ("mean", "rate") or self.rule.zero_event:
            return None
        low, high = ends_of(self.grader)
        span = None if low is None or high is None else high - low
        return detectable(self.seen.values, clusters=shared_clusters(self.seen, self.scores.clusters), span=span)

    def _nothing(self) -> str:
        if not len(self.rows):
            return "has no case in this slice"
        return f"applies to none of {counted(len(self.rows), 'case')}{self._why(self.rows)}"

    def _incomplete(self, need: str) -> RuleResult:
        rows = self.seen.error_rows
        found = f"was measured on {self.seen.scored} of {counted(self.seen.applicable, 'case')}"
        return self._say("incomplete", f"{found}, {need}{self._why(rows)}", cases=self.scores.ids(rows))

    def _why(self, rows: Rows) -> str:
        """The commonest reasons of these rows, in brackets."""
        codes, counts = np.unique(self.column.reason[rows], return_counts=True)
        reasons = [(-count, self.column.reasons[code]) for code, count in zip(codes, counts.tolist(), strict=True)]
        told = [f"{reason}: {-count}" for count, reason in sorted(reasons) if reason]
        return f" ({'; '.join(told[:3])})" if told else ""

    def _zero_event(self) -> RuleResult:
        """Any event decides, whatever else is missing; without one, an unmeasured case may still hide one.

        So it may where the rule only warns: an event that blocks nothing must not hide that a case is missing.
        """
        values, n = self.seen.values, self.seen.scored
        at_most = self.rule.at_most is not None
        hits = values > self.threshold if at_most else values < self.threshold
        events = int(np.count_nonzero(hits))
        if not events and self.seen.errors:
            return self._incomplete("all needed, because an unmeasured case may hide an event")
        message = f"is {'above' if at_most else 'below'} {self.threshold:g} on {events} of {counted(n, 'case')}"
        if not events:
            upper = zero_event_upper(n)
            message += f"; the true rate may still be up to {upper:.1%} (one-sided 95%)"
            return self._say("pass", message, self.summary.value, upper)
        cases = self.scores.ids(self.seen.rows[hits])
        told = f"{message} ({named(cases)})"
        if self.seen.errors and self.rule.severity == "warn":
            lost = self.scores.ids(self.seen.error_rows)
            return self._say("incomplete", f"{told} and was not measured on {named(lost)}", cases=(*cases, *lost))
        return self._say("fail", told, self.summary.value, cases=cases)

    def _point(self) -> RuleResult:
        value = self._gated()
        if value is None:
            return self._incomplete(NO_WORST)
        if self.seen.errors:
            detail = f"{counted(self.seen.errors, 'error')} counted as worst, n {self.seen.applicable}"
        else:
            detail = f"n {self.seen.scored}{interval_text(self.summary.interval, self.grader.unit)}"
        return self._compare(value, "", detail)

    def _gated(self) -> float | None:
        """The number that decides: with errors the pessimistic one, None where nothing bounds an error."""
        if not self.seen.errors:
            return self.summary.value
        if self.statistic not in PERCENTILES:
            return self.summary.mean_worst
        worst = {"lower": sys.float_info.max, "higher": -sys.float_info.max}.get(self.grader.direction)
        if worst is None:
            return None
        value = percentile(self.seen.pessimistic(worst).values, PERCENTILES[self.statistic])
        return None if value == worst else value

    def _bound(self) -> RuleResult:
        """The one-sided 95% bound must clear the threshold; cases that give no bound have shown nothing."""
        seen, worst = self.seen, worst_of(self.grader)
        if seen.errors:
            if worst is None:
                return self._incomplete(NO_WORST)
            seen = seen.pessimistic(worst)
        side: Literal["lower", "upper"] = "upper" if self.rule.at_least is None else "lower"
        low, high = ends_of(self.grader)
        shared = shared_clusters(seen, self.scores.clusters)
        bound = one_sided(seen.values, side, clusters=shared, low=low, high=high)
        if bound is None:
            return self._say("fail", f"has no {side} bound to show (n {seen.scored})", self.summary.value)
        return self._compare(bound.value, f"{side} 95% bound ", f"n {seen.scored}, {bound.method}")

    def _compare(self, value: float, what: str, detail: str) -> RuleResult:
        """The one comparator of every rule: a value at its threshold meets it."""
        at_least = self.rule.at_least is not None
        met = value >= self.threshold if at_least else value <= self.threshold
        sign = ("≥" if met else "<") if at_least else ("≤" if met else ">")
        left, right = compared(value, self.threshold, self.grader.unit)
        return self._say("pass" if met else "fail", f"{what}{left} {sign} {right} ({detail})", value)
