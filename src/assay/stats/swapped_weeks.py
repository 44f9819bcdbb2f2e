"""Whether two weeks differ, tested by swapping the weeks of users: the answers to one user resemble each other."""

from __future__ import annotations

import numpy as np

from assay.stats.arrays import FloatArray

SWAPS = 4_999
_CLOSE = 1e-12
_SWAPS_AT_ONCE = 1_000


def compare_swapped_weeks(totals: FloatArray, sizes: FloatArray, seed: int = 0) -> float:
    """Return the p-value of a difference between the means of two weeks, two-sided.

    `totals` and `sizes` have shape (2, users): the sum of the values of each user in each week, and how many there are.
    If the weeks of a user could as well have come in the other order, every swap of them is as likely as what was
    observed: the share of swaps that move the means at least as far apart is the p-value. It is valid for rare events
    and for users of any share. Source: Good (2005), permutation tests of paired samples.

    >>> rates = np.array([[0.0] * 12, [1.0] * 12]), np.ones((2, 12))
    >>> compare_swapped_weeks(*rates) < 0.01, compare_swapped_weeks(np.ones((2, 12)), np.ones((2, 12)))
    (True, 1.0)
    """
    present = sizes.sum(axis=0) > 0
    totals, sizes = totals[:, present], sizes[:, present]
    observed = _find_distance(totals.sum(axis=1), sizes.sum(axis=1))
    generator = np.random.default_rng([seed, totals.shape[1]])
    reached = 0
    for start in range(0, SWAPS, _SWAPS_AT_ONCE):
        swaps = generator.random((min(_SWAPS_AT_ONCE, SWAPS - start), totals.shape[1])) < 0.5
        first = [np.where(swaps, values[1], values[0]).sum(axis=1) for values in (totals, sizes)]
        second = [values.sum() - part for values, part in zip((totals, sizes), first, strict=True)]
        distances = _find_distance(np.array([first[0], second[0]]), np.array([first[1], second[1]]))
        reached += int(np.count_nonzero(distances >= observed - _CLOSE))
    return (1 + reached) / (1 + SWAPS)


def find_least_p(sizes: FloatArray) -> float:
    """Return the smallest p-value that swaps of these users can give: all of them, or none, in one direction.

    >>> find_least_p(np.ones((2, 5))), find_least_p(np.ones((2, 6)))
    (0.0625, 0.03125)
    """
    return float(min(1.0, 2.0 ** (1 - np.count_nonzero(sizes.sum(axis=0)))))


def _find_distance(totals: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return how far the means of two weeks are apart, infinite where a week has no answer."""
    means = np.divide(totals, sizes, out=np.full(sizes.shape, np.inf), where=sizes > 0)
    with np.errstate(invalid="ignore"):
        distances: FloatArray = np.nan_to_num(np.abs(means[1] - means[0]), nan=np.inf)
    return distances
