"""Long names in the columns of a screen: cut in the middle, so that they stay distinct."""

from __future__ import annotations

from collections.abc import Collection, Iterator

ELLIPSIS = "…"


def shorten_names(names: Collection[str], most: int) -> dict[str, str]:
    """Return each name in at most `most` characters, cut in the middle, or in as many more as keep all distinct.

    >>> shorten_names(["price-question-01-de", "price-question-02-de", "q3"], 11)
    {'price-question-01-de': 'price…01-de', 'price-question-02-de': 'price…02-de', 'q3': 'q3'}
    """
    distinct = list(dict.fromkeys(names))
    longest = max(map(len, distinct), default=0)
    for room in range(max(most, 3), longest):
        for head in _list_splits(room):
            shortened = {name: _cut_middle(name, head, room) for name in distinct}
            if len(set(shortened.values())) == len(distinct):
                return shortened
    return {name: name for name in distinct}


def _list_splits(room: int) -> Iterator[int]:
    """Yield how many characters stay before the cut: half of them first, then what leaves more of either end."""
    half = (room - 1) // 2
    for distance in range(half + 1):
        yield half - distance
        if distance and half + distance < room - 1:
            yield half + distance


def _cut_middle(name: str, head: int, room: int) -> str:
    if len(name) <= room:
        return name
    tail = room - head - len(ELLIPSIS)
    return name[:head] + ELLIPSIS + (name[-tail:] if tail else "")
