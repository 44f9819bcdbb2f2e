"""Which lists of patterns a text can match at all, told from its words, each of which is looked up once.

Searching a clause for twenty lists of words takes twenty searches, nearly all of them in vain. Here the word that a
match of each alternative must begin with is derived from the pattern (`find_first_words`), and one look-up of each word
of the clause says for which lists a search is worth its time. The search itself decides.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce

from msgspec import Struct

from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.word_runs import split_words_and_underscores

_IN_WORD = LatePattern(r"(?:[a-z0-9]|\\w|\[[a-z0-9]+\]|\((?:\?:)?[a-z0-9|]*\))[?*+]?(?![?*+{])", re.ASCII)
"""A part of a pattern that stays within a word: a letter, a class or a group of letters, with its quantifier."""
_FINITE = LatePattern(r"(?:\[([a-z0-9]+)\]|([a-z0-9])|\((?:\?:)?([a-z0-9|]*)\))(\??)(?![?*+{])")
"""A part of a word that stands for a few endings of it: a letter, a class or a group, which may be optional."""
_AROUND = ("(?=", "(?!", "(?<=", "(?<!")
_QUANTIFIERS = ("?", "*", "+", "{")
_MOST_FIRST_WORDS = 400  # of one list: more are not worth deriving
_MOST_SPELLINGS = 50  # of a word
_MOST_KEPT = 20_000  # words whose lists are kept


def find_first_words(pattern: str) -> list[str] | None:
    """Return patterns of which one matches, as a whole, the first word of any match that begins at the edge of a word;
    None if the pattern does not tell.

    >>> find_first_words("documents?|(?:happy|glad) to|no(?=,)")
    ['document', 'documents', 'happy', 'glad', 'no']
    >>> find_first_words(", the") is None
    True
    """
    first_words: list[str] = []
    for branch in _split_branches(pattern):
        for start in _expand_start(branch, 0):
            word = None if start is None else _read_first_word(start)
            if not word or len(first_words) >= _MOST_FIRST_WORDS:
                return None
            first_words.append(word)
    spelt_out = [spelling for word in dict.fromkeys(first_words) for spelling in _spell_out(word)]
    return list(dict.fromkeys(spelt_out))


def _spell_out(word: str) -> list[str]:
    """Return the words that a pattern of one word stands for; the pattern itself if it stands for any number of them.

    >>> _spell_out("est[ao]s?"), _spell_out(r"text\\w*")
    (['esta', 'estas', 'esto', 'estos'], ['text\\\\w*'])
    """
    words = [""]
    position = 0
    while position < len(word):
        piece = _FINITE.match(word, position)
        if piece is None:
            return [word]
        position = piece.end()
        letters, letter, alternatives, quantifier = piece.groups()
        endings = list(letters or letter) if alternatives is None else alternatives.split("|")
        if quantifier:
            endings.insert(0, "")
        if len(words) * len(endings) > _MOST_SPELLINGS:
            return [word]
        words = [beginning + ending for beginning in words for ending in endings]
    return words


class _Group(Struct, frozen=True):
    """A group at the beginning of a pattern: what is in it, its quantifier, and what follows."""

    opening: str
    inside: str
    quantifier: str
    rest: str


def _expand_start(branch: str, depth: int) -> Iterator[str | None]:
    """Yield branches that begin with no group and match whatever `branch` matches; None for what does not tell."""
    if depth > 8:
        yield None
        return
    branch = branch.removeprefix("^")
    if not branch.startswith("("):
        yield branch
        return
    group = _read_group(branch)
    if group is None:
        yield None
        return
    if group.opening in _AROUND:
        yield from _expand_start(group.rest, depth + 1)
        return
    repeats = group.quantifier not in ("", "?")
    for inner in _split_branches(group.inside):
        yield from _expand_start(inner + ("(?: )?" if repeats else "") + group.rest, depth + 1)
    if group.quantifier not in ("", "+"):
        yield from _expand_start(group.rest, depth + 1)


def _read_first_word(branch: str) -> str | None:
    """Return the pattern of the word that a branch begins with; None or "" if it does not tell."""
    word = ""
    while branch:
        around = next((kind for kind in _AROUND if branch.startswith(kind)), None)
        if around is not None:
            group = _read_group(branch)
            if group is None:
                return None
            branch = group.rest
            continue
        piece = _IN_WORD.match(branch)
        if piece is not None:
            word += piece[0]
            branch = branch[piece.end() :]
        elif branch[0] in " ,;:'-" and not branch.startswith(_QUANTIFIERS, 1):
            return word  # the word ends here
        else:
            return word and word + r"\w*"
    return word


def _iterate_structure(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Yield place, character and depth of the parentheses and bars outside classes; a parenthesis counts as inside."""
    depth, position, in_class = 0, 0, False
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            position += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char == "(":
            depth += 1
            yield position, char, depth
        elif char in "|)":
            yield position, char, depth
            depth -= char == ")"
        position += 1


def _split_branches(pattern: str) -> list[str]:
    """Split a pattern at the bars that are in no group or class."""
    branches, start = [], 0
    for position, char, depth in _iterate_structure(pattern):
        if char == "|" and depth == 0:
            branches.append(pattern[start:position])
            start = position + 1
    return [*branches, pattern[start:]]


def _read_group(text: str) -> _Group | None:
    """Return the group that a text begins with; None for kinds that are not read."""
    opening = next((kind for kind in (*_AROUND, "(?:") if text.startswith(kind)), "(")
    if opening == "(" and text.startswith("(?"):
        return None
    closing = (place for place, char, depth in _iterate_structure(text) if char == ")" and depth == 1)
    position = next(closing, None)
    if position is None:
        return None
    rest = text[position + 1 :]
    quantifier = rest[:1] if rest.startswith(_QUANTIFIERS) else ""
    if quantifier == "{":
        quantifier, rest = "*", rest[rest.find("}") + 1 :]
    else:
        rest = rest[len(quantifier) :]
    return _Group(opening, text[len(opening) : position], quantifier, rest)


class _KeptMarks(dict[str, int]):
    """The marks of the words seen so far, found by a function when a word is first looked up."""

    def __init__(self, mark_word: Callable[[str], int]) -> None:
        super().__init__()
        self._mark_word = mark_word

    def __missing__(self, word: str) -> int:
        marks = self._mark_word(word)
        if len(self) < _MOST_KEPT:
            self[word] = marks
        return marks


class WordMarks:
    """Tells which named lists a text can match, as the bits of a number; a bit that is not set excludes its list.

    >>> marks = WordMarks({"documents": ["document", "documents", "text"], "thanks": ["thank"]})
    >>> [marks.mark(text) for text in ("the documents say", "text, thank me", "12 days")]
    [1, 3, 0]
    """

    def __init__(self, first_words_by_name: Mapping[str, Sequence[str] | None]) -> None:
        """`first_words_by_name`: what `find_first_words` returns for the pattern of each list, which is searched
        between the edges of words. A list of which words say nothing is never excluded."""
        self.bits = defaultdict(int, {name: 1 << number for number, name in enumerate(first_words_by_name)})
        self._always = 0
        self._literals: dict[str, int] = {}
        stems: dict[str, int] = {}
        for name, first_words in first_words_by_name.items():
            if first_words is None:
                self._always |= self.bits[name]
                continue
            for word in first_words:
                marks = self._literals if word.isalnum() else stems
                marks[word] = marks.get(word, 0) | self.bits[name]
        self._stems = [(compile_pattern(stem), mark) for stem, mark in stems.items()]
        self._any_stem = compile_pattern("|".join(f"(?:{stem})" for stem in stems)) if stems else None
        self._kept = _KeptMarks(self._mark_word)

    def mark(self, text: str) -> int:
        """Return the bits of the lists that the text can match."""
        return reduce(operator.or_, map(self._kept.__getitem__, split_words_and_underscores(text)), self._always)

    def _mark_word(self, word: str) -> int:
        marks = self._literals.get(word, 0)
        if self._any_stem is not None and self._any_stem.match(word):
            for stem, stem_marks in self._stems:
                if stem.fullmatch(word):
                    marks |= stem_marks
        return marks
