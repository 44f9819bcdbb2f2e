"""Each member of a list that is expected counts: none may be denied, left out by "instead", or joined by "or"."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts

LISTS = (
    (
        "Which rooms does the ticket include?",
        "The sauna and the squash court.",
        ("The sauna and the squash court.", "The squash court as well as the sauna."),
        (
            "The sauna, but not the squash court.",
            "The sauna rather than the squash court.",
            "The sauna; the squash court isn't included.",
            "The sauna or the squash court.",
            "The squash court instead of the sauna.",
        ),
    ),
    (
        "Which metals does the depot take?",
        "Copper, brass and zinc.",
        ("It takes copper, brass and zinc.",),
        ("Copper and brass, but not zinc.", "Copper, brass or zinc."),
    ),
    ("Was ist enthalten?", "Frühstück und Parkplatz.", ("Frühstück und Parkplatz.",), ("Frühstück oder Parkplatz.",)),
    (
        "Que comprend le prix ?",
        "La piscine et le hammam.",
        ("La piscine et le hammam.",),
        ("La piscine ou le hammam.",),
    ),
    ("Giá gồm những gì?", "Bữa sáng và hồ bơi.", ("Bữa sáng và hồ bơi.",), ("Bữa sáng hoặc hồ bơi.",)),
)


@pytest.mark.parametrize(("question", "reference", "right", "wrong"), LISTS)
def test_no_member_of_a_reference_may_be_denied_or_optional(
    question: str, reference: str, right: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    for answer in right:
        judged = judge_reference_facts(answer, reference, question)
        assert {judgment.state for judgment in judged} == {"stated"}, answer
    for answer in wrong:
        judged = judge_reference_facts(answer, reference, question)
        assert {judgment.state for judgment in judged} & {"unknown", "denied"}, answer


def test_a_member_that_is_denied_denies_the_list() -> None:
    judged = judge_reference_facts("For Peru, but not for Chile.", "Peru and Chile.", "For which countries is it?")
    assert judged[0].state == "denied"
    assert judged[0].reason.startswith("Chile: ")


@pytest.mark.parametrize(
    ("question", "facts", "answer", "states"),
    [
        ("Was brauche ich?", ["Ausweis", "Foto"], "Ausweis oder Foto.", ["unknown", "unknown"]),
        ("Was brauche ich?", ["Ausweis", "Foto"], "Ausweis und Foto.", ["stated", "stated"]),
        ("Que faut-il ?", ["passeport", "photo"], "Le passeport ou la photo.", ["unknown", "unknown"]),
        ("Que faut-il ?", ["passeport", "photo"], "Le passeport et la photo, où vous voulez.", ["stated", "stated"]),
    ],
)
def test_facts_joined_by_or_are_left_open(question: str, facts: list[str], answer: str, states: list[str]) -> None:
    assert [judgment.state for judgment in judge_facts(answer, facts, question)] == states


@pytest.mark.parametrize(
    ("reference", "right", "wrong"),
    [
        (
            "All rooms but the studio and the attic.",
            "All rooms have a balcony, excluding the studio and the attic.",
            "Only the studio and the attic have a balcony.",
        ),
        (
            "Every line apart from the airport coach and the ferry.",
            "Every line, with the exception of the airport coach and the ferry (they are run by others).",
            "Every line, the airport coach and the ferry included.",
        ),
    ],
)
def test_the_end_of_a_list_of_exceptions_is_no_member(reference: str, right: str, wrong: str) -> None:
    question = "Which of them?"
    assert judge_reference_facts(right, reference, question)[0].state in {"stated", "unknown"}
    assert judge_reference_facts(wrong, reference, question)[0].state != "stated"


def test_an_or_for_an_and_within_a_sentence_is_left_open() -> None:
    reference = "If it is medically reasonable and ordered by a doctor."
    question = "When is the transport paid?"
    answers = (reference, reference.replace(" and ", " or "))
    assert [judge_reference_facts(answer, reference, question)[0].state for answer in answers] == ["stated", "unknown"]
