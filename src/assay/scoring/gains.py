"""What one metric gained from a baseline to a candidate, over the cases that both scored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.finding import MetricChange
from assay.graders.base import Bools, Floats, Grader
from assay.graders.catalog import grader_of, parse
from assay.metrics.paired import detectable, paired_difference
from assay.metrics.samples import exact_sum
from assay.model import Case, ScoreColumn, ScoreTable
from assay.scoring.measured import (
    AVERAGES,
    LEAST_JUDGED,
    PERCENTILES,
    Clusters,
    cluster_ids,
    column_of,
    ends_of,
    in_review,
    measure,
    partly_judged,
    statistic_of,
    worst_of,
)
from assay.scoring.pairs import Pairs, aligned, pairs_of
from assay.scoring.slices import Rows
from assay.scoring.summary import SMALL_SLICE, summary_of
from assay.scoring.wording import counted, named

SAME = 1e-12
"""Scores closer than this, relative to their size, are equal: means of repeats differ in their last bits."""


class Sides:
    """Two tables with the same case in the same row."""

    def __init__(self, cases: Sequence[Case], baseline: ScoreTable, candidate: ScoreTable) -> None:
        self.cases = cases
        self.ids = [case.id for case in cases]
        self.baseline, self.candidate = aligned(baseline, self.ids), aligned(candidate, self.ids)

    @cached_property
    def clusters(self) -> Clusters | None:
        """The cluster of every row, None where each case stands alone."""
        return cluster_ids(self.cases)

    def shared(self, rows: Rows) -> Clusters | None:
        """Return the clusters of some rows."""
        return None if self.clusters is None else self.clusters[rows]

    def named(self, rows: Rows) -> tuple[str, ...]:
        """Return the ids of some rows."""
        return tuple(self.ids[row] for row in rows.tolist())

    def columns(self, metric: str) -> tuple[ScoreColumn, ScoreColumn]:
        """Return the baseline's and the candidate's column behind a metric that both measured."""
        before, after = (column_of(table, parse(metric)) for table in (self.baseline, self.candidate))
        assert before is not None and after is not None, metric
        return before, after


class _Metric(NamedTuple):
    name: str
    grader: Grader
    statistic: str


def better(grader: Grader, before: Floats, after: Floats) -> Floats:
    """Return 1 for each pair that got better, -1 for worse and 0 for the same; all 0 where no direction is better."""
    sign = {"higher": 1.0, "lower": -1.0}.get(grader.direction, 0.0)
    return np.where(differ(before, after), np.sign(after - before) * sign, 0.0)


def differ(before: Floats, after: Floats) -> Bools:
    """Return which pairs differ by more than the last bits of a mean."""
    moved: Bools = np.abs(after - before) > SAME * np.maximum(1.0, np.maximum(np.abs(before), np.abs(after)))
    return moved


def held_back(columns: tuple[ScoreColumn, ScoreColumn], found: Pairs, moved: Floats) -> Bools:
    """Return which pairs improved only by judge votes that disagree widely on either side; they are no improvements."""
    held: Bools = (moved > 0) & np.isin(found.rows, np.union1d(*map(in_review, columns)))
    return held


def change_of(
    sides: Sides,
    metric: str,
    slice_name: str | None = None,
    rows: Rows | None = None,
    floor: float = LEAST_JUDGED,
) -> MetricChange:
    """Return what a metric that both sides measured gained on a slice (all rows without one).

    `gain` is positive if the candidate is better and None if no direction is better. Percentiles and balanced means are
    not paired, so their gain has no interval. A slice of fewer than 10 pairs is described, not tested. A pair that
    improved only by votes that disagree widely counts as no gain. There is no number if the share of requested judge
    verdicts that are usable is below `floor` on either side.
    """
    grader = grader_of(parse(metric))
    target = _Metric(metric, grader, statistic_of(grader, metric))
    pairs = pairs_of(*sides.columns(metric), rows)
    signs = better(grader, pairs.before, pairs.after)
    is_doubtful = held_back(sides.columns(metric), pairs, signs)
    change = MetricChange(
        metric=metric,
        slice=slice_name,
        baseline=None,
        candidate=None,
        gain=None,
        low=None,
        high=None,
        p=None,
        p_adjusted=None,
        method="",
        n=len(pairs.rows),
        improved=sides.named(pairs.rows[(signs > 0) & ~is_doubtful]),
        regressed=sides.named(pairs.rows[signs < 0]),
        unchanged=sides.named(pairs.rows[~differ(pairs.before, pairs.after)]),
        unpaired=sides.named(np.union1d(pairs.lost, pairs.won)),
        smallest_detectable=None,
        needs_review=sides.named(pairs.rows[is_doubtful]),
    )
    partial_note = _explain_partial_judging(sides, metric, rows, floor)
    if partial_note or not len(pairs.rows):
        return replace(change, note=partial_note or "no case was scored on both sides")
    tested = _test_change(change, target, pairs, sides, is_doubtful)
    notes = [tested.note, _describe_doubtful(change), _describe_cost_of_errors(target, pairs, sides)]
    return replace(tested, note="; ".join(note for note in notes if note))


def _explain_partial_judging(sides: Sides, metric: str, rows: Rows | None, floor: float) -> str:
    """Say which side has too few verdicts for a number; empty if both have enough."""
    notes = []
    for name, column in zip(("baseline", "candidate"), sides.columns(metric), strict=True):
        note = partly_judged(column, measure(column, rows), floor)
        if note:
            notes.append(f"{name} {note}")
    return "; ".join(notes)


def _describe_doubtful(change: MetricChange) -> str:
    """Name the cases whose improvement is not counted as a gain."""
    cases = change.needs_review
    if not cases:
        return ""
    count = counted(len(cases), "case")
    return f"{count} ({named(cases)}) came out better by votes far apart: no gain is counted, a person should look"


def _test_change(change: MetricChange, target: _Metric, pairs: Pairs, sides: Sides, is_doubtful: Bools) -> MetricChange:
    """Fill in the values of both sides, the gain and, where the statistic has pairs, its interval and test."""
    grader, statistic = target.grader, target.statistic
    before = _summarise_pairs(target, sides.baseline, pairs.before, pairs.rows)
    after = _summarise_pairs(target, sides.candidate, pairs.after, pairs.rows)
    if grader.direction == "neutral":
        return replace(change, baseline=before, candidate=after, note="neither direction is better")
    counted_after = after
    if is_doubtful.any():
        pairs = pairs._replace(after=np.where(is_doubtful, pairs.before, pairs.after))
        counted_after = _summarise_pairs(target, sides.candidate, pairs.after, pairs.rows)
    gain = counted_after - before if grader.direction == "higher" else before - counted_after
    change = replace(change, baseline=before, candidate=after, gain=gain + 0.0)
    if statistic in PERCENTILES:
        return replace(change, note=f"not tested: a {statistic} has no pairs (its mean has)")
    if statistic == "balanced":
        return replace(change, note=f"not tested: the mean of {' and '.join(grader.parts)}, which are")
    if change.slice is not None and change.n < SMALL_SLICE:
        return replace(change, note=f"descriptive only (n < {SMALL_SLICE})")
    clusters = sides.shared(pairs.rows)
    old, new = (pairs.after, pairs.before) if grader.direction == "lower" else (pairs.before, pairs.after)
    low, high = ends_of(grader)
    result = paired_difference(old, new, clusters=clusters, low=low, high=high)
    assert result is not None
    bounds = result.bounds
    scale = change.n if statistic == "total" else 1
    span = None if low is None or high is None else high - low
    least = detectable(new - old, clusters=clusters, span=span)
    notes = [result.note, bounds.note if bounds is not None else ""]
    if not result.wins and not result.losses:
        notes = ["no pair differs"]
    return replace(
        change,
        low=bounds.low * scale if bounds is not None else None,
        high=bounds.high * scale if bounds is not None else None,
        p=result.p_value,
        method=f"{bounds.method if bounds is not None else 'no interval'}; {result.p_method or 'no test'}",
        smallest_detectable=least * scale if least is not None else None,
        note="; ".join(note for note in notes if note),
    )


def _summarise_pairs(target: _Metric, table: ScoreTable, values: Floats, rows: Rows) -> float:
    """Return the value of one side over the paired rows."""
    if target.statistic in ("mean", "rate"):
        return exact_sum(values) / len(values)
    value = summary_of(table, parse(target.name), rows).value
    assert value is not None, target.name
    return value


def _describe_cost_of_errors(target: _Metric, pairs: Pairs, sides: Sides) -> str:
    """Say how the gain changes if cases on which only the candidate failed count as the worst value."""
    lost = np.intersect1d(pairs.lost, pairs.failed_after)
    if not len(lost):
        return ""
    count, case_ids = counted(len(lost), "case"), named(sides.named(lost))
    message = f"the candidate failed on {count} that the baseline scored ({case_ids})"
    worst = worst_of(target.grader)
    if worst is None or target.statistic not in AVERAGES[:2]:
        return message
    before = np.concatenate([pairs.before, sides.columns(target.name)[0].values[lost]])
    after = np.concatenate([pairs.after, np.full(len(lost), worst)])
    mean = (exact_sum(after) - exact_sum(before)) / len(before)
    gain = -mean if target.grader.direction == "lower" else mean
    return f"{message}; counted as the worst value, the gain is {gain:+.3f}"
