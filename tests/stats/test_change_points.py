"""The test for a change: how often it is wrong when nothing changed, and what it finds when something did."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.history import measure_detection
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import try_examples

from assay.stats.change_points import find_further_changes, scan_for_change
from assay.stats.sign_flip_test import compute_sign_flip_p


def draw_runs(generator: np.random.Generator, rates: list[float], cases: int = 30) -> np.ndarray:
    """Scores 0 and 1 of runs with these changes of rate; every case has a difficulty of its own."""
    base = generator.uniform(0.1, 0.8, cases)
    return np.array([(generator.random(cases) < np.clip(base + rate, 0, 1)).astype(float) for rate in rates])


@pytest.mark.parametrize("clustered", [False, True])
def test_at_most_five_in_a_hundred_unchanged_series_have_a_p_of_five_per_cent(clustered: bool) -> None:
    generator = np.random.default_rng(8)
    wrong = 0
    for trial in range(300):
        scores = draw_runs(generator, [0.0] * 6, 20)
        if clustered:  # three wordings of one question, with one outcome
            scores = np.repeat(scores, 3, axis=1)
        units = np.repeat(np.arange(20), 3) if clustered else np.arange(20)
        change = scan_for_change(scores, units, seed=trial)
        wrong += change is not None and change.p <= 0.05
    assert wrong <= 24  # 15 expected; 24 is exceeded with a probability of 1 in 100


@pytest.mark.slow
def test_without_clusters_the_same_series_would_be_wrong_far_more_often() -> None:
    """The test above can fail: taking the wordings as independent triples the evidence."""
    generator = np.random.default_rng(8)
    wrong = 0
    for trial in range(100):
        scores = np.repeat(draw_runs(generator, [0.0] * 6, 20), 3, axis=1)
        change = scan_for_change(scores, np.arange(60), seed=trial)
        wrong += change is not None and change.p <= 0.05
    assert wrong > 10


def test_two_runs_are_the_sign_flip_test() -> None:
    before, after = np.array([1.0, 0, 0, 1, 0, 0, 0, 0, 1, 0]), np.array([1.0, 1, 1, 1, 1, 0, 1, 1, 1, 0])
    change = scan_for_change(np.array([before, after]), np.arange(10))
    assert change is not None
    exact, _ = compute_sign_flip_p(after - before)  # 5 cases moved, all up: 2 of 2^5 patterns
    assert exact == 2 / 32
    assert abs(change.p - exact) < 0.03


def test_two_changes_are_found_where_they_are() -> None:
    scores = np.array([[0.0] * 20] * 4 + [[1.0] * 20] * 4 + [[0.0] * 15 + [1.0] * 5] * 4)
    first = scan_for_change(scores, np.arange(20))
    assert first is not None
    assert [4, 8] == [change.at for change in find_further_changes(scores, np.arange(20), first, 0.05)]


def test_what_does_not_move_is_not_tested() -> None:
    assert scan_for_change(np.ones((5, 10)), np.arange(10)) is None
    assert scan_for_change(np.ones((1, 10)), np.arange(10)) is None
    assert scan_for_change(np.ones((4, 0)), np.arange(0)) is None


def test_of_two_equal_places_the_first_is_returned_however_the_sums_are_rounded() -> None:
    scores = draw_runs(np.random.default_rng(267168), [0.0] * 4, 5)  # before run 1 and run 3, 1e-16 apart
    padded = np.hstack([scores, np.ones((4, 1))])
    changes = [scan_for_change(scores, np.arange(5)), scan_for_change(padded, np.arange(6))]
    assert [1, 1] == [change.at for change in changes if change is not None]


@try_examples(25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 9))
def test_the_order_of_cases_and_a_constant_case_change_nothing_but_chance(seed: int, runs: int, cases: int) -> None:
    scores = draw_runs(np.random.default_rng(seed), [0.0] * runs, cases)
    change = scan_for_change(scores, np.arange(cases))
    padded = scan_for_change(np.hstack([scores, np.ones((runs, 1))]), np.arange(cases + 1))
    assert (change is None) == (padded is None)
    if change is not None and padded is not None:
        assert (change.at, change.p) == (padded.at, padded.p)
        assert 0.0001 <= change.p <= 1.0


def test_the_benchmark_of_the_history_counts_what_it_says() -> None:
    rates = measure_detection(20, 0.6, 3)
    assert (3, 9) == (rates.histories, rates.changes)
    assert rates.found >= 7
    assert rates.at_the_run <= rates.within_one_run <= rates.found
    assert 0 == measure_detection(5, 0.0, 2).changes
