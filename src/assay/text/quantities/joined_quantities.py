"""Quantities of several numbers: the two ends of a range, and the parts of one amount ("1 hour 30 minutes")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from msgspec import structs

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import WEEKDAY_NUMBER, Quantity, Reading, make_point
from assay.text.quantities.quantity_bounds import REACH_BEFORE
from assay.text.quantities.units import PLAIN, TIME
from assay.text.quantities.worded_quantities import COUNTS

_RANGE_GAP = compile_pattern(r" ?(?:-|to|till?|until|den|toi|~) ?(?:us)?[$€£¥]?")


_BETWEEN_GAP = compile_pattern(r" (?:and|va|den) (?:us)?[$€£¥]?")


_BETWEEN_BEFORE = LatePattern(r"\b(?:between|giua) ?(?:us)?[$€£¥]?$")


_LIST_GAP = compile_pattern(r"(?P<last>,? ?(?:and|or|und|oder|et|ou|y|o|e|va|hoac|&) )|, ")
_COMMA = ", "


def share_units(quantities: Sequence[Quantity], plain: str) -> list[Quantity]:
    """Give the numbers of a list the unit behind its last one: "8, 12 and 16 weeks" are three spans of time."""
    shared = list(quantities)
    is_list = False
    for index in range(len(shared) - 2, -1, -1):
        number, following = shared[index : index + 2]
        gap = _LIST_GAP.fullmatch(plain, number.end, following.start)
        if gap is not None and not is_list:
            is_list = gap["last"] is not None and (gap[0][0] != "," or _follows_comma(shared, index, plain))
        is_list = gap is not None and is_list and _takes_unit(number, following)
        if is_list:
            readings = tuple(
                make_point(unit.dimension, value.low * following.unit_size)
                for value in number.readings
                for unit in following.readings
            )
            shared[index] = structs.replace(
                number, readings=readings, unit_size=following.unit_size, is_spelled_one=False
            )
    return shared


def _follows_comma(quantities: Sequence[Quantity], index: int, plain: str) -> bool:
    """Whether a number is not the first of a list: in "take 2, and 4 hours later one more" a comma lists nothing."""
    return index > 0 and plain[quantities[index - 1].end : quantities[index].start] == _COMMA


def _takes_unit(number: Quantity, following: Quantity) -> bool:
    """Whether a number has no unit and the next one, which is greater, has one that a list can share, unlike a date or
    a time of day: in "Room 4 and 2 hours of parking" nothing is listed."""
    units = {reading.dimension for reading in following.readings}
    is_bare = not number.date and bool(number.readings) and all(own.dimension == PLAIN for own in number.readings)
    if not is_bare or not units or following.is_range or not units.isdisjoint((PLAIN, TIME, WEEKDAY_NUMBER)):
        return False
    return number.readings[0].low * following.unit_size < following.readings[0].low


def join_compounds(quantities: Sequence[Quantity], plain: str) -> list[Quantity]:
    """Join the parts of one amount: "1 hour 30 minutes", "2 years and 3 months", "1 kg 250 g", "3 pounds 20 pence"."""
    joined: list[Quantity] = []
    for quantity in quantities:
        previous = joined[-1] if joined else None
        total = _add_part(previous, quantity, plain) if previous is not None else None
        if total is not None:
            joined[-1] = total
        else:
            joined.append(quantity)
    return joined


_COMPOUND_GAPS = {
    **dict.fromkeys(("duration", "calendar"), compile_pattern(r",? (?:and )?")),
    **dict.fromkeys(("length", "mass", "volume"), compile_pattern(r" ")),
    "money": compile_pattern(r" (?:and )?"),
}
"""What may stand between the parts of an amount, by dimension; a comma lists lengths and weights."""


_IN_HOURS = LatePattern(r"\d{1,2} ?h")
_IN_METRES = LatePattern(r"\d{1,3} ?met")


def _add_part(whole: Quantity, part: Quantity, plain: str) -> Quantity | None:
    """Return the sum of two parts of one amount, None if they are two amounts."""
    gap = plain[whole.end : part.start]
    if gap == " " and _IN_METRES.fullmatch(plain, whole.start, whole.end):
        hundredths = _read_hundredths(plain[part.start : part.end])
        if hundredths is not None and len(whole.readings) == 1:
            total = make_point("length", whole.readings[0].low + hundredths)
            return Quantity((total,), whole.start, part.end)
    if gap == " " and _IN_HOURS.fullmatch(plain, whole.start, whole.end):
        minutes = _read_minutes(f"{plain[whole.start : whole.end]}{plain[part.start : part.end]}")
        if minutes is not None:
            return Quantity((make_point(TIME, minutes), make_point("duration", minutes * 60)), whole.start, part.end)
    for reading in whole.readings:
        pattern = _COMPOUND_GAPS.get(reading.dimension.partition(":")[0])
        if pattern is None or reading.low != reading.high or not pattern.fullmatch(gap):
            continue
        for addition in part.readings:
            if addition.dimension == reading.dimension and _is_smaller_part(part, addition, whole, reading):
                total = make_point(reading.dimension, reading.low + addition.low)
                return Quantity((total,), whole.start, part.end, unit_size=part.unit_size)
    return None


def _read_hundredths(digits: str) -> Decimal | None:
    """Return the metres that one or two digits after "1 mét" add: "1 mét 20" is 1.2 m, "1 mét 6" is 1.6 m."""
    return Decimal(f"0.{digits}") if re.fullmatch(r"\d{1,2}", digits) else None


def _read_minutes(written: str) -> int | None:
    """Return the minutes of "1 h30", a time or a span; None for anything but two digits after the hours."""
    match = re.fullmatch(r"(1?\d|2[0-3]) ?h([0-5]\d)", written)
    return int(match[1]) * 60 + int(match[2]) if match is not None else None


def _is_smaller_part(part: Quantity, addition: Reading, whole: Quantity, reading: Reading) -> bool:
    if reading.dimension in ("duration", "calendar"):  # "12 days and 3 days" are two
        return addition.low < reading.low and part.unit_size < whole.unit_size
    return part.unit_size < whole.unit_size and addition.low < whole.unit_size


def join_ranges(quantities: Sequence[Quantity], plain: str) -> list[Quantity]:
    joined: list[Quantity] = []
    for quantity in quantities:
        previous = joined[-1] if joined else None
        combined = _join_range(previous, quantity, plain) if previous is not None else None
        if combined is not None:
            joined[-1] = combined
        else:
            joined.append(quantity)
    return joined


_CHANGE_REACH = 60


_CHANGE_BEFORE = compile_pattern(
    r"\b(?:rose|risen|ris(?:es|ing)|rais(?:ed|es|ing)|increas(?:ed|es|ing)|grew|gr?own|grows|fell|fallen|falls|dropp?(?:ed|s)"
    r"|chang(?:ed|es|ing)|went|goes|mov(?:ed|es)|cut|reduc(?:ed|es)|extend(?:ed|s)|climb(?:ed|s)|declin(?:ed|es)"
    r"|lower(?:ed|s)|shrank|shrunk|jump(?:ed|s)|tang|giam|nang|ha|doi|chuyen)\b[^.;\n]{0,30} (?:from|tu) [$€£¥]?$"
)
"""Words of a change before its first value: "rose from 10 to 12" states both values, and no range."""


_CHANGED_BY = LatePattern(
    r"\b(?:rose|fell|grew|climbed|dropped|shrank|jumped|declined|increased|decreased|(?:went|gone) (?:up|down))(?: by)?"
    r" [$€£¥]?$"
)
"""What stands before a difference with its unit, which begins no range: "rose 12 euros to 30 euros"."""
_BARE_NUMBER = compile_pattern(r"[\d.,]+|[a-z]+")


def _join_range(first: Quantity, second: Quantity, plain: str) -> Quantity | None:
    if first.is_range or first.date or second.date:
        return None
    gap = first.end, second.start
    is_range = _RANGE_GAP.fullmatch(plain, *gap) is not None or (
        _BETWEEN_GAP.fullmatch(plain, *gap) is not None
        and _BETWEEN_BEFORE.search(plain[max(0, first.start - 12) : first.start]) is not None
    )
    before = plain[max(0, first.start - _CHANGE_REACH) : first.start]
    has_unit = _BARE_NUMBER.fullmatch(plain, first.start, first.end) is None
    if not is_range or _CHANGE_BEFORE.search(before) or (has_unit and _CHANGED_BY.search(before)):
        return None
    readings = []
    for low in first.readings:
        for high in second.readings:
            if high.dimension == TIME:
                readings += _join_times(low, high, plain[first.start : first.end], plain[second.start : second.end])
                continue
            scaled = _take_unit(low, high, second)
            if scaled is not None and scaled.low < high.high:
                readings.append(Reading(high.dimension, scaled.low, high.high))
    if _HOURS_BEFORE.search(plain, max(0, first.start - REACH_BEFORE), first.start):
        readings += _read_hours(plain[first.start : first.end], plain[second.start : second.end])
    return Quantity(tuple(readings), first.start, second.end) if readings else None


_HOURS_BEFORE = LatePattern(r"\b(?:from|between|open|hours|times)[ :]+$")


_LATEST_HOUR = 24


def _read_hours(low_text: str, high_text: str) -> list[Reading]:
    """Return the times of day that two bare numbers may be: "from 9 to 17", "open 9 to 5"."""
    if not (low_text.isdecimal() and high_text.isdecimal() and max(int(low_text), int(high_text)) <= _LATEST_HOUR):
        return []
    return _join_times(make_point(TIME, int(low_text) * 60), make_point(TIME, int(high_text) * 60), low_text, high_text)


_HALF_DAY = Decimal(12 * 60)


_OPEN_CLOCK = compile_pattern(r"(?:1[0-2]|[1-9])(?:[:.][0-5]\d)?")
"""A time that may be before or after noon."""
_CLOCK_OF_24_HOURS = compile_pattern(r"(?:1[3-9]|2[0-3])[:.h][0-5]\d")
"""A time behind which "7:00" is one in the morning: "between 18:00 and 7:00"."""


def _join_times(low: Reading, high: Reading, low_text: str, high_text: str) -> list[Reading]:
    """Return the ranges that two times may be; "1-5 pm" begins at 1 pm, "12:30 to 1:15" ends at 13:15."""
    if low.dimension == PLAIN and (low_text.isdecimal() or low_text in COUNTS):
        low = make_point(TIME, low.low * 60)
    if low.dimension != TIME:
        return []
    is_low_open, is_high_open = (
        text in COUNTS or _OPEN_CLOCK.fullmatch(text) is not None for text in (low_text, high_text)
    )
    if is_low_open and not is_high_open:
        begins = low.low % _HALF_DAY
        begins = begins + _HALF_DAY if begins + _HALF_DAY < high.low else begins
        return [Reading(TIME, begins, high.low)] if begins < high.low else []
    if not is_high_open:
        return [Reading(TIME, low.low, high.low)] if low.low < high.low else []
    if low.low > _HALF_DAY and _CLOCK_OF_24_HOURS.fullmatch(low_text) is not None:
        return [Reading(TIME, low.low, high.low)] if low.low < high.low else []
    ranges = [(low.low, high.low), (low.low, high.low + _HALF_DAY)]
    if is_low_open:
        ranges.append((low.low + _HALF_DAY, high.low + _HALF_DAY))
    return [Reading(TIME, begins, ends) for begins, ends in ranges if begins < ends <= begins + _HALF_DAY]


def _take_unit(low: Reading, high: Reading, second: Quantity) -> Reading | None:
    """Return the lower end of a range in the dimension of the upper one; a plain number takes its unit."""
    if low.dimension == high.dimension:
        return low
    if low.dimension != PLAIN:
        return None
    return make_point(high.dimension, low.low * second.unit_size)
