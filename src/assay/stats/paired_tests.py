"""Two configurations on the same cases: difference, interval, p-value, detectable difference, non-inferiority.

Differences are candidate minus baseline. Whether higher is better is up to the caller.

The bounds for non-inferiority say whether a candidate lost more than a margin, with the right level if losses are rare.
docs/adr/0021-regression-rules-have-bounds-of-their-own.md explains why they differ from the bounds of a comparison;
`python -m benchmarks.statistics` prints their error rates.
"""

from __future__ import annotations

from math import cbrt, ceil, copysign, fsum, inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import FloatArray
from assay.stats.distributions import compute_normal_quantile, compute_t_quantile, find_root
from assay.stats.intervals import (
    FEW_CLUSTERS,
    NEGLIGIBLE_SPREAD,
    Bounds,
    estimate_mean_interval,
    upper_bound_after_no_events,
)
from assay.stats.samples import (
    ClusterLabels,
    IndependentUnits,
    ScoreValues,
    compute_standard_error,
    encode_clusters,
    group_into_units,
    parse_finite,
)

MOST_ENUMERATED_UNITS = 16  # 2^16 sign patterns are enumerated, more are sampled
SIGN_PATTERNS = 9_999
_WORDS_AT_ONCE = 64  # 64-bit words of random bits per throw and step: five megabytes
_FEW_COINS = 12  # below, one bit is drawn for each coin


def compute_sign_flip_p(sums: ScoreValues, *, seed: int = 0) -> tuple[float, str]:
    """Return the two-sided p-value of the hypothesis that each sum is as likely as its negative, and the method.

    Enumerates all sign patterns of up to 16 non-zero sums; otherwise samples 9,999 seeded patterns and returns
    (b+1)/(B+1), which is never 0. The order of the sums does not matter.

    >>> compute_sign_flip_p([1, 2, 3])
    (0.25, 'sign flip, exact')
    """
    numbers = parse_finite(sums).tolist()
    sizes = sorted(abs(total) for total in numbers if total)
    observed_distance = abs(fsum(numbers)) - 1e-9 * fsum(
        sizes
    )  # tolerance: equal sums must count as reached despite rounding
    if len(sizes) <= MOST_ENUMERATED_UNITS:
        patterns = np.zeros(1)
        for size in sizes:
            patterns = np.concatenate((patterns + size, patterns - size))
        return float(np.mean(np.abs(patterns) >= observed_distance)), "sign flip, exact"
    generator = np.random.Generator(np.random.PCG64(seed))
    positive_sums = np.zeros(SIGN_PATTERNS)
    for size, count in zip(
        *np.unique(sizes, return_counts=True), strict=True
    ):  # ascending: reproducible on every machine
        positive_sums += size * _count_heads(generator, int(count))
    extreme = int(np.count_nonzero(np.abs(2 * positive_sums - fsum(sizes)) >= observed_distance))
    return (extreme + 1) / (SIGN_PATTERNS + 1), f"sign flip, {SIGN_PATTERNS} patterns, seed {seed}"


def _count_heads(generator: np.random.Generator, coins: int) -> npt.NDArray[np.integer]:
    """Return the number of heads among `coins` fair coins in each of `SIGN_PATTERNS` throws, shape (FLIPS,).

    Equal sums share one binomial draw, and 64 coins are drawn at once, because scores often repeat.
    """
    if coins < _FEW_COINS:
        row_bytes = (SIGN_PATTERNS + 7) // 8
        bits = np.frombuffer(generator.bytes(coins * row_bytes), dtype=np.uint8).reshape(coins, row_bytes)
        flips = np.unpackbits(bits, axis=1, count=SIGN_PATTERNS)
        return np.asarray(flips[0] if coins == 1 else flips.sum(axis=0, dtype=np.int64))
    counts: npt.NDArray[np.int64] = np.zeros(SIGN_PATTERNS, dtype=np.int64)
    while coins > 0:
        words = min(-(-coins // 64), _WORDS_AT_ONCE)
        random_words = np.frombuffer(generator.bytes(8 * SIGN_PATTERNS * words), dtype="<u8").reshape(
            SIGN_PATTERNS, words
        )
        counts += np.bitwise_count(random_words[:, 0] >> np.uint64(max(0, 64 * words - coins)))
        counts += np.bitwise_count(random_words[:, 1:]).sum(axis=1, dtype=np.int64)
        coins -= 64 * words
    return counts


class PairedDifference(NamedTuple):
    """The mean difference over `n` pairs; `bounds` and `p_value` are None if undefined, see `note`.

    `standard_deviation`: standard deviation of the differences. `correlation`: None if one side has no spread.
    `wins`, `losses`, `ties`: pairs in which the candidate is above, below and equal to the baseline.
    """

    n: int
    mean: float
    bounds: Bounds | None
    p_value: float | None
    p_method: str
    standard_deviation: float | None
    correlation: float | None
    wins: int
    losses: int
    ties: int
    note: str = ""


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

    Independent pairs of 0 and 1 get the Tango interval and McNemar's exact p; all others get CR1-t and the sign-flip
    test on cluster sums. `low` and `high`, the ends of the metric's range, are used only if the differences have no
    spread. For a one-sided bound at level c pass `confidence=2·c − 1`. Raises ValueError for lists of different length.

    >>> result = compare_paired_scores([0.2, 0.5, 0.4, 0.6], [0.4, 0.6, 0.7, 0.6])
    >>> round(result.mean, 3), result.wins, result.ties, result.p_value
    (0.15, 3, 1, 0.25)
    """
    baseline_scores, candidate_scores = parse_finite(baseline), parse_finite(candidate)
    n = len(baseline_scores)
    if len(candidate_scores) != n:
        raise ValueError(f"paired lists need the same cases (got {n} and {len(candidate_scores)} scores)")
    if n == 0:
        return None
    differences = candidate_scores - baseline_scores
    cluster_units = group_into_units(differences, encode_clusters(clusters, n))
    count = len(cluster_units.totals)
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    note = ""
    bounds: Bounds | None
    p_value: float | None
    if count == n and np.isin(baseline_scores, (0.0, 1.0)).all() and np.isin(candidate_scores, (0.0, 1.0)).all():
        bounds, p_value, p_method = (
            compute_tango_interval(wins, losses, n, confidence),
            compute_mcnemar_p(wins, losses),
            "McNemar, exact",
        )
    elif count == 1 < n:
        bounds, p_value, p_method, note = None, None, "", "one cluster"
    else:
        span = None if low is None or high is None else high - low
        bounds = _difference_bounds(differences, cluster_units, clusters, span, confidence)
        p_value, p_method = compute_sign_flip_p(cluster_units.totals, seed=seed)
        note = "" if bounds else "no spread"
    standard_deviation, correlation = _standard_deviation(differences), _correlation(baseline_scores, candidate_scores)
    ties = n - wins - losses
    return PairedDifference(
        n, cluster_units.mean, bounds, p_value, p_method, standard_deviation, correlation, wins, losses, ties, note
    )


def compute_mcnemar_p(wins: int, losses: int) -> float:
    """Return McNemar's exact two-sided p-value of discordant pairs, in (0, 1].

    >>> round(compute_mcnemar_p(2, 9), 7)
    0.0654297
    """
    n, fewer = wins + losses, min(wins, losses)
    ways = tail = 1
    for k in range(fewer):  # exact integers; computing each binomial coefficient separately would be slow
        ways = ways * (n - k) // (k + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << n))


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
    z = compute_normal_quantile((1 + confidence) / 2)
    estimate = (wins - losses) / n
    low = find_root(lambda d: z - compute_tango_z(wins, losses, n, d, correction), -1.0, estimate)
    high = find_root(lambda d: -z - compute_tango_z(wins, losses, n, d, correction), estimate, 1.0)
    return Bounds(low, high, "Tango")


def compute_tango_z(wins: int, losses: int, n: int, difference: float, correction: float = 0.0) -> float:
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
    n = len(numbers)
    if n < 2:
        return None
    single_units, cluster_units = group_into_units(numbers), group_into_units(numbers, encode_clusters(clusters, n))
    error, widening = compute_standard_error(single_units), 1.0
    if error <= NEGLIGIBLE_SPREAD * float(np.abs(numbers).max()):
        if span is None:
            return None
        sd, widening = (
            span * sqrt(upper_bound_after_no_events(len(cluster_units.totals))),
            n / len(cluster_units.totals),
        )
    else:
        sd = error * sqrt(n)
        widening = (
            max(1.0, (compute_standard_error(cluster_units) / error) ** 2)
            if len(cluster_units.totals) > 1
            else float(n)
        )
    least = compute_detectable_difference(sd, n, cluster_size=widening, icc=1.0, power=power)
    return None if least is None or (span is not None and least > span) else least


def compute_cases_needed(margin: float, sd: float, *, confidence: float = 0.95, power: float = 0.8) -> int:
    """Return how many independent pairs a one-sided test needs to exclude a loss of `margin` (normal approximation).

    >>> compute_cases_needed(0.02, 0.1**0.5)
    1546
    """
    return ceil(((compute_normal_quantile(confidence) + compute_normal_quantile(power)) * sd / margin) ** 2)


def _difference_bounds(
    differences: FloatArray,
    cluster_units: IndependentUnits,
    clusters: ClusterLabels | None,
    span: float | None,
    confidence: float,
) -> Bounds | None:
    """Return the CR1-t interval; without spread, the zero-event interval over a range of ± `span`."""
    count, n = len(cluster_units.totals), len(differences)
    error = compute_standard_error(cluster_units) if count > 1 else 0.0
    if error <= NEGLIGIBLE_SPREAD * float(np.abs(differences).max()):
        if not span:
            return None
        return estimate_mean_interval(differences, clusters=clusters, low=-span, high=span, confidence=confidence)
    half = compute_t_quantile((1 + confidence) / 2, count - 1) * error
    note = f"too few clusters ({count})" if count < min(n, FEW_CLUSTERS) else ""
    return Bounds(cluster_units.mean - half, cluster_units.mean + half, "CR1-t" if count < n else "t", note)


def _standard_deviation(values: FloatArray) -> float | None:
    return compute_standard_error(group_into_units(values)) * sqrt(len(values)) if len(values) > 1 else None


def _correlation(first: FloatArray, second: FloatArray) -> float | None:
    spread = (_standard_deviation(first) or 0.0) * (_standard_deviation(second) or 0.0)
    if not spread:
        return None
    a, b = fsum(first.tolist()) / len(first), fsum(second.tolist()) / len(second)
    shared = fsum(((first - a) * (second - b)).tolist()) / (len(first) - 1)
    return max(-1.0, min(1.0, shared / spread))


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
    the zero-event bound over the range of a score (`low` to `high`); without a range they have no bounds.

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
    if count == 1 or compute_standard_error(cluster_units) <= NEGLIGIBLE_SPREAD * widest:
        if low is None or high is None:
            return None
        span = high - low
        return estimate_mean_interval(
            differences, clusters=clusters, low=-span, high=span, confidence=2 * CONFIDENCE_LEVEL - 1
        )
    note = f"too few clusters ({count})" if count < min(n, FEW_CLUSTERS) else ""
    return _hall_bounds(cluster_units, widest, note)


def _hall_bounds(cluster_units: IndependentUnits, widest: float, note: str) -> Bounds:
    """Return bounds by Hall's (1992) cubic transformation of t, over the units and two imaginary ones."""
    mean, size = cluster_units.mean, float(cluster_units.sizes.mean())
    totals = np.append(cluster_units.totals, [size * (mean - widest), size * (mean + widest)])
    sizes = np.append(cluster_units.sizes, [size, size])
    padded_units = IndependentUnits(totals, sizes, mean * float(sizes.sum()))
    count, error = len(totals), compute_standard_error(padded_units)
    residuals = np.sort((totals - sizes * mean) / widest)
    second_moment, third_moment = (float(np.cumsum(residuals**power)[-1]) / count for power in (2, 3))
    skew = third_moment / second_moment**1.5 / sqrt(count)
    quantile = compute_t_quantile(CONFIDENCE_LEVEL, count - 1)
    return Bounds(
        mean - error * _hall_transform(quantile, skew), mean - error * _hall_transform(-quantile, skew), "Hall", note
    )


def _hall_transform(z: float, skew: float) -> float:
    """Return Hall's cubic transformation of `z`; the identity without skew."""
    if abs(skew) < 1e-9:
        return z
    return 3 / skew * (cbrt(1 + skew * (z - skew / 6)) - 1)
