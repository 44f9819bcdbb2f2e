"""Precision and recall of sets, confusion tables, and agreement between raters.

A confusion table is a square integer array: rows are the expected labels (or the first rater), columns the observed
labels (or the second rater). Undefined values are None, never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.metrics.student import normal_quantile

Table = npt.NDArray[np.integer]
Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]


class Agreement(NamedTuple):
    """An agreement coefficient with its standard error and interval.

    `low` and `high` are None where the standard error is 0, because the formula then gives no interval.
    """

    value: float
    standard_error: float
    low: float | None
    high: float | None


def set_precision(found: AbstractSet[Hashable], expected: AbstractSet[Hashable]) -> float | None:
    """Return the share of the found items that are expected, in [0, 1]; None if `found` is empty.

    >>> set_precision({"a", "b"}, {"b", "c", "d"})
    0.5
    """
    return len(found & expected) / len(found) if found else None


def set_recall(found: AbstractSet[Hashable], expected: AbstractSet[Hashable]) -> float | None:
    """Return the share of the expected items that are found, in [0, 1]; None if `expected` is empty.

    >>> set_recall({"a", "b"}, {"b", "c", "d", "e"})
    0.25
    """
    return len(found & expected) / len(expected) if expected else None


def set_f1(found: AbstractSet[Hashable], expected: AbstractSet[Hashable]) -> float | None:
    """Return the harmonic mean of set precision and recall, in [0, 1]; None if both sets are empty.

    Computed as 2·|found ∩ expected| / (|found| + |expected|).

    >>> set_f1({"a", "b"}, {"b", "c"}), set_f1(set(), {"b"})
    (0.5, 0.0)
    """
    total = len(found) + len(expected)
    return 2 * len(found & expected) / total if total else None


def confusion(expected: Sequence[Hashable], observed: Sequence[Hashable], labels: Sequence[Hashable]) -> Table:
    """Return the confusion table of two aligned label sequences, shape (len(labels), len(labels)).

    Raises ValueError if the sequences differ in length or contain a label that is not in `labels`.

    >>> confusion(["a", "a", "b"], ["a", "b", "b"], ["a", "b"]).tolist()
    [[1, 1], [0, 1]]
    """
    index_of = {label: index for index, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for row, column in zip(expected, observed, strict=True):
        if row not in index_of or column not in index_of:
            raise ValueError(f"label not listed (got {row!r}, {column!r}; expected one of {list(labels)!r})")
        table[index_of[row], index_of[column]] += 1
    return table


def class_counts(table: Table) -> list[tuple[int, int]]:
    """Return `(hits, n)` for each expected class; hits / n is its recall.

    >>> class_counts(np.array([[9, 1], [5, 15]]))
    [(9, 10), (15, 20)]
    """
    return [(int(table[label, label]), int(table[label].sum())) for label in range(len(table))]


def balanced_accuracy(table: Table) -> float | None:
    """Return the mean recall over the expected classes that occur, in [0, 1]; None if none occurs.

    >>> round(balanced_accuracy(np.array([[9, 1], [5, 15]])), 3)
    0.825
    """
    recalls = [hits / n for hits, n in class_counts(table) if n]
    return sum(recalls) / len(recalls) if recalls else None


def raw_agreement(table: Table) -> float | None:
    """Return the share of items to which both raters gave the same label, in [0, 1]; None without items.

    >>> raw_agreement(np.array([[20, 5], [10, 15]]))
    0.7
    """
    total = int(table.sum())
    return int(np.trace(table)) / total if total else None


def cohen_kappa(table: Table, weights: Weights = "none", confidence: float = 0.95) -> Agreement | None:
    """Return Cohen's kappa, in [-1, 1], with its large-sample interval.

    `weights` gives partial credit for near misses between ordered labels. None without items, or if both raters used
    only one label, the same one. Source: Cohen (1960, 1968); standard error of Fleiss, Cohen and Everitt (1969).

    >>> kappa = cohen_kappa(np.array([[20, 5], [10, 15]]))
    >>> round(kappa.value, 4), round(kappa.standard_error, 4)
    (0.4, 0.127)
    """
    n, size = int(table.sum()), len(table)
    if n == 0:
        return None
    shares = table / n
    row_shares, column_shares = shares.sum(axis=1), shares.sum(axis=0)
    credit = credit_of(size, weights)
    observed_agreement, chance_agreement = (
        float((credit * shares).sum()),
        float((credit * np.outer(row_shares, column_shares)).sum()),
    )
    if 1 - chance_agreement < 1e-12:
        return None
    kappa = (observed_agreement - chance_agreement) / (1 - chance_agreement)
    average = (credit * column_shares).sum(axis=1)[:, None] + (credit * row_shares[:, None]).sum(axis=0)[None, :]
    spread = (
        float((shares * (credit - average * (1 - kappa)) ** 2).sum()) - (kappa - chance_agreement * (1 - kappa)) ** 2
    )
    error = sqrt(max(0.0, spread) / n) / (1 - chance_agreement)
    if error < 1e-9:  # one rater used a single label, or agreement is complete: the formula gives no spread
        return Agreement(kappa, 0.0, None, None)
    half = normal_quantile((1 + confidence) / 2) * error
    return Agreement(kappa, error, max(-1.0, kappa - half), min(1.0, kappa + half))


def gwet_ac1(table: Table) -> float | None:
    """Return Gwet's AC1, in [-1, 1]: chance-corrected agreement that stays meaningful if one label dominates.

    None without items. Raises ValueError for fewer than two labels. Source: Gwet (2008).

    >>> round(gwet_ac1(np.array([[90, 5], [5, 0]])), 3)
    0.89
    """
    n, size = int(table.sum()), len(table)
    if size < 2:
        raise ValueError("agreement needs at least two labels")
    if n == 0:
        return None
    prevalence = (table.sum(axis=1) + table.sum(axis=0)) / (2 * n)
    chance_agreement = float((prevalence * (1 - prevalence)).sum()) / (size - 1)
    return (int(np.trace(table)) / n - chance_agreement) / (1 - chance_agreement)


def krippendorff_alpha(ratings: Sequence[Sequence[float | None]], level: Level = "nominal") -> float | None:
    """Return Krippendorff's alpha, at most 1, for any number of raters; ratings may be missing.

    `ratings[r][u]` is the value that rater r gave to unit u, or None; the ratio level needs values ≥ 0. None if no unit
    has two ratings or only one value occurs. Source: Krippendorff (2011).

    >>> krippendorff_alpha([[1, 2, None, 2], [1, 2, 1, 1]])
    0.4444444444444444
    """
    coincidence = coincidences(ratings)
    return alpha_of(coincidence.values, coincidence.by_unit.sum(axis=0), level)


class Coincidences(NamedTuple):
    """The coincidences of Krippendorff's alpha.

    `values`: shape (v,), the values that occur, ascending. `by_unit`: shape (units, v, v), for each unit how often each
    pair of values was given together, divided by the number of its ratings less one.
    """

    values: npt.NDArray[np.float64]
    by_unit: npt.NDArray[np.float64]


def coincidences(ratings: Sequence[Sequence[float | None]]) -> Coincidences:
    """Return the coincidences of each unit, so that a bootstrap can resample units and add them up.

    `ratings`: as for `krippendorff_alpha`. A unit with fewer than two ratings has only zeros.

    >>> coincidences([[1, 2], [1, 1]]).by_unit.tolist()
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


def alpha_of(values: npt.NDArray[np.float64], together: npt.NDArray[np.float64], level: Level) -> float | None:
    """Return Krippendorff's alpha of coincidences summed over units, shape (v, v); None if fewer than two values occur.

    >>> found = coincidences([[1, 2, None, 2], [1, 2, 1, 1]])
    >>> alpha_of(found.values, found.by_unit.sum(axis=0), "nominal")
    0.4444444444444444
    """
    totals = together.sum(axis=1)
    if np.count_nonzero(totals) < 2:
        return None
    distance = _squared_distance(values, totals, level)
    expected = float((np.outer(totals, totals) * distance).sum()) / (float(totals.sum()) - 1)
    return 1 - float((together * distance).sum()) / expected


def credit_of(size: int, weights: Weights) -> npt.NDArray[np.float64]:
    """Return the credit for each pair of `size` ordered labels, shape (size, size), in [0, 1]; 1 on the diagonal.

    >>> credit_of(3, "quadratic")[0].tolist()
    [1.0, 0.75, 0.0]
    """
    gaps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    if weights == "none":
        return np.eye(size)
    share = gaps / max(1, size - 1)
    return np.asarray(1 - (share if weights == "linear" else share**2))


def _squared_distance(
    values: npt.NDArray[np.float64], totals: npt.NDArray[np.float64], level: Level
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
