"""What holds up to a value does not hold from it on, in whatever language and whichever source says so."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts

BOUNDS = (
    (
        "How old must a driver be?",
        "21 or older",
        ("At least 21.", "No younger than 21."),
        ("21 or younger.", "Up to 21."),
    ),
    ("How old may a guest be?", "up to 12", ("12 or younger.", "12 at most."), ("12 or older.", "From 12.")),
    (
        "When is it due?",
        "no later than 5 June",
        ("By 5 June.", "5 June at the latest."),
        ("After 5 June.", "From 5 June."),
    ),
    ("Bis wann geht das?", "bis zum 1. Juli", ("Bis 1. Juli.",), ("Ab dem 1. Juli.", "Frühestens am 1. Juli.")),
    ("Ab wann geht das?", "ab 15 Uhr", ("Ab 15 Uhr.", "Frühestens um 15 Uhr."), ("Bis 15 Uhr.",)),
    ("Jusqu'à quelle heure ?", "jusqu'à 20 h", ("Jusqu’à 20 h.",), ("À partir de 20 h.", "Pas avant 20 h.")),
    ("Quel âge ?", "18 ans ou plus", ("18 ans ou plus.",), ("18 ans ou moins.", "Jusqu'à 18 ans.")),
    ("Hạn nộp là khi nào?", "chậm nhất ngày 15/6", ("Trước ngày 15/6.",), ("Sau ngày 15/6.", "Từ ngày 15/6.")),
)


@pytest.mark.parametrize(("question", "value", "right", "wrong"), BOUNDS)
def test_the_other_side_of_a_value_is_denied(
    question: str, value: str, right: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    for answer in right:
        assert judge_facts(answer, [value], question)[0].state in ("stated", "unknown"), answer
    for answer in wrong:
        assert judge_reference_facts(answer, f"{value}.", question)[0].state == "denied", answer
        assert judge_facts(answer, [value], question)[0].state != "stated", answer


def test_the_side_may_be_said_by_the_evidence_alone() -> None:
    question, passages = "When is check-in?", ["Check-in is possible from 15:00."]
    states = {
        text: judge_facts(text, ["15:00"], question, "", passages)[0].state for text in ("From 15:00.", "Until 15:00.")
    }
    assert states == {"From 15:00.": "stated", "Until 15:00.": "unknown"}
    two_sides = [*passages, "Early check-in is possible until 15:00."]
    assert judge_facts("Until 15:00.", ["15:00"], question, "", two_sides)[0].state == "stated"


@pytest.mark.parametrize(
    ("question", "value", "answer"),
    [
        ("Until when is it open?", "until 18:00", "From 18:00 on it is closed."),
        ("Until when can I hand it in?", "by 5 June", "Nothing is accepted after 5 June."),
        ("How early must I cancel?", "at least 2 days before", "No later than 2 days before."),
        ("Für wen ist der 1. Juli?", "den 1. Juli", "Ab dem 1. Juli."),
    ],
)
def test_the_contrary_on_the_other_side_is_not_denied(question: str, value: str, answer: str) -> None:
    assert judge_facts(answer, [value], question)[0].state != "denied"
