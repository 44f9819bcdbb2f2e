"""What an answer says to have been so is not what holds, and what it says to hold since then is."""

from __future__ import annotations

import pytest

from assay.text.facts.doubts.superseded_values import drop_superseded
from assay.text.facts.reading.read_text import read_text
from assay.text.facts.stated_facts import judge_facts

CHANGES = [
    ("When is the hearing?", "3 June", "9 July", "The hearing was on 3 June, but has been postponed to 9 July."),
    ("What is the fee?", "£40", "£55", "The fee was £40 until it was raised to £55."),
    ("Who signs it?", "Mr Ito", "Ms Abara", "It was Mr Ito, but since May it is Ms Abara."),
    ("Which floor is it on?", "4th floor", "2nd floor", "It was on the 4th floor; now it's on the 2nd floor."),
    (
        *("Was kostet der Eintritt?", "9 Euro", "11 Euro"),
        "Der Eintritt lag bei 9 Euro, wurde dann auf 11 Euro angehoben.",
    ),
    ("Quel est le tarif ?", "12 euros", "14 euros", "Le tarif était de 12 euros, puis il a été porté à 14 euros."),
    ("Phí là bao nhiêu?", "50.000 đồng", "70.000 đồng", "Trước kia phí là 50.000 đồng, nay là 70.000 đồng."),
]


@pytest.mark.parametrize(("question", "former", "current", "answer"), CHANGES)
def test_the_current_value_is_stated_and_the_former_is_not(
    question: str, former: str, current: str, answer: str
) -> None:
    assert "stated" == judge_facts(answer, [current], question)[0].state
    assert "stated" != judge_facts(answer, [former], question)[0].state


def test_a_question_about_the_past_keeps_it() -> None:
    answer = read_text(CHANGES[1][-1])
    assert "" == drop_superseded(answer, [read_text("What was the fee before?")])


@pytest.mark.parametrize(
    "answer",
    [
        "The lamp was bought in May and was moved to the hall.",
        "The fee was £40, but was moved to another account.",
        "The hearing is on 3 June, but the list was moved to 9 July.",
        "The ferry was late, and the crew went home.",
        "The novel was written by Jane Doe, now a professor in Leeds.",
        "She was born in Oslo, but now lives in Rome.",
        "It was built by the monks, but has been extended by the town.",
        "There was a strike, but since noon trains run again.",
        "Die Architektin war Anna Kern, jetzt ist sie im Ruhestand.",
        "Le roman était de Jeanne Dupré, aujourd'hui professeure à Lyon.",
    ],
)
def test_what_is_told_of_the_past_without_a_change_is_kept(answer: str) -> None:
    assert "" == drop_superseded(read_text(answer), [])


def test_every_former_value_is_left_out_at_once() -> None:
    answer = read_text("The fee was £40, now £55. Prams are free. The hearing was on 3 June, but moved to 9 July.")
    assert "The fee now £55. Prams are free. The hearing: 9 July." == drop_superseded(answer, [])


def test_an_answer_of_many_former_values_is_judged_twice_and_not_once_for_each() -> None:
    answer = "It was £24, now £31. " * 150
    assert ["stated"] == [judgment.state for judgment in judge_facts(answer, ["£31"], "What is the fee?")]
