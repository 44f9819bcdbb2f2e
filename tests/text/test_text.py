"""Folding and tokens: equivalent spellings fold alike, and identifiers stay whole."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.read_texts import find_numbers

from assay.text.normalisation import fold_in_place, fold_text, normalise_nfc
from assay.text.tokens import remove_separators, tokenise_text


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Không Đủ THÔNG tin", "khong du thong tin"),
        (unicodedata.normalize("NFD", "Không đủ quyền"), "khong du quyen"),
        ("  a\u00a0\u202fb\n\tc\u200bd ", "a b c d"),
        ("soft\u00adhyphen zero\u200dwidth \ufeffbom", "softhyphen zerowidth bom"),
        ("don’t “quote” «x» – ERR‑429", 'don\'t "quote" "x" - err-429'),
        ("Straße ﬁne İ", "strasse fine i"),
        ("", ""),
        ("👍🏽 ok", "👍🏽 ok"),
    ],
)
def test_equivalent_spellings_fold_alike(text: str, folded: str) -> None:
    assert folded == fold_text(text)


@given(st.text())
def test_folding_does_not_depend_on_composition_and_is_done_at_once(text: str) -> None:
    assert fold_text(text) == fold_text(normalise_nfc(text)) == fold_text(unicodedata.normalize("NFD", text))
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.text())
def test_flat_text_keeps_every_position(text: str) -> None:
    assert len(text) == len(fold_in_place(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ERR-429, INC-2024-001 và CVE-2024-12345", ["err-429", "inc-2024-001", "va", "cve-2024-12345"]),
        ("v2026-01 hr_leave_policy P1", ["v2026-01", "hr_leave_policy", "p1"]),
        ("$1.4M, 26,000.5 and 12%", ["$1.4m", "26,000.5", "and", "12%"]),
        ("part-time 14-character 10-12", ["part", "time", "14", "character", "10-12"]),
        ("31/12/2026 2026-01-31 10:30", ["31/12/2026", "2026-01-31", "10:30"]),
        ("C++ and C#; don't.", ["c++", "and", "c#", "don't"]),
        ("...", []),
    ],
)
def test_words_numbers_and_identifiers_are_tokens(text: str, expected: list[str]) -> None:
    assert expected == tokenise_text(text)


def test_squeezing_leaves_letters_and_digits() -> None:
    assert "secret123khong" == remove_separators("S_e c\u200br.E-t (1 2 3) Không!")


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "not 12 days ", "12,", "1 000 ", "a-", "ERR-", "hai mươi ", "'a ", "1.", "[1,"])
def test_a_hundred_thousand_characters_are_tokenised_quickly(piece: str) -> None:
    """Linear work takes hundredths of a second here; quadratic work would take minutes."""
    text = (piece * 100_000)[:100_000] + "!"
    start = time.process_time()
    tokenise_text(text)
    find_numbers(text)
    assert time.process_time() - start < 2
