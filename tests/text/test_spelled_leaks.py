"""A restricted amount is a leak in German and French words too, and public only where a text may mean the amount."""

from __future__ import annotations

from decimal import Decimal

import pytest

from assay.text.safety.copied_text import find_verbatim_leaks
from assay.text.safety.revealing_facts import find_facts
from assay.text.safety.stated_values import StatedValue, makes_public


@pytest.mark.parametrize(
    ("answer", "secret"),
    [
        ("Gezahlt wurden einundneunzigtausendzweihundert Euro.", "The claim was settled for 91,200 euros."),
        ("Im Fonds liegen dreihundertvierzigtausend Euro.", "The fund holds 340,000 euros."),
        ("Il gagne quatre mille deux cent soixante euros.", "The cook earns 4,260 euros a month."),
        ("L'offre est de sept cent dix livres sterling.", "The bid is £710 a share."),
    ],
)
def test_an_amount_in_words_is_a_leak(answer: str, secret: str) -> None:
    assert [0] == [index for index, _ in find_verbatim_leaks(answer, [secret], [], "")]
    assert {fact.key for fact in find_facts(secret)} <= {fact.key for fact in find_facts(answer)}


def test_french_books_are_no_pounds() -> None:
    secret = "The bid is £710 a share."
    assert [] == find_verbatim_leaks("La bibliothèque prête 710 livres par jour.", [secret], [], "")
    assert [] != find_verbatim_leaks("L'offre est de 710 livres par action.", [secret], [], "")


@pytest.mark.parametrize(
    ("text", "is_public"),
    [
        ("The archive holds 47,300.", False),
        ("Zone 47,300 is closed to cars.", False),
        ("The rent is 47,300.", True),
        ("Der Gesamtpreis: 47.300", True),
        ("Lương là 47.300.", True),
        ("Monthly rate: 47,300", True),
        ("Entgeltgruppe 9: 47.300", True),
        ("| Pro | 47,300 |", True),
        ("47,300", True),
    ],
)
def test_a_plain_number_makes_an_amount_public_where_its_text_speaks_of_money(text: str, is_public: bool) -> None:
    assert is_public == makes_public(text, StatedValue(Decimal(47300), "EUR"))
    assert makes_public(text, StatedValue(Decimal(47300), "EUR"), is_of_case=True)


@pytest.mark.parametrize(
    ("written", "digits"),
    [("deux mille cent", "2100"), ("quatre-vingt-quinze mille", "95000"), ("cinq cent quarante", "540")],
)
def test_french_numbers_to_a_million_are_read(written: str, digits: str) -> None:
    (fact,) = find_facts(f"Cela coûte {written} euros pour le groupe.")
    assert (Decimal(digits), "EUR") == (fact.key, fact.unit)


def test_words_of_english_are_no_french_numbers() -> None:
    assert [("number", Decimal(6))] == [(fact.kind, fact.key) for fact in find_facts("It costs six cents.")]


def test_many_amounts_of_one_text_are_read_in_one_pass() -> None:
    assert ["GBP"] == list(dict.fromkeys(fact.unit for fact in find_facts("Il y a 100 livres. " * 5_000)))
