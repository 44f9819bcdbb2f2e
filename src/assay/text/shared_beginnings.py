"""Alternatives of an expression that begin alike, written so that what they share is tried once.

`re` tries `monday|month|may|june` word by word, wherever one may begin in a text. Where many rules are lists of words,
that was a tenth of the time of a small run. As `m(?:on(?:day|th)|ay)|june` one letter decides between most. Which match
is found stays the same: an alternative is moved only past others that cannot begin with its letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from re import IGNORECASE
from typing import Any

from assay.text.parsed_expressions import Item, rewrite_items, wrap_items

_AS_THEY_ARE = ("LITERAL", "IN", "ANY", "NOT_LITERAL", "AT")
"""Match in one way at most, so that trying them once is the same as trying them again."""
_Way = list[Item]  # one of several alternatives


def share_beginnings(parsed: Any, flags: int) -> None:
    """Rewrite the alternatives in what `re._parser` made of an expression.

    >>> parsed = import_module("re._parser").parse("monday|month|may|june")
    >>> share_beginnings(parsed, 0)
    >>> [[chr(letter) for _, letter in way[:1]] for way in parsed[0][1][1]]
    [['m'], ['j']]
    """
    rewrite_items(parsed, flags, _share)


def _share(item: Item, flags: int, state: Any) -> list[Item]:
    operation, argument = item
    return _merge([list(way) for way in argument[1]], flags, state) if str(operation) == "BRANCH" else [item]


def _merge(ways: Iterable[_Way], flags: int, state: Any) -> list[Item]:
    """Return alternatives as items that match the same, with what several of them begin with once."""
    constants = import_module("re._constants")
    groups: list[list[_Way]] = []
    for way in _spread_ways(ways):
        place = _find_group(groups, way, flags)
        if place is None:
            groups.append([way])
        else:
            groups[place].append(way)
    merged = [
        group[0] if len(group) == 1 else [group[0][0], *_merge([way[1:] for way in group], flags, state)]
        for group in groups
    ]
    if len(merged) == 1:
        return merged[0]
    characters = _list_characters(merged)
    if characters:
        return [(constants.IN, characters)]
    return [(constants.BRANCH, (None, [wrap_items(way, state) for way in merged]))]


def _spread_ways(ways: Iterable[_Way]) -> list[_Way]:
    """Return alternatives with those among them that are nothing but alternatives written out."""
    spread: list[_Way] = []
    for way in ways:
        is_branch = len(way) == 1 and str(way[0][0]) == "BRANCH"
        spread += [list(inner) for inner in way[0][1][1]] if is_branch else [way]
    return spread


def _find_group(groups: Sequence[list[_Way]], way: _Way, flags: int) -> int | None:
    """Return which alternatives begin as another one does that may be moved to them, None if none do."""
    first = way[0] if way else None
    if first is None or str(first[0]) not in _AS_THEY_ARE:
        return None
    for place in range(len(groups) - 1, -1, -1):
        own = groups[place][0]
        if own and own[0] == first:
            return place
        if not own or not _are_apart(own[0], first, flags):
            return None
    return None


def _are_apart(first: Item, second: Item, flags: int) -> bool:
    """Whether two items are letters of which no character matches both."""
    if str(first[0]) != "LITERAL" or str(second[0]) != "LITERAL":
        return False
    if not flags & IGNORECASE:
        return bool(first[1] != second[1])
    return _list_cases(first[1]).isdisjoint(_list_cases(second[1]))


def _list_cases(letter: int) -> set[int]:
    """Return the letters in lower case that match as one where the case is ignored."""
    lowered = import_module("_sre").unicode_tolower(letter)
    return {lowered, *import_module("re._casefix")._EXTRA_CASES.get(lowered, ())}


def _list_characters(ways: Iterable[_Way]) -> list[Item]:
    """Return what alternatives of one character each match, as a set; empty if others are among them."""
    characters: list[Item] = []
    for way in ways:
        members = _list_members(way[0]) if len(way) == 1 else []
        if not members:
            return []
        characters += members
    return characters


def _list_members(item: Item) -> list[Item]:
    """Return the members of the set that an item is, empty if it is none or says what it does not hold."""
    operation, argument = item
    if str(operation) == "LITERAL":
        return [item]
    return list(argument) if str(operation) == "IN" and str(argument[0][0]) != "NEGATE" else []
