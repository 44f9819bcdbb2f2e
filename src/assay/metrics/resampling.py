"""Seeded bootstrap intervals for statistics over cases, such as agreement between raters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import ceil

import numpy as np
import numpy.typing as npt

from assay.metrics.rates import Bounds
from assay.metrics.samples import cluster_codes

RESAMPLES = 1_000
Rows = npt.NDArray[np.intp]
Tables = npt.NDArray[np.integer]
"""Confusion tables of several draws, shape (draws, labels, labels): draw, first rater, second rater."""
Weights = npt.NDArray[np.float64]
Statistic = Callable[[Rows], float | None]


def case_bootstrap(
    statistic: Statistic,
    clusters: Sequence[Hashable],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Bounds | None:
    """Return the percentile bootstrap interval of a statistic over whole clusters drawn with replacement.

    `clusters` gives the case of each item. `statistic` takes the row indices of the items drawn, with repeats, and
    returns None if it is undefined. None for fewer than two clusters, or if half of the draws or more are undefined;
    fewer undefined draws are left out, and the note says so. Source: Efron (1979).

    >>> values = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    >>> bounds = case_bootstrap(lambda rows: float(values[rows].mean()), range(6), seed=1)
    >>> round(bounds.low, 3), bounds.high
    (0.167, 1.0)
    """
    row_draws = draws(clusters, seed=seed, resamples=resamples)
    return bounds_of(map(statistic, row_draws), resamples, seed, confidence) if row_draws is not None else None


def draws(clusters: Sequence[Hashable], *, seed: int = 0, resamples: int = RESAMPLES) -> list[Rows] | None:
    """Return the row indices of the items of each draw; None for fewer than two clusters.

    Several statistics can share the draws.

    >>> [sorted(rows.tolist()) for rows in draws(["a", "a", "b"], seed=1, resamples=2)]
    [[0, 1, 2], [2, 2]]
    """
    codes = cluster_codes(clusters, len(clusters))
    generator = np.random.Generator(np.random.PCG64(seed))
    count = len(clusters) if codes is None else int(codes.max(initial=-1)) + 1
    if count < 2:
        return None
    drawn_clusters = [generator.integers(0, count, count) for _ in range(resamples)]
    if codes is None:
        return drawn_clusters
    members = [np.flatnonzero(codes == code) for code in range(count)]
    return [np.concatenate([members[code] for code in drawn.tolist()]) for drawn in drawn_clusters]


def bounds_of(
    values: Iterable[float | None], resamples: int = RESAMPLES, seed: int = 0, confidence: float = 0.95
) -> Bounds | None:
    """Return the percentile interval of the values of a statistic over the draws; see `case_bootstrap`."""
    defined = sorted(value for value in values if value is not None)
    if 2 * len(defined) <= resamples:
        return None
    tail = (1 - confidence) / 2
    low, high = defined[ceil(tail * len(defined)) - 1], defined[ceil((1 - tail) * len(defined)) - 1]
    undefined_count = resamples - len(defined)
    note = f"undefined in {undefined_count} of {resamples} draws" if undefined_count else ""
    return Bounds(low, high, f"case bootstrap, {resamples} draws, seed {seed}", note)


def kappas(tables: Tables, credit: Weights) -> list[float | None]:
    """Return Cohen's kappa of many confusion tables, each with at least one item; None where `cohen_kappa` is None.

    `credit[i, j]`, shape (labels, labels), is the credit for labels i and j together: 1 if they are the same.

    >>> kappas(np.array([[[20, 5], [10, 15]], [[9, 0], [0, 0]]]), np.eye(2))
    [0.3999999999999999, None]
    """
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    row_shares, column_shares = shares.sum(axis=2), shares.sum(axis=1)
    observed = (shares * credit).sum(axis=(1, 2)).tolist()
    chance = ((row_shares[:, :, None] * column_shares[:, None, :]) * credit).sum(axis=(1, 2)).tolist()
    return [
        None if 1 - by_chance < 1e-12 else (agreement - by_chance) / (1 - by_chance)
        for agreement, by_chance in zip(observed, chance, strict=True)
    ]


def ac1s(tables: Tables) -> list[float | None]:
    """Return Gwet's AC1 of many confusion tables, each with at least one item and two labels.

    >>> [round(value, 3) for value in ac1s(np.array([[[90, 5], [5, 0]]]))]
    [0.89]
    """
    totals = tables.sum(axis=(1, 2))
    prevalence = (tables.sum(axis=2) + tables.sum(axis=1)) / (2 * totals[:, None])
    chance = (prevalence * (1 - prevalence)).sum(axis=1) / (tables.shape[1] - 1)
    raw = np.trace(tables, axis1=1, axis2=2) / totals
    return list(((raw - chance) / (1 - chance)).tolist())


def balanced_accuracies(tables: Tables) -> list[float | None]:
    """Return the balanced accuracy of many confusion tables, each with at least one item.

    >>> balanced_accuracies(np.array([[[9, 1], [5, 15]], [[3, 1], [0, 0]]]))
    [0.825, 0.75]
    """
    rows = tables.sum(axis=2)
    recalls = np.diagonal(tables, axis1=1, axis2=2) / np.maximum(rows, 1)
    return list((recalls.sum(axis=1) / (rows > 0).sum(axis=1)).tolist())
