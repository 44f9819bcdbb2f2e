"""Seeded bootstrap intervals for statistics over cases, such as agreement between raters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import ceil

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import RowIndices
from assay.stats.intervals import Bounds
from assay.stats.samples import encode_clusters

CASE_RESAMPLES = 1_000
"""Confusion tables of several draws, shape (draws, labels, labels): draw, first rater, second rater."""
CreditMatrix = npt.NDArray[np.float64]
CaseStatistic = Callable[[RowIndices], float | None]


def bootstrap_interval(
    statistic: CaseStatistic,
    clusters: Sequence[Hashable],
    *,
    seed: int = 0,
    resamples: int = CASE_RESAMPLES,
    confidence: float = 0.95,
) -> Bounds | None:
    """Return the percentile bootstrap interval of a statistic over whole clusters drawn with replacement.

    `clusters` gives the case of each item. `statistic` takes the row indices of the items drawn, with repeats, and
    returns None if it is undefined. None for fewer than two clusters, or if half of the draws or more are undefined;
    fewer undefined draws are left out, and the note says so. Source: Efron (1979).

    >>> values = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    >>> bounds = bootstrap_interval(lambda rows: float(values[rows].mean()), range(6), seed=1)
    >>> round(bounds.low, 3), bounds.high
    (0.167, 1.0)
    """
    row_draws = draw_cases(clusters, seed=seed, resamples=resamples)
    return interval_of_draws(map(statistic, row_draws), resamples, seed, confidence) if row_draws is not None else None


def draw_cases(
    clusters: Sequence[Hashable], *, seed: int = 0, resamples: int = CASE_RESAMPLES
) -> list[RowIndices] | None:
    """Return the row indices of the items of each draw; None for fewer than two clusters.

    Several statistics can share the draws.

    >>> [sorted(rows.tolist()) for rows in draw_cases(["a", "a", "b"], seed=1, resamples=2)]
    [[0, 1, 2], [2, 2]]
    """
    codes = encode_clusters(clusters, len(clusters))
    generator = np.random.Generator(np.random.PCG64(seed))
    count = len(clusters) if codes is None else int(codes.max(initial=-1)) + 1
    if count < 2:
        return None
    drawn_clusters = [generator.integers(0, count, count) for _ in range(resamples)]
    if codes is None:
        return drawn_clusters
    members = [np.flatnonzero(codes == code) for code in range(count)]
    return [np.concatenate([members[code] for code in drawn.tolist()]) for drawn in drawn_clusters]


def interval_of_draws(
    values: Iterable[float | None], resamples: int = CASE_RESAMPLES, seed: int = 0, confidence: float = 0.95
) -> Bounds | None:
    """Return the percentile interval of the values of a statistic over the draws; see `bootstrap_interval`."""
    defined = sorted(value for value in values if value is not None)
    if 2 * len(defined) <= resamples:
        return None
    tail = (1 - confidence) / 2
    low, high = defined[ceil(tail * len(defined)) - 1], defined[ceil((1 - tail) * len(defined)) - 1]
    undefined_count = resamples - len(defined)
    note = f"undefined in {undefined_count} of {resamples} draws" if undefined_count else ""
    return Bounds(low, high, f"case bootstrap, {resamples} draws, seed {seed}", note)
