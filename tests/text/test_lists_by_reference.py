"""What an answer adds to a list, or to whoever does something, leaves a reference open, wherever it stands."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        (
            "What must I bring?",
            "Bring a towel, a lock and 2 euros.",
            "Bring a towel, a lock, 2 euros and a cap.",
        ),
        (
            "Que contient le kit ?",
            "Le kit contient une lampe, une corde et un couteau.",
            "Le kit contient une lampe, une corde, un couteau et une boussole.",
        ),
        (
            "Cần giấy tờ gì?",
            "Cần hộ chiếu, ảnh thẻ và vé máy bay.",
            "Cần hộ chiếu, ảnh thẻ, vé máy bay và sổ tiêm chủng quốc tế.",
        ),
        (
            "Who sits on the panel?",
            "The mayor, the treasurer and the clerk sit on the panel.",
            "The mayor, the treasurer, the clerk and the bishop sit on the panel.",
        ),
        (
            "Which floors are swept daily?",
            "The hall, the stairs and the ramp are swept daily.",
            "The hall, the stairs, the ramp and the attic are swept daily.",
        ),
    ],
)
def test_a_further_member_leaves_a_list_open(question: str, reference: str, answer: str) -> None:
    def list_states(text: str) -> set[str]:
        return {judgment.state for judgment in judge_reference_facts(text, reference, question)}

    assert "unknown" in list_states(answer)
    assert {"stated"} == list_states(reference)


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        ("Who signs the form?", "The dean signs the form.", "The dean and the rector sign the form."),
        ("Who signs the form?", "The dean signs the form.", "The form is signed by the secretary and the dean."),
        ("Which body sets the fee?", "The board sets the fee.", "The board, together with the council, sets the fee."),
        ("Wer prüft das?", "Der Hausmeister prüft das.", "Der Hausmeister und die Verwalterin prüfen das."),
        ("Ai giữ chìa khóa?", "Thủ kho giữ chìa khóa.", "Thủ kho và bảo vệ giữ chìa khóa."),
    ],
)
def test_whoever_is_joined_to_those_who_are_asked_for_leaves_it_open(
    question: str, reference: str, answer: str
) -> None:
    assert "unknown" in {judgment.state for judgment in judge_reference_facts(answer, reference, question)}


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        ("Who signs the form?", "The dean signs the form.", "The dean signs the form and the annex."),
        ("Who signs the form?", "The dean signs the form.", "The dean signs the form and sends it to the registry."),
        ("Who opens the vault?", "Ms Ode opens the vault.", "Ms Ode, our cashier, opens the vault."),
        ("Who signs the form?", "The dean signs the form.", "It is signed by the dean and immediately sent on."),
        ("Who signs the form?", "The dean signs the form.", "The form is signed by the dean and stamped."),
        ("Wer zahlt die Strafe?", "Der Fahrer zahlt die Strafe.", "Die Strafe zahlt der Fahrer, und zwar sofort."),
        ("Who is Ms Ode?", "Ms Ode is our cashier.", "Ms Ode is our cashier."),
    ],
)
def test_what_else_somebody_does_joins_nobody(question: str, reference: str, answer: str) -> None:
    assert {"stated"} == {judgment.state for judgment in judge_reference_facts(answer, reference, question)}


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        ("Which papers are needed?", "Passport, photo and form.", "A passport, a recent photo and the completed form."),
        ("Welche Papiere?", "Ausweis, Foto und Antrag.", "Man braucht den Ausweis, ein Foto und den Antrag."),
        ("Who proposed it?", "Smith proposed it.", "Smith et al. proposed it."),
    ],
)
def test_a_member_with_other_words_around_it_adds_nothing(question: str, reference: str, answer: str) -> None:
    assert {"stated"} == {judgment.state for judgment in judge_reference_facts(answer, reference, question)}


def test_whoever_the_reference_names_too_is_not_added() -> None:
    reference = "The dean and the rector sign the form."
    (judgment,) = judge_facts(reference, ["the dean"], "Who signs?", reference)
    assert "stated" == judgment.state
