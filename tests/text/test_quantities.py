"""Numbers and dates by value, in the formats of English and Vietnamese."""

from __future__ import annotations

import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.read_texts import find_numbers

from assay.text.normalisation import normalise_nfc
from assay.text.numbers import find_dates, find_quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("26, 000", [(("26000",), "")]),
        ("26.000", [(("26", "26000"), "")]),
        ("26,000", [(("26000",), "")]),
        ("26,000.5", [(("26000.5",), "")]),
        ("1.234,56", [(("1234.56",), "")]),
        ("26k 1.4M 2bn", [(("26000",), ""), (("1400000",), ""), (("2000000000",), "")]),
        ("$1.4m US$5 5 USD", [(("1400000",), "USD"), (("5",), "USD"), (("5",), "USD")]),
        ("30m", [(("30",), "")]),
        ("12% 12 phần trăm 12 percent", [(("12",), "%")] * 3),
        ("1,5 triệu đồng", [(("1500000",), "VND")]),
        ("1.000.000 đồng 5đ", [(("1000000",), "VND"), (("5",), "VND")]),
        ("1,125 triệu", [(("1125000000", "1125000"), "")]),
        ("twelve days, twenty-one, two hundred and fifty", [(("12",), "day"), (("21",), ""), (("250",), "")]),
        ("mười hai ngày", [(("12",), "day")]),
        ("muoi hai, hai mươi lăm nghìn, một trăm linh năm", [(("12",), ""), (("25000",), ""), (("105",), "")]),
        ("năm ngày trong năm", [(("5",), "day")]),
        ("twenty–one days, two\nthousand, hai\u3000mươi", [(("21",), "day"), (("2000",), ""), (("20",), "")]),
        ("sau ba ngày, sau ngày 31", [(("3",), "day"), (("31",), "")]),
        ("10 working days, 14-character, 4 giờ", [(("10",), "day"), (("14",), "character"), (("4",), "hour")]),
        ("10-12 days; 5 hoặc 6%", [(("10",), "day"), (("12",), "day"), (("5",), "%"), (("6",), "%")]),
        ("-5% và 3 - 5", [(("-5",), "%"), (("3",), ""), (("5",), "")]),
        ("quý 4 năm 2027", [(("4",), ""), (("2027",), "")]),
        ("26, 150", [(("26150", "26", "150"), "")]),
        ("ERR-429 P1 v2026-01 2FA 1.2.3 10:30 24/7 Q4/2027 007", []),
        ("one of us, một số người", []),
        ("1" * 40, []),
        ("", []),
    ],
)
def test_numbers_are_read_by_value_and_unit(text: str, expected: list[tuple[tuple[str, ...], str]]) -> None:
    wanted = [(tuple(map(Decimal, values)), unit) for values, unit in expected]
    assert wanted == [(number.readings, number.unit) for number in find_numbers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-12-31", ((2026, 12, 31),)),
        ("31/12/2026", ((2026, 12, 31),)),
        ("12/31/2026", ((2026, 12, 31),)),
        ("03/04/2026", ((2026, 4, 3), (2026, 3, 4))),
        ("31.12.2026", ((2026, 12, 31),)),
        ("từ tháng 2 năm 2026", ((2026, 2, 0),)),
        ("ngày 31 tháng 12 năm 2026", ((2026, 12, 31),)),
        ("December 31, 2026", ((2026, 12, 31),)),
        ("31st of December 2026", ((2026, 12, 31),)),
        ("since Feb 2026", ((2026, 2, 0),)),
        ("2026-02", ((2026, 2, 0),)),
    ],
)
def test_dates_are_dates_and_not_numbers(text: str, expected: tuple[tuple[int, int, int], ...]) -> None:
    assert [expected] == [date.readings for date in find_dates(text)]
    assert [] == find_numbers(text)


@pytest.mark.parametrize("text", ["2026-13-01", "32/12/2026", "31/12/2626", "2025-2026"])
def test_impossible_days_are_no_dates(text: str) -> None:
    assert [] == find_dates(text)


def test_spans_point_into_the_composed_text() -> None:
    text = unicodedata.normalize("NFD", "Được nghỉ mười hai ngày từ 31/12/2026.")
    assert ["mười hai ngày", "31/12/2026"] == [
        normalise_nfc(text)[item.start : item.end] for item in find_quantities(text)
    ]


@given(st.text(alphabet="0123456789.,- /:%$kMđ\u00a0ngày năm"))
def test_any_mix_of_digits_and_marks_is_read_without_failing(text: str) -> None:
    for item in find_quantities(text):
        assert item.readings
        assert 0 <= item.start < item.end <= len(normalise_nfc(text))


@given(st.integers(min_value=0, max_value=10**15))
def test_a_whole_number_reads_the_same_in_every_grouping(value: int) -> None:
    for written in (str(value), f"{value:,}", f"{value:,}".replace(",", ".")):
        assert Decimal(value) in find_numbers(written)[0].readings


PIECES = [
    *("12 days", "$5", "US$7", "usd 5", "-5%", "26k", "twenty-one", "hai mươi ba", "một trăm", "thang 3 nam 2026"),
    *("ngày 31/12/2026", "March 5, 2026", "ERR-429", "a_1", "x-1", "10:30", "1.2.3", "2FA", "decide", "bank 3", "£3"),
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), max_size=6))
def test_a_number_after_words_is_found(pieces: list[str]) -> None:
    text = " they marked such words, mostly plain; ".join(pieces)
    alone = [(item.readings, item.end - item.start) for piece in pieces for item in find_quantities(piece)]
    assert alone == [(item.readings, item.end - item.start) for item in find_quantities(text)]
