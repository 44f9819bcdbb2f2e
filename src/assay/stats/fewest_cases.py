"""The search for the fewest cases that are enough for something."""

from __future__ import annotations

from collections.abc import Callable


def find_fewest(is_enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """Return the fewest cases that are enough, if more of them are never too few; None beyond `most`.

    The number is doubled from `start`, which is taken to be too small by half.

    >>> find_fewest(lambda cases: cases >= 37, 2, 100), find_fewest(lambda cases: cases >= 370, 2, 100)
    (37, None)
    """
    high = start
    while not is_enough(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
