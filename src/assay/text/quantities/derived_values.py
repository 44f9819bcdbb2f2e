"""Values of an answer that follow from others: the result of a sum or a product, and an hour without its minutes.

"8 × €18 = €144" states no value that its sources lack, and "9 to 12" is what they write as 09:00–12:00. What a value
follows from has to be there: in the sentences up to it, in the question, or, times a number of the question, in a
source. Many values have many sums, so that among more than a few nothing is said to follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import combinations

from msgspec import structs

from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity, Reading, is_plain, is_telephone_number, is_time, split_range
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.quantity_index import QuantityIndex
from assay.text.quantities.units import MONEY, TIME

_MOST_SUMMANDS = 6
"""From more values than this no sum is formed: of so many some sum is any value."""
_MOST_FACTORS = 12
"""From more values than this no product is formed."""
_CENT = Decimal("0.01")
_SHARE = "share"
_OPERATION = compile_pattern(
    r"[=+×*·−–]|\bx\b|\b(?:plus|minus|times|total|altogether|together|combined|sum|less|leaves?|remaining|each|per|"
    r"insgesamt|zusammen|macht|mal|abzuglich|je|tong|cong|nhan|tru|con lai|moi)\b"
)
"""Signs and words, folded, that a number without a unit is calculated."""
_NO_NOUN = compile_pattern(
    r"[^\w\s]|$|\s*[(\[;,.!?]|[ -](?:on|every|each|daily|and|or|until|till|to|by|in|at|from|but|only|during|except|"
    r"then|if|when|where|while|with|for|bis|und|oder|am|an|jeden|taglich|von|hang|moi|vao|den|va|cac|trong|tu)\b"
)
"""What follows an hour, folded: the end of the clause, or a word that nothing is counted by."""
_BEFORE_HOUR = compile_pattern(
    r"\b(?:at|from|until|till|by|before|after|around|about|since|to|um|ab|bis|vor|nach|gegen|seit|luc|tu|den|truoc|sau|vao)\s$"
)
_TO_HOUR = compile_pattern(r" ?(?:to|until|till|bis|den|-|–) ?\d")
_HOURS = 12
_LAST_HOUR = 24


class DerivedValues:
    """Finds the values of sentences, in their order, that follow from others.

    `question` is what was asked, and `stated` are the quantities of all sources, with the ends of ranges.

    >>> stated = QuantityIndex(find_measures("A seat is €14; it opens at 09:00 and closes at 12:00"))
    >>> derived = DerivedValues("What do 3 seats cost?", stated)
    >>> [quantity.readings[0].low for quantity in derived.find("That is €42 (9 to 12), not €41.")]
    [Decimal('42'), Decimal('9')]
    """

    def __init__(self, question: str, stated: QuantityIndex) -> None:
        self._asked = [quantity for quantity in find_measures(question) if _is_operand(quantity)]
        self._stated = stated
        self._known = list(self._asked)

    def find(self, sentence: str) -> list[Quantity]:
        """Return the values of the next sentence that are in no source and follow from others."""
        is_calculated = _OPERATION.search(fold_text(sentence)) is not None
        values = find_measures(sentence)
        unknown = []
        for value in values:
            if self._is_stated(value):
                self._known += [value] if _is_operand(value) else []
            else:
                unknown.append(value)
        derived = [value for value in unknown if self._is_hour(value, sentence) or self._is_taken_off(value)]
        self._known += [value for value in derived if _is_operand(value) and not is_plain(value)]
        left = [value for value in unknown if value not in derived and _is_operand(value)]
        has_grown = True
        while has_grown:
            has_grown = False
            for value in list(left):
                if (is_calculated or not is_plain(value)) and self._follows(value):
                    left.remove(value)
                    derived.append(value)
                    self._known.append(value)
                    has_grown = True
        return sorted(derived, key=lambda value: value.start)

    def _is_stated(self, value: Quantity) -> bool:
        candidates = [*self._stated.iterate_candidates(value), *self._asked]
        return any(is_same_quantity(other, structs.replace(value, bound="")) for other in candidates)

    def _follows(self, value: Quantity) -> bool:
        return self._is_product_of_source(value) or self._is_product(value) or self._is_sum(value)

    def _is_product_of_source(self, value: Quantity) -> bool:
        """Return whether a number of the question times a value of a source is the value."""
        for factor in _list_factors(self._asked):
            wanted = _divide(value, factor)
            for other in self._stated.iterate_candidates(wanted):
                if _share_dimension(other, value) and not other.date and is_same_quantity(other, wanted):
                    return True
        return False

    def _is_product(self, value: Quantity) -> bool:
        """Return whether two known values give the value: a number or a share, times another."""
        if len(self._known) > _MOST_FACTORS:
            return False
        for place, other in enumerate(self._known):
            factors = _list_factors(self._known[:place] + self._known[place + 1 :])
            for dimension, low in _list_points(other):
                results = (low * factor for factor in factors)
                if any(_is_point(value, dimension, result) for result in results):
                    return True
        return False

    def _is_sum(self, value: Quantity) -> bool:
        """Return whether known values of the same kind add up to the value, or two of them differ by it."""
        for dimension, _ in _list_points(value):
            points = [low for other in self._known for kind, low in _list_points(other) if kind == dimension]
            if not 1 < len(points) <= _MOST_SUMMANDS:
                continue
            results = [abs(first - second) for first, second in combinations(points, 2)]
            for count in range(2, len(points) + 1):
                results += [sum(chosen, Decimal(0)) for chosen in combinations(points, count)]
            if any(_is_point(value, dimension, result) for result in results):
                return True
        return False

    def _is_taken_off(self, value: Quantity) -> bool:
        """Return whether a value below zero is that of a source, which is subtracted: "minus 60 euros"."""
        positive = tuple(Reading(reading.dimension, -reading.high, -reading.low) for reading in value.readings)
        is_negative = bool(positive) and not value.date and all(reading.low > 0 for reading in positive)
        return is_negative and self._is_stated(structs.replace(value, readings=positive))

    def _is_hour(self, value: Quantity, sentence: str) -> bool:
        """Return whether a number without a unit stands for a time that a source has: "9 to 12" for 09:00 to 12:00."""
        if not is_plain(value) or not all(_is_hour_number(reading) for reading in value.readings):
            return False
        folded = fold_text(sentence)
        if not _NO_NOUN.match(folded, value.end):
            return False
        is_told = value.is_range or _BEFORE_HOUR.search(folded[: value.start]) or _TO_HOUR.match(folded, value.end)
        if not is_told:
            return False
        times = structs.replace(value, readings=tuple(_read_as_times(value)), bound="")
        ends = split_range(times) or (times,)
        return all(self._is_time_stated(end) for end in ends)

    def _is_time_stated(self, time: Quantity) -> bool:
        candidates = self._stated.iterate_candidates(time)
        return any(is_time(other) and is_same_quantity(other, time) for other in candidates)


def _is_operand(value: Quantity) -> bool:
    """Return whether a quantity is one value that may be added and multiplied: no date, time, range or code."""
    if value.date or value.is_range or value.is_spelled_one or is_telephone_number(value):
        return False
    return any(reading.dimension != TIME for reading in value.readings)


def _list_points(value: Quantity) -> list[tuple[str, Decimal]]:
    return [(reading.dimension, reading.low) for reading in value.readings if reading.dimension != TIME]


def _list_factors(values: Iterable[Quantity]) -> list[Decimal]:
    """Return the numbers by which other values may be multiplied: as they are written, and shares as such."""
    factors: list[Decimal] = []
    for value in values:
        for dimension, low in _list_points(value):
            if dimension == _SHARE:
                share = low / 100
                factors += [share, 1 - share, 1 + share]
            elif not dimension.startswith(MONEY):
                factors.append(low / value.unit_size)
    return [factor for factor in factors if factor > 0 and factor != 1]


def _divide(value: Quantity, factor: Decimal) -> Quantity:
    readings = tuple(Reading(part.dimension, part.low / factor, part.high / factor) for part in value.readings)
    return structs.replace(value, readings=readings, bound="")


def _share_dimension(first: Quantity, second: Quantity) -> bool:
    dimensions = {reading.dimension for reading in first.readings}
    return any(reading.dimension in dimensions for reading in second.readings)


def _is_point(value: Quantity, dimension: str, result: Decimal) -> bool:
    """Return whether a quantity is a result, or that result rounded to cents."""
    return any(
        reading.dimension == dimension and (reading.low == result or reading.low == result.quantize(_CENT))
        for reading in value.readings
    )


def _is_hour_number(reading: Reading) -> bool:
    ends = reading.low, reading.high
    return all(0 <= end <= _LAST_HOUR and end == end.to_integral_value() for end in ends)


def _read_as_times(value: Quantity) -> Iterator[Reading]:
    """Yield the times that hours may be: as written, and after noon."""
    for reading in value.readings:
        for shift in (0, _HOURS):
            if reading.high + shift <= _LAST_HOUR:
                yield Reading(TIME, 60 * (reading.low + shift), 60 * (reading.high + shift))
