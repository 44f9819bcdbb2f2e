"""A code of a number and a letter is no amount where a text shows it to be one, and an amount elsewhere."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("Where is the lesson?", "Room 3B", "In Room 3,000,000,000."),
        ("Where is the lesson?", "Room 3B", "In Room 3A."),
        ("How many seats are there?", "2,000 seats", "The seats are in block 2K."),
        ("Wo ist der Kurs?", "Raum 4M", "In Raum 4 000 000."),
        ("Lớp nào đi tham quan?", "lớp 5B", "Lớp 5C đi tham quan."),
    ],
)
def test_a_code_is_no_amount(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state in ("missing", "denied")


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("Where is the lesson?", "Room 3B", "Room 3B"),
        ("Which room is it?", "3B", "It is 3B."),
        ("Which room is it?", "3 B", "It is room 3B."),
        ("Which classes swim?", "4K", "3B, 4K and 5M swim."),
        ("How many people came?", "2K", "About 2,000 came."),
        ("What is the revenue?", "$3B", "Three billion dollars."),
        ("How many users has Room 3B?", "5M", "Room 3B has five million."),
        ("How many people fit in?", "5,000 people", "The arena can seat 5K people."),
        ("Thuê bàn giá bao nhiêu?", "100.000 đồng", "Thuê bàn 100K, thuê ghế 50K."),
        ("Gửi xe giá bao nhiêu?", "5.000 đồng", "Gửi xe tại bãi 5K một lượt."),
        ("Học phí lớp vẽ thế nào?", "500.000 đồng", "Học phí mỗi lớp 500K."),
    ],
)
def test_a_code_and_an_amount_are_stated_as_such(question: str, fact: str, answer: str) -> None:
    (judgment,) = judge_facts(answer, [fact], question)
    assert (fact, "stated") == (judgment.fact, judgment.state)


def test_facts_that_are_one_code_keep_their_own_names() -> None:
    judgments = judge_facts("It is room 3B.", ["3 B", " ", "3B"], "Which room is it?")
    assert [("3 B", "stated"), ("3B", "stated")] == [(judgment.fact, judgment.state) for judgment in judgments]


def test_a_reference_that_is_a_code_names_no_number() -> None:
    def judge(answer: str) -> str:
        return judge_reference_facts(answer, "Form 2K", "Which form do I hand in?")[0].state

    assert ("stated", "missing") == (judge("You hand in form 2K."), judge("Form 2000"))
