"""A value per something beside which an answer says a total."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("answer", "question", "state"),
    [
        (
            "The exam takes 20 minutes per candidate, so three hours altogether.",
            "How long does the exam take?",
            "unknown",
        ),
        ("The exam takes 20 minutes.", "How long does the exam take?", "stated"),
        (
            "The exam takes 20 minutes per candidate, so three hours altogether.",
            "How long does the exam take per candidate?",
            "stated",
        ),
    ],
)
def test_a_value_beside_another_total_is_open(answer: str, question: str, state: str) -> None:
    assert judge_facts(answer, ["20 minutes"], question)[0].state == state
