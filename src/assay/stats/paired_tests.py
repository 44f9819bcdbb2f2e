"""Two configurations on the same cases: difference, interval, p-value, detectable difference, non-inferiority.

Differences are candidate minus baseline. Whether higher is better is up to the caller.

The bounds for non-inferiority say whether a candidate lost more than a margin, with the right level if losses are rare.
docs/adr/0021-regression-rules-have-bounds-of-their-own.md explains why they differ from the bounds of a comparison;
`python -m benchmarks.statistics` prints their error rates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import cbrt, ceil, copysign, inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import BoolArray, FloatArray
from assay.stats.distributions import compute_normal_quantile, compute_t_quantile, compute_t_tail, find_root
from assay.stats.intervals import (
    FEW_CLUSTERS,
    NEGLIGIBLE_SPREAD,
    Bounds,
    estimate_mean_interval,
    upper_bound_after_no_events,
)
from assay.stats.samples import (
    ClusterCodes,
    ClusterLabels,
    IndependentUnits,
    ScoreValues,
    compute_standard_error,
    encode_clusters,
    group_into_units,
    parse_finite,
)
from assay.stats.sign_flip_test import (
    MOST_ENUMERATED_UNITS,
    SIGN_FLIP_EXACT,
    SIGN_PATTERNS,
    compute_mcnemar_p,
    compute_sign_flip_p,
    is_below_sampling,
)

_CLEARLY_EQUAL = 0.1
"""The p of t from which no sign patterns are sampled: no family of a comparison shows a difference above 0.05."""


class PairedDifference(NamedTuple):
    """The mean difference over `n` pairs; `bounds` and `p_value` are None if undefined, see `note`.

    `wins`, `losses`, `ties`: pairs in which the candidate is above, below and equal to the baseline.
    """

    n: int
    mean: float
    bounds: Bounds | None
    p_value: float | None
    p_method: str
    wins: int
    losses: int
    ties: int
    note: str = ""


class PairedSample(NamedTuple):
    """What a test and an interval need of paired differences, whatever their number.

    `mean` is that of the `n` differences and `units` the number of independent ones; `error` is the standard error by
    clusters and `independent_error` that of independent pairs, both 0 if nothing but rounding differs; `skew` is the
    skewness of the units, `span` the largest possible difference of two scores, None if unlimited. `rise` and `fall`
    are the sums of the positive and, as a positive number, of the negative differences, divided by `n`; `effective` is
    the number of clusters of equal size that weigh as much as these (Kish). `totals` returns the sums of the units,
    shape (units,).
    """

    n: int
    units: int
    effective: float
    mean: float
    rise: float
    fall: float
    error: float
    independent_error: float
    skew: float
    wins: int
    losses: int
    is_binary: bool
    span: float | None
    totals: Callable[[], FloatArray]

    @property
    def is_clustered(self) -> bool:
        """Whether some pairs share a cluster."""
        return self.units < self.n

    @property
    def is_one_cluster(self) -> bool:
        """Whether several pairs form one cluster, so that nothing can be tested."""
        return self.units == 1 < self.n

    def count_differing(self) -> int:
        """Return how many units differ between the two sides, whichever way."""
        return int(np.count_nonzero(self.totals())) if self.is_clustered else self.wins + self.losses

    def test(self, seed: int = 0) -> tuple[float | None, str]:
        """Return the two-sided p-value and the method; None for a single cluster of several pairs.

        Independent pairs of 0 and 1 are tested by McNemar's exact test, all others by sign flips of the sums of
        clusters. Where t is far from significant (p > 0.1), its p is given, and also where the sign flips are more
        extreme than sampling can resolve.
        """
        if self.is_binary and not self.is_clustered:
            return compute_mcnemar_p(self.wins, self.losses), "McNemar, exact"
        if self.is_one_cluster:
            return None, ""
        if not self.error:
            return compute_sign_flip_p(self.totals(), seed=seed)
        p_by_t = compute_t_tail(self.mean / self.error, self.units - 1)
        method = "CR1-t" if self.is_clustered else "t"
        if p_by_t > _CLEARLY_EQUAL:
            return p_by_t, method
        totals = self.totals()
        if np.count_nonzero(totals) > MOST_ENUMERATED_UNITS and is_below_sampling(totals):
            return p_by_t, f"{method}, below the sampling floor of sign flips"
        p_value, p_method = compute_sign_flip_p(totals, seed=seed)
        if p_value <= 1 / (SIGN_PATTERNS + 1) and p_method != SIGN_FLIP_EXACT:
            return p_by_t, f"{method}, at the sampling floor of sign flips"
        return p_value, p_method

    def estimate_interval(self, confidence: float) -> Bounds | None:
        """Return the interval of the mean difference; None for one cluster, or without spread and range.

        Independent pairs of 0 and 1 get Tango's interval; pairs that all differ by the same get what the range allows.
        All others get t (CR1-t with clusters), widened to the limits of Hall, which follow the skew that a few large
        losses cause. Far out these run away, so that they go no further than Tango's limits for scores of all or
        nothing with the same mean gain and loss: no scores of that range vary more. No interval is wider than the
        largest possible difference.
        """
        if self.is_binary and not self.is_clustered:
            return compute_tango_interval(self.wins, self.losses, self.n, confidence)
        if self.is_one_cluster:
            return None
        if not self.error:
            if not self.span:
                return None
            same, codes = np.full(self.n, self.mean), np.arange(self.n) % self.units
            return estimate_mean_interval(same, clusters=codes, low=-self.span, high=self.span, confidence=confidence)
        quantile = compute_t_quantile((1 + confidence) / 2, self.units - 1)
        note = f"too few clusters ({self.units})" if self.units < min(self.n, FEW_CLUSTERS) else ""
        method = "CR1-t" if self.is_clustered else "t"
        low, high = self.mean - quantile * self.error, self.mean + quantile * self.error
        skewed_low, skewed_high = _hall_limits(self.mean, self.error, self.skew / sqrt(self.units), quantile)
        if self.span:
            extreme = self._estimate_extreme_interval(self.span, confidence)
            skewed_low, skewed_high = max(skewed_low, extreme.low), min(skewed_high, extreme.high)
        if skewed_low < low or skewed_high > high:
            low, high, method = min(low, skewed_low), max(high, skewed_high), f"{method}, widened by Hall"
        if self.span is not None:
            low, high = max(low, -self.span), min(high, self.span)
        return Bounds(low, high, method, note)

    def _estimate_extreme_interval(self, span: float, confidence: float) -> Bounds:
        """Return Tango's interval of differences that are 0 or as large as `span`, alike within a cluster."""
        share = self.effective / span
        limits = _find_tango_limits(self.rise * share, self.fall * share, self.effective, confidence)
        return Bounds(limits.low * span, limits.high * span, limits.method)

    def estimate_detectable(self, confidence: float = 0.95, power: float = 0.8) -> float | None:
        """Return the smallest true mean difference that a two-sided test is likely to show; see
        `estimate_detectable_difference`."""
        if self.n < 2:
            return None
        if self.independent_error:
            sd, widening = self.independent_error * sqrt(self.n), 1.0
            if self.is_one_cluster:
                widening = float(self.n)
            elif self.is_clustered:
                widening = max(1.0, (self.error / self.independent_error) ** 2)
        elif self.span is None:
            return None
        else:
            sd, widening = self.span * sqrt(upper_bound_after_no_events(self.units)), self.n / self.units
        least = compute_detectable_difference(
            sd, self.n, cluster_size=widening, icc=1.0, confidence=confidence, power=power
        )
        return None if least is None or (self.span is not None and least > self.span) else least


def pair_samples(
    before: FloatArray,
    after: FloatArray,
    paired: BoolArray,
    clusters: ClusterCodes | None,
    spans: Sequence[float | None],
) -> list[PairedSample | None]:
    """Return the paired differences of several metrics on the same cases; None for a metric without a pair.

    `before` and `after` have shape (metrics, cases); `paired` says which cases count, and `spans` what the largest
    possible difference of two scores is, None if unlimited. `clusters` numbers the cluster of each case from 0.
    """
    differences = np.where(paired, after - before, 0.0)
    counts = np.count_nonzero(paired, axis=1)
    means = differences.sum(axis=1) / np.maximum(counts, 1)
    distances = np.where(paired, differences - means[:, None], 0.0)
    independent_errors = np.sqrt((distances * distances).sum(axis=1) / np.maximum(counts * (counts - 1.0), 1.0))
    totals, sizes = differences, paired
    if clusters is not None:
        order = np.argsort(clusters, kind="stable")
        starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
        totals = np.add.reduceat(differences[:, order], starts, axis=1)
        sizes = np.add.reduceat(paired[:, order], starts, axis=1, dtype=np.int64)
        distances = totals - sizes * means[:, None]
    units = np.count_nonzero(sizes, axis=1)
    effective = counts**2.0 / np.maximum((sizes * sizes.astype(np.float64)).sum(axis=1), 1.0)
    rises, falls = (np.maximum(sign * differences, 0.0).sum(axis=1) / np.maximum(counts, 1) for sign in (1.0, -1.0))
    squares = distances * distances
    spread = squares.sum(axis=1)
    errors = np.sqrt(spread * units / np.maximum(units - 1, 1)) / np.maximum(counts, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        skews = (squares * distances).sum(axis=1) / spread**1.5 * np.sqrt(units)
    widest = np.abs(differences).max(axis=1, initial=0.0)
    is_binary = (~paired | (((before == 0.0) | (before == 1.0)) & ((after == 0.0) | (after == 1.0)))).all(axis=1)
    wins, losses = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    samples: list[PairedSample | None] = []
    for row, span in enumerate(spans):
        if not counts[row]:
            samples.append(None)
            continue
        has_spread = errors[row] > NEGLIGIBLE_SPREAD * widest[row] and units[row] > 1
        varies = independent_errors[row] > NEGLIGIBLE_SPREAD * widest[row]
        samples.append(
            PairedSample(
                n=int(counts[row]),
                units=int(units[row]),
                effective=float(effective[row]),
                mean=float(means[row]),
                rise=float(rises[row]),
                fall=float(falls[row]),
                error=float(errors[row]) if has_spread else 0.0,
                independent_error=float(independent_errors[row]) if varies else 0.0,
                skew=float(skews[row]) if has_spread else 0.0,
                wins=int(wins[row]),
                losses=int(losses[row]),
                is_binary=bool(is_binary[row]),
                span=span,
                totals=partial(_select_totals, totals[row], sizes[row]),
            )
        )
    return samples


def _select_totals(totals: FloatArray, sizes: npt.NDArray[np.integer | np.bool_]) -> FloatArray:
    """Return the sums of the units that have a pair."""
    return totals[sizes > 0]


def compare_paired_scores(
    baseline: ScoreValues,
    candidate: ScoreValues,
    *,
    clusters: ClusterLabels | None = None,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> PairedDifference | None:
    """Return the paired difference of two aligned lists of scores of the same cases; None without pairs.

    `low` and `high` are the ends of the metric's range, None if it is open; `PairedSample` says which test and which
    interval fits. For a one-sided bound at level c pass `confidence=2·c − 1`. Raises ValueError for lists of different
    length.

    >>> result = compare_paired_scores([0.2, 0.5, 0.4, 0.6], [0.4, 0.6, 0.7, 0.6])
    >>> round(result.mean, 3), result.wins, result.ties, round(result.p_value, 3)
    (0.15, 3, 1, 0.103)
    """
    baseline_scores, candidate_scores = parse_finite(baseline), parse_finite(candidate)
    n = len(baseline_scores)
    if len(candidate_scores) != n:
        raise ValueError(f"paired lists need the same cases (got {n} and {len(candidate_scores)} scores)")
    if n == 0:
        return None
    span = None if low is None or high is None else high - low
    sample = _pair_one(baseline_scores, candidate_scores, clusters, span)
    p_value, p_method = sample.test(seed)
    bounds = sample.estimate_interval(confidence)
    note = "one cluster" if sample.is_one_cluster else "no spread" if bounds is None else ""
    ties = n - sample.wins - sample.losses
    return PairedDifference(n, sample.mean, bounds, p_value, p_method, sample.wins, sample.losses, ties, note)


def _pair_one(
    before: FloatArray, after: FloatArray, clusters: ClusterLabels | None, span: float | None
) -> PairedSample:
    codes = encode_clusters(clusters, len(before))
    sample = pair_samples(before[None], after[None], np.ones((1, len(before)), dtype=np.bool_), codes, [span])[0]
    assert sample is not None
    return sample


def compute_tango_interval(
    wins: int, losses: int, n: int, confidence: float = 0.95, *, correction: float = 0.0
) -> Bounds:
    """Return Tango's score interval of the difference of two paired rates, within [-1, 1]. Tango (1998).

    `wins` and `losses` are the discordant pairs among `n`; raises ValueError if they exceed `n`. `correction`: a
    continuity correction, in pairs, that widens the interval.

    >>> bounds = compute_tango_interval(12, 2, 50)
    >>> round(bounds.low, 4), round(bounds.high, 4)
    (0.0611, 0.3447)
    """
    if n < 1 or min(wins, losses) < 0 or wins + losses > n:
        raise ValueError(f"counts need wins + losses ≤ n and n ≥ 1 (got {wins} + {losses} of {n})")
    return _find_tango_limits(wins, losses, n, confidence, correction)


def _find_tango_limits(wins: float, losses: float, n: float, confidence: float, correction: float = 0.0) -> Bounds:
    """Return Tango's interval for numbers of pairs that need not be whole."""
    z = compute_normal_quantile((1 + confidence) / 2)
    estimate = (wins - losses) / n
    low = find_root(lambda d: z - compute_tango_z(wins, losses, n, d, correction), -1.0, estimate)
    high = find_root(lambda d: -z - compute_tango_z(wins, losses, n, d, correction), estimate, 1.0)
    return Bounds(low, high, "Tango")


def compute_tango_z(wins: float, losses: float, n: float, difference: float, correction: float = 0.0) -> float:
    """Return the score statistic of a hypothetical `difference` in [-1, 1]; ±inf if only one outcome is possible.

    At 0 its square is McNemar's chi-squared.

    >>> round(compute_tango_z(86, 150, 1600, 0.0) ** 2, 4)
    17.3559
    """
    b = (2 * n - wins + losses) * difference - wins - losses
    c = -losses * difference * (1 - difference)
    rate = (sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
    gap = wins - losses - n * difference
    gap -= copysign(min(correction, abs(gap)), gap)
    variance = n * (2 * rate + difference * (1 - difference))
    if variance <= 0:
        return copysign(inf, gap) if gap else 0.0
    return gap / sqrt(variance)


def compute_detectable_difference(
    sd: float, n: int, *, cluster_size: float = 1.0, icc: float = 0.0, confidence: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the true mean difference that a two-sided test of `n` pairs detects with the given power.

    `sd`: standard deviation of the differences; for rates about the square root of the share of discordant pairs.
    Clusters of mean size `cluster_size` with intraclass correlation `icc` divide n by 1 + (size − 1)·icc. Uses two t
    quantiles, which agrees with the noncentral t to three digits from n = 20 on. None if fewer than two independent
    pairs remain.

    >>> round(compute_detectable_difference(0.1**0.5, 41), 3)
    0.142
    """
    effective = n / (1 + (cluster_size - 1) * icc)
    if effective < 2:
        return None
    df = int(effective) - 1
    return (compute_t_quantile((1 + confidence) / 2, df) + compute_t_quantile(power, df)) * sd / sqrt(effective)


def estimate_detectable_difference(
    differences: ScoreValues, *, clusters: ClusterLabels | None = None, span: float | None = None, power: float = 0.8
) -> float | None:
    """Return the smallest true mean that a test of these values would detect, two-sided at 95%.

    `values` are differences, or scores minus a threshold. Clusters reduce n by the factor by which they increase the
    variance of the mean. Values without spread are assumed to hide as much of it as n cases can: a share of
    `upper_bound_after_no_events(n)` of unseen values, each `span` away. None if not even a difference of the whole
    `span` would be detected, for fewer than two values, and for values without spread if `span` is None.

    >>> round(estimate_detectable_difference([0.0] * 41, span=1.0), 3)
    0.119
    """
    numbers = parse_finite(differences)
    if len(numbers) < 2:
        return None
    return _pair_one(np.zeros(len(numbers)), numbers, clusters, span).estimate_detectable(power=power)


def compute_cases_needed(margin: float, sd: float, *, confidence: float = 0.95, power: float = 0.8) -> int:
    """Return how many independent pairs a one-sided test needs to exclude a loss of `margin` (normal approximation).

    >>> compute_cases_needed(0.02, 0.1**0.5)
    1546
    """
    return ceil(((compute_normal_quantile(confidence) + compute_normal_quantile(power)) * sd / margin) ** 2)


CONFIDENCE_LEVEL = 0.95
PASSING_CORRECTION, FAILING_CORRECTION = 0.5, 1.0
"""Continuity corrections, in pairs, that keep the bounds at their level for few pairs: a wrong pass occurs in at most
4.7% of samples, a wrong failure in at most 4.4%."""


def bound_mean_gain(
    baseline: ScoreValues,
    candidate: ScoreValues,
    *,
    clusters: ClusterLabels | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Bounds | None:
    """Return one-sided 95% bounds of the mean of candidate − baseline, paired by position; None if undefined.

    Independent pairs of 0 and 1 get Tango's bounds with a continuity correction, as in McNemar's test. All others get
    Hall's (1992) bounds, which correct for the skew that a few large losses among equal pairs cause; two imaginary
    units, as far above and below the mean as the largest difference, stand for unseen cases. Pairs without spread get
    the zero-event bound over the range of a score (`low` to `high`); without a range they have no bounds. The note says
    where there are too few clusters to trust the bounds.

    >>> bounds = bound_mean_gain([1.0] * 41, [1.0] * 41)
    >>> round(bounds.low, 3), round(bounds.high, 3)
    (-0.083, 0.102)
    """
    baseline_scores, candidate_scores = parse_finite(baseline), parse_finite(candidate)
    n = len(baseline_scores)
    if n == 0:
        return None
    differences, codes = candidate_scores - baseline_scores, encode_clusters(clusters, n)
    if codes is None and np.isin(baseline_scores, (0.0, 1.0)).all() and np.isin(candidate_scores, (0.0, 1.0)).all():
        wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
        lower_side = compute_tango_interval(wins, losses, n, 2 * CONFIDENCE_LEVEL - 1, correction=PASSING_CORRECTION)
        upper_side = compute_tango_interval(wins, losses, n, 2 * CONFIDENCE_LEVEL - 1, correction=FAILING_CORRECTION)
        return Bounds(lower_side.low, upper_side.high, lower_side.method)
    cluster_units = group_into_units(differences, codes)
    count, widest = len(cluster_units.totals), float(np.abs(differences).max())
    if count == 1 < n:
        return None
    note = f"too few clusters ({count})" if count < min(n, FEW_CLUSTERS) else ""
    if count == 1 or compute_standard_error(cluster_units) <= NEGLIGIBLE_SPREAD * widest:
        if low is None or high is None:
            return None
        span = high - low
        bounds = estimate_mean_interval(
            differences, clusters=clusters, low=-span, high=span, confidence=2 * CONFIDENCE_LEVEL - 1
        )
        return bounds._replace(note=note) if bounds is not None else None
    return _hall_bounds(cluster_units, widest, note)


def _hall_bounds(cluster_units: IndependentUnits, widest: float, note: str) -> Bounds:
    """Return bounds by Hall's (1992) cubic transformation of t, over the units and two imaginary ones."""
    mean, size = cluster_units.mean, float(cluster_units.sizes.mean())
    totals = np.append(cluster_units.totals, [size * (mean - widest), size * (mean + widest)])
    sizes = np.append(cluster_units.sizes, [size, size])
    padded_units = IndependentUnits(totals, sizes, mean * float(sizes.sum()))
    residuals = np.sort((totals - sizes * mean) / widest)
    count, error = len(totals), compute_standard_error(padded_units)
    second_moment, third_moment = (float(np.cumsum(residuals**power)[-1]) / count for power in (2, 3))
    skew = third_moment / second_moment**1.5 / sqrt(count)
    low, high = _hall_limits(mean, error, skew, compute_t_quantile(CONFIDENCE_LEVEL, count - 1))
    return Bounds(low, high, "Hall", note)


def _hall_limits(mean: float, error: float, skew: float, quantile: float) -> tuple[float, float]:
    """Return Hall's limits of a mean with its standard `error`; `skew` is that of its mean, `quantile` one of t."""
    return mean - error * _hall_transform(quantile, skew), mean - error * _hall_transform(-quantile, skew)


def _hall_transform(z: float, skew: float) -> float:
    """Return Hall's cubic transformation of `z`; the identity without skew."""
    if abs(skew) < 1e-9:
        return z
    return 3 / skew * (cbrt(1 + skew * (z - skew / 6)) - 1)
