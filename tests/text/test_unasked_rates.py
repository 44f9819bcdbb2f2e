"""Values that an answer says per something, or for several, of which nothing else speaks."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "answer", "state"),
    [
        ("What is the deposit for a kayak?", "The deposit is €70 per hour.", "unknown"),
        ("What is the deposit for a kayak?", "The deposit is €70 a day.", "unknown"),
        ("What is the deposit for a kayak?", "The deposit is €70 for each paddle.", "unknown"),
        ("What is the deposit for a kayak?", "The deposit is €70, whatever the day.", "stated"),
        ("What is the deposit for a kayak?", "The deposit is €70 per kayak.", "stated"),
        ("What is the daily deposit?", "The deposit is €70 a day.", "stated"),
        ("What does a single entry cost?", "It costs €70 per visit.", "stated"),
        ("What does the annual pass cost?", "It costs €70 per visit.", "unknown"),
        ("What does a group of twelve pay?", "You pay €70 per person.", "unknown"),
        ("What do adults pay?", "Adults pay €70 per person.", "stated"),
        ("What does an hourly ticket cost?", "It costs €70 per visit.", "unknown"),
        ("What do adults pay?", "Adults pay €70 for two children.", "unknown"),
        ("What do adults pay?", "Adults pay €70 per kg of luggage.", "unknown"),
        ("What do adults pay per kg of luggage?", "Adults pay €70 per kg of luggage.", "stated"),
        ("What do adults pay?", "Adults pay €70 for six rides.", "unknown"),
        ("What do adults pay for six rides?", "Adults pay €70 for six rides.", "stated"),
    ],
)
def test_a_value_per_what_nothing_else_speaks_of_is_open(question: str, answer: str, state: str) -> None:
    assert judge_facts(answer, ["€70"], question)[0].state == state


@pytest.mark.parametrize(
    ("fact", "answer"),
    [("18 days", "18 days a year."), ("3 hours", "They help 3 hours a week."), ("18", "18 days per year.")],
)
def test_a_span_of_time_may_be_said_per_a_longer_one(fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], "How much of it do volunteers get?")[0].state == "stated"
