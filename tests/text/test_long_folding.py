"""Folding a text by bytes or arrays gives what folding its characters one by one gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.text.normalisation import _COMMON, fold_case, fold_character, fold_in_place, fold_text

_LONG = 400  # characters, beyond the length from which arrays are used
_AWKWARD = ("Ông Đỗ ", "“don’t”", "ﬁrst ", "ß", "…", "\u00ad", "e\u0301", "😀", "𝔸", "ΑΣ ", "料金。", "\uffff")
_PIECES = st.lists(
    st.one_of(
        st.text(max_size=12),  # characters of all planes, lone surrogates left out
        st.sampled_from(_AWKWARD),
    ),
    min_size=1,
    max_size=8,
)


@given(_PIECES, st.booleans())
def test_a_long_text_is_folded_like_its_characters(pieces: list[str], is_mostly_plain: bool) -> None:
    text = "".join(pieces)
    text += ("and so on " if is_mostly_plain else text or "é") * _LONG
    text = text[:2500]
    assert fold_text(text) == " ".join("".join(map(fold_character, text)).split())


@given(_PIECES)
def test_long_texts_keep_positions_and_diacritics_as_short_ones_do(pieces: list[str]) -> None:
    text = " ".join(pieces) + " ờ, " + "weiter " * (_LONG // 7)
    parts = text.split(" ")
    assert fold_in_place(text) == " ".join(map(fold_in_place, parts))
    assert fold_case(text).split() == " ".join(map(fold_case, parts)).split()


def test_lone_surrogates_are_kept_in_a_long_text() -> None:
    text = "a\ud800b" + "Ö" * _LONG
    assert fold_text(text) == "a\ud800b" + "o" * _LONG


@given(st.text(alphabet=f"{_COMMON}aZ09 .`\0\xff", max_size=30), st.sampled_from(("", "", *_AWKWARD)))
def test_a_text_of_common_characters_is_folded_like_its_characters(text: str, awkward: str) -> None:
    text = text[:15] + awkward + text[15:]
    folded = [fold_character(character) for character in text]
    assert fold_text(text) == " ".join("".join(folded).split())
    assert fold_in_place(text) == "".join(
        one if len(one) == 1 else written for one, written in zip(folded, text, strict=True)
    )


def test_common_characters_fit_into_bytes() -> None:
    assert len(set(_COMMON)) == len(_COMMON) <= 128
    assert not any(map(str.isascii, _COMMON))
