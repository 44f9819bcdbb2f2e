"""Quantities compare within their dimension, with ranges, bounds and roundings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.normalisation import normalise_nfc
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.unit_names import read_unit_name, split_glued_units
from assay.text.quantities.units import UNITS


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
        ("135 minutes", "2 h 15"),
        ("16:40", "16 h 40"),
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
        ("24 weeks", "two dozen weeks"),
        ("12 litres", "a dozen litres"),
        ("7 May 2024", "May 7th, '24"),
        ("7 May 1998", "7 May ’98"),
        ("7 May 2024", "7/5/24"),
        ("three times", "3x"),
        ("4 times", "4× a year"),
        ("8:00–20:00", "from 8 till 8 pm"),
        ("8:00–20:00", "from 8 to 20"),
        ("9:00–17:00", "open 9 to 5"),
        ("1 pm", "over by 1 pm"),
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
        ("12 weeks", "two dozen weeks"),
        ("12 litres", "a dozen days"),
        ("7 May 2024", "May 7th, '25"),
        ("8:00–20:00", "from 8 till 9 pm"),
        ("8:00–20:00", "8 to 20 guests"),
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 pence", "£0.30"),
        ("30p", "thirty pence"),
        ("25 cents", "€0.25"),
        ("25 cents", "$0.25"),
        ("5 hào", "0,5 đồng"),
        ("3 pounds 20 pence", "£3.20"),
        ("two dozen", "24"),
        ("nửa tá", "6"),
        ("twice a day", "2 times a day"),
        ("1 kg 250 g", "1.25 kg"),
        ("1 mét 20", "1,2 m"),
        ("one and a half years", "18 months"),
        ("eight years and a half", "102 months"),
        ("seven hours and a quarter", "435 minutes"),
        ("one in eight", "12.5%"),
        ("chín năm rưỡi", "9,5 năm"),
        ("1½ hours", "90 minutes"),
        ("three quarters of an hour", "45 minutes"),
        ("half past nine in the evening", "21:30"),
        ("3 giờ kém 15 chiều", "14:45"),
        ("8 rưỡi sáng", "8:30"),
        ("March the 1st", "1 March"),
        ("minus 18 degrees Celsius", "-18 °C"),
        ("âm 5 độ C", "-5 °C"),
        ("bảy phẩy hai", "7,2"),
    ],
)
def test_forms_of_daily_life_are_the_same_quantity(one: str, other: str) -> None:
    first, second = find_measures(one)[0], find_measures(other)[0]
    assert is_same_quantity(first, second)
    assert is_same_quantity(second, first)


@pytest.mark.parametrize(
    ("one", "other"),
    [("30 pence", "€0.30"), ("5 cents", "$5"), ("50 xu", "50 đồng"), ("half past nine in the morning", "21:30")],
)
def test_forms_of_daily_life_that_only_look_alike_differ(one: str, other: str) -> None:
    assert not is_same_quantity(find_measures(one)[0], find_measures(other)[0])


@pytest.mark.parametrize(
    "text", ["10 minus 3", "from 1/2 to 3/4", "ngày 1/2", "Staff of chúng ta", "2 m, 50 cm wide", "5 past"]
)
def test_what_may_mean_something_else_stays_as_it_is(text: str) -> None:
    assert split_glued_units(text) == text
    assert all(reading.low >= 0 for quantity in find_measures(text) for reading in quantity.readings)


NAMES = "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))
UNIT = re.compile(rf"[ -]?(?:(?:working|business|calendar|full|us|square) (?=\w))??(?P<unit>{NAMES})(?![^\W_]|/|\.m\b)")
"""What follows a number as its unit; the package has a table in its place, which needs no compiling."""
parts_of_texts = st.one_of(
    st.sampled_from(sorted(UNITS)),
    st.sampled_from([" ", "-", "working ", "square ", "us ", "full ", "s", "/", ".m", ".", "_", "é", "1"]),
)


@given(st.lists(parts_of_texts, max_size=5), st.integers(0, 3))
def test_the_name_of_a_unit_is_the_one_that_an_expression_of_all_names_finds(parts: list[str], position: int) -> None:
    text = "".join(parts)
    match = UNIT.match(text, position)
    assert read_unit_name(text, position) == (("", position) if match is None else (match["unit"], match.end()))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("At 8, 12 and 16 weeks.", "8 12 16"),
        ("at eight, twelve, and sixteen weeks", "8 12 16"),
        ("bottles of 2, 5 or 10 litres", "2 5 10"),
        ("Mit acht, zwölf und sechzehn Wochen.", "8 12 16"),
        ("mit 8 oder 12 Wochen", "8 12"),
        ("à 8, 12 et 16 semaines", "8 12 16"),
        ("two and five weeks", "2 5"),
        ("5 and 10 EUR", "5 10"),
    ],
)
def test_the_numbers_of_a_list_have_the_unit_behind_its_last_one(text: str, values: str) -> None:
    quantities = find_measures(text)
    assert values.split() == [f"{quantity.readings[0].low / quantity.unit_size:f}" for quantity in quantities]
    assert 1 == len({quantity.readings[0].dimension for quantity in quantities} - {"calendar"}), quantities


@pytest.mark.parametrize("text", ["until a day before", "Cancel for free till a day ahead.", "within a day"])
def test_a_span_of_one_unit_is_read_behind_words_that_lead_to_it(text: str) -> None:
    assert ["duration"] == [quantity.readings[0].dimension for quantity in find_measures(text)]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("In 2024, 12 weeks were lost.", 1),  # a comma alone lists nothing
        ("Rooms 8 and 12 open at 9:00.", 2),
        ("from 8, 9 and 10 pm", 2),
        ("two hundred and fifty days", 0),  # one number
        ("Gib acht und warte zwei Tage.", 0),
        ("Take 2, and 4 hours later one more.", 1),
        ("Room 4 and 2 hours of parking.", 1),
        ("It was founded in 2019 and 3 years later sold.", 1),
    ],
)
def test_numbers_that_are_no_list_keep_what_they_are(text: str, plain: int) -> None:
    assert plain == sum(all(own.dimension == "" for own in quantity.readings) for quantity in find_measures(text))
