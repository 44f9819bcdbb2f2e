"""Facts by which a short text gives away a longer one: numbers, dates, codes and names of people and projects."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.number_words import MONTHS, WEEKDAYS
from assay.text.numbers import Date, Number
from assay.text.pattern_cache import compile_pattern
from assay.text.safety.disguised_text import replace_lookalikes
from assay.text.safety.stated_values import find_values, spell_values
from assay.text.text_cache import cache_by_text
from assay.text.tokens import remove_separators, tokenise_text

FactKind = Literal["number", "date", "code", "name"]

_LEAST_DIGITS = 3  # of a code
_LONG_DIGITS = 9  # digits in groups from which they are the number of an account or a telephone
_FEWEST_LETTERS = 5  # of a family name that tells who is meant without a first name
_NAME_DISTANCE = 2  # words between which two parts of a name may lie

_DIGIT_GROUPS = compile_pattern(r"(?<!\d)\d(?>(?:[ ()./-]{0,2}\d)+)")
_BEFORE_DIGIT = compile_pattern(r"(?<![^\s\d])[^\s\d]++(?=\d)")
_LETTER = compile_pattern(r"[^\W\d_]")
_EMAIL = compile_pattern(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+")
_WORD = compile_pattern(r"(?<!\w)[^\W\d_]{2,}+(?!\w)")
_ARTICLES = frozenset("der die das den dem des ein eine einen einem einer eines".split())
"""Before a noun, which German writes with a capital: "Das Gehalt" at the start of a sentence is no name."""
_GENERIC_NAMES = frozenset(
    """
    mr mrs ms dr prof frau herr ong ba anh chi the our your this that please note human resources chief executive
    officer data protection manager director board department team office policy handbook plan report group company
    gmbh inc ltd limited university committee council service services support customer staff employee employees
    europe european union united states kingdom north south east west new germany
    german english french vietnam hanoi london berlin paris march internal confidential document page section chapter
    version part table appendix annex north finance legal sales marketing engineering security privacy terms
    """.split()
).union(MONTHS, WEEKDAYS)


class Fact(Struct, frozen=True):
    """One fact of a text: its kind, its normal form, its unit (of a number), and how the text writes it."""

    kind: FactKind
    key: Hashable
    unit: str
    words: str


@cache_by_text(maxsize=256, longest=4000)  # names of chunks, answers and what cases allow are asked for again
def find_facts(text: str) -> Sequence[Fact]:
    """Return the numbers, dates and codes of a text; a number of two readings twice.

    >>> [(fact.kind, fact.key) for fact in find_facts("NX-7741 costs 84,500 euros")]
    [('number', Decimal('84500')), ('code', 'nx7741')]
    """
    return tuple(_iterate_facts(text))


def _iterate_facts(text: str) -> Iterator[Fact]:
    plain = normalise_nfc(replace_lookalikes(text))
    spelled = spell_values(plain)
    for stated in find_values(spelled):
        words = spelled[stated.start : stated.end]
        if isinstance(stated, Number):
            yield from (Fact("number", value, stated.unit, words) for value in stated.readings)
        elif isinstance(stated, Date):
            yield from (Fact("date", reading, "", words) for reading in stated.readings if all(reading))
    for token in tokenise_text(plain) if _may_have_code(plain) else ():
        if not token.isalpha() and _is_code(token):
            yield Fact("code", remove_separators(token), "", token)
    for match in _EMAIL.finditer(plain) if "@" in plain else ():
        yield Fact("code", remove_separators(match[0]), "", match[0])
    for match in _DIGIT_GROUPS.finditer(plain):
        digits = remove_separators(match[0])
        if len(digits) >= _LONG_DIGITS:
            yield Fact("code", digits, "", match[0])


def _may_have_code(text: str) -> bool:
    """Return whether a text may have a code: a letter before a digit within a word. Cheaper than reading its words."""
    return any(_LETTER.search(before) for before in _BEFORE_DIGIT.findall(text))


def _is_code(token: str) -> bool:
    digits = sum(map(str.isdigit, token))
    return digits >= _LEAST_DIGITS and token[0].isalpha() and digits < len(token)


class NamePair(Struct, frozen=True):
    """Two capitalised words that follow each other, such as a first name and a family name, folded."""

    first: str
    second: str


def find_names(text: str) -> Iterator[tuple[NamePair, bool]]:
    """Yield the pairs of capitalised words that lie next to each other or one word apart, and whether the second ends
    the name. Words that are part of titles, offices and dates are left out.

    >>> [pair for pair, ends in find_names("Yesterday Captain Ingrid Solheim met the Data Protection Officer.") if ends]
    [NamePair(first='ingrid', second='solheim'), NamePair(first='captain', second='solheim')]
    >>> list(find_names("Das Gehalt ist geheim."))
    []
    """
    run: list[str] = []
    words = list(_WORD.finditer(replace_lookalikes(text)))
    for position in [position for position, word in enumerate(words) if word[0][0].isupper()]:
        word = words[position]
        folded = fold_text(word[0])
        if folded not in _GENERIC_NAMES and (run or folded not in _ARTICLES):
            run.append(folded)
        is_last = position + 1 == len(words)
        if run and (is_last or not _continues_name(word, words[position + 1])):
            yield from _pair_words(run)
            run = []


def _continues_name(word: re.Match[str], following: re.Match[str]) -> bool:
    gap = following.string[word.end() : following.start()]
    return following[0][0].isupper() and len(gap) == 1 and gap in " -'’\n"


def _pair_words(run: list[str]) -> Iterator[tuple[NamePair, bool]]:
    last = len(run) - 1
    for first, second in pairwise(range(len(run))):
        yield NamePair(run[first], run[second]), second == last
    for first in range(len(run) - 2):
        yield NamePair(run[first], run[first + 2]), first + 2 == last


def find_name_words(text: str) -> tuple[list[str], set[str]]:
    """Return the folded words of a text in order, and those that stand in it with a capital and are long enough to
    tell who is meant.

    >>> find_name_words("Ask Solheim, Ann")
    (['ask', 'solheim', 'ann'], {'solheim'})
    """
    words = _WORD.findall(replace_lookalikes(text))
    folded_words = _fold_words(words)
    capitalised = {
        folded
        for word, folded in zip(words, folded_words, strict=True)
        if word[0].isupper() and len(folded) >= _FEWEST_LETTERS
    }
    return folded_words, capitalised


def _fold_words(words: Sequence[str]) -> list[str]:
    """Return words folded: together, which is quicker, unless one folds to none or several."""
    folded = fold_text(" ".join(words)).split(" ")
    return folded if len(folded) == len(words) else [fold_text(word) for word in words]


def find_lower_case_words(texts: Iterable[str]) -> set[str]:
    """Return the folded words that some text writes without a capital: they are no names.

    >>> sorted(find_lower_case_words(["Ask the Purser", "ask"]))
    ['ask', 'the']
    """
    words: set[str] = set()
    for text in texts:
        words.update(_WORD.findall(text))
    return set(_fold_words([word for word in words if word[0].islower()]))


NAME_WINDOW = _NAME_DISTANCE + 1
"""Words after the first part of a name among which the second part is looked for, in either order."""
