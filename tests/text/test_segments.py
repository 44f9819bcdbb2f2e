"""Blocks and sentences of texts in several scripts."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.text.segmentation import segment_blocks, segment_sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in segment_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith of Acme Inc. paid $1.5 m. It rose 3.5%.", ["Dr. Smith of Acme Inc. paid $1.5 m.", "It rose 3.5%."]),
        ("See e.g. No. 5 and Fig. 2. The end.", ["See e.g. No. 5 and Fig. 2.", "The end."]),
        ("The answer is no. The reason is simple.", ["The answer is no.", "The reason is simple."]),
        ("Open at 3 p.m. The U.S. Army agreed.", ["Open at 3 p.m.", "The U.S. Army agreed."]),
        ("J. Smith left. Vitamin C. It helps.", ["J. Smith left.", "Vitamin C.", "It helps."]),
        ("Wait... what? Then... Go.", ["Wait... what?", "Then...", "Go."]),
        ("Theo ThS. Lê Văn An, tại TP. HCM. Các bên đồng ý.", ["Theo ThS. Lê Văn An, tại TP. HCM.", "Các bên đồng ý."]),
        ("有三天。五天！好吗？是", ["有三天。", "五天！", "好吗？", "是"]),
        ("هل هذا صحيح؟ نعم. انتهى۔", ["هل هذا صحيح؟", "نعم.", "انتهى۔"]),
        ("यह है। वह नहीं॥ अंत", ["यह है।", "वह नहीं॥", "अंत"]),
        ('He said: "I agree. We go." Then he left.', ['He said: "I agree. We go."', "Then he left."]),
        ("Call `a. B` at x.y/?q=1. Use v1.2.3. Done.", ["Call `a. B` at x.y/?q=1.", "Use v1.2.3.", "Done."]),
        ("1. One thing. 2. Another.", ["One thing.", "2. Another."]),
        ("**Bold one.** Next.", ["**Bold one.**", "Next."]),
        ("", []),
        (" \n\t\n", []),
    ],
)  # fmt: skip
def test_sentences_end_where_readers_end_them(text: str, expected: list[str]) -> None:
    assert expected == split(text)


def test_lines_are_joined_where_a_sentence_goes_on() -> None:
    long = "A line that is long enough to have been broken for its length"
    assert ["Staff get\ntwelve days."] == split("Staff get\ntwelve days.")
    assert [f"{long}\nAnna goes on."] == split(f"{long}\nAnna goes on.")
    assert ["Annual leave", "Sick leave"] == split("Annual leave\nSick leave")
    assert ["Staff get", "twelve"] == split("Staff get\n\ntwelve")


def test_blocks_have_their_kinds() -> None:
    text = (
        "# Title\nText here.\n\n**Label**\n- item one\n  1. item two\n> quoted\n***\n```py\nx = 1. Y\n```\n"
        "| a | b |\n|---|:-:|\n| 1 | 2 |\n|  | `x\\|y` |\nafter"
    )
    kinds_and_texts = [(block.kind, text[block.start : block.end]) for block in segment_blocks(text)]
    assert [
        ("heading", "Title"),
        ("text", "Text here."),
        ("heading", "**Label**"),
        ("item", "item one"),
        ("item", "item two\n> quoted"),
        ("code", "x = 1. Y"),
        ("row", "| 1 | 2 |"),
        ("row", "|  | `x\\|y` |"),
        ("text", "after"),
    ] == kinds_and_texts


def test_a_bold_line_that_ends_the_text_or_holds_digits_is_no_heading() -> None:
    assert ["text"] == [block.kind for block in segment_blocks("**Paris**")]
    assert ["text", "text"] == [block.kind for block in segment_blocks("**12 days**\n\nper year")]


# A lettered list marker ("a)", "(a)") at the start of a line belongs to no sentence.
_LETTERED_MARKER = re.compile(r"^[ \t>]*(\(?[a-z]\))(?=[ \t])", re.MULTILINE)


@given(st.text(alphabet="ab. \n|-#*`\"'“”[]()1。é\u0301?!:>", max_size=80))
@example("a) 1")
@example("> (b) a")
def test_sentences_are_ascending_disjoint_trimmed_and_hold_all_letters(text: str) -> None:
    spans = segment_sentences(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        at = end
    outside = set(range(len(text))) - {i for start, end in spans for i in range(start, end)}
    if "|" not in text and "`" not in text and "~" not in text:
        for marker in _LETTERED_MARKER.finditer(text):
            outside.difference_update(range(*marker.span(1)))
        assert not [i for i in outside if text[i] in "abé"]
