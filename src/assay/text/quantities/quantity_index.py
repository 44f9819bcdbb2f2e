"""Quantities by their values, so that one is compared with the few that may agree with it, and not with all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.text.quantities.quantity import Quantity, is_telephone_number


def _has_plain_values(quantity: Quantity) -> bool:
    """Whether a quantity agrees only with quantities that have a value of it, in its base unit or as it is written."""
    is_loose = quantity.is_approximate or bool(quantity.bound) or quantity.is_range
    return not (is_loose or quantity.date or quantity.rate_size or is_telephone_number(quantity))


def _list_values(quantity: Quantity) -> set[Decimal]:
    """Return the values of a quantity, in its base unit and as they are written before its unit."""
    values: set[Decimal] = set()
    for reading in quantity.readings:
        values.update((reading.low, reading.low / quantity.unit_size))
    return values


class QuantityIndex:
    """Finds the quantities that may be the same as another one (`is_same_quantity` without tolerance).

    >>> from assay.text.quantities.measures import find_measures
    >>> index = QuantityIndex(find_measures("24 months, 30 euros, 5 kg and about 7 apples"))
    >>> list(index.iterate_places(find_measures("2 years")[0])), list(index.iterate_places(find_measures("30")[0]))
    ([0, 3], [1, 3])
    """

    def __init__(self, quantities: Sequence[Quantity]) -> None:
        self.quantities = quantities
        self._places: dict[Decimal, list[int]] = {}
        self._others: list[int] = []
        for place, quantity in enumerate(quantities):
            if not _has_plain_values(quantity):
                self._others.append(place)
                continue
            for value in _list_values(quantity):
                self._places.setdefault(value, []).append(place)

    def iterate_places(self, quantity: Quantity) -> Iterator[int]:
        """Yield in order where those are that may be the same as a quantity; all others are not."""
        if not _has_plain_values(quantity):
            yield from range(len(self.quantities))
            return
        places = set(self._others)
        for value in _list_values(quantity):
            places.update(self._places.get(value, ()))
        yield from sorted(places)

    def iterate_candidates(self, quantity: Quantity) -> Iterator[Quantity]:
        """Yield in order the quantities that may be the same as a quantity."""
        for place in self.iterate_places(quantity):
            yield self.quantities[place]
