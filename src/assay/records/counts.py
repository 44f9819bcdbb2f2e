"""Counts and lists in sentences: a noun in the singular or the plural, and the first items of a list."""

from __future__ import annotations

from collections.abc import Sequence
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


def join_first(items: Sequence[str], most: int) -> str:
    """Return the first items of a list with commas, and how many more there are.

    >>> join_first(["a", "b", "c"], 2), join_first(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more
