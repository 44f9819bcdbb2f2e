"""Doubt about most of the answers that passed is a risk of the decision (ADR 228)."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.gates.decision_weight import find_exit_code
from assay.records.errors import ExitCode
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.records.release_gates import Decision, Gate, Rule

IN_DOUBT = "what they passed for is in doubt"
RULES = (Rule("correct_answer", at_least=0.5),)


def _decide(doubted: int, cases: int, gate: Gate | None = None, **fields: Any) -> Decision:
    """Decide on right answers, of which some add a number that nothing has."""
    golden, outputs = [], []
    for case in range(cases):
        added = f" Gate {case} has {900 + case} lockers." if case < doubted else ""
        text = f"Bus {case} leaves from platform {20 + case}."
        golden.append(
            Case(
                f"b{case}",
                f"From which platform does bus {case} leave?",
                must_have=(f"platform {20 + case}",),
                **fields,
            )
        )
        stages = (Stage("context", (Chunk(f"c{case}", text=text),)),)
        outputs.append(Observation(f"b{case}", "x", answer=text + added, stages=stages, behaviour="answer"))
    gate = gate or Gate(rules=RULES, correctness=0.5)
    decision = assay.score(GoldenSet(tuple(golden)), outputs, gate=gate).decision
    assert isinstance(decision, Decision)
    return decision


def _is_in_doubt(decision: Decision) -> bool:
    return any(IN_DOUBT in risk for risk in decision.risks)


@pytest.mark.parametrize(
    ("doubted", "cases", "is_risk"),
    [(5, 5, True), (4, 4, False), (40, 40, True), (30, 40, True), (22, 40, False), (2, 40, False), (0, 40, False)],
)
def test_doubt_about_most_answers_that_passed_is_a_risk(doubted: int, cases: int, is_risk: bool) -> None:
    """More than half, beyond chance: 0.05^(1/5) = 0.549 of 5 of 5; 22 of 40 may be a half or less."""
    decision = _decide(doubted, cases)
    assert is_risk == _is_in_doubt(decision)
    expected = (ExitCode.FAILED if is_risk else ExitCode.PASS, ExitCode.PASS)
    assert expected == tuple(find_exit_code(decision, strict=strict) for strict in (True, False))


def test_the_risk_names_how_many_and_how_sure() -> None:
    """With the answers, and what to do."""
    (risk,) = _decide(40, 40).risks
    assert "40 of 40 answers that passed have numbers that are in no source" in risk
    assert "of such answers at least 93%, one-sided 95% bound" in risk  # 0.05^(1/40)
    assert "run `assay judge` (b0, b1, b2, b3, b4 … and 35 more)" in risk


def test_answers_of_one_cluster_are_no_proof() -> None:
    """Forty spellings of one question are one answer in doubt."""
    assert not _is_in_doubt(_decide(40, 40, cluster="bus"))


def test_a_gate_that_leaves_out_correctness_leaves_out_the_doubt() -> None:
    """It says that answers do not matter."""
    gate = Gate(rules=(Rule("behaviour", at_least=0.5),), exempt_from_correctness="only refusals are tested")
    assert not _is_in_doubt(_decide(40, 40, gate))
