"""What is said before and after one thing, and values that stand next to each other."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("fact", "question", "answer", "state"),
    [
        (
            "after the tour",
            "When do we eat?",
            "Before the tour you get a badge, and after the tour you eat.",
            "unknown",
        ),
        ("sau buổi lễ", "Khi nào ăn?", "Trước buổi lễ có nước, và sau buổi lễ thì ăn.", "unknown"),
        ("after the tour", "When do we eat?", "You eat before the tour.", "denied"),
        ("after the tour", "When do we eat?", "You eat after the tour.", "stated"),
        # The first "tour" has no such relation.
        ("after the tour", "When do we eat?", "On every tour you eat before the tour.", "denied"),
    ],
)
def test_a_fact_is_not_denied_by_what_else_happens_on_the_other_side(
    fact: str, question: str, answer: str, state: str
) -> None:
    assert state == judge_facts(answer, [fact], question)[0].state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("For 3 nights, 80 euros or 95 euros.", "unknown"),
        ("80 euros or 95 euros.", "unknown"),
        ("For 3 nights, 80 euros.", "stated"),
    ],
)
def test_a_value_on_one_side_hides_no_rival_on_the_other(answer: str, state: str) -> None:
    assert state == judge_facts(answer, ["80 euros"], "What does the tent cost?")[0].state
