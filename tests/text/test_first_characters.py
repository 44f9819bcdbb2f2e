"""A search that passes over characters with which no match begins finds what `re` finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.pattern_cache import PatternCache, _make
from assay.text.pattern_file import PatternFile

WITH_CHARACTERS = (
    r"\b(?:days?|weeks)\b",
    r"(?<![\w.,-])(?P<count>\d+) ?(?:days|ngày)",
    r"(?=[ds])(?!so)[a-z]+",
    r"(?:an? )?(?:very )*day|(?:x{0,2}|(?>k+))s",
    r"\b(?i:straße|İ|ſ)|đêm",
    r"(?<=\s)[^a-zđ]",
    r"(?:^|, )y",
    r"(?i:k)[+]|(?:)+?s",
)
WITHOUT = (
    r"^(?:a|b)",  # tried once
    r"\A(?:a|b)",
    r"\b(?:a|b)?",  # may match nothing
    r"\b[^a]",  # nearly every character
    r"(a)?\1b",  # tells too little
    r"day",  # `re` has them
)
TEXT = st.text(alphabet="ads wekyxKſİıßđĐêmn123+,.-\nSTRASSEſ文", max_size=30)


def tells_first(expression: str, flags: int) -> bool:
    code = memoryview(_make(expression, flags).code).cast("I")
    return bool(code[2] & 4)


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_what_begins_with_a_look_around_has_its_first_characters(flags: int) -> None:
    assert [expression for expression in WITH_CHARACTERS if not tells_first(expression, flags)] == []
    assert [expression for expression in WITHOUT if tells_first(expression, 0)] == []


@given(text=TEXT, start=st.integers(0, 5))
@pytest.mark.parametrize("flags", [0, re.IGNORECASE, re.ASCII, re.IGNORECASE | re.MULTILINE | re.DOTALL])
def test_first_characters_change_no_match(
    text: str, start: int, flags: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    patterns = PatternCache(PatternFile(tmp_path_factory.getbasetemp() / "not-written"))
    for expression in (*WITH_CHARACTERS, *WITHOUT):
        own, compiled = patterns.compile(expression, flags), re.compile(expression, flags)
        assert own.sub("<>", text) == compiled.sub("<>", text)
        for matches in zip(own.finditer(text, start), compiled.finditer(text, start), strict=True):
            assert matches[0].span() == matches[1].span() and matches[0].groups() == matches[1].groups()


def test_letters_of_another_case_are_among_them(tmp_path: Path) -> None:
    letters = "".join(map(chr, range(0x2200)))
    patterns = PatternCache(PatternFile(tmp_path / "patterns"))
    for letter in "ksiåµßøđώ":
        expression = rf"\b{letter}|(?<=\W){letter}"
        own, compiled = patterns.compile(expression, re.IGNORECASE), re.compile(expression, re.IGNORECASE)
        assert own.findall(" ".join(letters)) == compiled.findall(" ".join(letters))
