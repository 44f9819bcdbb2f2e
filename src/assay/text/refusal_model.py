"""Tell refusals in free wording with a linear model for each language, trained on committed sentences.

Phrases do not generalise: a product says "that one's locked in the vault". The model looks at words, at pairs of words
and at the classes of words in order ("the speaker", negation, "find", "information"), so that a new combination of
known meanings counts. `refusal_models/LANGUAGE.yaml` holds the classes, written by hand; `refusal_models/LANGUAGE.tsv`
the weights, written by `python -m benchmarks.train_refusal_model`. A score is a sum of weights, and
`refusals.explain_refusal` lists the heaviest.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

from assay.text.refusal_construction import ASKING_BACK, POLITE, ClassifiedWord, find_construction

RefusalKind = Literal["abstain", "permission_denied", "escalate", "clarify"]
KINDS: tuple[RefusalKind, ...] = ("abstain", "permission_denied", "escalate", "clarify")
HEADS = ("refusal", "partial", *KINDS)
"""What a model weighs: whether a text refuses, whether it answers one part and declines another, and each kind."""
_REFUSAL_HEAD, _PARTIAL_HEAD, _FIRST_KIND = range(3)  # columns of a row of weights, in the order of HEADS
NEVER_PARTIAL = -10.0
LONGEST_SCORED = 300
"""Characters of an answer up to which a model weighs it: those that it learned from are shorter."""
REFUSING_CLASSES = frozenset(("not", "lack", "private", "scope", "safety", "apology", "speaker", "ask", "allowed"))
"""Word classes without any of which a text is an answer, whatever its other words weigh: "Complaints go to Mia"."""
DENYING_CLASSES = frozenset(("not", "lack", "private", "safety", "apology"))
"""Word classes without any of which a text that states a number is an answer: "As far as I remember, it is 77"."""
_NUMBER_CLASS = "0"
_YES_NO, _OPEN, _REQUEST = "yes-no", "open", "request"
_TOKEN = re.compile(r"[a-z]+(?:/[a-z]+)?|\d[\d.,:%]*|[?!:\"¶]")
_SENTENCE_END = "¶"
_SENTENCE_MARKS = (". ", "! ", "? ", "; ")
_ASKED_LENGTH = 0.7
_SHORT_WORD = 2
_STEM = 5  # letters of longer words that count by themselves: "disclos" is learned from one form for the others
_WORD_LENGTH = 1.4  # of the words of a text as a vector; its classes have length one


class TextFeatures(NamedTuple):
    """What the model sees in a text: classes and words in order, their kind of question, and measures of its length.

    A feature is a word or class, or two or three of them in order with spaces between.
    """

    classes: set[str]
    words: set[str]
    asked: set[str]
    measures: list[tuple[str, float]]

    def weigh(self) -> dict[str, float]:
        """Return the value of every feature by name; classes, words and what is asked each have a fixed length."""
        values = dict(self.measures)
        values |= dict.fromkeys(self.asked, _ASKED_LENGTH / math.sqrt(max(1, len(self.asked))))
        class_names = [f"<{feature}>" for feature in self.classes]
        values |= dict.fromkeys(class_names, 1.0 / math.sqrt(max(1, len(class_names))))
        values |= dict.fromkeys(self.words, _WORD_LENGTH / math.sqrt(max(1, len(self.words))))
        return values


class _ClassTable(dict[str, str]):
    """The class of every token: `w` of a word without one, `0` of a number, "" of a word to ignore."""

    def __init__(self, class_by_word: Mapping[str, str], ignored: Iterable[str]) -> None:
        super().__init__(dict.fromkeys(ignored, "") | dict(class_by_word))

    def __missing__(self, token: str) -> str:
        if token[0].isdigit():
            return _NUMBER_CLASS
        return "w" if token[0].isalpha() else token


class FeatureWeight(NamedTuple):
    """A feature of a text and what it adds to the score."""

    feature: str
    weight: float


class RefusalScore(NamedTuple):
    """How strongly a text refuses, which kind of refusal it is most, whether the score decides, and how strongly the
    text answers one part and declines another."""

    score: float
    kind: RefusalKind
    verdict: Literal["refusal", "undecided", "answer"]
    partial_score: float = 0.0


class ModelThresholds(NamedTuple):
    """The scores from which a text refuses, is undecided, and answers one part and declines another."""

    refusal: float
    undecided: float
    partial: float


class FeatureReader:
    """Reads the features of a text, with the word classes of a language."""

    def __init__(
        self,
        class_by_word: Mapping[str, str],
        ignored: Iterable[str],
        pattern_by_question: Mapping[str, str],
        ambiguous: Iterable[str] = (),
    ) -> None:
        """`pattern_by_question`: patterns that find the kinds of questions, the first that matches counts. `ambiguous`:
        words with a class that also state things about the world."""
        self.class_by_word = class_by_word
        self.ambiguous = frozenset(ambiguous)
        self._question_kinds = [(kind, re.compile(pattern)) for kind, pattern in pattern_by_question.items()]
        self._ignored = frozenset(ignored)
        self._class_table = _ClassTable(class_by_word, self._ignored)
        self._longest_phrase = max((word.count(" ") + 1 for word in class_by_word), default=1)
        self._first_words = frozenset(word.split(" ")[0] for word in class_by_word if " " in word)

    def list_words(self) -> frozenset[str]:
        """Return the words that have a class, alone or in a phrase, or are ignored."""
        return self._ignored.union(*(phrase.split(" ") for phrase in self.class_by_word))

    def read_features(self, text: str, question: str = "") -> TextFeatures:
        """Return the features of an answer and its question, "" if unknown, both prepared by `normalise_answer`."""
        classes: set[str] = set()
        words: set[str] = set()
        token_count = novel_count = sentence_count = 0
        start = "^"
        for mark in _SENTENCE_MARKS:
            text = text.replace(mark, mark[0] + _SENTENCE_END)
        for sentence in text.split(_SENTENCE_END):
            tokens = _TOKEN.findall(sentence)
            if not tokens:
                continue
            sequence = self._classify_tokens(tokens)
            novel_count += sequence.count("w")
            token_count += len(tokens)
            sentence_count += 1
            names = [start, *_merge_unknown(sequence), "$"]
            triples = zip(names, names[1:], names[2:], strict=False)
            classes.update(names, map(" ".join, itertools.pairwise(names)), map(" ".join, triples))
            words.update([token[:_STEM] + "*" for token in tokens if len(token) > _STEM])
            tokens = [start, *tokens, "$"]
            words.update(tokens, map(" ".join, itertools.pairwise(tokens)))
            start = "|"
        measures = [
            ("#novel", 0.06 * min(novel_count, 10)),
            ("#length", 0.015 * min(token_count, 60)),
            ("#novel share", 0.3 * novel_count / max(1, token_count)),
            ("#sentences", 0.1 * min(sentence_count, 6)),
            ("#one sentence", 0.3 if sentence_count == 1 else 0.0),
            ("#bias", 1.0),
        ]
        asked: set[str] = set()
        if question:
            asked, compared = self._compare_question(classes, words, question)
            measures += compared
        return TextFeatures(classes, words, asked, measures)

    def _compare_question(
        self, classes: set[str], words: set[str], question: str
    ) -> tuple[set[str], list[tuple[str, float]]]:
        """Return the classes of the answer by kind of question, and how much of the answer is not in the question."""
        kind = next((kind for kind, pattern in self._question_kinds if pattern.search(question)), _REQUEST)
        kinds = (kind,) if kind == _YES_NO else (_OPEN, kind)
        asked_words = set(_TOKEN.findall(question))
        asked_words |= {word.rstrip("s") for word in asked_words}
        new_words = old_words = new_numbers = 0
        for word in words:
            if " " in word or word[-1] == "*" or word in self.class_by_word:
                continue
            is_old = word in asked_words or word.rstrip("s") in asked_words
            if word[0].isdigit():
                new_numbers += not is_old
            elif word[0].isalpha() and len(word) > _SHORT_WORD:
                old_words += is_old
                new_words += not is_old
        asked = itertools.product(kinds, (name for name in classes if " " not in name))
        return {f"{kind} <{name}>" for kind, name in asked}, [
            *((f"#{kind} question", 0.2) for kind in kinds),
            ("#words not asked for", 0.06 * min(new_words, 10)),
            ("#words of the question", 0.1 * min(old_words, 5)),
            ("#share not asked for", 0.5 * new_words / max(1, new_words + old_words)),
            ("#number not asked for", 0.3 if new_numbers else 0.0),
        ]

    def classify_words(self, text: str) -> list[ClassifiedWord]:
        """Return the words and phrases of a prepared text that are not ignored, with their classes."""
        tokens = _TOKEN.findall(text)
        words: list[ClassifiedWord] = []
        position = 0
        while position < len(tokens):
            token = tokens[position]
            name, length = self._find_phrase(tokens, position) if token in self._first_words else (None, 1)
            words.append(
                ClassifiedWord(
                    " ".join(tokens[position : position + length]), self._class_table[token] if name is None else name
                )
            )
            position += length
        return [word for word in words if word.name]

    def _classify_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Return the class of each word or phrase that is not ignored."""
        if self._first_words.isdisjoint(tokens):
            return [name for name in map(self._class_table.__getitem__, tokens) if name]
        sequence: list[str] = []
        position = 0
        while position < len(tokens):
            token = tokens[position]
            name, length = self._find_phrase(tokens, position) if token in self._first_words else (None, 1)
            sequence.append(self._class_table[token] if name is None else name)
            position += length
        return [name for name in sequence if name]

    def _find_phrase(self, tokens: Sequence[str], position: int) -> tuple[str | None, int]:
        """Return the class and the number of words of the longest phrase from a position on."""
        for length in range(min(self._longest_phrase, len(tokens) - position), 1, -1):
            name = self.class_by_word.get(" ".join(tokens[position : position + length]))
            if name is not None:
                return name, length
        return None, 1


def is_answer_by_classes(classes: Collection[str], *, is_instruction: bool = False) -> bool:
    """Whether a text holds nothing by which it could refuse, whatever its words weigh; an instruction asks nothing."""
    needed = DENYING_CLASSES if _NUMBER_CLASS in classes else REFUSING_CLASSES
    return (needed - {"ask"} if is_instruction else needed).isdisjoint(classes)


_MAIL_ADDRESS = re.compile(r"(?<!\S)[^\s@]{1,64}@[^\s@]{1,255}")
_CERTAIN = (
    1.2  # score from which a text needs no construction of a refusal: so much weight is hardly ever a statement's
)


def is_instruction(text: str) -> bool:
    """Return whether a prepared English text tells what to do, and asks nothing back.

    >>> is_instruction("please bring your passport."), is_instruction("please tell me your booking.")
    (True, False)
    """
    verbs = POLITE.findall(text)
    return bool(verbs) and "?" not in text and "be more" not in text and ASKING_BACK.isdisjoint(verbs)


def _merge_unknown(sequence: Sequence[str]) -> list[str]:
    previous = ["", *sequence]
    return [name for name, before in zip(sequence, previous, strict=False) if name != "w" or before != "w"]


class _WeightRows:
    """The weights of each feature by its name, in the order of `HEADS`.

    A row is parsed when a text holds its feature: few texts hold more than a hundred of the eight thousand, and parsing
    all of them takes longer than scoring a small run.
    """

    def __init__(self, text_by_feature: Mapping[str, str]) -> None:
        """`text_by_feature`: numbers between tabs; an empty one is 0."""
        self.text_by_feature = text_by_feature
        self._rows: dict[str, list[float]] = {}
        self.text_by_class = {name[1:-1]: text for name, text in text_by_feature.items() if name[0] == "<"}

    def __contains__(self, feature: str) -> bool:
        return feature in self.text_by_feature

    def read_row(self, feature: str) -> list[float]:
        """Return the weights of a feature. Raises KeyError for one that the model does not know."""
        row = self._rows.get(feature)
        if row is None:
            row = self._rows[feature] = _parse_numbers(self.text_by_feature[feature])
        return row

    def find_weight(self, feature: str, head: int) -> float:
        """Return what a feature weighs for a head; 0 for one that the model does not know."""
        return self.read_row(feature)[head] if feature in self else 0.0


def _parse_numbers(text: str) -> list[float]:
    return [float(number) if number else 0.0 for number in text.split("\t")]


_HEAD_BITS = 32
_HALF_HEAD = 1 << (_HEAD_BITS - 1)


class _Hundredths(dict[str, int]):
    """The weights of two heads in hundredths, by features that the model knows; each is parsed on its first look-up.

    Weights have two decimals, and whole hundredths are added: fast, and the same in whatever order a set yields them.
    Those of both heads are the halves of one number, so that a feature is looked up once.
    """

    def __init__(self, text_by_feature: Mapping[str, str]) -> None:
        super().__init__()
        self._text_by_feature = text_by_feature

    def __missing__(self, feature: str) -> int:
        row = _parse_numbers(self._text_by_feature[feature])
        both = round(row[_REFUSAL_HEAD] * 100) + (round(row[_PARTIAL_HEAD] * 100) << _HEAD_BITS)
        self[feature] = both
        return both

    def add_up(self, features: Collection[str]) -> tuple[int, int]:
        """Return, for each head, the sum of what the known ones of the features weigh."""
        both = sum(map(self.__getitem__, self._text_by_feature.keys() & features))
        partial = (both + _HALF_HEAD) >> _HEAD_BITS
        return both - (partial << _HEAD_BITS), partial


class _HeadWeights:
    """The weights of two heads, by the groups of features that they belong to."""

    def __init__(self, rows: _WeightRows) -> None:
        self._rows = rows
        self._of_classes = _Hundredths(rows.text_by_class)
        self._of_others = _Hundredths(rows.text_by_feature)

    def score(self, features: TextFeatures) -> tuple[float, float]:
        """Return, for each head, the sum of what the features weigh; classes, words and what is asked each have a fixed
        length."""
        refusal, partial = (
            math.fsum([self._rows.find_weight(name, head) * value for name, value in features.measures])
            for head in (_REFUSAL_HEAD, _PARTIAL_HEAD)
        )
        groups = (
            (1.0, features.classes, self._of_classes),
            (_WORD_LENGTH, features.words, self._of_others),
            (_ASKED_LENGTH, features.asked, self._of_others),
        )
        for length, group, weights in groups:
            if group:
                of_refusal, of_partial = weights.add_up(group)
                scale = 100 * math.sqrt(len(group))
                refusal += length * of_refusal / scale
                partial += length * of_partial / scale
        return refusal, partial


class RefusalModel:
    """The weights of one language, and the scores from which a text refuses or is undecided."""

    def __init__(
        self, language: str, reader: FeatureReader, weights: Mapping[str, str], thresholds: ModelThresholds
    ) -> None:
        """`weights`: for each feature the numbers in the order of `HEADS`, between tabs."""
        self.language, self.reader, self.thresholds = language, reader, thresholds
        self._rows = _WeightRows(weights)
        self._weights = _HeadWeights(self._rows)
        self.known_words = frozenset(weights) | reader.list_words()
        self._known_bytes = frozenset(word.encode() for word in self.known_words if word.isascii() and word.isalpha())

    def count_known(self, words: AbstractSet[bytes]) -> int:
        """Return how many of the words, runs of lower letters, the model knows."""
        return len(words & self._known_bytes)

    def score_text(self, text: str, question: str = "") -> RefusalScore:
        """Return how strongly an answer to a question refuses; both are prepared by `normalise_answer`."""
        if "@" in text:
            text = _MAIL_ADDRESS.sub(" ", text)  # "lost@…" does not say that anything is lost
        features = self.reader.read_features(text, question)
        score, partial_score = self._weights.score(features)
        instructs = self.language == "en" and is_instruction(text)
        if is_answer_by_classes(features.classes, is_instruction=instructs):
            return RefusalScore(score, "abstain", "answer", NEVER_PARTIAL)
        if score < self.thresholds.undecided:
            return RefusalScore(score, "abstain", "answer", partial_score)
        kind = self._find_kind(features)
        return RefusalScore(score, kind, self._judge(score, kind, text, question), partial_score)

    def _judge(
        self, score: float, kind: RefusalKind, text: str, question: str
    ) -> Literal["refusal", "undecided", "answer"]:
        """Return what a score above the undecided one means: a refusal only if the text is built like one."""
        refuses = score >= self.thresholds.refusal
        if score >= _CERTAIN:
            return "refusal" if refuses else "undecided"
        words, asked = self.reader.classify_words(text), frozenset(_TOKEN.findall(question))
        construction = find_construction(words, kind, text, asked, self.reader.ambiguous)
        if construction == "none":
            return "answer"
        return "refusal" if refuses and construction == "refusing" else "undecided"

    def _find_kind(self, features: TextFeatures) -> RefusalKind:
        known = [
            (value, self._rows.read_row(name)[_FIRST_KIND:])
            for name, value in features.weigh().items()
            if name in self._rows
        ]
        totals = [math.fsum(value * weights[index] for value, weights in known) for index in range(len(KINDS))]
        return KINDS[totals.index(max(totals))]

    def list_contributions(self, text: str, question: str = "", *, of_partial: bool = False) -> list[FeatureWeight]:
        """Return what each known feature of a prepared answer adds to its score, the strongest first.

        `of_partial`: of the score by which it answers one part and declines another, not of that by which it refuses.
        """
        head = _PARTIAL_HEAD if of_partial else _REFUSAL_HEAD
        values = self.reader.read_features(text, question).weigh()
        contributions = [
            FeatureWeight(name, self._rows.find_weight(name, head) * value)
            for name, value in values.items()
            if name in self._rows
        ]
        return sorted(contributions, key=lambda item: (-abs(item.weight), item.feature))


def parse_weights(content: str, language: str, reader: FeatureReader) -> RefusalModel:
    """Return the model that a file of weights describes: its thresholds, the names of the columns, and the features."""
    lines = content.splitlines()
    thresholds = ModelThresholds(*(float(line.split("\t")[1]) for line in lines[: len(ModelThresholds._fields)]))
    weights: dict[str, str] = {}
    for row in lines[len(ModelThresholds._fields) + 1 :]:
        feature, _, numbers = row.partition("\t")
        weights[feature] = numbers
    return RefusalModel(language, reader, weights, thresholds)
