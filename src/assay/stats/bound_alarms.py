"""Alarms that a daily rate lies beyond a stated bound, from the first day on: a test by betting.

While the expected rate of every day is at most the bound, given the days before it, no bet on a higher one earns
anything, whatever the days before looked like and however the answers of a day depend on one another. A capital of 1
that has become C is therefore evidence against the bound, and exceeds 1/α at any time with probability α at most
(Ville). Each calendar quarter begins with a new capital, which is shared among bets that begin in different weeks, so
that a change late in a quarter is found, too. Source: Waudby-Smith and Ramdas (2024), Shafer (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assay.stats.arrays import FloatArray

STAKES = (0.2, 0.5, 0.9)
"""Shares of the largest bet that can never lose more than the capital; the capital of each start is split equally."""
START_EVERY, MOST_QUARTER_DAYS = 7, 92
MOST_LEVEL = 0.5
"""The largest chance of a false alarm in a quarter for which a capital is still evidence."""


class BoundAlarm(NamedTuple):
    """On day `day` the capital reached 1/α: since day `since`, when the best bet began, the rate was `value`.

    `p` is the inverse of the capital: an upper limit of the p value that holds however often one looks.
    """

    day: int
    since: int
    value: float
    p: float


def find_bound_alarms(
    totals: FloatArray,
    sizes: FloatArray,
    bound: float,
    direction: int,
    quarters: Sequence[int],
    false_alarms: float,
) -> list[BoundAlarm]:
    """Return the days on which a rate in [0, 1] is significantly beyond a bound, at most one alarm for each quarter.

    `totals` and `sizes` have shape (days,). `direction` is 1 where the rate should be at most the bound, −1 where it
    should be at least that. `quarters` are the first days of the quarters, ascending, the first of them 0 or earlier.
    The expected number of alarms in a quarter is at most `false_alarms` while each day's expected rate keeps the bound.

    >>> sizes = np.full(20, 100.0)
    >>> [alarm.day for alarm in find_bound_alarms(0.04 * sizes, sizes, 0.05, 1, [0], 0.25)]
    []
    >>> [alarm.day for alarm in find_bound_alarms(0.15 * sizes, sizes, 0.05, 1, [0], 0.25)]
    [4]
    """
    level = min(false_alarms, MOST_LEVEL)
    ends = [*quarters[1:], len(totals)]
    alarms = (
        _bet_through_quarter(totals, sizes, bound, direction, first, min(end, len(totals)), level)
        for first, end in zip(quarters, ends, strict=True)
    )
    return [alarm for alarm in alarms if alarm is not None]


def _bet_through_quarter(
    totals: FloatArray, sizes: FloatArray, bound: float, direction: int, first: int, end: int, level: float
) -> BoundAlarm | None:
    limit = bound if direction > 0 else 1.0 - bound
    # The shares of the starts may not depend on how much of the quarter has passed: those to come keep theirs.
    starts = np.arange(first, first + MOST_QUARTER_DAYS, START_EVERY)
    capital = np.full((len(starts), len(STAKES)), 1.0 / (len(starts) * len(STAKES)))
    stakes = np.array(STAKES) / limit if limit > 0 else np.full(len(STAKES), np.inf)
    for day in range(max(0, first), end):
        if sizes[day] <= 0:
            continue
        rate = min(1.0, max(0.0, float(totals[day] / sizes[day])))
        surplus = (rate if direction > 0 else 1.0 - rate) - limit
        if limit <= 0:  # nothing at all is allowed
            if surplus > 0:
                return BoundAlarm(day, day, rate, 0.0)
            continue
        capital[starts <= day] *= np.maximum(0.0, 1.0 + stakes * surplus)
        whole = float(capital.sum())
        if whole >= 1.0 / level:
            since = max(0, int(starts[int(np.argmax(capital.sum(axis=1)))]))
            since += int(np.argmax(sizes[since : day + 1] > 0))  # the first day with values
            value = float(totals[since : day + 1].sum() / sizes[since : day + 1].sum())
            return BoundAlarm(day, since, value, min(1.0, 1.0 / whole))
    return None
