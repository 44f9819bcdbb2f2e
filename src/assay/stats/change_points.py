"""Change points of a series of runs that share their cases, by permutation within cases.

If nothing changed, the scores of one case are exchangeable in time: any order of them was as likely. Each case is
permuted by itself, so that the differences between cases, usually the larger part of the spread, do not count. With two
runs it is the sign-flip test of paired differences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import FloatArray

ORDERS = 9_999
"""The largest number of random orders that are tried; p is never below 1/10,000."""
ENOUGH_EXTREMES = 30
"""Orders at least as extreme after which sampling stops: p is then known to a sixth of itself (Besag and Clifford)."""
_ORDERS_AT_ONCE = 256
_MAX_CELLS = 2_000_000


class ChangePoint(NamedTuple):
    """A change before run `at`: the means before and after it within its stretch, and the p-value of the stretch."""

    at: int
    before: float
    after: float
    p: float


def scan_for_change(scores: FloatArray, units: npt.NDArray[np.intp], *, seed: int = 0) -> ChangePoint | None:
    """Return the most likely place of one change in a stretch of runs, with its p-value; None if there is no place.

    `scores` has shape (runs, cases) and no gaps. `units`, shape (cases,), numbers independent units from 0, which are
    permuted as wholes. The statistic is the largest difference of two means, before and after, times the root of
    r·s/(r+s) for r and s runs, and of equal places the first is returned; p is the share of random orders in which it
    is as large, (1 + extremes) / (1 + orders), so that P(p ≤ α) ≤ α if nothing changed. Source: Pesarin and Salmaso
    (2010), permutation within strata; early stop of Besag and Clifford (1991).

    >>> scores = np.array([[1.0] * 8] * 3 + [[0.0] * 8] * 3)
    >>> scan_for_change(scores, np.arange(8))
    ChangePoint(at=3, before=1.0, after=0.0, p=0.0001)
    """
    runs, cases = scores.shape
    if runs < 2 or not cases:
        return None
    sums = _sum_units(scores, units)
    moving = sums[:, (sums != sums[0]).any(axis=0)]
    if not moving.shape[1]:
        return None
    fixed = sums.sum(axis=1) - moving.sum(axis=1)
    statistics = _scan_splits((fixed + moving.sum(axis=1))[np.newaxis])[0]
    largest = _lower_by_rounding(float(statistics.max()))
    at = int(np.argmax(statistics >= largest)) + 1
    extreme, tried = _count_extremes(moving, fixed, largest, seed)
    means = scores.mean(axis=1)
    return ChangePoint(at, float(means[:at].mean()), float(means[at:].mean()), (1 + extreme) / (1 + tried))


def find_further_changes(
    scores: FloatArray, units: npt.NDArray[np.intp], first: ChangePoint, threshold: float, *, seed: int = 0
) -> list[ChangePoint]:
    """Return the first change and those on either side of it, by binary segmentation, in the order of time.

    Both sides of a change are tested at half the threshold at which the change itself was accepted, so that the
    thresholds of both tests add up to that of the change; their p-values are doubled accordingly.
    """
    changes = [first]
    for start, end in ((0, first.at), (first.at, len(scores))):
        change = scan_for_change(scores[start:end], units, seed=seed)
        if change is not None and change.p <= threshold / 2:
            inner = find_further_changes(scores[start:end], units, change, threshold / 2, seed=seed)
            changes += [deeper._replace(at=deeper.at + start, p=min(1.0, 2 * deeper.p)) for deeper in inner]
    return sorted(changes)


def _sum_units(scores: FloatArray, units: npt.NDArray[np.intp]) -> FloatArray:
    sums = np.zeros((len(scores), int(units.max()) + 1))
    for row in range(len(scores)):
        sums[row] = np.bincount(units, weights=scores[row], minlength=sums.shape[1])
    return sums


def _scan_splits(totals: FloatArray) -> FloatArray:
    """Return the statistic of every split, shape (orders, runs - 1), of totals of shape (orders, runs)."""
    runs = totals.shape[1]
    before = np.arange(1, runs)
    cumulated = np.cumsum(totals, axis=1)
    gaps = np.abs(cumulated[:, :-1] / before - (cumulated[:, -1:] - cumulated[:, :-1]) / (runs - before))
    scanned: FloatArray = gaps * np.sqrt(before * (runs - before) / runs)
    return scanned


def _lower_by_rounding(statistic: float) -> float:
    """Return a bound that every statistic equal to this one reaches, in whatever order its scores were added up."""
    return statistic - 1e-9 * max(1.0, statistic)


def _count_extremes(moving: FloatArray, fixed: FloatArray, bound: float, seed: int) -> tuple[int, int]:
    """Return how many random orders reached the bound, and how many were tried."""
    generator = np.random.default_rng(seed)
    runs, unit_count = moving.shape
    step = max(1, min(_ORDERS_AT_ONCE, _MAX_CELLS // (runs * unit_count)))
    extreme = tried = 0
    while tried < ORDERS and extreme < ENOUGH_EXTREMES:
        count = min(step, ORDERS - tried)
        drawn = generator.permuted(np.broadcast_to(moving, (count, runs, unit_count)), axis=1)
        extreme += int(np.count_nonzero(_scan_splits(drawn.sum(axis=2) + fixed).max(axis=1) >= bound))
        tried += count
    return extreme, tried
