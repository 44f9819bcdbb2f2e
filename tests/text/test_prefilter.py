"""The phrase filter marks every text that contains a phrase, in any spelling and at any position of a block."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.normalisation import fold_character
from assay.text.phrase_filter import OTHER_SCRIPT_RANGES, PhraseFilter

FILTER = PhraseFilter(["khong co quyen", "access denied", "not sure"])


@pytest.mark.slow
def test_the_table_agrees_with_folding_for_every_character() -> None:
    """The table lists only the blocks that hold Latin letters: no other character folds to one, beyond the BMP too."""
    for code in range(0x110000):
        folded = "".join(c for c in fold_character(chr(code)) if c.isascii() and c.isalnum())
        expected = 0 if not folded else ord(folded) if len(folded) == 1 else 255
        if any(code in codes for codes in OTHER_SCRIPT_RANGES):
            expected = 3  # a letter that the filter cannot look into
        if code > 0xFFFF or code == 0xFFFF:
            assert expected == 0
        else:
            assert expected == FILTER._table[code], hex(code)


@pytest.mark.parametrize(
    "text",
    [
        "KHÔNG CÓ QUYỀN",
        unicodedata.normalize("NFD", "bạn không có quyền"),
        "không\n\tcó\u00a0quyền",
        "kho\U000e0100ng co quyen",
        "👍 Không có quyền",
        "Access\ufeff denied",
        "",
        " \n",
        "🙂",
        "抱歉",
        "Straße",
    ],
)
def test_phrases_and_texts_without_latin_characters_are_marked(text: str) -> None:
    assert [False, True, False] == FILTER(["12 ngày phép", text, "plain answer"]).tolist()


@pytest.mark.parametrize("text", ["không", "co quyen", "600", "a\ud800b", "không có quy"])
def test_other_texts_are_not_marked(text: str) -> None:
    assert not FILTER([text])[0]


def test_a_phrase_does_not_reach_from_one_text_into_the_next() -> None:
    assert [False, False] == FILTER(["bạn không có", "quyền xem"]).tolist()


def test_a_text_may_contain_the_separator_of_texts() -> None:
    assert [False, True, False] == FILTER(["a\uffffb", "x\uffff không có quyền", "c\uffff"]).tolist()


@pytest.mark.slow
@given(st.lists(st.sampled_from(["", "plain words", "không có quyền", "x" * 400, "\uffff", "ACCESS DENIED", "ok 🙂"])))
def test_a_text_is_marked_the_same_alone_and_in_any_block(texts: list[str]) -> None:
    assert [FILTER([text])[0] for text in texts] == FILTER(texts).tolist()


def test_blocks_are_cut_without_loss() -> None:
    texts = ["không có quyền" if i % 37 == 0 else "câu trả lời" for i in range(1000)]
    assert [i % 37 == 0 for i in range(1000)] == FILTER(texts).tolist()


def test_phrases_that_are_too_short_to_look_up_are_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        PhraseFilter(["no way"])
