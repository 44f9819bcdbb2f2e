"""Patterns in linear time: they match what Python's engine matches, and take no longer for it than the text is long."""

from __future__ import annotations

import re
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.linear_patterns import LinearPattern, PatternError

LITERALS = st.sampled_from(["a", "b", "1", "_", " ", r"\d", r"\w", r"\s", ".", "[ab]", "[^a]", "[a-b1]", r"\.", "é"])


def combine(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Patterns of parts: sequences, choices, repetitions."""
    repeats = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,}", "*?"])
    return st.one_of(
        st.lists(children, min_size=1, max_size=3).map("".join),
        st.lists(children, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(children, repeats).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    )


PATTERNS = st.recursive(LITERALS, combine, max_leaves=6)
ANCHORED = st.tuples(st.sampled_from(["", "^", r"\b"]), PATTERNS, st.sampled_from(["", "$", r"\b"])).map("".join)
TEXTS = st.text(alphabet="ab1_ .é\n", max_size=12)


@given(ANCHORED, TEXTS)
def test_it_matches_what_the_usual_engine_matches(pattern: str, text: str) -> None:
    usual = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
    assert (re.search(usual, text) is not None) == LinearPattern(pattern).matches(text)


@given(PATTERNS, TEXTS)
def test_a_character_is_covered_if_some_match_holds_it(pattern: str, text: str) -> None:
    """Every substring is tried with the usual engine: that takes the square of the length, and is certain."""
    compiled = re.compile(pattern)
    expected = set[int]()
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            if compiled.fullmatch(text, start, end):
                expected.update(range(start, end))
    covered = [position for start, end in LinearPattern(pattern).find_covered(text) for position in range(start, end)]
    assert sorted(expected) == covered


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a|aa)+$", "(.*)*x", "([a-z]+)*!", "(?:a?){30}a{30}"])
def test_patterns_that_make_the_usual_engine_hang_are_linear(pattern: str) -> None:
    text, compiled = "a" * 20_000 + "?", LinearPattern(pattern)
    start = perf_counter()
    compiled.matches(text)
    compiled.find_covered(text)
    assert perf_counter() - start < 5


def test_case_may_be_ignored() -> None:
    assert LinearPattern("straße [a-c]", ignore_case=True).matches("STRASSE B") is False, "one letter is one letter"
    assert LinearPattern("inc-[a-c]", ignore_case=True).matches("INC-B")


def test_replacement_takes_whole_stretches() -> None:
    pattern = LinearPattern(r"\b[\w.]+@[\w.]+\b")
    assert "Ask [mail] or [mail]." == pattern.replace("Ask an.le@x.test or b@y.test.", "[mail]")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a", "a ( without its ) at character 1"),
        ("a)", "a ) without its ( at character 2"),
        ("[a", "a [ without its ] at character 1"),
        ("*a", "a repetition of nothing at character 1"),
        ("(?=a)", "a group that is not supported: only ( ) and (?: ) are at character 1"),
        (r"(a)\1", r"an escape that is not supported (\1) at character 4"),
        ("a{3,2}", "a repetition with its bounds reversed at character 2"),
        ("[b-a]", "a range with its ends reversed at character 2"),
        ("a++", "a possessive repetition, which is not supported at character 3"),
        ("(a{100}){100}", "too large: it needs more than 2000 states at character 1"),
        ("(" * 60 + ")" * 60, "groups nested more than 50 deep at character 51"),
        ("a" * 1001, "longer than 1000 characters at character 1001"),
        ("^*", "a repetition of an anchor at character 2"),
    ],
)
def test_unusable_patterns_are_refused_with_their_place(pattern: str, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        LinearPattern(pattern)
    assert message == str(caught.value)
