"""Alarms on a quantile of a stream of values, such as the 95th percentile of latencies, with a bound on false ones.

On each day, the share of values above the quantile of all days together (window and reference) is compared between the
two, by the permutation test of `change_alarms`. That quantile does not depend on the order of the days, so exchanging
days of a weekday leaves it as it is, and the test is as exact as that of a rate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.stats.arrays import FloatArray
from assay.stats.change_alarms import REFERENCE_DAYS, WINDOWS, DayAlarm, compare_window

CountArray = NDArray[np.int32]
"""Shape (days, bins): how many values of a day lie in each bin, bins in ascending order."""


class QuantileAlarm(NamedTuple):
    """An alarm on the share of values above the bin `above`, the quantile of all days that were compared."""

    alarm: DayAlarm
    above: int
    before: int
    after: int


def find_quantile_alarm(
    counts: CountArray,
    cumulated: NDArray[np.int64],
    quantile: float,
    day: int,
    direction: int,
    false_alarms: float,
    seed: int,
) -> QuantileAlarm | None:
    """Return the alarm of one day, that of the shortest window, None if there is none.

    `counts` has shape (days, bins), `cumulated` are the counts of each day and all days before it, `quantile` lies in
    (0, 1). `before` and `after` of an alarm are the bins of the quantile in the reference and in the window. The bound
    on false alarms is that of `find_day_alarm`.
    """
    if not counts[day].any():
        return None
    sizes: FloatArray = counts.sum(axis=1).astype(np.float64)
    for window in WINDOWS:
        alarm = _find_alarm(counts, cumulated, sizes, quantile, day, window, direction, false_alarms, seed)
        if alarm is not None:
            return alarm
    return None


def _find_alarm(
    counts: CountArray,
    cumulated: NDArray[np.int64],
    sizes: FloatArray,
    quantile: float,
    day: int,
    window: int,
    direction: int,
    false_alarms: float,
    seed: int,
) -> QuantileAlarm | None:
    first = day - window + 1
    start = max(0, first - REFERENCE_DAYS)
    if first <= start:
        return None
    of_window = cumulated[day] - cumulated[first - 1]
    of_all = cumulated[day] - (cumulated[start - 1] if start else 0)
    above = find_quantile_bin(of_all, quantile)
    totals: FloatArray = np.zeros(len(sizes))
    totals[start : day + 1] = counts[start : day + 1, above + 1 :].sum(axis=1)
    alarm = compare_window(totals, sizes, day, window, direction, false_alarms, seed)
    if alarm is None:
        return None
    before, after = find_quantile_bin(of_all - of_window, quantile), find_quantile_bin(of_window, quantile)
    return QuantileAlarm(alarm, above, before, after)


def find_quantile_bin(counts: NDArray[np.int64], quantile: float) -> int:
    """Return the bin in which the quantile (nearest rank) of some counted values lies; 0 where there are none.

    >>> find_quantile_bin(np.array([90, 5, 4, 1]), 0.95)
    1
    """
    total = int(counts.sum())
    rank = max(1, int(np.ceil(total * quantile)))
    return int(np.searchsorted(np.cumsum(counts), rank)) if total else 0
