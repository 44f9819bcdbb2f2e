"""The quantities of a text as it is written, each with the terms that are its numbers and its unit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from msgspec import structs

from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity, is_time
from assay.text.quantities.unit_names import read_unit_name, split_glued_units
from assay.text.tokens import Term

_LONGEST_TEXT = 2000
"""Characters of a text that is aligned with its respelling; of longer ones only the quantities before it are placed."""
_UNIT_CHARACTERS = 30


class PlacedQuantity(NamedTuple):
    """A quantity with its span in the NFC text, and the places of its terms: numbers, and then the unit."""

    quantity: Quantity
    terms: tuple[int, ...]


def place_quantities(text: str, terms: Sequence[Term]) -> list[PlacedQuantity]:
    """Return the quantities of an NFC text that have a number among its terms.

    >>> from assay.text.tokens import parse_terms
    >>> read = parse_terms("It used 9.6 kWh by 2:15 pm.")
    >>> [[read.text[read.items[place].start : read.items[place].end] for place in placed.terms]
    ...  for placed in place_quantities(read.text, read.items)]
    [['9.6', 'kWh'], ['2:15', 'pm']]
    """
    placed = []
    respelled = split_glued_units(text)
    for quantity in find_measures(text):
        span = _locate_span((quantity.start, quantity.end), respelled, text)
        if span is None:
            continue
        rate_span = _locate_span(quantity.rate_span, respelled, text) if quantity.rate else quantity.rate_span
        quantity = structs.replace(quantity, start=span[0], end=span[1], rate_span=rate_span or (0, 0))
        places = _list_terms(quantity, text, terms)
        if places:
            placed.append(PlacedQuantity(quantity, places))
    return placed


def holds_number(text: str, terms: Sequence[Term]) -> bool:
    """Return whether a term is a number or begins with a digit: without one `place_quantities` finds nothing.

    >>> from assay.text.tokens import parse_terms
    >>> [holds_number(text, parse_terms(text).items) for text in ("on 5 days", "every day")]
    [True, False]
    """
    return any(_is_number(term, text) for term in terms)


def spell_quantity(quantity: Quantity, text: str) -> str:
    """Return a placed quantity as it is written, with what it counts per."""
    return text[quantity.start : max(quantity.end, quantity.rate_span[1])].strip(" .")


def _list_terms(quantity: Quantity, text: str, terms: Sequence[Term]) -> tuple[int, ...]:
    first = bisect_left(terms, quantity.start, key=lambda term: term.end - 1)
    within = []
    for index in range(first, len(terms)):
        if terms[index].start >= quantity.end:
            break
        within.append(index)
    numbers = [index for index in within if _is_number(terms[index], text)]
    if not numbers:
        return ()
    number_end = terms[numbers[-1]].end
    unit_end = quantity.end
    if not is_time(quantity):
        unit_end = number_end + read_unit_name(text[number_end : number_end + _UNIT_CHARACTERS], 0)[1]
    units = [index for index in within if terms[index].start >= number_end and terms[index].end <= unit_end]
    return (*numbers, *units)


def _is_number(term: Term, text: str) -> bool:
    return term.kind == "number" or text[term.start : term.start + 1].isdigit()


# ── places in the text as written ────────────────────────────────────────────────────────────────────────────────


def _locate_span(span: tuple[int, int], respelled: str, text: str) -> tuple[int, int] | None:
    """Return where a span is in the text, whose spoken numbers and units were respelled to read its quantities."""
    if respelled == text:
        return span
    if len(text) > _LONGEST_TEXT:
        return None
    start, end = _align(respelled, text, span[0]), _align(respelled, text, span[1] - 1)
    return start, end + 1


def _align(respelled: str, text: str, position: int) -> int:
    """Return the position in a text that stands for one in its respelling."""
    starts, blocks = _match_blocks(respelled, text)
    index = max(0, bisect_left(starts, position + 1) - 1)
    start, other, size = blocks[index]
    return other + min(max(0, position - start), max(0, size - 1))


@lru_cache(maxsize=64)
def _match_blocks(respelled: str, text: str) -> tuple[list[int], list[tuple[int, int, int]]]:
    matcher = SequenceMatcher(None, respelled, text, autojunk=False)
    blocks = [(block.a, block.b, block.size) for block in matcher.get_matching_blocks() if block.size]
    return [start for start, _, _ in blocks], blocks or [(0, 0, 0)]
