"""One estimate with one interval: where answers are unknown, the interval holds whatever they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.metrics.answers.correctness import UNKNOWN_REASON
from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.metric import Metric
from assay.records.findings import MetricChange
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn, Summary
from assay.report.wording.change_values import format_gain, format_sides
from assay.report.wording.number_format import format_unknown
from assay.scoring.summaries import summarise_column

METRIC = "correct_answer"
ROW = find_metric(parse_metric(METRIC))


def make_column(right: int, wrong: int, unknown: int, errors: int = 0) -> ScoreColumn:
    values = [1.0] * right + [0.0] * (wrong + unknown + errors)
    status = [SCORED] * (right + wrong) + [NOT_APPLICABLE] * unknown + [ERROR] * errors
    codes = [0] * (right + wrong) + [1] * unknown + [2] * errors
    reasons = ("", UNKNOWN_REASON, "timeout")
    return ScoreColumn(METRIC, np.array(values), np.array(status, np.uint8), np.array(codes, np.uint16), reasons)


def summarise(right: int, wrong: int, unknown: int, errors: int = 0, row: Metric = ROW) -> Summary:
    return summarise_column(row, make_column(right, wrong, unknown, errors))


@given(st.integers(1, 30), st.integers(0, 20), st.integers(1, 20))
def test_the_interval_holds_those_of_all_completions(right: int, wrong: int, unknown: int) -> None:
    summary = summarise(right, wrong, unknown)
    assert summary.interval is not None and summary.unknown is not None
    for found in range(unknown + 1):
        completed = summarise(right + found, wrong + unknown - found, 0).interval
        assert completed is not None
        assert summary.interval.low <= completed.low and completed.high <= summary.interval.high
    assert summary.interval.low <= summary.unknown.low and summary.unknown.high <= summary.interval.high
    assert summary.mean_worst == pytest.approx(right / (right + wrong + unknown))


def test_the_worst_mean_counts_errors_and_unknown_answers() -> None:
    """Three of eleven: two errors and four unknown answers count as wrong."""
    assert 3 / 11 == pytest.approx(summarise(3, 2, 4, errors=2).mean_worst)


def test_nothing_is_perfect_while_answers_are_unknown() -> None:
    assert any("perfect" in note for note in summarise(7, 0, 0).notes)
    summary = summarise(7, 0, 6)
    assert not any("perfect" in note for note in summary.notes)
    assert "6 unknown, counted at worst and at best; of the 7 known alone 1.000" == format_unknown(summary)


def test_a_set_of_unknown_answers_has_no_number() -> None:
    summary = summarise(0, 0, 5)
    assert (None, None) == (summary.value, summary.interval)


def make_change(metric: str, baseline: float, candidate: float, gain: float, statistic: str = "p95") -> MetricChange:
    return MetricChange(
        metric=metric, slice=None, baseline=baseline, candidate=candidate, gain=gain, low=None, high=None, p=None,
        p_adjusted=None, method="", n=9, improved=(), regressed=(), unchanged=(), unpaired=(), smallest_detectable=None,
        statistic=statistic,
    )  # fmt: skip


def test_a_difference_agrees_with_the_values_next_to_it() -> None:
    slower = make_change("latency_ms(stat=p95)", 31.6, 44.4, -12.8)
    assert (("31.6", "44.4"), "-12.8") == (format_sides(slower), format_gain(slower))
    whole = make_change("latency_ms(stat=p95)", 31.6, 44.7, -13.1)
    assert (("32", "45"), "-13") == (format_sides(whole), format_gain(whole))
    medians = make_change("latency_ms", 31.6, 44.4, -12.8, "median")  # the median difference is another number
    assert ("32", "44") == format_sides(medians)
