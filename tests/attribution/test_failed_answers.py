"""An empty answer and an error message are failures of the system, whatever the case expects."""

from __future__ import annotations

import pytest

import assay

GOLDEN = [
    {"id": "fact", "question": "How long may a visitor park?", "must_have": ["2 hours"]},
    {"id": "nothing", "question": "Who designed the fountain?", "expected_behavior": "abstain"},
]
REFUSING = "Sorry, the documents do not say."


def explain(answer: str, case_id: str) -> str:
    """Return what is said of a case to which the system answers `answer`."""
    measured = assay.run(lambda _: answer, GOLDEN)
    return next(case.explain() for case in measured.cases if case.id == case_id)


@pytest.mark.parametrize("answer", ["504 Gateway Timeout", "RateLimitError: quota exceeded for this key"])
def test_an_error_message_never_passes_and_is_named(answer: str) -> None:
    measured = assay.run(lambda _: answer, GOLDEN)
    assert [case.id for case in measured.failed] == ["fact"] and [case.id for case in measured.unknown] == ["nothing"]
    for case_id in ("fact", "nothing"):
        assert "the answer looks like an error message of the system" in explain(answer, case_id)
    assert "report an error instead of an answer" in " ".join(explain(answer, "fact").split())


@pytest.mark.parametrize("case_id", ["fact", "nothing"])
def test_an_empty_answer_is_not_cured_by_a_looser_rule_of_refusing(case_id: str) -> None:
    text = " ".join(explain(" ", case_id).split())
    assert "generator (empty answer)" in text and "report an error instead of an empty answer" in text
    assert "over refusal" not in text and "golden case" not in text


def test_a_refusal_still_passes() -> None:
    assert [case.id for case in assay.run(lambda _: REFUSING, GOLDEN).failed] == ["fact"]
    assert "empty" not in explain(REFUSING, "fact")
