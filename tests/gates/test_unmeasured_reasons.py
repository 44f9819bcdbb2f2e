"""Rules that were not measured for one reason are one reason of the decision, not a line each."""

from __future__ import annotations

import numpy as np

from assay.gates.release_decision import decide_release
from assay.records.golden_set import Case
from assay.records.release_gates import Gate, Rule
from assay.records.scores import SCORED, ScoreColumn, ScoreTable

CASES = [Case(f"c{number}", f"Question {number}?") for number in range(8)]
JUDGED = ("faithfulness(by=judge)", "answer_relevance(by=judge)", "critical_hallucinations(by=judge)")


def decide(recall: float, metrics: tuple[str, ...]) -> tuple[str, ...]:
    zeros = np.zeros(len(CASES), np.uint16)
    column = ScoreColumn("recall@10", np.full(len(CASES), recall), np.full(len(CASES), SCORED, np.uint8), zeros)
    table = ScoreTable("c", tuple(case.id for case in CASES), {"recall@10": column}, (), ())
    rules = [Rule(name, at_least=0.9, if_unmeasured="risk") for name in metrics if "critical" not in name]
    rules += [Rule(name, at_most=0.0, if_unmeasured="risk") for name in metrics if "critical" in name]
    gate = Gate(
        (Rule("recall@10", at_least=0.5), *rules), zero_tolerance_tags=(), exempt_from_correctness="search only"
    )
    return decide_release(gate, table, CASES).reasons


def test_several_are_one_reason_and_each_is_named() -> None:
    sentence = (
        "faithfulness(by=judge), answer_relevance(by=judge) and critical_hallucinations(by=judge) were not measured"
    )
    assert [sentence] == [reason for reason in decide(1.0, JUDGED) if "measured" in reason]
    assert [f"blocks nothing: {sentence}"] == [reason for reason in decide(0.1, JUDGED) if "measured" in reason]


def test_one_alone_keeps_its_sentence() -> None:
    assert ["faithfulness(by=judge) was not measured"] == [
        reason for reason in decide(1.0, JUDGED[:1]) if "measured" in reason
    ]
