"""Verbs and adverbs that undo what follows them, and values that are only a difference or a part of another one."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts
from assay.text.quantities.measures import find_measures


@pytest.mark.parametrize(
    "answer",
    [
        "Neither the pilot nor the steward checks the doors.",
        "The doors are not checked by the pilot nor the steward.",
        "The steward forgot to check the doors.",
        "The steward neglected to check the doors.",
        "The steward has yet to check the doors.",
        "The steward declined to check the doors.",
        "The steward denies having checked the doors.",
        "The steward almost checked the doors.",
        "The steward would check the doors if she could.",
    ],
)
def test_what_nobody_did_is_not_stated(answer: str) -> None:
    (judgment,) = judge_facts(answer, ["the steward checks the doors"], "Who checks the doors?")
    assert judgment.state in ("denied", "unknown")


@pytest.mark.parametrize("answer", ["Do not forget to bring a towel.", "You must not forget to bring a towel."])
def test_a_denied_omission_states_what_is_not_to_be_left_out(answer: str) -> None:
    assert "stated" == judge_facts(answer, ["bring a towel"], "What must I bring?")[0].state


@pytest.mark.parametrize(
    ("answer", "question", "state"),
    [
        ("The fare rose 8 euros.", "What is the fare?", "unknown"),
        ("The fare is twice 8 euros.", "What is the fare?", "unknown"),
        ("The fare rose 8 euros.", "By how much did the fare rise?", "stated"),
        ("The fare went up 5 euros to 8 euros.", "What is the fare?", "stated"),
    ],
)
def test_a_difference_is_no_price(answer: str, question: str, state: str) -> None:
    assert state == judge_facts(answer, ["8 euros"], question)[0].state


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("The lake fell 2 metres to 9 metres.", ["2 metres", "9 metres"]),
        ("Rents rose 2 to 9 percent.", ["2 to 9 percent"]),
        ("Rents rose two to nine percent.", ["two to nine percent"]),
    ],
)
def test_a_difference_and_what_it_leads_to_are_no_range(text: str, quantities: list[str]) -> None:
    assert quantities == [text[own.start : own.end] for own in find_measures(text)]
