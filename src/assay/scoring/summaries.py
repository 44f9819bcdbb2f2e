"""Summarises one metric over one slice: value, confidence interval and counts of cases.

Headline sums are exact (fsum) and sums over slices are in golden order, so neither depends on how rows were split into
blocks (ADR 0029).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.metric import Metric, MetricName, describe_metric
from assay.metrics.template_columns import ANSWER
from assay.metrics.variants import VARIANTS_FAMILY
from assay.records.counts import format_count
from assay.records.scores import NOT_APPLICABLE, Interval, ScoreColumn, ScoreTable, Summary, UnknownRange
from assay.scoring.case_clusters import select_shared_clusters
from assay.scoring.case_outcomes import find_unknown_cases
from assay.scoring.column_values import (
    AVERAGE_STATISTICS,
    MIN_CASES_FOR_OPEN_MEANS,
    MIN_JUDGED_SHARE,
    PERCENTILE_STATISTICS,
    ColumnValues,
    collect_values,
    explain_partial_judging,
    find_column,
    find_rows_in_review,
    find_settled_rows,
    find_statistic,
    find_unknown_code,
    get_range,
    get_worst_value,
    is_binary,
    is_open_amount,
    sum_values,
)
from assay.scoring.completed_scores import find_unknown_cells, score_cells
from assay.stats.arrays import RowIndices, find_distinct
from assay.stats.intervals import (
    Bounds,
    average_two_rates,
    compute_percentile,
    compute_percentile_coverage,
    estimate_mean_interval,
    estimate_percentile_interval,
)
from assay.stats.samples import ClusterCodes

HEADLINE = "all"
MIN_TESTED_CASES = 10
MetricColumn = tuple[Metric, ScoreColumn]


class _Estimate(Struct, frozen=True):
    value: float | None
    interval: Interval | None = None
    worst: float | None = None
    notes: tuple[str, ...] = ()
    mean: float | None = None


def summarise_column(
    metric_row: Metric,
    column: ScoreColumn,
    rows: RowIndices | None = None,
    *,
    metric: str = "",
    slice_name: str = HEADLINE,
    clusters: ClusterCodes | None = None,
    parts: Sequence[MetricColumn] = (),
    coverage_floor: float = MIN_JUDGED_SHARE,
) -> Summary:
    """Return the summary of one metric over one slice, given as rising row numbers (all rows without them).

    `metric` is the name to print if it is not that of the column (`latency_ms(stat=p95)` summarises `latency_ms`).
    `clusters` holds the cluster of every row of the table, None if each case is independent. `parts` are the metrics
    and columns whose mean a balanced metric is. `mean_worst` counts each error and each unknown answer as the worst
    value of the metric's declared range and is None if that range is open (ADR 0025). With unknown answers the interval
    reaches from its lower end with all of them at worst to its upper end with all of them at best. Of fewer than 300
    latencies, tokens or costs the median is the value, because a few outliers decide their mean, which `mean` keeps
    (ADR 0049). There is no value if no row is scored, or if the share of requested judge verdicts that are usable is
    below `coverage_floor` (ADR 0027).

    >>> from assay.metrics.catalog import CATALOG
    >>> status = np.array([0, 0, 0, 2], np.uint8)
    >>> hits = ScoreColumn("hit@5", np.array([1.0, 0.0, 1.0, 0.0]), status, np.zeros(4, np.uint16))
    >>> summary = summarise_column(CATALOG["hit"], hits)
    >>> round(summary.value, 3), summary.mean_worst, summary.scored, summary.errors, summary.interval.method
    (0.667, 0.5, 3, 1, 'Wilson')
    """
    name = metric or column.metric
    statistic = find_statistic(metric_row, name)
    column_values, headline = collect_values(column, rows), slice_name == HEADLINE
    if partly := explain_partial_judging(column, column_values, coverage_floor) if column_values.errors else "":
        estimate = _Estimate(None, notes=(partly,))
    elif statistic == "balanced":
        estimate = _balanced(metric_row, rows, parts, headline)
    elif statistic in PERCENTILE_STATISTICS:
        estimate = _percentile(column_values, PERCENTILE_STATISTICS[statistic])
    elif statistic == "total":
        estimate = _Estimate(sum_values(column_values.values, exact=headline) if column_values.scored else None)
    else:
        estimate = _mean(metric_row, column_values, clusters, headline)
        if is_open_amount(metric_row) and 0 < column_values.scored < MIN_CASES_FOR_OPEN_MEANS:
            statistic, estimate = "p50", _put_median(estimate, column_values, clusters)
    unknown = _bound_by_unknown(metric_row, column, rows, column_values) if statistic in ("mean", "rate") else None
    if unknown is not None and estimate.value is not None:
        estimate = _cover_unknown(estimate, metric_row, column, rows, clusters, headline)
    review, settled = len(find_rows_in_review(column, rows)), len(find_settled_rows(column, rows))
    return Summary(
        metric=name,
        slice=slice_name,
        statistic=statistic,
        value=estimate.value,
        mean=estimate.mean if estimate.mean is not None else estimate.value if statistic == "mean" else None,
        mean_worst=estimate.worst,
        interval=estimate.interval,
        scored=column_values.scored,
        not_applicable=column_values.not_applicable,
        errors=column_values.errors,
        notes=(
            *estimate.notes,
            *_notes(metric_row, statistic, column_values, estimate.value, headline, unknown),
            *_review_notes(review, settled),
        ),
        needs_review=review,
        settled=settled,
        unknown=unknown,
    )


def _bound_by_unknown(
    metric_row: Metric, column: ScoreColumn, rows: RowIndices | None, column_values: ColumnValues
) -> UnknownRange | None:
    """Return the mean with the unknown answers at worst and at best; None without such answers, or an open range."""
    low, high = get_range(metric_row)
    unknown_code = find_unknown_code(column)
    if unknown_code is None or low is None or high is None:
        return None
    codes = column.reason if rows is None else column.reason[rows]
    unknown = int(np.count_nonzero(codes == unknown_code))
    if not unknown:
        return None
    total, cases = sum_values(column_values.values, exact=True), column_values.scored + unknown
    return UnknownRange(unknown, (total + unknown * low) / cases, (total + unknown * high) / cases)


def _cover_unknown(
    estimate: _Estimate,
    metric_row: Metric,
    column: ScoreColumn,
    rows: RowIndices | None,
    clusters: ClusterCodes | None,
    headline: bool,
) -> _Estimate:
    """Return the estimate with the interval that holds whatever the unknown answers are, and the mean at worst.

    Its ends are those of the intervals with all unknown answers at the lower and at the upper end of the range.
    """
    low, high = get_range(metric_row)
    assert low is not None and high is not None
    unknown_rows = find_unknown_cells(column)
    ends = []
    for value in (low, high):
        completed = collect_values(score_cells(column, unknown_rows, value), rows)
        ends.append(_mean(metric_row, completed, clusters, headline))
    lowest, highest = (end.interval for end in ends)
    interval = None
    if lowest is not None and highest is not None:
        note = "; ".join(dict.fromkeys(filter(None, (lowest.note, highest.note))))
        interval = Interval(lowest.low, highest.high, lowest.method, lowest.confidence, note)
    worst = ends[1] if metric_row.direction == "lower" else ends[0]
    return replace(estimate, interval=interval, worst=worst.worst)


def summarise_metric(
    table: ScoreTable,
    name: MetricName,
    rows: RowIndices | None = None,
    *,
    slice_name: str = HEADLINE,
    clusters: ClusterCodes | None = None,
    coverage_floor: float = MIN_JUDGED_SHARE,
) -> Summary:
    """Return the summary of one metric of a table. Raises KeyError if it or one of its parts was not measured."""
    return _summary(_find_metric(table, name), rows, slice_name, clusters, coverage_floor)


CoverageFloors = Mapping[tuple[str, str], float]
"""The minimum share of cases that must be judged, by metric and slice, if a rule requires less than the default."""


def summarise_table(
    table: ScoreTable,
    metrics: Sequence[MetricName],
    slices: Mapping[str, RowIndices],
    clusters: ClusterCodes | None = None,
    floors: CoverageFloors | None = None,
) -> tuple[dict[str, Summary], dict[str, Mapping[str, Summary]]]:
    """Return the headline summaries by metric, and those of every slice by slice and metric."""
    metric_columns = {str(name): _find_metric(table, name) for name in metrics}
    all_rows = SliceSummaries(metric_columns, None, HEADLINE, clusters, floors)
    headline = {
        name: _count_unchecked(_mark_uncalibrated(summary, table), table, metric_columns[name].column)
        for name, summary in all_rows.items()
    }
    alike: _SummariesByContent = {}
    return headline, {
        key: SliceSummaries(metric_columns, rows, key, clusters, floors, alike) for key, rows in slices.items()
    }


_SummariesByContent = dict[tuple[str, float, bytes, bytes, bytes], Summary]
"""Summaries by metric, coverage floor and the values, states and codes of reasons of the rows that they are of."""


class SliceSummaries(Mapping[str, Summary]):
    """The summaries of one slice by metric, each computed on first access, because most reports show few of them.

    Slices of one table share `alike`: a small golden set has dozens of slices of one case or two, and most hold the
    same few scores.
    """

    def __init__(
        self,
        metrics: Mapping[str, _Metric],
        rows: RowIndices | None,
        key: str,
        clusters: ClusterCodes | None,
        floors: CoverageFloors | None = None,
        alike: _SummariesByContent | None = None,
    ) -> None:
        self._metrics, self._rows, self._key, self._clusters = metrics, rows, key, clusters
        self._floors = floors or {}
        self._alike = {} if alike is None else alike
        self._computed: dict[str, Summary] = {}

    def __getitem__(self, metric: str) -> Summary:
        if metric not in self._computed:
            floor = self._floors.get((metric, self._key), MIN_JUDGED_SHARE)
            self._computed[metric] = self._summarise(self._metrics[metric], floor)
        return self._computed[metric]

    def _summarise(self, metric: _Metric, floor: float) -> Summary:
        rows = self._rows
        # Beyond its own rows, a summary depends on the clusters of the cases, and a balanced one on other columns.
        depends_on_more = self._clusters is not None or bool(metric.parts) or self._key == HEADLINE
        if rows is None or len(rows) > _FEW_VALUES or depends_on_more:
            return _summary(metric, rows, self._key, self._clusters, floor)
        column = metric.column
        content = column.values[rows].tobytes(), column.status[rows].tobytes(), column.reason[rows].tobytes()
        summary = self._alike.get((metric.name, floor, *content))
        if summary is None:
            summary = self._alike[(metric.name, floor, *content)] = _summary(metric, rows, self._key, None, floor)
        return summary if summary.slice == self._key else replace(summary, slice=self._key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


UNCALIBRATED = "uncalibrated: for ranking and trend only"


def _mark_uncalibrated(summary: Summary, table: ScoreTable) -> Summary:
    """Add a note to the summary if the scorer is not calibrated against human labels."""
    if summary.metric not in table.uncalibrated or not summary.scored:
        return summary
    reason = table.refused_calibrations.get(summary.metric)
    note = f"for ranking and trend only: {reason}" if reason else UNCALIBRATED
    return replace(summary, notes=(note, *summary.notes))


def _count_unchecked(summary: Summary, table: ScoreTable, column: ScoreColumn) -> Summary:
    """Add to a summary of right answers how many unknown cases it does not look at: 1.000 of one case is not perfect
    where nothing tells of nine others."""
    if summary.metric not in ANSWER:
        return summary
    unknown_cases = set(find_unknown_cases(table))
    left_out = (column.status == NOT_APPLICABLE) & ~find_unknown_cells(column)
    unchecked = sum(table.case_ids[row] in unknown_cases for row in np.flatnonzero(left_out).tolist())
    return replace(summary, unchecked=unchecked) if unchecked else summary


class _Metric(Struct, frozen=True):
    """A metric of a table, looked up once for all slices."""

    name: str
    metric_row: Metric
    column: ScoreColumn
    parts: Sequence[MetricColumn]


def _find_metric(table: ScoreTable, name: MetricName) -> _Metric:
    metric_row, column = find_metric(name), find_column(table, name)
    if column is None:
        raise KeyError(str(name))
    return _Metric(
        str(name),
        describe_metric(metric_row),
        column,
        [(describe_metric(find_metric(parse_metric(part))), table.columns[part]) for part in metric_row.parts],
    )


def _summary(
    metric: _Metric,
    rows: RowIndices | None,
    slice_name: str,
    clusters: ClusterCodes | None,
    floor: float = MIN_JUDGED_SHARE,
) -> Summary:
    return summarise_column(
        metric.metric_row,
        metric.column,
        rows,
        metric=metric.name,
        slice_name=slice_name,
        clusters=clusters,
        parts=metric.parts,
        coverage_floor=floor,
    )


def _review_notes(review: int, settled: int) -> tuple[str, ...]:
    notes = [f"{format_count(review, 'case')} in review: votes far apart or tied"] if review else []
    notes += [f"{format_count(settled, 'case')} settled by a person"] if settled else []
    return tuple(notes)


def _mean(metric_row: Metric, column_values: ColumnValues, clusters: ClusterCodes | None, headline: bool) -> _Estimate:
    if not column_values.applicable:
        return _Estimate(None)
    total, worst, pessimistic = sum_values(column_values.values, exact=headline), get_worst_value(metric_row), None
    if worst is not None:
        all_of_it = (
            sum_values(column_values.with_errors_as(worst).values, exact=headline) if column_values.errors else total
        )
        pessimistic = all_of_it / column_values.applicable
    if not column_values.scored:
        return _Estimate(None, worst=pessimistic)
    if metric_row.unit == "count" and get_range(metric_row)[1] is None and not column_values.values.any():
        return _Estimate(0.0, None, pessimistic, (_describe_no_event(column_values, clusters),))
    shared = select_shared_clusters(column_values, clusters)
    bounds = _mean_bounds(metric_row, column_values, shared)
    one_cluster = shared is not None and len(find_distinct(shared)) == 1
    notes = ("no interval: all scored cases are of one cluster",) if one_cluster else ()
    return _Estimate(total / column_values.scored, _interval(bounds), pessimistic, notes)


def _describe_no_event(column_values: ColumnValues, clusters: ClusterCodes | None) -> str:
    """Return how many cases may have any where none of those scored has: how many one may have, nothing tells."""
    shared = select_shared_clusters(column_values, clusters)
    independent = column_values.scored if shared is None else len(find_distinct(shared))
    share = 1 - (1 - _CONFIDENCE) ** (1 / independent)
    return (
        f"none on {format_count(column_values.scored, 'case')}: up to {100 * share:.3g}% of such cases may have one "
        "(one-sided 95% bound); how many such a case has is not known"
    )


_CONFIDENCE = 0.95


def _mean_bounds(metric_row: Metric, column_values: ColumnValues, shared: ClusterCodes | None) -> Bounds | None:
    low, high = get_range(metric_row)
    if shared is None and column_values.scored <= _FEW_VALUES:
        return _bounds_of_few(column_values.values.tobytes(), low, high)
    return estimate_mean_interval(column_values.values, clusters=shared, low=low, high=high)


_FEW_VALUES = 64


@lru_cache(maxsize=4096)
def _bounds_of_few(values: bytes, low: float | None, high: float | None) -> Bounds | None:
    """Return the interval of a few values, cached: most slices of a small golden set hold the same zeros and ones."""
    return estimate_mean_interval(np.frombuffer(values, dtype=np.float64), low=low, high=high)


def _percentile(column_values: ColumnValues, p: float) -> _Estimate:
    if not column_values.scored:
        return _Estimate(None)
    bounds = estimate_percentile_interval(column_values.values, p)
    value = compute_percentile(column_values.values, p)
    if bounds is None:
        return _Estimate(value, None, None, (f"n {column_values.scored} is too few for an interval of p{p:g}",))
    # A small sample reaches less than 95%, and the interval says how much.
    coverage = compute_percentile_coverage(column_values.scored, p)
    confidence = 0.95 if coverage >= 0.95 else round(coverage, 4)
    return _Estimate(value, Interval(bounds.low, bounds.high, bounds.method, confidence, bounds.note))


def _put_median(mean: _Estimate, column_values: ColumnValues, clusters: ClusterCodes | None) -> _Estimate:
    """Return the median of an open amount in the place of its mean, without interval if cases share a cluster."""
    median = _percentile(column_values, 50.0)
    note = f"median: n < {MIN_CASES_FOR_OPEN_MEANS} is too few for a mean, which is {mean.value:.6g}"
    shared = select_shared_clusters(column_values, clusters)
    interval = median.interval if shared is None else None
    return replace(median, interval=interval, worst=mean.worst, notes=(note, *mean.notes), mean=mean.value)


def _balanced(metric_row: Metric, rows: RowIndices | None, parts: Sequence[MetricColumn], headline: bool) -> _Estimate:
    """The mean of two rates; a part that is better low counts by its complement, one without cases is left out."""
    if len(parts) != 2:
        raise ValueError(f"{metric_row.name} needs its two parts: {', '.join(metric_row.parts)}")
    part_values = [collect_values(column, rows) for _, column in parts]
    good_counts = []
    for (part, _), column_values in zip(parts, part_values, strict=True):
        total = sum_values(column_values.values, exact=headline)
        good_counts.append(column_values.scored - total if part.direction == "lower" else total)
    rates = [
        good / column_values.scored
        for good, column_values in zip(good_counts, part_values, strict=True)
        if column_values.scored
    ]
    worst = [
        good / column_values.applicable
        for good, column_values in zip(good_counts, part_values, strict=True)
        if column_values.applicable
    ]
    if not rates:
        return _Estimate(None, worst=_middle(worst))
    notes = [
        f"no case for {part.name}: left out"
        for (part, _), column_values in zip(parts, part_values, strict=True)
        if not column_values.scored
    ]
    bounds = None
    if all(is_binary(column_values.values) for column_values in part_values):
        (first, n), (second, m) = (
            (round(good), column_values.scored) for good, column_values in zip(good_counts, part_values, strict=True)
        )
        estimate = average_two_rates((first, n), (second, m))
        bounds = None if estimate is None else estimate.bounds._replace(note="")
    else:
        notes.append("no interval: repeats of a case disagree")
    return _Estimate(_middle(rates), _interval(bounds), _middle(worst), tuple(notes))


def _middle(rates: Sequence[float]) -> float | None:
    return math.fsum(rates) / len(rates) if rates else None


def _interval(bounds: Bounds | None) -> Interval | None:
    return None if bounds is None else Interval(bounds.low, bounds.high, bounds.method, note=bounds.note)


def _notes(
    metric_row: Metric,
    statistic: str,
    column_values: ColumnValues,
    value: float | None,
    headline: bool,
    unknown: UnknownRange | None,
) -> list[str]:
    notes = []
    if column_values.not_finite:
        notes.append(f"not finite and counted as errors: {column_values.not_finite}")
    if not headline and column_values.scored < MIN_TESTED_CASES:
        notes.append(f"descriptive only (n < {MIN_TESTED_CASES})")
    is_perfect = metric_row.direction == "higher" and value == metric_row.high and metric_row.family != VARIANTS_FAMILY
    if headline and statistic in AVERAGE_STATISTICS and is_perfect and unknown is None:
        notes.append(f"perfect on every scored case (n {column_values.scored}): cannot tell systems apart")
    return notes
