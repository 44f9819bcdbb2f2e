"""Alternatives of an expression that begin alike, written so that what they share is tried once.

`re` tries `monday|month|may|june` word by word, wherever one may begin in a text. Where many rules are lists of words,
that was a tenth of the time of a small run. As `m(?:on(?:day|th)|ay)|june` one letter decides between most. Which match
is found stays the same: an alternative is moved only past others that cannot begin with its letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from re import IGNORECASE
from typing import Any

from assay.text.parsed_expressions import Item, import_of_re, rewrite_items, wrap_items

_Way = list[Item]  # one of several alternatives


def share_beginnings(parsed: Any, flags: int) -> None:
    """Rewrite the alternatives in what `re._parser` made of an expression.

    >>> parsed = import_of_re("_parser").parse("monday|month|may|june")
    >>> share_beginnings(parsed, 0)
    >>> [[chr(letter) for _, letter in way[:1]] for way in parsed[0][1][1]]
    [['m'], ['j']]
    """
    constants = import_of_re("_constants")
    rewrite_items(parsed, flags, (constants.BRANCH, constants.MAX_REPEAT, constants.MIN_REPEAT), _rewrite_ways)


def _rewrite_ways(item: Item, flags: int, state: Any) -> list[Item]:
    constants = import_of_re("_constants")
    operation, argument = item
    if operation is constants.BRANCH:
        return _merge([way.data for way in argument[1]], flags, state)
    fewest, most, inner = argument
    if (fewest, most) != (0, 1) or import_of_re("_compiler")._simple(inner):
        return [item]
    # What may be there or not is one of two alternatives, of which trying costs less than counting does.
    ways = [inner.data, []]
    return _merge(ways if operation is constants.MAX_REPEAT else ways[::-1], flags, state)


def _merge(ways: Iterable[_Way], flags: int, state: Any) -> list[Item]:
    """Return alternatives as items that match the same, with what several of them begin with once."""
    constants = import_of_re("_constants")
    merged = [
        group[0] if len(group) == 1 else [group[0][0], *_merge([way[1:] for way in group], flags, state)]
        for group in _group_ways(_spread_ways(ways), flags)
    ]
    if len(merged) == 1:
        return merged[0]
    characters = _list_characters(merged)
    if characters:
        return [(constants.IN, characters)]
    return [(constants.BRANCH, (None, [wrap_items(way, state) for way in merged]))]


def _spread_ways(ways: Iterable[_Way]) -> list[_Way]:
    """Return alternatives without further ones at their beginning: `(?:may|june) 5|mon` as `may 5|june 5|mon`.

    What follows is written behind each, unless that makes the expression much longer.
    """
    constants = import_of_re("_constants")
    spread: list[_Way] = []
    for way in ways:
        if not way or way[0][0] is not constants.BRANCH:
            spread.append(way)
            continue
        inner, rest = way[0][1][1], way[1:]
        added = len(inner) * sum(map(_count_items, rest))
        spread += [[*own.data, *rest] for own in inner] if added <= _MOST_ADDED else [way]
    return spread


_MOST_ADDED = 40
"""Items by which an expression grows where what follows alternatives is written behind each."""


def _count_items(item: Item) -> int:
    """Return of how many items one consists; more than may be added if it has a group or asks for one, because a group
    cannot be there twice."""
    constants = import_of_re("_constants")
    operation, argument = item
    if operation is constants.SUBPATTERN:
        group, _, _, inner = argument
        return _MOST_ADDED + 1 if group is not None else sum(map(_count_items, inner))
    if operation is constants.BRANCH:
        return sum(sum(map(_count_items, way)) for way in argument[1])
    if operation in (constants.GROUPREF, constants.GROUPREF_EXISTS):
        return _MOST_ADDED + 1
    parts = argument if isinstance(argument, tuple) else (argument,)
    return 1 + sum(sum(map(_count_items, part)) for part in parts if hasattr(part, "data"))


def _group_ways(ways: Iterable[_Way], flags: int) -> list[list[_Way]]:
    """Return alternatives in groups that begin with the same item, in an order in which the same ones match first."""
    constants = import_of_re("_constants")
    # These match in one way at most, so that trying them once is the same as trying them again.
    one_way = constants.LITERAL, constants.IN, constants.ANY, constants.NOT_LITERAL, constants.AT
    groups: list[list[_Way]] = []
    by_letter: dict[int, list[_Way]] = {}  # groups that a further alternative may be moved to, past those after them
    for way in ways:
        operation = way[0][0] if way else None
        letter = _fold_letter(way[0][1], flags) if operation is constants.LITERAL else -1
        group = by_letter.get(letter) if letter >= 0 else groups[-1] if groups else None
        if group is not None and operation in one_way and group[0] and group[0][0] == way[0]:
            group.append(way)
            continue
        if letter < 0 or group is not None:
            by_letter.clear()
        groups.append([way])
        if letter >= 0:
            by_letter[letter] = groups[-1]
    return groups


def _fold_letter(letter: int, flags: int) -> int:
    """Return a letter, or one for all those that match it where the case is ignored."""
    if not flags & IGNORECASE:
        return letter
    compiler = import_of_re("_compiler")
    lowered: int = compiler._sre.unicode_tolower(letter)
    cases: list[int] = [lowered, *compiler._EXTRA_CASES.get(lowered, ())]
    return min(cases)


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
    constants = import_of_re("_constants")
    operation, argument = item
    if operation is constants.LITERAL:
        return [item]
    return list(argument) if operation is constants.IN and argument[0][0] is not constants.NEGATE else []
