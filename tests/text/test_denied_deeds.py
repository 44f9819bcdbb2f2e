"""Answers that name who is asked for, and say that they cannot do it: the name stands there, and is no answer."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("Who can release a payment?", "Treasurers", "Treasurers can't do it."),
        ("Who can release a payment?", "Treasurers", "Treasurers cannot do so."),
        ("Who can release a payment?", "Treasurers", "Treasurers can't."),
        ("Who may enter the lab?", "Technicians", "Technicians aren't allowed to."),
        ("Who may enter the lab?", "Technicians", "Technicians may not do that."),
        ("Who is able to unlock the gate?", "Wardens", "Wardens are unable to do it."),
        ("Which role can export data?", "Analyst", "An Analyst won't be able to do this."),
        ("Ai có thể mở cổng?", "Bảo vệ", "Bảo vệ không thể."),
        ("Ai được duyệt đơn?", "Trưởng phòng", "Trưởng phòng không được làm điều đó."),
    ],
)
def test_who_cannot_do_it_is_not_who_can(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "denied"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("Who can release a payment?", "Treasurers", "Treasurers can do it."),
        ("Who can release a payment?", "Treasurers", "Treasurers can. Clerks can't do it."),
        ("Who cannot vote?", "Guests", "Guests can't do it."),
        ("Who cannot vote?", "Guests", "Guests cannot vote."),
        ("Ai có thể mở cổng?", "Bảo vệ", "Bảo vệ có thể làm việc đó."),
    ],
)
def test_who_does_what_is_asked_is_named(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "stated"


@pytest.mark.parametrize("answer", ["Owners cannot do it alone.", "Owners can't do it, unless they have two keys."])
def test_who_cannot_do_it_alone_is_open(answer: str) -> None:
    assert judge_facts(answer, ["Owners"], "Who can delete a workspace?")[0].state == "unknown"


def test_who_can_is_not_who_cannot() -> None:
    assert judge_facts("Guests can do it.", ["Guests"], "Who cannot vote?")[0].state == "denied"
