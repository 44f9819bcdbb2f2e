"""What follows an alert: a level that lasts, one that comes back, and one that changes further."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.monitor import SETTLING_DAYS, World, follow_course, follow_rate

from assay.stats.arrays import BoolArray, FloatArray
from assay.stats.change_alarms import FALSE_ALARMS, WINDOWS, DayAlarm, compare_window
from assay.stats.level_changes import LevelEpisode, follow_levels

WORLD = World("course", per_week=700, rate=0.06, users=120, overdispersion=0.03, activity=0.4, seasonal=True)


def draw(rates: list[tuple[int, float]], seed: int, number: int = 90) -> tuple[FloatArray, FloatArray]:
    generator = np.random.default_rng(seed)
    levels = np.concatenate([np.full(days, rate) for days, rate in rates])
    sizes = np.full(len(levels), float(number))
    return generator.binomial(number, levels).astype(float), sizes


def follow_mean(totals: FloatArray, sizes: FloatArray, direction: int) -> list[LevelEpisode]:
    def find_alarm(day: int, usable: BoolArray) -> tuple[DayAlarm, FloatArray] | None:
        for window in WINDOWS:
            alarm = compare_window(totals * usable, sizes * usable, day, window, direction, FALSE_ALARMS, 0)
            if alarm is not None:
                return alarm, totals
        return None

    return follow_levels(sizes, SETTLING_DAYS, len(sizes) - 1, direction, FALSE_ALARMS, find_alarm, "scale")


def test_a_metric_that_comes_back_is_said_to_be_back_with_its_days_and_its_level() -> None:
    totals, sizes = draw([(SETTLING_DAYS, 0.1), (14, 0.3), (25, 0.1)], 1)
    (episode,) = follow_rate(totals, sizes, 1)
    assert episode.ended is not None and episode.eased is None
    assert episode.ended.earliest <= SETTLING_DAYS + 14 <= episode.ended.latest
    assert episode.ended.after == pytest.approx(0.1, abs=0.03)


def test_a_metric_that_stays_where_it_went_is_not_back() -> None:
    totals, sizes = draw([(SETTLING_DAYS, 0.1), (60, 0.3)], 2)
    (episode,) = follow_rate(totals, sizes, 1)
    assert episode.ended is None and episode.eased is None


def test_a_second_rise_while_an_alert_lasts_is_a_change_of_its_own() -> None:
    totals, sizes = draw([(SETTLING_DAYS, 0.05), (16, 0.2), (20, 0.45)], 3)
    first, second = follow_rate(totals, sizes, 1)
    assert not first.is_further and second.is_further
    assert second.step.earliest <= SETTLING_DAYS + 16 <= second.step.latest
    assert second.step.before == pytest.approx(0.2, abs=0.06)


def test_a_step_half_the_way_back_is_no_end_and_a_whole_one_after_it_is() -> None:
    totals, sizes = draw([(SETTLING_DAYS, 0.05), (20, 0.5), (25, 0.25)], 4)
    (episode,) = follow_rate(totals, sizes, 1)
    assert episode.ended is None and episode.eased is not None
    assert episode.eased.after == pytest.approx(0.25, abs=0.04)
    totals, sizes = draw([(SETTLING_DAYS, 0.05), (20, 0.5), (25, 0.25), (25, 0.05)], 4)
    (episode,) = follow_rate(totals, sizes, 1)
    assert episode.ended is not None and episode.eased is None


def test_the_days_of_a_change_that_is_over_are_no_comparison_for_the_next() -> None:
    totals, sizes = draw([(SETTLING_DAYS, 0.08), (18, 0.35), (15, 0.08), (18, 0.3)], 5)
    first, second = follow_rate(totals, sizes, 1)
    assert first.ended is not None and not second.is_further
    assert second.step.before == pytest.approx(0.08, abs=0.03)
    assert second.step.earliest <= SETTLING_DAYS + 33 <= second.step.latest


def test_both_changes_of_one_rise_and_fall_end_where_the_metric_is_back() -> None:
    totals, sizes = draw([(SETTLING_DAYS, 0.06), (16, 0.25), (16, 0.55), (25, 0.06)], 6)
    episodes = follow_rate(totals, sizes, 1)
    assert [row.is_further for row in episodes] == [False, True]
    assert all(row.ended is not None for row in episodes)


def test_means_without_an_upper_end_come_back_too() -> None:
    generator = np.random.default_rng(7)
    levels = np.concatenate([np.full(SETTLING_DAYS, 800.0), np.full(14, 1500.0), np.full(20, 800.0)])
    sizes = np.full(len(levels), 60.0)
    totals = levels * sizes * (1 + generator.normal(size=len(levels)) * 0.05)
    (episode,) = follow_mean(totals, sizes, 1)
    assert episode.ended is not None and episode.ended.day == SETTLING_DAYS + 14


@pytest.mark.slow
def test_a_level_that_lasts_seldom_raises_a_further_alert_or_ends() -> None:
    row = follow_course(WORLD, ((92, 0.25),), 30)
    assert row.alerts - row.further == 30
    assert row.further <= 14 and row.ended + row.eased <= 14  # 0.25 a quarter, and three Monte Carlo errors


@pytest.mark.slow
def test_nine_of_ten_ends_are_found_and_dated() -> None:
    row = follow_course(WORLD, ((14, 0.28), (28, 0.06)), 20)
    assert row.ended >= 15 and row.dated >= 0.75 * row.ended
