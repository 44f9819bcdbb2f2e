"""A value said per another span of time than the one that a question asks for."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Storage costs €4 per hour.", "unknown"),
        ("Storage costs €4 a day.", "unknown"),
        ("Storage costs €4 per week.", "stated"),
        ("Storage costs €4 weekly.", "stated"),
        ("Storage costs €4.", "stated"),
        ("Storage costs €4 per box per week.", "stated"),
    ],
)
def test_a_value_per_another_span_than_the_asked_one_is_open(answer: str, state: str) -> None:
    assert judge_facts(answer, ["€4"], "What does storage cost per week?")[0].state == state


def test_a_span_that_the_fact_has_is_no_other_one() -> None:
    answer, question = "Storage costs €4 a day.", "What does storage cost per week?"
    assert judge_facts(answer, ["€4 a day"], question)[0].state == "stated"
