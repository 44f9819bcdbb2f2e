"""Bounds for non-inferiority: whether a candidate lost more than a margin, with the right level if losses are rare.

docs/adr/0021-regression-rules-have-bounds-of-their-own.md explains why they differ from the bounds of a comparison;
`python -m benchmarks.statistics` prints their error rates.
"""

from __future__ import annotations

from math import cbrt, sqrt

import numpy as np

from assay.metrics.intervals import FEW_CLUSTERS, NO_SPREAD, Bounds, mean_interval
from assay.metrics.paired import tango
from assay.metrics.samples import Labels, Units, Values, cluster_codes, finite, standard_error, units
from assay.metrics.student import t_quantile

LEVEL = 0.95
HALF_A_PAIR, ONE_PAIR = 0.5, 1.0
"""Continuity corrections, in pairs, that keep the bounds at their level for few pairs: a wrong pass occurs in at most
4.7% of samples, a wrong failure in at most 4.4%."""


def gain_bounds(
    baseline: Values,
    candidate: Values,
    *,
    clusters: Labels | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Bounds | None:
    """Return one-sided 95% bounds of the mean of candidate − baseline, paired by position; None if undefined.

    Independent pairs of 0 and 1 get Tango's bounds with a continuity correction, as in McNemar's test. All others get
    Hall's (1992) bounds, which correct for the skew that a few large losses among equal pairs cause; two imaginary
    units, as far above and below the mean as the largest difference, stand for unseen cases. Pairs without spread get
    the zero-event bound over the range of a score (`low` to `high`); without a range they have no bounds.

    >>> bounds = gain_bounds([1.0] * 41, [1.0] * 41)
    >>> round(bounds.low, 3), round(bounds.high, 3)
    (-0.083, 0.102)
    """
    baseline_scores, candidate_scores = finite(baseline), finite(candidate)
    n = len(baseline_scores)
    if n == 0:
        return None
    differences, codes = candidate_scores - baseline_scores, cluster_codes(clusters, n)
    if codes is None and np.isin(baseline_scores, (0.0, 1.0)).all() and np.isin(candidate_scores, (0.0, 1.0)).all():
        wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
        lower_side = tango(wins, losses, n, 2 * LEVEL - 1, correction=HALF_A_PAIR)
        upper_side = tango(wins, losses, n, 2 * LEVEL - 1, correction=ONE_PAIR)
        return Bounds(lower_side.low, upper_side.high, lower_side.method)
    cluster_units = units(differences, codes)
    count, widest = len(cluster_units.totals), float(np.abs(differences).max())
    if count == 1 < n:
        return None
    if count == 1 or standard_error(cluster_units) <= NO_SPREAD * widest:
        if low is None or high is None:
            return None
        span = high - low
        return mean_interval(differences, clusters=clusters, low=-span, high=span, confidence=2 * LEVEL - 1)
    note = f"too few clusters ({count})" if count < min(n, FEW_CLUSTERS) else ""
    return _hall_bounds(cluster_units, widest, note)


def _hall_bounds(cluster_units: Units, widest: float, note: str) -> Bounds:
    """Return bounds by Hall's (1992) cubic transformation of t, over the units and two imaginary ones."""
    mean, size = cluster_units.mean, float(cluster_units.sizes.mean())
    totals = np.append(cluster_units.totals, [size * (mean - widest), size * (mean + widest)])
    sizes = np.append(cluster_units.sizes, [size, size])
    padded_units = Units(totals, sizes, mean * float(sizes.sum()))
    count, error = len(totals), standard_error(padded_units)
    residuals = np.sort((totals - sizes * mean) / widest)
    second_moment, third_moment = (float(np.cumsum(residuals**power)[-1]) / count for power in (2, 3))
    skew = third_moment / second_moment**1.5 / sqrt(count)
    quantile = t_quantile(LEVEL, count - 1)
    return Bounds(
        mean - error * _hall_transform(quantile, skew), mean - error * _hall_transform(-quantile, skew), "Hall", note
    )


def _hall_transform(z: float, skew: float) -> float:
    """Return Hall's cubic transformation of `z`; the identity without skew."""
    if abs(skew) < 1e-9:
        return z
    return 3 / skew * (cbrt(1 + skew * (z - skew / 6)) - 1)
