"""A quantity in a text: its readings in base units, its bound, its rate, and what kind of quantity it is."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from msgspec import Struct, structs

from assay.text.quantities.units import PLAIN, TIME

Bound = Literal["", ">", ">=", "<", "<="]
"""The side on which a bound leaves a quantity open: ">" more than, ">=" at least; "" is no bound."""


class Reading(Struct, frozen=True):
    """One meaning of a quantity: from `low` to `high` in the base unit of `dimension`; equal unless it is a range."""

    dimension: str
    low: Decimal
    high: Decimal


class Quantity(Struct, frozen=True):
    """A quantity in a text.

    `date`: the dates that it may be (year, month, day; 0 where none is stated). `unit_size`: the size of its unit in
    the base unit. `is_spelled_one`: it is the word "one" without a unit, which is rarely meant as a number. `rate`: per
    what it counts ("hour" for "$2 an hour", "copy" for "5 cents each copy"), and `rate_span`: the words that say so.
    `rate_size`: the dimension and the amount of a measure that it counts, such as 10 kg for "5 ml per 10 kg".
    """

    readings: tuple[Reading, ...]
    start: int
    end: int
    bound: Bound = ""
    is_approximate: bool = False
    is_spelled_one: bool = False
    date: tuple[tuple[int, int, int], ...] = ()
    unit_size: Decimal = Decimal(1)
    rate: str = ""
    rate_span: tuple[int, int] = (0, 0)
    rate_size: tuple[str, Decimal] | None = None

    @property
    def is_range(self) -> bool:
        """Whether it has two ends."""
        # a list takes half the time of a generator, and rules ask this of every pair that they compare
        return bool([1 for reading in self.readings if reading.low is not reading.high and reading.low != reading.high])


CODE, INTERNATIONAL_CODE = "code", "code abroad"
"""Dimensions of telephone numbers, as dialled in their country (without the first 0) and from abroad."""


ANGLE = "angle"


WEEKDAY_NUMBER = "weekday"
"""The dimension of Vietnamese days of the week, which are numbered: "thứ 6" is "thứ Sáu" (Friday)."""


def is_telephone_number(quantity: Quantity) -> bool:
    """Return whether a quantity is a telephone number or another code of digits in groups."""
    return bool(quantity.readings) and quantity.readings[0].dimension in (CODE, INTERNATIONAL_CODE)


def split_range(quantity: Quantity) -> tuple[Quantity, ...]:
    """Return the lower and the upper end of a range, none for a single value.

    >>> from assay.text.quantities.measures import find_measures
    >>> [end.readings[0].low for end in split_range(find_measures("from 10am to 4pm")[0])]
    [Decimal('600'), Decimal('960')]
    """
    if not quantity.is_range:
        return ()
    lows = tuple(structs.replace(reading, high=reading.low) for reading in quantity.readings)
    highs = tuple(structs.replace(reading, low=reading.high) for reading in quantity.readings)
    return structs.replace(quantity, readings=lows), structs.replace(quantity, readings=highs)


def is_plain(quantity: Quantity) -> bool:
    """Return whether a quantity is a number without a unit."""
    return not quantity.date and all(reading.dimension == PLAIN for reading in quantity.readings)


def remove_bound(quantity: Quantity) -> Quantity:
    """Return a quantity as its value alone: "5 days" of "at most 5 days"."""
    return structs.replace(quantity, bound="") if quantity.bound else quantity


def is_time(quantity: Quantity) -> bool:
    """Return whether a quantity may be a time of day."""
    return any(reading.dimension == TIME for reading in quantity.readings)


def is_span(quantity: Quantity) -> bool:
    """Return whether a quantity is a span of time: "5 days", "a month"."""
    return any(reading.dimension in ("duration", "calendar") for reading in quantity.readings)


def make_point(dimension: str, value: Decimal | int) -> Reading:
    point = Decimal(value)
    return Reading(dimension, point, point)
