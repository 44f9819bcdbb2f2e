"""An expression that is compiled late finds what one that is compiled at once finds."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import numbers
from assay.text.claims import claim_segments
from assay.text.late_pattern import LatePattern, squeeze_pattern
from assay.text.quantities import spoken_numbers, worded_quantities

PATTERNS = (r"\bday(?:s|\b)", r"^a", r"(?<=a)b", r"b$", r"(?P<word>[ab]+) ?", r"", r"\Aa|b\Z")
texts = st.text("abdays \n", max_size=20)
positions = st.integers(0, 25)


@given(st.sampled_from(PATTERNS), texts, positions, positions)
def test_every_method_finds_what_a_compiled_expression_finds_between_any_positions(
    pattern: str, text: str, start: int, end: int
) -> None:
    late, compiled = LatePattern(pattern), re.compile(pattern)
    for method in ("search", "match", "fullmatch"):
        for bounds in ((), (start,), (start, end)):
            late_match, match = getattr(late, method)(text, *bounds), getattr(compiled, method)(text, *bounds)
            assert (late_match and late_match.span()) == (match and match.span()), (method, bounds)
    for bounds in ((), (start,), (start, end)):
        late_spans = [match.span() for match in late.finditer(text, *bounds)]
        assert late_spans == [match.span() for match in compiled.finditer(text, *bounds)], bounds
    assert late.sub("<>", text) == compiled.sub("<>", text)
    assert late.pattern == compiled.pattern


def test_flags_are_those_of_the_compiled_expression() -> None:
    assert LatePattern("a.b", re.IGNORECASE | re.DOTALL).match("A\nB")
    assert not LatePattern("a.b").match("A\nB")


def test_nothing_is_compiled_before_the_first_use() -> None:
    wrong = LatePattern("(")
    assert wrong.pattern == "("
    with pytest.raises(re.error):
        wrong.search("a")


@pytest.mark.parametrize(
    "pattern",
    [
        claim_segments._COURTESY,
        numbers._ITEM,
        numbers.SPELLED_NUMBER_PATTERN,
        worded_quantities._SPECIAL,
        spoken_numbers._SPOKEN_ITEM,
        r"a\ b \\ c  \n[\ \-] (?: d | \  )",
    ],
)
def test_an_expression_without_its_white_space_is_the_same_expression(pattern: str) -> None:
    parser = import_module("re._parser")
    verbose, plain = parser.parse(pattern, re.VERBOSE), parser.parse(squeeze_pattern(pattern))
    assert str(verbose) == str(plain)
    assert verbose.state.groupdict == plain.state.groupdict
