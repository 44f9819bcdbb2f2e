"""A metric that was withdrawn is an error that says what to use instead."""

from __future__ import annotations

import pytest

from assay.metrics.catalog import parse_metric, parse_metrics
from assay.records.errors import MetricNameError


def test_critical_hallucinations_by_rules_are_refused_with_a_remedy() -> None:
    with pytest.raises(MetricNameError) as raised:
        parse_metric("critical_hallucinations(by=rules)")
    message = str(raised.value)
    assert "critical_hallucinations(by=rules) was withdrawn" in message
    assert "use critical_hallucinations(by=judge), or contradiction_suspects" in message


def test_its_name_without_a_scorer_stands_for_the_judge_alone() -> None:
    assert ["critical_hallucinations(by=judge)"] == list(map(str, parse_metrics(["critical_hallucinations"])))
