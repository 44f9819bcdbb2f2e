"""German numbers, dates and hours as people write them, rewritten in the form that is read.

"zehn Werktage" is 10 Werktage, "anderthalb Stunden" 1,5 Stunden, "24 Std." 24 Stunden, "12. März 2024" 12 March 2024,
"am 3.5." am 3 May, and "8.30 Uhr" 8:30. Words that may be others ("acht", "elf") are numbers only before a unit, the
others before a noun, which German writes with a capital letter, and at the end of a statement.
"""

from __future__ import annotations

import re

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_ONES = dict(
    zip(
        "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
        " achtzehn neunzehn".split(),
        range(1, 20),
        strict=True,
    )
)
_TENS = dict(
    zip("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(), range(20, 100, 10), strict=True)
)
_TENS["dreissig"] = 30
_MONTHS = {
    "Januar": "January",
    "Jänner": "January",
    "Februar": "February",
    "März": "March",
    "April": "April",
    "Mai": "May",
    "Juni": "June",
    "Juli": "July",
    "August": "August",
    "September": "September",
    "Oktober": "October",
    "November": "November",
    "Dezember": "December",
}
_ONE = "|".join(sorted(_ONES, key=len, reverse=True))
_TEN = "|".join(_TENS)
_BELOW_HUNDRED = rf"(?:(?:{_ONE})und(?:{_TEN})|{_TEN}|{_ONE})"
_BELOW_THOUSAND = rf"(?:(?:{_ONE})?hundert)?(?:und)?{_BELOW_HUNDRED}?"
_NUMBER = rf"(?:{_BELOW_THOUSAND}tausend)?{_BELOW_THOUSAND}"
_UNIT = (
    r"(?:Sekunden?|Minuten?|Stunden?|(?:Werk|Arbeits|Kalender|Geschäfts)?[Tt]ag(?:en?|es?)?|Wochen?|Monat(?:en?|s)?"
    r"|Jahr(?:en?|es?)?|Prozent|Euro)"
)
_NOUN = r"(?= (?:[a-zäöüß]+e[nrsm]? )?[A-ZÄÖÜ])"
_IN_LIST = rf"(?=(?:, {_BELOW_HUNDRED}){{0,4}} (?:und|oder|bis) {_BELOW_HUNDRED} {_UNIT}\b)"
"""What stands behind a number of a list whose last one has the unit: "acht, zwölf und sechzehn Wochen"."""
_HOUR = r"(?:[01]?\d|2[0-4])"
_FORM = LatePattern(
    rf"(?<![\w.,-])(?:"
    rf"(?P<day>\d{{1,2}})\. (?P<month>{'|'.join(_MONTHS)})\b"
    rf"|(?P<first>{_HOUR})(?= ?(?:bis|–|-) ?{_HOUR}(?:[.:][0-5]\d)? Uhr\b)"
    rf"|(?<=[Zz]wischen )(?P<between>{_HOUR})(?= und {_HOUR}(?:[.:][0-5]\d)? Uhr\b)"
    r"|(?P<hour>[01]?\d|2[0-4])(?:[.:](?P<minute>[0-5]\d))? Uhr(?: (?P<late>[0-5]\d)\b)?"
    r"|(?P<count>\d+(?:[.,]\d+)?) ?(?P<short>Std|Min|Sek)\b(?:\.(?=\s*[\w,;(]))?(?!\w)"
    rf"|(?P<half>(?:[Ee]ine?[nrm]?|[Dd]ie|[Nn]ach|[Jj]ede) halbe[nrs]? (?=Stunde|Jahr|Tag))"
    rf"|(?P<more_half>[Aa]nderthalb|(?P<whole>(?i:{_ONE}))einhalb) (?={_UNIT}\b)"
    rf"|(?P<one>[Ee]ine?[nrsm]?) (?={_UNIT}\b)"
    rf"|(?P<number>(?i:{_NUMBER}))(?: (?={_UNIT}\b)|(?P<in_list>{_IN_LIST})|{_NOUN}|(?=[.,;:!?)]|$))"
    r")"
)
_NUMBERED_DATE = compile_pattern(r"(?P<day>[0-3]?\d)\.(?P<month>[01]?\d)\.(?!\w)(?P<ends>(?=\s*\Z|\s+[A-ZÄÖÜ]|\s*\n))?")
_MAY_HAVE_DATE = compile_pattern(r"\d\.[01]?\d\.(?!\w)")
_BEFORE_DATE = frozenset("am bis zum vom ab seit dem den spätestens frühestens".split())
"""Stand before a day and a month in numbers, which are elsewhere parts of a version."""
_BEFORE_PADDED_DATE = frozenset("by on until till before after since from to and und".split())
"""The same before months with a zero, in English texts with German dates: "from 15.05. to 31.08."."""
_AMOUNT_NEAR = LatePattern(
    r"[€$£%]|\b(?:eur|euros?|usd|vnd|totals?|sum|prices?|costs?|fees?|amounts?|rates?|factors?|versions?|summe|preis|kosten"
    r"|kostet|gebühr|betrag|faktor|satz)\b",
    re.IGNORECASE,
)
_DAY_ASKED = LatePattern(
    r"\b(?:deadline|date|due|begins|starts|ends|opens|closes|frist|termin|datum|stichtag|beginn|ende?t?|läuft)\b",
    re.IGNORECASE,
)
"""Words with which "15.05." after "is" is a day: other things cost or measure 15.05."""
_MONTHS_IN_ORDER = tuple(dict.fromkeys(_MONTHS.values()))
_MOST_DAYS = 31
_SHORT_UNITS = {"Std": "Stunden", "Min": "Minuten", "Sek": "Sekunden"}
_MAY_HAVE_FORM = LatePattern(
    (
        rf"\b(?:(?:uhr|std|min|sek)\b|eine?[nrsm]? {_UNIT}\b|{_TEN}|{_ONE}|hundert|tausend)|halbe|anderthalb"
        rf"|\d\. (?:{'|'.join(_MONTHS)})\b"
    ).lower()
)
"""A first look, at a text in lower case: one that ignores the case takes three times as long."""
_LOWERED_OTHERWISE = ("\u017f", "\u0130")  # letters that are read as an s and an i where the case is ignored
_SHORTEST_SURE = 4
"""Letters of a number word that stands at the end of a sentence or before a comma."""
_OTHER_WORDS = frozenset(("ein", "elf", "acht"))
"""Numbers that may be other words: "ein" is one only before a unit of time."""
_NO_EIGHT = frozenset(("in", "außer", "ausser"))
"""Stand before the "Acht" that is attention."""
_BEFORE_ELEVEN = frozenset(
    "nach mit vor von für ab bis seit den alle nur noch je etwa über unter mindestens höchstens sind haben gibt"
    " zwischen und oder".split()
)
"""German words, after which "elf" counts what follows: an elf is none."""
_HUNDRED, _THOUSAND = 100, 1000


def write_german_forms(text: str) -> str:
    """Return a text with German numbers, dates and hours in the form that is read; other texts as they are.

    >>> write_german_forms("Zehn Werktage, 24 Std., nach anderthalb Stunden, am 3. Mai 2024 um 9.30 Uhr")
    '10 Werktage, 24 Stunden, nach 1,5 Stunden, am 3 May 2024 um 9:30'
    >>> write_german_forms("Von 9 bis 18 Uhr, zwischen 9 und 18.30 Uhr, 9–18 Uhr")
    'Von 9:00 bis 18:00, zwischen 9:00 und 18:30, 9:00–18:00'
    >>> write_german_forms("Give acht vier-leaf clovers to elf Dora.")
    'Give acht vier-leaf clovers to elf Dora.'
    """
    if _MAY_HAVE_DATE.search(text) is not None:
        text = _NUMBERED_DATE.sub(_write_date, text)
    if _MAY_HAVE_FORM.search(text.lower()) is None and not any(letter in text for letter in _LOWERED_OTHERWISE):
        return text
    return _FORM.sub(_write, text)


def _write_date(match: re.Match[str]) -> str:
    """Return "31.03." as a day of a month, where a word before it says that it is one."""
    day, month = int(match["day"]), int(match["month"])
    if not _is_led(match) or not 0 < day <= _MOST_DAYS or not 0 < month <= len(_MONTHS_IN_ORDER):
        return match[0]
    return f"{day} {_MONTHS_IN_ORDER[month - 1]}{'.' if match['ends'] is not None else ''}"


def _is_led(match: re.Match[str]) -> bool:
    """Whether what stands before "31.05." says that it is a day: a preposition, nothing at all, or a word for a day."""
    before = match.string[max(0, match.start() - _SENTENCE_BEFORE) : match.start()]
    word = before.split()[-1].lower() if before.endswith(" ") and before.strip() else ""
    if word in _BEFORE_DATE:
        return True
    if not match["month"].startswith("0"):
        return False
    before = before.rstrip(" *_")
    if not before or before.endswith(":"):
        is_last = not match.string[match.end() :].strip(" *_\n")
        return is_last and _AMOUNT_NEAR.search(before) is None  # "15.05." is all of the answer
    if word in _BEFORE_PADDED_DATE:
        return _AMOUNT_NEAR.search(before) is None
    return before.endswith((" is", " ist", " war", " was")) and _DAY_ASKED.search(before) is not None


_SENTENCE_BEFORE = 80
"""Characters before a date in which a word may say that it is one."""


def _write(match: re.Match[str]) -> str:
    if match["month"] is not None:
        return f"{match['day']} {_MONTHS[match['month']]}"
    first = match["first"] or match["between"]
    if first is not None:
        return f"{first}:00"
    if match["hour"] is not None:
        return f"{match['hour']}:{match['minute'] or match['late'] or '00'}"
    if match["short"] is not None:
        return f"{match['count']} {_SHORT_UNITS[match['short']]}"
    if match["half"] is not None:
        article = match["half"].split()[0]
        return "0,5 " if article.lower().startswith("ein") else f"{article} 0,5 "
    if match["more_half"] is not None:
        whole = 1 if match["whole"] is None else _ONES[match["whole"].lower()]
        return f"{whole},5 "
    if match["one"] is not None:
        return "1 "
    return _write_number(match)


def _write_number(match: re.Match[str]) -> str:
    word, space = match["number"].lower(), " " if match[0].endswith(" ") else ""
    value = _read_number(word)
    is_before_noun = bool(space) or match.string[match.end() : match.end() + 1] == " "
    is_sure = word not in _OTHER_WORDS and (is_before_noun or len(word) >= _SHORTEST_SURE)
    is_counted = match["in_list"] is not None or (is_before_noun and _counts(word, match, is_before_unit=bool(space)))
    return f"{value}{space}" if value and (is_sure or is_counted) else match[0]


def _counts(word: str, match: re.Match[str], *, is_before_unit: bool) -> bool:
    """Whether "acht" or "elf" counts what follows: "nach acht falschen Eingaben", and not "to elf Dora"."""
    before = match.string[max(0, match.start() - _WORD_BEFORE) : match.start()].split()
    if word == "acht":
        return is_before_unit or not before or before[-1].lower() not in _NO_EIGHT
    return word == "elf" and (is_before_unit or (bool(before) and before[-1].lower() in _BEFORE_ELEVEN))


_WORD_BEFORE = 14


def _read_number(word: str) -> int:
    """Return the value of a number in one word, 0 for what is none."""
    total = 0
    for scale, name in ((_THOUSAND, "tausend"), (_HUNDRED, "hundert")):
        before, found, after = word.partition(name)
        if found:
            total += scale * (_read_number(before) if before else 1)
            word = after.removeprefix("und")
    if not word:
        return total
    ones, found, tens = word.partition("und")
    if found:
        return total + _ONES.get(ones, 0) + _TENS.get(tens, 0) if ones in _ONES and tens in _TENS else 0
    value = _ONES.get(word, _TENS.get(word, 0))
    return total + value if value else 0
