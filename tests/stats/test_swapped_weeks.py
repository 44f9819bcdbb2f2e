"""The test of two weeks by swapping users: it holds its level where users are alike, and finds what changed."""

from __future__ import annotations

import numpy as np
import pytest

from assay.stats import swapped_weeks
from assay.stats.arrays import FloatArray
from assay.stats.swapped_weeks import compare_swapped_weeks


def draw_weeks(generator: np.random.Generator, users: int, rate: float, effect: float) -> tuple[FloatArray, FloatArray]:
    """Draw 300 answers a week of users with very unequal shares, whose own rates differ around one."""
    shares = generator.pareto(1.2, users) + 0.05
    rates = generator.beta(2 * rate, 2 * (1 - rate), users)
    sizes = np.array([generator.multinomial(300, shares / shares.sum()) for _ in range(2)])
    totals = generator.binomial(sizes, np.clip([rates, rates + effect], 0, 1))
    return totals.astype(np.float64), sizes.astype(np.float64)


@pytest.mark.slow
@pytest.mark.parametrize(("users", "rate"), [(20, 0.1), (60, 0.5), (400, 0.01)])
def test_without_a_change_the_level_is_kept(users: int, rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swapped_weeks, "SWAPS", 199)
    generator = np.random.default_rng(7)
    p_values = [compare_swapped_weeks(*draw_weeks(generator, users, rate, 0.0), seed) for seed in range(200)]
    assert np.mean([p <= 0.05 for p in p_values]) <= 0.09  # 5% and two standard errors and a half


def test_a_change_is_found_and_the_same_seed_gives_the_same_p() -> None:
    weeks = draw_weeks(np.random.default_rng(1), 60, 0.1, 0.2)
    assert compare_swapped_weeks(*weeks) < 0.01
    assert compare_swapped_weeks(*weeks, 3) == compare_swapped_weeks(*weeks, 3)


def test_one_user_alone_shows_nothing_and_users_of_one_week_count() -> None:
    alone = np.array([[0.0, 0.0], [9.0, 0.0]]), np.array([[10.0, 0.0], [10.0, 0.0]])
    assert compare_swapped_weeks(*alone) == 1.0
    totals, sizes = np.zeros((2, 40)), np.zeros((2, 40))
    sizes[0, :20] = sizes[1, 20:] = 5
    totals[1, 20:] = 4
    assert compare_swapped_weeks(totals, sizes) < 0.01
