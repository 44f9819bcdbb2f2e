"""Tokens of folded text, and the terms made of them: word stems, numbers by value, parts of dates, identifiers.

Scripts without spaces between words (Chinese, Japanese, Korean, Thai and similar) are parsed as pairs of characters.
Inverse document frequencies are in an immutable table, so that a score does not depend on its batch.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import takewhile
from types import MappingProxyType
from typing import Literal
from unicodedata import category, decimal, normalize

from msgspec import Struct, structs

from assay.text.normalisation import fold_in_place, fold_text, may_hold_other_script, normalise_nfc
from assay.text.number_words import MONTHS, ORDINALS
from assay.text.numbers import Date, Number, find_quantities
from assay.text.pattern_cache import compile_pattern
from assay.text.text_cache import cache_by_text

# Every repetition is possessive or followed by what it cannot consume, so that scanning is linear.
_TOKEN_CHUNK = compile_pattern(
    r"[^\W_]++(?![-_.,:/'%+#])|"  # most tokens: what follows them belongs to no token
    r"(?:[$€£¥₫](?=\d))?[^\W_]++(?>(?:(?:[-_]|(?<=\d)[.,:/](?=\d)|'(?=[^\W\d_]))[^\W_]++)*)(?:%|[+#]++(?![^\W_]))?"
)
_NON_WORD = compile_pattern(r"[\W_]+")


def tokenise_text(text: str) -> list[str]:
    """Return the words, numbers and identifiers of the folded text, in order.

    Identifiers (`err-429`, `cve-2024-1234`, `v2026-01`, `leave_policy`), numbers, money and dates stay whole;
    hyphenated words are split.

    >>> tokenise_text("Lỗi ERR-429: part-time pays $1.4M, i.e. 12% (31/12/2026)")
    ['loi', 'err-429', 'part', 'time', 'pays', '$1.4m', 'i', 'e', '12%', '31/12/2026']
    """
    return list(_tokenise(text))


@cache_by_text(maxsize=512, longest=4000)  # several questions are asked about a retrieved chunk
def _tokenise(text: str) -> Sequence[str]:
    folded = fold_text(text)
    chunks: list[str] = _TOKEN_CHUNK.findall(folded)
    if "-" not in folded:
        return chunks
    return [part for chunk in chunks for part in (_split_chunk(chunk) if "-" in chunk else (chunk,))]


@lru_cache(maxsize=4096)
def _split_chunk(chunk: str) -> Sequence[str]:
    """Return the tokens of a chunk with hyphens: its parts, or the whole chunk if it is an identifier."""
    return (chunk,) if _is_whole_token(chunk) else chunk.split("-")


@cache_by_text(maxsize=512, longest=4000)  # terms, facts and keywords are read from the same texts
def find_token_spans(text: str) -> Sequence[tuple[int, int]]:
    """Return the spans of the tokens of folded or flat text.

    >>> list(find_token_spans("part-time: $5"))
    [(0, 4), (5, 9), (11, 13)]
    """
    chunks = [match.span() for match in _TOKEN_CHUNK.finditer(text)]
    if "-" not in text:
        return tuple(chunks)
    spans: list[tuple[int, int]] = []
    for start, end in chunks:
        if "-" not in text[start:end]:
            spans.append((start, end))
            continue
        for part in _split_chunk(text[start:end]):
            spans.append((start, start + len(part)))
            start += len(part) + 1
    return tuple(spans)


def _is_whole_token(chunk: str) -> bool:
    """Whether a chunk with hyphens is one token: an identifier (letter first, with a digit), a range or a date."""
    digits = any(c.isdigit() for c in chunk)
    letters = any(c.isalpha() for c in chunk)
    return digits and (not letters or chunk[0].isalpha())


def remove_separators(text: str) -> str:
    """Return the letters and digits of the folded text.

    >>> remove_separators("S E-C\\u200bR_É T!")
    'secret'
    """
    return _NON_WORD.sub("", fold_text(text))


TermKind = Literal["word", "name", "number", "id", "stop"]


class Term(Struct, frozen=True):
    """One term with its span in the NFC text.

    `key`: its normal form, which is a folded stem, "#12" for a number, "@3" for a month, or an identifier.
    `diacritic_key`: the key with the diacritics that folding removed. `other_readings`: further readings of a number
    ("26.000"). `unit`: the unit of a number. The parts of a date are terms that share its span. A `name` is a
    capitalised word that is not the first word of the text.
    """

    kind: TermKind
    start: int
    end: int
    key: str
    diacritic_key: str = ""
    other_readings: tuple[str, ...] = ()
    unit: str = ""


class ParsedTerms(Struct, frozen=True):
    """The NFC text and its terms in order; `has_diacritics`: enough words have diacritics for "
    "these to be significant."""

    text: str
    items: list[Term]
    has_diacritics: bool


_MARKED_SHARE = 0.4  # share of words with diacritics from which a text counts as written with them, as Vietnamese is
_CAPITALISED_SHARE = 0.6  # share of capitalised words from which capitals are not significant
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_FOREIGN_DIGIT = compile_pattern(r"[^\D0-9]")


@cache
def _spaceless_character() -> re.Pattern[str]:
    return compile_pattern(f"[{_SPACELESS}]")


def _holds_spaceless(text: str) -> bool:
    """Return whether a text has a character of a script without spaces between words."""
    return may_hold_other_script(text) and _spaceless_character().search(text) is not None


@cache
def _run_pattern() -> re.Pattern[str]:
    return compile_pattern(rf"[{_SPACELESS}]+|[^{_SPACELESS}]+")


def parse_terms(text: str) -> ParsedTerms:
    """Return the terms of a text.

    >>> [(term.kind, term.key) for term in parse_terms("Ms Lan asked for 12 days after ERR-429").items][1:]
    [('name', 'lan'), ('word', 'ask'), ('stop', 'for'), ('number', '#12'), ('stop', 'after'), ('id', 'err-429')]
    """
    nfc_text = normalise_nfc(text)
    digits, spans, quantities = _find_tokens(nfc_text)
    items: list[Term] = []
    position = 0
    for quantity in quantities:
        first, position = position, _count_before(spans, position, quantity)
        items += _word_terms(digits, spans[first:position])
        position = _count_within(spans, position, quantity)
        items += _quantity_terms(quantity)
    items += _word_terms(digits, spans[position:])
    kinds = [term.kind for term in items]
    words = len(items) - kinds.count("number")
    if kinds.count("name") > _CAPITALISED_SHARE * words:
        items = [structs.replace(term, kind="word") if term.kind == "name" else term for term in items]
    elif items and kinds[0] == "name":
        items[0] = structs.replace(items[0], kind="word")
    return ParsedTerms(
        nfc_text,
        items,
        not nfc_text.isascii() and sum([term.diacritic_key != "" for term in items]) > _MARKED_SHARE * words,
    )


_Spans = Sequence[tuple[int, int]]


def _find_tokens(nfc_text: str) -> tuple[str, _Spans, list[Number | Date]]:
    """Return the text with ASCII digits, the spans of its tokens, and its quantities."""
    digits = nfc_text if nfc_text.isascii() else _FOREIGN_DIGIT.sub(lambda match: str(decimal(match[0])), nfc_text)
    plain = fold_in_place(digits)
    if _holds_spaceless(digits):
        return digits, list(_spaceless_spans(plain)), find_quantities(_spaceless_character().sub("|", digits))
    return digits, find_token_spans(plain), find_quantities(digits)


def _count_before(spans: _Spans, position: int, quantity: Number | Date) -> int:
    """Return the position of the first token, from `position` on, that does not end before a quantity."""
    while position < len(spans) and spans[position][1] <= quantity.start:
        position += 1
    return position


def _count_within(spans: _Spans, position: int, quantity: Number | Date) -> int:
    """Return the position of the first token, from `position` on, that begins after a quantity."""
    while position < len(spans) and spans[position][0] < quantity.end:
        position += 1
    return position


def _word_terms(text: str, spans: _Spans) -> list[Term]:
    """Return the terms of tokens that are no numbers."""
    classified = map(classify_word, [text[start:end] for start, end in spans])
    return [
        Term(kind, start, end, key, marked) for (start, end), (kind, key, marked) in zip(spans, classified, strict=True)
    ]


class TermKeys(Struct, frozen=True):
    """A term without its place in the text; what similarity and look-up need. The fields are those of `Term`, except
    that names are words."""

    kind: TermKind
    key: str
    diacritic_key: str = ""
    other_readings: tuple[str, ...] = ()
    unit: str = ""


@lru_cache(maxsize=65536)
def _word_keys(raw: str) -> TermKeys:
    kind, key, marked = classify_word(raw)
    return TermKeys("word" if kind == "name" else kind, key, marked)


def parse_term_keys(text: str) -> tuple[list[TermKeys], bool]:
    """Return the terms of a text without their places, and whether its diacritics are significant.

    Agrees with `parse_terms`, and takes half its time, because equal words share one record.

    >>> [term.key for term in parse_term_keys("Ms Lan asked for 12 days")[0]]
    ['ms', 'lan', 'ask', 'for', '#12']
    """
    nfc_text = normalise_nfc(text)
    digits, spans, quantities = _find_tokens(nfc_text)
    words = list(map(_word_keys, [digits[start:end] for start, end in spans]))
    items: list[TermKeys] = []
    position = 0
    for quantity in quantities:
        first, position = position, _count_before(spans, position, quantity)
        items += words[first:position]
        position = _count_within(spans, position, quantity)
        items += [
            TermKeys("number", term.key, "", term.other_readings, term.unit) for term in _quantity_terms(quantity)
        ]
    items += words[position:]
    if nfc_text.isascii():
        return items, False
    word_count = sum(term.kind != "number" for term in items)
    return items, sum(term.diacritic_key != "" for term in items) > _MARKED_SHARE * word_count


def spell_terms(items: Iterable[Term | TermKeys], marked: bool) -> list[str]:
    """Return the normal spelling of each term; `marked`: with diacritics.

    >>> spell_terms(parse_terms("12 days of leave").items, False)
    ['#12|day', 'of', 'leav']
    """
    return [
        _number_spelling(term) if term.kind == "number" else (marked and term.diacritic_key) or term.key
        for term in items
    ]


def _number_spelling(term: Term | TermKeys) -> str:
    key = term.other_readings[-1] if term.other_readings else term.key
    return f"{key}|{term.unit}" if term.unit else key


def iterate_index_keys(term: Term | TermKeys, marked: bool) -> Iterator[str]:
    """Yield the keys under which an index stores a term; `marked`: the indexed text is written with diacritics."""
    if term.kind == "number":
        for key in (term.key, *term.other_readings):
            yield key
            yield f"{key}|{term.unit}"
    else:
        yield term.key
        if marked:
            yield term.diacritic_key or f"{term.key}~"


def make_lookup_keys(term: Term | TermKeys, marked: bool) -> list[str]:
    """Return the keys to look up in an index; the term is present if any of them is.

    `marked`: this text and the indexed text are written with diacritics. Units of numbers must agree if both have one.
    """
    if term.kind != "number":
        return [term.diacritic_key or f"{term.key}~"] if marked else [term.key]
    keys = (term.key, *term.other_readings)
    return [f"{key}|{unit}" for key in keys for unit in (term.unit, "")] if term.unit else list(keys)


def collect_word_keys(text: str) -> set[str]:
    """Return the keys of the words of a text, without numbers and identifiers; cheaper than all its terms.

    >>> sorted(collect_word_keys("Asked for 12 days of leave"))
    ['ask', 'day', 'for', 'leav', 'of']
    """
    plain = fold_text(text)
    if _holds_spaceless(plain):
        return {_classify_flat_word(plain[start:end])[1] for start, end in _spaceless_spans(plain)}
    return {_classify_flat_word(word)[1] for word in set(_LETTERS.findall(plain))}


def _spaceless_spans(plain: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the tokens of a text that holds a script without spaces: there, pairs of characters."""
    for start, end in find_token_spans(plain):
        for run in _run_pattern().finditer(plain, start, end):
            first, last = run.span()
            if _spaceless_character().match(plain, first):
                yield from ((i, min(i + 2, last)) for i in range(first, max(last - 1, first + 1)))
            else:
                yield first, last


# ── quantities ───────────────────────────────────────────────────────────────────────────────────────────────────


def _quantity_terms(item: Number | Date) -> list[Term]:
    if isinstance(item, Number):
        keys = [f"#{value.normalize():f}" for value in item.readings]
        return [Term("number", item.start, item.end, keys[0], "", tuple(keys[1:]), item.unit)]
    days = _part_keys("#", [day for _, _, day in item.readings if day])
    months = _part_keys("@", [month for _, month, _ in item.readings])
    years = _part_keys("#", [year for year, _, _ in item.readings])
    return [
        Term("number", item.start, item.end, keys[0], "", tuple(keys[1:])) for keys in (days, months, years) if keys
    ]


def _part_keys(mark: str, values: list[int]) -> list[str]:
    return [f"{mark}{value}" for value in dict.fromkeys(values)]


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=65536)
def classify_word(raw: str) -> tuple[TermKind, str, str]:
    """Return the kind, the key and the key with diacritics of a token that is no number.

    >>> classify_word("Lan"), classify_word("phép")
    (('name', 'lan', ''), ('word', 'phep', 'phep~\u0301'))
    """
    word = fold_in_place(raw)
    kind, key = _classify_flat_word(word)
    marks = "" if raw.isascii() else _diacritics(raw)
    if marks and kind == "stop":
        kind = "word"
    if kind == "word":
        if marks and raw.lower() in _VIETNAMESE_STOPS:
            kind = "stop"
        elif len(raw) > 1 and raw[0].isupper():
            kind, key = "name", key if marks else _MONTHS.get(word, key)  # "Máy" is no month
    return kind, key, f"{key}~{marks}" if marks else ""


@lru_cache(maxsize=65536)
def _classify_flat_word(word: str) -> tuple[TermKind, str]:
    """Return the kind and the key of a flat token that is no number."""
    word = word.removesuffix("'s")
    if any(map(str.isdigit, word)) or "_" in word:
        return "id", word
    return ("stop", word) if _is_grammar(word) else ("word", _FIXED_KEYS.get(word) or stem_word(word))


def _is_grammar(word: str) -> bool:
    return word in _STOPS or word.endswith("n't") or (not word.isascii() and _KANA.fullmatch(word) is not None)


def is_stop_word(word: str) -> bool:
    """Return whether a folded word is one of grammar, such as an article, which says nothing by itself.

    >>> is_stop_word("the"), is_stop_word("ferry")
    (True, False)
    """
    return _is_grammar(word.removesuffix("'s")) and _classify_flat_word(word)[0] == "stop"


def _diacritics(raw: str) -> str:
    """Return the diacritics of a word, sorted, so that "hoà" and "hòa" have the same."""
    return "".join(sorted(c for c in normalize("NFD", raw.lower()) if c == "đ" or category(c) == "Mn"))


def stem_word(word: str) -> str:
    """Return a word without English inflectional endings.

    >>> [stem_word(word) for word in ("policies", "policy", "requires", "requiring", "stopped", "employees", "pass")]
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
_MONTHS = {name: f"@{number}" for number, month in enumerate(MONTHS, 1) for name in (month, month[:3])} | {"sept": "@9"}
_FIXED_KEYS = {word: f"#{number}" for number, word in enumerate(ORDINALS[:10], 1)} | {"one": "#1"}
_FIXED_KEYS |= {name: key for name, key in _MONTHS.items() if len(name) > 3 and name != "march"}
_KANA = compile_pattern(r"[\u3040-\u309f]+")
_LETTERS = compile_pattern(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_STOPS = frozenset(
    """
    a an the this that these those of in on at by for with from to into onto as is are was were be been being am do
    does did doing have has had having will would shall should can could may might must i you he she it we they me
    him her us them my your his its our their who whom whose which what when where why how and or but nor so if then
    than because while although though after before until since during about over under between among through
    against up down out off again further once here there all any both each few more most other some such only own
    same too very just also not no s t re ve ll d m i'm i've i'll we're we've they're they've it's he's she's that's
    there's cannot according said say says yes
    """.split()
)
_VIETNAMESE_STOPS = frozenset(
    """
    là của và có được các những một với này đó khi đã sẽ về từ đến ở tại thì mà cũng vì nên nếu bị phải bởi như để rằng
    vào ra lên trên dưới sau trước giữa hoặc nhưng còn chỉ rất hơn nữa lại đều mọi mỗi đang thể cần việc cả gì nào tuy
    nhiên bạn tôi hãy
    """.split()
)

_WRITTEN_PLAIN = frozenset("khi theo cho trong nhau".split())
"""Vietnamese words of grammar that are written without diacritics."""
_UNMARKED_STOPS = _WRITTEN_PLAIN | {fold_in_place(word) for word in _VIETNAMESE_STOPS}


def is_unmarked_stop(word: str, *, has_marks: bool) -> bool:
    """Return whether a word without diacritics is one of grammar in a Vietnamese text with or without diacritics.

    >>> is_unmarked_stop("va", has_marks=False), is_unmarked_stop("va", has_marks=True)
    (True, False)
    """
    return word in (_WRITTEN_PLAIN if has_marks else _UNMARKED_STOPS)


_FEWEST_TEXTS = 3  # texts from which frequencies are meaningful
_LEAST_WEIGHT = 0.2


class DocumentFrequencies:
    """An immutable table of document frequencies: in how many texts each word occurs. `digest` identifies it."""

    def __init__(self, documents: int, counts: Mapping[str, int]) -> None:
        self.documents = documents
        self.counts: Mapping[str, int] = MappingProxyType(dict(sorted(counts.items())))

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> DocumentFrequencies:
        """Return the table of document frequencies of the given texts.

        >>> idf = DocumentFrequencies.from_texts(["annual leave", "sick leave", "leave it", ""])
        >>> round(idf.idf_weight("leav"), 3), round(idf.idf_weight("unheard"), 3)
        (0.357, 1.204)
        """
        counts: Counter[str] = Counter()
        documents = 0
        for text in texts:
            documents += 1
            counts.update(collect_word_keys(text))
        return cls(documents, counts)

    def idf_weight(self, key: str) -> float:
        """Return log((N + 1) / (n + 0.5)), at least 0.2, for a word in n of N texts; 1 if N < 3.

        A word that occurs in no text has the weight of one that occurs in one text.
        """
        weight: float = self._weights.get(key, self._rarest_weight)
        return weight

    def idf_weights(self, keys: Iterable[str]) -> list[float]:
        """Return the `idf_weight` of each word."""
        weights, rarest = self._weights, self._rarest_weight
        return [weights.get(key, rarest) for key in keys]

    @cached_property
    def _weights(self) -> dict[str, float]:
        if self.documents < _FEWEST_TEXTS:
            return {}
        return {key: _idf_weight(self.documents, max(1, count)) for key, count in self.counts.items()}

    @cached_property
    def _rarest_weight(self) -> float:
        return 1.0 if self.documents < _FEWEST_TEXTS else _idf_weight(self.documents, 1)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the table."""
        lines = [str(self.documents), *(f"{key}\t{count}" for key, count in self.counts.items())]
        return "sha256:" + hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=4096)
def _idf_weight(documents: int, count: int) -> float:
    return max(_LEAST_WEIGHT, math.log((documents + 1) / (count + 0.5)))


def count_shared_letters(word: str, other_word: str) -> int:
    """Return how many letters two words have in common from the first one on.

    >>> count_shared_letters("approval", "approv")
    6
    """
    pairs = zip(word, other_word, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
