"""What a quantity is per: "$2 an hour", "5 ml per 10 kg", and lengths per hour as speeds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from msgspec import structs

from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import Quantity, Reading
from assay.text.quantities.units import UNITS

TIMES_OF_RATES = {
    "hour",
    "half hour",
    "minute",
    "second",
    "day",
    "night",
    "week",
    "month",
    "quarter",
    "year",
    "decade",
}


_RATE_NOUNS = {
    **dict.fromkeys(("hr", "hrs", "h", "gio", "tieng", "hourly"), "hour"),
    **dict.fromkeys(("min", "mins", "phut"), "minute"),
    **dict.fromkeys(("s", "sec", "giay"), "second"),
    **dict.fromkeys(("ngay", "daily"), "day"),
    **dict.fromkeys(("dem", "nightly"), "night"),
    **dict.fromkeys(("tuan", "wk", "weekly"), "week"),
    **dict.fromkeys(("thang", "mo", "monthly"), "month"),
    **dict.fromkeys(("quy", "quarterly"), "quarter"),
    **dict.fromkeys(("nam", "annum", "yr", "yearly", "annually", "pa"), "year"),
    **dict.fromkeys(("head", "people", "nguoi"), "person"),
    **dict.fromkeys(("lan", "luot"), "time"),
    **dict.fromkeys(("piece", "chiec", "cai"), "item"),
}
"""What a rate is per, by the words for it; other nouns stand for themselves."""
_OTHER_RATE_NOUNS = {
    noun: rate
    for rate, nouns in (
        ("hour", "heure stunde hora ora"),
        ("day", "jour journee tag dia giorno"),
        ("night", "nuit nuitee nacht noche notte noite"),
        ("week", "semaine woche semana settimana"),
        ("month", "mois monat mes mese"),
        ("year", "an annee jahr ano anno"),
        ("person", "personne person persona pessoa kopf"),
    )
    for noun in nouns.split()
}
"""The same in French, German, Spanish, Italian and Portuguese, folded."""
_RATE_NOUNS |= {noun: rate for noun, rate in _OTHER_RATE_NOUNS.items() if noun not in ("an", "mes")}


_TIME_NOUN = "|".join(
    sorted((noun for noun, rate in _RATE_NOUNS.items() if rate in TIMES_OF_RATES and len(noun) > 2), key=len)
)


_RATE = compile_pattern(
    r"(?: ?/ ?| (?:(?!(?:and|or|if|when|but|for|to|before|after|until|va|neu|khi|den|cho)\b)[a-z]+ ){0,3}?"
    r"(?:per|each|every|moi|hang)(?: an?)? | (?:for (?:each|every|an?|one)|cho (?:moi|mot|tung)|an?|mot) )"
    r"(?:(?:started|begun|commenced|full|whole|complete|single|calendar|further|additional|extra) (?=[a-z]))?"
    r"(?P<half>half(?:[- ]an?)?[- ]|nua )?(?P<noun>[a-z]+)"
    r"| (?P<adverb>hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually)\b"
)


_RATE_WITH_NOUN = compile_pattern(
    rf" (?:(?!(?:and|or|if|for|to|in|after|before|than)\b)[a-z]+ ){{1,2}}an? (?P<half>)(?P<noun>{_TIME_NOUN}|hour"
    r"|minute|second|day|night|week|month|quarter|year)\b(?P<adverb>)"
)
"""A rate after the thing that is counted: "600 calls a minute"."""


_OTHER_RATE = compile_pattern(
    r" (?:(?:(?!(?:et|und|y|e|ou|oder|o)\b)[a-z]+ )?(?:par|pro|por|cada|chaque) |(?:je|die|la|le|al|ao|a la) |l'|all')"
    r"(?P<half>)"
    rf"(?P<noun>{'|'.join(_OTHER_RATE_NOUNS)})s?\b(?P<adverb>)"
)
"""A rate in another language: "125 € la nuit", "9 € por persona"."""


def read_rates(quantities: Sequence[Quantity], plain: str) -> Iterator[Quantity]:
    """Yield quantities with what they are per; the "một giờ" of "5.000đ một giờ" is no quantity of its own."""
    done = 0
    for place, quantity in enumerate(quantities):
        if quantity.start < done:
            continue
        following = quantities[place + 1] if place + 1 < len(quantities) else None
        counted = _read_counted_rate(quantity, following, plain)
        if counted is not None and following is not None:
            done = following.end
            yield counted
            continue
        match = next(filter(None, (pattern.match(plain, quantity.end) for pattern in _RATES)), None)
        if match is not None and following is not None and following.start < match.end():
            # "once every ninety days" is a number of times, and ninety days: only "one hour" may be inside a rate
            match = match if plain.startswith(("one ", "mot ", "half", "a ", "an "), following.start) else None
        if match is None or quantity.date or quantity.is_spelled_one:
            yield quantity
            continue
        done = match.end()
        yield _make_speed(quantity, _name_rate(match), done) or structs.replace(
            quantity, rate=_name_rate(match), rate_span=match.span(), rate_size=_read_rate_size(match["noun"])
        )


_RATES = (_RATE, _RATE_WITH_NOUN, _OTHER_RATE)
_COUNTED_RATE = compile_pattern(
    r"(?: (?!(?:and|or|if|when|but|to|before|after|until|va|neu|khi|den)\b)[a-z]+){0,3} (?:per|each|every|moi|tung) "
    r"| ?/ ?"
)


_MEASURES_OF_RATES = frozenset(("mass", "volume", "length", "area", "data", "energy"))


def _read_counted_rate(quantity: Quantity, following: Quantity | None, plain: str) -> Quantity | None:
    """Return a quantity per a measure: "5 ml per 10 kg"; None if none follows."""
    if following is None or quantity.date or quantity.is_range or following.is_range or not following.readings:
        return None
    if _COUNTED_RATE.fullmatch(plain, quantity.end, following.start) is None:
        return None
    reading = following.readings[0]
    if reading.dimension not in _MEASURES_OF_RATES or reading.low <= 0:
        return None
    return structs.replace(
        quantity,
        rate=plain[following.start : following.end],
        rate_span=(quantity.end, following.end),
        rate_size=(reading.dimension, reading.low),
    )


def _read_rate_size(noun: str | None) -> tuple[str, Decimal] | None:
    """Return the dimension and size of the unit that a rate is per: "kg" of "5 ml per kg"; None for what is no unit."""
    unit = UNITS.get(noun or "")
    if unit is None or unit.dimension not in _MEASURES_OF_RATES:
        return None
    return unit.dimension, unit.sizes[0]


_SECONDS_OF_RATES = {"hour": 3600, "minute": 60, "second": 1}


_SPEEDS = {"length": ("speed", Decimal(1000)), "volume": ("flow", Decimal(1))}
"""The dimension of a length and of a volume per span of time, and how many of their base units its base unit has."""


def _make_speed(quantity: Quantity, rate: str, end: int) -> Quantity | None:
    """Return "225 kilometres an hour" as the speed that it is, None for other rates."""
    seconds = _SECONDS_OF_RATES.get(rate)
    dimensions = {reading.dimension for reading in quantity.readings}
    speed = _SPEEDS.get(dimensions.pop()) if len(dimensions) == 1 else None
    if seconds is None or speed is None:
        return None
    dimension, size = speed
    factor = Decimal(3600) / seconds / size
    readings = tuple(Reading(dimension, reading.low * factor, reading.high * factor) for reading in quantity.readings)
    return structs.replace(quantity, readings=readings, end=end, unit_size=quantity.unit_size * factor)


def _name_rate(match: re.Match[str]) -> str:
    noun = match["noun"] or match["adverb"]
    name = _OTHER_RATE_NOUNS[noun] if match.re is _OTHER_RATE else name_rate_noun(noun)
    return f"half {name}" if match["half"] else name


def is_time_rate(rate: str) -> bool:
    """Return whether a rate is per a span of time, so that another span is another rate."""
    return rate in TIMES_OF_RATES


def name_rate_noun(word: str) -> str:
    """Return what a rate is per whose noun is a folded word: "year" for "annum"."""
    return _RATE_NOUNS.get(word) or word.removesuffix("s")
