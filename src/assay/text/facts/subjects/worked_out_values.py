"""Whether an answer works a value out of others: "£640 less the £150 deposit leaves £490"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations

from assay.text.quantities.quantity import CODE, INTERNATIONAL_CODE, WEEKDAY_NUMBER, Quantity, is_plain, split_range
from assay.text.quantities.units import PLAIN, TIME

_MOST_VALUES = 6
"""Of an answer from which a value may follow."""
_LARGEST_COUNT = 20
_NOT_ADDED = (PLAIN, TIME, CODE, INTERNATIONAL_CODE, "ordinal", WEEKDAY_NUMBER)
"""Dimensions of which no sum means anything, or any number may be one."""


def is_worked_out(value: Quantity, others: Sequence[Quantity]) -> bool:
    """Return whether a value is the sum or the difference of others, or of so many of one.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> rest, total, deposit = read_text("You pay £490: £640 less £150.").quantities
    >>> is_worked_out(rest, (rest, total, deposit)), is_worked_out(total, (total, deposit))
    (True, False)
    """
    wanted = _read_point(value)
    if wanted is None:
        return False
    dimension, amount = wanted
    if dimension in _NOT_ADDED:
        return False
    points = list(_list_points(others, dimension, amount))[:_MOST_VALUES]
    counts = [own for own in others if is_plain(own) and not own.date]
    multiples = [point * count for point in points for count in _list_counts(counts)]
    if any(multiple == amount for multiple in multiples):
        return True
    pairs = combinations([*points, *multiples][: 2 * _MOST_VALUES], 2)
    return any(amount in (first + second, abs(first - second)) for first, second in pairs)


def _read_point(value: Quantity) -> tuple[str, Decimal] | None:
    """Return the dimension and the amount of a quantity without range; None of any other."""
    if value.date or value.is_range or not value.readings:
        return None
    reading = value.readings[0]
    return (reading.dimension, reading.low) if reading.low == reading.high and reading.low > 0 else None


def _list_points(others: Sequence[Quantity], dimension: str, amount: Decimal) -> Iterator[Decimal]:
    """Yield the different amounts of a dimension that are not the one to be worked out; of a range, both ends."""
    seen = {amount}
    for own in others:
        for end in split_range(own) or (own,):
            point = _read_point(end)
            if point is not None and point[0] == dimension and point[1] not in seen:
                seen.add(point[1])
                yield point[1]


def _list_counts(counts: Sequence[Quantity]) -> Iterator[Decimal]:
    for own in counts:
        point = _read_point(own)
        if point is not None and 1 < point[1] <= _LARGEST_COUNT and point[1] == int(point[1]):
            yield point[1]
