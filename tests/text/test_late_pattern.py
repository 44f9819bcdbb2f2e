"""An expression that is compiled late finds what one that is compiled at once finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.late_pattern import LatePattern

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
