"""Questions and references in French, German, Spanish, Italian and Portuguese are read for what they ask."""

from __future__ import annotations

import pytest

from assay.text.facts.expected.yes_or_no import asks_whether
from assay.text.facts.fact_judgments import combine_states
from assay.text.facts.reading.read_text import read_text
from assay.text.facts.references.reference_judgments import judge_reference_facts

TWINS = [
    (
        "Combien coûte la location d'un kayak ?",
        "18 € par jour",
        "Elle est à 18 € la journée.",
        "Elle est à 18 € l'heure.",
    ),
    ("Quand ferme la patinoire ?", "À 20 h", "Elle ferme à 20 heures.", "Elle ouvre à 20 h."),
    ("Puis-je camper dans le parc ?", "Non, tout le parc est protégé", "Malheureusement non.", "Oui, bien sûr."),
    ("Puis-je camper dans le parc ?", "Oui, sauf en été", "Oui, sauf en été.", "Oui."),
    ("Quand faut-il rendre les skis ?", "2 jours après la location", "2 jours après la location.", "2 jours avant."),
    ("Combien de jours dure le stage ?", "Douze jours", "12 jours.", "Dix-neuf jours."),
    ("Combien de visites sont offertes ?", "25 visites par an", "25 visites par année.", "25 visites par mois."),
    ("Was kostet ein Kanu?", "15 Euro pro Stunde", "15 Euro die Stunde.", "15 Euro pro Tag."),
    ("Wann öffnet das Bad?", "Um 9 Uhr", "Es öffnet um 9 Uhr.", "Um 10 Uhr."),
    ("Darf ich mein Pferd mitbringen?", "Nein, Pferde sind verboten", "Leider nein.", "Ja, gern."),
    ("Gibt es einen Aufzug?", "Ja, aber nur im Altbau", "Ja, aber nur im Altbau.", "Ja."),
    ("¿Cuánto cuesta la barca?", "9 € por persona", "Cuesta 9 euros por persona.", "Cuesta 9 euros por familia."),
    ("¿Hay taquillas?", "No, solo en la estación", "No.", "Sí, hay diez."),
    ("Quanto costa il traghetto?", "7 € a persona", "Costa 7 € a persona.", "Costa 17 € a persona."),
    ("Quanto custa o passeio?", "30 € por pessoa", "Custa 30 euros por pessoa.", "Custa 35 euros por pessoa."),
    ("Posso pagar com cartão?", "Sim, com Visa", "Sim.", "Não."),
]


@pytest.mark.parametrize(("question", "reference", "right", "wrong"), TWINS)
def test_a_reference_in_another_language_tells_right_from_wrong(
    question: str, reference: str, right: str, wrong: str
) -> None:
    states = [
        combine_states(judged.state for judged in judge_reference_facts(answer, reference, question))
        for answer in (right, wrong)
    ]
    assert states[0] is True
    assert states[1] is not True


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Le musée est-il ouvert ?", True),
        ("Est-ce que le musée est ouvert ?", True),
        ("Quand le musée est-il ouvert ?", False),
        ("Was kostet ein Floß?", False),
        ("Was it open?", True),
        ("Kann ich umsteigen?", True),
        ("¿Puedo cambiar el billete?", True),
        ("Combien coûte-t-il ?", False),
    ],
)
def test_a_question_for_yes_or_no_in_another_language(question: str, expected: bool) -> None:
    assert asks_whether(read_text(question)) is expected
