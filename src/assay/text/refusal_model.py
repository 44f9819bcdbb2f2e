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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

RefusalKind = Literal["abstain", "permission_denied", "escalate", "clarify"]
KINDS: tuple[RefusalKind, ...] = ("abstain", "permission_denied", "escalate", "clarify")
LONGEST_SCORED = 300
"""Characters of an answer up to which a model weighs it: those that it learned from are shorter."""
REFUSING_CLASSES = frozenset(
    ("not", "lack", "private", "scope", "safety", "apology", "speaker", "hand_over", "ask", "allowed")
)
"""Word classes without any of which a text is an answer, whatever its other words weigh: "Complaints go to Mia"."""
_DENYING_CLASSES = frozenset(("not", "lack", "private", "safety", "apology"))
"""Word classes without any of which a text that states a number is an answer: "As far as I remember, it is 77"."""
_NUMBER_CLASS = "0"
_TOKEN = re.compile(r"[a-z]+(?:/[a-z]+)?|\d[\d.,:%]*|[?!:\"¶]")
_SENTENCE_END = re.compile("(?<=[.!?;]) | ?¶ ?")
_ASKED_LENGTH = 0.7
_SHORT_WORD = 2
_STEM = 5  # letters of longer words that count by themselves: "disclos" is learned from one form for the others
_WORD_LENGTH = 1.4  # of the words of a text as a vector; its classes have length one


Feature = str | tuple[str, ...]
"""A word or class, or two or three of them in order."""


class TextFeatures(NamedTuple):
    """What the model sees in a text: classes and words in order, their kind of question, and measures of its length."""

    classes: set[Feature]
    words: set[Feature]
    asked: set[Feature]
    measures: list[tuple[str, float]]

    def weigh(self) -> dict[str, float]:
        """Return the value of every feature by name; classes, words and what is asked each have a fixed length."""
        values = dict(self.measures)
        values |= dict.fromkeys(map(_name_feature, self.asked), _ASKED_LENGTH / math.sqrt(max(1, len(self.asked))))
        class_names = [f"<{_name_feature(feature)}>" for feature in self.classes]
        values |= dict.fromkeys(class_names, 1.0 / math.sqrt(max(1, len(class_names))))
        values |= dict.fromkeys(map(_name_feature, self.words), _WORD_LENGTH / math.sqrt(max(1, len(self.words))))
        return values


def _name_feature(feature: Feature) -> str:
    return feature if isinstance(feature, str) else " ".join(feature)


def _parse_feature(name: str) -> Feature:
    parts = tuple(name.split(" "))
    return parts if len(parts) > 1 else name


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
    """How strongly a text refuses, which kind of refusal it is most, and whether the score decides."""

    score: float
    kind: RefusalKind
    verdict: Literal["refusal", "undecided", "answer"]


class FeatureReader:
    """Reads the features of a text, with the word classes of a language."""

    def __init__(self, class_by_word: Mapping[str, str], ignored: Iterable[str], yes_no_question: str) -> None:
        """`yes_no_question`: a pattern that finds a question which "yes" or "no" answers."""
        self.class_by_word = class_by_word
        self._yes_no_question = re.compile(yes_no_question)
        self._class_table = _ClassTable(class_by_word, ignored)
        self._longest_phrase = max((word.count(" ") + 1 for word in class_by_word), default=1)
        self._first_words = frozenset(word.split(" ")[0] for word in class_by_word if " " in word)

    def read_features(self, text: str, question: str = "") -> TextFeatures:
        """Return the features of an answer and its question, "" if unknown, both prepared by `normalise_answer`."""
        classes: set[Feature] = set()
        words: set[Feature] = set()
        token_count = novel_count = sentence_count = 0
        start = "^"
        for sentence in _SENTENCE_END.split(text):
            tokens = _TOKEN.findall(sentence)
            if not tokens:
                continue
            sequence = self._classify_tokens(tokens)
            novel_count += sequence.count("w")
            token_count += len(tokens)
            sentence_count += 1
            names = [start, *_merge_unknown(sequence), "$"]
            classes.update(names, itertools.pairwise(names), zip(names, names[1:], names[2:], strict=False))
            words.update([token[:_STEM] + "*" for token in tokens if len(token) > _STEM])
            tokens = [start, *tokens, "$"]
            words.update(tokens, itertools.pairwise(tokens))
            start = "|"
        measures = [
            ("#novel", 0.06 * min(novel_count, 10)),
            ("#length", 0.015 * min(token_count, 60)),
            ("#novel share", 0.3 * novel_count / max(1, token_count)),
            ("#sentences", 0.1 * min(sentence_count, 6)),
            ("#one sentence", 0.3 if sentence_count == 1 else 0.0),
            ("#bias", 1.0),
        ]
        asked: set[Feature] = set()
        if question:
            asked, compared = self._compare_question(classes, words, question)
            measures += compared
        return TextFeatures(classes, words, asked, measures)

    def _compare_question(
        self, classes: set[Feature], words: set[Feature], question: str
    ) -> tuple[set[Feature], list[tuple[str, float]]]:
        """Return the classes of the answer by kind of question, and how much of the answer is not in the question."""
        kind = "yes-no" if self._yes_no_question.search(question) else "open"
        asked_words = set(_TOKEN.findall(question))
        asked_words |= {word.rstrip("s") for word in asked_words}
        new_words = old_words = new_numbers = 0
        for word in words:
            if not isinstance(word, str) or word[-1] == "*" or word in self.class_by_word:
                continue
            is_old = word in asked_words or word.rstrip("s") in asked_words
            if word[0].isdigit():
                new_numbers += not is_old
            elif word[0].isalpha() and len(word) > _SHORT_WORD:
                old_words += is_old
                new_words += not is_old
        return {f"{kind} <{name}>" for name in classes if isinstance(name, str)}, [
            (f"#{kind} question", 0.2),
            ("#words not asked for", 0.06 * min(new_words, 10)),
            ("#words of the question", 0.1 * min(old_words, 5)),
            ("#share not asked for", 0.5 * new_words / max(1, new_words + old_words)),
            ("#number not asked for", 0.3 if new_numbers else 0.0),
        ]

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


def _is_answer(classes: Collection[Feature]) -> bool:
    """Whether a text holds nothing by which it could refuse, whatever its words weigh."""
    needed = _DENYING_CLASSES if _NUMBER_CLASS in classes else REFUSING_CLASSES
    return needed.isdisjoint(classes)


def _merge_unknown(sequence: Sequence[str]) -> list[str]:
    previous = ["", *sequence]
    return [name for name, before in zip(sequence, previous, strict=False) if name != "w" or before != "w"]


class RefusalModel:
    """The weights of one language, and the scores from which a text refuses or is undecided."""

    def __init__(
        self,
        language: str,
        reader: FeatureReader,
        refusal_weights: Mapping[str, float],
        kind_weights: Mapping[str, Sequence[float]],
        refusal_from: float,
        undecided_from: float,
    ) -> None:
        """`refusal_weights`: for each feature, that of refusing at all; `kind_weights`: those of the kinds of refusal,
        in the order of `KINDS`."""
        self.language, self.reader = language, reader
        self.refusal_from, self.undecided_from = refusal_from, undecided_from
        self._refusal_weights = refusal_weights
        self._class_weights: dict[Feature, float] = {}
        self._asked_weights: dict[Feature, float] = {}
        self._word_weights: dict[Feature, float] = {}
        for name, weight in refusal_weights.items():
            if name.startswith("<") and len(name) > 1:
                self._class_weights[_parse_feature(name[1:-1])] = weight
            elif not name.startswith(("<", "#")):
                self._word_weights[_parse_feature(name)] = weight
                if name.startswith(("yes-no ", "open ")):
                    self._asked_weights[name] = weight
        self._kind_weights = kind_weights
        self.known_words = frozenset(refusal_weights) | frozenset(
            part for word in reader.class_by_word for part in word.split(" ")
        )

    def score_text(self, text: str, question: str = "") -> RefusalScore:
        """Return how strongly an answer to a question refuses; both are prepared by `normalise_answer`."""
        features = self.reader.read_features(text, question)
        weight_of = self._refusal_weights.get
        score = math.fsum([weight_of(name, 0.0) * value for name, value in features.measures])
        groups: tuple[tuple[float, Collection[Feature], Mapping[Feature, float]], ...] = (
            (1.0, features.classes, self._class_weights),
            (_WORD_LENGTH, features.words, self._word_weights),
            (_ASKED_LENGTH, features.asked, self._asked_weights),
        )
        for length, group, weights in groups:
            if group:
                found = [weights.get(feature, 0.0) for feature in group]
                score += length * math.fsum(found) / math.sqrt(len(group))
        if score < self.undecided_from or _is_answer(features.classes):
            return RefusalScore(score, "abstain", "answer")
        return RefusalScore(score, self._find_kind(features), "refusal" if score >= self.refusal_from else "undecided")

    def find_refusing_sentences(self, text: str) -> tuple[list[int], float]:
        """Return where the sentences begin that refuse by themselves, the strongest if none does, and the lowest score
        of a sentence of this refusing text."""
        scores: dict[int, float] = {}
        start = 0
        for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
            if _TOKEN.search(text, start, end):
                scores[start] = self.score_text(text[start:end]).score
            start = end
        strongest = max(scores.values(), default=0.0)
        starts = [start for start, score in scores.items() if score >= min(strongest, self.undecided_from)]
        return starts, min(scores.values(), default=0.0)

    def _find_kind(self, features: TextFeatures) -> RefusalKind:
        known = [
            (value, self._kind_weights[name])
            for name, value in features.weigh().items()
            if name in self._refusal_weights
        ]
        totals = [math.fsum(value * weights[index] for value, weights in known) for index in range(len(KINDS))]
        return KINDS[totals.index(max(totals))]

    def list_contributions(self, text: str, question: str = "") -> list[FeatureWeight]:
        """Return what each known feature of a prepared answer adds to its score, the strongest first."""
        values = self.reader.read_features(text, question).weigh()
        found = [
            FeatureWeight(name, self._refusal_weights[name] * value)
            for name, value in values.items()
            if name in self._refusal_weights
        ]
        return sorted(found, key=lambda item: (-abs(item.weight), item.feature))


class _KindWeights(Mapping[str, Sequence[float]]):
    """The weights of the kinds by feature, each row read on its first look-up: only an answer that may refuse does."""

    def __init__(self, rows: Mapping[str, str]) -> None:
        self._rows = rows

    def __getitem__(self, feature: str) -> Sequence[float]:
        return [_parse_weight(number) for number in self._rows[feature].split("\t")]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def parse_weights(content: str, language: str, reader: FeatureReader) -> RefusalModel:
    """Return the model that a file of weights describes: two thresholds, the names of the columns, and the features."""
    refusal_line, undecided_line, _, *rows = content.splitlines()
    refusal_weights: dict[str, float] = {}
    kind_rows: dict[str, str] = {}
    for row in rows:
        feature, number, kind_rows[feature] = row.split("\t", 2)
        refusal_weights[feature] = _parse_weight(number)
    thresholds = [float(line.split("\t")[1]) for line in (refusal_line, undecided_line)]
    return RefusalModel(language, reader, refusal_weights, _KindWeights(kind_rows), *thresholds)


def _parse_weight(number: str) -> float:
    return float(number) if number else 0.0
