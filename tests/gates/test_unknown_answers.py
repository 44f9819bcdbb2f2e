"""Rules over answers that the rules of text cannot tell: at worst and at best, and what follows where they disagree."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.gates.release_decision import decide_release
from assay.gates.rules import GateScores, evaluate_rule
from assay.gates.unknown_answers import evaluate_with_unknown_answers
from assay.metrics.answers.correctness import UNKNOWN_REASON
from assay.records.golden_set import Case
from assay.records.release_gates import Decision, Gate, Outcome, Rule, RuleResult
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn, ScoreTable

U, E = "unknown", "error"
SAME = "unknown, and the same answer on both sides"
METRIC = "correct_answer"


def make_table(scores: list[float | str]) -> ScoreTable:
    unscored = {U: NOT_APPLICABLE, SAME: NOT_APPLICABLE, E: ERROR}
    status = [unscored[score] if isinstance(score, str) else SCORED for score in scores]
    values = np.array([0.0 if isinstance(score, str) else score for score in scores])
    codes = np.array([{U: 1, SAME: 1, E: 2}.get(str(score), 0) for score in scores], dtype=np.uint16)
    answers = np.array([row + 1 if score == SAME else 0 for row, score in enumerate(scores)], dtype=np.uint64)
    reasons = ("", UNKNOWN_REASON, "timeout")
    column = ScoreColumn(METRIC, values, np.array(status, dtype=np.uint8), codes, reasons, answers)
    behaviour = ScoreColumn("behaviour", np.ones(len(scores)), np.full(len(scores), SCORED, np.uint8), codes * 0)
    ids = tuple(f"c{row}" for row in range(len(scores)))
    return ScoreTable("one", ids, {METRIC: column, "behaviour": behaviour}, (), ())


def make_cases(table: ScoreTable) -> list[Case]:
    return [Case(case_id, f"Q {row}?", tags=("hr",) if row < 2 else ()) for row, case_id in enumerate(table.case_ids)]


def evaluate(rule: Rule, scores: list[float | str]) -> RuleResult:
    table = make_table(scores)
    return evaluate_with_unknown_answers(rule, GateScores(table, make_cases(table)), evaluate_rule)


@pytest.mark.parametrize(
    ("scores", "least", "state"),
    [
        ([1.0, 1.0, 1.0, U], 0.7, "pass"),
        ([0.0, 0.0, 1.0, U], 0.7, "fail"),
        ([1.0, 1.0, 0.0, U], 0.7, "inconclusive"),
        ([U, U], 0.7, "inconclusive"),
        ([1.0, 1.0, E, U], 0.7, "incomplete"),
    ],
)
def test_a_rule_decides_only_what_unknown_answers_cannot_change(
    scores: list[float | str], least: float, state: str
) -> None:
    assert evaluate(Rule(METRIC, at_least=least), scores).state == state


def test_the_range_and_the_unknown_cases_are_named() -> None:
    rule_result = evaluate(Rule(METRIC, at_least=0.7), [1.0, 1.0, 0.0, U])
    assert (
        "correct_answer is between 0.500 and 0.750, because the rules cannot tell on 1 of 4 cases (c3)"
        in rule_result.message
    )
    assert rule_result.cases == ("c3",)
    assert "it is between 0.750 and 1.000" in evaluate(Rule(METRIC, at_least=0.7), [1.0, 1.0, 1.0, U]).message


def test_unknown_answers_of_other_slices_change_nothing() -> None:
    rule = Rule(METRIC, at_least=0.9, slice="tag=hr")
    rule_result = evaluate(rule, [1.0, 1.0, U, U])
    assert (rule_result.state, "cannot tell" in rule_result.message) == ("pass", False)


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        (Rule(METRIC, at_least=0.7), "PASS_WITH_RISK"),
        (Rule(METRIC, at_least=0.7, if_unknown="fail"), "FAIL"),
        (Rule(METRIC, at_least=0.7, if_unknown="incomplete"), "INCOMPLETE"),
    ],
)
def test_if_unknown_says_what_follows(rule: Rule, outcome: Outcome) -> None:
    table = make_table([1.0, 1.0, 0.0, U])
    assert decide_release(Gate(rules=(rule,)), table, make_cases(table)).outcome == outcome


def test_the_rule_on_correctness_does_not_pass_on_the_answers_that_are_known_alone() -> None:
    table = make_table([1.0, 1.0, U, U])
    assert decide_release(Gate(correctness=0.9), table, make_cases(table)).outcome == "PASS_WITH_RISK"
    unknown = make_table([U, U])
    (reason, *_) = decide_release(Gate(correctness=0.9), unknown, make_cases(unknown)).reasons
    assert "correct_answer is between 0.000 and 1.000, because the rules cannot tell on 2 of 2 cases" in reason


def test_a_reason_says_of_an_open_rule_whether_it_blocks() -> None:
    """Next to rules that failed an open one would read as one of them."""
    table = make_table([1.0, 1.0, 0.0, U])
    left_open = Rule(METRIC, at_least=0.7)
    failing = Rule("behaviour", at_most=0.5)

    def decide(*rules: Rule) -> tuple[Outcome, tuple[str, ...], tuple[str, ...]]:
        decision = decide_release(Gate(rules=rules, zero_tolerance_tags=()), table, make_cases(table))
        return decision.outcome, decision.reasons, decision.risks

    outcome, reasons, risks = decide(left_open, failing)
    assert "FAIL" == outcome
    assert reasons[0].startswith("behaviour 1.000"), "what blocks comes first"
    assert reasons[1].startswith("inconclusive, blocks nothing: correct_answer is between 0.500 and 0.750")
    assert reasons[1] in risks
    outcome, reasons, _ = decide(left_open)
    assert "PASS_WITH_RISK" == outcome
    assert reasons[0].startswith("inconclusive: correct_answer is between")
    outcome, reasons, risks = decide(Rule(METRIC, at_least=0.7, if_unknown="fail"))
    assert ("FAIL", ()) == (outcome, risks)
    assert reasons[0].startswith("inconclusive, which this gate does not accept: correct_answer is between")


@pytest.mark.parametrize(("declared", "outcome"), [(None, "PASS_WITH_RISK"), ("abstain", "PASS"), ("answer", "FAIL")])
def test_a_refusal_that_nobody_can_tell_leaves_a_risk(declared: str | None, outcome: Outcome) -> None:
    golden = [
        {"id": "boats", "question": "Do you rent boats?", "behaviour": "abstain"},
        {"id": "tandems", "question": "Vuokraatteko tandemeja?", "behaviour": "abstain", "language": "fi"},
    ]
    rows = [
        {"case_id": "boats", "answer": "I could not find that in the documents."},
        {"case_id": "tandems", "answer": "En löytänyt siitä tietoa."} | ({"behaviour": declared} if declared else {}),
    ]
    rules = [
        {"metric": "abstention_accuracy", "at_least": 0.9},
        {"metric": "behaviour", "at_least": 1.0},
        {"metric": "under_refusal", "at_most": 0.0},
    ]
    gate = {"rules": rules, "exempt_from_correctness": "nothing is to be answered"}
    scored = assay.score(golden, rows, gate=gate)
    assert outcome == scored.decision.outcome, scored.decision
    unknown = scored.metric("abstention_accuracy").unknown
    assert (declared is None) == (unknown is not None)
    if declared is None:
        assert (1, 0.5, 1.0) == (unknown.count, unknown.low, unknown.high) if unknown is not None else False
        named = [risk for risk in scored.decision.risks if "the rules cannot tell on 1 of 2 cases (tandems)" in risk]
        assert len(rules) == len(named)


@pytest.mark.parametrize("tags", [[], ["acl"]])
def test_a_refusal_that_nobody_can_tell_and_no_rule_looks_at_is_a_risk(tags: list[str]) -> None:
    golden = [
        {"id": "kayaks", "question": "Vuokraatteko kajakkeja?", "behaviour": "abstain", "language": "fi", "tags": tags}
    ]
    rows = [{"case_id": "kayaks", "answer": "En löytänyt siitä tietoa."}]
    gate = {
        "rules": [{"metric": "failed", "at_most": 0.0}],
        "exempt_from_correctness": "nothing is to be answered",
    }
    decision = assay.score(golden, rows, gate=gate).decision
    assert "PASS_WITH_RISK" == decision.outcome
    naming = [risk for risk in decision.risks if "kayaks" in risk]
    assert 1 == len(naming), decision.risks
    assert ("every gate has this rule" if tags else "no rule looks at it") in naming[0]


OPEN_REFERENCE, OPEN_ANSWER = (
    "Members may borrow ten books for four weeks each.",
    "Rules say that a book is for burning.",
)


def make_answers(checked: int, count: int = 10) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return cases and answers of which the first are right and nothing tells of the others."""
    golden, outputs = [], []
    for number in range(count):
        is_checked = number < checked
        reference = "8 euros" if is_checked else OPEN_REFERENCE
        answer = "8 euros" if is_checked else OPEN_ANSWER
        golden.append({"id": f"c{number}", "question": f"What of thing {number}?", "reference": reference})
        outputs.append({"case_id": f"c{number}", "answer": answer})
    return golden, outputs


def decide(checked: int, rule: dict[str, object], **arguments: object) -> Decision:
    golden, outputs = make_answers(checked)
    decision = assay.score(golden, outputs, gate={"rules": [rule]}, **arguments).decision  # type: ignore[arg-type]
    assert decision is not None
    return decision


def test_a_limit_on_failed_cases_is_not_kept_by_answers_of_which_nothing_tells() -> None:
    decision = decide(6, {"metric": "failed", "at_most": 0.3})
    assert decision.outcome == "PASS_WITH_RISK"
    assert any("failed is between 0.000 and 0.400" in risk and "c6, c7, c8, c9" in risk for risk in decision.risks)
    assert decide(6, {"metric": "failed", "at_most": 0.3, "if_unknown": "fail"}).outcome == "FAIL"


def test_a_limit_on_failed_cases_holds_even_at_worst() -> None:
    assert decide(6, {"metric": "failed", "at_most": 0.4}).outcome == "PASS"
    assert decide(10, {"metric": "failed", "at_most": 0}).outcome == "PASS"


def test_a_gate_that_is_exempt_from_correctness_counts_what_failed() -> None:
    golden, outputs = make_answers(6)
    gate = {"rules": [{"metric": "failed", "at_most": 0}], "exempt_from_correctness": "it is checked elsewhere"}
    decision = assay.score(golden, outputs, gate=gate).decision
    assert decision is not None
    assert not any("failed is between" in risk for risk in decision.risks)


@pytest.mark.parametrize("answer", [OPEN_ANSWER, "A book is for reading."])
def test_another_answer_of_which_nothing_tells_may_be_a_case_that_fails_now(answer: str) -> None:
    golden, before = make_answers(9)
    after = [{**row, "answer": answer} if row["answer"] == OPEN_ANSWER else row for row in before]
    gate = {"rules": [{"metric": "failed", "max_regression": 0.05, "basis": "point"}]}
    decision = assay.compare(assay.score(golden, before), assay.score(golden, after), gate=gate).decision
    assert decision is not None
    is_open = any("failed went from between 0.000 and 0.100" in risk for risk in decision.risks)
    assert is_open == (answer != OPEN_ANSWER), decision.risks


def test_a_rule_on_failed_looks_at_no_answer_of_which_nothing_tells() -> None:
    rules = [{"metric": "correct_answer", "at_least": 0.9}, {"metric": "failed", "at_most": 1}]
    golden, outputs = make_answers(1)
    decision = assay.score(golden, outputs, gate={"rules": rules}).decision
    assert decision is not None
    assert decision.outcome == "PASS_WITH_RISK"
    assert any("the rules cannot tell on 9 of 10 cases" in risk for risk in decision.risks)


def test_a_result_as_the_baseline_of_a_score_says_what_compares_results() -> None:
    golden, outputs = make_answers(2, 2)
    with pytest.raises(
        assay.InputError, match=r"baseline: E_VALUE no path .*ScoreResult.*assay\.compare\(before, after"
    ):
        assay.score(golden, outputs, baseline=assay.score(golden, outputs))  # type: ignore[arg-type]
