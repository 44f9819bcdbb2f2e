"""Regression rules where answers of either side are unknown: decided only where no unknown answer can turn them."""

from __future__ import annotations

from itertools import product
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gates.test_unknown_answers import METRIC, SAME, E, U, make_cases, make_table

from assay.gates.release_decision import decide_release
from assay.records.release_gates import Decision, Gate, Rule

Scores = list[float | str]
POINT = Rule(METRIC, max_regression=0.1, basis="point")
SCORE = st.sampled_from([0.0, 1.0, U])
PAIR = st.tuples(SCORE, SCORE) | st.just((SAME, SAME))


def decide(before: Scores, after: Scores, rule: Rule = POINT) -> Decision:
    table = make_table(after)
    gate = Gate(rules=(rule,), zero_tolerance_tags=())
    return decide_release(gate, table, make_cases(table), baseline=make_table(before))


def complete(pairs: list[tuple[float | str, float | str]]) -> list[tuple[Scores, Scores]]:
    """Every way in which the unknown answers may turn out on both sides; an answer that both gave scores alike."""
    choices = []
    for pair in pairs:
        sides = [[0.0, 1.0] if score == U else [score] for score in pair]
        choices.append([(0.0, 0.0), (1.0, 1.0)] if pair == (SAME, SAME) else list(product(*sides)))
    return [([old for old, _ in chosen], [new for _, new in chosen]) for chosen in product(*choices)]


def test_a_change_from_failed_to_unknown_is_no_loss() -> None:
    """Two of four right before; one right, one failed and two unknown now: between one and three right."""
    decision = decide([0.0, 0.0, 1.0, 1.0], [U, U, 0.0, 1.0])
    rule_result = decision.results[0]
    assert ("PASS_WITH_RISK", "inconclusive") == (decision.outcome, rule_result.state)
    assert rule_result.message == (
        "correct_answer went from 0.500 to between 0.250 and 0.750 (n 4), because the rules cannot tell on 2 cases "
        "(c0, c1): its gain is between -0.250 and +0.250, and a loss of 0.1 is allowed"
    )
    assert ("c0", "c1") == rule_result.cases


def test_a_loss_behind_unknown_answers_of_the_baseline_does_not_pass() -> None:
    assert "inconclusive" == decide([U, U, U, 1.0], [1.0, 0.0, 0.0, 1.0]).results[0].state


@pytest.mark.parametrize(
    ("before", "after", "state", "part"),
    [
        ([1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, U], "fail", "in favour of"),
        ([0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, U], "pass", "against"),
    ],
)
def test_what_no_unknown_answer_can_turn_is_decided(before: Scores, after: Scores, state: str, part: str) -> None:
    rule_result = decide(before, after).results[0]
    assert state == rule_result.state
    assert f"; the rules cannot tell on 1 case (c3), and this counts them {part} the candidate" in rule_result.message


def test_the_rule_says_what_follows_from_unknown_answers() -> None:
    before: Scores = [1.0, 1.0, 0.0, 0.0]
    after: Scores = [1.0, U, 0.0, 0.0]
    outcomes = [
        decide(before, after, Rule(METRIC, max_regression=0.1, basis="point", if_unknown=choice)).outcome
        for choice in ("risk", "fail", "incomplete")
    ]
    assert ["PASS_WITH_RISK", "FAIL", "INCOMPLETE"] == outcomes


def test_a_rule_that_fails_where_it_is_open_fails_for_unknown_answers() -> None:
    rule = Rule(METRIC, max_regression=0.1, if_inconclusive="fail")
    assert "FAIL" == decide([1.0] * 60, [1.0] * 50 + [U] * 10, rule).outcome


def test_too_few_scored_cases_are_incomplete_as_before() -> None:
    rule_result = decide([1.0, 1.0, 1.0, 1.0], [E, E, E, U]).results[0]
    assert "incomplete" == rule_result.state


@pytest.mark.parametrize("basis", ["point", "bound"])
def test_two_equal_runs_are_decided_as_if_every_answer_was_known(basis: Literal["point", "bound"]) -> None:
    """Nobody can tell of one answer in four whether it is right, but both runs gave it."""
    passes: Scores = [1.0] * 200
    same: Scores = [1.0, 1.0, 1.0, SAME] * 50
    rule = Rule(METRIC, max_regression=0.1, basis=basis)
    decided, expected = (decide(scores, scores, rule).results[0] for scores in (same, passes))
    assert ("pass", 0.0, 200) == (decided.state, decided.value, decided.scored)
    assert (expected.state, expected.value, expected.scored) == (decided.state, decided.value, decided.scored)
    assert decided.message.startswith("correct_answer went from between 0.750 and 1.000 to between 0.750 and 1.000")
    assert "; the rules cannot tell on 50 cases (c3, c7, " in decided.message
    assert decided.message.endswith("but the answers there are the same on both sides")


def test_a_rule_that_too_few_cases_leave_open_does_not_blame_unknown_answers() -> None:
    """Three of forty got worse and three better: no completion of the unknown answer would exclude a loss of 0.05."""
    before: Scores = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] + [1.0] * 33 + [U]
    after: Scores = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0] + [1.0] * 33 + [U]
    rule_result = decide(before, after, Rule(METRIC, max_regression=0.05)).results[0]
    assert rule_result.state == "inconclusive"
    assert "the true loss may be up to" in rule_result.message
    assert "because the rules cannot tell" not in rule_result.message
    told = "; the rules cannot tell on 1 case (c39), and this counts them in favour of the candidate"
    assert rule_result.message.endswith(told)


def test_a_loss_beside_answers_that_are_the_same_is_found() -> None:
    rule_result = decide([1.0, 1.0, SAME, SAME], [0.0, 1.0, SAME, SAME]).results[0]
    assert ("fail", -0.25) == (rule_result.state, rule_result.value)
    assert "went from between 0.500 and 1.000 to between 0.250 and 0.750 (n 4); worse on c0" in rule_result.message


def test_an_answer_that_changed_leaves_the_rule_open_beside_one_that_is_the_same() -> None:
    rule_result = decide([1.0, 1.0, 1.0, SAME], [1.0, 1.0, U, SAME]).results[0]
    assert rule_result.state == "inconclusive"
    assert "on 2 cases (c2, c3), and on 1 of them the answers are the same on both sides" in rule_result.message
    assert "its gain is between -0.250 and +0.000" in rule_result.message


@given(st.lists(PAIR, min_size=1, max_size=6), st.sampled_from([0.1, 0.3, 0.5]))
def test_no_completion_contradicts_a_decided_rule(pairs: list[tuple[float | str, float | str]], margin: float) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rule = Rule(METRIC, max_regression=margin, basis="point")
    state = decide(before, after, rule).results[0].state
    completed = {decide(*sides, rule).results[0].state for sides in complete(pairs)}
    assert state == (completed.pop() if len(completed) == 1 else "inconclusive")


def test_a_gate_with_a_rule_on_correctness_is_not_said_to_have_none() -> None:
    """The rule applies to no case, which it says itself."""
    bare = make_table([U, U])
    bare.columns[METRIC].reason[:] = 0
    gate = Gate(rules=(Rule(METRIC, at_least=0.8),), zero_tolerance_tags=())
    reasons = decide_release(gate, bare, make_cases(bare)).reasons
    assert any("applies to none of 2 cases" in reason for reason in reasons), reasons
    assert not [reason for reason in reasons if "has no rule on it" in reason]
