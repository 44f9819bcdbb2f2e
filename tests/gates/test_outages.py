"""A target that gives errors instead of answers is an outage: the gate says so, and does not call it failed answers."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.records.release_gates import Outcome

GOLDEN = [
    {"id": name, "question": f"What does a {name} cost?", "behaviour": "answer", "must_have": ["9 crowns"]}
    for name in ("sauna", "locker", "towel", "robe")
]
DOWN = {"error": {"code": "timeout", "message": "no reply"}}


def make_rows(*contents: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"case_id": case["id"], **content} for case, content in zip(GOLDEN, contents, strict=True)]


RIGHT, WRONG = {"answer": "It costs 9 crowns."}, {"answer": "It costs 4 crowns."}


@pytest.mark.parametrize(
    ("contents", "rule", "outcome"),
    [
        ((RIGHT, RIGHT, DOWN, DOWN), {"at_most": 0.0}, "INCOMPLETE"),
        ((RIGHT, RIGHT, RIGHT, DOWN), {"at_most": 0.3}, "INCOMPLETE"),
        ((DOWN, DOWN, DOWN, DOWN), {"at_most": 0.0}, "INCOMPLETE"),
        ((RIGHT, WRONG, DOWN, DOWN), {"at_most": 0.0}, "FAIL"),
        ((RIGHT, RIGHT, RIGHT, DOWN), {"at_most": 0.1, "min_coverage": 0.5}, "FAIL"),
        ((RIGHT, RIGHT, RIGHT, DOWN), {"at_most": 0.3, "min_coverage": 0.5}, "PASS"),
        ((RIGHT, RIGHT, RIGHT, WRONG), {"at_most": 0.0}, "FAIL"),
    ],
)
def test_an_outage_leaves_a_bound_on_failed_cases_incomplete(
    contents: tuple[dict[str, Any], ...], rule: dict[str, Any], outcome: Outcome
) -> None:
    gate = {"rules": [{"metric": "failed", **rule}]}
    assert outcome == assay.score(GOLDEN, make_rows(*contents), gate=gate).decision.outcome


def test_the_cases_of_an_outage_are_not_among_those_that_failed() -> None:
    gate = {"rules": [{"metric": "failed", "at_most": 0.0}]}
    decision = assay.score(GOLDEN, make_rows(RIGHT, WRONG, DOWN, DOWN), gate=gate).decision
    (reason,) = [reason for reason in decision.reasons if reason.startswith("failed is above 0")]
    assert "on 1 of 2 answered cases (locker)" in reason
    assert "an error instead of an answer on 2 of 4 cases (towel, robe)" in reason
