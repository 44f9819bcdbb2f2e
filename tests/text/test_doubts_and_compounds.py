"""Words that look like doubt, and parts of a compound of the question: they leave no right answer open."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts

QUOTA = "Wie hoch ist die Quote für Zweitstudienbewerber?"


@pytest.mark.parametrize(
    ("fact", "question", "reference", "answer"),
    [
        ("250 USD", "Chứng chỉ tốn bao nhiêu tiền?", "250 USD", "Chứng chỉ có lệ phí 250 USD."),
        ("3 months", "For how long may I sublet?", "Up to 3 months.", "You may sublet for 3 months either way."),
        (
            "3 Prozent",
            QUOTA,
            "3 Prozent der Plätze",
            "Für Bewerberinnen und Bewerber um ein Zweitstudium sind 3 % der Plätze reserviert.",
        ),
        ("8 Euro", "Was zahlen Kursteilnehmer?", "8 Euro", "Die Teilnehmerinnen zahlen 8 Euro."),
    ],
)
def test_a_right_answer_is_not_left_open(fact: str, question: str, reference: str, answer: str) -> None:
    assert ["stated"] == [judgment.state for judgment in judge_facts(answer, [fact], question, reference)]


@pytest.mark.parametrize(
    ("fact", "question", "reference", "answer"),
    [
        ("250 USD", "Chứng chỉ tốn bao nhiêu tiền?", "250 USD", "Chứng chỉ có lẽ 250 USD."),
        (
            "3 months",
            "For how long may I sublet?",
            "Up to 3 months.",
            "You may sublet for either 3 months or 4 months.",
        ),
        ("3 Prozent", QUOTA, "3 Prozent der Plätze", "Für Masterbewerber sind 3 % der Plätze reserviert."),
        ("8 Euro", "Was zahlen Kursteilnehmer?", "8 Euro", "Die Kursleiterinnen zahlen 8 Euro."),
    ],
)
def test_doubt_and_others_still_leave_it_open(fact: str, question: str, reference: str, answer: str) -> None:
    assert "stated" not in [judgment.state for judgment in judge_facts(answer, [fact], question, reference)]
