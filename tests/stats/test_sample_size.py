"""Sample sizes keep what they promise: simulated comparisons of so many cases show the difference in 80 of 100."""

from __future__ import annotations

import numpy as np
import pytest

from assay.stats.paired_tests import compare_paired_scores
from assay.stats.sample_size import PairSpread, find_cases_for, find_difference_for
from assay.stats.sign_flip_test import compute_mcnemar_p

RUNS = 4000


def simulate_rates(cases: int, share: float, difference: float, level: float, seed: int) -> float:
    """Return how often McNemar's exact test shows a difference of two rates on the same cases."""
    rng = np.random.default_rng(seed)
    wins = rng.binomial(cases, (share + difference) / 2, RUNS)
    losses = rng.binomial(cases - wins, (share - difference) / 2 / (1 - (share + difference) / 2))
    p_values: dict[tuple[int, int], float] = {}
    shown = 0
    for pair in zip(wins.tolist(), losses.tolist(), strict=True):
        p = p_values.setdefault(pair, compute_mcnemar_p(*pair))
        shown += p < level and pair[0] > pair[1]
    return shown / RUNS


@pytest.mark.parametrize(
    ("share", "difference", "level"), [(0.3, 0.1, 0.05), (0.12, 0.06, 0.05), (0.4, 0.15, 0.05 / 6), (0.1, 0.1, 0.05)]
)
def test_so_many_cases_show_a_difference_of_rates_in_four_of_five(
    share: float, difference: float, level: float
) -> None:
    cases = find_cases_for(difference, PairSpread(share, is_share=True), level=level)
    assert cases is not None
    assert 0.77 <= simulate_rates(cases, share, difference, level, seed=1) <= 0.86
    assert simulate_rates(cases // 2, share, difference, level, seed=2) < 0.7


@pytest.mark.slow
@pytest.mark.parametrize(("deviation", "difference"), [(0.3, 0.1), (0.25, 0.06), (0.5, 0.4)])
def test_so_many_cases_show_a_difference_of_means_in_four_of_five(deviation: float, difference: float) -> None:
    cases = find_cases_for(difference, PairSpread(deviation, is_share=False))
    assert cases is not None
    rng = np.random.default_rng(3)
    runs, shown = 400, 0
    for _ in range(runs):
        before = rng.uniform(0, 1, cases)
        after = before + rng.normal(difference, deviation, cases)
        result = compare_paired_scores(before, after)
        assert result is not None and result.p_value is not None
        shown += result.p_value <= 0.05 and result.mean > 0
    assert 0.74 <= shown / runs <= 0.87


@pytest.mark.slow
def test_so_many_cases_in_clusters_show_a_difference_in_four_of_five() -> None:
    size, within, between, difference = 4, 0.2, 0.2, 0.08
    deviation = (within**2 + between**2) ** 0.5
    widening = 1 + (size - 1) * between**2 / deviation**2
    cases = find_cases_for(difference, PairSpread(deviation, is_share=False, widening=widening))
    independent = find_cases_for(difference, PairSpread(deviation, is_share=False))
    assert cases is not None and independent is not None and 2.2 <= cases / independent <= 2.7
    rng = np.random.default_rng(5)
    clusters = [str(number // size) for number in range(cases)]
    runs, shown = 400, 0
    for _ in range(runs):
        shared = np.repeat(rng.normal(0, between, cases // size + 1), size)[:cases]
        after = difference + shared + rng.normal(0, within, cases)
        result = compare_paired_scores(np.zeros(cases), after, clusters=clusters)
        assert result is not None and result.p_value is not None
        shown += result.p_value <= 0.05 and result.mean > 0
    assert 0.74 <= shown / runs <= 0.87


@pytest.mark.parametrize("spread", [PairSpread(0.3, is_share=True), PairSpread(0.3, is_share=False, widening=1.7)])
def test_the_difference_of_so_many_cases_is_the_one_that_they_were_found_for(spread: PairSpread) -> None:
    cases = find_cases_for(0.1, spread)
    assert cases is not None
    shown = find_difference_for(cases, spread)
    assert shown is not None and abs(shown - 0.1) < 0.002


def test_what_no_number_of_cases_shows_has_none() -> None:
    assert find_cases_for(0.0001, PairSpread(0.5, is_share=True)) is None
    assert find_cases_for(0.000001, PairSpread(0.5, is_share=False)) is None
    assert find_difference_for(5, PairSpread(0.5, is_share=True)) is None
