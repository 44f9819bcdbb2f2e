"""What `re._parser` makes of an expression, rewritten item by item before `re` makes code of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

Item = tuple[Any, Any]
"""The name of an operation with its arguments."""
Rewrite = Callable[[Item, int, Any], list[Item]]
"""Returns the items that take the place of one, whose own parts are rewritten already, under the flags that hold there;
the last argument is the state of the parser."""


@cache
def import_of_re(name: str) -> ModuleType:
    """Return a module of `re` that other versions of Python may not have."""
    return import_module(f"re.{name}")


def rewrite_items(parsed: Any, flags: int, operations: Collection[Any], rewrite: Rewrite) -> None:
    """Rewrite all items of an expression that have one of some operations, those inside of others first."""
    parsed.data = _rewrite(parsed.data, flags | parsed.state.flags, parsed.state, operations, rewrite)


def wrap_items(items: list[Item], state: Any) -> Any:
    """Return items as the part of an expression that `re._parser` makes of a sequence."""
    return import_of_re("_parser").SubPattern(state, items)


def _rewrite(items: Iterable[Item], flags: int, state: Any, wanted: Collection[Any], rewrite: Rewrite) -> list[Item]:
    constants = import_of_re("_constants")
    repeats = constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT
    looks = constants.ASSERT, constants.ASSERT_NOT

    def rewrite_part(part: Any, own_flags: int = flags) -> Any:
        return wrap_items(_rewrite(part.data, own_flags, state, wanted, rewrite), state)

    rewritten: list[Item] = []
    for item in items:
        operation, argument = item
        if operation is constants.SUBPATTERN:
            group, added, removed, inner = argument
            own_flags = import_of_re("_compiler")._combine_flags(flags, added, removed)
            item = operation, (group, added, removed, rewrite_part(inner, own_flags))
        elif operation is constants.BRANCH:
            item = operation, (None, [rewrite_part(way) for way in argument[1]])
        elif operation in repeats:
            fewest, most, inner = argument
            # `re` does not forget what a group of a possessive repetition kept in an alternative that failed, so that
            # other alternatives would keep something else.
            if operation is not constants.POSSESSIVE_REPEAT or import_of_re("_compiler")._simple(inner):
                item = operation, (fewest, most, rewrite_part(inner))
        elif operation in looks:
            direction, inner = argument
            item = operation, (direction, rewrite_part(inner))
        elif operation is constants.ATOMIC_GROUP:
            item = operation, rewrite_part(argument)
        elif operation is constants.GROUPREF_EXISTS:
            group, *ways = argument
            item = operation, (group, *(way and rewrite_part(way) for way in ways))
        if operation in wanted:
            rewritten += rewrite(item, flags, state)
        else:
            rewritten.append(item)
    return rewritten
