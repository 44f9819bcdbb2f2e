"""Whether two quantities agree: equal values within a dimension, bounds, rounding, rates and telephone numbers."""

from __future__ import annotations

from decimal import Decimal

from msgspec import structs

from assay.text.numbers import is_split_number
from assay.text.quantities.quantity import (
    ANGLE,
    CODE,
    INTERNATIONAL_CODE,
    WEEKDAY_NUMBER,
    Bound,
    Quantity,
    Reading,
    is_telephone_number,
    remove_bound,
    split_range,
)
from assay.text.quantities.quantity_rates import TIMES_OF_RATES
from assay.text.quantities.units import MONEY, PLAIN, TIME

_READINGS_OF_SPLIT = 3  # one number, and each of the two that it may be instead
_DEGREES = frozenset((ANGLE, "celsius", "fahrenheit"))


_MOST_ROUNDING = Decimal("0.03")  # share of a value by which "about" may differ from it


def is_same_quantity(
    expected: Quantity, stated: Quantity, tolerance: Decimal = Decimal(0), *, unit_required: bool = False
) -> bool:
    """Return whether what is stated agrees with what is expected.

    Values agree within a dimension: 24 months are 2 years, 9.6 kWh are not 9.6 MWh. A range agrees with the same range
    only; a bound ("more than 100") with every value on its side, and with the same bound. "At least"
    and "at most" agree with their own value, "more than" and "less than" do not. "About" agrees with values that round
    to it. A number without a unit agrees with one that has a unit; with `unit_required`, only with money. What is
    stated per hour does not agree with the same per day. `tolerance` is absolute, in plain numbers.

    >>> from assay.text.quantities.measures import find_measures
    >>> two_years, months, more = (find_measures(text)[0] for text in ("2 years", "24 months", "more than 2 years"))
    >>> is_same_quantity(two_years, months), is_same_quantity(two_years, more)
    (True, False)
    """
    if expected.date or stated.date:
        return _is_same_date(expected, stated)
    if is_telephone_number(expected) and is_telephone_number(stated):
        return _is_same_telephone_number(expected, stated)
    if have_different_rates(expected, stated):
        return False
    if expected.rate_size and stated.rate_size:
        if expected.rate_size[0] != stated.rate_size[0]:
            return False
        stated = _scale(stated, expected.rate_size[1] / stated.rate_size[1])
    expected, stated = _read_alike(expected, stated)
    margin = tolerance * expected.unit_size
    for wanted in expected.readings:
        for reading in stated.readings:
            if not _has_same_dimension(wanted.dimension, reading.dimension, unit_required):
                continue
            if wanted.dimension == PLAIN != reading.dimension:
                agrees = _agrees(expected, wanted, stated, _without_unit(reading, stated), margin)
            elif reading.dimension == PLAIN != wanted.dimension:
                agrees = _agrees(expected, _without_unit(wanted, expected), stated, reading, tolerance)
            else:
                agrees = _agrees(expected, wanted, stated, reading, margin)
            if agrees:
                return True
    return False


def is_same_value(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities have one value, whatever bounds they are."""
    return is_same_quantity(remove_bound(first), remove_bound(second))


def _read_alike(first: Quantity, second: Quantity) -> tuple[Quantity, Quantity]:
    """Return two quantities as one number each, if both may be two next to each other: "1 300" and "1 200"."""
    if len(first.readings) < _READINGS_OF_SPLIT or len(second.readings) < _READINGS_OF_SPLIT:
        return first, second
    if all(is_split_number([reading.low for reading in quantity.readings]) for quantity in (first, second)):
        first, second = (structs.replace(quantity, readings=quantity.readings[:1]) for quantity in (first, second))
    return first, second


def _scale(quantity: Quantity, factor: Decimal) -> Quantity:
    """Return a quantity with its values times a factor: 0.5 ml per kg are 5 ml per 10 kg."""
    readings = tuple(
        structs.replace(reading, low=reading.low * factor, high=reading.high * factor) for reading in quantity.readings
    )
    return structs.replace(quantity, readings=readings)


def apply_rate(rated: Quantity, measure: Quantity) -> Quantity | None:
    """Return what a quantity per a measure is for an amount of it, None for another measure.

    >>> from assay.text.quantities.measures import find_measures
    >>> rated, weight = find_measures("5 ml per 10 kg")[0], find_measures("15 kg")[0]
    >>> str(apply_rate(rated, weight).readings[0].low / rated.unit_size)
    '7.5'
    """
    if rated.rate_size is None:
        return None
    dimension, size = rated.rate_size
    amount = next((reading.low for reading in measure.readings if reading.dimension == dimension), None)
    if amount is None or measure.is_range:
        return None
    return structs.replace(_scale(rated, amount / size), rate="", rate_span=(0, 0), rate_size=None)


def have_different_rates(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities count per different spans of time: "$2 an hour" and "$2 a day"."""
    return first.rate != second.rate and first.rate in TIMES_OF_RATES and second.rate in TIMES_OF_RATES


def have_different_rate_sizes(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities count per different measures: "5 ml per kg" and "5 ml per 10 kg"."""
    return None not in (first.rate_size, second.rate_size) and first.rate_size != second.rate_size


def differ_in_unit(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities have one number with different units, or per different spans of time.

    >>> from assay.text.quantities.measures import find_measures
    >>> [differ_in_unit(find_measures("12 kg")[0], find_measures(text)[0]) for text in ("12 grams", "0.012 t", "12")]
    [True, False, False]
    """
    if first.date or second.date:
        return False
    own, other = remove_bound(first), remove_bound(second)
    if is_same_quantity(own, other):
        return False
    number = structs.replace(own, readings=tuple(_without_unit(reading, own) for reading in own.readings), rate="")
    return is_same_quantity(
        structs.replace(number, rate_size=None, unit_size=Decimal(1)), structs.replace(other, rate="")
    )


def _without_unit(reading: Reading, quantity: Quantity) -> Reading:
    """Return a reading as the number that is written before its unit."""
    return Reading(PLAIN, reading.low / quantity.unit_size, reading.high / quantity.unit_size)


def _is_same_date(expected: Quantity, stated: Quantity) -> bool:
    for year, month, day in expected.date:
        for other_year, other_month, other_day in stated.date:
            if year in (0, other_year) and month == other_month and day in (0, other_day):
                return True
    return False


_LONGEST_COUNTRY_CODE = 3


_FEWEST_LOCAL_DIGITS = 7


def _is_same_telephone_number(expected: Quantity, stated: Quantity) -> bool:
    """Return whether two numbers reach one telephone: a country code stands for the first 0 of a national number.

    Two countries are two telephones. A national number does not say its country, so that any may be meant.
    """
    first, second = expected.readings[0], stated.readings[0]
    if first.dimension == second.dimension or first.low == second.low:
        return first.low == second.low
    national, abroad = (str(reading.low) for reading in sorted((first, second), key=_get_dimension))
    if not abroad.endswith(national) or len(national) < _FEWEST_LOCAL_DIGITS:
        return False
    # Some countries keep the 0 after their code, which `int` took off the national number.
    country = abroad.removesuffix(national).removesuffix("0")
    return 1 <= len(country) <= _LONGEST_COUNTRY_CODE


def _get_dimension(reading: Reading) -> str:
    return reading.dimension


def _has_same_dimension(expected: str, stated: str, unit_required: bool) -> bool:
    if expected == stated:
        return True
    if ANGLE in (expected, stated) and {expected, stated} <= _DEGREES:
        return True  # "40 degrees" leaves open of what
    if TIME in (expected, stated) or WEEKDAY_NUMBER in (expected, stated):
        return False
    if expected == PLAIN:
        return True
    return stated == PLAIN and (not unit_required or expected.startswith(MONEY))


def _agrees(expected: Quantity, wanted: Reading, stated: Quantity, reading: Reading, tolerance: Decimal) -> bool:
    if expected.is_range or stated.is_range:
        return abs(wanted.low - reading.low) <= tolerance and abs(wanted.high - reading.high) <= tolerance
    value, other = wanted.low, reading.low
    if expected.bound:
        return _is_within_bound(expected.bound, value, stated.bound, other)
    if stated.bound in ("<", ">"):
        return False
    if abs(value - other) <= tolerance:
        return True
    return (expected.is_approximate and _rounds_to(other, value)) or (
        stated.is_approximate and _rounds_to(value, other)
    )


def _is_within_bound(bound: Bound, limit: Decimal, stated_bound: Bound, value: Decimal) -> bool:
    if stated_bound:
        return stated_bound[0] == bound[0] and value == limit
    if value == limit:
        return len(bound) == 2
    return value > limit if bound[0] == ">" else value < limit


def _rounds_to(value: Decimal, rounded: Decimal) -> bool:
    """Whether a value, rounded to the digits that `rounded` shows, is `rounded`."""
    if not rounded or abs(value - rounded) > _MOST_ROUNDING * abs(rounded):
        return False
    exponent = rounded.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(value - rounded) <= Decimal((0, (5,), exponent - 1))


def covers_value(wider: Quantity, value: Quantity) -> bool:
    """Return whether a bound or a range holds a value: who is five is "under 6", and 95 minutes are "over 60".

    >>> from assay.text.quantities.measures import find_measures
    >>> bound, span, value = (find_measures(text)[0] for text in ("over 60 minutes", "6 to 15", "95 minutes"))
    >>> covers_value(bound, value), covers_value(span, value), covers_value(value, value)
    (True, False, False)
    """
    if wider.date or value.date or value.bound or value.is_range:
        return False
    if wider.bound:
        return is_same_quantity(wider, value)
    ends = split_range(wider)
    if not ends:
        return False
    low, high = ends
    is_above = is_same_quantity(structs.replace(low, bound=">="), value)
    return is_above and is_same_quantity(structs.replace(high, bound="<="), value)


def is_comparable(value: Quantity, other: Quantity) -> bool:
    """Return whether two quantities measure the same, so that one may stand in place of the other.

    >>> from assay.text.quantities.measures import find_measures
    >>> days, months, euros = find_measures("3 days, 2 months, 5 euros")
    >>> is_comparable(days, months), is_comparable(days, euros)
    (True, False)
    """
    if value.date or other.date:
        return bool(value.date and other.date)
    for first, second in ((value, other), (other, value)):
        is_frequency = bool(second.rate) and any(reading.dimension == "times" for reading in second.readings)
        if is_frequency and any(reading.dimension in ("duration", "calendar") for reading in first.readings):
            return True  # "every six months" and "once a year"
    return not _list_dimensions(value).isdisjoint(_list_dimensions(other))


def _list_dimensions(quantity: Quantity) -> set[str]:
    return {_SAME_MEASURE.get(reading.dimension, reading.dimension) for reading in quantity.readings}


_SAME_MEASURE = {"calendar": "duration", INTERNATIONAL_CODE: CODE}
"""Months are no fixed number of days, and both measure how long something takes."""
_SHORTEST_MONTH, _LONGEST_MONTH = 28 * 86_400, 31 * 86_400  # in seconds


def is_about_same_span(value: Quantity, other: Quantity) -> bool:
    """Return whether one span in months and another in days may be the same: "three months (90 days)".

    >>> from assay.text.quantities.measures import find_measures
    >>> three, days, weeks = find_measures("3 months, 90 days, 9 weeks")
    >>> is_about_same_span(three, days), is_about_same_span(weeks, three)
    (True, False)
    """
    for months, days in ((value, other), (other, value)):
        for first in months.readings:
            for second in days.readings:
                if first.dimension == "calendar" and second.dimension == "duration":
                    return first.low * _SHORTEST_MONTH <= second.low and second.high <= first.high * _LONGEST_MONTH
    return False
