"""Alarms on a daily rate with a bound on false ones: permutation tests of the last days with the weeks before them.

Days of the same weekday are exchanged, so that a week's rhythm and whatever happens within a day (bursts, users who ask
much) change no error rate: the one assumption is that, without a change, days of one weekday are exchangeable. The
level of all tests of a quarter adds up to the promised number of false alarms, dependent as they are.
"""

from __future__ import annotations

from math import ceil, fsum, log, sqrt
from typing import NamedTuple

import numpy as np

from assay.stats.arrays import FloatArray, IndexArray

WINDOWS = (4, 7, 14)
"""The numbers of days whose rate is compared with the one before."""
REFERENCE_DAYS, LEAST_REFERENCE_DAYS = 56, 28
QUARTER_DAYS = 92
FALSE_ALARMS = 0.25
"""How many false alarms are expected in a quarter at most, unless somebody asks for another number."""
LEAST_PERMUTATIONS, MOST_PERMUTATIONS = 2999, 59_999
_SCREEN = 2.0
"""A window that lies fewer standard errors from the reference is not tested, which raises no alarm."""


class DayAlarm(NamedTuple):
    """The rate of a window that ends on day `day` differs from the reference: `value` from `before`, p-value `p`.

    `bound` is the value from which on the window would have been an alarm.
    """

    day: int
    window: int
    value: float
    before: float
    bound: float
    p: float


_CHANGE_QUANTILE = -2 * log(1 - sqrt(0.95))
_FEWEST_DAYS_OF_INTERVAL = 4


class LevelShift(NamedTuple):
    """The first day of the new level and the rates on both sides of it."""

    day: int
    before: float
    after: float


def find_day_alarm(
    totals: FloatArray, sizes: FloatArray, day: int, direction: int, false_alarms: float, seed: int
) -> DayAlarm | None:
    """Return the alarm of a day with answers, that of the shortest window, None if there is none.

    `totals` and `sizes` have shape (days,): sum and number (or weights) of the values of each day, 0 for a day without
    any; the position modulo 7 is the weekday. `direction` is 1 where a rise is bad, −1 where a fall is, 0 for both.
    Without a change, the expected number of days with an alarm in a quarter of 92 days is at most `false_alarms`.
    """
    for window in WINDOWS:
        alarm = compare_window(totals, sizes, day, window, direction, false_alarms, seed)
        if alarm is not None:
            return alarm
    return None


def compare_window(
    totals: FloatArray, sizes: FloatArray, day: int, window: int, direction: int, false_alarms: float, seed: int
) -> DayAlarm | None:
    """Return the alarm of one window that ends on a day, None if there is none; see `find_day_alarm`."""
    level = false_alarms / QUARTER_DAYS / len(WINDOWS)
    first = day - window + 1
    start = max(0, first - REFERENCE_DAYS)
    if first - start < LEAST_REFERENCE_DAYS:
        return None
    days = np.arange(start, day + 1)
    total, size = totals[start : day + 1], sizes[start : day + 1]
    in_window = days >= first
    if size[in_window].sum() <= 0 or np.count_nonzero(size[~in_window]) < LEAST_REFERENCE_DAYS // 2:
        return None
    value = float(total[in_window].sum() / size[in_window].sum())
    before = float(total[~in_window].sum() / size[~in_window].sum())
    difference = value - before
    if direction * difference < 0 or difference == 0:
        return None
    error = _standard_error(total, size, in_window, before)
    if abs(difference) < _SCREEN * error:
        return None
    number = choose_permutations(level)
    draws = _permute_within_weekdays(total, size, in_window, days % 7, _make_generator(seed, day, window), number)
    if direction == 0:
        extreme, threshold = np.abs(draws), abs(difference)
    else:
        extreme, threshold = direction * draws, direction * difference
    p = (1 + np.count_nonzero(extreme >= threshold - 1e-12 * max(1.0, abs(before)))) / (1 + len(draws))
    if p > level:
        return None
    sign = 1.0 if difference > 0 else -1.0
    bound = before + sign * float(np.sort(extreme)[-max(1, int(level * (1 + len(draws))))])
    return DayAlarm(day, window, value, before, bound, float(p))


def choose_permutations(level: float) -> int:
    """Return how many permutations tell whether a p-value is at most a level.

    >>> choose_permutations(0.0009)
    4445
    """
    return min(MOST_PERMUTATIONS, max(LEAST_PERMUTATIONS, ceil(4 / level)))


def find_first_watched_day(sizes: FloatArray, first_day: int, last_day: int) -> int | None:
    """Return the first day from `first_day` to `last_day` on which a change could be found, None if there is none.

    It takes 28 days with values: with fewer, exchanging days of a weekday gives too few orders for a small p value.

    >>> find_first_watched_day(np.array([0.0] * 70 + [5.0] * 40), 70, 109)
    97
    """
    for day in range(max(0, first_day), last_day + 1):
        start = max(0, day + 1 - REFERENCE_DAYS)
        if sizes[day] > 0 and np.count_nonzero(sizes[start : day + 1]) >= LEAST_REFERENCE_DAYS:
            return day
    return None


def _make_generator(seed: int, day: int, window: int) -> np.random.Generator:
    return np.random.default_rng([seed, day, window])


def _standard_error(total: FloatArray, size: FloatArray, in_window: np.typing.NDArray[np.bool_], mean: float) -> float:
    """Return the standard error of the difference, from the spread of the reference between days."""
    residuals = (total - mean * size)[~in_window]
    reference, window = float(size[~in_window].sum()), float(size[in_window].sum())
    variance = float((residuals**2).sum()) / max(1e-300, reference)
    return sqrt(variance * (1 / reference + 1 / window))


def _permute_within_weekdays(
    total: FloatArray,
    size: FloatArray,
    in_window: np.typing.NDArray[np.bool_],
    weekdays: IndexArray,
    generator: np.random.Generator,
    number: int,
) -> FloatArray:
    """Return the differences (window minus reference) when days of the same weekday change places at random."""
    window_total, window_size = np.zeros(number), np.zeros(number)
    for weekday in np.unique(weekdays[in_window]):
        rows = np.flatnonzero(weekdays == weekday)
        taken = int(np.count_nonzero(in_window[rows]))
        order = np.argsort(generator.random((number, len(rows))), axis=1)[:, :taken]
        window_total += total[rows][order].sum(axis=1)
        window_size += size[rows][order].sum(axis=1)
    rest_total, rest_size = float(total.sum()) - window_total, float(size.sum()) - window_size
    defined = (window_size > 0) & (rest_size > 0)
    differences: FloatArray = np.zeros(number)
    np.divide(window_total, window_size, out=differences, where=defined)
    differences -= np.divide(rest_total, rest_size, out=np.zeros(number), where=defined)
    differences[~defined] = np.inf  # counts against an alarm
    return differences


def find_change_point(totals: FloatArray, sizes: FloatArray, first: int, last: int) -> LevelShift | None:
    """Return the day in (`first`, `last`] that best splits the days from `first` to `last` into two levels.

    Least squares of the daily rates, weighted by their sizes; None for fewer than two days with values.

    >>> find_change_point(np.array([1.0, 1.0, 5.0, 5.0]), np.full(4, 10.0), 0, 3)
    LevelShift(day=2, before=0.1, after=0.5)
    """
    best: LevelShift | None = None
    largest = -1.0
    all_total, all_size = float(totals[first : last + 1].sum()), float(sizes[first : last + 1].sum())
    total = size = 0.0
    for day in range(first + 1, last + 1):
        total, size = total + float(totals[day - 1]), size + float(sizes[day - 1])
        rest = all_size - size
        if size <= 0 or rest <= 0 or sizes[day] <= 0:
            continue
        before, after = total / size, (all_total - total) / rest
        gain = size * rest / all_size * (after - before) ** 2
        if gain > largest:
            best, largest = LevelShift(day, before, after), gain
    return best


def find_change_interval(totals: FloatArray, sizes: FloatArray, first: int, last: int) -> tuple[int, int] | None:
    """Return the first and the last day on which the change between `first` and `last` may lie, with 95% confidence.

    Those are the days that split the others nearly as well as the best one: by no more than the 95% quantile of the
    likelihood ratio of a change point, whose distribution is (1 - exp(-x / 2))². The spread is that between days. None
    for fewer than four days with values. Source: Eo and Morley (2015).

    >>> find_change_interval(np.array([1.0, 2.0, 1.0, 7.0, 8.0, 7.0]), np.full(6, 10.0), 0, 5)
    (3, 3)
    """
    best = find_change_point(totals, sizes, first, last)
    days = [day for day in range(first, last + 1) if sizes[day] > 0]
    if best is None or len(days) < _FEWEST_DAYS_OF_INTERVAL:
        return None
    rates = {day: float(totals[day] / sizes[day]) for day in days}
    losses: dict[int, float] = {}
    for day in days[1:]:
        before, after = [other for other in days if other < day], [other for other in days if other >= day]
        losses[day] = _sum_of_squares(before, rates, sizes) + _sum_of_squares(after, rates, sizes)
    least = losses[best.day]
    variance = least / (len(days) - 2)
    near = [day for day, loss in losses.items() if loss - least <= _CHANGE_QUANTILE * variance]
    return min(near), max(near)


def _sum_of_squares(days: list[int], rates: dict[int, float], sizes: FloatArray) -> float:
    """Return the weighted squares of the distances of the rates of some days from their mean."""
    weight = fsum(float(sizes[day]) for day in days)
    mean = fsum(float(sizes[day]) * rates[day] for day in days) / weight
    return fsum(float(sizes[day]) * (rates[day] - mean) ** 2 for day in days)
