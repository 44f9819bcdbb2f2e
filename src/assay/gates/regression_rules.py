"""Non-inferiority rules: whether a candidate lost less than a margin compared with a baseline.

The bounds are one-sided at 95%: a rule passes if the lower bound of the mean gain is above −margin, fails if the upper
bound is below it, and is inconclusive otherwise (ADR 0021). With `basis: point` only the mean gain counts. Unknown
answers are taken at worst and at best: a rule that they could turn is inconclusive (ADR 0158). One that is the same on
both sides turns none (ADR 0162).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.gates.rules import (
    NO_WORST_VALUE,
    GateScores,
    describe_subject,
    explain_empty_slice,
    require_reported_rows,
    resolve_rule,
)
from assay.gates.unknown_answers import leave_open
from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.metric import Metric
from assay.records.counts import format_count
from assay.records.release_gates import Rule, RuleResult, RuleState
from assay.records.scores import SCORED, ScoreColumn
from assay.scoring.column_values import find_column, format_case_ids, format_compared, get_range, get_worst_value
from assay.scoring.completed_scores import Columns, CompletedColumns, complete_columns, find_unknown_cells
from assay.scoring.paired_scores import PairedValues, compute_change_signs, find_doubtful_gains, pair_columns
from assay.scoring.same_answers import find_same_answers
from assay.scoring.same_recording import OWN_BASELINE
from assay.stats.arrays import BoolArray, FloatArray, RowIndices
from assay.stats.fewest_cases import find_fewest
from assay.stats.intervals import Bounds, upper_bound_after_no_events
from assay.stats.paired_tests import bound_mean_gain, compute_cases_needed, estimate_detectable_difference
from assay.stats.samples import ClusterCodes, compute_exact_sum

_MAX_CASES_TRIED = 100_000
_ROUNDING = 1e-12
"""A loss is larger than the margin only if it is so by more than the rounding of a sum."""


class GainEstimate(Struct, frozen=True):
    """Paired differences, positive if better, with bounds of their mean.

    `span` is the largest possible difference of two scores, None if unlimited.
    """

    differences: FloatArray
    bounds: Bounds | None
    span: float | None

    @property
    def mean(self) -> float:
        """The mean gain."""
        return compute_exact_sum(self.differences) / len(self.differences)


def estimate_gain(
    metric_row: Metric, before: FloatArray, after: FloatArray, clusters: ClusterCodes | None
) -> GainEstimate:
    """Return the gain with one-sided 95% bounds; for a metric that is better low, a decrease is a gain."""
    if metric_row.direction == "lower":
        before, after = after, before
    low, high = get_range(metric_row)
    span = None if low is None or high is None else high - low
    return GainEstimate(after - before, bound_mean_gain(before, after, clusters=clusters, low=low, high=high), span)


def evaluate_regression(rule: Rule, scores: GateScores) -> RuleResult:
    """Return the result of a usable rule with `max_regression`, compared with the baseline of `scores`."""
    rule = resolve_rule(rule)
    name = parse_metric(rule.metric)
    candidate = find_column(scores.table, name)
    if candidate is None:
        return RuleResult(rule, "unmeasured", None, 0, f"{describe_subject(rule)} was not measured")
    if scores.baseline is None:
        message = f"{describe_subject(rule)} needs a baseline; none was given (--baseline)"
        return RuleResult(rule, "unmeasured", None, 0, message)
    baseline = find_column(scores.baseline, name)
    if baseline is None:
        return RuleResult(rule, "unmeasured", None, 0, f"{describe_subject(rule)} was not measured in the baseline")
    if scores.own_baseline != "no" and len(scores.find_rows(rule.slice)):
        return _report_own_baseline(rule, scores, candidate)
    completed = complete_columns(find_metric(name), rule.metric, (baseline, candidate))
    if completed is None or not len(_find_unknown_rows(rule, scores, (baseline, candidate))):
        result = _RegressionRule(rule, scores, baseline, candidate).evaluate()
    else:
        result = _evaluate_with_unknown_answers(rule, scores, (baseline, candidate), completed)
    return require_reported_rows(result, scores, candidate)


def _report_own_baseline(rule: Rule, scores: GateScores, candidate: ScoreColumn) -> RuleResult:
    """Return the result of a rule on the baseline itself: it tells nothing, unless others are compared with it."""
    if scores.own_baseline == "alone":
        message = f"{describe_subject(rule)} is compared with itself; {OWN_BASELINE}"
        return RuleResult(rule, "incomplete", None, 0, message)
    scored = int(np.count_nonzero(candidate.status[scores.find_rows(rule.slice)] == SCORED))
    message = f"{describe_subject(rule)} is that of the baseline itself, which others are compared with"
    return RuleResult(rule, "pass", 0.0, scored, message)


def _find_unknown_rows(rule: Rule, scores: GateScores, columns: Columns) -> RowIndices:
    """Return the rows of a rule's slice with an answer on either side that nobody can tell the score of."""
    rows = scores.find_compared_rows(rule.slice)
    unknown = find_unknown_cells(columns[0]) | find_unknown_cells(columns[1])
    return rows[unknown[rows]]


def _evaluate_with_unknown_answers(
    rule: Rule, scores: GateScores, columns: Columns, completed: CompletedColumns
) -> RuleResult:
    """Return the result that holds with all unknown answers at worst and at best; inconclusive where they disagree."""
    sides = _describe_sides(rule, scores, completed)
    worst, best = (_RegressionRule(rule, scores, *end, sides) for end in (completed.worst, completed.best))
    at_worst, at_best = worst.evaluate(), best.evaluate()
    rows = _find_unknown_rows(rule, scores, columns)
    unknown = scores.get_case_ids(rows)
    where = f"the rules cannot tell on {format_count(len(unknown), 'case')} ({format_case_ids(unknown)})"
    same = find_same_answers(*columns)[rows]
    if same.all():
        where += ", but the answers there are the same on both sides"
        return replace(at_worst, message=f"{at_worst.message}; {where}")
    if same.any():
        where += f", and on {np.count_nonzero(same)} of them the answers are the same on both sides"
    for result in (at_worst, at_best):
        if result.state not in ("pass", "fail", "inconclusive"):
            return replace(result, message=f"{result.message}; {where}")
    if at_worst.state == at_best.state == "pass":
        return replace(at_worst, message=f"{at_worst.message}; {where}, and this counts them against the candidate")
    if at_worst.state == at_best.state == "fail":
        return replace(at_best, message=f"{at_best.message}; {where}, and this counts them in favour of the candidate")
    if at_worst.state == at_best.state == "inconclusive" and not at_best.unchanged:
        # Open for lack of cases whatever the unknown answers are: to settle them would not decide it.
        return replace(at_best, message=f"{at_best.message}; {where}, and this counts them in favour of the candidate")
    before, after = sides
    gains = [result.value for result in (at_worst, at_best) if result.value is not None]
    between = f"its gain is between {min(gains):+.3f} and {max(gains):+.3f}" if gains else "its gain is open"
    message = (
        f"{describe_subject(rule)} went from {before} to {after} (n {at_worst.scored}), because {where}: "
        f"{between}, and a loss of {rule.max_regression:g} is allowed"
    )
    return leave_open(replace(at_worst, message=message, cases=unknown, unchanged=False, detectable=None))


def _describe_sides(rule: Rule, scores: GateScores, completed: CompletedColumns) -> tuple[str, str]:
    """Return the mean of each side, or between which two it is."""
    unit = find_metric(parse_metric(rule.metric)).unit
    low, high = (_RegressionRule(rule, scores, *end).average_sides() for end in (completed.lowest, completed.highest))
    before, after = (_describe_side(min(side), max(side), unit) for side in zip(low, high, strict=True))
    return before, after


def _describe_side(low: float, high: float, unit: str) -> str:
    if high - low <= _ROUNDING:
        return f"{low:.3f}"
    return "between {} and {}".format(*format_compared(low, high, unit))


class _RegressionRule:
    """One regression rule, and the columns of both sides that it compares; `sides` are their means in words, where
    unknown answers leave these open."""

    def __init__(
        self,
        rule: Rule,
        scores: GateScores,
        baseline: ScoreColumn,
        candidate: ScoreColumn,
        sides: tuple[str, str] | None = None,
    ) -> None:
        self.rule, self.scores, self.sides = rule, scores, sides
        self.metric_row = find_metric(parse_metric(rule.metric))
        self.margin = rule.max_regression or 0.0
        self.rows = scores.find_compared_rows(rule.slice)
        self.columns = baseline, candidate
        self.pairs: PairedValues = pair_columns(baseline, candidate, self.rows)
        self.failed: RowIndices = np.union1d(self.pairs.failed_before, self.pairs.failed_after)

    def evaluate(self) -> RuleResult:
        pairs = self.pairs
        expected = len(pairs.rows) + len(self.failed)
        if not expected:
            message = explain_empty_slice(self.rule.slice, self.scores.cases)
            if len(self.rows):
                message = "was scored on no case of both sides"
            return self._build_result("no_data", message)
        if len(pairs.rows) / expected < self.rule.min_coverage or not len(pairs.rows):
            return self._report_incomplete(f"{self.rule.min_coverage:.0%} needed")
        if len(self._find_lost()) and get_worst_value(self.metric_row) is None:
            return self._report_incomplete(NO_WORST_VALUE)
        rows, before, after = self._collect_scores()
        clusters = self.scores.clusters[rows] if self.scores.clusters is not None else None
        return self._decide(estimate_gain(self.metric_row, before, after, clusters), before, after, rows, clusters)

    def average_sides(self) -> tuple[float, float]:
        """Return the means of the baseline and of the candidate that the rule compares; 0 where it compares nothing."""
        _, before, after = self._collect_scores()
        if not len(before):
            return 0.0, 0.0
        return compute_exact_sum(before) / len(before), compute_exact_sum(after) / len(after)

    def _find_lost(self) -> RowIndices:
        return np.intersect1d(self.pairs.baseline_only, self.pairs.failed_after)

    def _collect_scores(self) -> tuple[RowIndices, FloatArray, FloatArray]:
        """Return the rows that count, with the scores of both sides."""
        pairs = self.pairs
        rows, before, after = pairs.rows, pairs.before, np.where(self._find_doubtful(), pairs.before, pairs.after)
        # A case on which only the candidate failed counts as the worst value.
        lost, worst = self._find_lost(), get_worst_value(self.metric_row)
        if len(lost) and worst is not None:
            baseline_values = self.columns[0].values[lost]
            rows, before = np.concatenate([rows, lost]), np.concatenate([before, baseline_values])
            after = np.concatenate([after, np.full(len(lost), worst)])
        return rows, before, after

    def _find_doubtful(self) -> BoolArray:
        """Return which pairs improved only by votes that disagree widely: they do not compensate for a loss."""
        return find_doubtful_gains(
            self.columns, self.pairs, compute_change_signs(self.metric_row, self.pairs.before, self.pairs.after)
        )

    def _build_result(self, state: RuleState, message: str, cases: tuple[str, ...] = ()) -> RuleResult:
        return RuleResult(
            self.rule, state, None, len(self.pairs.rows), f"{describe_subject(self.rule)} {message}", cases=cases
        )

    def _report_incomplete(self, requirement: str) -> RuleResult:
        count, ids = len(self.pairs.rows), self.scores.get_case_ids(self.failed)
        total = format_count(count + len(self.failed), "case")
        message = f"was scored on both sides on {count} of {total}, {requirement} ({format_case_ids(ids)})"
        return self._build_result("incomplete", message, ids)

    def _decide(
        self, gain: GainEstimate, before: FloatArray, after: FloatArray, rows: RowIndices, clusters: ClusterCodes | None
    ) -> RuleResult:
        count = len(gain.differences)
        old, new = self.sides or format_compared(
            compute_exact_sum(before) / count, compute_exact_sum(after) / count, self.metric_row.unit
        )
        state, conclusion = self._conclude(gain)
        if state == "inconclusive" and not gain.differences.any():
            return self._report_unchanged(gain, new, before, clusters)
        worse = self.scores.get_case_ids(np.sort(rows[gain.differences < 0]))
        worse_note = f"; worse on {format_case_ids(worse)}" if worse and state != "pass" else ""
        change = f"{describe_subject(self.rule)} went from {old} to {new} (n {count}){worse_note}"
        least = estimate_detectable_difference(gain.differences, clusters=clusters, span=gain.span)
        message = f"{change}: {conclusion}{self._describe_uncounted()}"
        return RuleResult(self.rule, state, gain.mean + 0.0, count, message, cases=worse, detectable=least)

    def _report_unchanged(
        self, gain: GainEstimate, value: str, scores: FloatArray, clusters: ClusterCodes | None
    ) -> RuleResult:
        """Return an open result of equal scores: how much other questions may still lose, and how many would tell."""
        count = len(gain.differences)
        equal = f"is {value} on both sides, the same on each of {format_count(count, 'case')}"
        allowed = f"so few cannot exclude a loss of {self.margin:g}"
        needed = ""
        if gain.bounds is not None:
            loss = max(0.0, -gain.bounds.low)
            note = f", {gain.bounds.note}" if gain.bounds.note else ""
            allowed = f"up to {loss:.3f} may still be lost on others (95% bound{note}), {self.margin:g} is allowed"
            enough = None if clusters is not None else self._count_equal_cases(scores)
            needed = f"; {enough} such cases would pass" if enough is not None else ""
        message = f"{describe_subject(self.rule)} {equal}: {allowed}{needed}{self._describe_uncounted()}"
        least = estimate_detectable_difference(gain.differences, clusters=clusters, span=gain.span)
        return RuleResult(self.rule, "inconclusive", 0.0, count, message, detectable=least, unchanged=True)

    def _count_equal_cases(self, scores: FloatArray) -> int | None:
        """Return how many cases with equal scores on both sides would exclude a loss of the margin, None if too many.

        The number is found with the bound that decides, because each kind of score has its own.
        """

        def is_enough(count: int) -> bool:
            many = np.resize(scores, count)
            bounds = estimate_gain(self.metric_row, many, many, None).bounds
            return bounds is not None and bounds.low > -self.margin

        return find_fewest(is_enough, len(scores), _MAX_CASES_TRIED)

    def _conclude(self, gain: GainEstimate) -> tuple[RuleState, str]:
        margin, bounds = self.margin, gain.bounds
        if self.rule.basis == "point":
            return self._conclude_by_point(gain)
        if bounds is None:
            return "inconclusive", f"whether it lost {margin:g} is open: too few unlike cases for a bound"
        if not bounds.note:
            if bounds.low > -margin:
                return "pass", f"a loss of {margin:g} is excluded (one-sided 95% bound {bounds.low:+.3f})"
            if bounds.high < -margin:
                return "fail", f"it lost more than {margin:g} (one-sided 95% bound {bounds.high:+.3f})"
        loss = max(0.0, -bounds.low)
        note = f", {bounds.note}" if bounds.note else ""
        needed = self._describe_cases_needed(gain)
        if bounds.high < 0 and not bounds.note:
            open_loss = (
                f"it lost between {-bounds.high:.3f} and {loss:.3f} (one-sided 95% bounds), and {margin:g} is allowed"
            )
        else:
            open_loss = f"the true loss may be up to {loss:.3f} (one-sided 95% bound{note}), and {margin:g} is allowed"
        return "inconclusive", f"{open_loss}{needed}"

    def _conclude_by_point(self, gain: GainEstimate) -> tuple[RuleState, str]:
        """Compare the mean gain itself with −margin; a loss as large as the margin is allowed."""
        is_met = gain.mean >= -self.margin - _ROUNDING
        sign = "≥" if is_met else "<"
        return "pass" if is_met else "fail", f"its gain of {gain.mean:+.3f} {sign} {-self.margin:g} (basis: point)"

    def _describe_cases_needed(self, gain: GainEstimate) -> str:
        """Say how many cases would decide the rule if they differ as much as these, or that these would have."""
        count = len(gain.differences)
        sd = float(np.std(np.sort(gain.differences), ddof=1)) if count > 1 else 0.0
        sd = sd or (gain.span or 0.0) * sqrt(upper_bound_after_no_events(count))
        if not sd:
            return ""
        excess = -gain.mean - self.margin
        if excess > 0:
            shown = format_count(compute_cases_needed(excess, sd), "case")
            return (
                f"; if the true loss is {-gain.mean:.3f}, as here, it takes about {shown} like these to fail the rule"
            )
        needed = compute_cases_needed(self.margin, sd)
        if needed <= count:
            return f"; had nothing been lost, {format_count(count, 'case')} like these would probably have passed"
        return f"; if nothing was lost, it takes about {format_count(needed, 'case')} like these to pass the rule"

    def _describe_uncounted(self) -> str:
        """Name the cases scored on one side only without an error, and the gains that are not counted."""
        one_sided = self.scores.get_case_ids(
            np.setdiff1d(np.concatenate([self.pairs.baseline_only, self.pairs.candidate_only]), self.failed)
        )
        in_review = self.scores.get_case_ids(self.pairs.rows[self._find_doubtful()])
        text = ""
        others = self.scores.get_case_ids(np.setdiff1d(self.scores.find_rows(self.rule.slice), self.rows))
        if others:
            count = format_count(len(others), "case")
            text += f"; {count} of another version of the set not compared ({format_case_ids(others)})"
        if one_sided:
            text += f"; {format_count(len(one_sided), 'case')} scored on one side only ({format_case_ids(one_sided)})"
        if in_review:
            text += (
                f"; {format_count(len(in_review), 'case')} in review counted as no gain ({format_case_ids(in_review)})"
            )
        return text
