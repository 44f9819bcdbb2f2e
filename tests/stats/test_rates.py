"""Intervals of rates: reference values, ends of the range and coverage."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.intervals import (
    average_two_rates,
    finite_rate_interval,
    upper_bound_after_no_events,
    upper_bound_of_rate,
    wilson_interval,
)


def test_wilson_has_its_reference_value() -> None:
    low, high, method, note = wilson_interval(38, 40)
    assert ("0.8350", "0.9862", "Wilson", "") == (f"{low:.4f}", f"{high:.4f}", method, note)


def test_wilson_reaches_the_end_of_the_range_exactly_when_all_or_none_succeed() -> None:
    assert wilson_interval(0, 7).low == 0.0
    assert wilson_interval(7, 7).high == 1.0


def test_the_upper_bound_of_a_rate_has_its_reference_value() -> None:
    assert f"{upper_bound_of_rate(0, 4, 0.975):.4f}" == "0.6024"


def test_bounds_of_mixed_outcomes_have_the_stated_tails() -> None:
    """By definition P(X ≥ 38 | low) = P(X ≤ 38 | high) = 2.5%."""
    low, high = 1 - upper_bound_of_rate(2, 40, 0.975), upper_bound_of_rate(38, 40, 0.975)
    above = sum(comb(40, k) * low**k * (1 - low) ** (40 - k) for k in range(38, 41))
    below = sum(comb(40, k) * high**k * (1 - high) ** (40 - k) for k in range(39))
    assert (0.025, 0.025) == pytest.approx((above, below))


@pytest.mark.parametrize(("n", "bound"), [(4, "52.7%"), (41, "7.05%")])
def test_zero_events_have_their_reference_bounds(n: int, bound: str) -> None:
    digits = len(bound.split(".")[1]) - 1
    assert bound == f"{upper_bound_after_no_events(n):.{digits}%}"


def test_an_event_raises_the_upper_bound_and_all_events_allow_everything() -> None:
    assert (
        upper_bound_of_rate(0, 41)
        < upper_bound_of_rate(1, 41)
        < upper_bound_of_rate(40, 41)
        < upper_bound_of_rate(41, 41)
        == 1.0
    )


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    for function in (wilson_interval, upper_bound_of_rate):
        with pytest.raises(ValueError, match="counts need"):
            function(successes, n)


def coverage(n: int, p: float) -> float:
    """The exact probability that the Wilson interval of n cases holds their true rate p."""
    bounds = [wilson_interval(k, n) for k in range(n + 1)]
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if bounds[k].low <= p <= bounds[k].high)


def test_wilson_has_its_nominal_coverage_from_twenty_cases_on() -> None:
    """The published grid: 94 to 97% on average, no point under 91%."""
    shares = [coverage(n, p) for n in (20, 41, 100, 200, 500) for p in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)]
    assert 0.94 <= sum(shares) / len(shares) <= 0.97
    assert min(shares) >= 0.91


@pytest.mark.parametrize(("n", "expected"), [(10, "90.4%"), (15, "86.0%")])
def test_wilson_covers_less_in_small_sets_near_one(n: int, expected: str) -> None:
    """At p = .99 a single failure already ends the interval below p: what covers is no failure, .99^n, alone."""
    assert expected == f"{coverage(n, 0.99):.1%}" == f"{0.99**n:.1%}"


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_its_rate_and_mirrors(counts: tuple[int, int]) -> None:
    successes, n = counts
    bounds, mirrored = wilson_interval(*counts), wilson_interval(n - successes, n)
    assert 0.0 <= bounds.low <= successes / n <= bounds.high <= 1.0
    assert bounds.low < bounds.high
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - bounds.high, 1 - bounds.low), abs=1e-12)


def test_balanced_is_the_mean_of_both_rates_within_their_combined_distances() -> None:
    """Down: ½·√((.9−low₁)² + (.75−low₂)²) from the two intervals' own low ends; up the same with the high ends."""
    first, second = wilson_interval(9, 10), wilson_interval(15, 20)
    estimate = average_two_rates((9, 10), (15, 20))
    assert estimate is not None
    assert estimate.value == pytest.approx(0.825)
    down = 0.5 * ((0.9 - first.low) ** 2 + (0.75 - second.low) ** 2) ** 0.5
    up = 0.5 * ((first.high - 0.9) ** 2 + (second.high - 0.75) ** 2) ** 0.5
    assert (estimate.bounds.low, estimate.bounds.high) == pytest.approx((0.825 - down, 0.825 + up))


def test_balanced_leaves_out_a_class_without_cases_and_says_so() -> None:
    for rates, absent in ((((0, 0), (15, 20)), "first"), (((15, 20), (0, 0)), "second")):
        estimate = average_two_rates(*rates)
        assert estimate is not None
        assert (0.75, f"{absent} class has no cases: left out") == (estimate.value, estimate.bounds.note)
        assert wilson_interval(15, 20)[:2] == estimate.bounds[:2]
    assert average_two_rates((0, 0), (0, 0)) is None


def test_balanced_stays_within_zero_and_one() -> None:
    for first in ((0, 3), (3, 3)):
        estimate = average_two_rates(first, first)
        assert estimate is not None
        assert 0.0 <= estimate.bounds.low <= estimate.value <= estimate.bounds.high <= 1.0


@pytest.mark.parametrize("population", [1, 7, 24])
def test_the_share_of_a_finite_population_is_covered_at_least_as_often_as_stated(population: int) -> None:
    for n in range(1, population + 1):
        bounds = [finite_rate_interval(events, n, population) for events in range(n + 1)]
        for total in range(population + 1):
            # How often a draw of n without replacement has so many of the total events.
            ways = [comb(total, events) * comb(population - total, n - events) for events in range(n + 1)]
            share = total / population
            covered = sum(ways[events] for events in range(n + 1) if bounds[events].low <= share <= bounds[events].high)
            assert covered / sum(ways) >= 0.95, (n, total)


def test_a_finite_population_narrows_the_interval_and_reading_all_of_it_closes_it() -> None:
    widths = []
    for population in (30, 31, 60, 300, 30_000):
        bounds = finite_rate_interval(2, 30, population)
        widths.append(bounds.high - bounds.low)
    assert widths == sorted(widths)
    assert widths[0] == 0
    exact = (1 - upper_bound_of_rate(28, 30, 0.975), upper_bound_of_rate(2, 30, 0.975))
    assert finite_rate_interval(2, 30, 3_000_000)[:2] == pytest.approx(exact, abs=1e-4)


def test_a_sample_larger_than_its_population_is_refused() -> None:
    with pytest.raises(ValueError, match="got 8 of 7"):
        finite_rate_interval(1, 8, 7)
