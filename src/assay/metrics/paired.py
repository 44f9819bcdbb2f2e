"""Paired comparison of two configurations on the same cases: difference, interval, p-value and detectable difference.

Differences are candidate minus baseline. Whether higher is better is up to the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, copysign, fsum, inf, sqrt
from typing import NamedTuple

import numpy as np

from assay.metrics.intervals import FEW_CLUSTERS, NO_SPREAD, Bounds, mean_interval
from assay.metrics.rates import zero_event_upper
from assay.metrics.samples import Floats, Labels, Units, Values, cluster_codes, finite, standard_error, units
from assay.metrics.signflip import sign_flip_p
from assay.metrics.student import bisect, normal_quantile, t_quantile


class PairedDifference(NamedTuple):
    """The mean difference over `n` pairs; `bounds` and `p_value` are None if undefined, see `note`.

    `sd`: standard deviation of the differences. `correlation`: None if one side has no spread. `wins`, `losses`,
    `ties`: pairs in which the candidate is above, below and equal to the baseline.
    """

    n: int
    mean: float
    bounds: Bounds | None
    p_value: float | None
    p_method: str
    sd: float | None
    correlation: float | None
    wins: int
    losses: int
    ties: int
    note: str = ""


def paired_difference(
    baseline: Values,
    candidate: Values,
    *,
    clusters: Labels | None = None,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> PairedDifference | None:
    """Return the paired difference of two aligned lists of scores of the same cases; None without pairs.

    Independent pairs of 0 and 1 get the Tango interval and McNemar's exact p; all others get CR1-t and the sign-flip
    test on cluster sums. `low` and `high`, the ends of the metric's range, are used only if the differences have no
    spread. For a one-sided bound at level c pass `confidence=2·c − 1`. Raises ValueError for lists of different length.

    >>> result = paired_difference([0.2, 0.5, 0.4, 0.6], [0.4, 0.6, 0.7, 0.6])
    >>> round(result.mean, 3), result.wins, result.ties, result.p_value
    (0.15, 3, 1, 0.25)
    """
    baseline_scores, candidate_scores = finite(baseline), finite(candidate)
    n = len(baseline_scores)
    if len(candidate_scores) != n:
        raise ValueError(f"paired lists need the same cases (got {n} and {len(candidate_scores)} scores)")
    if n == 0:
        return None
    differences = candidate_scores - baseline_scores
    cluster_units = units(differences, cluster_codes(clusters, n))
    count = len(cluster_units.totals)
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    note = ""
    bounds: Bounds | None
    p_value: float | None
    if count == n and np.isin(baseline_scores, (0.0, 1.0)).all() and np.isin(candidate_scores, (0.0, 1.0)).all():
        bounds, p_value, p_method = tango(wins, losses, n, confidence), mcnemar_p(wins, losses), "McNemar, exact"
    elif count == 1 < n:
        bounds, p_value, p_method, note = None, None, "", "one cluster"
    else:
        span = None if low is None or high is None else high - low
        bounds = _difference_bounds(differences, cluster_units, clusters, span, confidence)
        p_value, p_method = sign_flip_p(cluster_units.totals, seed=seed)
        note = "" if bounds else "no spread"
    standard_deviation, correlation = _standard_deviation(differences), _correlation(baseline_scores, candidate_scores)
    ties = n - wins - losses
    return PairedDifference(
        n, cluster_units.mean, bounds, p_value, p_method, standard_deviation, correlation, wins, losses, ties, note
    )


def mcnemar_p(wins: int, losses: int) -> float:
    """Return McNemar's exact two-sided p-value of discordant pairs, in (0, 1].

    >>> round(mcnemar_p(2, 9), 7)
    0.0654297
    """
    n, fewer = wins + losses, min(wins, losses)
    ways = tail = 1
    for k in range(fewer):  # exact integers; computing each binomial coefficient separately would be slow
        ways = ways * (n - k) // (k + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << n))


def tango(wins: int, losses: int, n: int, confidence: float = 0.95, *, correction: float = 0.0) -> Bounds:
    """Return Tango's score interval of the difference of two paired rates, within [-1, 1]. Tango (1998).

    `wins` and `losses` are the discordant pairs among `n`; raises ValueError if they exceed `n`. `correction`: a
    continuity correction, in pairs, that widens the interval.

    >>> bounds = tango(12, 2, 50)
    >>> round(bounds.low, 4), round(bounds.high, 4)
    (0.0611, 0.3447)
    """
    if n < 1 or min(wins, losses) < 0 or wins + losses > n:
        raise ValueError(f"counts need wins + losses ≤ n and n ≥ 1 (got {wins} + {losses} of {n})")
    z = normal_quantile((1 + confidence) / 2)
    estimate = (wins - losses) / n
    low = bisect(lambda d: z - tango_z(wins, losses, n, d, correction), -1.0, estimate)
    high = bisect(lambda d: -z - tango_z(wins, losses, n, d, correction), estimate, 1.0)
    return Bounds(low, high, "Tango")


def tango_z(wins: int, losses: int, n: int, difference: float, correction: float = 0.0) -> float:
    """Return the score statistic of a hypothetical `difference` in [-1, 1]; ±inf if only one outcome is possible.

    At 0 its square is McNemar's chi-squared.

    >>> round(tango_z(86, 150, 1600, 0.0) ** 2, 4)
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


def smallest_detectable(
    sd: float, n: int, *, cluster_size: float = 1.0, icc: float = 0.0, confidence: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the true mean difference that a two-sided test of `n` pairs detects with the given power.

    `sd`: standard deviation of the differences; for rates about the square root of the share of discordant pairs.
    Clusters of mean size `cluster_size` with intraclass correlation `icc` divide n by 1 + (size − 1)·icc. Uses two t
    quantiles, which agrees with the noncentral t to three digits from n = 20 on. None if fewer than two independent
    pairs remain.

    >>> round(smallest_detectable(0.1**0.5, 41), 3)
    0.142
    """
    effective = n / (1 + (cluster_size - 1) * icc)
    if effective < 2:
        return None
    df = int(effective) - 1
    return (t_quantile((1 + confidence) / 2, df) + t_quantile(power, df)) * sd / sqrt(effective)


def detectable(
    differences: Values, *, clusters: Labels | None = None, span: float | None = None, power: float = 0.8
) -> float | None:
    """Return the smallest true mean that a test of these values would detect, two-sided at 95%.

    `values` are differences, or scores minus a threshold. Clusters reduce n by the factor by which they increase the
    variance of the mean. Values without spread are assumed to hide as much of it as n cases can: a share of
    `zero_event_upper(n)` of unseen values, each `span` away. None if not even a difference of the whole `span` would be
    detected, for fewer than two values, and for values without spread if `span` is None.

    >>> round(detectable([0.0] * 41, span=1.0), 3)
    0.119
    """
    numbers = finite(differences)
    n = len(numbers)
    if n < 2:
        return None
    single_units, cluster_units = units(numbers), units(numbers, cluster_codes(clusters, n))
    error, widening = standard_error(single_units), 1.0
    if error <= NO_SPREAD * float(np.abs(numbers).max()):
        if span is None:
            return None
        sd, widening = span * sqrt(zero_event_upper(len(cluster_units.totals))), n / len(cluster_units.totals)
    else:
        sd = error * sqrt(n)
        widening = max(1.0, (standard_error(cluster_units) / error) ** 2) if len(cluster_units.totals) > 1 else float(n)
    least = smallest_detectable(sd, n, cluster_size=widening, icc=1.0, power=power)
    return None if least is None or (span is not None and least > span) else least


def cases_needed(margin: float, sd: float, *, confidence: float = 0.95, power: float = 0.8) -> int:
    """Return how many independent pairs a one-sided test needs to exclude a loss of `margin` (normal approximation).

    >>> cases_needed(0.02, 0.1**0.5)
    1546
    """
    return ceil(((normal_quantile(confidence) + normal_quantile(power)) * sd / margin) ** 2)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted to control the family-wise error rate, in the given order. Source: Holm (1979).

    >>> [round(p, 3) for p in holm([0.04, 0.01, 0.03])]
    [0.06, 0.03, 0.06]
    """
    adjusted, running_maximum = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(_rising_order(p_values)):
        running_maximum = max(running_maximum, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running_maximum
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted to control the false discovery rate, in the given order.

    Source: Benjamini and Hochberg (1995).

    >>> [round(p, 3) for p in benjamini_hochberg([0.04, 0.01, 0.03])]
    [0.04, 0.03, 0.04]
    """
    adjusted, running_minimum = [0.0] * len(p_values), 1.0
    for rank, index in reversed(list(enumerate(_rising_order(p_values), start=1))):
        running_minimum = min(running_minimum, len(p_values) * p_values[index] / rank)
        adjusted[index] = running_minimum
    return adjusted


def _difference_bounds(
    differences: Floats, cluster_units: Units, clusters: Labels | None, span: float | None, confidence: float
) -> Bounds | None:
    """Return the CR1-t interval; without spread, the zero-event interval over a range of ± `span`."""
    count, n = len(cluster_units.totals), len(differences)
    error = standard_error(cluster_units) if count > 1 else 0.0
    if error <= NO_SPREAD * float(np.abs(differences).max()):
        if not span:
            return None
        return mean_interval(differences, clusters=clusters, low=-span, high=span, confidence=confidence)
    half = t_quantile((1 + confidence) / 2, count - 1) * error
    note = f"too few clusters ({count})" if count < min(n, FEW_CLUSTERS) else ""
    return Bounds(cluster_units.mean - half, cluster_units.mean + half, "CR1-t" if count < n else "t", note)


def _standard_deviation(values: Floats) -> float | None:
    return standard_error(units(values)) * sqrt(len(values)) if len(values) > 1 else None


def _correlation(first: Floats, second: Floats) -> float | None:
    spread = (_standard_deviation(first) or 0.0) * (_standard_deviation(second) or 0.0)
    if not spread:
        return None
    a, b = fsum(first.tolist()) / len(first), fsum(second.tolist()) / len(second)
    shared = fsum(((first - a) * (second - b)).tolist()) / (len(first) - 1)
    return max(-1.0, min(1.0, shared / spread))


def _rising_order(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda index: p_values[index])
