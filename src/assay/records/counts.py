"""Counts in sentences: the noun, and where the sentence needs it the verb, in the singular or the plural."""

from __future__ import annotations

from typing import NamedTuple


class CountedNoun(NamedTuple):
    """What is counted, in the singular and in the plural."""

    singular: str
    plural: str


def format_count(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun; the plural is the noun with an s unless another one is given.

    >>> format_count(1, "case"), format_count(2_000, "case"), format_count(1, "case is", "cases are")
    ('1 case', '2000 cases', '1 case is')
    """
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"
