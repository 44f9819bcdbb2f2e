"""A pass about leaks says how few cases tell of them (ADR 228)."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.gates.decision_weight import find_exit_code
from assay.records.errors import ExitCode
from assay.records.golden_set import Case, GoldenSet, Selector
from assay.records.observations import Chunk, Observation, Stage
from assay.records.release_gates import Decision, Gate, Rule
from assay.report.exports.github import render_workflow_commands

LEAKS = Rule("visibility_leaks", at_most=0.0)
GATE = Gate(rules=(LEAKS,), exempt_from_correctness="only access is tested")


def _score(checked: int, cases: int, gate: Gate = GATE, leaked: bool = False) -> Any:
    golden, outputs = [], []
    for case in range(cases):
        forbidden: tuple[Selector, ...] = ({"chunk_id": "salary"},) if case < checked else ()
        golden.append(Case(f"k{case}", f"Who keeps key {case}?", forbidden=forbidden, tags=("keys",)))
        shown = "salary" if leaked and case == 0 else "keys"
        stages = (Stage("context", (Chunk(shown, text="Keys are kept at the desk."),)),)
        outputs.append(Observation(f"k{case}", "x", answer="The desk keeps it.", stages=stages, behaviour="answer"))
    return assay.score(GoldenSet(tuple(golden)), outputs, gate=gate)


@pytest.mark.parametrize(
    ("checked", "cases", "is_said"), [(3, 50, True), (24, 50, True), (25, 50, False), (9, 9, False)]
)
def test_a_pass_on_few_cases_says_how_many_they_are(checked: int, cases: int, is_said: bool) -> None:
    """Below half of the cases, with the bound: of three without a leak 1 − 0.05^(1/3) = 63.2%."""
    decision = _score(checked, cases).decision
    assert isinstance(decision, Decision)
    assert is_said == bool(decision.limits)
    assert set(decision.limits) <= set(decision.reasons) - set(decision.risks)
    assert all(f"tells of {checked} of {cases} cases, none of which leaked" in limit for limit in decision.limits)
    assert checked != 3 or "up to 63.2% may still do so" in decision.limits[0]


def test_it_is_no_risk_and_stops_nothing() -> None:
    """Nobody forgot anything: a set may ask about access in few cases."""
    decision = _score(3, 50).decision
    assert [] == [risk for risk in decision.risks if "tells of" in risk]
    assert find_exit_code(decision) == ExitCode.PASS


def test_next_to_a_leak_it_is_not_said() -> None:
    """A failure says how many cases were checked in its own words."""
    decision = _score(3, 50, leaked=True).decision
    assert ("FAIL", ()) == (decision.outcome, decision.limits)


def test_a_rule_on_a_slice_counts_its_cases() -> None:
    """And names the slice."""
    rule = Rule("visibility_leaks", at_most=0.0, slice="tag=keys")
    gate = Gate(rules=(rule,), exempt_from_correctness="a test")
    assert "tells of 2 of 40 cases of tag=keys" in _score(2, 40, gate).decision.limits[0]


def test_annotations_of_it_are_notices() -> None:
    """Neither a warning nor, if risks count, an error."""
    scoring = _score(3, 50).scoring
    told = [line for line in render_workflow_commands(scoring, strict=True) if "tells of 3 of 50" in line]
    assert ["::notice"] == [line.split(" ")[0] for line in told]
