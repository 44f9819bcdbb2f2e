"""A steady trend and a step are told apart: floors of what simulated histories show."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from assay.stats.arrays import FloatArray
from assay.stats.change_points import scan_for_change
from assay.stats.steady_trends import compare_trend_with_step

SLOW = [0.8 - 0.3 * run / 8 for run in range(9)]
STEP = [0.8] * 5 + [0.5] * 4
EARLY = [0.75] * 2 + [0.5] * 8
STAIRS = [0.9] * 4 + [0.65] * 4 + [0.4] * 4


def draw(levels: list[float], cases: int, seed: int) -> FloatArray:
    generator = np.random.default_rng(seed)
    ease = generator.random(cases)
    rows = []
    for level in levels:
        is_steady = generator.random(cases) > 0.15
        rows.append(np.where(is_steady, ease < level, generator.random(cases) < level).astype(float))
    return np.array(rows)


def classify(levels: list[float], cases: int, seed: int) -> str:
    scores = draw(levels, cases, seed)
    change = scan_for_change(scores, np.arange(cases), seed=seed)
    assert change is not None
    trend = compare_trend_with_step(scores, np.arange(cases), change.at, seed=seed)
    assert trend is not None
    return "trend" if trend.is_significant else "open" if trend.is_open else "no trend"


def count(levels: list[float], cases: int = 150, number: int = 15) -> Counter[str]:
    return Counter(classify(levels, cases, seed) for seed in range(number))


@pytest.mark.slow
def test_a_slow_fall_is_a_trend_and_a_slow_rise_too() -> None:
    assert count(SLOW)["trend"] >= 12
    assert count(SLOW[::-1])["trend"] >= 12


@pytest.mark.slow
@pytest.mark.parametrize("levels", [STEP, EARLY, STEP[::-1]])
def test_a_single_step_is_no_trend(levels: list[float]) -> None:
    assert count(levels, cases=80)["trend"] <= 3  # 5% of 15, and three Monte Carlo errors


@pytest.mark.slow
def test_two_large_steps_are_no_trend() -> None:
    assert count(STAIRS, cases=80)["trend"] <= 3


def test_the_slope_and_its_interval_are_those_of_the_cases() -> None:
    scores = draw(SLOW, 400, 3)
    trend = compare_trend_with_step(scores, np.arange(400), 4)
    assert trend is not None
    assert trend.slope == pytest.approx(-0.3 / 8, abs=0.01)
    assert trend.low < trend.slope < trend.high
    twins = compare_trend_with_step(np.hstack((scores, scores)), np.tile(np.arange(400), 2), 4)
    assert twins is not None
    assert twins.low == pytest.approx(trend.low) and twins.high == pytest.approx(trend.high)


def test_few_runs_cannot_tell() -> None:
    assert compare_trend_with_step(draw(SLOW[:4], 50, 1), np.arange(50), 2) is None
    assert compare_trend_with_step(draw(SLOW, 1, 1), np.arange(1), 2) is None
