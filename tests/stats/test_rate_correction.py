"""Corrected rates: reference values, undefined cases and properties of the intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.intervals import wilson_interval
from assay.stats.rate_correction import (
    correct_rate,
    estimate_prediction_powered_mean,
    estimate_sensitivity_specificity,
    explain_uncorrectable_rate,
    explain_unreliable_ppi,
)

shares = st.floats(0.0, 1.0)
counts = st.integers(10, 200)
marks = st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=60)


@pytest.mark.parametrize(
    ("rate", "specificity", "sensitivity", "n", "failed", "passed", "value", "low", "high"),
    [
        (0.8, 0.85, 0.9, 200, 50, 50, 0.8667, 0.7539, 1.0),
        (0.93, 0.7, 0.97, 500, 30, 70, 0.9403, 0.8762, 1.0),
    ],
)
def test_rogan_gladen_has_its_reference_values(
    rate: float,
    specificity: float,
    sensitivity: float,
    n: int,
    failed: int,
    passed: int,
    value: float,
    low: float,
    high: float,
) -> None:
    estimate = correct_rate(rate, n, specificity, failed, sensitivity, passed)
    assert estimate is not None
    assert (value, low, high) == (
        round(estimate.value, 4),
        round(estimate.bounds.low, 4),
        round(estimate.bounds.high, 4),
    )


def test_a_judge_that_is_never_wrong_needs_no_correction() -> None:
    estimate = correct_rate(0.4, 100, 1.0, 1000, 1.0, 1000)
    assert estimate is not None
    assert estimate.value == pytest.approx(0.4)
    assert estimate.bounds.low < 0.4 < estimate.bounds.high


@given(shares, st.integers(1, 500), shares, counts, shares, counts)
def test_a_corrected_rate_lies_in_its_interval_and_in_0_to_1_or_is_refused_with_a_reason(
    rate: float, n: int, specificity: float, failed: int, sensitivity: float, passed: int
) -> None:
    estimate = correct_rate(rate, n, specificity, failed, sensitivity, passed)
    refused = explain_uncorrectable_rate(specificity, failed, sensitivity, passed)
    assert (estimate is None) == bool(refused)
    if estimate is not None:
        assert 0.0 <= estimate.bounds.low <= estimate.value <= estimate.bounds.high <= 1.0


@given(counts, st.integers(60, 100))
def test_swapping_pass_and_fail_turns_the_corrected_rate_round(failed: int, quality: int) -> None:
    """The rate of failures corrected with the roles exchanged is one minus the rate of passes."""
    share = quality / 100
    passes = correct_rate(0.7, 150, share, failed, 0.9, 40)
    fails = correct_rate(1 - 0.7, 150, 0.9, 40, share, failed)
    assert passes is not None and fails is not None
    assert passes.value == pytest.approx(1 - fails.value)
    assert passes.bounds.low == pytest.approx(1 - fails.bounds.high)


@pytest.mark.parametrize(
    ("specificity", "failed", "sensitivity", "passed", "why"),
    [
        (0.9, 9, 0.9, 50, "too few labels"),
        (0.9, 50, 0.9, 9, "too few labels"),
        (0.55, 50, 0.55, 50, "hardly tells"),
    ],
)
def test_what_cannot_be_corrected_is_refused(
    specificity: float, failed: int, sensitivity: float, passed: int, why: str
) -> None:
    assert why in explain_uncorrectable_rate(specificity, failed, sensitivity, passed)
    assert correct_rate(0.5, 100, specificity, failed, sensitivity, passed) is None


def test_sensitivity_and_specificity_are_shares_of_what_people_said_with_wilson_intervals() -> None:
    """Of 8 passed by people the judge passed 6, of 4 failed it failed 3."""
    judge_rates = estimate_sensitivity_specificity([1] * 8 + [0] * 4, [1] * 6 + [0] * 2 + [0] * 3 + [1])
    assert judge_rates.sensitivity is not None and judge_rates.specificity is not None
    assert (0.75, wilson_interval(6, 8)) == judge_rates.sensitivity
    assert (0.75, wilson_interval(3, 4)) == judge_rates.specificity
    assert (8, 4) == (judge_rates.passed, judge_rates.failed)


def test_a_class_without_labels_has_no_rate() -> None:
    judge_rates = estimate_sensitivity_specificity([1, 1], [1, 0])
    assert judge_rates.specificity is None
    assert judge_rates.sensitivity is not None


def test_claims_of_one_case_do_not_count_as_cases() -> None:
    """Ten claims each of ten cases, wrong in two whole cases: the interval is that of few cases, not of 100 claims."""
    people, judge = [1.0] * 100, [0.0] * 20 + [1.0] * 80
    alone = estimate_sensitivity_specificity(people, judge).sensitivity
    shared = estimate_sensitivity_specificity(people, judge, [row // 10 for row in range(100)]).sensitivity
    assert alone is not None and shared is not None
    assert shared.bounds.low < alone.bounds.low - 0.1
    assert alone.value == shared.value


def test_all_items_in_one_case_say_nothing_of_others() -> None:
    judge_rates = estimate_sensitivity_specificity([1, 1, 1], [1, 1, 0], ["a", "a", "a"]).sensitivity
    assert judge_rates is not None
    assert (0.0, 1.0) == (judge_rates.bounds.low, judge_rates.bounds.high)


@pytest.mark.parametrize("people", [[1.0, 0.5], [1.0]])
def test_values_other_than_pass_and_fail_are_refused(people: list[float]) -> None:
    with pytest.raises(ValueError, match=r"values must be 0|every item needs"):
        estimate_sensitivity_specificity(people, [1.0, 0.0])


def test_prediction_powered_inference_follows_its_formula() -> None:
    """cov(Y, F) = 1/6, var F = 7/30 over all ten, weight (1/6)/((1 + 4/6)·7/30) = 3/7; 3/7·4/6 + (1/2 − 3/7·3/4)."""
    estimate = estimate_prediction_powered_mean([1, 0, 1, 0], [1, 0, 1, 1], [1, 0, 1, 1, 0, 1])
    assert estimate is not None
    assert estimate.value == pytest.approx(3 / 7 * 4 / 6 + 1 / 2 - 3 / 7 * 3 / 4)


def test_a_judge_without_information_leaves_the_mean_of_the_labels() -> None:
    estimate = estimate_prediction_powered_mean([1, 0, 1, 0], [1, 1, 1, 1], [1, 1, 1])
    assert estimate is not None
    assert estimate.value == 0.5


def test_a_good_judge_narrows_the_interval_of_the_labels_alone() -> None:
    generator = np.random.Generator(np.random.PCG64(3))
    people = (generator.random(200) < 0.6).astype(float)
    unlabelled = (generator.random(2000) < 0.6).astype(float)
    good = estimate_prediction_powered_mean(people, people, unlabelled)
    poor = estimate_prediction_powered_mean(people, np.zeros(200), np.zeros(2000))
    assert good is not None and poor is not None
    assert good.bounds.high - good.bounds.low < 0.5 * (poor.bounds.high - poor.bounds.low)


@pytest.mark.slow
@given(marks, st.data())
def test_a_prediction_powered_mean_lies_in_its_interval_whatever_the_order(
    people: list[float], data: st.DataObject
) -> None:
    judge = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(people), max_size=len(people)))
    unlabelled = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=30))
    estimate = estimate_prediction_powered_mean(people, judge, unlabelled)
    turned = estimate_prediction_powered_mean(people[::-1], judge[::-1], unlabelled[::-1])
    assert estimate is not None
    assert 0.0 <= estimate.bounds.low <= estimate.value <= estimate.bounds.high <= 1.0
    assert estimate == turned


def test_prediction_powered_inference_needs_100_labels_and_15_of_each_class() -> None:
    assert "too few labels (got 99" in explain_unreliable_ppi([0.0, 1.0] * 49 + [1.0])
    assert "got 14 passed" in explain_unreliable_ppi([1.0] * 14 + [0.0] * 100)
    assert "" == explain_unreliable_ppi([1.0] * 15 + [0.0] * 85)
    assert estimate_prediction_powered_mean([1.0], [1.0], [1.0, 0.0]) is None
