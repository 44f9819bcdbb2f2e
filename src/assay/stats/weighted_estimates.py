"""Means of traffic with intervals: from sums over groups of users, or from a stratified sample with its weights.

Answers to one user are not independent, so users (or groups of them) are the units. The value that an interval covers
is that of the traffic behind the answers, not only of these answers: it never has width zero.
"""

from __future__ import annotations

from math import inf, isfinite, log, sqrt

import numpy as np

from assay.stats.arrays import BoolArray, FloatArray, IndexArray
from assay.stats.distributions import compute_beta_quantile, compute_normal_quantile, compute_t_quantile
from assay.stats.intervals import Bounds, Estimate

EFFECTIVE_METHOD = "Clopper-Pearson with the effective number of answers (conservative)"
UNBOUNDED_METHOD = "t over groups of users"
FEW_USERS = 8
HEAVY_USER = 0.25
"""Share of the answers from which on one user widens every interval, so that it is said."""
_PRIOR_USERS = 0.5
"""How many users with nothing but equal values are added to those that show how alike the values of a user are."""
_HALVINGS = 100
MAX_SHAPE = 50_000.0
"""The largest effective number that the beta quantiles are exact for; beyond it the interval stays at that width."""


def estimate_mean_of_groups(
    totals: FloatArray, sizes: FloatArray, low: float | None, high: float | None, confidence: float = 0.95
) -> Estimate | None:
    """Return the mean of values that were summed by independent groups, with its interval.

    `totals` and `sizes` have shape (groups,): the sum and the number of the values of each group; groups without values
    are left out. `low` and `high` are the ends of the range, None if it is open. None without values, and for an open
    range with fewer than two groups. Source: Korn and Graubard (1998) for bounded values; we take the variance that is
    to be expected of groups of these sizes where it is larger than the observed one (ADR 224).

    >>> estimate = estimate_mean_of_groups(np.array([1.0, 0.0, 0.0]), np.array([10.0, 10.0, 10.0]), 0.0, 1.0)
    >>> round(estimate.value, 4), estimate.bounds.low < 1 / 30 < estimate.bounds.high
    (0.0333, True)
    """
    used = sizes > 0
    totals, sizes = totals[used], sizes[used]
    count, number = len(totals), float(sizes.sum())
    if not count:
        return None
    mean = float(totals.sum()) / number
    distances = (totals - sizes * mean) / number
    variance = float((distances**2).sum())
    if low is not None and high is not None:
        shares = np.clip((totals / sizes - low) / (high - low), 0.0, 1.0)
        variance = max(variance, (high - low) ** 2 * _expect_variance(shares, sizes))
    variance *= _correct_for_few(_count_effective(sizes))
    return _make_estimate(mean, variance, sizes, low, high, confidence)


def _expect_variance(shares: FloatArray, sizes: FloatArray) -> float:
    """Return the variance of the mean of values of 0 and 1 that is to be expected of users of these sizes.

    `shares` and `sizes` have shape (users,): the mean of a user's values and their number. What was observed says too
    little where most of the traffic is that of few users: it is small whenever the values of these happen to be the
    common ones. So the correlation of two values of one user is estimated from users of all sizes alike. Few events
    cannot show it, and count as if half a user more had only equal values.
    """
    mean = float((shares * sizes).sum() / sizes.sum())
    spread = mean * (1 - mean)
    repeated = sizes > 1
    if spread == 0.0 or not repeated.any():
        return 0.0
    share, size = shares[repeated], sizes[repeated]
    between = (share - mean) ** 2
    within = share * (1 - mean) ** 2 + (1 - share) * mean**2
    weight = np.sqrt(size - 1)
    pairs = (size * between - within) / (size - 1)
    observed = float((weight * pairs).sum() / weight.sum()) / spread
    witnesses = float(min((share > 0).sum(), (share < 1).sum()))
    correlation = (witnesses * min(1.0, max(0.0, observed)) + _PRIOR_USERS) / (witnesses + _PRIOR_USERS)
    number = float(sizes.sum())
    typical_size = float((sizes**2).sum()) / number
    return spread * (1 + correlation * (typical_size - 1)) / number


def estimate_mean_of_sample(
    values: FloatArray,
    applies: BoolArray,
    strata: IndexArray,
    stratum_sizes: FloatArray,
    clusters: IndexArray,
    low: float,
    high: float,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return the mean over all answers of which a stratified sample was judged (Hájek), with its interval.

    `values`, `applies`, `strata` and `clusters` have shape (judged,): the value, whether the answer belongs to the part
    of the traffic that is asked about and has a value, and the codes of its stratum and user. `stratum_sizes` has shape
    (strata,): the number of answers in each, judged or not; every stratum with answers needs one that was judged. The
    variance is that of the traffic, with users as units, plus that of the sampling; in each stratum one imaginary value
    at either end of the range stands for those that the sample missed. None where no judged answer belongs.
    """
    if not applies.any():
        return None
    judged = np.bincount(strata, minlength=len(stratum_sizes)).astype(np.float64)
    weight_of_stratum = np.divide(stratum_sizes, judged, out=np.zeros_like(stratum_sizes), where=judged > 0)
    weights = np.where(applies, weight_of_stratum[strata], 0.0)
    total_weight = float(weights.sum())
    mean = float((weights * np.where(applies, values, 0.0)).sum()) / total_weight
    distances = np.where(applies, values - mean, 0.0) / total_weight
    of_cluster = np.unique(clusters[applies], return_inverse=True)[1]
    weighted = (weights * distances)[applies]
    cluster_sums = np.bincount(of_cluster, weights=weighted)
    cluster_weights = np.bincount(of_cluster, weights=weights[applies]).astype(np.float64)
    users = _count_effective(cluster_weights)
    single = float((weights * distances**2).sum())
    shared = float((cluster_sums**2).sum()) - float((weighted**2).sum())
    variance = max(single, single + shared) * _correct_for_few(users)
    ends = (low - mean) / total_weight, (high - mean) / total_weight
    for code in range(len(stratum_sizes)):
        variance += _sampling_variance(distances[strata == code], applies[strata == code], stratum_sizes[code], ends)
    return _make_estimate(mean, variance, cluster_weights, low, high, confidence)


def _count_effective(sizes: FloatArray) -> float:
    """Return how many users of equal size would be worth as much as these (Kish)."""
    return float(sizes.sum()) ** 2 / float((sizes**2).sum())


def _correct_for_few(users: float) -> float:
    return users / (users - 1) if users > 1 else inf


def _sampling_variance(distances: FloatArray, applies: BoolArray, size: float, ends: tuple[float, float]) -> float:
    """Return the variance that comes from judging only some answers of a stratum; 0 where all were judged."""
    judged = len(distances)
    if judged == 0 or judged >= size:
        return 0.0
    padded = np.concatenate((distances, ends)) if applies.any() else distances
    spread = float(((padded - padded.mean()) ** 2).sum()) / max(1, len(padded) - 1)
    return float(size**2 * (1 - judged / size) * spread / judged)


def _make_estimate(
    mean: float, variance: float, sizes: FloatArray, low: float | None, high: float | None, confidence: float
) -> Estimate | None:
    """Return the mean with the interval of its variance; `sizes` are the weights of the users."""
    count, users = len(sizes), _count_effective(sizes)
    freedom = max(1, int(users) - 1)
    note = _describe_users(sizes)
    tail = (1 + confidence) / 2
    if low is None or high is None:
        if count < 2:
            return None
        half = compute_t_quantile(tail, freedom) * sqrt(variance)
        if not isfinite(half):
            return None
        bottom, top = mean - half, mean + half
        bounds = Bounds(
            bottom if low is None else max(low, bottom), top if high is None else min(high, top), UNBOUNDED_METHOD, note
        )
        return Estimate(mean, bounds)
    share = min(1.0, max(0.0, (mean - low) / (high - low)))
    scaled = variance / (high - low) ** 2
    if share in (0.0, 1.0):
        limit = find_limit_at_end(sizes / sizes.sum(), 1 - tail)
        bottom, top = (limit, 1.0) if share == 1.0 else (0.0, 1 - limit)
    else:
        # Users who always answer alike would give their number: no dependence gives less.
        effective = users if scaled == 0.0 else max(users, share * (1 - share) / scaled)
        effective *= (compute_normal_quantile(tail) / compute_t_quantile(tail, freedom)) ** 2
        bottom, top = _exact_limits(share, min(effective, MAX_SHAPE), confidence)
    return Estimate(mean, Bounds(low + (high - low) * bottom, low + (high - low) * top, EFFECTIVE_METHOD, note))


def find_limit_at_end(weights: FloatArray, tail: float) -> float:
    """Return the lowest mean at which all users still have only values of 1 with a chance of `tail`, between 0 and 1.

    `weights` has shape (users,), positive with a sum of 1. Each user may have a mean q of their own, whose values may
    depend on each other in any way, so that all of them are 1 with a chance of q at most. Of all q with a product of
    `tail`, those in proportion to 1 / weight, but at most 1, have the lowest weighted mean. Users of equal weight give
    the limit of Clopper and Pearson for so many values.

    >>> round(find_limit_at_end(np.full(20, 0.05), 0.025), 4), round(find_limit_at_end(np.array([0.9, 0.1]), 0.025), 4)
    (0.8316, 0.0949)
    """
    below, above = log(tail), 0.0  # of the common factor, in logarithms
    below += float(np.log(weights.min()))
    above += float(np.log(weights.max()))
    logs = np.log(weights)
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if float(np.minimum(0.0, middle - logs).sum()) < log(tail):
            below = middle
        else:
            above = middle
    return float((weights * np.exp(np.minimum(0.0, above - logs))).sum())


def _describe_users(sizes: FloatArray) -> str:
    """Return what is to be said of the users: that they are few, or that one of them has most of the answers."""
    if len(sizes) < FEW_USERS:
        return f"few users ({len(sizes)})"
    largest = float(sizes.max() / sizes.sum())
    return f"one user has {largest:.0%} of the answers" if largest >= HEAVY_USER else ""


def _exact_limits(share: float, number: float, confidence: float) -> tuple[float, float]:
    """Return the Clopper-Pearson limits of a share of a number that need not be whole."""
    tail = (1 - confidence) / 2
    events, others = share * number, (1 - share) * number
    below = compute_beta_quantile(tail, events, others + 1) if events >= 1 else 0.0
    above = compute_beta_quantile(1 - tail, events + 1, others) if others >= 1 else 1.0
    if events == 0.0:
        above = 1 - tail ** (1 / number)
    if others == 0.0:
        below = tail ** (1 / number)
    return min(below, share), max(above, share)
