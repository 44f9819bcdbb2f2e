"""Where an answer may state a fact: the clause that holds its parts, and the value that stands for its quantity."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from assay.text.quantities import Quantity
from assay.text.read_text import ClauseSpan, ReadText


class Occurrence(NamedTuple):
    """Where a fact may be stated: the spans of its parts that are in one clause, and parts that are elsewhere."""

    clause: ClauseSpan
    spans: list[tuple[int, int]]
    is_scattered: bool

    @property
    def start(self) -> int:
        """Where the first part starts."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where the last part ends."""
        return max(end for _, end in self.spans)


def find_nearest(spans: Sequence[tuple[int, int]], position: int) -> tuple[int, int]:
    """Return the span, of some in order, that starts nearest to a position."""
    index = bisect_left(spans, (position,))
    return min(spans[max(0, index - 1) : index + 1], key=lambda span: abs(span[0] - position))


def find_stated_quantity(answer: ReadText, spot: Occurrence) -> Quantity | None:
    """Return the first quantity of an answer that stands for one of the fact at a place."""
    quantities = answer.quantities
    for start, end in spot.spans:
        index = bisect_left(quantities, start, key=_get_quantity_start)
        if index < len(quantities) and (quantities[index].start, quantities[index].end) == (start, end):
            return quantities[index]
    return None


def _get_quantity_start(quantity: Quantity) -> int:
    return quantity.start
