"""Quantities compare within their dimension, with ranges, bounds and roundings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.normalisation import normalise_nfc
from assay.text.quantities import find_measures, is_same_quantity, split_glued_units
from assay.text.units import UNITS


def agree(expected: str, stated: str) -> bool:
    (wanted,), (own,) = find_measures(expected), find_measures(stated)
    return is_same_quantity(wanted, own)


@pytest.mark.parametrize(
    ("expected", "stated"),
    [
        ("9.6 kWh", "9.6kWh"),
        ("9.6 kWh", "9600 Wh"),
        ("2 years", "24 months"),
        ("90 minutes", "1 hour 30 minutes"),
        ("2:15 pm", "14:15"),
        ("8 giờ sáng", "8:00"),
        ("31 March 2027", "ngày 31 tháng 3 năm 2027"),
        ("31 March", "31/03"),
        ("$1.4M", "1.4 million dollars"),
        ("50%", "half"),
        ("10–20 days", "between 10 and 20 days"),
        ("more than 100", "116"),
        ("less than $1 million", "$181,674"),
        ("at most 5 MB", "no more than 5 MB"),
        ("12 days", "at least 12 days"),
        ("about 26,000", "26,150"),
        ("12 days", "12"),
    ],
)
def test_one_quantity_in_two_forms_agrees(expected: str, stated: str) -> None:
    assert agree(expected, stated)


@pytest.mark.parametrize(
    ("expected", "stated"),
    [
        ("9.6 kWh", "9.6 MWh"),
        ("5 MW", "5 mW"),
        ("2 years", "2 months"),
        ("2:15 pm", "2:15"),
        ("31 March 2027", "31 March"),
        ("$30", "£30"),
        ("14%", "14 days"),
        ("10–20 days", "10 days"),
        ("10 days", "10–20 days"),
        ("more than 100", "87"),
        ("12 days", "more than 12 days"),
        ("at most 5 MB", "at least 5 MB"),
        ("about 26,000", "36,000"),
        ("26,150", "26,000"),
    ],
)
def test_two_quantities_do_not_agree(expected: str, stated: str) -> None:
    assert not agree(expected, stated)


def test_the_words_of_a_bound_belong_to_the_quantity() -> None:
    text = "There are no fewer than 12 days, 5 or more."
    assert ["no fewer than 12 days", "5 or more"] == [text[own.start : own.end] for own in find_measures(text)]
    assert [">=", ">="] == [own.bound for own in find_measures(text)]


@given(st.text(alphabet="0123456789.,:-/ %$kMhpmawg°đto nửgiờ"))
def test_any_mix_of_digits_and_units_is_read_without_failing(text: str) -> None:
    length = len(split_glued_units(normalise_nfc(text)))
    last = 0
    for own in find_measures(text):
        assert own.readings or own.date
        assert last <= own.start < own.end <= length
        last = own.end


@given(st.sampled_from(sorted(UNITS)), st.integers(1, 10**6))
def test_a_quantity_with_any_unit_agrees_with_itself(unit: str, value: int) -> None:
    if unit in ("$", "£", "€", "¥", "₫", "us$"):
        return  # written before the number
    quantities = find_measures(f"{value} {unit}")
    assert any(is_same_quantity(own, own) for own in quantities)
