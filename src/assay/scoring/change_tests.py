"""What one metric gained from a baseline to a candidate, and its test, over the cases that both scored.

The interval of a gain waits for the level of its family, which is known once all metrics and slices were tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.metric import Metric
from assay.records.case_ids import CaseIds
from assay.records.counts import format_count
from assay.records.findings import ChangeVerdict, MetricChange
from assay.records.scores import ScoreTable
from assay.scoring.column_values import (
    AVERAGE_STATISTICS,
    MIN_CASES_FOR_OPEN_MEANS,
    MIN_JUDGED_SHARE,
    PERCENTILE_STATISTICS,
    collect_values,
    explain_partial_judging,
    find_statistic,
    format_case_ids,
    get_range,
    get_worst_value,
    is_open_amount,
    lists_unjudged_rows,
)
from assay.scoring.paired_scores import (
    AlignedSides,
    compute_change_signs,
    find_different_pairs,
    find_doubtful_gains,
    pair_columns,
)
from assay.scoring.summaries import MIN_TESTED_CASES, summarise_metric
from assay.stats.arrays import FloatArray, RowIndices
from assay.stats.intervals import compute_percentile, upper_bound_after_no_events
from assay.stats.median_test import MedianSample
from assay.stats.multiple_testing import find_least_p
from assay.stats.paired_tests import PairedSample, pair_samples
from assay.stats.samples import compute_exact_sum, encode_clusters

ONE_RUN_EACH = "one run each cannot tell the system from the load on it"
_UNITS_OF_TIME = ("ms", "s")


class ClaimLevel(NamedTuple):
    """What a significant change needs: the family, the largest adjusted p, and the interval's confidence."""

    family: str
    share: float
    confidence: float


class ChangeTest(Struct, frozen=True):
    """A change with its p-value, if it has one, and the paired sample from which its interval is estimated.

    `scale` is the number by which a mean is multiplied, the number of pairs for totals. `least` is the smallest
    difference that matters in practice, in the unit of the gain.
    """

    change: MetricChange
    sample: PairedSample | MedianSample | None = None
    scale: float = 1.0
    least: float = 0.0

    def find_least_p(self) -> float:
        """Return the smallest p-value that as many differing cases could have, whichever way they differ."""
        assert self.sample is not None
        return find_least_p(self.sample.count_differing())

    def conclude(self, level: ClaimLevel, p_adjusted: float) -> MetricChange:
        """Return the change with its interval and its verdict: improved or regressed only if p and interval agree.

        The interval must exclude every difference that is too small to matter (ADR 90), not 0 alone. Where it excludes
        0 and the test at the same level does not, it is extended to 0. Of times nothing is claimed (ADR 264).
        """
        sample, change = self.sample, self.change
        assert sample is not None
        bounds = sample.estimate_interval(level.confidence)
        low = high = None
        notes = [change.note]
        if bounds is not None:
            low, high = bounds.low * self.scale, bounds.high * self.scale
            if change.p is not None and change.p > 1 - level.confidence:
                low, high = min(low, 0.0), max(high, 0.0)
            notes.append(bounds.note)
        least = sample.estimate_detectable(level.confidence) if isinstance(sample, PairedSample) else None
        is_significant = p_adjusted <= level.share
        verdict: ChangeVerdict = "n/a" if low is None or high is None else "not significant"
        if is_significant and high is not None and high < 0:
            verdict = "regressed" if high < -self.least else "not significant"
            notes.append(self._explain_too_small(verdict))
        elif is_significant and low is not None and low > 0:
            unseen = _explain_unseen_loss(sample)
            verdict = "improved" if low > self.least and not unseen else "not significant"
            notes.append(unseen or self._explain_too_small(verdict))
        if verdict in ("improved", "regressed") and find_metric(parse_metric(change.metric)).unit in _UNITS_OF_TIME:
            notes.append(f"{'faster' if verdict == 'improved' else 'slower'} in this run: {ONE_RUN_EACH}")
            verdict = "n/a"
        return replace(
            change,
            low=low,
            high=high,
            p_adjusted=p_adjusted,
            method=f"{bounds.method if bounds is not None else 'no interval'}; {change.method}",
            smallest_detectable=least * self.scale if least is not None else None,
            note="; ".join(note for note in notes if note),
            family=level.family,
            level=level.share,
            confidence=level.confidence if bounds is not None else None,
            verdict=verdict,
            least_difference=self.least or None,
        )

    def _explain_too_small(self, verdict: ChangeVerdict) -> str:
        """Say that a change differs from 0 and not from what matters; "" for one that is improved or regressed."""
        if verdict != "not significant":
            return ""
        unit = find_metric(parse_metric(self.change.metric)).unit
        return f"differs, but not significantly by more than the {self.least:.4g} {unit} that matter"


def compute_least_difference(metric_row: Metric, baseline: float | None, scale: float = 1.0) -> float:
    """Return the smallest difference of a metric that matters in practice; 0 where none is declared.

    It is the declared difference, times `scale` for totals, or the declared share of the baseline's value, whichever is
    larger.
    """
    return max(metric_row.least_difference * scale, metric_row.least_share * abs(baseline or 0.0))


def _explain_unseen_loss(sample: PairedSample | MedianSample) -> str:
    """Say that a gain is too small to rule out a rare large loss of which the sample has none; "" if it is not."""
    if sample.losses or isinstance(sample, MedianSample) or sample.span is None:
        return ""
    largest = upper_bound_after_no_events(sample.units) * sample.span
    if sample.mean > largest:
        return ""
    units = format_count(sample.units, "cluster" if sample.is_clustered else "case")
    return f"no loss in {units}: unseen ones may cost {largest:.3f}"


class _Metric(NamedTuple):
    name: str
    metric_row: Metric
    statistic: str
    span: float | None


_NEITHER, _IMPROVED, _REGRESSED, _UNCHANGED, _UNPAIRED, _IN_REVIEW, _OTHERWISE = range(7)
"""What happened to a case: not scored, the lists of a change, and moved where no direction is better."""
_CELLS_AT_ONCE = 500_000
"""Scores that are tested at a time: matrices of four megabytes stay in the cache."""


class ChangeMatrix:
    """The scores of several metrics that both sides measured, in matrices of one row per metric.

    `before` and `after` have shape (metrics, cases), oriented so that an increase is a gain; a gain that rests on votes
    far apart is taken back. `paired` says which cases both sides scored, `codes` what happened to them.
    """

    def __init__(self, sides: AlignedSides, metrics: Sequence[str]) -> None:
        self.sides = sides
        self.metrics = [_describe_metric(name) for name in metrics]
        shape = len(metrics), len(sides.ids)
        self.before, self.after = np.zeros(shape), np.zeros(shape)
        self.paired, self.codes = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.int8)
        self.has_doubtful, self.has_failures = [False] * len(metrics), [False] * len(metrics)
        self.lists_unjudged = [any(map(lists_unjudged_rows, sides.get_columns(name))) for name in metrics]
        for row, target in enumerate(self.metrics):
            self._fill_row(row, target)

    def _fill_row(self, row: int, target: _Metric) -> None:
        columns = self.sides.get_columns(target.name)
        pairs = pair_columns(*columns)
        signs = compute_change_signs(target.metric_row, pairs.before, pairs.after)
        is_doubtful = find_doubtful_gains(columns, pairs, signs)
        codes = np.where(find_different_pairs(pairs.before, pairs.after), _OTHERWISE, _UNCHANGED)
        codes[signs > 0], codes[signs < 0], codes[is_doubtful] = _IMPROVED, _REGRESSED, _IN_REVIEW
        self.codes[row, pairs.rows] = codes
        self.codes[row, pairs.baseline_only] = self.codes[row, pairs.candidate_only] = _UNPAIRED
        self.paired[row, pairs.rows] = True
        self.has_doubtful[row], self.has_failures[row] = bool(is_doubtful.any()), len(pairs.failed_after) > 0
        after = np.where(is_doubtful, pairs.before, pairs.after)
        is_lower_better = target.metric_row.direction == "lower"
        self.before[row, pairs.rows] = after if is_lower_better else pairs.before
        self.after[row, pairs.rows] = pairs.before if is_lower_better else after

    def test_slice(
        self, slice_name: str | None, rows: RowIndices | None, floors: Mapping[str, float]
    ) -> Iterator[tuple[str, ChangeTest]]:
        """Yield every metric with its change on the given rows (all without them), and its test.

        `gain` is positive if the candidate is better and None if no direction is better. Percentiles and balanced
        means are not paired, so their gain has no test. Below 300 pairs a few outliers decide the mean of an amount
        such as latency, and its median stands in its place. A slice of fewer than 10 pairs is described, not tested. A
        pair that improved only by votes that disagree widely counts as no gain. There is no number if the share of
        requested judge verdicts that are usable is below the metric's floor on either side.
        """
        chosen = np.arange(len(self.sides.ids), dtype=np.intp) if rows is None else rows
        codes = self.sides.get_clusters(chosen)
        clusters = None if codes is None else encode_clusters(codes, len(chosen))
        step = max(1, _CELLS_AT_ONCE // max(1, len(chosen)))
        for start in range(0, len(self.metrics), step):
            part = slice(start, start + step)
            before, after = self.before[part][:, chosen], self.after[part][:, chosen]
            spans = [target.span for target in self.metrics[part]]
            samples = pair_samples(before, after, self.paired[part][:, chosen], clusters, spans)
            for row, sample in enumerate(samples, start):
                target, own = self.metrics[row], _SliceOfMetric(self, row, slice_name, chosen, rows)
                yield target.name, own.test(sample, floors.get(target.name, MIN_JUDGED_SHARE))


def _describe_metric(name: str) -> _Metric:
    metric_row = find_metric(parse_metric(name))
    low, high = get_range(metric_row)
    span = None if low is None or high is None else high - low
    return _Metric(name, metric_row, find_statistic(metric_row, name), span)


class _SliceOfMetric(NamedTuple):
    """One metric of a matrix on the rows of one slice; `rows` is None for all of them."""

    matrix: ChangeMatrix
    row: int
    slice_name: str | None
    chosen: RowIndices
    rows: RowIndices | None

    @property
    def target(self) -> _Metric:
        """The metric."""
        return self.matrix.metrics[self.row]

    def _list_cases(self, code: int) -> CaseIds:
        return CaseIds(self.matrix.sides.ids, self.matrix.codes[self.row], code, self.chosen)

    def test(self, sample: PairedSample | None, coverage_floor: float) -> ChangeTest:
        """Return the change with its test, from the paired differences of the slice; None without a pair."""
        sides, target = self.matrix.sides, self.target
        change = MetricChange(
            metric=target.name,
            slice=self.slice_name,
            baseline=None,
            candidate=None,
            gain=None,
            low=None,
            high=None,
            p=None,
            p_adjusted=None,
            method="",
            n=0 if sample is None else sample.n,
            improved=self._list_cases(_IMPROVED),
            regressed=self._list_cases(_REGRESSED),
            unchanged=self._list_cases(_UNCHANGED),
            unpaired=self._list_cases(_UNPAIRED),
            smallest_detectable=None,
            needs_review=self._list_cases(_IN_REVIEW),
        )
        partial_note = ""
        if self.matrix.lists_unjudged[self.row]:
            partial_note = _explain_partial_judging(sides, target.name, self.rows, coverage_floor)
        if partial_note or sample is None:
            return ChangeTest(replace(change, note=partial_note or "no case was scored on both sides"))
        tested = self._test_change(change, sample)
        notes = [_describe_doubtful(change)] if self.matrix.has_doubtful[self.row] else []
        if self.matrix.has_failures[self.row]:
            notes.append(_describe_cost_of_errors(target, sides, self.rows))
        if not any(notes):
            return tested
        note = "; ".join(note for note in (tested.change.note, *notes) if note)
        return replace(tested, change=replace(tested.change, note=note))

    def _test_change(self, change: MetricChange, sample: PairedSample) -> ChangeTest:
        """Fill in the values of both sides, the gain and, where the statistic has pairs, its test."""
        target, statistic = self.target, self.target.statistic
        before, after, gain = self._summarise()
        if target.metric_row.direction == "neutral":
            return ChangeTest(replace(change, baseline=before, candidate=after, note="neither direction is better"))
        change = replace(change, baseline=before, candidate=after, gain=gain + 0.0)
        untested = _explain_untested(change, target)
        if untested:
            return ChangeTest(replace(change, note=untested))
        if is_open_amount(target.metric_row) and change.n < MIN_CASES_FOR_OPEN_MEANS:
            return self._test_median(change)
        p_value, method = sample.test()
        if p_value is None:
            return ChangeTest(replace(change, note="one cluster", method="no interval; no test"))
        note = "no pair differs" if not sample.wins and not sample.losses else ""
        if not note and not sample.error and sample.span is None:
            note = "no spread"
        scale = change.n if statistic == "total" else 1
        least = compute_least_difference(target.metric_row, before, scale)
        return ChangeTest(replace(change, p=p_value, method=method, note=note), sample, scale, least)

    def _test_median(self, change: MetricChange) -> ChangeTest:
        """Put medians in the place of the means of an amount without an upper end, which a few outliers decide."""
        rows, old, new = self._select_pairs()
        sample = MedianSample(old, new, self.matrix.sides.get_clusters(rows))
        p_value, method = sample.test()
        note = f"medians, and the median difference{' of clusters' if sample.is_clustered else ''}: n < "
        note += f"{MIN_CASES_FOR_OPEN_MEANS} is too few for a mean"
        first, second = (new, old) if self.target.metric_row.direction == "lower" else (old, new)
        change = replace(
            change,
            baseline=compute_percentile(first, 50),
            candidate=compute_percentile(second, 50),
            gain=sample.median + 0.0,
            p=p_value,
            method=method,
            note=note,
            statistic="median",
        )
        return ChangeTest(change, sample, least=compute_least_difference(self.target.metric_row, change.baseline))

    def _select_pairs(self) -> tuple[RowIndices, FloatArray, FloatArray]:
        """Return the paired rows of the slice, with the oriented scores of both sides."""
        rows = self.chosen[self.matrix.paired[self.row, self.chosen]]
        return rows, self.matrix.before[self.row, rows], self.matrix.after[self.row, rows]

    def _summarise(self) -> tuple[float, float, float]:
        """Return the values of the baseline and of the candidate over the paired rows, and the gain."""
        target, sides = self.target, self.matrix.sides
        rows, old, new = self._select_pairs()
        is_lower_better = target.metric_row.direction == "lower"
        first, second = (new, old) if is_lower_better else (old, new)
        before = _summarise_pairs(target, sides.baseline, first, rows)
        after = counted_after = _summarise_pairs(target, sides.candidate, second, rows)
        if self.matrix.has_doubtful[self.row]:
            after = _summarise_pairs(target, sides.candidate, sides.get_columns(target.name)[1].values[rows], rows)
        return before, after, before - counted_after if is_lower_better else counted_after - before


def _explain_untested(change: MetricChange, target: _Metric) -> str:
    """Say why a change has no test; "" if it has one."""
    if target.statistic in PERCENTILE_STATISTICS:
        return f"not tested: a {target.statistic} has no pairs (its metric per case has)"
    if target.statistic == "balanced":
        return f"not tested: the mean of {' and '.join(target.metric_row.parts)}, which are"
    if change.slice is not None and change.n < MIN_TESTED_CASES:
        return f"descriptive only (n < {MIN_TESTED_CASES})"
    if target.statistic == "total" and is_open_amount(target.metric_row) and change.n < MIN_CASES_FOR_OPEN_MEANS:
        return f"not tested: a few outliers decide a total of n < {MIN_CASES_FOR_OPEN_MEANS} (its metric per case is)"
    return ""


def _explain_partial_judging(sides: AlignedSides, metric: str, rows: RowIndices | None, floor: float) -> str:
    """Say which side has too few verdicts for a number; empty if both have enough."""
    notes = []
    for name, column in zip(("baseline", "candidate"), sides.get_columns(metric), strict=True):
        if lists_unjudged_rows(column):
            note = explain_partial_judging(column, collect_values(column, rows), floor)
            notes += [f"{name} {note}"] if note else []
    return "; ".join(notes)


def _describe_doubtful(change: MetricChange) -> str:
    """Name the cases whose improvement is not counted as a gain."""
    cases = change.needs_review
    if not cases:
        return ""
    count = format_count(len(cases), "case")
    return (
        f"{count} ({format_case_ids(cases)}) came out better by votes far apart: no gain is counted, "
        f"a person should look"
    )


def _summarise_pairs(target: _Metric, table: ScoreTable, values: FloatArray, rows: RowIndices) -> float:
    """Return the value of one side over the paired rows."""
    if target.statistic in ("mean", "rate"):
        return compute_exact_sum(values) / len(values)
    if target.statistic in PERCENTILE_STATISTICS:
        percentile = compute_percentile(values, PERCENTILE_STATISTICS[target.statistic])
        assert percentile is not None
        return percentile
    if target.statistic == "total":
        return compute_exact_sum(values)
    value = summarise_metric(table, parse_metric(target.name), rows).value
    assert value is not None, target.name
    return value


def _describe_cost_of_errors(target: _Metric, sides: AlignedSides, rows: RowIndices | None) -> str:
    """Say how the gain changes if cases on which only the candidate failed count as the worst value."""
    columns = sides.get_columns(target.name)
    pairs = pair_columns(*columns, rows)
    lost = np.intersect1d(pairs.baseline_only, pairs.failed_after)
    if not len(lost):
        return ""
    count, case_ids = format_count(len(lost), "case"), format_case_ids(sides.get_case_ids(lost))
    message = f"the candidate failed on {count} that the baseline scored ({case_ids})"
    worst = get_worst_value(target.metric_row)
    if worst is None or target.statistic not in AVERAGE_STATISTICS[:2]:
        return message
    before = np.concatenate([pairs.before, columns[0].values[lost]])
    after = np.concatenate([pairs.after, np.full(len(lost), worst)])
    mean = (compute_exact_sum(after) - compute_exact_sum(before)) / len(before)
    gain = -mean if target.metric_row.direction == "lower" else mean
    return f"{message}; counted as the worst value, the gain is {gain:+.3f}"
