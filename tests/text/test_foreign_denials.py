"""Denials and bounds in languages that the rules do not read."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("30 Liter", "30 Liter sind nicht zulässig."),
        ("30 Liter", "Es dürfen keine 30 Liter sein."),
        ("30 Liter", "Höchstens 30 Liter."),
        ("30 Liter", "Weniger als 30 Liter."),
        ("30 litres", "On ne peut pas prendre 30 litres."),
        ("30 litres", "Moins de 30 litres."),
        ("30 litros", "No se admiten 30 litros en el barco."),
        ("30 litros", "Nunca 30 litros."),
        ("30 litros", "Não são 30 litros."),
        ("30 liter", "Het is geen 30 liter."),
        ("30 Liter", "Der Tank fasst 30 Liter pro Kammer."),
        ("30 litres", "Le bateau prend 30 litres par moteur."),
        ("30 リットル", "30 リットルではありません。"),
    ],
)
def test_a_fact_beside_a_denial_in_another_language_is_open(fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], "?")[0].state != "stated"


@pytest.mark.parametrize(
    ("fact", "question", "answer"),
    [
        ("30 Liter", "Wie viel passt in den Tank?", "In den Tank passen 30 Liter."),
        ("30 Liter", "Wie viel passt hinein?", "30 Liter, mehr nicht."),
        ("nicht erlaubt", "Darf ich angeln?", "Angeln ist hier nicht erlaubt."),
        ("30 Liter", "Wie viel passt höchstens hinein?", "Höchstens 30 Liter."),
        ("30 litres", "How much fits in?", "30 litres, at the Hotel Nicht-Raucher."),
        ("30 litres", "Combien ?", "Le réservoir contient 30 litres."),
        ("two days", "How long?", "No fewer than two days."),
    ],
)
def test_a_fact_that_nothing_denies_is_stated(fact: str, question: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "stated"


@pytest.mark.parametrize(
    ("fact", "answer", "language", "state"),
    [
        ("40 Ferientage", "Man hat 40 Tage frei.", "de", "unknown"),
        ("40 Ferientage", "Man hat 45 Tage frei.", "de", "missing"),
        ("40 working chairs", "There are 40 days.", "en", "missing"),
        ("im Obergeschoss", "Oben neben dem Aufgang.", "de", "unknown"),
        ("gratuito", "Não paga nada.", "pt-BR", "unknown"),
    ],
)
def test_no_word_of_a_declared_language_that_is_not_read_need_be_the_same(
    fact: str, answer: str, language: str, state: str
) -> None:
    assert judge_facts(answer, [fact], language=language)[0].state == state
