"""What a linear model sees of an answer and its question: short runs of words as numbers, and a few measures.

A run counts twice, as it is written and with what the question named replaced by one mark, so that "the leaflet does
not name a price" and "the log does not name a pilot" have runs in common, and once more if it stands in a sentence that
denies, so that a refusal weighs as much behind a long report of something else. The first words count by the kind of
question too: "no" answers whether, and not how many. Words become numbers of 64 bits and
runs are mixed from them, so that no table of words is needed and the runs of a text are a few additions of arrays.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.segmentation import normalise_answer

Keys = npt.NDArray[np.uint32]
_Numbers = npt.NDArray[np.uint64]

UNSPACED = frozenset(("ja", "zh"))
"""Languages that put no spaces between words: every character counts as a word."""
KEEPS_DIACRITICS = frozenset(("vi",))
"""Languages in which a word without its diacritics is another word: "chưa" (not yet) and "chứa" (holds)."""
_MARKS = r"[?!:;.,\"¶()\[\]…-]"
_NUMBER = r"\d[\d.,:%]*"
_CHARACTER = r"\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(rf"[^\W\d_]+|{_NUMBER}|{_MARKS}")
_UNSPACED_TOKEN = LatePattern(rf"[{_CHARACTER}]|[^\W\d_{_CHARACTER}]+|{_NUMBER}|{_MARKS}")
_SENTENCE_ENDS = ".!?¶"
_PART_ENDS = frozenset(".!?¶;:")
_MOST_TOKENS, _MOST_ASKED = 400, 200
LONGEST_RUN = 4
"""Words of a run, and characters where each is a word."""
_STEM = 5
_EDGE = 10  # words at the beginning, and at the end, that count by their place
_ASKED, _ASKED_NUMBER, _NEW_NUMBER = "Q", "#q", "#n"
_OPENING = 4  # words at the beginning that count by what kind of question they answer
_YES_OR_NO = "yes or no"
_ASKING = {
    "en": re.compile(
        r"\b(?:(?P<truth>am|is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)"
        r"|how (?:many|much|long|old|far|often)|how|why|who|whom|whose|when|where|what|which)\b"
    ),
    "vi": re.compile(
        r"\b(?:(?P<truth>có phải|co phai|không|khong|chưa|chua)"
        r"|tại sao|tai sao|vì sao|vi sao|bao nhiêu|bao nhieu|bao lâu|bao lau|bao giờ|bao gio|khi nào|khi nao|mấy"
        r"|ở đâu|o dau|đâu|ai|như thế nào|nhu the nao|thế nào|the nao|làm sao|lam sao|cách nào|cach nao"
        r"|nào|nao|gì|gi)\b"
    ),
}
"""The words by which a question shows what is asked for: whether something is so, or why, who, how many."""
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF, _SHIFT = np.uint64(32), np.uint64(29)

MASK_MARK = "§"
GROUPS = ("words", "marked", "denying", "stems", "places", "question", "opening")
GROUP_LENGTHS = np.array((1.4, 1.0, 1.0, 0.5, 0.6, 0.5, 0.8))
"""How long the runs of a group are together as a vector, whatever their number."""


class WordingFeatures(NamedTuple):
    """The different runs of a text, with the group that each belongs to, and its measures by name.

    `denies`: whether a part of the text holds a run that denies.
    """

    keys: Keys
    groups: npt.NDArray[np.intp]
    measures: tuple[tuple[str, float], ...]
    denies: bool

    def weigh_groups(self) -> npt.NDArray[np.float64]:
        """Return the value that each run of a group has, shape (n_groups,)."""
        counts = np.bincount(self.groups, minlength=len(GROUPS))
        values: npt.NDArray[np.float64] = GROUP_LENGTHS / np.sqrt(np.maximum(counts, 1))
        return values


class Masks(NamedTuple):
    """Words that say nothing about what an answer does, colours and names among them, and the mark put before them, by
    which no model knows them: a red list is read like a blue one, and like one of a colour that no model knows."""

    words: AbstractSet[str] = frozenset()
    mark: str = MASK_MARK


def mask_words(words: Sequence[str], masks: Masks) -> list[str]:
    """Return the words with a mark before each that is masked.

    >>> mask_words(["the", "red", "list"], Masks(frozenset(("red", "blue"))))
    ['the', '§red', 'list']
    """
    return [masks.mark + word if word in masks.words else word for word in words]


NO_MASKS = Masks()


class _MarkedWords(NamedTuple):
    """The words of an answer, with those of the question replaced by one mark, and how many are new."""

    words: list[str]
    new_words: int
    asked_words: int
    new_numbers: int
    covered: float


def prepare_wording(text: str, language: str) -> str:
    """Return an answer or a question as a model of a language reads it.

    >>> prepare_wording("Chưa có.", "vi"), prepare_wording("Où ça ?", "fr")
    ('chưa có.', 'ou ca ?')
    """
    return normalise_answer(text, keeps_diacritics=language in KEEPS_DIACRITICS)


def read_features(
    text: str,
    question: str,
    language: str,
    denials: AbstractSet[str] = frozenset(),
    cues: Sequence[str] = (),
    masks: Masks = NO_MASKS,
) -> WordingFeatures:
    """Return what a model sees of an answer and its question, "" if unknown; both prepared by `prepare_wording`.

    `language`: of the answer. `denials`: short runs (`list_short_runs`) that show that a part of the answer denies.
    `cues`: names of what else is known of the answer. `masks`: words that say nothing about what an answer does.

    >>> features = read_features("it is not on the map.", "where is the well?", "en", {"not on"}, ["quoted phrase"])
    >>> len(features.keys), features.measures[1], features.denies
    (132, ('length', 0.14), True)
    """
    tokens = split_tokens(text, language)[:_MOST_TOKENS]
    asked = split_tokens(question, language)[:_MOST_ASKED]
    marked = _mark_asked(tokens, asked, language)
    if not masks.words.isdisjoint(tokens):
        tokens = mask_words(tokens, masks)
        marked = marked._replace(words=mask_words(marked.words, masks))
    denying = [part for part in _split_parts(marked.words) if not denials.isdisjoint(list_short_runs(part, language))]
    opening = list(_list_opening(marked.words, question, language)) if asked else []
    numbers, groups = mix_runs(_list_words(tokens, marked.words, denying, asked, opening, language))
    keys, first = _find_different(shorten_keys(numbers))
    ends = sum(map(tokens.count, _SENTENCE_ENDS))
    measures = [
        ("bias", 1.0),
        ("length", 0.02 * min(60, len(tokens))),
        ("one sentence", 0.3 if ends <= 1 else 0.0),
        ("sentences", 0.1 * min(6, ends)),
        *((cue, 0.3) for cue in cues),
    ]
    if asked:
        measures += [
            ("asked", 0.3),
            ("words of the question that return", 0.6 * marked.covered),
            ("new number", 0.4 if marked.new_numbers else 0.0),
            ("share of new words", 0.5 * marked.new_words / max(1, marked.new_words + marked.asked_words)),
            ("asked words", 0.1 * min(5, marked.asked_words)),
            ("two questions", 0.3 if question.count("?") > 1 else 0.0),
        ]
    return WordingFeatures(keys, groups[first], tuple(measures), bool(denying))


def split_tokens(text: str, language: str) -> list[str]:
    """Return the words, numbers and marks of a prepared text.

    >>> split_tokens("not in 2021 (yet).", "en")
    ['not', 'in', '2021', '(', 'yet', ')', '.']
    """
    return (_UNSPACED_TOKEN.compiled if language in UNSPACED else _TOKEN).findall(text)


def mark_words(text: str, question: str, language: str) -> list[str]:
    """Return the words of a prepared answer with what its question named replaced by marks.

    >>> mark_words("the map has no wells.", "how many wells are there?", "en")
    ['the', 'map', 'has', 'no', 'Q', '.']
    """
    tokens = split_tokens(text, language)[:_MOST_TOKENS]
    return _mark_asked(tokens, split_tokens(question, language)[:_MOST_ASKED], language).words


def list_short_runs(words: Sequence[str], language: str) -> set[str]:
    """Return the runs of one or two words of a text whose asked words are marked; of a script without spaces those of
    two or three characters.

    >>> sorted(list_short_runs(["not", "in", "Q"], "en"))
    ['Q', 'in', 'in Q', 'not', 'not in']
    """
    pairs = itertools.pairwise(words)
    if language in UNSPACED:
        triples = zip(words, words[1:], words[2:], strict=False)
        return {*map("".join, pairs), *map("".join, triples)}
    return {*words, *map(" ".join, pairs)}


def _split_parts(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the sentences of a text, and what stands before colons and semicolons; single words and marks are none."""
    start = 0
    for end, word in enumerate(words, 1):
        if word in _PART_ENDS or end == len(words):
            if end - start > 1:
                yield words[start:end]
            start = end


def _list_opening(marked: Sequence[str], question: str, language: str) -> Iterator[str]:
    """Yield the first words of an answer, alone and in pairs, each with what the question asks for: whether something
    is so, "not" may answer, but not how many there are."""
    if language in _ASKING:
        asking = _ASKING[language].search(question)
        kind = "" if asking is None else _YES_OR_NO if asking["truth"] else fold_text(asking[0])
        first = ["^", *marked[:_OPENING]]
        for run in (*first, *map(" ".join, itertools.pairwise(first))):
            yield f"{kind} > {run}"


class RunWords(NamedTuple):
    """The words whose runs are read: those of the first groups in runs of several, those of the others alone."""

    in_runs: tuple[list[str], ...]
    alone: tuple[list[str], ...]


def _list_words(
    tokens: list[str],
    marked: list[str],
    denying: Sequence[Sequence[str]],
    asked: list[str],
    opening: list[str],
    language: str,
) -> RunWords:
    stems = [] if language in UNSPACED else [token[:_STEM] for token in tokens if len(token) > _STEM]
    places = [f"f {word}" for word in marked[:_EDGE]] + [f"l {word}" for word in marked[-_EDGE:]]
    openings = list(map(" ".join, (asked[:2], asked[:3]))) if asked else []
    framed = [["^", *words, "$"] for words in (tokens, marked, itertools.chain.from_iterable(denying))]
    if not denying:
        framed[-1] = []
    return RunWords(tuple(framed), (stems, places, asked + openings, opening))


def mix_runs(words: RunWords) -> tuple[_Numbers, npt.NDArray[np.intp]]:
    """Return the numbers of all runs of one word, of two, and so on, and the groups that they belong to."""
    lists = (*words.in_runs, *words.alone)
    lengths = [len(part) for part in lists]
    numbers_of_words = map(_WORD_NUMBERS.__getitem__, itertools.chain.from_iterable(lists))
    numbers = np.fromiter(numbers_of_words, np.uint64, sum(lengths))
    groups = np.repeat(_GROUP_PLACES[: len(lists)], lengths)
    end = sum(lengths[: len(words.in_runs)])
    state = _mix(_GROUP_NUMBERS[groups], numbers)
    runs, groups_of_runs = [state], [groups]
    state = state[:end]
    for length in range(1, min(LONGEST_RUN, end)):
        state = _mix(state[:-1], numbers[length:end])
        runs.append(state)
        groups_of_runs.append(groups[: len(state)])
    return np.concatenate(runs), np.concatenate(groups_of_runs)


def shorten_keys(numbers: _Numbers) -> Keys:
    """Return the keys of runs, under which a model keeps their weights."""
    return (numbers >> _HALF).astype(np.uint32)


def _find_different(keys: Keys) -> tuple[Keys, npt.NDArray[np.intp]]:
    """Return the different keys in ascending order, and the first place of each."""
    order = keys.argsort(kind="stable")
    ordered = keys[order]
    is_first = np.empty(len(keys), dtype=np.bool_)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first], order[is_first]


class _WordNumbers(dict[str, int]):
    """A number for every word, the same everywhere."""

    def __missing__(self, word: str) -> int:
        number = (zlib.crc32(word.encode("utf-8", "replace")) + 1) * 0x9E3779B1
        if len(self) < _MOST_REMEMBERED:
            self[word] = number
        return number


_MOST_REMEMBERED = 100_000
_WORD_NUMBERS = _WordNumbers()
_GROUP_PLACES = np.arange(len(GROUPS))
_GROUP_NUMBERS = np.array([_WORD_NUMBERS[f"group {name}"] for name in GROUPS], dtype=np.uint64)


def _mix(state: _Numbers, words: _Numbers) -> _Numbers:
    mixed = (state ^ words) * _FIRST_FACTOR
    return (mixed ^ (mixed >> _SHIFT)) * _SECOND_FACTOR


def _mark_asked(tokens: Sequence[str], asked: Sequence[str], language: str) -> _MarkedWords:
    is_asked, covered = _find_asked(_fold_words(tokens), _fold_words(asked), language)
    numbers = {word for word in asked if word[0].isdigit()}
    words: list[str] = []
    new_words = asked_words = new_numbers = 0
    for token, named in zip(tokens, is_asked, strict=True):
        if token[0].isdigit():
            words.append(_ASKED_NUMBER if token in numbers else _NEW_NUMBER)
            new_numbers += token not in numbers
        elif named:
            asked_words += 1
            if not words or words[-1] != _ASKED:
                words.append(_ASKED)
        else:
            new_words += token[0].isalpha()
            words.append(token)
    return _MarkedWords(words, new_words, asked_words, new_numbers, covered)


def _fold_words(words: Sequence[str]) -> Sequence[str]:
    """Return the words without diacritics: a question and its answer may be typed with and without."""
    joined = " ".join(words)
    folded = words if joined.isascii() else fold_text(joined).split(" ")
    return folded if len(folded) == len(words) else words


def _find_asked(tokens: Sequence[str], asked: Sequence[str], language: str) -> tuple[list[bool], float]:
    """Return which words of an answer its question holds, and the share of the question's words that the answer holds.

    Words agree by their beginnings, characters of a script without spaces in pairs.
    """
    if language in UNSPACED:
        pairs = {a + b for a, b in itertools.pairwise(asked) if a.isalpha() and b.isalpha()}
        is_asked = [False] * len(tokens)
        covered = set[str]()
        for index, pair in enumerate(map("".join, itertools.pairwise(tokens))):
            if pair in pairs:
                is_asked[index] = is_asked[index + 1] = True
                covered.add(pair)
        return is_asked, len(covered) / max(1, len(pairs))
    least = 2 if language == "vi" else 3
    stems = {_find_stem(word) for word in asked if len(word) >= least and word[0].isalpha()}
    stem_of = [_find_stem(token) if len(token) >= least and token[0].isalpha() else "" for token in tokens]
    return [stem in stems for stem in stem_of], len(stems.intersection(stem_of)) / max(1, len(stems))


def _find_stem(word: str) -> str:
    return word[:_STEM].rstrip("s") if len(word) > 3 else word
