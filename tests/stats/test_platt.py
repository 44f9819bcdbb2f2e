"""Platt scaling: fits that are recovered, and data that do not support one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.probability_curve import PlattCurve, fit_platt_curve


def drawn(n: int, slope: float, intercept: float, seed: int = 3) -> tuple[list[float], list[bool]]:
    generator = np.random.Generator(np.random.PCG64(seed))
    z = generator.normal(0.5, 1.0, n)
    return z.tolist(), (generator.random(n) < 1 / (1 + np.exp(-(slope * z + intercept)))).tolist()


@pytest.mark.slow
def test_the_curve_that_made_the_labels_is_found() -> None:
    fitted = fit_platt_curve(*drawn(4000, 2.0, -1.0))
    assert fitted is not None
    assert (2.0, -1.0) == pytest.approx((fitted.slope, fitted.intercept), abs=0.15)


@pytest.mark.slow
def test_the_fit_agrees_with_a_general_optimiser() -> None:
    from scipy.optimize import minimize

    z, labels = drawn(120, 1.5, 0.3)
    scores, truths = np.array(z), np.array(labels)
    targets = np.where(truths, (truths.sum() + 1) / (truths.sum() + 2), 1 / ((~truths).sum() + 2))

    def loss(parameters: np.ndarray) -> float:
        logits = parameters[0] * scores + parameters[1]
        return float((np.logaddexp(0, logits) - targets * logits).sum())

    fitted = fit_platt_curve(z, labels)
    assert fitted is not None
    assert tuple(minimize(loss, [1.0, 0.0]).x) == pytest.approx((fitted.slope, fitted.intercept), abs=2e-3)


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=20))
def test_the_probability_rises_with_z(values: list[float]) -> None:
    platt = PlattCurve(1.5, -0.5)
    probabilities = [platt.probability(z) for z in sorted(values)]
    assert probabilities == sorted(probabilities)
    assert all(0 <= probability <= 1 and math.isfinite(probability) for probability in probabilities)


def test_labels_that_scores_separate_perfectly_have_a_finite_curve() -> None:
    fitted = fit_platt_curve([i / 10 for i in range(60)], [i >= 30 for i in range(60)])
    assert fitted is not None
    assert math.isfinite(fitted.slope)
    assert math.isfinite(fitted.intercept)


@pytest.mark.parametrize(
    ("z", "labels"),
    [
        ([], []),
        ([i / 49 for i in range(49)], [i > 24 for i in range(49)]),  # 49 labels
        ([i / 60 for i in range(60)], [i > 50 for i in range(60)]),  # nine of one kind
        ([0.5] * 60, [i > 30 for i in range(60)]),  # equal scores
        ([i / 60 for i in range(60)], [i < 30 for i in range(60)]),  # falling with the labels
    ],
)
def test_data_that_do_not_support_a_fit_have_no_curve(z: list[float], labels: list[bool]) -> None:
    assert fit_platt_curve(z, labels) is None


def test_every_score_needs_a_label() -> None:
    with pytest.raises(ValueError, match="60 and 59"):
        fit_platt_curve([0.0] * 60, [True] * 59)
