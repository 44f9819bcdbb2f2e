"""A first look that spares a slow one never hides what the slow one finds."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.normalisation import fold_in_place, normalise_nfc
from assay.text.quantities import german_forms, spoken_numbers, unit_names, vietnamese_forms
from assay.text.quantities.unit_names import split_glued_units
from assay.text.quantities.units import UNITS
from assay.text.safety import disguised_text
from assay.text.safety.disguised_text import decode_payloads, make_skeleton, replace_lookalikes

WORDS = (
    *(
        "first",
        "Second",
        "THIRD",
        "twelfth",
        "floor",
        "rows",
        "under",
        "Over 12's",
        "5s",
        "12'S",
        "USD",
        "USD500",
        "7kg",
    ),
    *("9.6kWh", "1,5mg", "20°C", "mùng 5", "T2", "T2, CN", "thứ 7", "hai ký rưỡi", "1tr2", "1m65", "phần ba", "lạng"),
    *(
        "tháng giêng",
        "chiều 2h",
        "p. 301",
        "2 tấn 5",
        "giờ kém",
        "tỉ",
        "May 5",
        "half",
        "0 5",
        "(1",
        "at 5.p.m",
        "ten to",
    ),
    *(
        "a",
        "day",
        "an hour",
        "one in",
        "тест",
        "x",
        ".",
        "-",
        ",",
        "ta",
        "1/3",
        "2t3",
        "1900 12",
        "dozen",
        "Đ",
        "e\u0301",
    ),
)
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@given(texts)
def test_units_and_codes_of_currencies_are_split_from_every_number(text: str) -> None:
    for spelling in (text, text.replace(" ", "")):
        written = spoken_numbers.write_spoken_numbers(vietnamese_forms.write_vietnamese_forms(spelling))
        expected = unit_names._GLUED.sub(r"\1 \2", unit_names._GLUED_CURRENCY.sub(r"\1 ", written))
        assert split_glued_units(spelling) == expected


@pytest.mark.parametrize("name", sorted(UNITS))
def test_a_unit_written_onto_a_number_is_looked_at(name: str) -> None:
    text = f"7{name}"
    assert split_glued_units(text) == unit_names._GLUED.sub(r"\1 \2", text)


@given(texts)
def test_ordinals_and_ages_are_written_as_digits_in_any_case(text: str) -> None:
    for spelling in (text, text.upper()):
        expected = spoken_numbers._ORDINAL.sub(spoken_numbers._write_ordinal, spelling)
        expected = spoken_numbers._UNDER_FIVES.sub(r"\g<side> \g<age>", expected)
        if not spoken_numbers._MAY_BE_SPOKEN.search(fold_in_place(expected)):
            assert spoken_numbers.write_spoken_numbers(spelling) == expected


@given(texts)
def test_vietnamese_forms_are_looked_for_where_any_sign_of_them_stands(text: str) -> None:
    signs = (vietnamese_forms._VIETNAMESE, vietnamese_forms._ONLY_VIETNAMESE)
    if not any(sign.search(text) for sign in signs) and not vietnamese_forms._has_short_days(text):
        assert vietnamese_forms.write_vietnamese_forms(text) == text
    assert vietnamese_forms._VIETNAMESE.search(text.encode("ascii", "ignore").decode()) is None


def test_every_letter_that_looks_like_a_latin_one_is_replaced() -> None:
    for code, latin in disguised_text._LOOKALIKES.items():
        assert replace_lookalikes(chr(code)) == chr(latin)


@given(st.text("abАсsı _-7'é\u200b", max_size=12))
def test_a_skeleton_has_all_letters_and_digits(text: str) -> None:
    assert make_skeleton(text) == make_skeleton(normalise_nfc(text)) == "".join(make_skeleton(char) for char in text)


@pytest.mark.parametrize("secret", ["heart of oak", "the gate is 7", "x" * 20])
def test_base32_is_decoded(secret: str) -> None:
    encoded = base64.b32encode(secret.encode()).decode()
    assert secret in decode_payloads(f"see {encoded}")
    assert secret not in decode_payloads(f"see {encoded.lower()}")


GERMAN_WORDS = (
    *(
        "zwei",
        "DREI",
        "Fünf",
        "sechs",
        "\u017fechs",
        "dre\u0130",
        "elf",
        "DREI\u1e9eIG",
        "einhalb",
        "Hundert",
        "tausend",
    ),
    *(
        "und",
        "Eine",
        "halbe",
        "Anderthalb",
        "Stunde",
        "Tage",
        "Uhr",
        "MIN",
        "3.",
        "9.30",
        "März",
        "MAI",
        "Haus",
        "(",
        ".",
    ),
)


@given(st.lists(st.sampled_from(GERMAN_WORDS), max_size=6), st.sampled_from(("", " ", "\n")))
def test_german_forms_are_seen_in_lower_case_as_where_the_case_is_ignored(words: list[str], between: str) -> None:
    text = between.join(words)
    ignoring = re.compile(german_forms._MAY_HAVE_FORM.pattern, re.IGNORECASE)
    expected = text if ignoring.search(text) is None else german_forms._FORM.sub(german_forms._write, text)
    assert german_forms.write_german_forms(text) == expected
