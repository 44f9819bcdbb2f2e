"""Bounds are watched by betting: worked capitals, the budget of false alarms at the bound, and invariance to looks."""

from __future__ import annotations

import numpy as np
import pytest

from assay.stats.bound_alarms import STAKES, find_bound_alarms

SIZES = np.full(92, 200.0)


def test_the_capital_of_a_constant_rate_is_that_worked_by_hand() -> None:
    # 14 starts share the capital. On day 8 (number 7) the second has seen one day, the first eight:
    # each stake s/m earns a factor 1 + s/m × (rate − m) a day; with rate 2m that is 1 + s.
    rate, bound = 0.1, 0.05
    capital, day = 0.0, -1
    while capital < 1 / 0.25:
        day += 1
        grown = [max(0, day - start + 1) for start in range(0, 92, 7)]
        capital = float(np.mean([[(1 + stake) ** days for stake in STAKES] for days in grown]))
    (alarm,) = find_bound_alarms(rate * SIZES, SIZES, bound, 1, [0], 0.25)
    assert (alarm.day, alarm.since) == (day, 0)
    assert alarm.value == pytest.approx(rate)
    assert alarm.p == pytest.approx(1 / capital)


def test_at_the_bound_no_more_alarms_come_than_promised_however_the_days_vary() -> None:
    generator = np.random.default_rng(5)
    count = 0
    for _ in range(400):
        rates = generator.beta(0.5, 9.5, len(SIZES))  # days of very different rates, 0.05 in the mean
        totals = generator.binomial(30, rates).astype(float)
        count += len(find_bound_alarms(totals, np.full(92, 30.0), 0.05, 1, [0], 0.25))
    assert count / 400 <= 0.25 + 2 * 0.025


def test_what_was_seen_on_a_day_does_not_depend_on_the_days_after_it() -> None:
    totals = np.random.default_rng(3).binomial(200, 0.09, 92).astype(float)
    (alarm,) = find_bound_alarms(totals, SIZES, 0.05, 1, [0], 0.25)
    for days in (alarm.day + 1, 50, 91):
        assert find_bound_alarms(totals[:days], SIZES[:days], 0.05, 1, [0], 0.25) == [alarm]
    assert find_bound_alarms(totals[: alarm.day], SIZES[: alarm.day], 0.05, 1, [0], 0.25) == []


def test_each_quarter_begins_again_and_a_lower_bound_is_the_mirror_of_an_upper_one() -> None:
    totals, sizes = 0.1 * np.full(150, 200.0), np.full(150, 200.0)
    alarms = find_bound_alarms(totals, sizes, 0.05, 1, [-30, 62], 0.25)
    assert [alarm.day >= 62 for alarm in alarms] == [False, True]
    mirrored = find_bound_alarms(sizes - totals, sizes, 0.95, -1, [-30, 62], 0.25)
    assert [alarm.day for alarm in mirrored] == [alarm.day for alarm in alarms]
    assert find_bound_alarms(totals, sizes, 0.05, -1, [0], 0.25) == []


def test_a_bound_of_nothing_is_broken_by_one_event_and_days_without_answers_say_nothing() -> None:
    totals = np.zeros(30)
    sizes = np.where(np.arange(30) % 2, 0.0, 50.0)
    assert find_bound_alarms(totals, sizes, 0.0, 1, [0], 0.25) == []
    totals[8] = 1
    (alarm,) = find_bound_alarms(totals, sizes, 0.0, 1, [0], 0.25)
    assert (alarm.day, alarm.p) == (8, 0.0)
