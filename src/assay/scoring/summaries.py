"""Summarises one metric over one slice: value, confidence interval and counts of cases.

Headline sums are exact (fsum) and sums over slices are in golden order, so neither depends on how rows were split into
blocks (ADR 0029).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.metric import Metric, MetricName
from assay.records.scores import Interval, ScoreColumn, ScoreTable, Summary
from assay.scoring.column_values import (
    AVERAGE_STATISTICS,
    MIN_JUDGED_SHARE,
    PERCENTILE_STATISTICS,
    ColumnValues,
    collect_values,
    explain_partial_judging,
    find_column,
    find_rows_in_review,
    find_statistic,
    format_count,
    get_range,
    get_worst_value,
    is_binary,
    select_shared_clusters,
    sum_values,
)
from assay.stats.arrays import RowIndices
from assay.stats.intervals import (
    Bounds,
    average_two_rates,
    compute_percentile,
    estimate_mean_interval,
    estimate_percentile_interval,
)
from assay.stats.samples import ClusterCodes

HEADLINE = "all"
MIN_TESTED_CASES = 10
MetricColumn = tuple[Metric, ScoreColumn]


class _Found(NamedTuple):
    value: float | None
    interval: Interval | None = None
    worst: float | None = None
    notes: tuple[str, ...] = ()


def summarise_column(
    grader: Metric,
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
    and columns whose mean a balanced metric is. `mean_worst` counts each error as the worst value of the metric's
    declared range and is None if that range is open (ADR 0025). There is no value if no row is scored, or if the share
    of requested judge verdicts that are usable is below `coverage_floor` (ADR 0027).

    >>> from assay.metrics.catalog import CATALOG
    >>> status = np.array([0, 0, 0, 2], np.uint8)
    >>> hits = ScoreColumn("hit@5", np.array([1.0, 0.0, 1.0, 0.0]), status, np.zeros(4, np.uint16))
    >>> summary = summarise_column(CATALOG["hit"], hits)
    >>> round(summary.value, 3), summary.mean_worst, summary.scored, summary.errors, summary.interval.method
    (0.667, 0.5, 3, 1, 'Wilson')
    """
    name = metric or column.metric
    statistic = find_statistic(grader, name)
    seen, headline = collect_values(column, rows), slice_name == HEADLINE
    if partly := explain_partial_judging(column, seen, coverage_floor) if seen.errors else "":
        found = _Found(None, notes=(partly,))
    elif statistic == "balanced":
        found = _balanced(grader, rows, parts, headline)
    elif statistic in PERCENTILE_STATISTICS:
        found = _percentile(seen, PERCENTILE_STATISTICS[statistic])
    elif statistic == "total":
        found = _Found(sum_values(seen.values, exact=headline) if seen.scored else None)
    else:
        found = _mean(grader, seen, clusters, headline)
    review = len(find_rows_in_review(column, rows))
    return Summary(
        metric=name,
        slice=slice_name,
        statistic=statistic,
        value=found.value,
        mean=found.value if statistic == "mean" else None,
        mean_worst=found.worst,
        interval=found.interval,
        scored=seen.scored,
        not_applicable=seen.not_applicable,
        errors=seen.errors,
        notes=(*found.notes, *_notes(grader, statistic, seen, found.value, headline), *_review_notes(review)),
        needs_review=review,
    )


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
    headline = {name: _mark_uncalibrated(summary, table) for name, summary in all_rows.items()}
    return headline, {key: SliceSummaries(metric_columns, rows, key, clusters, floors) for key, rows in slices.items()}


class SliceSummaries(Mapping[str, Summary]):
    """The summaries of one slice by metric, each computed on first access, because most reports show few of them."""

    def __init__(
        self,
        known: Mapping[str, _Metric],
        rows: RowIndices | None,
        key: str,
        clusters: ClusterCodes | None,
        floors: CoverageFloors | None = None,
    ) -> None:
        self._known, self._rows, self._key, self._clusters = known, rows, key, clusters
        self._floors = floors or {}
        self._made: dict[str, Summary] = {}

    def __getitem__(self, metric: str) -> Summary:
        if metric not in self._made:
            floor = self._floors.get((metric, self._key), MIN_JUDGED_SHARE)
            self._made[metric] = _summary(self._known[metric], self._rows, self._key, self._clusters, floor)
        return self._made[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


UNCALIBRATED = "uncalibrated: for ranking and trend only"


def _mark_uncalibrated(summary: Summary, table: ScoreTable) -> Summary:
    """Add a note to the summary if the scorer is not calibrated against human labels."""
    if summary.metric not in table.uncalibrated or not summary.scored:
        return summary
    return replace(summary, notes=(UNCALIBRATED, *summary.notes))


class _Metric(NamedTuple):
    """A metric of a table, looked up once for all slices."""

    name: str
    grader: Metric
    column: ScoreColumn
    parts: Sequence[MetricColumn]


def _find_metric(table: ScoreTable, name: MetricName) -> _Metric:
    grader, column = find_metric(name), find_column(table, name)
    if column is None:
        raise KeyError(str(name))
    return _Metric(
        str(name), grader, column, [(find_metric(parse_metric(part)), table.columns[part]) for part in grader.parts]
    )


def _summary(
    known: _Metric,
    rows: RowIndices | None,
    slice_name: str,
    clusters: ClusterCodes | None,
    floor: float = MIN_JUDGED_SHARE,
) -> Summary:
    name, grader, column, parts = known
    return summarise_column(
        grader, column, rows, metric=name, slice_name=slice_name, clusters=clusters, parts=parts, coverage_floor=floor
    )


def _review_notes(review: int) -> tuple[str, ...]:
    return (f"{format_count(review, 'case')} in review: votes far apart or tied",) if review else ()


def _mean(grader: Metric, seen: ColumnValues, clusters: ClusterCodes | None, headline: bool) -> _Found:
    if not seen.applicable:
        return _Found(None)
    total, worst, pessimistic = sum_values(seen.values, exact=headline), get_worst_value(grader), None
    if worst is not None:
        all_of_it = sum_values(seen.with_errors_as(worst).values, exact=headline) if seen.errors else total
        pessimistic = all_of_it / seen.applicable
    if not seen.scored:
        return _Found(None, worst=pessimistic)
    shared = select_shared_clusters(seen, clusters)
    bounds = _mean_bounds(grader, seen, shared)
    one_cluster = shared is not None and len(np.unique(shared)) == 1
    notes = ("no interval: all scored cases are of one cluster",) if one_cluster else ()
    return _Found(total / seen.scored, _interval(bounds), pessimistic, notes)


def _mean_bounds(grader: Metric, seen: ColumnValues, shared: ClusterCodes | None) -> Bounds | None:
    low, high = get_range(grader)
    if shared is None and seen.scored <= _FEW_VALUES:
        return _bounds_of_few(seen.values.tobytes(), low, high)
    return estimate_mean_interval(seen.values, clusters=shared, low=low, high=high)


_FEW_VALUES = 64


@lru_cache(maxsize=4096)
def _bounds_of_few(values: bytes, low: float | None, high: float | None) -> Bounds | None:
    """Return the interval of a few values, cached: most slices of a small golden set hold the same zeros and ones."""
    return estimate_mean_interval(np.frombuffer(values, dtype=np.float64), low=low, high=high)


def _percentile(seen: ColumnValues, p: float) -> _Found:
    if not seen.scored:
        return _Found(None)
    bounds = estimate_percentile_interval(seen.values, p)
    notes = () if bounds is not None else (f"n {seen.scored} is too few for an interval of p{p:g}",)
    return _Found(compute_percentile(seen.values, p), _interval(bounds), None, notes)


def _balanced(grader: Metric, rows: RowIndices | None, parts: Sequence[MetricColumn], headline: bool) -> _Found:
    """The mean of two rates; a part that is better low counts by its complement, one without cases is left out."""
    if len(parts) != 2:
        raise ValueError(f"{grader.name} needs its two parts: {', '.join(grader.parts)}")
    seen = [collect_values(column, rows) for _, column in parts]
    right = []
    for (part, _), each in zip(parts, seen, strict=True):
        total = sum_values(each.values, exact=headline)
        right.append(each.scored - total if part.direction == "lower" else total)
    rates = [good / each.scored for good, each in zip(right, seen, strict=True) if each.scored]
    worst = [good / each.applicable for good, each in zip(right, seen, strict=True) if each.applicable]
    if not rates:
        return _Found(None, worst=_middle(worst))
    notes = [
        f"no case for {part.name}: left out" for (part, _), each in zip(parts, seen, strict=True) if not each.scored
    ]
    bounds = None
    if all(is_binary(each.values) for each in seen):
        (first, n), (second, m) = ((round(good), each.scored) for good, each in zip(right, seen, strict=True))
        estimate = average_two_rates((first, n), (second, m))
        bounds = None if estimate is None else estimate.bounds._replace(note="")
    else:
        notes.append("no interval: repeats of a case disagree")
    return _Found(_middle(rates), _interval(bounds), _middle(worst), tuple(notes))


def _middle(rates: Sequence[float]) -> float | None:
    return math.fsum(rates) / len(rates) if rates else None


def _interval(bounds: Bounds | None) -> Interval | None:
    return None if bounds is None else Interval(bounds.low, bounds.high, bounds.method, note=bounds.note)


def _notes(grader: Metric, statistic: str, seen: ColumnValues, value: float | None, headline: bool) -> list[str]:
    notes = []
    if seen.not_finite:
        notes.append(f"not finite and counted as errors: {seen.not_finite}")
    if not headline and seen.scored < MIN_TESTED_CASES:
        notes.append(f"descriptive only (n < {MIN_TESTED_CASES})")
    if headline and statistic in AVERAGE_STATISTICS and grader.direction == "higher" and value == grader.high:
        notes.append(f"perfect on every scored case (n {seen.scored}): too easy to tell systems apart")
    return notes
