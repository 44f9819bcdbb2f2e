"""Values with a unit: which of them tell something by themselves, and which texts make them public.

A number that stands somewhere with another unit, or counts something else, is another value: "nobody under 18" does not
make a bonus of 18% public (ADR 0256). A unit counts in any language, since what is restricted in one may be told in
another, and a share also as a part of one: "18 Prozent" and "0.18" are 18%.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

from msgspec import Struct, structs

from assay.text.normalisation import fold_in_place, normalise_nfc
from assay.text.numbers import CURRENCY_UNITS, UNIT_BY_NAME, Date, Number, find_quantities
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.german_forms import write_german_forms
from assay.text.quantities.romance_forms import write_romance_numbers
from assay.text.text_cache import cache_by_text
from assay.text.tokens import is_stop_word, tokenise_text

_YEARS = frozenset(range(1900, 2101))  # a range compares a decimal number with every year
_LEAST_PLAIN = 1000  # a number without a unit tells nothing below this …
_LEAST_WITH_UNIT = 10  # … and with one below this
_ROUND_SHARES = frozenset(map(Decimal, (10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)))
# Days, hours and months that are weeks, years and so on in other words.
_ROUND_TIMES = frozenset(
    map(Decimal, (10, 12, 14, 15, 18, 20, 21, 24, 28, 30, 36, 45, 48, 52, 60, 72, 90, 120, 180, 365))
)
_SHARE = "%"
_FOREIGN_NAMES = {  # which `find_quantities` does not know
    "prozent": _SHARE, "pct": _SHARE,
    "pour cent": _SHARE, "por ciento": _SHARE, "por cento": _SHARE, "per cento": _SHARE,
    "pfund": "GBP", "livres": "GBP", "livres sterling": "GBP", "libras": "GBP", "sterling": "GBP",
    "dolar": "USD", "dolares": "USD",
    "％": _SHARE, "パーセント": _SHARE, "百分": _SHARE, "퍼센트": _SHARE,
    "minuten": "minute", "std": "hour", "stunde": "hour", "stunden": "hour", "heure": "hour", "heures": "hour",
    "hora": "hour", "horas": "hour", "ore": "hour", "tag": "day", "tage": "day", "tagen": "day",
    "jour": "day", "jours": "day",
    "dia": "day", "dias": "day", "giorno": "day", "giorni": "day", "woche": "week", "wochen": "week",
    "semaine": "week", "semaines": "week", "semana": "week", "semanas": "week", "monat": "month", "monate": "month",
    "monaten": "month", "mois": "month", "mes": "month", "meses": "month", "mesi": "month", "jahr": "year",
    "jahre": "year", "jahren": "year", "ans": "year", "anos": "year", "anni": "year", "personen": "person",
    "personnes": "person", "personas": "person", "pessoas": "person", "persone": "person", "zeichen": "character",
    "caracteres": "character",
}  # fmt: skip


def _list_names_by_unit() -> dict[str, tuple[list[str], list[str]]]:
    """Return the words of each unit between spaces, and its symbols."""
    names: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for name, unit in (UNIT_BY_NAME | _FOREIGN_NAMES).items():
        words, symbols = names[unit]
        if name[-1].isalpha() and name.isascii():
            words.append(f" {name} ")
        else:
            symbols.append(name)
    return dict(names)


_NAMES_BY_UNIT = _list_names_by_unit()


_WORDS_FOR_UNITS = sorted((name for name in _FOREIGN_NAMES if name[-1].isalpha()), key=len, reverse=True)
_FOREIGN_UNIT = compile_pattern(rf"[ \xa0\u202f-]?({'|'.join(_WORDS_FOR_UNITS)})(?![^\W_])")
_FRENCH_POUNDS, _BOOK = "livres", "book"
_SPEAKS_OF_BOOKS = compile_pattern(
    r"\b(?:bibliotheque|librairie|libraire|lecteur|lectrice|lecture|lire|lus?\b|prete|pretons|emprunt|auteur|roman"
    r"|rayon|bouquin|editeur|edition|exemplaire|imprim)"
)
"""Tells French books from pounds, which are one word."""
_SPEAKS_OF_MONEY = compile_pattern(
    r"\b(?:budget|cost|pric|fee|pay|paid|sala[ir]|wage|bonus|revenue|turnover|profit|loan|debt|amount|sum\b|total|fund|grant"
    r"|rent|tax|value|worth|invoic|fine\b|fines|deposit|saving|expens|spend|spent|offer|fare|tariff|income|earn|cash"
    r"|refund|donat|charg|sold|sale|bought|buy"
    r"|preis|kost|gebuhr|gehalt|lohn|pramie|umsatz|gewinn|kredit|betrag|betrage|summe|miete|etat|steuer|wert|rechnung"
    r"|kaution|ausgab|einnahm|zahlung|spende|honorar|abfindung"
    r"|prix|cout|tarif|prime|loyer|montant|somme|recette|benefice|facture|amende|caution|depens|revenu|frais"
    r"|precio|coste|importe|preco|custo|valor"
    r"|tien|luong|thuong|ngan sach|doanh thu|loi nhuan|gia\b|phi\b|hoa don|hoc phi|tong)|preis\b|kosten\b|gehalt\b"
    r"|lohn\b|betrag\b|summe\b|miete\b"
)
"""Says that a number without a unit may be an amount of money; for folded text."""
_LABELLED = compile_pattern(r"[:|=\t] ?$")
"""Stands between a label or a cell and a number, which then may be of any unit: "Monthly rate: 1,250"."""
_PART_OF_ONE = compile_pattern(r"0[.,]\d{2,4}")


def spell_values(text: str) -> str:
    """Return a text with German and French numbers in words as digits, in which `find_values` finds them.

    >>> spell_values("Es sind dreihundertfünf Euro, ce sont deux mille cent euros.")
    'Es sind 305 Euro, ce sont 2100 euros.'
    """
    return write_german_forms(write_romance_numbers(normalise_nfc(text)))


def find_values(text: str) -> list[Number | Date]:
    """Return the numbers and dates of a text, each number with its unit in whatever language it is named.

    >>> [(str(number.readings[0]), number.unit) for number in find_values("17 Prozent, 16 pour cent, 0.18 of it, 12")]
    [('17', '%'), ('16', '%'), ('18.00', '%'), ('12', '')]
    >>> [(str(number.readings[0]), number.unit) for number in find_values("0.18 litres, 2 Wochen")]
    [('0.18', ''), ('2', 'week')]
    """
    items = find_quantities(text)
    if all(not isinstance(item, Number) or item.unit for item in items):
        return items
    plain = normalise_nfc(text)
    folded = fold_in_place(plain)
    has_books = _FRENCH_POUNDS in folded and _SPEAKS_OF_BOOKS.search(folded) is not None
    return [
        _name_unit(item, plain, folded, has_books=has_books) if isinstance(item, Number) and not item.unit else item
        for item in items
    ]


def _name_unit(number: Number, plain: str, folded: str, *, has_books: bool) -> Number:
    named = _FOREIGN_UNIT.match(folded, number.end)
    if named is not None:
        unit = _BOOK if has_books and named[1] == _FRENCH_POUNDS else _FOREIGN_NAMES[named[1]]
        return structs.replace(number, unit=unit, end=named.end())
    if _PART_OF_ONE.fullmatch(plain, number.start, number.end) and not _counts_something(plain, number.end):
        return structs.replace(number, readings=tuple(100 * value for value in number.readings), unit=_SHARE)
    return number


class StatedValue(Struct, frozen=True):
    """A number with its unit, "" without one."""

    value: Decimal
    unit: str


def is_distinctive_number(value: Decimal, unit: str, secret_unit: str) -> bool:
    """Return whether a number that two texts share is more than chance.

    With the same unit it is from 10 on, unless it is a round share or a usual length of time; without, from 1,000 on,
    unless it is a year or a power of ten.

    >>> is_distinctive_number(Decimal("12.5"), "%", "%"), is_distinctive_number(Decimal(30), "day", "day")
    (True, False)
    >>> is_distinctive_number(Decimal(812), "", "")
    False
    """
    size = abs(value)
    if unit and secret_unit:
        if unit != secret_unit:
            return False
        if unit in CURRENCY_UNITS:
            return size >= _LEAST_WITH_UNIT
        usual = _ROUND_SHARES if unit == _SHARE else _ROUND_TIMES
        is_whole = size == size.to_integral_value()
        return not is_whole or (size >= _LEAST_WITH_UNIT and size not in usual)
    return size >= _LEAST_PLAIN and size not in _YEARS and set(f"{size.normalize():f}".lstrip("1")) != {"0"}


def makes_public(text: str, stated: StatedValue, *, is_of_case: bool = False) -> bool:
    """Return whether a value is public where everybody may read a text.

    The text has the number with the same unit, or without one: then the unit must be named elsewhere in the text, as in
    the head of a table, or be left out, because nothing that the number counts follows it. A share is not left out, and
    a currency only where the text speaks of money, has the number behind a label, or is one of the case itself
    (`is_of_case`). A value without a unit, or one that many texts share by chance, is public with any unit.

    >>> share = StatedValue(Decimal(18), "%")
    >>> [makes_public(text, share) for text in ("Nobody under 18 may drive.", "VAT: 18 %", "VAT in %: food 7, wine 18")]
    [False, True, True]
    >>> texts = ("84,500 seats", "The archive holds 84,500.", "a budget of 84,500")
    >>> [makes_public(text, StatedValue(Decimal(84500), "EUR")) for text in texts]
    [False, False, True]
    """
    text = spell_values(text)
    numbers = [item for item in find_values(text) if isinstance(item, Number) and stated.value in item.readings]
    if not numbers or not is_distinctive_number(stated.value, stated.unit, stated.unit):
        return bool(numbers)
    if not stated.unit or any(number.unit == stated.unit for number in numbers):
        return True
    plain_numbers = [number for number in numbers if not number.unit]
    if not plain_numbers:
        return False
    if stated.unit in _find_named_units(text) or len(tokenise_text(text)) == 1:
        return True
    if stated.unit == _SHARE or all(_counts_something(text, number.end) for number in plain_numbers):
        return False
    if stated.unit not in CURRENCY_UNITS or is_of_case or _SPEAKS_OF_MONEY.search(fold_in_place(text)) is not None:
        return True
    return any(_LABELLED.search(text, max(0, number.start - 2), number.start) for number in plain_numbers)


@cache_by_text(maxsize=256, longest=4000)
def _find_named_units(text: str) -> frozenset[str]:
    """Return the units that a text names, with a number or without."""
    folded = fold_in_place(normalise_nfc(text))
    words = f" {' '.join(tokenise_text(folded))} "
    return frozenset(
        unit
        for unit, (names, symbols) in _NAMES_BY_UNIT.items()
        if any(name in words for name in names) or any(symbol in folded for symbol in symbols)
    )


def _counts_something(text: str, end: int) -> bool:
    """Return whether a word of content follows a number directly."""
    rest = normalise_nfc(text)[end : end + 40]
    following = tokenise_text(rest) if rest[:1] in " \xa0" and rest[1:2].isalpha() else []
    return bool(following) and not is_stop_word(following[0])
