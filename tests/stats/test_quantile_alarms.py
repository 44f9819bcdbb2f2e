"""Alarms on percentiles: counted by bins, exact under exchange of days, blind to nothing that moves the tail."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.monitor import find_quantile_alarms

from assay.stats.change_alarms import REFERENCE_DAYS
from assay.stats.quantile_alarms import CountArray, find_quantile_bin
from assay.trends.traffic_sums import DayBins

DAYS = REFERENCE_DAYS + 28


def draw_counts(seed: int, *, slow_from: int = DAYS, factor: float = 1.0) -> CountArray:
    generator = np.random.default_rng(seed)
    bins = DayBins(DAYS)
    for day in range(DAYS):
        values = np.sort(generator.lognormal(7, 0.4, 150))
        if day >= slow_from:  # only the tail
            values[-20:] *= factor
        bins.add_values(np.full(len(values), day), values)
    return bins.counts


def test_a_longer_tail_is_found_and_named_by_its_quantiles() -> None:
    counts = draw_counts(1, slow_from=DAYS - 14, factor=3.0)
    alarms = find_quantile_alarms(counts, 0.95, DAYS - 14, DAYS - 1, 1)
    assert alarms and alarms[0].alarm.day <= DAYS - 8
    assert alarms[0].before < alarms[0].above <= alarms[0].after
    assert find_quantile_alarms(counts, 0.95, DAYS - 14, DAYS - 1, -1) == []
    assert find_quantile_alarms(counts, 0.5, DAYS - 14, DAYS - 1, 1) == [], "the median did not move"


def test_nothing_is_found_where_nothing_changes_and_before_there_is_a_reference() -> None:
    found = sum(len(find_quantile_alarms(draw_counts(seed), 0.95, DAYS - 7, DAYS - 1, 1)) for seed in range(2, 8))
    assert found == 0
    assert find_quantile_alarms(draw_counts(1, slow_from=10, factor=9.0), 0.95, 0, 27, 1) == []


def test_values_are_counted_by_day_and_bin_and_read_to_one_per_cent() -> None:
    bins = DayBins(3)
    values = np.array([100.0, 900.0, 1e-12, 5e6])
    bins.add_values(np.array([0, 2, 2, 0]), values)
    bins.add_values(np.array([1]), np.array([950.0]))
    assert bins.counts.sum(axis=1).tolist() == [2, 1, 2]
    assert bins.read_quantile(bins.counts[1].astype(np.int64), 0.95) == pytest.approx(950, rel=0.011)
    assert bins.sum_above(940).tolist() == [1, 1, 0]
    assert bins.sum_above(1e9).tolist() == [0, 0, 0]
    assert find_quantile_bin(np.zeros(4, dtype=np.int64), 0.95) == 0
