"""The interval of a mean, by the method that fits the values; with rates and percentiles, all that summaries need.

Every sum is `math.fsum`, so the order of the values never changes a byte. Methods were chosen by simulation
(docs/adr/0010-intervals-near-the-ends.md); `python -m benchmarks.statistics` prints what they cover.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import fsum
from typing import Literal, NamedTuple

from assay.metrics.percentiles import percentile, percentile_interval
from assay.metrics.rates import (
    Bounds,
    Estimate,
    balanced,
    clopper_pearson,
    event_upper,
    rate_interval,
    wilson,
    zero_event_upper,
)
from assay.metrics.samples import Values, finite, mean_of, standard_error, units
from assay.metrics.student import t_quantile

__all__ = [
    "Bound",
    "Bounds",
    "Estimate",
    "balanced",
    "clopper_pearson",
    "event_upper",
    "mean_interval",
    "mean_of",
    "one_sided",
    "percentile",
    "percentile_interval",
    "rate_interval",
    "wilson",
    "zero_event_upper",
]

FEW_CLUSTERS = 8


class Bound(NamedTuple):
    """One end of a one-sided interval; the other end is the end of the metric's range."""

    value: float
    method: str
    note: str = ""


class _Sample(NamedTuple):
    """Scores with the totals and sizes of their independent units, and the metric's range."""

    values: list[float]
    totals: list[float]
    sizes: list[float]
    low: float | None
    high: float | None

    @property
    def clustered(self) -> bool:
        return len(self.totals) < len(self.values)

    @property
    def usable(self) -> bool:
        """Whether anything can be said: at least one value, and not all in one cluster."""
        return bool(self.values) and not (self.clustered and len(self.totals) == 1)


def mean_interval(
    values: Values,
    *,
    clusters: Sequence[Hashable] | None = None,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> Bounds | None:
    """Return the two-sided interval of a mean by the method that fits the values, within [low, high].

    `clusters` names the group of each value; values of one group are not independent. `low` and `high` are the ends
    of the metric's range, None where it has none; 0 and 1 are assumed if neither is given and all values are 0 or 1.

    Two-valued scores (every one at an end of the range) get `rate_interval`; clusters with more than one value CR1-t;
    everything else t. Where the range has both ends, one imaginary unit is added at each of them ("padded"). Values
    that are all the same, or a single one, get the bound of a score that may differ in cases not seen yet, never an
    interval of width zero.

    None for no values, a single cluster, or, where the range is open, values or cluster means without any spread.
    Raises ValueError for values that are not finite or outside the range, and for clusters of another length.

    >>> mean_interval([1.0, 1.0, 0.0, 1.0]).method
    'Wilson'
    >>> bounds = mean_interval([0.25, 0.5, 1.0, 0.75], low=0, high=1)
    >>> bounds.method, round(bounds.low, 3), bounds.high
    ('t, padded (conservative)', 0.053, 1.0)
    """
    sample = _sample(values, clusters, low, high)
    if not sample.usable:
        return None
    ends = _two_valued(sample)
    if ends is None:
        return _limits(sample, (1 - confidence) / 2)
    bottom, width = ends[0], ends[1] - ends[0]
    rate = rate_interval(sample.values.count(ends[1]), len(sample.values), confidence)
    return rate._replace(low=bottom + width * rate.low, high=bottom + width * rate.high)


def one_sided(
    values: Values,
    side: Literal["lower", "upper"],
    *,
    clusters: Sequence[Hashable] | None = None,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> Bound | None:
    """Return the bound that the mean stays above ("lower") or below ("upper"), for rules judged by their bound.

    As `mean_interval`, but two-valued scores get the exact Clopper-Pearson bound, which never promises too much.

    >>> round(one_sided([1.0] * 41, "lower").value, 4)
    0.9295
    """
    sample = _sample(values, clusters, low, high)
    if not sample.usable:
        return None
    ends = _two_valued(sample)
    if ends is not None:
        n, hits = len(sample.values), sample.values.count(ends[1])
        rate = event_upper(hits, n, confidence) if side == "upper" else 1 - event_upper(n - hits, n, confidence)
        return Bound(ends[0] + (ends[1] - ends[0]) * rate, "Clopper-Pearson")
    bounds = _limits(sample, 1 - confidence)
    if bounds is None:
        return None
    return Bound(bounds.low if side == "lower" else bounds.high, bounds.method, bounds.note)


def _sample(values: Values, clusters: Sequence[Hashable] | None, low: float | None, high: float | None) -> _Sample:
    numbers = finite(values)
    if low is None and high is None and all(number in (0.0, 1.0) for number in numbers):
        low, high = 0.0, 1.0
    if low is not None and high is not None and not low < high:
        raise ValueError(f"a range needs low < high (got {low}, {high})")
    if numbers and ((low is not None and min(numbers) < low) or (high is not None and max(numbers) > high)):
        raise ValueError(f"values outside the range {low} to {high} (got {min(numbers)} to {max(numbers)})")
    return _Sample(numbers, *units(numbers, clusters), low, high)


def _two_valued(sample: _Sample) -> tuple[float, float] | None:
    """Return the ends of the range if every score lies at one of them and all scores are independent."""
    if sample.clustered or sample.low is None or sample.high is None:
        return None
    ends = float(sample.low), float(sample.high)
    return ends if all(value in ends for value in sample.values) else None


def _limits(sample: _Sample, tail: float) -> Bounds | None:
    """Return two limits, each on the wrong side of the mean with probability `tail`; None if nothing can be said."""
    count = len(sample.totals)
    few = f"too few clusters ({count})" if sample.clustered and count < FEW_CLUSTERS else ""
    if min(sample.values) == max(sample.values):
        return _all_equal(sample, tail, few)
    mean, error = fsum(sample.values) / len(sample.values), standard_error(sample.totals, sample.sizes)
    quantile = t_quantile(1 - tail, count - 1)
    low, high = mean - quantile * error, mean + quantile * error
    method = "CR1-t" if sample.clustered else "t"
    if sample.low is not None and sample.high is not None:
        padded_low, padded_high = _padded(sample, sample.low, sample.high, quantile)
        low, high, method = min(low, padded_low), max(high, padded_high), f"{method}, padded (conservative)"
    elif error <= 1e-12 * max(map(abs, sample.values)):
        return None
    return _clipped(sample, low, high, method, few)


def _padded(sample: _Sample, low: float, high: float, quantile: float) -> tuple[float, float]:
    """Return t limits after adding one imaginary unit of average size at each end of the range.

    Scores pile up at an end of their range, and the rare bad case is then often not among those seen: t alone
    covers 32% where 99% of 41 cases score 1. The two imaginary units stand for what was not seen.
    """
    size = len(sample.values) / len(sample.totals)
    totals, sizes = [*sample.totals, size * low, size * high], [*sample.sizes, size, size]
    mean, error = fsum(totals) / fsum(sizes), standard_error(totals, sizes)
    return mean - quantile * error, mean + quantile * error


def _all_equal(sample: _Sample, tail: float, few: str) -> Bounds | None:
    """Return how far the mean may lie from equal scores: units not seen yet may all score at the far end."""
    if sample.low is None or sample.high is None:
        return None
    value, unseen = sample.values[0], zero_event_upper(len(sample.totals), 1 - tail)
    low, high = value - unseen * (value - sample.low), value + unseen * (sample.high - value)
    count, kind = len(sample.totals), "clusters" if sample.clustered else "scores"
    note = "a single score" if count == 1 else f"no spread in {count} {kind}"
    return _clipped(sample, low, high, "zero-event", f"{few}; {note}" if few else note)


def _clipped(sample: _Sample, low: float, high: float, method: str, note: str) -> Bounds:
    low = low if sample.low is None else max(float(sample.low), low)
    high = high if sample.high is None else min(float(sample.high), high)
    return Bounds(low, high, method, note)
