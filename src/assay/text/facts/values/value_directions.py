"""Whether a value is a span before or after something, and whether something changes by it or to it.

"2 days before you arrive", "reduced by 20 percent, then cut to 15 percent". The patterns are for folded text
(`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from typing import Literal

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.limit_cues import AFTER_EVENT, BEFORE_EVENT
from assay.text.facts.cues.value_cues import CHANGE, CHANGE_BY, CHANGE_TO
from assay.text.quantities.quantity import Quantity

_REACH = 40  # characters before a value in which its event or its verb of change is searched
_DIRECTION = build_pattern(
    rf" ?(?:or (?:more|less) |left |to go )?(?:(?P<before>{BEFORE_EVENT})|(?P<after>{AFTER_EVENT}))\b"
)
_DIRECTION_BEFORE = build_pattern(r"\b(?:(?P<before>trước)|(?P<after>sau))(?: (?!cách|lúc)[a-z]+){0,5} $")
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


_CHANGE = build_pattern(
    rf"\b{CHANGE}\w*(?: \w+){{0,4}} (?:(?P<by>{CHANGE_BY})|(?P<to>{CHANGE_TO}))"
    " (?:about |around |exactly |khoảng )?$"
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
