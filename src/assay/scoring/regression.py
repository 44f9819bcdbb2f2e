"""Non-inferiority: whether a candidate is shown to have lost less than a margin, or more, or whether it stays open.

The bounds are one-sided at 95%: pass where the lower bound of the mean gain is above −margin, fail where the upper one
is below, otherwise inconclusive.
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
    """Oriented pairs: a positive difference is better; `span` is how far apart two scores can be, None for no limit."""

    differences: Floats
    bounds: Bounds | None
    span: float | None

    @property
    def mean(self) -> float:
        """The mean gain."""
        return exact_sum(self.differences) / len(self.differences)


def gained(grader: Grader, before: Floats, after: Floats, clusters: Clusters | None) -> Gained:
    """Return what was gained with one-sided 95% bounds; a metric that is better low counts by its fall."""
    if grader.direction == "lower":
        before, after = after, before
    low, high = ends_of(grader)
    span = None if low is None or high is None else high - low
    return Gained(after - before, gain_bounds(before, after, clusters=clusters, low=low, high=high), span)


def hold_regression(rule: Rule, scores: Scores) -> RuleResult:
    """Return what a usable rule with `max_regression` finds against the baseline of `scores`."""
    rule = resolved(rule)
    name = parse(rule.metric)
    mine = column_of(scores.table, name)
    if mine is None:
        return RuleResult(rule, "unmeasured", None, 0, f"{subject(rule)} was not measured")
    if scores.baseline is None:
        message = f"{subject(rule)} needs a baseline, and none was given (--baseline)"
        return RuleResult(rule, "unmeasured", None, 0, message)
    theirs = column_of(scores.baseline, name)
    if theirs is None:
        return RuleResult(rule, "unmeasured", None, 0, f"{subject(rule)} was not measured in the baseline")
    return without_holes(_Against(rule, scores, theirs, mine).result(), scores, mine)


class _Against:
    """One regression rule held against one column of either side."""

    def __init__(self, rule: Rule, scores: Scores, baseline: ScoreColumn, candidate: ScoreColumn) -> None:
        self.rule, self.scores = rule, scores
        self.grader = grader_of(parse(rule.metric))
        self.margin = rule.max_regression or 0.0
        self.rows = scores.rows(rule.slice)
        self.columns = baseline, candidate
        self.pairs: Pairs = pairs_of(baseline, candidate, self.rows)
        self.failed: Rows = np.union1d(self.pairs.failed_before, self.pairs.failed_after)

    def result(self) -> RuleResult:
        found = self.pairs
        expected = len(found.rows) + len(self.failed)
        if not expected:
            where = "has no case in this slice" if not len(self.rows) else "was scored on no case of both sides"
            return self._say("no_data", where)
        if len(found.rows) / expected < self.rule.min_coverage or not len(found.rows):
            return self._incomplete(f"{self.rule.min_coverage:.0%} needed")
        rows, before, after = found.rows, found.before, np.where(self._held(), found.before, found.after)
        lost = np.intersect1d(found.lost, found.failed_after)
        if len(lost):
            worst = worst_of(self.grader)
            if worst is None:
                return self._incomplete(NO_WORST)
            rows, before = np.concatenate([rows, lost]), np.concatenate([before, self._lost_values(lost)])
            after = np.concatenate([after, np.full(len(lost), worst)])
        clusters = self.scores.clusters[rows] if self.scores.clusters is not None else None
        return self._decided(gained(self.grader, before, after, clusters), before, after, rows, clusters)

    def _held(self) -> Bools:
        """Which pairs came out better by votes that are far apart: they make up for no loss."""
        return held_back(self.columns, self.pairs, better(self.grader, self.pairs.before, self.pairs.after))

    def _lost_values(self, lost: Rows) -> Floats:
        assert self.scores.baseline is not None
        column = column_of(self.scores.baseline, parse(self.rule.metric))
        assert column is not None
        return column.values[lost]

    def _say(self, state: RuleState, message: str, cases: tuple[str, ...] = ()) -> RuleResult:
        return RuleResult(self.rule, state, None, len(self.pairs.rows), f"{subject(self.rule)} {message}", cases=cases)

    def _incomplete(self, need: str) -> RuleResult:
        count, ids = len(self.pairs.rows), self.scores.ids(self.failed)
        total = counted(count + len(self.failed), "case")
        return self._say("incomplete", f"was scored on both sides on {count} of {total}, {need} ({named(ids)})", ids)

    def _decided(
        self, gain: Gained, before: Floats, after: Floats, rows: Rows, clusters: Clusters | None
    ) -> RuleResult:
        count = len(gain.differences)
        one, other = compared(exact_sum(before) / count, exact_sum(after) / count, self.grader.unit)
        state, what = self._concluded(gain)
        worse = self.scores.ids(np.sort(rows[gain.differences < 0]))
        named_worse = f"; worse on {named(worse)}" if worse and state != "pass" else ""
        told = f"{subject(self.rule)} went from {one} to {other} (n {count}){named_worse}: {what}{self._apart()}"
        least = detectable(gain.differences, clusters=clusters, span=gain.span)
        return RuleResult(self.rule, state, gain.mean + 0.0, count, told, cases=worse, detectable=least)

    def _concluded(self, gain: Gained) -> tuple[RuleState, str]:
        margin, bounds = self.margin, gain.bounds
        if bounds is None:
            return "inconclusive", f"whether it lost {margin:g} is open: too few unlike cases for a bound"
        if not bounds.note:
            if bounds.low > -margin:
                return "pass", f"a loss of {margin:g} is excluded (one-sided 95% bound {bounds.low:+.3f})"
            if bounds.high < -margin:
                return "fail", f"it lost more than {margin:g} (one-sided 95% bound {bounds.high:+.3f})"
        reach = f"{bounds.low:+.3f} to {bounds.high:+.3f}{f', {bounds.note}' if bounds.note else ''}"
        return "inconclusive", f"a loss of {margin:g} is neither shown nor excluded ({reach}){self._needed(gain)}"

    def _needed(self, gain: Gained) -> str:
        """Say how many cases would settle it, if they differ as much as these."""
        count = len(gain.differences)
        sd = float(np.std(np.sort(gain.differences), ddof=1)) if count > 1 else 0.0
        sd = sd or (gain.span or 0.0) * sqrt(zero_event_upper(count))
        return f"; about {cases_needed(self.margin, sd)} cases would tell" if sd else ""

    def _apart(self) -> str:
        """Say which cases no error explains and that still have no pair, and which gains are not counted."""
        alone = np.setdiff1d(np.concatenate([self.pairs.lost, self.pairs.won]), self.failed)
        ids, held = self.scores.ids(alone), self.scores.ids(self.pairs.rows[self._held()])
        told = f"; {counted(len(ids), 'case')} scored on one side only ({named(ids)})" if ids else ""
        return told + (f"; {counted(len(held), 'case')} in review counted as no gain ({named(held)})" if held else "")
