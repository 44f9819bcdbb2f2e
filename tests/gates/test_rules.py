"""Which rules can be used at all, and what they mean where they left something open."""

from __future__ import annotations

import math

import pytest

from assay.gates.rules import find_rule_problem, resolve_rule
from assay.records.release_gates import Rule

USABLE = [
    Rule("recall@10", at_least=0.85),
    Rule("recall@10", at_least=1.0, zero_event=True),
    Rule("recall@10", at_least=0.85, basis="bound", slice="tag=hr"),
    Rule("overlap@10", at_least=0.1),
    Rule("overlap@10", at_most=0.9),
    Rule("latency_ms(stat=p95)", at_most=6000),
    Rule("tokens(stat=total)", at_most=1e9),
    Rule("visibility_leaks", at_most=0),
    Rule("faithfulness(by=judge)", at_least=0.9, if_unmeasured="risk"),
    Rule("mrr@10", at_least=0.7),
]


@pytest.mark.parametrize("rule", USABLE, ids=str)
def test_a_usable_rule_has_no_problem(rule: Rule) -> None:
    assert find_rule_problem(rule) is None


UNUSABLE = {
    "no such metric": Rule("quality", at_least=0.5),
    "faithfulness(by=rules) or faithfulness(by=judge)": Rule("faithfulness", at_least=0.5),
    "(got none)": Rule("recall@10"),
    "(got at_least and at_most)": Rule("recall@10", at_least=0.1, at_most=0.2),
    "latency_ms is better low (got at_least; expected at_most)": Rule("latency_ms", at_least=1),
    "recall@10 is better high (got at_most; expected at_least)": Rule("recall@10", at_most=1),
    "(got 85; expected 0 to 1; did you mean 0.85?)": Rule("recall@10", at_least=85),
    "(got 3; expected 0 to 1, a share of the cases: 3% is 0.03, 3 of 50 cases are 0.06)": Rule("failed", at_most=3),
    "(got 12; expected 0 to 1, a share of the cases: 12% is 0.12, 12 of 120 cases are 0.1)": Rule(
        "empty_answer", at_most=12
    ),
    "(got 2.5; expected 0 to 1; did you mean 0.025?)": Rule("error_rate", at_most=2.5),
    "(got 850; expected 0 to 1)": Rule("recall@10", at_least=850),
    "(got -1; expected 0 or more)": Rule("latency_ms", at_most=-1),
    "(got nan; expected 0 to 1)": Rule("recall@10", at_least=math.nan),
    "(got inf; expected 0 or more)": Rule("latency_ms", at_most=math.inf),
    "not a slice (got 'hr'": Rule("recall@10", at_least=0.5, slice="hr"),
    "zero_event is for": Rule("recall@10", at_least=0.5, zero_event=True),
    "basis: bound is for means and rates (got tokens(stat=total), a total)": Rule(
        "tokens(stat=total)", at_most=5, basis="bound"
    ),
    "basis: bound is for means and rates (got refusal_calibration, a balanced)": Rule(
        "refusal_calibration", at_least=0.5, basis="bound"
    ),
    "basis: bound can never show a perfect score": Rule("error_rate", at_most=0, basis="bound"),
}


@pytest.mark.parametrize("expected", UNUSABLE)
def test_an_unusable_rule_says_why(expected: str) -> None:
    assert expected in str(find_rule_problem(UNUSABLE[expected]))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule("visibility_leaks", at_most=0), True),
        (Rule("injection_followed", at_most=0), True),
        (Rule("error_rate", at_most=0), True),
        (Rule("visibility_leaks", at_most=0, zero_event=False), False),
        (Rule("visibility_leaks", at_most=1), False),
        (Rule("behaviour", at_least=1.0), False),
        (Rule("latency_ms", at_most=0), False),
        (Rule("tool_errors(stat=p95)", at_most=0), False),
        (Rule("overlap@10", at_most=0), False),
    ],
    ids=str,
)
def test_a_rule_that_allows_none_of_what_is_counted_is_a_zero_event_rule(rule: Rule, expected: bool) -> None:
    assert resolve_rule(rule).zero_event is expected


def test_a_resolved_rule_bears_the_canonical_name() -> None:
    assert resolve_rule(Rule("mrr@10", at_least=0.7)).metric == "rr@10"
