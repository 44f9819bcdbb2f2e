"""French, Spanish, Portuguese and Italian numbers in words, and spans of time in several languages."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("answer", "fact", "state"),
    [
        ("Vingt-cinq nuits dans l'année.", "25 nuits", "stated"),
        ("Vingt-cinq nuits dans l'année.", "20 nuits", "missing"),
        ("Soixante et onze places.", "71 places", "stated"),
        ("Quatre-vingt-dix-neuf marches et quatre-vingts lits.", "99 marches", "stated"),
        ("Septante jours.", "70 jours", "stated"),
        ("Quinze jours.", "15 jours", "stated"),
        ("Veinticinco noches al año.", "25 noches", "stated"),
        ("Treinta y dos camas.", "32 camas", "stated"),
        ("Treinta y dos camas.", "30 camas", "missing"),
        ("Dezoito quartos.", "18 quartos", "stated"),
        ("Quarenta e quatro dias.", "44 dias", "stated"),
        ("Ventidue camere.", "22 camere", "stated"),
        ("Trentotto posti.", "38 posti", "stated"),
        ("Huit lits.", "9 lits", "missing"),
        ("Sept jours.", "7 jours", "stated"),
        ("Six ans.", "6 ans", "stated"),
        ("Une semaine.", "7 jours", "stated"),
        ("Le délai est d'une semaine.", "une semaine", "stated"),
        ("La garantie dure un an minimum.", "un an", "stated"),
        ("Le délai est d’onze ans.", "11 ans", "stated"),
        ("Uma semana.", "1 semana", "stated"),
        ("Once días.", "11 días", "stated"),
        ("Vingt et une semaines.", "1 semaine", "missing"),
        ("La visite dure deux heures et coûte six euros.", "6 euros", "stated"),
        ("Cent vingt marches.", "120 marches", "stated"),
        ("Cent vingt marches.", "20 marches", "missing"),
        ("Deux mille places.", "2 places", "missing"),
        ("Trois cents euros.", "300 euros", "stated"),
        ("Trois cents euros.", "3 euros", "missing"),
    ],
)
def test_numbers_in_words_are_read_in_several_languages(answer: str, fact: str, state: str) -> None:
    assert judge_facts(answer, [fact])[0].state == state


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ("Dos mil plazas.", "2 plazas"),
        ("Dos mil plazas.", "2000 plazas"),
        ("Deux millions d'euros.", "2 euros"),
    ],
)
def test_a_larger_number_in_words_is_none_of_its_parts(answer: str, fact: str) -> None:
    assert judge_facts(answer, [fact])[0].state == "unknown"


@pytest.mark.parametrize(
    "answer",
    [
        "You may come once a day.",
        "Seize the day, due to Otto.",
        "A dix in Sept. is rare.",
        "Once an hour, payment is due an hour before.",
    ],
)
def test_english_words_are_no_numbers_of_other_languages(answer: str) -> None:
    assert all(judge_facts(answer, [f"{number} days"])[0].state != "stated" for number in (2, 7, 8, 10, 11, 16))


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
