"""Rates: reference values of the definitions, ends of the range, and what the intervals cover."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.metrics.rates import (
    balanced,
    clopper_pearson,
    event_upper,
    rate_interval,
    wilson,
    zero_event_upper,
)


def test_wilson_has_its_reference_value() -> None:
    low, high, method, note = wilson(38, 40)
    assert ("0.8350", "0.9862", "Wilson", "") == (f"{low:.4f}", f"{high:.4f}", method, note)


def test_wilson_reaches_the_end_of_the_range_exactly_when_all_or_none_succeed() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


def test_clopper_pearson_has_its_reference_value() -> None:
    low, high, *_ = clopper_pearson(0, 4)
    assert ("0.0000", "0.6024") == (f"{low:.4f}", f"{high:.4f}")


def test_clopper_pearson_of_mixed_outcomes_has_the_stated_tails() -> None:
    """By definition P(X ≥ 38 | low) = P(X ≤ 38 | high) = 2.5%."""
    low, high, *_ = clopper_pearson(38, 40)
    above = sum(comb(40, k) * low**k * (1 - low) ** (40 - k) for k in range(38, 41))
    below = sum(comb(40, k) * high**k * (1 - high) ** (40 - k) for k in range(39))
    assert (0.025, 0.025) == pytest.approx((above, below))


@pytest.mark.parametrize(("n", "bound"), [(4, "52.7%"), (41, "7.05%")])
def test_zero_events_have_their_reference_bounds(n: int, bound: str) -> None:
    digits = len(bound.split(".")[1]) - 1
    assert bound == f"{zero_event_upper(n):.{digits}%}"


def test_an_event_raises_the_upper_bound_and_all_events_allow_everything() -> None:
    assert event_upper(0, 41) < event_upper(1, 41) < event_upper(40, 41) < event_upper(41, 41) == 1.0


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    for function in (wilson, rate_interval, clopper_pearson, event_upper):
        with pytest.raises(ValueError, match="counts need"):
            function(successes, n)


@pytest.mark.parametrize("n", [10, 41, 55, 100])
def test_rate_intervals_cover_at_least_91_percent_for_every_rate(n: int) -> None:
    """Exact binomial sums over rates 0.0005 apart; plain Wilson falls below 87% on the same grid."""
    grid = np.linspace(0.0005, 0.9995, 1999)
    counts = np.arange(n + 1)
    chances = (
        np.array([comb(n, int(k)) for k in counts]) * grid[:, None] ** counts * (1 - grid[:, None]) ** (n - counts)
    )

    def worst(bounds: np.ndarray) -> float:
        inside = (bounds[:, 0] <= grid[:, None]) & (grid[:, None] <= bounds[:, 1])
        return float((chances * inside).sum(axis=1).min())

    assert worst(np.array([rate_interval(k, n)[:2] for k in range(n + 1)])) >= 0.91
    assert worst(np.array([wilson(k, n)[:2] for k in range(n + 1)])) < 0.87


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_widened_ends_contain_wilson_and_mirror_each_other(counts: tuple[int, int]) -> None:
    successes, n = counts
    plain, widened, mirrored = wilson(*counts), rate_interval(*counts), rate_interval(n - successes, n)
    assert 0.0 <= widened.low <= plain.low <= successes / n <= plain.high <= widened.high <= 1.0
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - widened.high, 1 - widened.low), abs=1e-12)
    assert (widened.method == "Wilson") == (widened[:2] == plain[:2])


def test_below_ten_cases_rates_are_plain_wilson() -> None:
    assert wilson(8, 9) == rate_interval(8, 9)


def test_balanced_is_the_mean_of_both_rates_within_their_combined_distances() -> None:
    """Down: ½·√((.9−low₁)² + (.75−low₂)²) from the two intervals' own low ends; up the same with the high ends."""
    first, second = rate_interval(9, 10), rate_interval(15, 20)
    found = balanced((9, 10), (15, 20))
    assert found is not None
    assert found.value == pytest.approx(0.825)
    down = 0.5 * ((0.9 - first.low) ** 2 + (0.75 - second.low) ** 2) ** 0.5
    up = 0.5 * ((first.high - 0.9) ** 2 + (second.high - 0.75) ** 2) ** 0.5
    assert (found.bounds.low, found.bounds.high) == pytest.approx((0.825 - down, 0.825 + up))


def test_balanced_leaves_out_a_class_without_cases_and_says_so() -> None:
    for rates, absent in ((((0, 0), (15, 20)), "first"), (((15, 20), (0, 0)), "second")):
        found = balanced(*rates)
        assert found is not None
        assert (0.75, f"{absent} class has no cases: left out") == (found.value, found.bounds.note)
        assert rate_interval(15, 20)[:2] == found.bounds[:2]
    assert balanced((0, 0), (0, 0)) is None


def test_balanced_stays_within_zero_and_one() -> None:
    for first in ((0, 3), (3, 3)):
        found = balanced(first, first)
        assert found is not None
        assert 0.0 <= found.bounds.low <= found.value <= found.bounds.high <= 1.0
