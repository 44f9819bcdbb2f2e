"""What a linear model sees of an answer and its question: short runs of words as numbers, and a few measures.

A run counts twice, as it is written and with what the question named replaced by one mark, so that "the leaflet does
not name a price" and "the log does not name a pilot" have runs in common, and once more if it stands in a sentence that
denies, so that a refusal weighs as much behind a long report of something else. The first words count by the kind of
question too: "no" answers whether, and not how many. Words become numbers of 64 bits and
runs are mixed from them, so that no table of words is needed and the runs of a text are a few additions of arrays.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.segmentation import normalise_answer

Keys = npt.NDArray[np.uint32]
_Numbers = npt.NDArray[np.uint64]
T = TypeVar("T")

UNSPACED = frozenset(("ja", "zh"))
"""Languages that put no spaces between words: every character counts as a word."""
KEEPS_DIACRITICS = frozenset(("vi",))
"""Languages in which a word without its diacritics is another word: "chưa" (not yet) and "chứa" (holds)."""
_MARKS = r"[?!:;.,\"¶()\[\]…-]"
_NUMBER = r"\d[\d.,:%]*"
_CHARACTER = r"\u3040-\u30ff\u3400-\u9fff"
_TOKEN = compile_pattern(rf"[^\W\d_]+|{_NUMBER}|{_MARKS}")
_ASCII_TOKEN = compile_pattern(r"[a-zA-Z]+|[0-9][0-9.,:%]*|[?!:;.,\"()\[\]-]")
"""What `_TOKEN` finds in ASCII, in half the time."""
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
    "en": compile_pattern(
        r"\b(?:(?P<truth>am|is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)"
        r"|how (?:many|much|long|old|far|often)|how|why|who|whom|whose|when|where|what|which)\b"
    ),
    "vi": compile_pattern(
        r"\b(?:(?P<truth>có phải|co phai|không|khong|chưa|chua)"
        r"|tại sao|tai sao|vì sao|vi sao|bao nhiêu|bao nhieu|bao lâu|bao lau|bao giờ|bao gio|khi nào|khi nao|mấy"
        r"|ở đâu|o dau|đâu|ai|như thế nào|nhu the nao|thế nào|the nao|làm sao|lam sao|cách nào|cach nao"
        r"|nào|nao|gì|gi)\b"
    ),
}
"""The words by which a question shows what is asked for: whether something is so, or why, who, how many."""
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF, _SHIFT = np.uint64(32), np.uint64(29)
_KEY_BITS = np.uint64(0xFFFFFFFF00000000)

MASK_MARK = "§"
GROUPS = ("words", "marked", "denying", "stems", "places", "question", "opening")
GROUP_LENGTHS = np.array((1.4, 1.0, 1.0, 0.5, 0.6, 0.5, 0.8))
"""How long the runs of a group are together as a vector, whatever their number."""


class WordingFeatures(Struct, frozen=True):
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


class Masks(Struct, frozen=True):
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


class _MarkedWords(Struct, frozen=True):
    """The words of an answer, with those of the question replaced by one mark, and how many are new: none without a
    question."""

    words: list[str]
    new_words: int = 0
    asked_words: int = 0
    new_numbers: int = 0
    covered: float = 0.0


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
        is_unmarked = marked.words is tokens
        tokens = mask_words(tokens, masks)
        marked = structs.replace(marked, words=tokens if is_unmarked else mask_words(marked.words, masks))
    denying = _list_denying(marked.words, denials, language)
    opening = list(_list_opening(marked.words, question, language)) if asked else []
    numbers, groups = mix_runs(_list_words(tokens, marked.words, denying, asked, opening, language))
    keys, first = _find_different(numbers)
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
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
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
    return set(_iterate_short_runs(words, language))


def _iterate_short_runs(words: Sequence[str], language: str) -> Iterator[str]:
    pairs = itertools.pairwise(words)
    if language in UNSPACED:
        triples = zip(words, words[1:], words[2:], strict=False)
        return itertools.chain(map("".join, pairs), map("".join, triples))
    return itertools.chain(words, map(" ".join, pairs))


def _list_denying(words: Sequence[str], denials: AbstractSet[str], language: str) -> list[Sequence[str]]:
    """Return the parts of a text that hold a run that denies; most texts hold none, and need not be split."""
    if denials.isdisjoint(_iterate_short_runs(words, language)):
        return []
    return [part for part in _split_parts(words) if not denials.isdisjoint(_iterate_short_runs(part, language))]


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


class RunWords(Struct, frozen=True):
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
    stems = [] if language in UNSPACED else list(filter(None, map(_STEMS_OF_WORDS.__getitem__, tokens)))
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


def _find_different(numbers: _Numbers) -> tuple[Keys, npt.NDArray[np.uint64]]:
    """Return the different keys of runs in ascending order, and the first place of each."""
    placed = (numbers & _KEY_BITS) | np.arange(len(numbers), dtype=np.uint64)
    placed.sort()  # numbers that end in their places: several times as fast as `argsort`
    keys = shorten_keys(placed)
    is_first = np.empty(len(keys), dtype=np.bool_)
    is_first[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return keys[is_first], placed[is_first] & ~_KEY_BITS


class _Remembered(dict[str, T]):
    """What a function says of each word, which it is asked once."""

    def __init__(self, describe: Callable[[str], T]) -> None:
        super().__init__()
        self._describe = describe

    def __missing__(self, word: str) -> T:
        described = self._describe(word)
        if len(self) < _MOST_REMEMBERED:
            self[word] = described
        return described


def _number_word(word: str) -> int:
    """Return a number for a word, the same everywhere."""
    return (zlib.crc32(word.encode("utf-8", "replace")) + 1) * 0x9E3779B1


def _cut_stem(token: str) -> str:
    """Return the beginning of a long word, "" for a short one; a masked word counts as a long one, so that a red list
    weighs as much as a yellow one."""
    return token[:_STEM] if len(token) > _STEM or token.startswith(MASK_MARK) else ""


def _find_stem(word: str) -> str:
    """Return the beginning by which a word of three letters or more agrees with others, "" for a shorter one."""
    return _find_short_stem(word) if len(word) > 2 else ""


def _find_short_stem(word: str) -> str:
    """Return the beginning by which a word of two letters or more agrees with others, "" for a letter or number."""
    if len(word) < 2 or not word[0].isalpha():
        return ""
    return word[:_STEM].rstrip("s") if len(word) > 3 else word


_MOST_REMEMBERED = 100_000
_WORD_NUMBERS = _Remembered(_number_word)
_STEMS_OF_WORDS = _Remembered(_cut_stem)
_STEMS, _SHORT_STEMS = _Remembered(_find_stem), _Remembered(_find_short_stem)
_GROUP_PLACES = np.arange(len(GROUPS))
_GROUP_NUMBERS = np.array([_WORD_NUMBERS[f"group {name}"] for name in GROUPS], dtype=np.uint64)


def _mix(state: _Numbers, words: _Numbers) -> _Numbers:
    mixed = state ^ words
    mixed *= _FIRST_FACTOR
    mixed ^= mixed >> _SHIFT
    mixed *= _SECOND_FACTOR
    return mixed


def _mark_asked(tokens: list[str], asked: Sequence[str], language: str) -> _MarkedWords:
    words = tokens
    numbers = set(itertools.compress(tokens, map(str.isdigit, _list_first_letters(tokens))))
    if numbers:
        marks = dict.fromkeys(numbers, _NEW_NUMBER) | dict.fromkeys(numbers.intersection(asked), _ASKED_NUMBER)
        words = [marks.get(token, token) for token in tokens]
    if not asked:
        return _MarkedWords(words)
    is_asked, covered = _find_asked(_fold_words(tokens), _fold_words(asked), language)
    asked_words = sum(is_asked)
    if asked_words:
        words = _join_asked(words, is_asked)
    new_words = sum(map(str.isalpha, _list_first_letters(words))) - words.count(_ASKED)
    return _MarkedWords(words, new_words, asked_words, words.count(_NEW_NUMBER), covered)


def _list_first_letters(words: Sequence[str]) -> list[str]:
    return [word[0] for word in words]


def _join_asked(words: Sequence[str], is_asked: Sequence[bool]) -> list[str]:
    """Return the words with one mark for each run of those that the question named."""
    joined: list[str] = []
    for word, named in zip(words, is_asked, strict=True):
        if not named:
            joined.append(word)
        elif not joined or joined[-1] != _ASKED:
            joined.append(_ASKED)
    return joined


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
    stem_of = _SHORT_STEMS if language == "vi" else _STEMS
    stems = set(map(stem_of.__getitem__, asked))
    stems.discard("")
    if not stems:
        return [False] * len(tokens), 0.0
    answered = list(map(stem_of.__getitem__, tokens))
    return list(map(stems.__contains__, answered)), len(stems.intersection(answered)) / len(stems)
