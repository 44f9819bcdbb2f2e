"""Agreement of raters: people with each other, and a scorer with people."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import ConfusionTables
from assay.stats.bootstrap import CreditMatrix
from assay.stats.distributions import compute_normal_quantile

KappaWeights = Literal["none", "linear", "quadratic"]
MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]


class AgreementEstimate(NamedTuple):
    """An agreement coefficient with its interval.

    `low` and `high` are None where the standard error is 0, because the formula then gives no interval.
    """

    value: float
    low: float | None
    high: float | None


def compute_raw_agreement(table: ConfusionTables) -> float | None:
    """Return the share of items to which both raters gave the same label, in [0, 1]; None without items.

    >>> compute_raw_agreement(np.array([[20, 5], [10, 15]]))
    0.7
    """
    total = int(table.sum())
    return int(np.trace(table)) / total if total else None


def compute_cohen_kappa(
    table: ConfusionTables, weights: KappaWeights = "none", confidence: float = 0.95
) -> AgreementEstimate | None:
    """Return Cohen's kappa, in [-1, 1], with its large-sample interval.

    `weights` gives partial credit for near misses between ordered labels. None without items, or if both raters used
    only one label, the same one. Source: Cohen (1960, 1968); standard error of Fleiss, Cohen and Everitt (1969).

    >>> kappa = compute_cohen_kappa(np.array([[20, 5], [10, 15]]))
    >>> round(kappa.value, 4), round(kappa.low, 3), round(kappa.high, 3)
    (0.4, 0.151, 0.649)
    """
    n = int(table.sum())
    if n == 0:
        return None
    credit = make_credit_matrix(len(table), weights)
    (kappa,) = compute_kappas(table[np.newaxis], credit)
    if kappa is None:
        return None
    ((_, chance_agreement),) = _compute_credited_shares(table[np.newaxis], credit)
    shares = table / n
    row_shares, column_shares = shares.sum(axis=1), shares.sum(axis=0)
    average = (credit * column_shares).sum(axis=1)[:, None] + (credit * row_shares[:, None]).sum(axis=0)[None, :]
    spread = (
        float((shares * (credit - average * (1 - kappa)) ** 2).sum()) - (kappa - chance_agreement * (1 - kappa)) ** 2
    )
    error = sqrt(max(0.0, spread) / n) / (1 - chance_agreement)
    if error < 1e-9:  # one rater used a single label, or agreement is complete: the formula gives no spread
        return AgreementEstimate(kappa, None, None)
    half = compute_normal_quantile((1 + confidence) / 2) * error
    return AgreementEstimate(kappa, max(-1.0, kappa - half), min(1.0, kappa + half))


def compute_gwet_ac1(table: ConfusionTables) -> float | None:
    """Return Gwet's AC1, in [-1, 1]: chance-corrected agreement that stays meaningful if one label dominates.

    None without items. Raises ValueError for fewer than two labels. Source: Gwet (2008).

    >>> round(compute_gwet_ac1(np.array([[90, 5], [5, 0]])), 3)
    0.89
    """
    if len(table) < 2:
        raise ValueError("agreement needs at least two labels")
    return compute_ac1s(table[np.newaxis])[0] if table.any() else None


class Coincidences(NamedTuple):
    """The coincidences of Krippendorff's alpha.

    `values`: shape (v,), the values that occur, ascending. `by_unit`: shape (units, v, v), for each unit how often each
    pair of values was given together, divided by the number of its ratings less one.
    """

    values: npt.NDArray[np.float64]
    by_unit: npt.NDArray[np.float64]


def count_coincidences(ratings: Sequence[Sequence[float | None]]) -> Coincidences:
    """Return the coincidences of each unit, so that a bootstrap can resample units and add them up.

    `ratings[r][u]` is the value that rater r gave to unit u, or None. A unit with fewer than two ratings has only
    zeros.

    >>> count_coincidences([[1, 2], [1, 1]]).by_unit.tolist()
    [[[2.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]]
    """
    ratings_by_unit = [[value for value in unit if value is not None] for unit in zip(*ratings, strict=True)]
    values = sorted({value for unit in ratings_by_unit if len(unit) > 1 for value in unit})
    index_of = {value: index for index, value in enumerate(values)}
    by_unit = np.zeros((len(ratings_by_unit), len(values), len(values)))
    for unit_number, unit in enumerate(ratings_by_unit):
        if len(unit) > 1:
            counts = np.bincount([index_of[value] for value in unit], minlength=len(values))
            by_unit[unit_number] = (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    return Coincidences(np.array(values, dtype=np.float64), by_unit)


def compute_alpha_of_coincidences(
    values: npt.NDArray[np.float64], coincidences: npt.NDArray[np.float64], level: MeasurementLevel
) -> float | None:
    """Return Krippendorff's alpha of coincidences summed over units, shape (v, v); None if fewer than two values occur.

    >>> found = count_coincidences([[1, 2, None, 2], [1, 2, 1, 1]])
    >>> compute_alpha_of_coincidences(found.values, found.by_unit.sum(axis=0), "nominal")
    0.4444444444444444
    """
    totals = coincidences.sum(axis=1)
    if np.count_nonzero(totals) < 2:
        return None
    distance = _squared_distance(values, totals, level)
    expected = float((np.outer(totals, totals) * distance).sum()) / (float(totals.sum()) - 1)
    return 1 - float((coincidences * distance).sum()) / expected


def make_credit_matrix(size: int, weights: KappaWeights) -> npt.NDArray[np.float64]:
    """Return the credit for each pair of `size` ordered labels, shape (size, size), in [0, 1]; 1 on the diagonal.

    >>> make_credit_matrix(3, "quadratic")[0].tolist()
    [1.0, 0.75, 0.0]
    """
    gaps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    if weights == "none":
        return np.eye(size)
    share = gaps / max(1, size - 1)
    return np.asarray(1 - (share if weights == "linear" else share**2))


def _squared_distance(
    values: npt.NDArray[np.float64], totals: npt.NDArray[np.float64], level: MeasurementLevel
) -> npt.NDArray[np.float64]:
    """Return the squared distance between each two values, as the level of measurement defines it."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if (
        level == "ordinal"
    ):  # distance in ranks: the ratings between two values, with those of the two values counted half
        middle_rank = np.cumsum(totals) - totals / 2
        return np.asarray(np.subtract.outer(middle_rank, middle_rank) ** 2)
    gaps = np.subtract.outer(values, values)
    if level == "interval":
        return np.asarray(gaps**2)
    sums = np.add.outer(values, values)
    return np.asarray((gaps / np.where(sums == 0, 1.0, sums)) ** 2)


def compute_kappas(tables: ConfusionTables, credit: CreditMatrix) -> list[float | None]:
    """Return Cohen's kappa of many confusion tables, each with at least one item.

    None where both raters used only one label, the same one. `credit[i, j]`, shape (labels, labels), is the credit for
    labels i and j together: 1 if they are the same.

    >>> compute_kappas(np.array([[[20, 5], [10, 15]], [[9, 0], [0, 0]]]), np.eye(2))
    [0.3999999999999999, None]
    """
    return [
        None if 1 - chance < 1e-12 else (observed - chance) / (1 - chance)
        for observed, chance in _compute_credited_shares(tables, credit)
    ]


def _compute_credited_shares(tables: ConfusionTables, credit: CreditMatrix) -> list[tuple[float, float]]:
    """Return for each table the agreement that was observed, and the one that is expected by chance."""
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    row_shares, column_shares = shares.sum(axis=2), shares.sum(axis=1)
    observed = (shares * credit).sum(axis=(1, 2)).tolist()
    chance = ((row_shares[:, :, None] * column_shares[:, None, :]) * credit).sum(axis=(1, 2)).tolist()
    return list(zip(observed, chance, strict=True))


def compute_ac1s(tables: ConfusionTables) -> list[float | None]:
    """Return Gwet's AC1 of many confusion tables, each with at least one item and two labels.

    >>> [round(value, 3) for value in compute_ac1s(np.array([[[90, 5], [5, 0]]]))]
    [0.89]
    """
    totals = tables.sum(axis=(1, 2))
    prevalence = (tables.sum(axis=2) + tables.sum(axis=1)) / (2 * totals[:, None])
    chance = (prevalence * (1 - prevalence)).sum(axis=1) / (tables.shape[1] - 1)
    raw = np.trace(tables, axis1=1, axis2=2) / totals
    return list(((raw - chance) / (1 - chance)).tolist())
