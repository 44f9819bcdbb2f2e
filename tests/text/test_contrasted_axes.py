"""A value of the other end, of a default, of another number, plan or holder than the question asks about is open."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("What is the minimum stay?", "2 nights", "The maximum stay is 2 nights."),
        ("What is the longest stay?", "9 nights", "The shortest stay is 9 nights."),
        ("What is the default timeout?", "30 seconds", "The maximum timeout is 30 seconds."),
        ("What is the maximum timeout?", "30 seconds", "The default timeout is 30 seconds."),
        ("How fast is the reply at level 1?", "1 hour", "Level 3: 1 hour."),
        ("How fast is the reply at level 1?", "1 hour", "For level 3 it is 1 hour."),
        ("What is the storage on Business?", "40 GB", "40 GB on Team."),
        ("What is the storage on Business?", "40 GB", "It is 40 GB on the Team plan."),
        ("How many passes can a visitor have?", "4", "A school can have 4 passes."),
        ("Mức tối thiểu là bao nhiêu?", "5 triệu đồng", "Mức tối đa là 5 triệu đồng."),
        ("Hạn mặc định là bao lâu?", "7 ngày", "Hạn tối đa là 7 ngày."),
        (
            "How many halls are there and which are in Bonn?",
            "six halls",
            "There are 6 halls in total. 2 are in Bonn.",
        ),
    ],
)
def test_a_value_of_the_other_side_is_open(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "unknown"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("What is the minimum stay?", "2 nights", "You must stay for at least 2 nights."),
        ("What is the minimum stay?", "2 nights", "The minimum stay is 2 nights."),
        ("What is the default timeout?", "30 seconds", "The default is 30 seconds; the maximum is 90 seconds."),
        ("How fast is the reply at level 1?", "1 hour", "At level 1 within 1 hour."),
        ("How fast is the reply at level 1?", "1 hour", "Within 1 hour."),
        ("What is the storage on Business?", "40 GB", "It is 40 GB."),
        ("How many passes can a visitor have?", "4", "Each visitor can have 4 passes."),
        ("How many passes can a visitor have?", "4", "You can have 4 passes."),
        ("How many halls are there?", "six halls", "There are 6 halls in total."),
        ("Mức tối thiểu là bao nhiêu?", "5 triệu đồng", "Tối thiểu là 5 triệu đồng."),
    ],
)
def test_the_same_side_states_it(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "stated"
