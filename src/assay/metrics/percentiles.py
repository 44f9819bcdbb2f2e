"""Nearest-rank percentiles and their distribution-free intervals from order statistics."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, log

import numpy as np
import numpy.typing as npt

from assay.metrics.rates import Bounds
from assay.metrics.samples import Values, finite


def percentile(values: Values, p: float) -> float | None:
    """Return the nearest-rank percentile, the value at index ceil(p/100·n)−1 in sorted order; None without values.

    Always one of the values. Raises ValueError unless `p` is in (0, 100].

    >>> percentile([15, 20, 35, 40, 50], 40)
    20.0
    """
    numbers = np.sort(finite(values))
    return float(numbers[_nearest_rank(p, len(numbers)) - 1]) if len(numbers) else None


def percentile_interval(values: Values, p: float, confidence: float = 0.95) -> Bounds | None:
    """Return the distribution-free interval of a percentile: two of the values, chosen by the binomial distribution.

    None if fewer than one value is expected beyond the percentile (for p95: n < 20), which callers report as
    "insufficient n". If the sample cannot reach `confidence`, the limit is the extreme value and the note gives the
    actual coverage. Raises ValueError unless `p` is in (0, 100).

    >>> percentile_interval(range(1, 101), 50)
    Bounds(low=40.0, high=61.0, method='order statistics', note='')
    """
    if not 0 < p < 100:
        raise ValueError(f"an interval needs a percentile between 0 and 100 (got {p})")
    numbers = np.sort(finite(values))
    n = len(numbers)
    if round(n * min(p, 100 - p) / 100, 9) < 1:
        return None
    low_rank, high_rank, coverage = _order_statistic_ranks(n, p, confidence)
    note = "" if coverage >= confidence - 1e-9 else f"n = {n} is too few for {confidence:.0%}: covers {coverage:.0%}"
    return Bounds(float(numbers[low_rank - 1]), float(numbers[high_rank - 1]), "order statistics", note)


@lru_cache(maxsize=1024)
def _order_statistic_ranks(n: int, p: float, confidence: float) -> tuple[int, int, float]:
    """Return the ranks (from 1) of the two values that enclose the percentile, and the probability that they do."""
    below = _binomial_cdf(n, p / 100)  # below[k]: probability that at most k values lie below the percentile
    tail = (1 - confidence) / 2
    low_rank = max(1, int(np.searchsorted(below, tail, side="right")))
    high_rank = min(n, int(np.searchsorted(below, 1 - tail, side="left")) + 1)
    return low_rank, high_rank, float(below[high_rank - 1] - below[low_rank - 1])


def _nearest_rank(p: float, n: int) -> int:
    if not 0 < p <= 100:
        raise ValueError(f"a percentile must lie in (0, 100] (got {p})")
    return max(1, ceil(round(p * n / 100, 9)))  # rounded: 99.9 · 1000 / 100 must not become rank 1000


def _binomial_cdf(n: int, p: float) -> npt.NDArray[np.float64]:
    """Return P(X ≤ k) for k = 0 … n."""
    k = np.arange(1, n + 1)
    logs = n * log(1 - p) + np.cumsum(np.log((n - k + 1) / k * (p / (1 - p))))
    return np.cumsum(np.concatenate(([exp(n * log(1 - p))], np.exp(logs))))
