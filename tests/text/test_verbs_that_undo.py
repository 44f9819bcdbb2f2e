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
        "The steward was supposed to check the doors.",
        "We are planning to have the steward check the doors.",
        "I doubt that the steward checks the doors.",
        "It depends on whether the steward checks the doors.",
        "Until 2017 the doors were checked by the steward.",
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


@pytest.mark.parametrize(
    "answer",
    [
        "Vouchers are accepted nowhere.",
        "Vouchers are accepted by nobody.",
        "Vouchers are accepted except at the bar.",
    ],
)
def test_what_is_accepted_nowhere_is_not_accepted_at_the_bar(answer: str) -> None:
    (judgment,) = judge_facts(answer, ["vouchers are accepted at the bar"], "Where are vouchers accepted?")
    assert judgment.state in ("denied", "unknown")


@pytest.mark.parametrize("verb", ["từ chối nhận", "ít khi nhận", "hiếm khi nhận", "đâu có nhận"])
def test_a_vietnamese_denial_in_other_words_denies(verb: str) -> None:
    assert "denied" == judge_facts(f"Quầy {verb} phiếu.", ["quầy nhận phiếu"], "Quầy có nhận phiếu không?")[0].state


def test_what_begins_an_answer_to_a_doubt_of_the_user_is_no_doubt() -> None:
    answer = "If in doubt whether you are late or not, you pay 5 euros all the same."
    assert "stated" == judge_facts(answer, ["5 euros"], "What do I pay if I am late?")[0].state


def test_a_value_that_is_what_others_pay_is_open() -> None:
    assert "unknown" == judge_facts("9 euros is what visitors pay.", ["9 euros"], "What do residents pay?")[0].state
