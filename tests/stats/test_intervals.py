"""Intervals of means: the choice and name of the method, positive width, and coverage."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import fmean

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.intervals import (
    Bounds,
    estimate_mean_interval,
    estimate_one_sided_bound,
    upper_bound_after_no_events,
    upper_bound_of_rate,
    wilson_interval,
)

scores = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_two_values_without_clusters_are_a_rate() -> None:
    assert wilson_interval(30, 41) == estimate_mean_interval([1.0] * 30 + [0.0] * 11, low=0, high=1)
    assert wilson_interval(30, 41) == estimate_mean_interval([1.0] * 30 + [0.0] * 11)


@pytest.mark.parametrize("hits", [0, 1, 39, 40, 41])
def test_rates_near_the_ends_stay_plain_wilson(hits: int) -> None:
    assert wilson_interval(hits, 41) == estimate_mean_interval([1.0] * hits + [0.0] * (41 - hits), low=0, high=1)


def test_a_rate_on_another_range_is_moved_to_it() -> None:
    rate, bounds = wilson_interval(3, 9), estimate_mean_interval([5.0] * 3 + [1.0] * 6, low=1, high=5)
    assert bounds is not None
    assert (1 + 4 * rate.low, 1 + 4 * rate.high, "Wilson", "") == bounds


def test_zeros_and_ones_of_a_count_are_not_taken_for_a_rate() -> None:
    bounds = estimate_mean_interval([0.0, 1.0, 1.0, 0.0], low=0)
    assert bounds is not None
    assert (0.0, "t") == (bounds.low, bounds.method)
    assert bounds.high > 1


def test_unbounded_values_get_student_t() -> None:
    """1, 2, 3, 4: mean 2.5, s/√n = .6454972, t(.975; 3) = 3.182446."""
    bounds = estimate_mean_interval([1, 2, 3, 4])
    assert bounds is not None
    assert (2.5 - 3.182446 * 0.6454972, 2.5 + 3.182446 * 0.6454972) == pytest.approx(bounds[:2], abs=1e-6)


def test_bounded_scores_are_padded_with_one_imaginary_case_at_each_end() -> None:
    """.8, .9, .7 and 0, 1: mean .68, s = .3962323, t(.975; 2) = 4.302653; wider here than t of the three, ±.248."""
    bounds = estimate_mean_interval([0.8, 0.9, 0.7], low=-1, high=2)
    padded = np.array([0.8, 0.9, 0.7, -1.0, 2.0])
    half = 4.302653 * padded.std(ddof=1) / 5**0.5
    assert bounds is not None
    assert (max(-1.0, padded.mean() - half), min(2.0, padded.mean() + half)) == pytest.approx(bounds[:2], abs=1e-5)
    assert bounds.method == "t, padded (conservative)"


def test_padding_never_narrows_an_interval() -> None:
    """Far from the middle of the range the imaginary cases move the centre; the plain t interval stays inside."""
    values = [0.9, 0.95, 0.92, 0.97, 0.93] * 200
    plain, padded = estimate_mean_interval(values), estimate_mean_interval(values, low=0, high=1)
    assert plain is not None
    assert padded is not None
    assert padded.low < plain.low < plain.high <= padded.high


@pytest.mark.parametrize(
    ("values", "note"), [([0.7] * 41, "no spread in 41 scores"), ([0.7], "a single score"), ([1.0], "")]
)
def test_scores_without_spread_never_get_an_interval_of_width_zero(values: list[float], note: str) -> None:
    bounds = estimate_mean_interval(values, low=0, high=1)
    assert bounds is not None
    assert note == bounds.note
    assert bounds.low < values[0] <= bounds.high


def test_equal_scores_are_bounded_by_possible_unseen_scores() -> None:
    """With 41 equal cases at most 1 − .025^(1/41) = 8.6% may differ, at worst by scoring 0 or 1."""
    unseen = 1 - 0.025 ** (1 / 41)
    expected = Bounds(0.7 - 0.7 * unseen, 0.7 + 0.3 * unseen, "zero-event", "no spread in 41 scores")
    bounds = estimate_mean_interval([0.7] * 41, low=0, high=1)
    assert bounds is not None
    assert expected[:2] == pytest.approx(bounds[:2])
    assert expected[2:] == bounds[2:]


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_no_values_one_cluster_and_open_ranges_without_spread_have_no_interval(side: str) -> None:
    for values, clusters, low in (([], None, 0), ([0.1, 0.9], ["a", "a"], 0), ([3.0, 3.0], None, 0)):
        assert estimate_mean_interval(values, clusters=clusters, low=low) is None
        assert (
            estimate_one_sided_bound(values, "lower" if side == "lower" else "upper", clusters=clusters, low=low)
            is None
        )
    assert estimate_mean_interval([1, 3, 1, 3], clusters=[0, 0, 1, 1]) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 1.1])
def test_values_that_cannot_be_scores_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"finite|outside the range"):
        estimate_mean_interval([0.5, value], low=0, high=1)


def test_a_range_needs_two_different_ends_and_every_value_a_cluster() -> None:
    with pytest.raises(ValueError, match="low < high"):
        estimate_mean_interval([1.0], low=1, high=1)
    with pytest.raises(ValueError, match="needs a cluster"):
        estimate_mean_interval([0.2, 0.4], clusters=["a"])


def test_one_sided_bounds_of_rates_are_exact() -> None:
    lower, upper = (
        estimate_one_sided_bound([1.0] * 41, "lower"),
        estimate_one_sided_bound([0.0] * 41, "upper", low=0, high=1),
    )
    assert lower is not None
    assert upper is not None
    assert (0.05 ** (1 / 41), upper_bound_after_no_events(41)) == pytest.approx((lower.value, upper.value))
    mixed = estimate_one_sided_bound([1.0] * 38 + [0.0] * 2, "lower")
    assert mixed is not None
    assert 1 - upper_bound_of_rate(2, 40, 0.95) == pytest.approx(mixed.value)
    assert mixed.method == "Clopper-Pearson"


def test_a_one_sided_bound_is_the_end_of_the_two_sided_interval_with_twice_the_tail() -> None:
    values = [0.2, 0.4, 0.9, 0.7, 0.5]
    both = estimate_mean_interval(values, low=0, high=1, confidence=0.90)
    lower, upper = (
        estimate_one_sided_bound(values, "lower", low=0, high=1),
        estimate_one_sided_bound(values, "upper", low=0, high=1),
    )
    assert both is not None
    assert lower is not None
    assert upper is not None
    assert (both.low, both.high) == pytest.approx((lower.value, upper.value))


@pytest.mark.slow
@given(scores, st.randoms(use_true_random=False))
def test_order_never_changes_a_byte(values: list[float], random: Random) -> None:
    labels = [index % 3 for index in range(len(values))]
    order = list(range(len(values)))
    random.shuffle(order)
    shuffled, names = [values[i] for i in order], [labels[i] for i in order]
    assert estimate_mean_interval(values, low=0, high=1) == estimate_mean_interval(shuffled, low=0, high=1)
    clustered = estimate_mean_interval(values, clusters=labels, low=0, high=1)
    assert clustered == estimate_mean_interval(shuffled, clusters=names, low=0, high=1)
    assert clustered == estimate_mean_interval(shuffled, clusters=np.array(names) * 7 - 3, low=0, high=1)


@pytest.mark.parametrize("high", [1, None])
def test_the_order_of_many_rows_never_changes_a_byte(high: int | None) -> None:
    """Enough values for sums in blocks or vector lanes to show; values of 16 magnitudes, so that rounding would too."""
    generator = np.random.Generator(np.random.PCG64(1))
    values, labels = 10.0 ** -generator.integers(0, 16, 5000) * generator.random(5000), generator.integers(0, 900, 5000)
    once = [estimate_mean_interval(values, clusters=clusters, low=0, high=high) for clusters in (None, labels)]
    for _ in range(5):
        order = generator.permutation(5000)
        for bounds, clusters in zip(once, (None, labels[order]), strict=True):
            assert bounds == estimate_mean_interval(values[order], clusters=clusters, low=0, high=high)


def test_values_whose_squares_overflow_still_get_an_interval() -> None:
    """1, 2, 3 · 10²⁰⁰: mean 2, s/√n = .5773503, t(.975; 2) = 4.302653."""
    bounds = estimate_mean_interval([1e200, 2e200, 3e200])
    assert bounds is not None
    half = 4.302653 * 0.5773503
    assert ((2 - half) * 1e200, (2 + half) * 1e200) == pytest.approx(bounds[:2], rel=1e-6)


@pytest.mark.slow
@given(scores, st.booleans())
def test_intervals_stay_in_the_range_hold_the_mean_and_have_a_width(values: list[float], clustered: bool) -> None:
    labels = [index // 2 for index in range(len(values))] if clustered else None
    bounds = estimate_mean_interval(values, clusters=labels, low=0, high=1)
    if bounds is not None:
        assert 0.0 <= bounds.low <= fmean(values) <= bounds.high <= 1.0
        assert bounds.low < bounds.high


Draw = Callable[[np.random.Generator], npt.NDArray[np.float64]]


def near_one(generator: np.random.Generator) -> npt.NDArray[np.float64]:
    return np.where(generator.random(41) < 0.9, 1.0, generator.random(41))


def nearly_all_one(generator: np.random.Generator) -> npt.NDArray[np.float64]:
    return np.where(generator.random(41) < 0.99, 1.0, generator.random(41))


def rare_zero(generator: np.random.Generator) -> npt.NDArray[np.float64]:
    """Two zeros of 41 on average, missing from one sample in eight, next to scores of 1 and 0.99."""
    return generator.choice(np.array([1.0, 0.99, 0.0]), size=41, p=[0.9, 0.1 - 2 / 41, 2 / 41])


@pytest.mark.parametrize(
    ("draw", "truth"), [(near_one, 0.95), (nearly_all_one, 0.995), (rare_zero, 0.9 + 0.99 * (0.1 - 2 / 41))]
)
def test_scores_piled_up_at_one_are_covered(draw: Draw, truth: float) -> None:
    """At least 90% at n = 41 (here 1,000 samples; t alone covers 87%, 32% and 87%)."""
    generator = np.random.Generator(np.random.PCG64(1))
    hits = 0
    for _ in range(1000):
        bounds = estimate_mean_interval(draw(generator), low=0, high=1)
        assert bounds is not None
        hits += bounds.low <= truth <= bounds.high
    assert hits >= 920
