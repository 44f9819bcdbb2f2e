"""Regression rules where answers of either side are unknown: decided only where no unknown answer can turn them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gates.test_unknown_answers import METRIC, E, U, make_cases, make_table

from assay.gates.release_decision import decide_release
from assay.records.release_gates import Decision, Gate, Rule

Scores = list[float | str]
POINT = Rule(METRIC, max_regression=0.1, basis="point")
SCORE = st.sampled_from([0.0, 1.0, U])


def decide(before: Scores, after: Scores, rule: Rule = POINT) -> Decision:
    table = make_table(after)
    gate = Gate(rules=(rule,), zero_tolerance_tags=())
    return decide_release(gate, table, make_cases(table), baseline=make_table(before))


def complete(scores: Scores) -> list[Scores]:
    """Every way in which the unknown answers may turn out."""
    choices = [[0.0, 1.0] if score == U else [score] for score in scores]
    return [list(chosen) for chosen in product(*choices)]


def test_a_change_from_failed_to_unknown_is_no_loss() -> None:
    """Two of four right before; one right, one failed and two unknown now: between one and three right."""
    decision = decide([0.0, 0.0, 1.0, 1.0], [U, U, 0.0, 1.0])
    result = decision.results[0]
    assert ("PASS_WITH_RISK", "inconclusive") == (decision.outcome, result.state)
    assert result.message == (
        "correct_answer went from 0.500 to between 0.250 and 0.750 (n 4), because the rules cannot tell on 2 cases "
        "(c0, c1): its gain is between -0.250 and +0.250, and a loss of 0.1 is allowed"
    )
    assert ("c0", "c1") == result.cases


def test_a_loss_behind_unknown_answers_of_the_baseline_does_not_pass() -> None:
    assert "inconclusive" == decide([U, U, U, 1.0], [1.0, 0.0, 0.0, 1.0]).results[0].state


@pytest.mark.parametrize(
    ("before", "after", "state", "part"),
    [
        ([1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, U], "fail", "even at best"),
        ([0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, U], "pass", "even at worst"),
    ],
)
def test_what_no_unknown_answer_can_turn_is_decided(before: Scores, after: Scores, state: str, part: str) -> None:
    result = decide(before, after).results[0]
    assert state == result.state
    assert f"{part}: the rules cannot tell on 1 case (c3)" in result.message


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
    result = decide([1.0, 1.0, 1.0, 1.0], [E, E, E, U]).results[0]
    assert "incomplete" == result.state


@given(st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=6), st.sampled_from([0.1, 0.3, 0.5]))
def test_no_completion_contradicts_a_decided_rule(pairs: list[tuple[float | str, float | str]], margin: float) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rule = Rule(METRIC, max_regression=margin, basis="point")
    state = decide(before, after, rule).results[0].state
    completed = {
        decide(first, second, rule).results[0].state for first in complete(before) for second in complete(after)
    }
    assert state == (completed.pop() if len(completed) == 1 else "inconclusive")


def test_a_gate_with_a_rule_on_correctness_is_not_said_to_have_none() -> None:
    """The rule applies to no case, which it says itself."""
    bare = make_table([U, U])
    bare.columns[METRIC].reason[:] = 0
    gate = Gate(rules=(Rule(METRIC, at_least=0.8),), zero_tolerance_tags=())
    reasons = decide_release(gate, bare, make_cases(bare)).reasons
    assert any("applies to none of 2 cases" in reason for reason in reasons), reasons
    assert not [reason for reason in reasons if "has no rule on it" in reason]
