"""Bare refusals with courtesies and advice, noes that answer nothing, and statements of the world."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.detected_behaviour import UNKNOWN


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wann öffnet die Kantine?", "Sorry, gar keine Ahnung, am besten fragst du Frau Krüger."),
        ("Wann öffnet die Kantine?", "Keinen blassen Schimmer, ruf da einfach an."),
        ("Wo ist der Schlüssel?", "Tut mir leid, null Ahnung."),
        ("Quand ouvre la cantine ?", "Désolé, aucune idée du tout, voyez avec l'accueil."),
        ("Quand ouvre la cantine ?", "Alors là, pas la moindre idée."),
        ("¿Cuándo abre el comedor?", "Uf, no tengo ni idea, habla con Marta."),
        ("¿Cuándo abre el comedor?", "Ni la menor idea, mejor pregunta en portería."),
        ("Quando abre a cantina?", "Desculpa, nem ideia, liga para a portaria."),
        ("Quando abre a cantina?", "Não tenho a menor ideia, melhor falar com a Ana."),
        ("When does the canteen open?", "Sorry, haven't the faintest, you'd better ask Ben."),
        ("Mấy giờ căng tin mở?", "Em chưa biết nữa, hỏi lễ tân đi."),
    ],
)
def test_colloquial_ways_of_not_knowing_abstain_in_every_language_with_advice_and_courtesies(
    question: str, answer: str
) -> None:
    detected = detect_behaviour(answer, "", question)
    assert ("abstain", True) == (detected.behaviour, detected.is_decided_by_text)


def test_advice_with_a_figure_and_words_for_knowing_inside_a_sentence_are_no_bare_refusal() -> None:
    assert "answer" == detect_behaviour("Fragen Sie Zimmer 12.", "", "Wer hat den Schlüssel?").behaviour
    guests = "Die Gäste haben von den 40 Stufen keine Ahnung und bleiben unten."
    assert "abstain" != detect_behaviour(guests, "", "Warum bleiben die Gäste unten?").behaviour


@pytest.mark.parametrize(
    ("open_question", "closed_question", "no", "regret"),
    [
        ("Which crane lifts ten tons?", "Does crane 4 lift ten tons?", "Nope.", "Sadly, no."),
        ("Welcher Kran hebt zehn Tonnen?", "Hebt Kran 4 zehn Tonnen?", "Nein.", "Bedaure, nein."),
        ("Quelle grue lève dix tonnes ?", "La grue 4 lève-t-elle dix tonnes ?", "Non.", "Hélas, non."),
        ("¿Qué grúa levanta diez toneladas?", "¿La grúa 4 levanta diez toneladas?", "No.", "Por desgracia, no."),
        ("Qual grua levanta dez toneladas?", "A grua 4 levanta dez toneladas?", "Não.", "Lamento, não."),
        ("Cần cẩu nào nâng được mười tấn?", "Cần cẩu 4 có nâng được mười tấn không?", "Không.", "Rất tiếc là không."),
    ],
)
def test_a_bare_no_answers_only_a_question_for_yes_or_no(
    open_question: str, closed_question: str, no: str, regret: str
) -> None:
    detected = detect_behaviour(no, "", open_question)
    assert (UNKNOWN, False) == (detected.behaviour, detected.is_decided_by_text)
    assert "abstain" == detect_behaviour(regret, "", open_question).behaviour
    assert "answer" == detect_behaviour(no, "", closed_question).behaviour
    assert "abstain" != detect_behaviour(regret, "", closed_question).behaviour
    assert "answer" == detect_behaviour(no).behaviour, "nobody knows what was asked"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Does the office have parking?", "Parking is not available."),
        ("Can I park my van at the harbour?", "Parking is not available."),
        ("Where is the car wash?", "A car wash is not available at this location."),
    ],
)
def test_what_is_not_to_be_had_is_no_abstention_by_its_wording_alone(question: str, answer: str) -> None:
    assert "abstain" != detect_behaviour(answer, "", question).behaviour
    behaviour = detect_behaviour("That information is not available.", "", question)
    assert "abstain" == behaviour.behaviour


@pytest.mark.parametrize("answer", ["From 06:00 to 22:00. Outside these hours requests are not handled."])
@pytest.mark.parametrize("question", ["What are the service hours?", ""])
def test_a_value_before_a_limit_is_an_answer(question: str, answer: str) -> None:
    assert "answer" == detect_behaviour(answer, "", question).behaviour
    assert "answer" == detect_behaviour("14 days. Later returns cannot be accepted.", "", question).behaviour
