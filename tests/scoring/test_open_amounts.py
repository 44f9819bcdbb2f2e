"""Summaries of latency and cost: the median below 300 cases, and percentiles that state what they cover."""

from __future__ import annotations

import numpy as np
import pytest
from tests.comparison.sides import column

from assay.metrics.catalog import CATALOG
from assay.records.scores import Summary
from assay.report.wording.number_format import format_with_interval
from assay.scoring.summaries import summarise_column


def summarise(values: list[float], metric: str = "latency_ms") -> Summary:
    return summarise_column(CATALOG["latency_ms"], column("latency_ms", values), metric=metric)


def test_an_outlier_among_few_latencies_moves_the_mean_and_not_what_is_stated() -> None:
    summary = summarise([100.0] * 40 + [10_000.0])
    assert ("p50", 100.0) == (summary.statistic, summary.value)
    assert summary.mean == pytest.approx(14_000 / 41)
    assert summary.interval is not None
    assert (100.0, 100.0) == (summary.interval.low, summary.interval.high)
    assert "median: n < 300 is too few for a mean, which is 341.463" in summary.notes


def test_three_hundred_latencies_have_a_mean() -> None:
    summary = summarise([float(row) for row in range(300)])
    assert ("mean", 149.5, 149.5) == (summary.statistic, summary.value, summary.mean)


def test_a_percentile_of_few_values_prints_the_confidence_that_it_reaches() -> None:
    """p95 of 41 covers 86% at most; from 100 values on it reaches 95%."""
    few = summarise([float(row) for row in range(41)], "latency_ms(stat=p95)")
    assert few.interval is not None
    assert 0.86 == pytest.approx(few.interval.confidence, abs=0.005)
    assert "(86.2%)" in format_with_interval(few)
    many = summarise([float(row) for row in range(100)], "latency_ms(stat=p95)")
    assert many.interval is not None
    assert 0.95 == many.interval.confidence


@pytest.mark.parametrize(("n", "statistic"), [(100, "p50"), (300, "mean")])
def test_what_is_stated_of_latencies_with_outliers_is_covered(n: int, statistic: str) -> None:
    """Log-normal latencies of which 4% are twenty times as long: at least 90% (here of 300 samples)."""
    generator = np.random.Generator(np.random.PCG64(n))
    outliers_raise_mean_by = 0.96 + 0.04 * 20
    truth = {"p50": None, "mean": np.exp(0.125) * outliers_raise_mean_by}[statistic]
    if truth is None:
        many = np.exp(0.5 * generator.standard_normal(400_000))
        truth = float(np.median(many * np.where(generator.random(400_000) < 0.04, 20.0, 1.0)))
    hits = 0
    for _ in range(300):
        sample = np.exp(0.5 * generator.standard_normal(n)) * np.where(generator.random(n) < 0.04, 20.0, 1.0)
        summary = summarise(sample.tolist())
        assert summary.statistic == statistic
        assert summary.interval is not None
        hits += summary.interval.low <= truth <= summary.interval.high
    assert hits >= 0.88 * 300
