"""The phrases of some lexicons, indexed for looking them up in a text, and which lexicons a text is compared with.

English and Vietnamese lexicons are looked up in every text. The others are read when the first text needs them:
Japanese and Chinese for letters of another script, the other languages of Latin script for their frequent words.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.refusals.phrase_filter import PhraseFilter, count_other_script_letters, has_other_script
from assay.text.refusals.refusal_lexicon import PhraseRow, RefusalLexicon, RefusalPhrase, add_phrases
from assay.text.word_runs import split_tokens, split_words

_MOST_PHRASES = 1000  # phrases of a text that are examined
MOST_UNFILTERED_CHARACTERS = 150_000
"""Characters that are examined without a filter: building the filters takes as long as looking up phrases in them."""
WEAK_KINDS = frozenset(("contact", "doubt"))
"""Kinds of phrases that mean something only in a short text."""

LexiconGroup = Literal["common", "latin", "unspaced"]
COMMON_LANGUAGES = ("en", "vi")
UNSPACED_LANGUAGES = ("ja", "zh")
"""The shipped languages that are looked up in every text, and those of scripts without spaces."""


def list_group(group: LexiconGroup, shipped: Iterable[str]) -> list[str]:
    """Return the shipped languages of a group.

    >>> list_group("latin", ["de", "en", "ja"])
    ['de']
    """
    members: dict[LexiconGroup, Sequence[str]] = {"common": COMMON_LANGUAGES, "unspaced": UNSPACED_LANGUAGES}
    if group in members:
        return [language for language in members[group] if language in shipped]
    return [language for language in shipped if language not in (*COMMON_LANGUAGES, *UNSPACED_LANGUAGES)]


_FIRST_CHARACTERS = 300  # of a text that show its language
_FEWEST_MARKERS, _SHORT = 2, 100
_VIETNAMESE_LETTER = compile_pattern("[ăđơưĂĐƠƯ\u1ea0-\u1ef9]")
_ENGLISH_SPELLING = LatePattern(r"[\x00-\x7f\u2010-\u2027\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]*")
_EDGES = ".,;:!?\"'()[]*"


def may_be_other_latin(text: str, markers: frozenset[str], common_words: frozenset[str]) -> bool:
    """Return whether a text may be in a language of Latin script other than English and Vietnamese.

    Its first 300 characters hold two of the `markers`, frequent words of those languages (one in up to 100
    characters); or no frequent word of
    English and Vietnamese (`common_words`), no number and no letter that only Vietnamese has.

    >>> markers, common_words = frozenset(("der", "und")), frozenset(("the",))
    >>> [may_be_other_latin(text, markers, common_words) for text in ("Der Hund und ich", "The dog", "Keine Angabe")]
    [True, False, True]
    """
    start = text[:_FIRST_CHARACTERS].lower()
    if not start.isascii() and not _VIETNAMESE_LETTER.search(start):
        start = fold_text(start)  # "não" is a marker, written "nao"
    words = start.split()
    if len(markers.intersection(words)) >= (1 if len(text) <= _SHORT else _FEWEST_MARKERS):
        return True
    if not common_words.isdisjoint(words) or _VIETNAMESE_LETTER.search(start) or any(map(str.isdigit, start)):
        return False
    return any(map(str.isalpha, start)) and common_words.isdisjoint([word.strip(_EDGES) for word in words])


def is_spelt_like(language: str, text: str) -> bool:
    """Return whether a text is written with letters that only Vietnamese has, or, for English, with plain letters,
    punctuation and symbols only.

    >>> is_spelt_like("vi", "thắng con nào?"), is_spelt_like("en", "No sé"), is_spelt_like("en", "no clue!")
    (True, False, True)
    """
    if language == "vi":
        return not text.isascii() and _VIETNAMESE_LETTER.search(text) is not None
    return _ENGLISH_SPELLING.fullmatch(text) is not None


class _PhraseGroup(Struct, frozen=True):
    """What each of some phrases means, and their lengths, the longest first."""

    cues: Mapping[str, tuple[RefusalPhrase, ...]]
    lengths: tuple[int, ...]


class _Branch(Struct, frozen=True):
    """Of phrases that begin alike: what each next character leads to, and those that end here, with their cues."""

    following: dict[str, _Branch]
    ending: list[tuple[str, RefusalPhrase]]


class RefusalRules:
    """Some lexicons, indexed for looking up their phrases. Several languages may have the same phrase."""

    def __init__(self, lexicons: Mapping[str, RefusalLexicon]) -> None:
        self.lexicons = lexicons
        self.searched = [lexicon for lexicon in lexicons.values() if not lexicon.has_starts]
        """By pattern: scripts that the filter does not look into."""
        self.spaced = [lexicon for lexicon in lexicons.values() if lexicon.has_starts]
        self._rows_by_start: dict[str, list[tuple[RefusalLexicon, PhraseRow]]] = {}
        for lexicon in lexicons.values():
            for row in lexicon.rows:
                for start in row.starts:
                    self._rows_by_start.setdefault(start, []).append((lexicon, row))
        self._starts = frozenset(self._rows_by_start)
        self._phrases_by_start: dict[str, _PhraseGroup] = {}
        self._unfiltered_characters = MOST_UNFILTERED_CHARACTERS

    def is_filter_worthwhile(self, texts: Sequence[str]) -> bool:
        """Return whether the texts, with those asked about before, are long enough to pay for building the filters."""
        if self._unfiltered_characters > 0:
            self._unfiltered_characters -= sum(map(len, texts))
        return self._unfiltered_characters <= 0

    @cached_property
    def by_phrase(self) -> Mapping[str, tuple[RefusalPhrase, ...]]:
        """What each phrase means that is looked up by words."""
        return _merge_phrases(lexicon for lexicon in self.lexicons.values() if lexicon.has_starts)

    @cached_property
    def _unspaced(self) -> Mapping[str, tuple[RefusalPhrase, ...]]:
        return _merge_phrases(self.searched)

    @cached_property
    def _branches_by_first(self) -> Mapping[str, Mapping[str, _Branch]]:
        """By first character, then by the first two: what follows those in the phrases that begin with them."""
        branches: dict[str, dict[str, _Branch]] = {}
        for phrase, cues in self._unspaced.items():
            branch = branches.setdefault(phrase[:1], {}).setdefault(phrase[:2], _Branch({}, []))
            for character in phrase[2:]:
                branch = branch.following.setdefault(character, _Branch({}, []))
            branch.ending.extend((phrase, cue) for cue in cues)
        return branches

    @cached_property
    def strong_filter(self) -> PhraseFilter:
        """Marks texts that may hold a phrase which means something in a text of any length."""
        return self._make_filter(is_weak=False)

    @cached_property
    def weak_filter(self) -> PhraseFilter:
        """Marks texts that may hold a phrase which means something in a short text."""
        return self._make_filter(is_weak=True)

    def _make_filter(self, *, is_weak: bool) -> PhraseFilter:
        phrases = [
            phrase for phrase, cues in self.by_phrase.items() if all(cue.kind in WEAK_KINDS for cue in cues) == is_weak
        ]
        return PhraseFilter(phrases)

    def find_phrases(self, text: str) -> list[tuple[int, str, RefusalPhrase]]:
        """Return (start, phrase, cue) of the phrases in a folded text, by start, the longest first at each start."""
        hits: list[tuple[int, str, RefusalPhrase]] = []
        pairs = itertools.pairwise(split_tokens(text) if self._starts else ())
        for words in self._starts.intersection(map(" ".join, pairs)):
            group = self.list_phrases(words)
            start = text.find(words)
            while start >= 0:
                if not text[start - 1 : start].isalnum():
                    for length in group.lengths:
                        phrase = text[start : start + length]
                        if phrase in group.cues and not text[start + length : start + length + 1].isalnum():
                            hits += [(start, phrase, cue) for cue in group.cues[phrase]]
                start = text.find(words, start + 1)
        if self.searched and has_other_script(text):
            hits += self._find_unspaced_phrases(text)
        return sorted(hits, key=lambda hit: (hit[0], -len(hit[1])))[:_MOST_PHRASES]

    def list_phrases(self, start: str) -> _PhraseGroup:
        """Return the phrases that begin with two words. Their templates are expanded on the first look-up."""
        group = self._phrases_by_start.get(start)
        if group is None:
            cues: dict[str, tuple[RefusalPhrase, ...]] = {}
            for lexicon, row in self._rows_by_start.get(start, ()):
                add_phrases(cues, dict.fromkeys(lexicon.list_phrases(row, start), (lexicon.read_cue(row),)))
            lengths = tuple(sorted(set(map(len, cues)), reverse=True))
            group = self._phrases_by_start[start] = _PhraseGroup(cues, lengths)
        return group

    def _find_unspaced_phrases(self, text: str) -> Iterator[tuple[int, str, RefusalPhrase]]:
        """Yield the phrases of scripts that the filter does not look into, by their first two characters."""
        for character in self._branches_by_first.keys() & set(text):
            for pair, beginning in self._branches_by_first[character].items():
                start = text.find(pair)
                while start >= 0:
                    branch: _Branch | None = beginning
                    end = start + len(pair)
                    while branch is not None:
                        for phrase, cue in branch.ending:
                            yield start, phrase, cue
                        branch = branch.following.get(text[end : end + 1])
                        end += 1
                    start = text.find(pair, start + 1)


def find_lexicon(rules: Sequence[RefusalRules], text: str) -> RefusalLexicon | None:
    """Return the lexicon whose common words a folded text holds most of; None if none covers its script."""
    start = text[:2000]
    other_letters = count_other_script_letters(start)
    if other_letters == 0 or 2 * other_letters <= sum(map(str.isalpha, start)):
        words = split_words(start)
        latin = [lexicon for group in rules for lexicon in group.spaced]
        return max(latin, key=lambda lexicon: len(lexicon.common_words.intersection(words)), default=None)
    best, best_count = None, (0, 0)
    for lexicon in (lexicon for group in rules for lexicon in group.searched):
        letters = len(lexicon.patterns["letters"].findall(start))
        count = letters, sum(map(start.count, lexicon.common_words))
        if count > best_count:
            best, best_count = lexicon, count
    return best


def _merge_phrases(lexicons: Iterable[RefusalLexicon]) -> dict[str, tuple[RefusalPhrase, ...]]:
    phrases: dict[str, tuple[RefusalPhrase, ...]] = {}
    for lexicon in lexicons:
        add_phrases(phrases, lexicon.phrases)
    return phrases
