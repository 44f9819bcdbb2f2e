"""Turns the uncalibrated score of the rules into a probability: Platt scaling with human labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.calibration.human_labels import ScorerLabel
from assay.calibration.rater_agreement import ItemKey
from assay.stats.arrays import FloatArray

LEAST_LABELS, LEAST_LABELS_OF_EACH_CLASS = 50, 10
"""Labels that a fit needs in total, and of each class."""

_MOST_STEPS = 60
_RIDGE = 1e-3  # keeps the slope of perfectly separated labels finite
_LONGEST_STEP = 2.0
_CONVERGED = 1e-10


class PlattCurve(NamedTuple):
    """A fitted curve 1 / (1 + exp(−(slope · z + intercept)))."""

    slope: float
    intercept: float

    def probability(self, z: float) -> float:
        """Return the probability that a claim with score `z` is labelled true; it rises with z."""
        return float(_logistic(np.array([self.slope * z + self.intercept]))[0])


def fit_platt_curve(z: Sequence[float], labels: Sequence[bool]) -> PlattCurve | None:
    """Return Platt's curve from scores to the probability of a true label; None if the data do not support one.

    `z` and `labels` are aligned. None for fewer than 50 labels, fewer than 10 of either class, equal scores, or scores
    that do not rise with the labels. Raises ValueError for different lengths. Source: Platt (1999), with his smoothed
    targets.

    >>> z = [i / 10 for i in range(60)]
    >>> platt = fit_platt_curve(z, [value > 2.9 for value in z])
    >>> platt.probability(0.0) < 0.05, round(platt.probability(2.95), 2), fit_platt_curve(z[:49], [True] * 49)
    (True, 0.5, None)
    """
    scores, truths = np.array(z, np.float64), np.array(labels, bool)
    if len(scores) != len(truths):
        raise ValueError(f"every score needs a label (got {len(scores)} and {len(truths)})")
    positive = int(truths.sum())
    negative = len(truths) - positive
    spread = float(scores.std()) if len(scores) else 0.0
    if len(truths) < LEAST_LABELS or min(positive, negative) < LEAST_LABELS_OF_EACH_CLASS or spread == 0:
        return None
    mean_score = float(scores.mean())
    targets = np.where(truths, (positive + 1) / (positive + 2), 1 / (negative + 2))
    slope, intercept = _fit_logistic((scores - mean_score) / spread, targets)
    slope = slope / spread
    return PlattCurve(slope, intercept - slope * mean_score) if slope > 0 else None


def _fit_logistic(scores: FloatArray, targets: FloatArray) -> tuple[float, float]:
    """Return slope and intercept of a logistic curve, by Newton's method with bounded steps."""
    slope, intercept = 0.0, 0.0
    for _ in range(_MOST_STEPS):
        curve = _logistic(slope * scores + intercept)
        error, curvature = targets - curve, curve * (1 - curve)
        slope_gradient, intercept_gradient = float((error * scores).sum()) - _RIDGE * slope, float(error.sum())
        ss = float((curvature * scores**2).sum()) + _RIDGE
        si = float((curvature * scores).sum())
        ii = float(curvature.sum()) + _RIDGE
        determinant = ss * ii - si**2
        slope_step = _bound_step((ii * slope_gradient - si * intercept_gradient) / determinant)
        intercept_step = _bound_step((ss * intercept_gradient - si * slope_gradient) / determinant)
        slope, intercept = slope + slope_step, intercept + intercept_step
        if max(abs(slope_step), abs(intercept_step)) < _CONVERGED:
            break
    return slope, intercept


def _bound_step(step: float) -> float:
    return min(max(step, -_LONGEST_STEP), _LONGEST_STEP)


def _logistic(logits: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(−x)), without overflow."""
    half: FloatArray = np.tanh(logits / 2)
    return (1 + half) / 2


FOLDS = 5


class ProbabilityCurve(NamedTuple):
    """The curve fitted to all labels; `held_out` is whether labelled items have values from cross-validated curves."""

    slope: float
    intercept: float
    held_out: bool


def apply_probability_curve(
    scorer_labels: Mapping[ItemKey, ScorerLabel], passed_by_item: Mapping[ItemKey, bool], seed: int = 0
) -> tuple[dict[ItemKey, ScorerLabel], ProbabilityCurve | None]:
    """Return the scorer labels with probabilities as values, and the curve that computes them from the raw number.

    The value of a labelled item comes from a curve fitted without its case (five seeded folds of whole cases), so that
    the calibration is not too optimistic. Other items, and folds with too few labels, use the curve fitted to all
    labels. If `fit_platt_curve` fits no curve, the labels are returned unchanged, with None.
    """
    labelled_keys = sorted(
        key for key in passed_by_item.keys() & scorer_labels.keys() if scorer_labels[key].signal is not None
    )
    whole = _fit(labelled_keys, scorer_labels, passed_by_item)
    if whole is None:
        return dict(scorer_labels), None
    cases = sorted({key[0] for key in labelled_keys})
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(cases)).tolist()
    fold_of = {cases[position]: number % FOLDS for number, position in enumerate(order)}
    folds = [
        _fit([key for key in labelled_keys if fold_of[key[0]] != fold], scorer_labels, passed_by_item)
        for fold in range(FOLDS)
    ]
    fold_curves = [fold or whole for fold in folds]
    curve_by_item = {key: fold_curves[fold_of[key[0]]] for key in labelled_keys}
    values = {
        key: scorer_label
        if scorer_label.signal is None
        else scorer_label._replace(value=curve_by_item.get(key, whole).probability(scorer_label.signal))
        for key, scorer_label in scorer_labels.items()
    }
    return values, ProbabilityCurve(whole.slope, whole.intercept, None not in folds)


def _fit(
    keys: list[ItemKey], scorer_labels: Mapping[ItemKey, ScorerLabel], truth: Mapping[ItemKey, bool]
) -> PlattCurve | None:
    signals = [signal for key in keys if (signal := scorer_labels[key].signal) is not None]
    return fit_platt_curve(signals, [truth[key] for key in keys])
