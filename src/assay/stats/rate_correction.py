"""Correct rates and means of a judge with human labels: an estimate of what people would have found on all items.

Rogan-Gladen corrects pass rates; prediction-powered inference corrects means if there are many labels. Undefined values
are None, and the `*_problem` functions say why. `python -m benchmarks.statistics` prints the coverage of the intervals.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from assay.stats.arrays import FloatArray
from assay.stats.distributions import compute_normal_quantile
from assay.stats.intervals import Bounds, Estimate, estimate_mean_interval, wilson_interval
from assay.stats.samples import ClusterLabels, ScoreValues, compute_exact_sum, parse_finite

LEAST_YOUDEN_SUM = 1.1
LEAST_LABELS_PER_CLASS = 10
PPI_LEAST_LABELS, PPI_LEAST_LABELS_PER_CLASS = 100, 15


class SensitivitySpecificity(NamedTuple):
    """The sensitivity and specificity of a judge against human labels.

    `sensitivity`: share of the items that people passed that the judge passes too. `specificity`: share of the items
    that people failed that the judge fails too. Each is None for an empty class. `passed`, `failed`: number of items.
    """

    sensitivity: Estimate | None
    specificity: Estimate | None
    passed: int
    failed: int


def estimate_sensitivity_specificity(
    human_scores: ScoreValues,
    judge_scores: ScoreValues,
    clusters: ClusterLabels | None = None,
    confidence: float = 0.95,
) -> SensitivitySpecificity:
    """Return the sensitivity and specificity of a judge's 0/1 values against aligned human 0/1 values, with intervals.

    Wilson intervals for independent items. For clustered items each limit is the wider of Wilson and CR1-t, so that a
    case with many claims does not count as many cases. Raises ValueError for lists of different length and for values
    other than 0 and 1.

    >>> rates = estimate_sensitivity_specificity([1, 1, 1, 1, 0], [1, 1, 1, 0, 0])
    >>> rates.sensitivity.value, rates.specificity.value, rates.passed
    (0.75, 1.0, 4)
    """
    human_values, judge_values = parse_finite(human_scores), parse_finite(judge_scores)
    if len(human_values) != len(judge_values):
        raise ValueError(f"every item needs both values (got {len(human_values)} and {len(judge_values)})")
    if not (np.isin(human_values, (0.0, 1.0)).all() and np.isin(judge_values, (0.0, 1.0)).all()):
        raise ValueError("values must be 0 (fail) or 1 (pass)")
    cluster_names = None if clusters is None else list(clusters)
    rates = []
    for label in (1.0, 0.0):
        rows = np.flatnonzero(human_values == label)
        correct = (judge_values[rows] == label).astype(float)
        rates.append(
            _estimate_rate(
                correct, None if cluster_names is None else [cluster_names[row] for row in rows.tolist()], confidence
            )
        )
    return SensitivitySpecificity(
        rates[0], rates[1], int((human_values == 1.0).sum()), int((human_values == 0.0).sum())
    )


def _estimate_rate(correct: FloatArray, clusters: ClusterLabels | None, confidence: float) -> Estimate | None:
    n = len(correct)
    if n == 0:
        return None
    hits = int(correct.sum())
    wilson_bounds = wilson_interval(hits, n, confidence)
    if clusters is None or len(set(clusters)) == n:
        return Estimate(hits / n, wilson_bounds)
    cluster_bounds = estimate_mean_interval(correct, clusters=clusters, low=0.0, high=1.0, confidence=confidence)
    if cluster_bounds is None:
        return Estimate(hits / n, Bounds(0.0, 1.0, "none", "all in one cluster"))
    low, high = min(wilson_bounds.low, cluster_bounds.low), max(wilson_bounds.high, cluster_bounds.high)
    return Estimate(hits / n, Bounds(low, high, "wider of Wilson and CR1-t", cluster_bounds.note))


def explain_uncorrectable_rate(specificity: float, failed: int, sensitivity: float, passed: int) -> str:
    """Return the reason why a judge's rate cannot be corrected, or "" if it can.

    >>> explain_uncorrectable_rate(0.6, 50, 0.5, 50)
    'sensitivity + specificity is 1.1 (expected more than 1.1: the judge hardly tells pass from fail)'
    """
    if min(failed, passed) < LEAST_LABELS_PER_CLASS:
        return (
            f"too few labels of a class (got {passed} passed, {failed} failed; expected "
            f"{LEAST_LABELS_PER_CLASS} of each)"
        )
    total = sensitivity + specificity
    if total <= LEAST_YOUDEN_SUM + 1e-9:
        expectation = f"expected more than {LEAST_YOUDEN_SUM}: the judge hardly tells pass from fail"
        return f"sensitivity + specificity is {total:.3g} ({expectation})"
    return ""


def correct_rate(
    rate: float,
    n: int,
    specificity: float,
    failed: int,
    sensitivity: float,
    passed: int,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return an estimate, in [0, 1], of the pass rate people would have found, from a judge's `rate` over `n` items.

    `specificity` and `sensitivity` were measured on `failed` and `passed` labelled items. None if
    `explain_uncorrectable_rate` gives a reason. Source: Rogan and Gladen (1978); interval of Lee et al. (arXiv
    2511.21140), which includes the uncertainty of all three rates. Unlike them, requires 10 labels of both classes.

    >>> value, bounds = correct_rate(0.8, 200, 0.85, 50, 0.9, 50)
    >>> round(value, 4), round(bounds.low, 4), bounds.high
    (0.8667, 0.7539, 1.0)
    """
    if explain_uncorrectable_rate(specificity, failed, sensitivity, passed):
        return None
    value = (rate + specificity - 1) / (sensitivity + specificity - 1)
    z = compute_normal_quantile((1 + confidence) / 2)
    p, q0, q1 = (
        (n * rate + z * z / 2) / (n + z * z),
        (failed * specificity + 1) / (failed + 2),
        (passed * sensitivity + 1) / (passed + 2),
    )
    centre = (p + q0 - 1) / (q0 + q1 - 1)
    spread0, spread1 = q0 * (1 - q0) / (failed + 2), q1 * (1 - q1) / (passed + 2)
    shift = 2 * z * z * (centre * spread1 - (1 - centre) * spread0)
    variance = p * (1 - p) / (n + z * z) + (1 - centre) ** 2 * spread0 + centre**2 * spread1
    half = z * sqrt(variance) / (q0 + q1 - 1)
    clipped, low, high = (min(1.0, max(0.0, limit)) for limit in (value, centre + shift - half, centre + shift + half))
    return Estimate(clipped, Bounds(min(low, clipped), max(high, clipped), "Rogan-Gladen, Lee"))


def explain_unreliable_ppi(human_scores: ScoreValues, threshold: float = 0.5) -> str:
    """Return the reason why prediction-powered inference is unreliable with these labels, or "" if it is reliable.

    Its interval is too narrow with fewer than 100 labels or near an end of the range. Values above `threshold` count as
    passed, all others as failed.

    >>> explain_unreliable_ppi([0.0] * 95 + [1.0] * 5)
    'too few labels of a class (got 5 passed, 95 failed; expected 15 of each)'
    """
    human_values = parse_finite(human_scores)
    if len(human_values) < PPI_LEAST_LABELS:
        return f"too few labels (got {len(human_values)}; expected {PPI_LEAST_LABELS})"
    passed = int((human_values > threshold).sum())
    if min(passed, len(human_values) - passed) < PPI_LEAST_LABELS_PER_CLASS:
        got = f"got {passed} passed, {len(human_values) - passed} failed"
        return f"too few labels of a class ({got}; expected {PPI_LEAST_LABELS_PER_CLASS} of each)"
    return ""


def estimate_prediction_powered_mean(
    human_scores: ScoreValues, judge_scores: ScoreValues, unlabelled_judge_scores: ScoreValues, confidence: float = 0.95
) -> Estimate | None:
    """Return an estimate, in [0, 1], of the mean that people would have given, from labelled and unlabelled items.

    `human_scores` and `judge_scores` are aligned values of the labelled items; `unlabelled_judge_scores` are the
    judge's values of the others; all in [0, 1]. None for fewer than two labelled or two unlabelled items. Raises
    ValueError if `human_scores` and `judge_scores` differ in length. PPI++ with the power-tuned weight
    (Angelopoulos, Duchi and Zrnic, arXiv 2311.01453), clipped to [0, 1]; the variance of the judge is that of all
    its values.

    >>> value, bounds = estimate_prediction_powered_mean([1, 0, 1, 0], [1, 0, 1, 1], [1, 0, 1, 1, 0, 1])
    >>> round(value, 4), bounds.method
    (0.4643, 'PPI++')
    """
    human_values, judge_values, unlabelled_values = (
        parse_finite(human_scores),
        parse_finite(judge_scores),
        parse_finite(unlabelled_judge_scores),
    )
    n, unlabelled_count = len(human_values), len(unlabelled_values)
    if len(judge_values) != n:
        raise ValueError(f"every label needs a judge's value (got {n} and {len(judge_values)})")
    if n < 2 or unlabelled_count < 2:
        return None
    variance = _covariance(
        np.concatenate((judge_values, unlabelled_values)), np.concatenate((judge_values, unlabelled_values))
    )
    weight = _covariance(human_values, judge_values) / ((1 + n / unlabelled_count) * variance) if variance > 0 else 0.0
    weight = min(1.0, max(0.0, weight))
    residuals = human_values - weight * judge_values
    value = weight * compute_exact_sum(unlabelled_values) / unlabelled_count + compute_exact_sum(residuals) / n
    error = sqrt(
        weight**2 * _covariance(unlabelled_values, unlabelled_values) / unlabelled_count
        + _covariance(residuals, residuals) / n
    )
    half = compute_normal_quantile((1 + confidence) / 2) * error
    clipped = min(1.0, max(0.0, value))
    return Estimate(clipped, Bounds(max(0.0, min(value - half, 1.0)), min(1.0, max(0.0, value + half)), "PPI++"))


def _covariance(first: FloatArray, second: FloatArray) -> float:
    a, b = compute_exact_sum(first) / len(first), compute_exact_sum(second) / len(second)
    return compute_exact_sum(np.sort((first - a) * (second - b))) / (len(first) - 1)
