"""Basics of the statistics: finite values, exact sums, independent units (clusters) and the standard error.

No result depends on the order of the values: totals are exact, like `math.fsum`, and all other sums run in ascending
order.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import FloatArray

ClusterCodes = npt.NDArray[np.intp]
ScoreValues = Sequence[float] | FloatArray
ClusterLabels = Sequence[Hashable] | npt.NDArray[np.integer]


class IndependentUnits(NamedTuple):
    """Independent units (clusters or single values): `totals` and `sizes` of shape (units,), and the exact `total`."""

    totals: FloatArray
    sizes: FloatArray
    total: float

    @property
    def mean(self) -> float:
        """The mean of all values."""
        return self.total / float(self.sizes.sum())  # sizes are integers, so their sum is exact in any order


def parse_finite(values: ScoreValues) -> FloatArray:
    """Return the values as a new array of floats, without negative zero; raises ValueError if one is not finite.

    >>> parse_finite([1, 0.5]).tolist()
    [1.0, 0.5]
    """
    numbers = np.asarray(values, dtype=np.float64) + 0.0
    if not np.isfinite(numbers).all():
        raise ValueError("values must be finite numbers")
    return numbers


_LEAST_FOR_INTEGERS = 200  # numbers from which the sum in integers is faster


def compute_exact_sum(numbers: FloatArray) -> float:
    """Return the correctly rounded sum of finite numbers: the result of `math.fsum`, up to ten times as fast.

    If all numbers are multiples of one power of two that fit into 62 bits, they are added as integers.

    >>> compute_exact_sum(np.array([0.1] * 10)), compute_exact_sum(np.array([1e100, 1.0, -1e100]))
    (1.0, 1.0)
    """
    if len(numbers) < _LEAST_FOR_INTEGERS:
        return math.fsum(numbers.tolist())
    shift = 62 - math.frexp(float(np.abs(numbers).max(initial=0.0)))[1]
    scaled = np.ldexp(numbers, shift)
    whole_numbers = scaled.astype(np.int64)
    if not (whole_numbers == scaled).all():
        return math.fsum(numbers.tolist())
    total = (int((whole_numbers >> 32).sum()) << 32) + int((whole_numbers & 0xFFFFFFFF).sum())
    return total / (1 << shift) if shift >= 0 else float(total << -shift)


def encode_clusters(clusters: ClusterLabels | None, n: int) -> ClusterCodes | None:
    """Return the cluster of each value as an integer from 0, shape (n,); None if all `n` values are independent.

    Integer arrays are much faster than other labels. Raises ValueError unless there are `n` labels.

    >>> encode_clusters(["a", "b", "a"], 3).tolist()
    [0, 1, 0]
    """
    if clusters is None:
        return None
    if len(clusters) != n:
        raise ValueError(f"every value needs a cluster (got {len(clusters)} clusters for {n} values)")
    if isinstance(clusters, np.ndarray):
        codes = np.unique(clusters, return_inverse=True)[1]
    else:
        code_of_cluster: dict[Hashable, int] = {}
        codes = np.array(
            [code_of_cluster.setdefault(cluster, len(code_of_cluster)) for cluster in clusters], dtype=np.intp
        )
    return codes if n and int(codes.max()) + 1 < n else None


def group_into_units(numbers: FloatArray, codes: ClusterCodes | None = None) -> IndependentUnits:
    """Return the independent units: the values of each cluster code together, or each value if `codes` is None.

    >>> totals, sizes, total = group_into_units(parse_finite([1, 2, 4]), encode_clusters(["a", "b", "a"], 3))
    >>> totals.tolist(), sizes.tolist(), total
    ([5.0, 2.0], [2.0, 1.0], 7.0)
    """
    total = compute_exact_sum(numbers)
    if codes is None:
        return IndependentUnits(numbers, np.ones(len(numbers)), total)
    rising_order = np.argsort(numbers)
    totals = np.asarray(np.bincount(codes[rising_order], weights=numbers[rising_order]), dtype=np.float64)
    return IndependentUnits(totals, np.bincount(codes).astype(np.float64), total)


def compute_standard_error(sample_units: IndependentUnits) -> float:
    """Return the standard error of the mean over two or more independent units, at least 0.

    CR1 (Liang and Zeger 1986, with the factor G/(G−1)); equals s/√n if every unit is a single value.

    >>> round(compute_standard_error(group_into_units(parse_finite([1, 2, 3, 4]))), 6)
    0.645497
    """
    count, n = len(sample_units.totals), float(sample_units.sizes.sum())
    distances = np.abs(sample_units.totals - sample_units.sizes * sample_units.mean)
    largest_distance = float(distances.max())
    if largest_distance == 0.0:
        return 0.0
    spread = float(
        np.cumsum(np.sort((distances / largest_distance) ** 2))[-1]
    )  # scaled: squares of 1e200 would overflow
    return largest_distance * sqrt(count / (count - 1) * spread) / n
