"""Items that are made when somebody gets to them, and kept for those who come after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class LateItems(Generic[Item]):
    """The items of an iterable, each made when it is first reached; where a search ends early, the rest is not made.

    >>> squares = LateItems(number**2 for number in range(10**9))
    >>> 9 in squares, 4 in squares
    (True, True)
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._rest = iter(items)
        self._made: list[Item] = []

    def __iter__(self) -> Iterator[Item]:
        index = 0
        while True:
            if index == len(self._made):
                try:
                    self._made.append(next(self._rest))
                except StopIteration:
                    return
            yield self._made[index]
            index += 1
