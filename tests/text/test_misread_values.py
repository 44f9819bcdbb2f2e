"""Values of which only a part of what the answer writes agrees."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("answer", "fact", "state"),
    [
        ("The bar closes at 08:15 in the evening.", "08:15", "unknown"),
        ("The bar closes at 08:15 in the morning.", "08:15", "stated"),
        ("The bar closes at 8:15 in the evening.", "8:15 pm", "stated"),
        ("The bar closes at 8:15 in the evening.", "20:15", "stated"),
        ("The bar closes at 02:15 at night.", "02:15", "stated"),
    ],
)
def test_a_time_in_the_other_half_of_the_day_is_open(answer: str, fact: str, state: str) -> None:
    assert judge_facts(answer, [fact], "When does the bar close?")[0].state == state


@pytest.mark.parametrize(
    ("fact", "state"),
    [("400 euros", "unknown"), ("2 400 euros", "stated"), ("2,400 euros", "stated")],
)
def test_the_last_digits_of_a_number_are_open(fact: str, state: str) -> None:
    assert judge_facts("A stall costs 2 400 euros.", [fact], "What does a stall cost?")[0].state == state
