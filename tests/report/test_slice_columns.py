"""The tables of slices begin with whether the answers were right, in the words of the other tables."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.report.findings.slice_tables import build_slices_table

ROWS = [
    {"id": "a", "question": "Who sews sails?", "must_have": ["Ove"], "attributes": {"desk": "yard"}},
    {"id": "b", "question": "Who paints hulls?", "must_have": ["Mina"], "attributes": {"desk": "hall"}},
]


def test_slices_show_the_correctness_of_answers_first() -> None:
    outputs = [{"case_id": "a", "answer": "Ove does."}, {"case_id": "b", "answer": "Per, and not Mina."}]
    table = build_slices_table(assay.score(ROWS, outputs, by=["desk"]).scoring, only=("desk",))
    assert ("Config", "Slice", "Cases", "Answer correctness", "Behaviour") == table.columns[:5]
    assert "Behavior score" not in table.columns
    right = {row[1]: row[3].partition(" ")[0] for row in table.rows}
    assert {"desk=yard": "1.000", "desk=hall": "0.000"} == right


def test_a_case_that_accepts_handing_over_is_not_said_to_expect_an_answer() -> None:
    case = {"id": "c", "question": "Who?", "expected_behavior": "abstain", "also_accept": ["escalate"]}
    (scored,) = assay.score([case], [{"case_id": "c", "answer": "I do not know that."}])
    reason = scored.reasons["under_refusal"]
    assert reason.startswith("something else than a refusal is expected or accepted") and "handing over" in reason


@pytest.mark.parametrize(
    "message", ["Internal error: worker pool timed out (503). Please try again later.", "Error: 429 Too Many Requests"]
)
@pytest.mark.parametrize(
    "expected",
    [
        {"must_have": ["Ove", "the old yard"]},
        {"reference": "Sails are sewn by Ove, who has worked in the old yard since spring."},
        {"reference": "Ove."},
        {"reference": "No, only Ove may do that on weekdays."},
    ],
)
def test_an_error_message_is_a_wrong_answer_whatever_the_case_looks_for(expected: dict[str, Any], message: str) -> None:
    case = {"id": "c", "question": "Who sews sails?", **expected}
    (scored,) = assay.score([case], [{"case_id": "c", "answer": message}])
    assert 0.0 == scored.scores["correct_answer"] and "wrong_answer" in scored.failed_checks


def test_an_answer_about_an_error_is_read_as_an_answer() -> None:
    case = {"id": "c", "question": "What does error 503 mean?", "must_have": ["overloaded"]}
    (scored,) = assay.score([case], [{"case_id": "c", "answer": "Error 503: the service is overloaded."}])
    assert 1.0 == scored.scores["correct_answer"]
