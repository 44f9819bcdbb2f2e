"""How large a change of a daily rate the alarms of `change_alarms` would find within a week, in nine of ten cases.

The week is simulated: its days are drawn around the level of the weeks before, as far as that level is known, with the
spread that those days showed, and every window of every day of it is tested as the alarms test it. A formula for one
window misses what costs most: the days of the change belong to what is permuted, and a higher rate spreads more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.stats.arrays import BoolArray, FloatArray
from assay.stats.change_alarms import (
    FALSE_ALARMS,
    LEAST_REFERENCE_DAYS,
    QUARTER_DAYS,
    REFERENCE_DAYS,
    WINDOWS,
    choose_permutations,
)
from assay.stats.distributions import compute_normal_quantile

WEEK = 7
POWER = 0.9
_DRAWS, _STEP, _HALVINGS = 400, 1.25, 3
_TESTS = ((6, 4), (6, 7), (6, 14), (5, 4), (5, 7), (4, 4), (3, 4))
"""The day of the week (from 0) and the window of the tests that are simulated; the others hardly ever are the first."""
_SEED = 20261129
_LEAST_CHANGE = 1e-4
"""The smallest change that is looked for, as a share of the range: rates that hardly vary would show smaller ones."""
_LEAST_SPREAD = 1e-9
_ROUNDING = 1e-10  # relative differences of daily rates up to this come from adding their values


class _Days(NamedTuple):
    """What is known of the days before: shares (or means, if `is_open`) and their spread.

    `spread` is the variance of a day's rate times its size, as a multiple of that of independent answers for a share.
    `weekdays` are the differences of the weekdays from `rate`, drawn towards 0 by what chance alone would give, and
    `weekday_errors` their standard errors; both have shape (7,).
    """

    totals: FloatArray
    sizes: FloatArray
    rate: float
    spread: float
    degrees: int
    weekdays: FloatArray
    weekday_errors: FloatArray
    is_open: bool


def find_detectable_change(
    totals: FloatArray,
    sizes: FloatArray,
    direction: int,
    low: float | None = None,
    high: float | None = None,
    false_alarms: float = FALSE_ALARMS,
) -> float | None:
    """Return the smallest change of the rate, from the day after the last on, that is found within a week at 0.9.

    `totals` and `sizes` have shape (days,), `direction` is that of the alarms (0 is read as a rise), `low` and `high`
    are the range of single values (None: open). At least a ten-thousandth of the range. None with fewer than 28 days
    with values, for values without a range that are the same every day, and where no change within the range would be
    found that often.

    >>> sizes = np.full(70, 50.0)
    >>> change = find_detectable_change(0.1 * sizes + np.tile([2.0, -2.0], 35), sizes, 1, 0.0, 1.0)
    >>> 0.06 < change < 0.12
    True
    """
    first = max(0, len(sizes) - REFERENCE_DAYS - max(WINDOWS))
    if np.count_nonzero(sizes[-REFERENCE_DAYS:]) < LEAST_REFERENCE_DAYS:
        return None
    is_open = low is None or high is None
    width = 1.0 if low is None or high is None else high - low
    values = totals[first:].copy()
    if low is not None and high is not None:
        values = (values - low * sizes[first:]) / width
    if direction < 0:
        values = -values if is_open else sizes[first:] - values
    days = _describe_days(values, sizes[first:], is_open)
    change = _search_change(days, (len(sizes) - first) % WEEK, direction, false_alarms)
    return None if change is None else change * width


def _search_change(days: _Days, weekday: int, direction: int, false_alarms: float) -> float | None:
    """Return the smallest change that is found often enough, to three hundredths of itself; None if there is none."""
    most, size = _find_most(days), float(days.sizes[-REFERENCE_DAYS:].mean()) * WEEK
    if most <= 0:
        return None

    def is_found(change: float) -> bool:
        return _find_power(days, change, weekday, direction, false_alarms) >= POWER

    unit = 1.0 if days.is_open else max(days.rate * (1 - days.rate), 1 / size)
    floor = 0.0 if days.is_open else _LEAST_CHANGE
    change = min(most, max(floor, 5 * float(np.sqrt(days.spread * unit / size))))
    if is_found(change):
        while change / _STEP > floor and is_found(change / _STEP):
            change /= _STEP
        if change <= floor * _STEP:
            return change
    else:
        while change < most and not is_found(change := min(most, change * _STEP)):
            pass
        if change == most and not is_found(most):
            return None
    least = change / _STEP
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(least * change))
        if is_found(middle):
            change = middle
        else:
            least = middle
    return change


def _describe_days(totals: FloatArray, sizes: FloatArray, is_open: bool) -> _Days:
    last = slice(max(0, len(sizes) - REFERENCE_DAYS), None)
    total, size, weekday = totals[last], sizes[last], np.arange(len(sizes))[last] % WEEK
    whole = float(size.sum())
    rate = float(total.sum()) / whole
    used = size > 0
    by_weekday = np.bincount(weekday, weights=size, minlength=WEEK)
    shown = by_weekday > 0
    differences = np.zeros(WEEK)
    differences[shown] = (np.bincount(weekday, weights=total, minlength=WEEK)[shown] / by_weekday[shown]) - rate
    residuals = (total - (rate + differences[weekday]) * size)[used]
    degrees = int(used.sum()) - int(shown.sum())
    variance = float((residuals**2 / size[used]).sum()) / degrees
    if variance <= (_ROUNDING * rate) ** 2 * float(size[used].mean()):
        variance = 0.0
    unit = 1.0 if is_open else rate * (1 - rate)
    # James and Stein: what chance alone lets weekdays differ is taken off their differences.
    between = float((by_weekday * differences**2).sum())
    kept = max(0.0, 1 - max(0, int(shown.sum()) - 3) * variance / between) if between > 0 else 0.0
    errors = np.zeros(WEEK)
    errors[shown] = np.sqrt(kept * variance / by_weekday[shown])
    spread = variance / unit if unit > 0 else 1.0
    if not is_open:
        spread = max(spread, _LEAST_SPREAD)
    return _Days(totals, sizes, rate, spread, degrees, kept * differences, errors, is_open)


def _find_most(days: _Days) -> float:
    """Return the largest change that is looked at: up to the end of the range, or thirty standard deviations."""
    if not days.is_open:
        return 1.0 - days.rate
    smallest = float(np.median(days.sizes[days.sizes > 0]))
    return 30 * float(np.sqrt(days.spread / smallest))


def _find_power(days: _Days, change: float, weekday: int, direction: int, false_alarms: float) -> float:
    """Return the share of simulated weeks in which a change raises an alarm, or one that is large enough.

    The same draws serve every change.
    """
    totals, sizes = _draw_weeks(days, change, weekday, np.random.default_rng(_SEED))
    is_found: BoolArray = np.zeros(_DRAWS, dtype=np.bool_)
    for day, window in _TESTS:
        if is_found.mean() >= POWER:
            break
        rows = np.flatnonzero(~is_found)
        week = totals[rows, : day + 1], sizes[rows, : day + 1]
        is_found[rows] = _test_window(days, *week, window, direction, false_alarms)
    return float(is_found.mean())


def _draw_weeks(
    days: _Days, change: float, weekday: int, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return totals and sizes of the days of the week after the last day, each of shape (draws, 7)."""
    whole = float(days.sizes[-REFERENCE_DAYS:].sum())
    spread = days.spread * days.degrees / generator.chisquare(days.degrees, _DRAWS)[:, None]
    if days.is_open:
        level = days.rate + generator.normal(size=(_DRAWS, 1)) * np.sqrt(spread / whole)
    else:
        events = days.rate * whole
        level = generator.beta((events + 0.5) / spread, (whole - events + 0.5) / spread)
    totals, sizes = np.zeros((_DRAWS, WEEK)), np.zeros((_DRAWS, WEEK))
    for number in range(WEEK):
        position = (weekday + number) % WEEK
        past = days.sizes[-REFERENCE_DAYS:][np.arange(len(days.sizes))[-REFERENCE_DAYS:] % WEEK == position]
        size = generator.choice(past, size=_DRAWS)
        offset = days.weekdays[position] + generator.normal(size=_DRAWS) * days.weekday_errors[position]
        rate = level[:, 0] + offset + change
        sizes[:, number] = size
        if days.is_open:
            totals[:, number] = rate * size + generator.normal(size=_DRAWS) * np.sqrt(spread[:, 0] * size)
        else:
            totals[:, number] = _draw_events(np.clip(rate, 0.0, 1.0), size, spread[:, 0], generator)
    return totals, sizes


def _draw_events(rate: FloatArray, size: FloatArray, spread: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return sums of shares whose variance is `spread` times that of independent answers (one at most)."""
    likeness = np.clip((spread - 1) / np.maximum(size - 1, 1.0), 0.0, 0.99)
    strength = 1 / np.maximum(likeness, 1e-9) - 1
    of_day = np.where(
        likeness > 0,
        generator.beta(np.maximum(rate * strength, 1e-6), np.maximum((1 - rate) * strength, 1e-6)),
        rate,
    )
    number = np.ceil(size).astype(np.int64)
    share = generator.binomial(number, of_day) / np.maximum(number, 1)
    shrunk = rate + np.sqrt(np.minimum(spread, 1.0)) * (share - rate)
    events: FloatArray = np.clip(shrunk, 0.0, 1.0) * size
    return events


def _test_window(
    days: _Days, totals: FloatArray, sizes: FloatArray, window: int, direction: int, false_alarms: float
) -> BoolArray:
    """Return in which weeks the window that ends on their last day would be an alarm; see `compare_window`.

    The permutations are not drawn: their distribution is taken to be a gamma distribution with its first three moments
    (Pearson's type III), and no p-value is smaller than the share of orders that tie with the one observed.
    """
    level = false_alarms / QUARTER_DAYS / len(WINDOWS)
    draws, length = len(totals), totals.shape[1]
    end = len(days.sizes) + length
    first = end - window
    start = max(0, first - REFERENCE_DAYS)
    nothing: BoolArray = np.zeros(draws, dtype=np.bool_)
    if first - start < LEAST_REFERENCE_DAYS or first < 0:
        return nothing
    if np.count_nonzero(days.sizes[start:first]) < LEAST_REFERENCE_DAYS // 2:
        return nothing
    before = len(days.sizes) - start
    total = np.hstack((np.broadcast_to(days.totals[start:], (draws, before)), totals))
    size = np.hstack((np.broadcast_to(days.sizes[start:], (draws, before)), sizes))
    scores = total - total.sum(axis=1, keepdims=True) / size.sum(axis=1, keepdims=True) * size
    in_window = np.arange(start, end) >= first
    weekdays = np.arange(start, end) % WEEK
    distance, skew = _standardise(scores, in_window, weekdays)
    number = choose_permutations(level)
    # An alarm allows this many of the permutations to be as extreme; 0.67: the median of a Poisson variable.
    reached = (max(0, int(level * (1 + number)) - 1) + 0.67) / number
    sides = 2 if direction == 0 else 1
    is_alarm: BoolArray = distance >= _find_gamma_quantile(1 - reached / sides, skew)
    rows = np.flatnonzero(is_alarm)
    is_alarm[rows] = _count_ties(scores[rows], in_window, weekdays) * sides <= reached
    return is_alarm


def _standardise(
    scores: FloatArray, in_window: BoolArray, weekdays: np.typing.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Return how many standard deviations a window's sum is from its mean, and the skewness of its distribution.

    Both over the orders in which days of a weekday change places: sums of draws without replacement.
    """
    of_weekday = (weekdays[:, None] == np.arange(WEEK)).astype(np.float64)
    number = np.maximum(of_weekday.sum(axis=0), 1.0)
    taken = (of_weekday * in_window[:, None]).sum(axis=0)
    rest = number - taken
    means = scores @ of_weekday / number
    centred = scores - means @ of_weekday.T
    squares = centred**2
    shares = taken * rest / np.maximum(number - 1, 1.0)
    variance = (squares @ of_weekday / number) @ shares
    shares = shares * (rest - taken) / np.maximum(number - 2, 1.0) * (number > 2)
    third = ((squares * centred) @ of_weekday / number) @ shares
    deviation = np.sqrt(np.maximum(variance, 1e-100))
    distance: FloatArray = centred[:, in_window].sum(axis=1) / deviation
    distance[variance <= 0] = 0.0
    return distance, np.clip(third / deviation**3, -2.0, 2.0)


def _count_ties(scores: FloatArray, in_window: BoolArray, weekdays: np.typing.NDArray[np.int64]) -> FloatArray:
    """Return the share of orders in which the window's days of each weekday are as large as those observed."""
    ties = np.ones(len(scores))
    for weekday in np.unique(weekdays[in_window]):
        rows = weekdays == weekday
        values, number, taken = scores[:, rows], int(rows.sum()), int((rows & in_window).sum())
        least = values[:, in_window[rows]].min(axis=1)
        as_large = (values >= least[:, None] - 1e-9).sum(axis=1)
        for place in range(taken):
            ties *= (as_large - place) / (number - place)
    return ties


def _find_gamma_quantile(probability: float, skew: FloatArray) -> FloatArray:
    """Return quantiles of standardised gamma distributions of some skewness (Wilson and Hilferty 1931)."""
    normal = compute_normal_quantile(probability)
    part = np.where(np.abs(skew) < 1e-4, 1e-4, skew) / 6
    quantiles: FloatArray = ((part * (normal - part) + 1) ** 3 - 1) / (3 * part)
    return quantiles
