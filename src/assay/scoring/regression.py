"""Non-inferiority rules: whether a candidate lost less than a margin compared with a baseline.

The bounds are one-sided at 95%: a rule passes if the lower bound of the mean gain is above −margin, fails if the upper
bound is below it, and is inconclusive otherwise (ADR 0021).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from assay.graders.base import Bools, Floats, Grader
from assay.graders.catalog import grader_of, parse
from assay.metrics.noninferiority import gain_bounds
from assay.metrics.paired import cases_needed, detectable
from assay.metrics.rates import Bounds, zero_event_upper
from assay.metrics.samples import exact_sum
from assay.model import Rule, RuleResult, RuleState, ScoreColumn
from assay.scoring.findings import NO_WORST, Scores, subject, without_holes
from assay.scoring.gains import better, held_back
from assay.scoring.measured import Clusters, column_of, ends_of, worst_of
from assay.scoring.pairs import Pairs, pairs_of
from assay.scoring.rules import resolved
from assay.scoring.slices import Rows
from assay.scoring.wording import compared, counted, named


class Gained(NamedTuple):
    """Paired differences, positive if better, with bounds of their mean.

    `span` is the largest possible difference of two scores, None if unlimited.
    """

    differences: Floats
    bounds: Bounds | None
    span: float | None

    @property
    def mean(self) -> float:
        """The mean gain."""
        return exact_sum(self.differences) / len(self.differences)


def gained(grader: Grader, before: Floats, after: Floats, clusters: Clusters | None) -> Gained:
    """Return the gain with one-sided 95% bounds; for a metric that is better low, a decrease is a gain."""
    if grader.direction == "lower":
        before, after = after, before
    low, high = ends_of(grader)
    span = None if low is None or high is None else high - low
    return Gained(after - before, gain_bounds(before, after, clusters=clusters, low=low, high=high), span)


def hold_regression(rule: Rule, scores: Scores) -> RuleResult:
    """Return the result of a usable rule with `max_regression`, compared with the baseline of `scores`."""
    rule = resolved(rule)
    name = parse(rule.metric)
    candidate = column_of(scores.table, name)
    if candidate is None:
        return RuleResult(rule, "unmeasured", None, 0, f"{subject(rule)} was not measured")
    if scores.baseline is None:
        message = f"{subject(rule)} needs a baseline, and none was given (--baseline)"
        return RuleResult(rule, "unmeasured", None, 0, message)
    baseline = column_of(scores.baseline, name)
    if baseline is None:
        return RuleResult(rule, "unmeasured", None, 0, f"{subject(rule)} was not measured in the baseline")
    return without_holes(_RegressionRule(rule, scores, baseline, candidate).evaluate(), scores, candidate)


class _RegressionRule:
    """One regression rule, and the columns of both sides that it compares."""

    def __init__(self, rule: Rule, scores: Scores, baseline: ScoreColumn, candidate: ScoreColumn) -> None:
        self.rule, self.scores = rule, scores
        self.grader = grader_of(parse(rule.metric))
        self.margin = rule.max_regression or 0.0
        self.rows = scores.rows(rule.slice)
        self.columns = baseline, candidate
        self.pairs: Pairs = pairs_of(baseline, candidate, self.rows)
        self.failed: Rows = np.union1d(self.pairs.failed_before, self.pairs.failed_after)

    def evaluate(self) -> RuleResult:
        pairs = self.pairs
        expected = len(pairs.rows) + len(self.failed)
        if not expected:
            message = "has no case in this slice" if not len(self.rows) else "was scored on no case of both sides"
            return self._build_result("no_data", message)
        if len(pairs.rows) / expected < self.rule.min_coverage or not len(pairs.rows):
            return self._report_incomplete(f"{self.rule.min_coverage:.0%} needed")
        rows, before, after = pairs.rows, pairs.before, np.where(self._find_doubtful(), pairs.before, pairs.after)
        # A case on which only the candidate failed counts as the worst value.
        lost = np.intersect1d(pairs.lost, pairs.failed_after)
        if len(lost):
            worst = worst_of(self.grader)
            if worst is None:
                return self._report_incomplete(NO_WORST)
            baseline_values = self.columns[0].values[lost]
            rows, before = np.concatenate([rows, lost]), np.concatenate([before, baseline_values])
            after = np.concatenate([after, np.full(len(lost), worst)])
        clusters = self.scores.clusters[rows] if self.scores.clusters is not None else None
        return self._decide(gained(self.grader, before, after, clusters), before, after, rows, clusters)

    def _find_doubtful(self) -> Bools:
        """Return which pairs improved only by votes that disagree widely: they do not compensate for a loss."""
        return held_back(self.columns, self.pairs, better(self.grader, self.pairs.before, self.pairs.after))

    def _build_result(self, state: RuleState, message: str, cases: tuple[str, ...] = ()) -> RuleResult:
        return RuleResult(self.rule, state, None, len(self.pairs.rows), f"{subject(self.rule)} {message}", cases=cases)

    def _report_incomplete(self, requirement: str) -> RuleResult:
        count, ids = len(self.pairs.rows), self.scores.ids(self.failed)
        total = counted(count + len(self.failed), "case")
        message = f"was scored on both sides on {count} of {total}, {requirement} ({named(ids)})"
        return self._build_result("incomplete", message, ids)

    def _decide(self, gain: Gained, before: Floats, after: Floats, rows: Rows, clusters: Clusters | None) -> RuleResult:
        count = len(gain.differences)
        old, new = compared(exact_sum(before) / count, exact_sum(after) / count, self.grader.unit)
        state, conclusion = self._conclude(gain)
        worse = self.scores.ids(np.sort(rows[gain.differences < 0]))
        worse_note = f"; worse on {named(worse)}" if worse and state != "pass" else ""
        change = f"{subject(self.rule)} went from {old} to {new} (n {count}){worse_note}"
        least = detectable(gain.differences, clusters=clusters, span=gain.span)
        message = f"{change}: {conclusion}{self._describe_uncounted()}"
        return RuleResult(self.rule, state, gain.mean + 0.0, count, message, cases=worse, detectable=least)

    def _conclude(self, gain: Gained) -> tuple[RuleState, str]:
        margin, bounds = self.margin, gain.bounds
        if bounds is None:
            return "inconclusive", f"whether it lost {margin:g} is open: too few unlike cases for a bound"
        if not bounds.note:
            if bounds.low > -margin:
                return "pass", f"a loss of {margin:g} is excluded (one-sided 95% bound {bounds.low:+.3f})"
            if bounds.high < -margin:
                return "fail", f"it lost more than {margin:g} (one-sided 95% bound {bounds.high:+.3f})"
        interval = f"{bounds.low:+.3f} to {bounds.high:+.3f}{f', {bounds.note}' if bounds.note else ''}"
        needed = self._describe_cases_needed(gain)
        return "inconclusive", f"a loss of {margin:g} is neither shown nor excluded ({interval}){needed}"

    def _describe_cases_needed(self, gain: Gained) -> str:
        """Say how many cases would decide the rule if they differ as much as these."""
        count = len(gain.differences)
        sd = float(np.std(np.sort(gain.differences), ddof=1)) if count > 1 else 0.0
        sd = sd or (gain.span or 0.0) * sqrt(zero_event_upper(count))
        return f"; about {cases_needed(self.margin, sd)} cases would tell" if sd else ""

    def _describe_uncounted(self) -> str:
        """Name the cases scored on one side only without an error, and the gains that are not counted."""
        one_sided = self.scores.ids(np.setdiff1d(np.concatenate([self.pairs.lost, self.pairs.won]), self.failed))
        in_review = self.scores.ids(self.pairs.rows[self._find_doubtful()])
        text = ""
        if one_sided:
            text += f"; {counted(len(one_sided), 'case')} scored on one side only ({named(one_sided)})"
        if in_review:
            text += f"; {counted(len(in_review), 'case')} in review counted as no gain ({named(in_review)})"
        return text
