"""French, Spanish, Portuguese and Italian numbers in words up to a hundred, French ones to a million, as digits.

"Vingt-cinq nuits" is 25 nuits, "treinta y dos días" 32 días, "deux mille cent euros" 2100 euros, "une semaine" 1
semaine. Words that are others in a language that is read as well ("once", "due", "six") are numbers only before a span
of time and, in a text that is clearly in another language, before whatever they count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from assay.text.languages import is_other_language
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern

_FRENCH = (
    "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf"
)
_FRENCH_TENS = {20: "vingt", 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante", 80: "quatre-vingt"}
_FRENCH_TENS_APART = {70: "septante", 80: "huitante", 90: "nonante"}
_SPANISH = (
    "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho"
    " diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho"
    " veintinueve"
)
_SPANISH_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa"
_PORTUGUESE = (
    "dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze"
    " dezasseis dezassete dezoito dezanove"
)
_PORTUGUESE_TENS = "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa"
_ITALIAN = (
    "due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette"
    " diciotto diciannove"
)
_ITALIAN_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"
_ALSO = {
    "duas": 2,
    "catorze": 14,
    "dezesseis": 16,
    "dezessete": 17,
    "dezenove": 19,
    "veintiún": 21,
    "veintiuna": 21,
    "cent": 100,
    "cien": 100,
    "cem": 100,
    "cento": 100,
}
"""Other forms, and the hundred of each language."""
_OTHER_WORDS = frozenset(
    "cent cento cem cien dez dix dos doze due duas neuf nove once otto sei seis seize sept sete sette six tre tres"
    " trece venti onze".split()
)
"""Those that are other words too, folded, in English, Vietnamese or another language."""
_FURTHER = frozenset("cents mil mille millon millions milhao mila duzentos trezentos ciento cientos centos".split())
"""Words of larger numbers, which are not read, nor is what stands with them."""
_JOINING = frozenset(("et", "y", "e"))
_ARTICLES = frozenset(("un", "une", "uno", "una", "um", "uma"))
_ONES = _ARTICLES | {"unieme"}


def _list_numbers() -> Iterator[tuple[str, int]]:
    """Yield the numbers in words, each as it is written."""
    for spelled in (_FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN):
        yield from zip(spelled.split(), range(2, 100), strict=False)
    yield from _list_french_tens()
    for tens, ones, join in (
        (_SPANISH_TENS, ["uno", *_SPANISH.split()[:8]], " y "),
        (_PORTUGUESE_TENS, ["um", *_PORTUGUESE.split()[:8]], " e "),
    ):
        for place, ten in enumerate(tens.split()):
            value = 10 * (place + (3 if tens is _SPANISH_TENS else 2))
            yield ten, value
            yield from ((f"{ten}{join}{one}", value + step) for step, one in enumerate(ones, 1))
    for place, ten in enumerate(_ITALIAN_TENS.split(), 2):
        yield ten, 10 * place
        for step, one in enumerate(["uno", *_ITALIAN.split()[:8]], 1):
            yield f"{ten[:-1] if one[0] in 'uo' else ten}{one}", 10 * place + step
    yield from _ALSO.items()


def _list_french_tens() -> Iterator[tuple[str, int]]:
    below_twenty = ["un", *_FRENCH.split()]
    for value, ten in (*_FRENCH_TENS.items(), *_FRENCH_TENS_APART.items()):
        yield ten, value
        most = 19 if ten in ("soixante", "quatre-vingt") else 9
        for step, one in enumerate(below_twenty[:most], 1):
            yield f"{ten} et {one}", value + step
            yield f"{ten}-{one}", value + step
    yield "quatre-vingts", 80


_SPELLED, _VALUES = zip(*_list_numbers(), strict=True)
_NUMBERS = dict(zip(fold_text("|".join(_SPELLED)).replace("-", " ").split("|"), _VALUES, strict=True))
_WORDS = frozenset(word for spelled in _NUMBERS for word in spelled.split()) - _JOINING - _ONES
_MAY_BE_NUMBERS = _WORDS | _ARTICLES
_ONE_SPAN = frozenset("jour semaine mois dia semana mes ano giorno settimana mese anno".split())
"""One span of time; "un an minimum" would be one per minimum, because "an" is an article of English."""
_SPANS = frozenset("jours semaines mois ans dias semanas meses anos giorni settimane mesi anni".split())
"""Several spans of time, before which a word of several languages is a number; "once an hour" counts in English."""
_RUN = compile_pattern(r"(?<![\w.,-])[^\W\d_]+(?:(?:-| )[^\W\d_]+)*(?![\w'’])")
_WORD = compile_pattern(r"[^\W\d_]+")


def write_romance_numbers(text: str) -> str:
    """Return a text with French, Spanish, Portuguese and Italian numbers up to a hundred as digits.

    >>> write_romance_numbers("Vingt-cinq nuits, soixante et onze jours, treinta y dos días; trentotto camere")
    '25 nuits, 71 jours, 32 días; 38 camere'
    >>> write_romance_numbers("Cent vingt euros, deux mille pages; once a day, seize the day, six beds")
    '120 euros, 2000 pages; once a day, seize the day, six beds'
    >>> write_romance_numbers("Two cents, a mille, dos mil euros")
    'Two cents, a mille, dos mil euros'
    """
    if _MAY_BE_NUMBERS.isdisjoint(fold_text(text).replace("-", " ").replace("'", " ").split()):
        return text
    return _RUN.sub(_write_run, text)


def _write_run(match: re.Match[str]) -> str:
    """Return a stretch of words with its numbers as digits."""
    words = list(_WORD.finditer(match[0]))
    folded = [fold_text(word[0]) for word in words]
    written, end, place = "", 0, 0
    while place < len(words):
        large = _read_large(match.string, folded, place)
        if large is not None:
            written += f"{match[0][end : words[place].start()]}{large.value}"
            end = words[large.last - 1].end()
            place = large.last
            continue
        last = _find_end(folded, place)
        if last == place and _is_one_span(folded, place):
            written += match[0][end : words[place].start()] + "1"
            end = words[place].end()
        elif last > place and _is_number(match.string, folded, place, last):
            written += match[0][end : words[place].start()] + str(_NUMBERS[" ".join(folded[place:last])])
            end = words[last - 1].end()
        place = max(last, place + 1)
    return written + match[0][end:]


class _Large(Struct, frozen=True):
    """The value of a French number from a hundred on, and the place after it."""

    value: int
    last: int


def _read_large(text: str, folded: list[str], place: int) -> _Large | None:
    """Return the French number of "cent" or "mille" that begins at a place, None if none does, or only in part."""
    thousands = below = 0
    last = place
    while last < len(folded):
        word, end = folded[last], _find_end(folded, last)
        if word in _HUNDRED and below < _MOST_HUNDREDS:
            below, last = 100 * max(below, 1), last + 1
        elif word == _THOUSAND and not thousands:
            thousands, below, last = 1000 * max(below, 1), 0, last + 1
        elif word not in _HUNDRED and end > last and below % 100 == 0:
            below, last = below + _NUMBERS[" ".join(folded[last:end])], end
        else:
            break
    words = folded[place:last]
    is_large = len(words) >= _FEWEST_WORDS and any(word in _HUNDRED or word == _THOUSAND for word in words)
    is_part = last < len(folded) and (folded[last] in _FURTHER or folded[last] in _ONES)
    may_be_others = len(words) == _FEWEST_WORDS and _OTHER_WORDS.union(_FURTHER).issuperset(words)
    if not is_large or is_part or (may_be_others and not is_other_language(text)):
        return None
    return _Large(thousands + below, last)


_HUNDRED, _THOUSAND = frozenset(("cent", "cents")), "mille"
_MOST_HUNDREDS = 10
_FEWEST_WORDS = 2
"""Of a large number that is read: "mille" alone may be another word, and so may "six cents"."""


def _is_one_span(folded: list[str], place: int) -> bool:
    """Whether a word is the article before one span of time: "une semaine"."""
    return folded[place] in _ARTICLES and not _ONE_SPAN.isdisjoint(folded[place + 1 : place + 2])


def _find_end(folded: list[str], place: int) -> int:
    """Return the place after the longest number that begins at a place, the place itself if none does."""
    for last in range(min(len(folded), place + _MOST_WORDS), place, -1):
        if " ".join(folded[place:last]) in _NUMBERS:
            return last
    return place


def _is_number(text: str, folded: list[str], place: int, last: int) -> bool:
    """Whether words are a number by themselves, and no part of a larger one.

    A word that is another one too is a number in a text of another language, before what it counts.
    """
    beside = (*folded[max(0, place - 1) : place], *folded[last : last + 1])
    if any(word in _WORDS or word in _FURTHER for word in beside):
        return False
    if last - place > 1 or folded[place] not in _OTHER_WORDS:
        return True
    return last < len(folded) and (folded[last] in _SPANS or is_other_language(text))


_MOST_WORDS = 5
"""Of a number: "quatre-vingt-dix-neuf"."""
