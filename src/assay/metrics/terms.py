"""Parse a text into terms to look up in other texts: word stems, numbers by value, parts of dates, identifiers.

Scripts without spaces between words (Chinese, Japanese, Korean, Thai and similar) are parsed as pairs of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Literal, NamedTuple
from unicodedata import category, decimal, normalize

from assay.metrics.folding import flat, fold, nfc
from assay.metrics.quantities import Date, Number, quantities
from assay.metrics.text import token_spans

Kind = Literal["word", "name", "number", "id", "stop"]


class Term(NamedTuple):
    """One term with its span in the NFC text.

    `key`: its normal form, which is a folded stem, "#12" for a number, "@3" for a month, or an identifier. `marked`:
    the key with the diacritics that folding removed. `others`: further readings of a number ("26.000"). `unit`: the
    unit of a number. The parts of a date are terms that share its span. A `name` is a capitalised word that is not the
    first word of the text.
    """

    kind: Kind
    start: int
    end: int
    key: str
    marked: str = ""
    others: tuple[str, ...] = ()
    unit: str = ""


class Terms(NamedTuple):
    """The NFC text and its terms in order; `marked`: enough words have diacritics for these to be significant."""

    text: str
    items: list[Term]
    marked: bool


_MARKED_SHARE = 0.4  # share of words with diacritics from which a text counts as written with them, as Vietnamese is
_CAPITALISED_SHARE = 0.6  # share of capitalised words from which capitals are not significant
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")


@cache
def _spaceless_character() -> re.Pattern[str]:
    return re.compile(f"[{_SPACELESS}]")  # compiled on first use, because large sets take long


@cache
def _run_pattern() -> re.Pattern[str]:
    return re.compile(rf"[{_SPACELESS}]+|[^{_SPACELESS}]+")


def terms(text: str) -> Terms:
    """Return the terms of a text.

    >>> [(term.kind, term.key) for term in terms("Ms Lan asked for 12 days after ERR-429").items][1:]
    [('name', 'lan'), ('word', 'ask'), ('stop', 'for'), ('number', '#12'), ('stop', 'after'), ('id', 'err-429')]
    """
    nfc_text = nfc(text)
    digits = nfc_text if nfc_text.isascii() else _FOREIGN_DIGIT.sub(lambda match: str(decimal(match[0])), nfc_text)
    spaceless = not digits.isascii() and _spaceless_character().search(digits) is not None
    plain = flat(digits)
    pending = iter(quantities(_spaceless_character().sub("|", digits) if spaceless else digits))
    quantity = next(pending, None)
    items: list[Term] = []
    quantity_start = quantity.start if quantity else len(plain)
    for start, end in _spaceless_spans(plain) if spaceless else token_spans(plain):
        while quantity and end > quantity_start and quantity.end <= start:
            items += _quantity_terms(quantity)
            quantity = next(pending, None)
            quantity_start = quantity.start if quantity else len(plain)
        if end <= quantity_start:
            kind, key, marked = _classify_word(digits[start:end])
            items.append(Term(kind, start, end, key, marked))
    while quantity:
        items += _quantity_terms(quantity)
        quantity = next(pending, None)
    kinds = [term.kind for term in items]
    words = len(items) - kinds.count("number")
    if kinds.count("name") > _CAPITALISED_SHARE * words:
        items = [term._replace(kind="word") if term.kind == "name" else term for term in items]
    elif items and kinds[0] == "name":
        items[0] = items[0]._replace(kind="word")
    return Terms(
        nfc_text, items, not nfc_text.isascii() and sum([term.marked != "" for term in items]) > _MARKED_SHARE * words
    )


def spellings(items: Iterable[Term], marked: bool) -> list[str]:
    """Return the normal spelling of each term; `marked`: with diacritics.

    >>> spellings(terms("12 days of leave").items, False)
    ['#12|day', 'of', 'leav']
    """
    return [_number_spelling(term) if term.kind == "number" else (marked and term.marked) or term.key for term in items]


def _number_spelling(term: Term) -> str:
    key = term.others[-1] if term.others else term.key
    return f"{key}|{term.unit}" if term.unit else key


def stored(term: Term, marked: bool) -> Iterator[str]:
    """Yield the keys under which an index stores a term; `marked`: the indexed text is written with diacritics."""
    if term.kind == "number":
        for key in (term.key, *term.others):
            yield key
            yield f"{key}|{term.unit}"
    else:
        yield term.key
        if marked:
            yield term.marked or f"{term.key}~"


def wanted(term: Term, marked: bool) -> list[str]:
    """Return the keys to look up in an index; the term is present if any of them is.

    `marked`: this text and the indexed text are written with diacritics. Units of numbers must agree if both have one.
    """
    if term.kind != "number":
        return [term.marked or f"{term.key}~"] if marked else [term.key]
    keys = (term.key, *term.others)
    return [f"{key}|{unit}" for key in keys for unit in (term.unit, "")] if term.unit else list(keys)


def vocabulary(text: str) -> set[str]:
    """Return the keys of the words of a text, without numbers and identifiers; cheaper than all its terms.

    >>> sorted(vocabulary("Asked for 12 days of leave"))
    ['ask', 'day', 'for', 'leav', 'of']
    """
    plain = fold(text)
    if not plain.isascii() and _spaceless_character().search(plain):
        return {_classify_flat_word(plain[start:end])[1] for start, end in _spaceless_spans(plain)}
    return {_classify_flat_word(word)[1] for word in set(_LETTERS.findall(plain))}


def _spaceless_spans(plain: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the tokens of a text that holds a script without spaces: there, pairs of characters."""
    for start, end in token_spans(plain):
        for run in _run_pattern().finditer(plain, start, end):
            first, last = run.span()
            if _spaceless_character().match(plain, first):
                yield from ((i, min(i + 2, last)) for i in range(first, max(last - 1, first + 1)))
            else:
                yield first, last


# ── quantities ───────────────────────────────────────────────────────────────────────────────────────────────────


def _quantity_terms(item: Number | Date) -> list[Term]:
    if isinstance(item, Number):
        keys = [f"#{value.normalize():f}" for value in item.values]
        return [Term("number", item.start, item.end, keys[0], "", tuple(keys[1:]), item.unit)]
    days = _part_keys("#", [day for _, _, day in item.values if day])
    months = _part_keys("@", [month for _, month, _ in item.values])
    years = _part_keys("#", [year for year, _, _ in item.values])
    return [
        Term("number", item.start, item.end, keys[0], "", tuple(keys[1:])) for keys in (days, months, years) if keys
    ]


def _part_keys(mark: str, values: list[int]) -> list[str]:
    return [f"{mark}{value}" for value in dict.fromkeys(values)]


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=65536)
def _classify_word(raw: str) -> tuple[Kind, str, str]:
    """Return the kind, the key and the key with diacritics of a token that is no number."""
    word = flat(raw)
    kind, key = _classify_flat_word(word)
    marks = "" if raw.isascii() else _diacritics(raw)
    if marks and kind == "stop":
        kind = "word"
    if kind == "word":
        if marks and raw.lower() in _VIETNAMESE_STOPS:
            kind = "stop"
        elif len(raw) > 1 and raw[0].isupper():
            kind, key = "name", _MONTHS.get(word, key)
    return kind, key, f"{key}~{marks}" if marks else ""


@lru_cache(maxsize=65536)
def _classify_flat_word(word: str) -> tuple[Kind, str]:
    """Return the kind and the key of a flat token that is no number."""
    word = word.removesuffix("'s")
    if any(map(str.isdigit, word)) or "_" in word:
        return "id", word
    if word in _STOPS or word.endswith("n't") or _KANA.fullmatch(word):
        return "stop", word
    return "word", _FIXED_KEYS.get(word) or stem(word)


def _diacritics(raw: str) -> str:
    """Return the diacritics of a word, sorted, so that "hoà" and "hòa" have the same."""
    return "".join(sorted(c for c in normalize("NFD", raw.lower()) if c == "đ" or category(c) == "Mn"))


def stem(word: str) -> str:
    """Return a word without English inflectional endings.

    >>> [stem(word) for word in ("policies", "policy", "requires", "requiring", "stopped", "employees", "pass")]
    ['polici', 'polici', 'requir', 'requir', 'stop', 'employe', 'pass']
    """
    if len(word) < 4 or not word.isascii() or word.endswith("ss"):
        return word
    for ending, replacement in _ENDINGS_BY_LETTER.get(word[-1], ()):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + replacement
            break
    if word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "y":
        return word[:-1] + "i"
    if len(word) > 3 and word[-1] == "e":
        return word[:-1]
    return word


_ENDINGS = (
    ("ational", "ate"), ("ization", "ize"), ("isation", "ise"), ("ations", "ate"), ("ation", "ate"), ("ements", "e"),
    ("ement", "e"), ("ments", "ment"), ("iness", "y"), ("ness", ""), ("ingly", ""), ("edly", ""), ("ically", "ic"),
    ("ally", "al"), ("iest", "y"), ("iers", "y"), ("ies", "y"), ("ied", "y"), ("ier", "y"), ("sses", "ss"),
    ("ings", ""), ("ing", ""), ("ers", "er"), ("ees", "ee"), ("ed", ""), ("ly", ""), ("us", "us"), ("is", "is"),
    ("es", "e"), ("s", ""),
)  # fmt: skip
_ENDINGS_BY_LETTER = {
    last: [row for row in _ENDINGS if row[0][-1] == last] for last in {ending[-1] for ending, _ in _ENDINGS}
}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_MONTHS = {
    name: f"@{number}"
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"),
        1,
    )
    for name in names.split()
}  # fmt: skip
_FIXED_KEYS = {word: f"#{number}" for number, word in enumerate(_ORDINALS, 1)} | {"one": "#1"}
_FIXED_KEYS |= {name: key for name, key in _MONTHS.items() if len(name) > 3 and name != "march"}
_KANA = re.compile(r"[\u3040-\u309f]+")
_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_STOPS = frozenset(
    """
    a an the this that these those of in on at by for with from to into onto as is are was were be been being am do
    does did doing have has had having will would shall should can could may might must i you he she it we they me
    him her us them my your his its our their who whom whose which what when where why how and or but nor so if then
    than because while although though after before until since during about over under between among through
    against up down out off again further once here there all any both each few more most other some such only own
    same too very just also not no s t re ve ll d m i'm i've i'll we're we've they're they've it's he's she's that's
    there's cannot according said say says yes
    """.split()  # noqa: SIM905  # words are read easier than a list
)
_VIETNAMESE_STOPS = frozenset(
    """
    là của và có được các những một với này đó khi đã sẽ về từ đến ở tại thì mà cũng vì nên nếu bị phải bởi như để rằng
    vào ra lên trên dưới sau trước giữa hoặc nhưng còn chỉ rất hơn nữa lại đều mọi mỗi đang thể cần việc cả gì nào tuy
    nhiên bạn tôi hãy
    """.split()  # noqa: SIM905  # words are read easier than a list
)
