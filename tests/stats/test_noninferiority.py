"""Bounds of regression rules: exact error rates, skew worked by hand, and undefined cases."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.paired_tests import bound_mean_gain, compute_tango_interval


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 41])
@pytest.mark.parametrize("margin", [0.05, 0.1])
@pytest.mark.parametrize("wins", [0.0, 0.02, 0.1])
def test_a_loss_of_exactly_the_margin_passes_and_fails_in_at_most_five_per_cent(
    n: int, margin: float, wins: float
) -> None:
    passed = failed = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            ties = 1 - 2 * wins - margin
            chance = comb(n, b) * comb(n - b, c) * wins**b * (wins + margin) ** c * ties ** (n - b - c)
            if chance > 1e-9:
                after = [1.0] * b + [0.0] * c + [1.0] * (n - b - c)
                bounds = bound_mean_gain([0.0] * b + [1.0] * (n - b), after)
                assert bounds is not None
                passed, failed = passed + chance * (bounds.low > -margin), failed + chance * (bounds.high < -margin)
    assert passed <= 0.05
    assert failed <= 0.05


def test_a_correction_only_moves_the_bounds_apart() -> None:
    plain, corrected = compute_tango_interval(12, 2, 50), compute_tango_interval(12, 2, 50, correction=1.0)
    assert corrected.low < plain.low < plain.high < corrected.high


def test_rare_losses_reach_further_down_than_t() -> None:
    """Six losses of a half among 100: t gives −.03 − 1.660·.01194 = −.0498 and excludes .05; with its skew not."""
    after = [0.0] * 6 + [0.5] * 94
    bounds = bound_mean_gain([0.5] * 100, after)
    assert bounds is not None
    assert bounds.low < -0.05
    assert "Hall" == bounds.method


def test_bounds_of_even_differences_are_those_of_t_with_two_more_pairs() -> None:
    """±.1 about 0, twenty each, and one more of either: sd √(42·.01/41) = .10121, t(.95; 41) = 1.68288."""
    bounds = bound_mean_gain([0.5] * 40, [0.4, 0.6] * 20)
    assert bounds is not None
    half = 1.68288 * 0.10121 / np.sqrt(42)
    assert (-half, half) == pytest.approx(bounds[:2], abs=1e-5)


def test_clusters_count_as_units_and_few_of_them_are_noted() -> None:
    before, after = [0.5] * 12, [0.4, 0.6, 0.5] * 4
    alone = bound_mean_gain(before, after)
    together = bound_mean_gain(before, after, clusters=[row % 3 for row in range(12)])
    assert alone is not None and together is not None
    assert together.low < alone.low
    assert "too few clusters (3)" == together.note


def test_no_spread_has_a_bound_only_where_the_range_gives_one() -> None:
    same = [0.3] * 20
    assert bound_mean_gain(same, same) is None
    bounds = bound_mean_gain(same, same, low=0.0, high=1.0)
    assert bounds is not None
    assert bounds.low < 0 < bounds.high


def test_nothing_and_one_cluster_have_no_bound() -> None:
    assert bound_mean_gain([], []) is None
    assert bound_mean_gain([0.1, 0.2], [0.3, 0.1], clusters=["a", "a"]) is None
    assert bound_mean_gain([0.1], [0.3]) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=25))
def test_the_gain_lies_between_its_bounds_and_order_changes_no_byte(pairs: list[tuple[float, float]]) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    bounds = bound_mean_gain(before, after, low=0.0, high=1.0)
    assert bounds is not None
    mean = float(np.mean(np.subtract(after, before)))
    assert bounds.low - 1e-9 <= mean <= bounds.high + 1e-9
    assert bounds == bound_mean_gain(before[::-1], after[::-1], low=0.0, high=1.0)
