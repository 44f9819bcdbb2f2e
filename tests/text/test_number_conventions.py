"""Numbers as the languages write them: dots, commas, spaces and apostrophes between the digits."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.read_texts import find_numbers, score_keywords

from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.numbers import share_value
from assay.text.quantities.measures import find_measures

_SENTENCES = {
    "de": ("Das kostet bei uns {} im Jahr.", ".", ","),
    "es": ("El precio de la casa es de {} para todos.", ".", ","),
    "it": ("Il costo della casa è di {} per tutti.", ".", ","),
    "pt": ("O valor da casa é de {} para todos.", ".", ","),
    "nl": ("De prijs van het huis is {} voor ons.", ".", ","),
    "id": ("Harga kamar itu adalah {} untuk anda.", ".", ","),
    "tr": ("Bu oda için fiyat {} ve daha çok.", ".", ","),
    "vi": ("Giá của phòng là {} mỗi đêm.", ".", ","),
    "fr": ("Le prix de la maison est de {} pour vous.", "\u202f", ","),
    "fr with a full space": ("Le prix de la maison est de {} pour vous.", "\u00a0", ","),
    "fr with a plain space": ("Le prix de la maison est de {} pour vous.", " ", ","),
    "sv": ("Det kostar {} för er och för oss.", " ", ","),
    "de-CH": ("Das kostet bei uns {} im Jahr.", "’", "."),
    "en": ("The price of the house is {} for you.", ",", "."),
}
_MONEY = {"đồng": False, "VND": False, "₫": False, "yen": False, "€": True, "EUR": True, "USD": True}


def _write(value: Decimal, group: str, mark: str, decimals: int) -> str:
    written = f"{value:,.{decimals}f}"
    return written.replace(",", "G").replace(".", mark).replace("G", group)


_LANGUAGES = st.sampled_from(sorted(_SENTENCES))
_WHOLE = st.integers(1, 9_999_999)


@given(_LANGUAGES, _WHOLE, st.integers(0, 2), st.integers(0, 99))
def test_a_number_is_read_as_its_language_writes_it(language: str, whole: int, decimals: int, rest: int) -> None:
    sentence, group, mark = _SENTENCES[language]
    value = Decimal(whole) + (Decimal(rest) / 100).quantize(Decimal(10) ** -decimals)
    numbers = find_numbers(sentence.format(_write(value, group, mark, decimals)))
    assert [number.readings for number in numbers] == [(value,)]


@given(_LANGUAGES, st.integers(1, 9_999), st.sampled_from(sorted(_MONEY)))
def test_a_price_that_is_wrong_by_a_thousand_is_never_stated(language: str, whole: int, money: str) -> None:
    sentence, group, mark = _SENTENCES[language]
    right, wrong = (f"{_write(Decimal(value), group, mark, 0)} {money}" for value in (whole * 1000, whole))
    for fact, answer in ((right, wrong), (wrong, right)):
        assert judge_facts(sentence.format(answer), [fact])[0].state == "missing"
        assert judge_facts(answer, [fact], sentence.format("…"))[0].state == "missing"
        assert judge_quantities(answer, fact)[0].state in ("denied", "missing", "unknown")
    assert judge_facts(sentence.format(right), [right])[0].state == "stated"
    assert judge_facts(right, [f"{whole * 1000} {money}"], sentence.format("…"))[0].state == "stated"


@given(_LANGUAGES, st.integers(1, 999), st.sampled_from(["", " kg", " places", " km", " x"]))
def test_a_bare_number_that_is_wrong_by_a_thousand_is_never_stated(language: str, whole: int, unit: str) -> None:
    sentence, group, mark = _SENTENCES[language]
    grouped, small = f"{_write(Decimal(whole * 1000), group, mark, 0)}{unit}", f"{whole}{unit}"
    for fact, answer in ((grouped, small), (small, grouped)):
        for asked in ("", sentence.format("…")):
            assert judge_facts(answer, [fact], asked)[0].state != "stated"


@pytest.mark.parametrize(
    ("written", "readings"),
    [
        ("1,200", ["1200"]),
        ("2.50", ["2.50"]),
        ("1,234,567.89", ["1234567.89"]),
        ("The parcel is 1,200 g and it is here", ["1200"]),
        ("2.000", ["2.000", "2000"]),
        ("we have 2.000 seats in the hall", ["2.000", "2000"]),
        ("0.125", ["0.125"]),
        ("0,125", ["0.125"]),
        ("1.459 €/l", ["1.459", "1459"]),
        ("1.085 USD = 1 EUR", ["1.085", "1085"]),
        ("$1.375 billion", ["1375000000"]),
        ("12.345 %", ["12.345"]),
        ("Rp 40.000", ["40000"]),
        ("¥1.200", ["1200"]),
        ("40.500 ₫", ["40500"]),
        ("40 500 đồng", ["40500"]),
        ("CHF 1’200.50", ["1200.50"]),
        ("Das Paket ist mit der Kiste 1,200 kg schwer", ["1200", "1.200"]),
        ("Das Zimmer kostet mit der Garage 1,200 €", ["1200"]),
        ("お部屋は 1,200 席です", ["1200"]),
    ],
)
def test_marks_between_digits_are_read_by_unit_and_language(written: str, readings: list[str]) -> None:
    assert list(find_numbers(written)[0].readings) == list(map(Decimal, readings))


@pytest.mark.parametrize("written", ["2.0.1", "version 1.200.1b", "10.000.0.1"])
def test_versions_and_addresses_are_no_groups(written: str) -> None:
    assert find_numbers(written) == []


@pytest.mark.parametrize("written", ["12.03.2026", "03.12.2026"])
def test_dates_are_no_groups(written: str) -> None:
    (found,) = find_measures(written)
    assert found.date


@pytest.mark.parametrize(
    ("answer", "fact", "language", "question", "state"),
    [
        ("2", "2.000", "", "How many seats?", "unknown"),
        ("2000", "2.000", "", "How many seats?", "unknown"),
        ("2,000", "2.000", "", "How many seats?", "unknown"),
        ("2.000", "2.000", "", "How many seats?", "stated"),
        ("2000", "2.000", "de", "How many seats?", "stated"),
        ("2000", "2.000", "", "Wie viele Plätze gibt es in dem Saal?", "stated"),
        ("2", "2.000", "de", "How many seats?", "unknown"),
        ("2000", "2.000", "en", "How many seats?", "unknown"),
        ("2000", "2.000", "es-MX", "How many seats?", "unknown"),
        ("200 places", "1 200 places", "fr", "", "unknown"),
        ("1200 places", "1 200 places", "fr", "", "stated"),
        ("1,2 km", "1,200 km", "", "", "missing"),
    ],
)
def test_what_can_be_read_twice_is_open(answer: str, fact: str, language: str, question: str, state: str) -> None:
    assert judge_facts(answer, [fact], question, language=language)[0].state == state


def test_a_reading_of_one_side_is_no_shared_value() -> None:
    open_mark, small, large = (find_numbers(text)[0].readings for text in ("3.000", "3", "3000"))
    assert [share_value(open_mark, other) for other in (small, large, open_mark)] == [False, False, True]
    assert score_keywords("It has 3 rooms.", ["3.000"]).score != 1.0
    assert judge_quantities("3000", "3.000")[0].state == "unknown"
    assert judge_quantities("3000", "3.000", language="pt-BR")[0].state == "stated"
