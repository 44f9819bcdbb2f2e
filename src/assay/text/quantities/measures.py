"""Find the quantities of a text: numbers with units, ranges and bounds, times of day, dates, money and shares.

A quantity has readings, because "26.000" is 26 or 26 000 and "1h30" a time or a duration. Each is an interval in the
base unit of its dimension (`units`). English and Vietnamese, on text without markup.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place, normalise_nfc
from assay.text.numbers import Date, Number, find_quantities
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.joined_quantities import join_compounds, join_ranges, share_units
from assay.text.quantities.quantity import WEEKDAY_NUMBER, Quantity, make_point
from assay.text.quantities.quantity_bounds import REACH_BEFORE, read_surroundings
from assay.text.quantities.quantity_rates import read_rates
from assay.text.quantities.unit_names import CURRENCY_CODES, LONGEST_CACHED, find_unit, split_glued_units
from assay.text.quantities.units import NAMED_UNITS, PLAIN, TIME, UNITS
from assay.text.quantities.worded_quantities import find_worded_quantities
from assay.text.text_cache import cache_by_text

_CODE_BEFORE = LatePattern(rf"\b({'|'.join(CURRENCY_CODES)}) $")


_REJECTED_SCALE = compile_pattern(r"(?<=\d) ?[mb]$")


def _make_measure(number: Number, text: str, plain: str) -> Quantity:
    day = _WEEKDAY_NUMBER.match(plain, number.start)
    if day is not None and _WEEKDAY_BEFORE.search(text, max(0, number.start - REACH_BEFORE), number.start):
        values = [value for value in number.readings if value in _WEEKDAY_NUMBERS]
        if values:
            return Quantity(tuple(make_point(WEEKDAY_NUMBER, value) for value in values), number.start, day.end())
    unit = NAMED_UNITS.get(number.unit)
    start, end = number.start, number.end
    if unit is None:
        # In "60 m/s" the m was looked at as a scale ("million"), and is no part of the number.
        rejected_scale = _REJECTED_SCALE.search(text, number.start, number.end)
        digits_end = rejected_scale.start() if rejected_scale else number.end
        following = find_unit(text, plain, digits_end)
        if following is not None:
            unit, end = following
        elif plain[number.start - 1 : number.start] == "¥":
            unit = UNITS["¥"]
        else:
            code = _CODE_BEFORE.search(text, max(0, number.start - 4), number.start)
            if code is not None:
                unit, start = UNITS[code[1]], code.start()
    if unit is None:
        is_one = number.is_spelled_out and Decimal(1) in number.readings
        points = tuple(make_point(PLAIN, value) for value in number.readings)
        return Quantity(points, number.start, end, is_spelled_one=is_one)
    readings = tuple(
        make_point(dimension, value * size)
        for dimension in (unit.dimension, *unit.other_dimensions)
        for value in number.readings
        for size in unit.sizes
    )
    if plain.endswith("gio", number.start, end) and _TIME_BEFORE.search(plain[max(0, number.start - 8) : number.start]):
        times = [value for value in number.readings if value == int(value) and 0 <= value <= 24]
        readings += tuple(make_point(TIME, value * 60) for value in times)
    return Quantity(readings, start, end, unit_size=unit.sizes[0])


_WEEKDAY_BEFORE = compile_pattern(r"(?<!lần )(?<!người )(?<!tầng )(?<!tuần )(?<!ngày )(?<!hàng )\bthứ $", re.IGNORECASE)


_WEEKDAY_NUMBER = compile_pattern(r"[2-7]\b|(?:hai|ba|tu|nam|sau|bay)\b")


_WEEKDAY_NUMBERS = frozenset(range(2, 8))
"""A Vietnamese day of the week: "thứ Sáu" (Friday) is neither the number six nor a part of "sáu tuần" (six weeks)."""


_TIME_BEFORE = compile_pattern(r"(?:^|\b(?:luc|tu|den|toi|vao|truoc|sau) |- ?)$")
"""Words before which "7 giờ" may be a time of day and not seven hours."""


def find_measures(text: str) -> list[Quantity]:
    """Return the quantities of a text without markup, in order; their spans are in `split_glued_units` of its NFC form.

    >>> [(str(q.readings[0].low), q.bound) for q in find_measures("more than 2 days, 9.6kWh, at most 5 MB")]
    [('172800', '>'), ('9600.0', ''), ('5000000', '<=')]
    """
    return list(_find(text))


_UNTIL = compile_pattern(r"\btới\b|\btoi(?= \d{1,2} ?(?:h|gio|giờ)\b)", re.IGNORECASE)


def _respell_until(text: str, plain: str) -> str:
    """Return folded text in which "tới" (until) is no "tối" (evening), which is folded alike: "8h tới 17h"."""
    if "toi" not in plain:
        return plain
    for match in _UNTIL.finditer(text):
        plain = f"{plain[: match.start()]}den{plain[match.end() :]}"
    return plain


@cache_by_text(maxsize=4096, longest=LONGEST_CACHED, long_texts=4)  # several rules read one long answer
def _find(text: str) -> tuple[Quantity, ...]:
    text = split_glued_units(normalise_nfc(text))
    plain = _respell_until(text, fold_in_place(text))
    special = list(find_worded_quantities(text, plain))
    quantities = special + [quantity for quantity in _find_plain(text, plain) if not _overlaps_any(quantity, special)]
    quantities.sort(key=lambda quantity: quantity.start)
    quantities = join_ranges(join_compounds(share_units(quantities, plain), plain), plain)
    rated = read_rates(quantities, plain)
    return tuple(read_surroundings(quantity, plain) for quantity in rated)


def _find_plain(text: str, plain: str) -> Iterator[Quantity]:
    for item in find_quantities(text):
        if isinstance(item, Date):
            yield Quantity((), item.start, item.end, date=item.readings)
        else:
            yield _make_measure(item, text, plain)


def _overlaps_any(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether a quantity overlaps one of others, which are in order and disjoint."""
    index = bisect_left(others, quantity.end, key=lambda other: other.start) - 1
    return index >= 0 and quantity.start < others[index].end
