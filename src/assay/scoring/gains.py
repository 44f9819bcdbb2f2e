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

    `gain` is positive when better and None where no direction is better. Percentiles and balanced means have no pairs:
    they get a gain without an interval. A slice of fewer than 10 pairs is described, not tested. A pair that came out
    better by votes far apart counts as no gain. Where a judge was to label more than a share of `floor` has verdicts
    for, on either side, there is no number.
    """
    grader = grader_of(parse(metric))
    known = _Metric(metric, grader, statistic_of(grader, metric))
    found = pairs_of(*sides.columns(metric), rows)
    moved = better(grader, found.before, found.after)
    held = held_back(sides.columns(metric), found, moved)
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
        n=len(found.rows),
        improved=sides.named(found.rows[(moved > 0) & ~held]),
        regressed=sides.named(found.rows[moved < 0]),
        unchanged=sides.named(found.rows[~differ(found.before, found.after)]),
        unpaired=sides.named(np.union1d(found.lost, found.won)),
        smallest_detectable=None,
        needs_review=sides.named(found.rows[held]),
    )
    partly = _partly_judged(sides, metric, rows, floor)
    if partly or not len(found.rows):
        return replace(change, note=partly or "no case was scored on both sides")
    tested = _tested(change, known, found, sides, held)
    notes = [tested.note, _held_note(change), _cost_of_errors(known, found, sides)]
    return replace(tested, note="; ".join(note for note in notes if note))


def _partly_judged(sides: Sides, metric: str, rows: Rows | None, floor: float) -> str:
    """Say which side has too few verdicts for a number; nothing where both have enough."""
    columns = zip(("baseline", "candidate"), sides.columns(metric), strict=True)
    said = [(name, partly_judged(column, measure(column, rows), floor)) for name, column in columns]
    return "; ".join(f"{name} {why}" for name, why in said if why)


def _held_note(change: MetricChange) -> str:
    """Say which cases came out better and are counted as no gain."""
    cases = change.needs_review
    if not cases:
        return ""
    told = f"{counted(len(cases), 'case')} ({named(cases)}) came out better by votes far apart"
    return f"{told}: no gain is counted, a person should look"


def _tested(change: MetricChange, known: _Metric, found: Pairs, sides: Sides, held: Bools) -> MetricChange:
    grader, statistic = known.grader, known.statistic
    before, after = (
        _value(known, sides.baseline, found.before, found.rows),
        _value(known, sides.candidate, found.after, found.rows),
    )
    if grader.direction == "neutral":
        return replace(change, baseline=before, candidate=after, note="neither direction is better")
    if held.any():
        found = found._replace(after=np.where(held, found.before, found.after))
    counted_as = _value(known, sides.candidate, found.after, found.rows) if held.any() else after
    gain = counted_as - before if grader.direction == "higher" else before - counted_as
    change = replace(change, baseline=before, candidate=after, gain=gain + 0.0)
    if statistic in PERCENTILES:
        return replace(change, note=f"not tested: a {statistic} has no pairs (its mean has)")
    if statistic == "balanced":
        return replace(change, note=f"not tested: the mean of {' and '.join(grader.parts)}, which are")
    if change.slice is not None and change.n < SMALL_SLICE:
        return replace(change, note=f"descriptive only (n < {SMALL_SLICE})")
    clusters = sides.shared(found.rows)
    old, new = (found.after, found.before) if grader.direction == "lower" else (found.before, found.after)
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


def _value(known: _Metric, table: ScoreTable, values: Floats, rows: Rows) -> float:
    """Return what sums up one side over the paired rows."""
    if known.statistic in ("mean", "rate"):
        return exact_sum(values) / len(values)
    value = summary_of(table, parse(known.name), rows).value
    assert value is not None, known.name
    return value


def _cost_of_errors(known: _Metric, found: Pairs, sides: Sides) -> str:
    """Say what it cost that the candidate failed on cases that the baseline scored."""
    lost = np.intersect1d(found.lost, found.failed_after)
    if not len(lost):
        return ""
    told = f"the candidate failed on {counted(len(lost), 'case')} that the baseline scored ({named(sides.named(lost))})"
    worst = worst_of(known.grader)
    if worst is None or known.statistic not in AVERAGES[:2]:
        return told
    before = np.concatenate([found.before, sides.columns(known.name)[0].values[lost]])
    after = np.concatenate([found.after, np.full(len(lost), worst)])
    mean = (exact_sum(after) - exact_sum(before)) / len(before)
    gain = -mean if known.grader.direction == "lower" else mean
    return f"{told}; counted as the worst value, the gain is {gain:+.3f}"
