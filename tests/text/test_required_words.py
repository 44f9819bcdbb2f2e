"""A text without the words that an expression is said to require is one in which it matches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from re import _constants as codes  # type: ignore[attr-defined]  # the parser of `re` has no public name
from re import _parser as parser  # type: ignore[attr-defined]  # as above
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.faults.patterns import find_expressions

from assay.text import late_pattern
from assay.text.late_pattern import LatePattern
from assay.text.required_words import list_required_words

_CHANGING_LETTERS = re.IGNORECASE | re.VERBOSE


def find_required_words(pattern: str) -> tuple[str, ...] | None:
    """Return the group of required words of which the shortest is longest, None if an expression tells none."""
    return max(list_required_words(pattern), key=lambda words: min(map(len, words)), default=None)


def list_patterns() -> list[str]:
    """Return all expressions of the package whose letters match only themselves."""
    patterns = {item.pattern.pattern for item in find_expressions() if not item.pattern.flags & _CHANGING_LETTERS}
    return sorted(pattern for pattern in patterns if isinstance(pattern, str))


def end_texts(items: Iterable[tuple[Any, Any]], begun: set[str], words: Sequence[str]) -> set[str]:
    """Return how the matches of a parsed expression can end that hold none of some words.

    `begun` are the ends of what is before it. An end is the longest one with which one of the words begins, "" if none
    does. What stands for other than one letter is taken for a letter of no word.
    """
    for code, value in items:
        if code is codes.LITERAL:
            begun = {find_begun_word(text + chr(value), words) for text in begun} - {*words}
        elif code is codes.BRANCH:
            begun = set().union(*[end_texts(branch, begun, words) for branch in value[1]])
        elif code is codes.SUBPATTERN:
            begun = end_texts(value[-1], begun, words)
        elif code is codes.ATOMIC_GROUP:
            begun = end_texts(value, begun, words)
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, _, repeated = value
            begun = {""} if not least or end_texts(repeated, begun, words) else set()
        elif code not in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
            begun = {""}
        if not begun:
            break
    return begun


def find_begun_word(text: str, words: Sequence[str]) -> str:
    """Return the longest end of a text with which a word begins; the word itself if the text ends with one."""
    ends = [text[start:] for start in range(len(text) + 1)]
    whole = [end for end in ends if end in words]
    return whole[0] if whole else next(end for end in ends if any(word.startswith(end) for word in words))


def can_match_without(pattern: str, words: Sequence[str]) -> bool:
    """Return whether a text that holds none of the words may match an expression."""
    return bool(end_texts(parser.parse(pattern), {""}, words))


@pytest.mark.slow
def test_no_expression_of_the_package_can_match_without_the_words_that_it_is_said_to_require() -> None:
    groups = [(pattern, words) for pattern in list_patterns() for words in list_required_words(pattern)]
    assert len({pattern for pattern, _ in groups}) > 300
    assert [pattern for pattern, words in groups if can_match_without(pattern, words)] == []


def test_each_of_the_words_is_needed() -> None:
    """The check above would see a word that is missing."""
    pattern = r"\b(?:may ?be|(?:un)?likely|(?P<said>so \w+ says?)) (?!not)(?:in|at){1,2}"
    words = find_required_words(pattern)
    assert words == ("may", "likely", " say")
    for word in words:
        assert can_match_without(pattern, [other for other in words if other != word])


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("abc|def|", None),
        ("abc?|xy", ("ab", "xy")),
        ("abc{0,2}xy?z", ("ab",)),
        ("abc{2}", ("ab",)),
        ("a{10,12}b", None),
        ("(?:north|south){0,2}(?:east)", ("east",)),
        ("(?:north){0}(?:south)?(?:east)*(?:west)+", ("west",)),
        ("(?:north|south){,2} in", (" in",)),
        (r"(abc|de)f(?=long words)(?<!longer words)", ("abc", "de")),
        (r"(?>abc|[xyz]abc)", ("abc", "abc")),
        (r"[a\]bc]de(?P<name>fgh)(?P=name)\1", ("fgh",)),
        (r"[]abc]+[^]abc]+", None),
        (r"(?i)abc", None),
        (r"\x41bc|abc", None),
        (r"\u1e00abc", None),
        (r"(a)\1bc(?(1)no|yes)", None),
        (r"\(abc\)\.\\def", ("abc",)),
        ("", None),
    ],
)
def test_words_are_read_through_groups_and_quantifiers(pattern: str, words: tuple[str, ...] | None) -> None:
    assert find_required_words(pattern) == words


_atoms = st.sampled_from(["a", "b", "ab", "ba ", r"\b", ".", "[ab]", r"\w", "^", "$", "(?=ab)", "(?!ba)"])
_quantifiers = st.sampled_from(["", "", "", "?", "*", "+", "{0,1}", "{,2}", "{2}", "{1,2}"])


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    sequences = st.lists(inner, min_size=1, max_size=3).map("".join)
    alternatives = st.lists(sequences, min_size=1, max_size=3).map("|".join)
    groups = st.builds("{}{}){}".format, st.sampled_from(["(?:", "(", "(?>"]), alternatives, _quantifiers)
    return groups | sequences


_single = st.builds("(?:{}){}".format, _atoms, _quantifiers)
_patterns = st.recursive(_single | st.sampled_from(["ab?", "ba+", "aab*", "abb{0,2}"]), _extend, max_leaves=8)


@given(_patterns, st.text("ab c", max_size=12))
def test_a_late_expression_finds_what_a_compiled_one_finds_in_a_first_text(pattern: str, text: str) -> None:
    compiled = re.compile(pattern)
    for method in ("search", "match", "fullmatch"):
        late_match, match = getattr(LatePattern(pattern), method)(text), getattr(compiled, method)(text)
        assert (late_match and late_match.span()) == (match and match.span()), method
    assert [item.span() for item in LatePattern(pattern).finditer(text)] == [m.span() for m in compiled.finditer(text)]
    assert LatePattern(pattern).sub("<>", text) == compiled.sub("<>", text)


def test_letters_that_a_flag_lets_match_others_are_not_required() -> None:
    assert LatePattern("days", re.IGNORECASE).search("30 DAYS") is not None
    assert LatePattern("da ys # of leave", re.VERBOSE).search("30 days") is not None
    assert LatePattern("^days$", re.MULTILINE).search("30\ndays") is not None


def test_a_text_without_the_words_of_an_expression_compiles_nothing() -> None:
    wrong = LatePattern("(?P<a>days)(?P<a>hours)")
    assert (wrong.search("30 weeks"), wrong.match(""), wrong.fullmatch("weeks")) == (None, None, None)
    assert (list(wrong.finditer("30 weeks")), wrong.sub("", "30 weeks")) == ([], "30 weeks")
    with pytest.raises(re.error):
        wrong.search("30 days and hours")


def test_every_part_of_an_expression_has_to_be_there() -> None:
    """One that needs two words is not compiled for a text with one of them, nor for words on either side of the part
    that is searched."""
    wrong = LatePattern("(?P<a>days|weeks) (?P<a>of|in) leave")
    assert (wrong.search("30 days left"), wrong.search("weeks of work"), wrong.search("of leave")) == (None, None, None)
    text = "30 days of leave"
    assert (wrong.search(text, 4), wrong.match(text, 0, 12), wrong.fullmatch(text, -3, 8)) == (None, None, None)
    assert list(wrong.finditer(text, 5)) == []
    with pytest.raises(re.error):
        wrong.search(text, 3, 16)


def test_an_expression_is_compiled_once_looking_for_its_words_has_cost_as_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(late_pattern, "is_compiled", lambda *_: False)  # what an earlier process compiled is at hand
    late = LatePattern("(?:days|weeks) of leave")
    texts = ["30 hours"] * 2000
    assert [late.search(text) for text in texts] == [None] * len(texts)
    assert "compiled" in vars(late)
    few = LatePattern("(?:days|weeks) of leave")
    assert few.search(texts[0]) is None and "compiled" not in vars(few)
