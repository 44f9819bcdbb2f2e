r"""The characters with which the matches of an expression begin, so that a search passes over all others.

`re` reads them of an expression that begins with letters or a set of them. Most rules begin with `\b` or look at what
stands before, and `re` tries these at every character of a text. That was a quarter of the time of a small run.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from re import IGNORECASE, UNICODE
from typing import Any

from msgspec import Struct

_LATIN = "".join(map(chr, range(256)))
"""The characters that are told apart; of others the kinds are, such as digits, unless they are many."""
_MOST_KINDS = 8
_OTHERS = (len(_LATIN), 0x10FFFF)
_MOST_TELLING = 240
"""Of these characters: where a match may begin with more of them, looking for one first saves nothing."""
_HAS_CHARACTERS = 4
"""The mark of `re` for a block of information that tells the first characters."""

_Items = Iterable[tuple[Any, Any]]  # what `re._parser` makes of an expression: names of operations with their arguments


class _Beginning(Struct, frozen=True):
    """With which characters a part of an expression begins: those of `_LATIN`, and which kinds of others, as members of
    a set; `may_be_empty`: whether it may match nothing."""

    latin: frozenset[str] = frozenset()
    others: frozenset[tuple[Any, Any]] = frozenset()
    may_be_empty: bool = False


def add_first_characters(code: list[int], parsed: Any, flags: int) -> None:
    """Add the first characters to the code that `re` made of an expression, if it did not find them itself.

    The code begins with a block of information: its name, its length, what it tells, the lengths of the shortest and
    the longest match.
    """
    length, information, shortest = code[1:4]
    compiler, constants = import_module("re._compiler"), import_module("re._constants")
    starts = (constants.AT_BEGINNING, constants.AT_BEGINNING_STRING)
    is_tried_once = code[length + 1] == constants.AT and code[length + 2] in starts
    if information or not shortest or is_tried_once:
        return
    beginning = _read_items(parsed, flags | parsed.state.flags)
    if beginning is None or beginning.may_be_empty or len(beginning.latin) > _MOST_TELLING:
        return
    letters = [(constants.LITERAL, ord(character)) for character in sorted(beginning.latin)]
    characters, _ = compiler._optimize_charset(letters)
    characters += _choose_others(beginning.others)
    block: list[int] = []
    compiler._compile_charset(characters, UNICODE, block)
    code[1:3] = length + len(block), _HAS_CHARACTERS
    code[length + 1 : length + 1] = block


def _choose_others(others: frozenset[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return the members of a set for characters beyond `_LATIN`: their kinds, or all of them if the kinds are many."""
    constants = import_module("re._constants")
    if len(others) > _MOST_KINDS or (constants.RANGE, _OTHERS) in others:
        return [(constants.RANGE, _OTHERS)]
    if not any(kind is constants.CATEGORY for kind, _ in others):
        return sorted(others)
    # The first member that has a character decides, and a member "negate" turns round what that means from there on: no
    # for Latin, which so is not looked up in Unicode's tables, and yes for the kinds of others.
    negate, latin = (constants.NEGATE, None), (constants.RANGE, (0, _OTHERS[0] - 1))
    return [negate, latin, negate, *sorted(others)]


def _read_items(items: _Items, flags: int) -> _Beginning | None:
    """Return how a sequence begins, None if that cannot be told."""
    latin, others = frozenset[str](), frozenset[tuple[Any, Any]]()
    for operation, argument in items:
        beginning = _read_item(operation, argument, flags)
        if beginning is None:
            return None
        latin, others = latin | beginning.latin, others | beginning.others
        if not beginning.may_be_empty:
            return _Beginning(latin, others)
    return _Beginning(latin, others, may_be_empty=True)


def _read_item(operation: Any, argument: Any, flags: int) -> _Beginning | None:
    match str(operation):
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return _Beginning(may_be_empty=True)
        case "LITERAL" | "NOT_LITERAL" | "IN" | "ANY":
            return _read_character(operation, argument, flags)
        case "ATOMIC_GROUP":
            return _read_items(argument, flags)
        case "SUBPATTERN":
            _, added, removed, inner = argument
            return _read_items(inner, import_module("re._compiler")._combine_flags(flags, added, removed))
        case "BRANCH":
            return _read_alternatives(argument[1], flags)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            fewest, _, inner = argument
            beginning = _read_items(inner, flags)
            if beginning is None or fewest:
                return beginning
            return _Beginning(beginning.latin, beginning.others, may_be_empty=True)
    return None  # what an earlier group matched


def _read_alternatives(alternatives: Iterable[_Items], flags: int) -> _Beginning | None:
    latin, others, may_be_empty = frozenset[str](), frozenset[tuple[Any, Any]](), False
    for alternative in alternatives:
        beginning = _read_items(alternative, flags)
        if beginning is None:
            return None
        latin, others = latin | beginning.latin, others | beginning.others
        may_be_empty = may_be_empty or beginning.may_be_empty
    return _Beginning(latin, others, may_be_empty)


def _read_character(operation: Any, argument: Any, flags: int) -> _Beginning:
    """Return what matches one character, by asking `re` about each."""
    compiler, constants = import_module("re._compiler"), import_module("re._constants")
    code: list[int] = []
    compiler._compile(code, [(operation, argument)], flags)
    one = import_module("_sre").compile("", flags, [*code, constants.SUCCESS], 0, {}, (None,))
    ignores_case = flags & IGNORECASE
    others = frozenset(((constants.RANGE, _OTHERS),)) if ignores_case else _list_others(operation, argument)
    return _Beginning(frozenset(one.findall(_LATIN)), others)


def _list_others(operation: Any, argument: Any) -> frozenset[tuple[Any, Any]]:
    """Return which characters beyond `_LATIN` a letter or a set may match, as members of a set."""
    constants = import_module("re._constants")
    positive = constants.CATEGORY_DIGIT, constants.CATEGORY_SPACE, constants.CATEGORY_WORD
    match str(operation):
        case "LITERAL":
            return frozenset(((operation, argument),)) if argument >= _OTHERS[0] else frozenset()
        case "RANGE":
            first, last = argument
            return frozenset(((operation, (max(first, _OTHERS[0]), last)),)) if last >= _OTHERS[0] else frozenset()
        case "CATEGORY":
            if argument in positive:
                return frozenset(((operation, argument),))
        case "IN":
            return frozenset[tuple[Any, Any]]().union(*(_list_others(*member) for member in argument))
    return frozenset(((constants.RANGE, _OTHERS),))
