"""The phrase filter marks every text that contains a phrase, in any spelling and at any position of a block."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.normalisation import fold_character
from assay.text.refusals import phrase_filter
from assay.text.refusals.phrase_filter import OTHER_SCRIPT_RANGES, PhraseFilter
from assay.text.segmentation import normalise_answer

FILTER = PhraseFilter(["khong co quyen", "access denied", "not sure"])
ARRAYS, ONE_BY_ONE = -1, 10_000
"""Characters of all texts up to which they are looked up one by one."""


@pytest.fixture(autouse=True, scope="module", params=[ARRAYS, ONE_BY_ONE], ids=["arrays", "one by one"])
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phrase_filter, "_FEW_CHARACTERS", request.param)
        yield


@pytest.mark.slow
def test_the_table_agrees_with_folding_for_every_character() -> None:
    """The table folds the blocks that hold Latin letters and signs: no other character folds to a letter or is dropped,
    beyond the BMP only in planes whose surrogates the filter lets pass."""
    table = phrase_filter._folding_table()
    # Behind a surrogate that the filter lets pass, whatever a character folds to is right.
    surrogates = [surrogate for surrogate in range(0xD800, 0xDC00) if table[surrogate] != 255]
    planes = [range(first, first + 0x400) for first in (0x10000 + ((code - 0xD800) << 10) for code in surrogates)]
    for code in (*range(0x10000), *itertools.chain.from_iterable(planes)):
        folded = fold_character(chr(code))
        if any(ord(c) in codes for c in (chr(code), *folded) for codes in OTHER_SCRIPT_RANGES):
            expected = 3  # a letter that the filter cannot look into
        elif len(folded) == 1 and folded.isascii() and (folded.isalnum() or folded in " '-"):
            expected = ord(folded)
        elif any(c.isascii() and c.isalnum() for c in folded):
            expected = 255
        else:
            expected = ord(",") if folded else 127
        if code > 0xFFFF:
            assert expected == ord(","), hex(code)
        elif code != 0xFFFF and not 0xD800 <= code < 0xE000:
            assert expected == table[code], hex(code)


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


@pytest.mark.parametrize("text", ["không", "co quyen", "600", "a\ud83db", "không có quy"])
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


@given(st.text(st.sampled_from([*"acdeinostuCN'`t \t\n,-_0’é\u0301\u200bß²Ωя\x02\uffff\ud83d👍"]), max_size=40))
def test_both_ways_mark_the_same_texts(text: str) -> None:
    texts = [text, f"{text} not sure", f"cannot access denied{text}", f"isn't sure {text}"]
    marked = []
    for most in (ARRAYS, ONE_BY_ONE):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(phrase_filter, "_FEW_CHARACTERS", most)
            marked.append(FILTER(texts).tolist())
    assert marked[0] == marked[1]


def test_blocks_are_cut_without_loss() -> None:
    texts = ["không có quyền" if i % 37 == 0 else "câu trả lời" for i in range(1000)]
    assert [i % 37 == 0 for i in range(1000)] == FILTER(texts).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "I do not find",
        "I don't find",
        "I don’t  find",
        "I DON`T\tfind",
        "I cannot find",
        "Icannot find",
        "they can't find",
        "i won't find",
        "mustn't find",
        "(not find",
        "_not find",
        "👍not find",
        "x’not find",
    ],
)
def test_negations_are_found_in_every_spelling(text: str) -> None:
    assert normalise_answer(text).find("not find") >= 0
    assert PhraseFilter(["not find"])([text, "notes find"]).tolist() == [True, False]


def test_each_negation_of_a_phrase_may_be_contracted() -> None:
    texts = ["i can't say i won't", "i cannot say i will not", "i can not say i won’t", "i can say i won't"]
    assert PhraseFilter(["i can not say i will not"])(texts).tolist() == [True, True, True, False]


@given(
    st.lists(st.sampled_from([*"aon'`t \t\n,-_’é\u0301\u200b\xadß², 👍", "not", "cannot", "find", "n't"]), max_size=8)
)
def test_no_text_that_holds_a_phrase_is_left_out(pieces: list[str]) -> None:
    text = "".join(pieces)
    phrases = ["not find", "can not find", "do not find"]
    folded = normalise_answer(text)
    starts = [match.start() for phrase in phrases for match in re.finditer(phrase, folded)]
    if any(not folded[max(0, start - 1) : start].isalnum() for start in starts):
        assert PhraseFilter(phrases)([text, "12 days"]).tolist() == [True, False]


def test_phrases_that_are_too_short_to_look_up_are_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        PhraseFilter(["no way"])
