"""Answers that except what they name, or what they are asked about."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Every morning besides Tuesday.", "unknown"),
        ("On all mornings, aside from Tuesday.", "unknown"),
        ("Any morning other than Tuesday.", "denied"),
        ("They collect on no morning other than Tuesday.", "unknown"),
        ("Tuesday is our round, except for collections, which are on Monday.", "unknown"),
        ("Tuesday, except in July.", "unknown"),
        ("Besides, it is Tuesday.", "stated"),
    ],
)
def test_what_is_excepted_is_not_stated(answer: str, state: str) -> None:
    assert judge_facts(answer, ["Tuesday"], "On which morning do they collect glass?")[0].state == state


def test_besides_may_add_so_the_fact_is_not_denied() -> None:
    answer = "Besides a helmet, you need gloves."
    assert judge_facts(answer, ["a helmet"], "What do I need?")[0].state == "unknown"
    assert judge_facts(answer, ["gloves"], "What do I need?")[0].state == "stated"


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Tents may be pitched, unless a storm is forecast; then not permitted.", "unknown"),
        ("Tents may be pitched unless a storm is forecast, in which case they are not permitted.", "unknown"),
        ("Tents are not permitted, unless the warden agrees; then they may be pitched.", "stated"),
    ],
)
def test_what_holds_only_of_the_exception_is_open(answer: str, state: str) -> None:
    assert judge_facts(answer, ["not permitted"], "May I pitch a tent?")[0].state == state


@pytest.mark.parametrize("verb", ["khởi hành", "chở khách", "chứa hàng", "khoe hàng"])
def test_a_word_that_is_folded_like_a_negation_does_not_turn_an_exception_round(verb: str) -> None:
    (judgment,) = judge_facts(f"Tàu {verb} mỗi ngày, trừ thứ Ba.", ["thứ Ba"], f"Tàu {verb} ngày nào?")
    assert "denied" == judgment.state


@pytest.mark.parametrize(
    ("answer", "state"), [("Bể chứa 300 lít nước.", "stated"), ("Bể mất 300 lít nước.", "unknown")]
)
def test_a_verb_that_is_folded_like_a_negation_is_a_word_of_the_fact(answer: str, state: str) -> None:
    assert state == judge_facts(answer, ["chứa 300 lít"], "Bể thế nào?")[0].state
