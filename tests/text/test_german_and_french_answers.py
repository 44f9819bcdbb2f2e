"""Right answers in German and French with the words of a company: they are read, and their opposites do not pass."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts

_PRICE = "Wie hoch ist die Leihgebühr für den Anhänger?"
_NUMBER = "Welche Nummer hat die Werkstatt?"
_TRACK = "Von welchem Steig fährt der Bus nach Trier?"
_MOST = "Quel est le plafond mensuel pour le covoiturage ?"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (_PRICE, "40 Euro", "Für den Anhänger berechnen wir Ihnen eine Gebühr von 40 €."),
        (_PRICE, "40 Euro", "Beim Anhänger zahlen Sie 40 Euro pro Schadenfall."),
        (_PRICE, "40 Euro", "Kurz gesagt: Wir verlangen 40 € für den Anhänger."),
        (_NUMBER, "+41 44 300 12 12", "Die Werkstatt erreichen Sie rund um die Uhr unter +41 44 300 12 12."),
        (_TRACK, "Steig 3", "Ihr Bus nach Trier fährt von Steig 3 ab."),
        (_MOST, "90 €", "Le covoiturage est remboursé jusqu'à **90 €**."),
        ("Wie viele Gäste darf ich mitbringen?", "4 Gäste", "Sie dürfen bis zu 4 Gäste mitbringen."),
    ],
)
def test_polite_words_and_general_nouns_are_no_other_subject(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "stated"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (_PRICE, "40 Euro", "Für das Boot berechnen wir Ihnen eine Gebühr von 40 €."),
        (_PRICE, "40 Euro", "Ihr Nachbar zahlt 40 €."),
        (_PRICE, "40 Euro", "Sie zahlen unter 40 €."),
        (_PRICE, "40 Euro", "Ab 40 €."),
        (_PRICE, "40 Euro", "Sie zahlen 40 € je Monat."),
        (_NUMBER, "+41 44 300 12 12", "Den Empfang erreichen Sie unter +41 44 300 12 12."),
        (_NUMBER, "+41 44 300 12 12", "Nicht unter +41 44 300 12 12."),
        (_TRACK, "Steig 3", "Ihr Bus nach Trier fährt nicht von Steig 3 ab."),
        (_MOST, "90 €", "Le vélo est remboursé jusqu'à 90 €."),
        (_MOST, "90 €", "Au moins 90 €."),
        ("Wie alt muss man sein?", "16 Jahre", "Höchstens 16 Jahre."),
    ],
)
def test_other_nouns_and_limits_still_leave_a_value_open(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state != "stated"


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("It's €75 per loss.", "stated"),
        ("It's €75 per claim.", "stated"),
        ("It's €75 per bicycle.", "unknown"),
        ("It's €75 per month.", "unknown"),
    ],
)
def test_a_deductible_is_one_per_loss(answer: str, state: str) -> None:
    assert judge_facts(answer, ["EUR 75"], "How high is the deductible?")[0].state == state


def test_what_a_value_is_per_is_quoted_as_it_is_written() -> None:
    reason = judge_facts("It's €75 per address.", ["EUR 75"], "How high is the deductible?")[0].reason
    assert "per address" in reason


def test_an_english_verb_is_no_french_denial() -> None:
    question = "Which card do I need for the sauna?"
    answer = "You need a Silver Plus card for the sauna."
    judgment = judge_facts(answer, ["Silver Plus"], question)[0]
    assert "language" not in judgment.reason
