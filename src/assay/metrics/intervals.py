"""Confidence intervals of means, by the method that fits the values.

Re-exports the intervals of rates and percentiles. Results do not depend on the order of the values.
docs/adr/0010-intervals-near-the-ends.md explains the choice of methods; `python -m benchmarks.statistics` prints their
coverage.
"""

from __future__ import annotations

from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from assay.metrics.percentiles import percentile, percentile_interval
from assay.metrics.rates import (
    Bounds,
    Estimate,
    balanced,
    clopper_pearson,
    event_upper,
    wilson,
    zero_event_upper,
)
from assay.metrics.samples import Codes, Floats, Labels, Values, cluster_codes, finite, mean_of, standard_error, units
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
    "wilson",
    "zero_event_upper",
]

FEW_CLUSTERS = 8
# CR1-t is known to cover too little if the mean is closer to an end of the range than both the share of three clusters
# and a quarter of the range (ADR 0010).
NEAR_CLUSTERS, NEAR_SHARE = 3, 0.25
NO_SPREAD = 1e-12  # relative to the largest value; a smaller standard error is rounding error


class Bound(NamedTuple):
    """The limit of a one-sided interval; the other limit is the end of the metric's range."""

    value: float
    method: str
    note: str = ""


class _Sample(NamedTuple):
    """Scores with their cluster codes (None if all are independent) and the metric's range."""

    values: Floats
    codes: Codes | None
    low: float | None
    high: float | None

    @property
    def usable(self) -> bool:
        """Whether an interval may exist: there is a value, and not all values are in one cluster."""
        return len(self.values) > 0 and (self.codes is None or bool(self.codes.any()))


def mean_interval(
    values: Values,
    *,
    clusters: Labels | None = None,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> Bounds | None:
    """Return the two-sided interval of a mean, within [low, high], by the method that fits the values.

    `clusters` gives the cluster of each value; values in one cluster are not independent. `low` and `high` are the ends
    of the metric's range, None if it is open; 0 and 1 are assumed if neither is given and all values are 0 or 1.

    - Wilson, if every value is at an end of the range and all are independent.
    - CR1-t, if clusters have more than one value; the note warns where its coverage is known to be below 90%.
    - t otherwise. If the range has both ends, one imaginary value is added at each of them ("padded").
    - The zero-event bound, for a single value or values (or cluster means) without spread: unseen cases may still score
      differently, so the interval never has width zero.

    None without values, for a single cluster, and, if the range is open, for values or cluster means without spread.
    Raises ValueError for values that are not finite or outside the range, and if `clusters` has another length.

    >>> mean_interval([1.0, 1.0, 0.0, 1.0]).method
    'Wilson'
    >>> bounds = mean_interval([0.25, 0.5, 1.0, 0.75], low=0, high=1)
    >>> bounds.method, round(bounds.low, 3), bounds.high
    ('t, padded (conservative)', 0.053, 1.0)
    """
    sample = _make_sample(values, clusters, low, high)
    if not sample.usable:
        return None
    ends = _two_valued_range(sample)
    if ends is None:
        return _t_limits(sample, (1 - confidence) / 2)
    bottom, width = ends[0], ends[1] - ends[0]
    rate = wilson(_count_at_top(sample, ends), len(sample.values), confidence)
    return rate._replace(low=bottom + width * rate.low, high=bottom + width * rate.high)


def one_sided(
    values: Values,
    side: Literal["lower", "upper"],
    *,
    clusters: Labels | None = None,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> Bound | None:
    """Return the one-sided "lower" or "upper" bound of a mean, for rules that compare the bound with a threshold.

    Like `mean_interval`, except that two-valued scores get the exact Clopper-Pearson bound, whose coverage is never
    below `confidence`.

    >>> round(one_sided([1.0] * 41, "lower").value, 4)
    0.9295
    """
    sample = _make_sample(values, clusters, low, high)
    if not sample.usable:
        return None
    ends = _two_valued_range(sample)
    if ends is not None:
        n, hits = len(sample.values), _count_at_top(sample, ends)
        rate = event_upper(hits, n, confidence) if side == "upper" else 1 - event_upper(n - hits, n, confidence)
        return Bound(ends[0] + (ends[1] - ends[0]) * rate, "Clopper-Pearson")
    bounds = _t_limits(sample, 1 - confidence)
    if bounds is None:
        return None
    return Bound(bounds.low if side == "lower" else bounds.high, bounds.method, bounds.note)


def _make_sample(values: Values, clusters: Labels | None, low: float | None, high: float | None) -> _Sample:
    numbers = finite(values)
    if low is None and high is None and _all_at_ends(numbers, (0.0, 1.0)):
        low, high = 0.0, 1.0
    if low is not None and high is not None and not low < high:
        raise ValueError(f"a range needs low < high (got {low}, {high})")
    if len(numbers):
        least, most = float(numbers.min()), float(numbers.max())
        if (low is not None and least < low) or (high is not None and most > high):
            raise ValueError(f"values outside the range {low} to {high} (got {least} to {most})")
    return _Sample(numbers, cluster_codes(clusters, len(numbers)), low, high)


def _two_valued_range(sample: _Sample) -> tuple[float, float] | None:
    """Return the ends of the range if every score lies at one of them and all scores are independent."""
    if sample.codes is not None or sample.low is None or sample.high is None:
        return None
    ends = float(sample.low), float(sample.high)
    return ends if _all_at_ends(sample.values, ends) else None


def _all_at_ends(values: Floats, ends: tuple[float, float]) -> bool:
    return bool(((values == ends[0]) | (values == ends[1])).all())


def _count_at_top(sample: _Sample, ends: tuple[float, float]) -> int:
    return int(np.count_nonzero(sample.values == ends[1]))


def _t_limits(sample: _Sample, tail: float) -> Bounds | None:
    """Return two limits, each on the wrong side of the true mean with probability `tail`; None if undefined."""
    cluster_units = units(sample.values, sample.codes)
    count, mean = len(cluster_units.totals), cluster_units.mean
    few_clusters_note = f"too few clusters ({count})" if sample.codes is not None and count < FEW_CLUSTERS else ""
    error = standard_error(cluster_units) if count > 1 else 0.0
    if error <= NO_SPREAD * float(np.abs(sample.values).max()):
        return _zero_event_limits(sample, mean, count, tail, few_clusters_note)
    half = t_quantile(1 - tail, count - 1) * error
    low, high = mean - half, mean + half
    if sample.codes is not None:
        doubt_note = _coverage_warning(sample, mean, half, count)
        return _clip_to_range(sample, low, high, "CR1-t", "; ".join(filter(None, (few_clusters_note, doubt_note))))
    if sample.low is None or sample.high is None:
        return _clip_to_range(sample, low, high, "t", "")
    padded_low, padded_high = _padded_limits(mean, error, count, (sample.low, sample.high), tail)
    return _clip_to_range(sample, min(low, padded_low), max(high, padded_high), "t, padded (conservative)", "")


def _padded_limits(mean: float, error: float, n: int, ends: tuple[float, float], tail: float) -> tuple[float, float]:
    """Return t limits after adding one imaginary value at each end of the range.

    Scores often pile up at an end of their range, and the rare bad case is then missing from the sample: t alone covers
    32% where 99% of 41 cases score 1. The two imaginary values stand for unseen cases.
    """
    centre = (n * mean + ends[0] + ends[1]) / (n + 2)
    observed_spread = n * (n - 1) * error**2 + n * (mean - centre) ** 2
    spread = observed_spread + (ends[0] - centre) ** 2 + (ends[1] - centre) ** 2
    half = t_quantile(1 - tail, n - 1) * sqrt(spread / (n + 1) / (n + 2))
    return centre - half, centre + half


def _coverage_warning(sample: _Sample, mean: float, half: float, count: int) -> str:
    """Return a warning if the CR1-t interval, mean ± `half`, is known to cover less than 90%, else "".

    Near an end of the range few clusters differ from it, and the one that matters is often missing from the sample. If
    scores are concentrated away from the ends, a single unseen cluster can move the mean out of the interval.
    """
    if sample.low is None or sample.high is None:
        return ""
    (distance_near, near_end), (distance_far, far_end) = sorted(
        [(mean - sample.low, sample.low), (sample.high - mean, sample.high)]
    )
    if distance_near < (min(NEAR_CLUSTERS / count, NEAR_SHARE) - 1e-9) * (
        sample.high - sample.low
    ):  # exactly three: not near
        return f"interval unreliable near {near_end:g}"
    if distance_far / (count + 1) > half:
        return f"interval unreliable: one more cluster at {far_end:g} would move the mean out of it"
    return ""


def _zero_event_limits(sample: _Sample, value: float, count: int, tail: float, few_clusters_note: str) -> Bounds | None:
    """Return how far the mean may lie from equal values, if unseen units score at the far end of the range."""
    if sample.low is None or sample.high is None:
        return None
    unseen = zero_event_upper(count, 1 - tail)
    low, high = value - unseen * (value - sample.low), value + unseen * (sample.high - value)
    kind = "scores" if sample.codes is None else "clusters"
    note = "a single score" if count == 1 else f"no spread in {count} {kind}"
    return _clip_to_range(
        sample, low, high, "zero-event", f"{few_clusters_note}; {note}" if few_clusters_note else note
    )


def _clip_to_range(sample: _Sample, low: float, high: float, method: str, note: str) -> Bounds:
    low = low if sample.low is None else max(float(sample.low), low)
    high = high if sample.high is None else min(float(sample.high), high)
    return Bounds(low, high, method, note)
