"""Whether a value is a span before or after something, and whether something changes by it or to it.

"2 days before you arrive", "reduced by 20 percent, then cut to 15 percent". The patterns are for folded text
(`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from typing import Literal

from assay.text.quantities.quantity import Quantity

_REACH = 40  # characters before a value in which its event or its verb of change is searched
_DIRECTION = re.compile(
    r" ?(?:or (?:more|less) |left |to go )?(?:(?P<before>before|prior to|ahead of|in advance|beforehand|truoc)"
    r"|(?P<after>after|afterwards|later|following|past|sau))\b"
)
_DIRECTION_BEFORE = re.compile(r"\b(?:(?P<before>truoc)|(?P<after>sau))(?: (?!cach|luc)[a-z]+){0,5} $")
"""In Vietnamese the event may come first: "trước giờ tàu chạy 24 tiếng"."""


def find_direction(quantity: Quantity, plain: str) -> Literal["", "before", "after"]:
    """Return whether a span of time is one before or after something; "" if it is neither.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("2 days before you arrive, 3 hours after landing, for 5 days")
    >>> [find_direction(quantity, text.plain) for quantity in text.quantities]
    ['before', 'after', '']
    """
    if not any(reading.dimension in ("duration", "calendar") for reading in quantity.readings):
        return ""
    match = _DIRECTION.match(plain, quantity.end)
    if match is None:
        match = _DIRECTION_BEFORE.search(plain, max(0, quantity.start - _REACH), quantity.start)
    if match is None:
        return ""
    return "before" if match["before"] else "after"


_CHANGE = re.compile(
    r"\b(?:reduc|cut|lower|decreas|drop|f[ae]ll|shr[iau]nk|rais|r[io]se|increas|gr[eo]w"
    r"|(?:go(?:es)?|went) (?:up|down)|giam|tang)"
    r"\w*(?: \w+){0,4} (?:(?P<by>by|di|them)|(?P<to>to|xuong|len|con)) (?:about |around |exactly |khoang )?$"
)
"""A verb of change before a quantity, and whether the quantity is the difference or what is left."""


def find_change(quantity: Quantity, plain: str) -> Literal["", "by", "to"]:
    """Return whether something changes by a quantity or to it; "" if it is said of no change.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("It is reduced by 20 percent, then cut to 15 percent, of 90 percent")
    >>> [find_change(quantity, text.plain) for quantity in text.quantities]
    ['by', 'to', '']
    """
    match = _CHANGE.search(plain, max(0, quantity.start - _REACH), quantity.start)
    if match is None:
        return ""
    return "by" if match["by"] else "to"
