"""Quantities of which nobody can tell whether a mark before three digits groups thousands or begins the decimals."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from msgspec import structs

from assay.text.number_conventions import DecimalMark
from assay.text.numbers import is_split_number
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_same_quantity

_THOUSAND = 1000
_DOT_GROUP = compile_pattern(r"[0-9]\.[0-9]{3}(?![0-9])")
_NO_TOLERANCE = Decimal(0)


def has_open_mark(quantity: Quantity) -> bool:
    """Return whether a quantity may also be a thousand times as much: "2.000" without a unit.

    >>> from assay.text.quantities.measures import find_measures
    >>> [has_open_mark(find_measures(text)[0]) for text in ("2.000", "2,000", "2.50", "2.000 €")]
    [True, False, False, False]
    """
    return len(quantity.readings) == 2 * len(_keep_readings(quantity, are_thousands=True).readings)


def may_be_read_otherwise(quantity: Quantity) -> bool:
    """Return whether a quantity has an open mark, or may be two numbers: "1 200"."""
    return len(quantity.readings) > 1 and (has_open_mark(quantity) or _is_split(quantity))


def _is_split(quantity: Quantity) -> bool:
    return is_split_number([reading.low for reading in quantity.readings])


def _keep_readings(quantity: Quantity, *, are_thousands: bool) -> Quantity:
    """Return a quantity without the readings that have a thousandfold (or a thousandth) among them."""
    values = {(reading.dimension, reading.low) for reading in quantity.readings if reading.low}
    kept = []
    for reading in quantity.readings:
        other = reading.low * _THOUSAND if are_thousands else reading.low / _THOUSAND
        if (reading.dimension, other) not in values:
            kept.append(reading)
    return structs.replace(quantity, readings=tuple(kept))


def settle_mark(quantity: Quantity, written: str, mark: DecimalMark) -> Quantity:
    """Return a quantity as a language with a known decimal mark means it, where it is `written` with a dot.

    With a space it is one number in any language, and with a comma and a space it may be two: "26, 150".

    >>> from assay.text.quantities.measures import find_measures
    >>> [str(reading.low) for reading in settle_mark(find_measures("2.000")[0], "2.000", "comma").readings]
    ['2000']
    """
    if _is_split(quantity):
        return quantity if "," in written else structs.replace(quantity, readings=quantity.readings[:1])
    if mark == "comma" and has_open_mark(quantity) and _DOT_GROUP.search(written) is not None:
        return _keep_readings(quantity, are_thousands=True)
    return quantity


def agree_in_every_reading(expected: Quantity, stated: Quantity, tolerance: Decimal = _NO_TOLERANCE) -> bool:
    """Return whether two quantities that agree do so however their marks are read: as decimals and as thousands.

    >>> from assay.text.quantities.measures import find_measures
    >>> first, second, third = (find_measures(text)[0] for text in ("2.000", "2", "2.000"))
    >>> agree_in_every_reading(first, second), agree_in_every_reading(first, third)
    (False, True)
    """
    if not has_open_mark(expected) and not has_open_mark(stated):
        return True
    for are_thousands in (False, True):
        wanted, own = (_keep_readings(side, are_thousands=are_thousands) for side in (expected, stated))
        if not is_same_quantity(wanted, own, tolerance):
            return False
    return True


def name_open_mark(
    wanted: Sequence[tuple[Quantity, str]],
    stated: Sequence[tuple[Quantity, str]],
    mark: DecimalMark,
    tolerance: Decimal = _NO_TOLERANCE,
) -> str:
    """Return why it is open whether values are those that are wanted, "" if a mark leaves none of them open.

    `wanted`, `stated`: quantities with how they are written.
    """
    for expected, expected_text in wanted:
        first = settle_mark(expected, expected_text, mark)
        open_text = ""
        for own, own_text in stated:
            second = settle_mark(own, own_text, mark)
            if not is_same_quantity(expected, own, tolerance):
                continue
            if is_same_quantity(first, second, tolerance) and agree_in_every_reading(first, second, tolerance):
                open_text = ""
                break
            open_text = open_text or _name(expected_text if may_be_read_otherwise(expected) else own_text)
        if open_text:
            return open_text
    return ""


def _name(written: str) -> str:
    return f'"{written}" can be read as two different numbers'
