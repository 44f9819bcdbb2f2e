"""Yes and no as answers: they stand for what the question says, or for its negation."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("Does bus 44 run on Sundays?", "does not run on Sundays", "No.", "stated"),
        ("Does bus 44 run on Sundays?", "does not run on Sundays", "No, it doesn't.", "stated"),
        ("Does bus 44 run on Sundays?", "does not run on Sundays", "Yes.", "denied"),
        ("Does bus 44 run on Sundays?", "does not run on Sundays", "No, except in May.", "unknown"),
        ("Does bus 44 run on Sundays?", "no Sunday service", "No.", "unknown"),
        ("Does bus 44 run on Sundays?", "no Sunday service", "Yes.", "unknown"),
        ("Is the pool open on Mondays?", "closed on Mondays", "No.", "stated"),
        ("Is the pool open on Mondays?", "closed on Mondays", "Yes, it is.", "denied"),
        ("Is breakfast included?", "breakfast is not included", "No. It is seven euros.", "stated"),
        ("Can I bring my dog?", "only on a leash", "Yes.", "missing"),
        ("Isn't the pool heated?", "the pool is heated", "No.", "missing"),
        ("Is it by bus or by train?", "by bus", "Yes.", "unknown"),
        ("Can I bring my own shoes?", "own shoes are allowed", "No, own shoes are allowed outside.", "unknown"),
        ("Xe 52 có chạy ngày Tết không?", "không chạy ngày Tết", "Dạ không ạ.", "stated"),
        ("Xe 52 có chạy ngày Tết không?", "không chạy ngày Tết", "Dạ có ạ.", "denied"),
        ("Thẻ cũ có dùng được không?", "thẻ cũ vẫn dùng được", "Được bạn ơi.", "unknown"),
    ],
)
def test_a_yes_or_no_decides_a_fact_that_says_no_more_than_the_question(
    question: str, fact: str, answer: str, state: str
) -> None:
    assert state == judge_facts(answer, [fact], question)[0].state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("Is the east or the west lift for bikes?", "the west lift", "West.", "stated"),
        ("Is the east or the west lift for bikes?", "the west lift", "East, and west for chairs.", "unknown"),
        ("Bãi A hay bãi B cho xe tải?", "bãi B", "Bãi A, bãi B đang sửa.", "unknown"),
    ],
)
def test_one_of_two_things_is_chosen_by_its_own_word(question: str, fact: str, answer: str, state: str) -> None:
    assert state == judge_facts(answer, [fact], question)[0].state


@pytest.mark.parametrize("answer", ["Cô, chỗ này thì cấm ạ.", "Cô ơi, bên em cấm ạ.", "Chùa, chỗ này thì cấm ạ."])
def test_a_word_that_is_folded_like_yes_or_no_decides_nothing(answer: str) -> None:
    for fact in ("không được mang chó", "được mang chó"):
        assert "unknown" == judge_facts(answer, [fact], "Có được mang chó không?")[0].state


@pytest.mark.parametrize(
    ("fact", "answer"),
    [("mandatory", "Yes, caps are the rule."), ("mandatory", "You have to."), ("free", "Yes, with a pool ticket.")],
)
def test_a_single_word_may_be_said_in_others_where_yes_or_no_is_asked(fact: str, answer: str) -> None:
    question = "Is parking free?" if fact == "free" else "Do I have to wear a cap?"
    (judgment,) = judge_facts(answer, [fact], question, "Yes.")
    assert "unknown" == judgment.state
