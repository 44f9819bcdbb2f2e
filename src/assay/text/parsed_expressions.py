"""What `re._parser` makes of an expression, rewritten item by item before `re` makes code of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

Item = tuple[Any, Any]
"""The name of an operation with its arguments."""
Rewrite = Callable[[Item, int, Any], list[Item]]
"""Returns the items that take the place of one, whose own parts are rewritten already, under the flags that hold there;
the last argument is the state of the parser."""


def rewrite_items(parsed: Any, flags: int, rewrite: Rewrite) -> None:
    """Rewrite all items of an expression, those inside of groups, repeats and alternatives first."""
    parsed.data = _rewrite(parsed, flags | parsed.state.flags, parsed.state, rewrite)


def wrap_items(items: list[Item], state: Any) -> Any:
    """Return items as the part of an expression that `re._parser` makes of a sequence."""
    return import_module("re._parser").SubPattern(state, items)


def _rewrite(items: Iterable[Item], flags: int, state: Any, rewrite: Rewrite) -> list[Item]:
    def rewrite_part(part: Iterable[Item], own_flags: int = flags) -> Any:
        return wrap_items(_rewrite(part, own_flags, state, rewrite), state)

    rewritten: list[Item] = []
    for operation, argument in items:
        match str(operation):
            case "BRANCH":
                argument = None, [rewrite_part(way) for way in argument[1]]
            case "SUBPATTERN":
                group, added, removed, inner = argument
                own_flags = import_module("re._compiler")._combine_flags(flags, added, removed)
                argument = group, added, removed, rewrite_part(inner, own_flags)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                fewest, most, inner = argument
                argument = fewest, most, rewrite_part(inner)
            case "ASSERT" | "ASSERT_NOT":
                direction, inner = argument
                argument = direction, rewrite_part(inner)
            case "ATOMIC_GROUP":
                argument = rewrite_part(argument)
            case "GROUPREF_EXISTS":
                group, *ways = argument
                argument = group, *(way and rewrite_part(way) for way in ways)
        rewritten += rewrite((operation, argument), flags, state)
    return rewritten
