"""What the table of a gate says that a rule does, is what it does to the decision."""

from __future__ import annotations

from typing import Literal

import pytest

from assay.gates.decision_weight import describe_effect, weigh_results
from assay.records.release_gates import Decision, Rule, RuleResult, RuleState
from assay.report.findings.gate_tables import build_checklist_table


@pytest.mark.parametrize("state", ["fail", "inconclusive", "unmeasured", "no_data", "incomplete", "uncalibrated"])
@pytest.mark.parametrize("severity", ["block", "warn"])
@pytest.mark.parametrize("strictness", ["fail", "risk", None])
@pytest.mark.parametrize("waived", ["", "by the owner"])
def test_what_is_said_to_block_is_what_stops_a_release(
    state: RuleState, severity: Literal["block", "warn"], strictness: Literal["fail", "risk"] | None, waived: str
) -> None:
    rule = Rule(
        "rr@10", at_least=0.8, severity=severity, if_inconclusive=strictness, if_unmeasured=strictness or "ignore"
    )
    result = RuleResult(rule, state, None, 12, "as it is", waived=waived)
    outcome = weigh_results([result], (), ()).outcome
    stops = outcome in ("FAIL", "INCOMPLETE")
    if stops:
        assert describe_effect(result) in ("block", "warn")
    elif severity == "block":
        assert "blocks nothing" == describe_effect(result)
    assert not (stops and describe_effect(result) == "blocks nothing")
    assert not (not stops and describe_effect(result) == "block")


def test_the_table_says_so() -> None:
    rule = Rule("recall@10", max_regression=0.02, if_inconclusive="risk")
    decision = Decision("PASS_WITH_RISK", (), (RuleResult(rule, "inconclusive", None, 8, "too few cases"),))
    table = build_checklist_table({"hybrid": decision})
    (row,) = table.rows
    assert "blocks nothing" == row[table.columns.index("Severity")]
