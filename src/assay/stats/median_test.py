"""Paired differences of amounts without an upper end, such as latency: their median, which outliers do not move."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from assay.stats.arrays import FloatArray
from assay.stats.intervals import Bounds, rank_median_limits
from assay.stats.samples import ClusterLabels, encode_clusters
from assay.stats.sign_flip_test import compute_mcnemar_p


class MedianSample:
    """Paired differences, tested by the exact sign test; each cluster counts once, with its median difference.

    The interval consists of two of the differences (order statistics) and belongs to the test.
    """

    def __init__(self, baseline: FloatArray, candidate: FloatArray, clusters: ClusterLabels | None) -> None:
        self.differences = candidate - baseline
        codes = encode_clusters(clusters, len(self.differences))
        self.is_clustered = codes is not None
        units = self.differences
        if codes is not None:
            ordered = units[np.lexsort((units, codes))]
            sizes = np.bincount(codes)
            starts = np.cumsum(sizes) - sizes
            units = (ordered[starts + (sizes - 1) // 2] + ordered[starts + sizes // 2]) / 2
        self.units = np.sort(units)
        self.wins = int(np.count_nonzero(self.differences > 0))
        self.losses = int(np.count_nonzero(self.differences < 0))

    @cached_property
    def median(self) -> float:
        """The median of the differences of the units: the middle one, or the mean of both."""
        return float(np.median(self.units))

    def count_differing(self) -> int:
        """Return how many units differ between the two sides, whichever way."""
        return int(np.count_nonzero(self.units))

    def test(self) -> tuple[float, str]:
        """Return the two-sided p-value of the hypothesis that the median difference is 0, and the method."""
        above, below = int(np.count_nonzero(self.units > 0)), int(np.count_nonzero(self.units < 0))
        return compute_mcnemar_p(above, below), "sign test, exact"

    def estimate_interval(self, confidence: float) -> Bounds | None:
        """Return the interval of the median difference, None if so few units cannot reach the confidence."""
        rank = rank_median_limits(len(self.units), confidence)
        if rank is None:
            return None
        return Bounds(float(self.units[rank - 1]), float(self.units[len(self.units) - rank]), "order statistics")
