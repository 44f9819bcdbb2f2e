"""Values as the statistics take them: finite numbers, exact sums, and the independent units they fall into."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import fsum, isfinite, sqrt

import numpy as np
import numpy.typing as npt

Values = Sequence[float] | npt.NDArray[np.float64]


def finite(values: Iterable[float]) -> list[float]:
    """Return the values as floats; raises ValueError if one is not finite.

    >>> finite([1, 0.5])
    [1.0, 0.5]
    """
    numbers = [float(value) for value in values]
    if not all(map(isfinite, numbers)):
        raise ValueError("values must be finite numbers")
    return numbers


def mean_of(values: Values) -> float | None:
    """Return the mean, summed exactly so that order does not matter; None for no values.

    >>> mean_of([0.1] * 10)
    0.1
    """
    numbers = finite(values)
    return fsum(numbers) / len(numbers) if numbers else None


def units(numbers: Sequence[float], clusters: Sequence[Hashable] | None) -> tuple[list[float], list[float]]:
    """Return the totals and sizes of the independent units: clusters in order of appearance, or each value alone.

    Raises ValueError if `clusters` has another length than `numbers`.

    >>> units([1.0, 2.0, 4.0], ["a", "b", "a"])
    ([5.0, 2.0], [2.0, 1.0])
    """
    if clusters is None:
        return list(numbers), [1.0] * len(numbers)
    groups: dict[Hashable, list[float]] = {}
    for value, cluster in zip(numbers, clusters, strict=True):
        groups.setdefault(cluster, []).append(value)
    return [fsum(group) for group in groups.values()], [float(len(group)) for group in groups.values()]


def standard_error(totals: Sequence[float], sizes: Sequence[float]) -> float:
    """Return the standard error of Σtotals/Σsizes over two or more independent units, at least 0.

    CR1 (Liang and Zeger 1986 with the factor G/(G−1)); the usual s/√n when every unit is a single value.

    >>> round(standard_error([1, 2, 3, 4], [1, 1, 1, 1]), 6)
    0.645497
    """
    count, n = len(totals), fsum(sizes)
    mean = fsum(totals) / n
    spread = fsum((total - size * mean) ** 2 for total, size in zip(totals, sizes, strict=True))
    return sqrt(count / (count - 1) * spread) / n
