"""Weights of the combined scorer: how much a judge's label and the score of the rules say together, by human labels.

The curve is a logistic regression of two numbers, the rules' raw score and the judge's label; without the second it is
that of Platt. ADR 0059 gives the reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.calibration.human_labels import ScorerLabel
from assay.calibration.probability_curve import LEAST_LABELS, LEAST_LABELS_OF_EACH_CLASS
from assay.calibration.rater_agreement import ItemKey
from assay.calibration.verdict_cuts import FOLDS, assign_folds
from assay.metrics.grounding.combined_support import compute_combined_probability
from assay.records.counts import format_count
from assay.stats.arrays import FloatArray

_RIDGE = 1.0  # of each weight; a judge that is right on every label would have an infinite one
_MOST_STEPS, _CONVERGED, _LONGEST_STEP = 60, 1e-10, 2.0


class CombinedLabels(NamedTuple):
    """The labels of the combined scorer, probabilities as values, and its curve.

    `held_out` is whether the values of labelled items come from curves fitted without their cases.
    """

    labels: Mapping[ItemKey, ScorerLabel]
    curve: Mapping[str, float]
    held_out: bool


def fit_combined_curve(
    signals: Sequence[float], judged: Sequence[float | None], labels: Sequence[bool]
) -> dict[str, float] | None:
    """Return the weights `slope` (of the rules' score), `judge` (of its label from −1 to 1) and `intercept`.

    `judged` are the judge's values in [0, 1], None where it gave none: then the rules decide. None for fewer than 50
    labels or 10 of either class. A weight below 0 becomes 0: a scorer that is wrong more often than right is not read
    backwards.

    >>> signals, judged = [i / 30 for i in range(60)], [float(i % 3 > 0) for i in range(60)]
    >>> curve = fit_combined_curve(signals, judged, [i % 3 > 0 for i in range(60)])
    >>> curve["judge"] > abs(curve["slope"])
    True
    """
    positive = sum(labels)
    if len(labels) < LEAST_LABELS or min(positive, len(labels) - positive) < LEAST_LABELS_OF_EACH_CLASS:
        return None
    votes = [0.0 if value is None else 2 * value - 1 for value in judged]
    truths = np.array(labels, np.float64)
    features = np.column_stack([np.array(signals), np.array(votes), np.ones(len(labels))])
    weights = _fit_logistic(features, truths)
    for index in (0, 1):
        if weights[index] < 0:
            features[:, index] = 0.0
            weights = _fit_logistic(features, truths)
            weights[index] = 0.0
    slope, judge, intercept = weights.tolist()
    return {"slope": slope, "judge": judge, "intercept": intercept} if slope > 0 or judge > 0 else None


def _fit_logistic(features: FloatArray, truths: FloatArray) -> FloatArray:
    """Return the weights, the last of which is the intercept, by Newton's method with bounded steps."""
    ridge = np.diag([_RIDGE, _RIDGE, 1e-6])
    weights = np.zeros(3)
    for _ in range(_MOST_STEPS):
        probabilities = (1 + np.tanh((features * weights).sum(axis=1) / 2)) / 2
        gradient = (features * (truths - probabilities)[:, None]).sum(axis=0) - ridge.diagonal() * weights
        curvature = np.zeros((3, 3))
        for row in range(3):
            products = features * (features[:, row] * probabilities * (1 - probabilities))[:, None]
            curvature[row] = products.sum(axis=0)
        step = np.clip(np.linalg.solve(curvature + ridge, gradient), -_LONGEST_STEP, _LONGEST_STEP)
        weights = weights + step
        if np.abs(step).max() < _CONVERGED:
            break
    return weights


def combine_scorers(
    by_rules: Mapping[ItemKey, ScorerLabel],
    judge_values: Mapping[ItemKey, float],
    passed: Mapping[ItemKey, bool],
    seed: int = 0,
) -> CombinedLabels | None:
    """Return the labels of both scorers together, for every item that the rules scored; None if no curve fits.

    The probability of a labelled item comes from weights that its case had no part in.
    """
    items = {key: label.signal for key, label in by_rules.items() if label.signal is not None}
    keys = sorted(passed.keys() & items.keys())
    whole = _fit(keys, items, judge_values, passed)
    if whole is None or not judge_values.keys() & items.keys():
        return None
    fold_of = assign_folds([key[0] for key in keys], seed)
    curves = [
        _fit([key for key in keys if fold_of[key[0]] != fold], items, judge_values, passed) for fold in range(FOLDS)
    ]
    labels = {}
    for key, signal in items.items():
        curve = (curves[fold_of[key[0]]] if key in passed else None) or whole
        probability = compute_combined_probability(signal, judge_values.get(key), curve)
        labels[key] = by_rules[key]._replace(value=probability)
    return CombinedLabels(labels, whole, None not in curves)


def explain_uncombined(
    by_rules: Mapping[ItemKey, ScorerLabel], judge_values: Mapping[ItemKey, float], passed: Mapping[ItemKey, bool]
) -> str:
    """Return why `combine_scorers` gives nothing for these labels, and what would give it something.

    >>> explain_uncombined({}, {}, {("case", "a", ""): True})
    'the rules score 0 of 1 labelled item (expected 50, of which people passed 10 and failed 10): label more'
    """
    scored = {key for key, label in by_rules.items() if label.signal is not None}
    keys = sorted(passed.keys() & scored)
    positive = sum(passed[key] for key in keys)
    fewest = min(positive, len(keys) - positive)
    if len(keys) < LEAST_LABELS or fewest < LEAST_LABELS_OF_EACH_CLASS:
        split = f", {positive} passed and {len(keys) - positive} failed" if keys else ""
        expected = f"expected {LEAST_LABELS}, of which people passed {LEAST_LABELS_OF_EACH_CLASS} and failed "
        expected += f"{LEAST_LABELS_OF_EACH_CLASS}"
        more = "label more"
        if keys and fewest < LEAST_LABELS_OF_EACH_CLASS:
            more += f", answers of a {'worse' if positive > fewest else 'better'} configuration among them"
        items = format_count(len(passed), "labelled item")
        return f"the rules score {len(keys)} of {items}{split} ({expected}): {more}"
    if not judge_values.keys() & scored:
        return "the judge has no label on any item that the rules score: judge these answers (assay judge)"
    return "neither the rules nor the judge are right on these labels more often than wrong: another rubric or judge"


def _fit(
    keys: Sequence[ItemKey],
    signals: Mapping[ItemKey, float],
    judge_values: Mapping[ItemKey, float],
    passed: Mapping[ItemKey, bool],
) -> dict[str, float] | None:
    return fit_combined_curve(
        [signals[key] for key in keys], [judge_values.get(key) for key in keys], [passed[key] for key in keys]
    )
