"""How the language of a text groups the digits of a number, and which sums of money have no decimals.

"2.000" is two thousand where the decimal mark is a comma, and two where it is a point. An amount of money has at most
two decimals, and of a currency without a smaller coin none, so that three digits after a mark are a group.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct

from assay.text.languages import guess_language, has_vietnamese_letters
from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_in_place, fold_text, may_hold_other_script, normalise_nfc
from assay.text.pattern_cache import compile_pattern

DecimalMark = Literal["comma", "point", ""]
"""The mark before the decimals; "" where the language is not known."""

COMMA_LANGUAGES = frozenset(
    "vi de es fr pt it nl id tr da nb nn no sv fi pl cs sk sl hr sr ro bg ru uk el hu lt lv et is ca gl eu".split()
)
"""Languages that write 1.200,50 or 1 200,50."""
POINT_LANGUAGES = frozenset("en ja zh ko th he hi bn ta ur ms fil tl sw".split())
"""Languages that write 1,200.50."""
_COMMA_REGIONS_ONLY = {
    "es": frozenset(("mx", "us", "gt", "sv", "hn", "ni", "pa", "do", "pr", "pe")),
    "de": frozenset(("ch", "li")),
}
"""Regions of a language that write 1,200.50 (or 1'200.50) all the same."""
_WORDS_OF_GRAMMAR = """
    de: aber auch auf aus bei bis das dem der des durch ein eine einem einen einer für ist kann mit muss nach nicht oder
    de: sich sind über und unter vom von werden wie wird zum zur kostet kosten beträgt pro zahlen wir sie ab
    fr: au aux avec ce ces cette dans de des est et il ils je le les leur nous ou par pas pour quand que quel quelle qui
    fr: sans sont sur un une vous coûte coûtent la du nos votre
    es: al como con cuando cuanto cuesta cuestan debe del desde donde el en ese esta este hasta la las los para pero por
    es: puede que se ser sin son su sus una y hay de un
    pt: ao aos com custa custam da das de do dos e em há mais na nas no nos o os ou para pela pelo por qual quando são
    pt: sem ser seu sua um uma não
    it: al alla che come con costa costano da dal del della delle di e gli il in la le lo nei nella non o per più quando
    it: se si sono su tra un una è
    nl: aan als bij de deze die een en er het hij is kan kost kosten maar met naar niet of om ons onze op te tot uit van
    nl: voor wij wordt zijn per
    id: ada adalah akan anda atau bagi dan dari dengan dalam di harga ini itu kami ke lebih oleh pada per sampai untuk
    id: yang tidak biaya adalah
    tr: bir bu da daha de en gibi her için ile kadar mi ne olarak ve veya çok değil fiyat ücret lira
    sv: att av den det en ett för från har inte kostar med och om på som till är vi
    da: af at den det en et for fra har ikke koster med og om på som til er vi
    pl: ale czy dla do i jest na nie od oraz po się to w we z za że kosztuje
"""


def _read_words(table: str) -> dict[str, frozenset[str]]:
    """Return the words of grammar of each language, folded."""
    words: dict[str, set[str]] = {}
    for line in table.strip().splitlines():
        language, _, spelled = line.strip().partition(": ")
        words.setdefault(language, set()).update(fold_text(spelled).split())
    return {language: frozenset(folded) for language, folded in words.items()}


_GRAMMAR = _read_words(_WORDS_OF_GRAMMAR)
_WORD = compile_pattern(r"[^\W\d_]+")
_OTHER_SCRIPT = LatePattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f\u0900-\u097f]")
_LONGEST_READ = 2000
_FEWEST_WORDS = 2
_LEAST_SHARE = 0.25
"""Of the words of a text that must be words of grammar of one language: names ("Las Vegas") make no text Spanish."""


def read_declared_mark(language: str) -> DecimalMark:
    """Return the decimal mark of a language by its tag, "" for one that is not known.

    >>> [read_declared_mark(tag) for tag in ("vi", "de-AT", "en-GB", "es-MX", "")]
    ['comma', 'comma', 'point', 'point', '']
    """
    name, _, region = language.lower().replace("_", "-").partition("-")
    if region in _COMMA_REGIONS_ONLY.get(name, ()):
        return "point"
    if name in COMMA_LANGUAGES:
        return "comma"
    return "point" if name in POINT_LANGUAGES else ""


class NumberStyle(Struct, frozen=True):
    """How the words of a text show that its numbers are written; `is_vietnamese`: in which a comma groups as well."""

    mark: DecimalMark
    is_vietnamese: bool = False


@lru_cache(maxsize=1024)
def guess_style(text: str) -> NumberStyle:
    """Return how the language that the words of a text show writes numbers; its mark is "" where they do not tell.

    >>> [guess_style(text).mark for text in ("Das Zimmer kostet 2.000", "It costs 2.000 for us", "Total 2.000")]
    ['comma', 'point', '']
    """
    text = normalise_nfc(text[:_LONGEST_READ])
    language = guess_language(text)
    words = _WORD.findall(text)
    if language == "en" and all(map(str.isascii, words)):
        return NumberStyle("point")
    if language == "vi" and has_vietnamese_letters(text):
        return NumberStyle("comma", is_vietnamese=True)
    if may_hold_other_script(text) and _OTHER_SCRIPT.search(text) is not None:
        return NumberStyle("point")
    words = list(map(fold_text, words))
    fewest = (
        _FEWEST_WORDS if language is None else _FEWEST_WORDS + 1
    )  # "la" and "de" are Vietnamese words too, and "för" is read as "for"
    for grammar in _GRAMMAR.values():
        grammar_words = [word for word in words if word in grammar]
        if len(set(grammar_words)) >= fewest and len(grammar_words) >= _LEAST_SHARE * len(words):
            return NumberStyle("comma")
    if language == "vi":
        return NumberStyle("comma", is_vietnamese=True)
    return NumberStyle("" if language is None else "point")


_WHOLE_MONEY = r"vnd|dong|₫|jpy|yen|¥|円|krw|won|₩|원|idr|rupiah|rp|clp|pyg|isk|huf|forint|ugx|xof|xaf|cfa|kip|lak|khr"
_MONEY_WORD = (
    rf"{_WHOLE_MONEY}|eur|euros?|€|usd|us\$|dollars?|dolares|dolar|\$|gbp|pounds?|£|chf|franken|francs?|franchi|sfr|fr\.|inr|₹"
    r"|rupees?|pln|zl|zloty|try|lira|tl|₺|brl|r\$|reais|real|pesos?|mxn|cop|ars|sek|nok|dkk|kr|kronor|kroner|czk|kc"
    r"|ron|lei|rub|₽|rubel|thb|baht|฿|cny|rmb|yuan|元|aud|cad|sgd|hkd|nzd|myr|php"
)
_AFTER = LatePattern(rf"\ ?(?P<money>{_MONEY_WORD})(?![^\W_])|\ ?(?P<whole>[₫đĐ円원元])")
_BEFORE = LatePattern(rf"(?<![^\W_])(?P<money>{_MONEY_WORD})\ ?$")
_WHOLE = LatePattern(rf"(?:{_WHOLE_MONEY})")
_FINE_PRICE = LatePattern(
    r"\ ?(?:/|(?:per|pro|par|por|al|je|moi|a|an|le|el|il|pr\.?|o)\ )\ ?(?:1\ )?(?:l|litres?|liters?|lit|litro|litros"
    r"|kwh|kw|min|minutes?|minuten|gallons?|gal|units?|shares?|tokens?|m3|kg|kilo|gb|mb|km|pages?|clicks?|requests?"
    r"|calls?)\b"
)
"""What a price may be per that is written with three decimals: fuel, power, a share."""
_RATE_OF_EXCHANGE = LatePattern(r"=|≈|\b(?:exchange|rates?|kurs|wechselkurs|taux|cambio|ty gia|nisbah|kur)\b")
_REACH = 12
_REACH_OF_RATE = 40


def read_money_beside(text: str, start: int, end: int) -> Literal["whole", "decimal", ""]:
    """Return whether money stands directly beside a number: "whole" for a currency without decimals, else "decimal".

    "" stands also for a price per litre, kilowatt-hour and the like, and for a rate of exchange, which may have three
    decimals.

    >>> [read_money_beside(text, *span) for text, span in (("40.000 đồng", (0, 6)), ("€ 2.500", (2, 7)))]
    ['whole', 'decimal']
    >>> read_money_beside("1.459 €/l", 0, 5), read_money_beside("2.500 kg", 0, 5)
    ('', '')
    """
    written = text[max(0, start - _REACH_OF_RATE) : end + _REACH_OF_RATE]
    plain = fold_in_place(written)
    offset = start - max(0, start - _REACH_OF_RATE)
    following = _AFTER.match(plain, offset + end - start)
    preceding = _BEFORE.search(plain, max(0, offset - _REACH), offset)
    if following is None and preceding is None:
        return ""
    for match in (following, preceding):
        if match is not None and (match["money"] is None or _WHOLE.fullmatch(match["money"])):
            return "whole"
    money_end = offset + end - start if following is None else following.end()
    if _FINE_PRICE.match(plain, money_end) is not None or _RATE_OF_EXCHANGE.search(plain) is not None:
        return ""
    return "decimal"
