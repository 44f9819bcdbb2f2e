"""Confidence intervals of rates, percentiles and means, by the method that fits the values.

Results do not depend on the order of the values. docs/adr/0010-intervals-near-the-ends.md explains the choice of
methods; `python -m benchmarks.statistics` prints their coverage.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, exp, fsum, log, sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import FloatArray
from assay.stats.distributions import compute_beta_quantile, compute_normal_quantile, compute_t_quantile
from assay.stats.samples import (
    ClusterCodes,
    ClusterLabels,
    ScoreValues,
    compute_standard_error,
    encode_clusters,
    group_into_units,
    parse_finite,
)


class Bounds(NamedTuple):
    """An interval, the name of its method, and a warning for the reader, or ""."""

    low: float
    high: float
    method: str
    note: str = ""


class Estimate(NamedTuple):
    """A value with its interval."""

    value: float
    bounds: Bounds


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> Bounds:
    """Return the Wilson score interval of a rate, within [0, 1].

    Its coverage equals `confidence` on average over rates, not at each rate: docs/adr/0010-intervals-near-the-ends.md.
    Raises ValueError unless 0 ≤ successes ≤ n and n ≥ 1. Source: Wilson (1927).

    >>> bounds = wilson_interval(38, 40)
    >>> round(bounds.low, 4), round(bounds.high, 4)
    (0.835, 0.9862)
    """
    _check_count(successes, n)
    z = compute_normal_quantile((1 + confidence) / 2)
    rate, share = successes / n, z * z / n
    centre = (rate + share / 2) / (1 + share)
    half = z * sqrt(rate * (1 - rate) / n + share / n / 4) / (1 + share)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Bounds(low, high, "Wilson")


def finite_rate_interval(events: int, n: int, population: int, confidence: float = 0.95) -> Bounds:
    """Return the exact interval of the share of events in a finite population, of which `n` members drawn at random
    were looked at, within [0, 1].

    Its coverage is at least `confidence`, however the members depend on each other, because only the draw is random. It
    is narrower than that of Clopper and Pearson, to which it tends for a large population, and without width if every
    member was looked at. Raises ValueError unless 0 ≤ events ≤ n ≤ population and n ≥ 1. Source: Wright (1991), *Exact
    Confidence Bounds when Sampling from Small Finite Universes*.

    >>> bounds = finite_rate_interval(1, 30, 212)
    >>> round(bounds.low * 212), round(bounds.high * 212)
    (1, 34)
    >>> finite_rate_interval(1, 12, 12)[:2] == (1 / 12, 1 / 12)
    True
    """
    _check_count(events, n)
    if n > population:
        raise ValueError(f"a sample cannot be larger than its population (got {n} of {population})")
    tail = (1 - Fraction(confidence)) / 2
    most = _find_most_events(events, n, population, tail)
    # The limit from below is that from above for the members that are no events.
    least = population - _find_most_events(n - events, n, population, tail)
    return Bounds(least / population, most / population, "hypergeometric")


def _find_most_events(events: int, n: int, population: int, tail: Fraction) -> int:
    """Return the largest number of events in a population of which a sample has so few with more than a probability."""
    low, high = events, population - (n - events)
    while low < high:
        middle = (low + high + 1) // 2
        if _has_few_events_more_often(events, n, middle, population, tail):
            low = middle
        else:
            high = middle - 1
    return low


def _has_few_events_more_often(events: int, n: int, total: int, population: int, tail: Fraction) -> bool:
    """Return whether a sample of `n` has at most `events` of the `total` ones with more than a probability.

    In whole numbers, so that the answer is the same on every machine.
    """
    least = max(0, n - (population - total))
    ways = comb(total, least) * comb(population - total, n - least)
    few = ways
    for count in range(least, min(events, n, total)):
        ways = ways * (total - count) * (n - count) // ((count + 1) * (population - total - n + count + 1))
        few += ways
    return few * tail.denominator > comb(population, n) * tail.numerator


def upper_bound_of_rate(events: int, n: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a rate after `events` of `n`, in (0, 1] (Clopper-Pearson).

    >>> round(upper_bound_of_rate(0, 41), 4)
    0.0705
    """
    _check_count(events, n)
    if events == n:
        return 1.0
    if events == 0:
        return float(1 - (1 - confidence) ** (1 / n))
    return compute_beta_quantile(confidence, events + 1, n - events)


def upper_bound_after_no_events(n: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a rate after no event in `n` cases, in (0, 1).

    >>> round(upper_bound_after_no_events(4), 3)
    0.527
    """
    return upper_bound_of_rate(0, n, confidence)


def average_two_rates(rate_a: tuple[int, int], rate_b: tuple[int, int], confidence: float = 0.95) -> Estimate | None:
    """Return the mean of two independent rates, each given as `(successes, n)`, with its interval, in [0, 1].

    The interval combines the distances between each rate and its own bounds (MOVER: Newcombe 1998; Zou and Donner
    2008). A class without cases is left out, and the note says so; None if both are empty.

    >>> value, bounds = average_two_rates((9, 10), (15, 20))
    >>> round(value, 3), bounds.method
    (0.825, 'MOVER of Wilson')
    >>> average_two_rates((9, 10), (0, 0)).bounds.note
    'second class has no cases: left out'
    """
    names = ("first", "second")
    empty_classes = [name for name, (_, n) in zip(names, (rate_a, rate_b), strict=True) if n == 0]
    rates = [(k / n, wilson_interval(k, n, confidence)) for k, n in (rate_a, rate_b) if n]
    if not rates:
        return None
    if empty_classes:
        value, bounds = rates[0]
        return Estimate(value, bounds._replace(note=f"{empty_classes[0]} class has no cases: left out"))
    value = fsum(rate for rate, _ in rates) / 2
    distance_down = sqrt(fsum((rate - bounds.low) ** 2 for rate, bounds in rates)) / 2
    distance_up = sqrt(fsum((bounds.high - rate) ** 2 for rate, bounds in rates)) / 2
    return Estimate(value, Bounds(max(0.0, value - distance_down), min(1.0, value + distance_up), "MOVER of Wilson"))


def _check_count(successes: int, n: int) -> None:
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"counts need 0 ≤ successes ≤ n and n ≥ 1 (got {successes} of {n})")


def compute_percentile(values: ScoreValues, p: float) -> float | None:
    """Return the nearest-rank percentile, the value at index ceil(p/100·n)−1 in sorted order; None without values.

    Always one of the values. Raises ValueError unless `p` is in (0, 100].

    >>> compute_percentile([15, 20, 35, 40, 50], 40)
    20.0
    """
    numbers = np.sort(parse_finite(values))
    return float(numbers[_nearest_rank(p, len(numbers)) - 1]) if len(numbers) else None


def estimate_percentile_interval(values: ScoreValues, p: float, confidence: float = 0.95) -> Bounds | None:
    """Return the distribution-free interval of a percentile: two of the values, chosen by the binomial distribution.

    None if fewer than one value is expected beyond the percentile (for p95: n < 20), which callers report as
    "insufficient n". If the sample cannot reach `confidence`, the limit is the extreme value and the note gives the
    actual coverage. Raises ValueError unless `p` is in (0, 100).

    >>> estimate_percentile_interval(range(1, 101), 50)
    Bounds(low=40.0, high=61.0, method='order statistics', note='')
    """
    if not 0 < p < 100:
        raise ValueError(f"an interval needs a percentile between 0 and 100 (got {p})")
    numbers = np.sort(parse_finite(values))
    n = len(numbers)
    if round(n * min(p, 100 - p) / 100, 9) < 1:
        return None
    low_rank, high_rank, coverage = _order_statistic_ranks(n, p, confidence)
    note = "" if coverage >= confidence - 1e-9 else f"n = {n} is too few for {confidence:.0%}: covers {coverage:.0%}"
    return Bounds(float(numbers[low_rank - 1]), float(numbers[high_rank - 1]), "order statistics", note)


def compute_percentile_coverage(n: int, p: float, confidence: float = 0.95) -> float:
    """Return how often the interval of a percentile of `n` values holds it, at most `confidence`.

    >>> round(compute_percentile_coverage(41, 95), 2), compute_percentile_coverage(100, 95)
    (0.86, 0.95)
    """
    return min(confidence, _order_statistic_ranks(n, p, confidence)[2])


@lru_cache(maxsize=1024)
def _order_statistic_ranks(n: int, p: float, confidence: float) -> tuple[int, int, float]:
    """Return the ranks (from 1) of the two values that enclose the percentile, and the probability that they do."""
    below = _binomial_cdf(n, p / 100)  # below[k]: probability that at most k values lie below the percentile
    tail = (1 - confidence) / 2
    low_rank = max(1, int(np.searchsorted(below, tail, side="right")))
    high_rank = min(n, int(np.searchsorted(below, 1 - tail, side="left")) + 1)
    return low_rank, high_rank, float(below[high_rank - 1] - below[low_rank - 1])


def rank_median_limits(n: int, confidence: float) -> int | None:
    """Return the rank, from 1, of the lower limit of a median among `n` values, whose upper limit has the same rank
    from above; None if not even the extreme values reach the confidence.

    >>> rank_median_limits(10, 0.95), rank_median_limits(5, 0.95)
    (2, None)
    """
    below = _binomial_cdf(n, 0.5)
    rank = int(np.searchsorted(below, (1 - confidence) / 2, side="right"))
    return rank if rank >= 1 else None


def _nearest_rank(p: float, n: int) -> int:
    if not 0 < p <= 100:
        raise ValueError(f"a percentile must lie in (0, 100] (got {p})")
    return max(1, ceil(round(p * n / 100, 9)))  # rounded: 99.9 · 1000 / 100 must not become rank 1000


def _binomial_cdf(n: int, p: float) -> npt.NDArray[np.float64]:
    """Return P(X ≤ k) for k = 0 … n."""
    k = np.arange(1, n + 1)
    logs = n * log(1 - p) + np.cumsum(np.log((n - k + 1) / k * (p / (1 - p))))
    return np.cumsum(np.concatenate(([exp(n * log(1 - p))], np.exp(logs))))


FEW_CLUSTERS = 8
# CR1-t is known to cover too little if the mean is closer to an end of the range than both the share of three clusters
# and a quarter of the range (ADR 0010).
UNRELIABLE_WITHIN_CLUSTERS, UNRELIABLE_WITHIN_SHARE = 3, 0.25
NEGLIGIBLE_SPREAD = 1e-12  # relative to the largest value; a smaller standard error is rounding error


class OneSidedBound(NamedTuple):
    """The limit of a one-sided interval; the other limit is the end of the metric's range."""

    value: float
    method: str
    note: str = ""


class _Sample(NamedTuple):
    """Scores with their cluster codes (None if all are independent) and the metric's range."""

    values: FloatArray
    codes: ClusterCodes | None
    low: float | None
    high: float | None

    @property
    def usable(self) -> bool:
        """Whether an interval may exist: there is a value, and not all values are in one cluster."""
        return len(self.values) > 0 and (self.codes is None or bool(self.codes.any()))


def estimate_mean_interval(
    values: ScoreValues,
    *,
    clusters: ClusterLabels | None = None,
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

    >>> estimate_mean_interval([1.0, 1.0, 0.0, 1.0]).method
    'Wilson'
    >>> bounds = estimate_mean_interval([0.25, 0.5, 1.0, 0.75], low=0, high=1)
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
    rate = wilson_interval(_count_at_top(sample, ends), len(sample.values), confidence)
    return rate._replace(low=bottom + width * rate.low, high=bottom + width * rate.high)


def estimate_one_sided_bound(
    values: ScoreValues,
    side: Literal["lower", "upper"],
    *,
    clusters: ClusterLabels | None = None,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> OneSidedBound | None:
    """Return the one-sided "lower" or "upper" bound of a mean, for rules that compare the bound with a threshold.

    Like `estimate_mean_interval`, except that two-valued scores get the exact Clopper-Pearson bound, whose coverage
    is never below `confidence`.

    >>> round(estimate_one_sided_bound([1.0] * 41, "lower").value, 4)
    0.9295
    """
    sample = _make_sample(values, clusters, low, high)
    if not sample.usable:
        return None
    ends = _two_valued_range(sample)
    if ends is not None:
        n, hits = len(sample.values), _count_at_top(sample, ends)
        rate = (
            upper_bound_of_rate(hits, n, confidence)
            if side == "upper"
            else 1 - upper_bound_of_rate(n - hits, n, confidence)
        )
        return OneSidedBound(ends[0] + (ends[1] - ends[0]) * rate, "Clopper-Pearson")
    bounds = _t_limits(sample, 1 - confidence)
    if bounds is None:
        return None
    return OneSidedBound(bounds.low if side == "lower" else bounds.high, bounds.method, bounds.note)


def _make_sample(values: ScoreValues, clusters: ClusterLabels | None, low: float | None, high: float | None) -> _Sample:
    numbers = parse_finite(values)
    if low is None and high is None and _all_at_ends(numbers, (0.0, 1.0)):
        low, high = 0.0, 1.0
    if low is not None and high is not None and not low < high:
        raise ValueError(f"a range needs low < high (got {low}, {high})")
    if len(numbers):
        least, most = float(numbers.min()), float(numbers.max())
        if (low is not None and least < low) or (high is not None and most > high):
            raise ValueError(f"values outside the range {low} to {high} (got {least} to {most})")
    return _Sample(numbers, encode_clusters(clusters, len(numbers)), low, high)


def _two_valued_range(sample: _Sample) -> tuple[float, float] | None:
    """Return the ends of the range if every score lies at one of them and all scores are independent."""
    if sample.codes is not None or sample.low is None or sample.high is None:
        return None
    ends = float(sample.low), float(sample.high)
    return ends if _all_at_ends(sample.values, ends) else None


def _all_at_ends(values: FloatArray, ends: tuple[float, float]) -> bool:
    return bool(((values == ends[0]) | (values == ends[1])).all())


def _count_at_top(sample: _Sample, ends: tuple[float, float]) -> int:
    return int(np.count_nonzero(sample.values == ends[1]))


def _t_limits(sample: _Sample, tail: float) -> Bounds | None:
    """Return two limits, each on the wrong side of the true mean with probability `tail`; None if undefined."""
    cluster_units = group_into_units(sample.values, sample.codes)
    count, mean = len(cluster_units.totals), cluster_units.mean
    few_clusters_note = f"too few clusters ({count})" if sample.codes is not None and count < FEW_CLUSTERS else ""
    error = compute_standard_error(cluster_units) if count > 1 else 0.0
    if error <= NEGLIGIBLE_SPREAD * float(np.abs(sample.values).max()):
        return _zero_event_limits(sample, mean, count, tail, few_clusters_note)
    half = compute_t_quantile(1 - tail, count - 1) * error
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
    half = compute_t_quantile(1 - tail, n - 1) * sqrt(spread / (n + 1) / (n + 2))
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
    if distance_near < (min(UNRELIABLE_WITHIN_CLUSTERS / count, UNRELIABLE_WITHIN_SHARE) - 1e-9) * (
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
    unseen = upper_bound_after_no_events(count, 1 - tail)
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
