"""Numbers in words of languages whose words are not read, and spans of time in several languages."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ("Vingt-cinq nuits dans l'année.", "25 nuits"),
        ("Quinze jours.", "15 jours"),
        ("Veinticinco noches al año.", "25 noches"),
        ("Dezoito quartos.", "18 quartos"),
        ("Ventidue camere.", "22 camere"),
        ("Huit lits.", "9 lits"),
    ],
)
def test_a_number_in_words_that_are_not_read_leaves_the_fact_open(answer: str, fact: str) -> None:
    assert judge_facts(answer, [fact])[0].state == "unknown"


@pytest.mark.parametrize(
    ("answer", "fact", "state"),
    [
        ("Avant 11 heures.", "11 h", "stated"),
        ("24 h avant l'arrivée.", "24 heures", "stated"),
        ("12 horas antes.", "12 h", "stated"),
        ("2 settimane.", "14 giorni", "stated"),
        ("3 semanas.", "21 dias", "stated"),
        ("18 mois.", "18 months", "stated"),
        ("Avant 12 heures.", "11 h", "missing"),
        ("Le café est à 3€40.", "3,40 €", "stated"),
        ("Le café est à 3€40.", "3,50 €", "missing"),
        ("朝9時半です。", "9時30分", "stated"),
        ("午後4時に閉まります。", "16時", "stated"),
        ("午前4時です。", "16時", "missing"),
        ("午前4時です。", "4:00 am", "stated"),
        ("24時間です。", "24時", "missing"),
        ("9時半です。", "10時30分", "missing"),
        ("24 jours.", "24 heures", "denied"),
        ("Avant 9 heures, le six mars.", "11 h", "missing"),
    ],
)
def test_hours_days_weeks_and_months_are_read_in_several_languages(answer: str, fact: str, state: str) -> None:
    assert judge_facts(answer, [fact])[0].state == state


def test_vietnamese_plates_are_no_days() -> None:
    assert judge_facts("3 đĩa.", ["3 days"])[0].state != "stated"
    assert judge_facts("It is due once in the six days.", ["9 weeks"])[0].state == "missing"
