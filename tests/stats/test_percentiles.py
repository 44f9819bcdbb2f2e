"""Nearest-rank percentiles and their order-statistics intervals."""

from __future__ import annotations

from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.intervals import compute_percentile, estimate_percentile_interval


@pytest.mark.parametrize(("p", "expected"), [(0.1, 15), (5, 15), (30, 20), (40, 20), (50, 35), (95, 50), (100, 50)])
def test_a_percentile_is_the_value_at_the_nearest_rank(p: float, expected: float) -> None:
    """Index ceil(p/100·5)−1 of 15, 20, 35, 40, 50."""
    assert expected == compute_percentile([50, 15, 40, 20, 35], p)


def test_a_rank_that_is_a_whole_number_is_not_pushed_up_by_rounding() -> None:
    """0.55·100 and 99.9·10 are not whole in binary floating point; the ranks are 55 and 999."""
    assert compute_percentile(range(1, 101), 55) == 55
    assert compute_percentile(range(1, 1001), 99.9) == 999


@pytest.mark.parametrize("p", [0, -1, 100.1])
def test_percentiles_outside_their_range_are_refused(p: float) -> None:
    """Percentile 0 would read index −1, the largest value."""
    with pytest.raises(ValueError, match="percentile must lie"):
        compute_percentile([1, 2], p)


def test_no_values_have_no_percentile() -> None:
    assert compute_percentile([], 50) is None
    assert estimate_percentile_interval([], 50) is None


@pytest.mark.parametrize("p", [0, 100])
def test_the_ends_of_the_sample_have_no_interval(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        estimate_percentile_interval([1, 2, 3], p)


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        compute_percentile([1.0, float("nan")], 50)


def test_p95_needs_twenty_values() -> None:
    assert estimate_percentile_interval(range(19), 95) is None
    assert estimate_percentile_interval(range(20), 95) is not None


def test_the_interval_of_a_median_takes_the_ranks_of_the_binomial() -> None:
    """n = 10, p = ½: P(X ≤ 1) = 11/1024 ≤ 2.5% < P(X ≤ 2) = 56/1024, so ranks 2 and 9; they cover 97.9%."""
    assert (2.0, 9.0, "order statistics", "") == estimate_percentile_interval(range(1, 11), 50)


def test_an_interval_that_cannot_reach_its_confidence_says_what_it_covers() -> None:
    """p95 of 41: the largest value stays below it in .95^41 = 12.2% of samples, so no interval reaches 95%.

    The lower rank is 36: P(X ≤ 35) = 1.5% ≤ 2.5% < P(X ≤ 36); ranks 36 to 41 cover 1 − .122 − .015 = 86%.
    """
    bounds = estimate_percentile_interval(range(1, 42), 95)
    assert bounds is not None
    below = [sum(comb(41, i) * 0.95**i * 0.05 ** (41 - i) for i in range(k + 1)) for k in range(42)]
    assert below[35] <= 0.025 < below[36]
    assert (36.0, 41.0) == bounds[:2]
    assert (
        bounds.note
        == f"n = 41 is too few for 95%: covers {below[40] - below[35]:.0%}"
        == ("n = 41 is too few for 95%: covers 86%")
    )


@pytest.mark.slow
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=200), st.integers(1, 99), st.randoms(use_true_random=False))
def test_intervals_hold_the_percentile_and_ignore_order(values: list[float], p: int, random: Random) -> None:
    bounds, value = estimate_percentile_interval(values, p), compute_percentile(values, p)
    assert value in values
    if bounds is not None:
        assert value is not None
        assert bounds.low <= value <= bounds.high
    random.shuffle(values)
    assert str((bounds, value)) == str((estimate_percentile_interval(values, p), compute_percentile(values, p)))


def test_negative_zero_is_zero_wherever_it_stands() -> None:
    """Sorting leaves 0.0 and −0.0 as they came; the printed percentile may not depend on it."""
    assert "0.0" == str(compute_percentile([0.0, -0.0], 50)) == str(compute_percentile([-0.0, 0.0], 50))
