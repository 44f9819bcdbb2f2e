"""Whether two ids, or two words, are probably the same, one of them misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from assay.text.pattern_cache import compile_pattern

_SEPARATORS = compile_pattern(r"[\W_]+")
_NUMBERS = compile_pattern(r"\d+")
_FEWEST_LETTERS = 4
"""In shorter words one letter is often the whole difference: a and b, v1 and v2, car and cat."""


def find_near_id(name: str, candidates: Iterable[str]) -> str:
    """Return the first candidate, in their order, that is the same id but for separators, case or one letter of a word.

    Numbers are never taken for misspelt, and of words only those of four letters or more; "" where none is near.

    >>> find_near_id("hours-wek", ["hours-week", "hours-weekend"])
    'hours-week'
    >>> find_near_id("leave:12", ["leave:13"])
    ''
    """
    words, numbers = _split_words(name), _NUMBERS.findall(name)
    joined = "".join(words)
    for candidate in candidates:
        if candidate == name or abs(len(candidate) - len(name)) > len(words) + 1:
            continue
        other_words = _split_words(candidate)
        if numbers != _NUMBERS.findall(candidate):
            continue
        if "".join(other_words) == joined or _differ_in_one_letter(words, other_words):
            return candidate
    return ""


def find_near_word(word: str, known_words: Iterable[str]) -> str:
    """Return the first known word, in their order, that a word becomes by one edit of a letter; "" where none is near.

    Both have five letters or more: of shorter words, one letter often makes another one.

    >>> find_near_word("anwser", ["answer", "reply"]), find_near_word("rely", ["reply"])
    ('answer', '')
    """
    for known_word in known_words:
        if min(len(word), len(known_word)) > _FEWEST_LETTERS and _is_one_edit(word, known_word):
            return known_word
    return ""


def _split_words(name: str) -> list[str]:
    return [word for word in _SEPARATORS.split(name.casefold()) if word]


def _differ_in_one_letter(words: list[str], other_words: list[str]) -> bool:
    if len(words) != len(other_words):
        return False
    differing = [(word, other) for word, other in zip(words, other_words, strict=True) if word != other]
    if len(differing) != 1:
        return False
    word, other = differing[0]
    if not (word.isalpha() and other.isalpha() and min(len(word), len(other)) >= _FEWEST_LETTERS - 1):
        return False
    return max(len(word), len(other)) >= _FEWEST_LETTERS and _is_one_edit(word, other)


def _is_one_edit(word: str, other: str) -> bool:
    """Return whether one letter added, left out, replaced or exchanged with its neighbour makes one from the other."""
    short, long = sorted((word, other), key=len)
    if len(long) - len(short) > 1:
        return False
    if len(long) > len(short):
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    positions = [at for at in range(len(short)) if short[at] != long[at]]
    if len(positions) == 1:
        return True
    return any(
        positions == [first, second] and (short[first], short[second]) == (long[second], long[first])
        for first, second in pairwise(range(len(short)))
    )
