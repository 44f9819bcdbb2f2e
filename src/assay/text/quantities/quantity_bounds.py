"""The bound or the "about" that is written around a quantity: "more than 2 days", "12 or more"."""

from __future__ import annotations

import re

from msgspec import structs

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import Bound, Quantity

_BOUND_BEFORE = compile_pattern(
    r"(?:(?P<negation>\b(?:no|not|never|nothing|nobody|none|khong|chua|(?:must|ca|do|does|wo|should)n't) (?:\w+ )?)?"
    r"(?:(?P<more>\b(?:more than|(?<!carry )(?<!carried )(?<!roll )(?<!rolled )(?<!left )(?<!hand )over(?! by\b)|above"
    r"|exceed(?:s|ed|ing)?|greater than|larger than|longer than"
    r"|higher than|faster than|heavier than|taller than|bigger than|older than|wider than|deeper than"
    r"|upwards of|beyond|north of|hon|tren|vuot|vuot qua|nhieu hon|lon hon|dai hon|cao hon))"
    r"|(?P<less>\b(?:less than|fewer than|under|below|smaller than|shorter than|lower than|slower than"
    r"|lighter than|younger than|short of|duoi|it hon|nho hon"
    r"|thap hon|chua den|chua toi|chua du|chua day|ngan hon)))"
    r"|(?P<least>\b(?:at least|(?:a )?minimum(?: of)?|min\.?|not less than|no earlier than|not earlier than"
    r"|not before|from at least|it nhat|toi thieu)|>=|≥)"
    r"|(?P<most>\b(?:at most|(?:a )?maximum(?: of)?|max\.?|up to|within|no later than|not later than"
    r"|khong qua|toi da|nhieu nhat"
    r"|trong vong)|<=|≤)"
    r"|(?P<gt>>)|(?P<lt><))(?: (?:the|a|an|of|by|about))? ?(?:us)?[$€£¥]?$"
)


_BOUND_AFTER = compile_pattern(
    r"(?P<least> (?:or|and) (?:(?:well|far|way|even) )?(?:more|above|over|beyond|longer|later|higher|older|taller"
    r"|heavier|larger|bigger|greater|faster|wider|deeper|up(?:wards)?)\b"
    r"|\+| (?:tro len|hoac hon)| (?:at the (?:very )?(?:least|earliest)|at least"
    r"|at minimum|minimum)\b)"
    r"|(?P<most> (?:or|and) (?:(?:well|far|way|even) )?(?:less|fewer|below|under|shorter|younger|smaller"
    r"|lighter|lower|slower|narrower)\b"
    r"| (?:tro xuong|hoac it hon)| (?:at the (?:very )?(?:most|latest)|at most|at maximum|maximum|max|tops)\b)"
)


_NAMED_BOUND = compile_pattern(
    r" (?:is|are|being|la) (?:the |your |our )?(?:absolute |upper |lower )?"
    r"(?:(?P<least>minimum|least|toi thieu)|(?P<most>maximum|most|limit|toi da))\b"
)
"""What says after a quantity which bound it is: "19 hours is the minimum"."""


_COUNTED_BOUND = compile_pattern(r" [a-z]+(?: [a-z]+)? tro (?:(?P<least>len)|(?P<most>xuong))\b")
"""A bound after the noun that is counted: "6 tuổi trở lên"."""


_ABOUT_BEFORE = compile_pattern(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|circa|ca\.?|some|nearly|almost|close to|just (?:over|under)"
    r"|khoang|gan|xap xi|chung|tam)|[~≈]) ?(?:us)?[$€£¥]?$"
)


_LAST_WORDS = frozenset(
    """
    before than over above exceed exceeds exceeded exceeding of beyond hon tren vuot qua under below duoi den toi
    least minimum min min. nhat thieu most maximum max max. to within da vong the a an by about around approximately
    approx approx. roughly circa ca ca. some nearly almost khoang gan xap xi chung tam du day
    """.split()
)


REACH_BEFORE = 36  # characters before a quantity that are searched for bounds


def read_surroundings(quantity: Quantity, plain: str) -> Quantity:
    """Return the quantity with the bound or "about" that is written around it, as a part of it."""
    before = plain[max(0, quantity.start - REACH_BEFORE) : quantity.start].rstrip(" $€£¥")
    # Most quantities follow no such word; looking at the last word alone saves most of the time.
    may_be_bound = before.rpartition(" ")[2] in _LAST_WORDS or before[-1:] in "><≥≤=~≈"
    match = _BOUND_BEFORE.search(before) if before and may_be_bound else None
    window_start = max(0, quantity.start - REACH_BEFORE)
    lead = _LEAD_TIME.match(plain, quantity.end) if _is_duration(quantity) else None
    if match is not None:
        bound = _read_bound(match)
        if lead is not None and _LATEST.match(match[0].lstrip()):
            bound = _OPPOSITE[bound]
        return structs.replace(quantity, bound=bound, start=window_start + match.start())
    after = _BOUND_AFTER.match(plain, quantity.end)
    if after is not None:
        return structs.replace(quantity, bound=">=" if after["least"] else "<=", end=after.end())
    named = _NAMED_BOUND.match(plain, max(quantity.end, quantity.rate_span[1])) or _COUNTED_BOUND.match(
        plain, quantity.end
    )
    if named is not None:
        return structs.replace(quantity, bound=">=" if named["least"] else "<=")
    if lead is not None and lead["limit"]:
        return structs.replace(quantity, bound=">=" if lead["limit"].endswith(("latest", "later")) else "<=")
    about = _ABOUT_BEFORE.search(before) if before and may_be_bound else None
    if about is not None:
        return structs.replace(quantity, is_approximate=True, start=window_start + about.start())
    return quantity


_LEAD_TIME = LatePattern(
    r"(?: left| to go)? (?:before|prior to|ahead of|in advance)\b"
    r"(?:[\w' ]{0,30}? (?P<limit>at the (?:latest|earliest)|or (?:earlier|later)))?"
)


_LATEST = LatePattern(r"(?:no|not) (?:later|earlier) than|not before|up to")


_OPPOSITE: dict[Bound, Bound] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "": ""}
"""No later than 45 minutes before a departure are at least 45 minutes."""


def _is_duration(quantity: Quantity) -> bool:
    return any(reading.dimension in ("duration", "calendar") for reading in quantity.readings)


def _read_bound(match: re.Match[str]) -> Bound:
    if match["least"]:
        return ">="
    if match["most"]:
        return "<="
    is_more = match["more"] is not None or match["gt"] is not None
    if match["negation"]:
        return "<=" if is_more else ">="
    return ">" if is_more else "<"
