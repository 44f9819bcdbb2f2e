"""Tell what an answer does with its question by a linear model for each language, trained on committed sentences.

The model weighs short runs of words (`wording_features`), what the phrases of the lexicons found, and a few measures.
It has one score for each thing that an answer can do, and one for each kind of refusal; the highest counts. Its weights
are written by `python -m benchmarks.train_refusal_model`, which says what it learned from.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from assay.text.refusals.wording_features import (
    GROUPS,
    LONGEST_RUN,
    Keys,
    Masks,
    RunWords,
    WordingFeatures,
    mark_words,
    mix_runs,
    read_features,
    shorten_keys,
)

AnswerAct = Literal["answer", "refuse", "partial", "clarify"]
RefusalKind = Literal["abstain", "permission_denied", "escalate"]
ACTS: tuple[AnswerAct, ...] = ("answer", "refuse", "partial", "clarify")
"""What an answer does: it answers, refuses, answers one part and declines another, or asks back."""
KINDS: tuple[RefusalKind, ...] = ("abstain", "permission_denied", "escalate")
HEADS = (*ACTS, *KINDS)
WEIGHT_TYPE = np.dtype([("key", "<u4"), ("weights", "i1", (len(HEADS),))])
"""One run of words: its key, and what it weighs for each head, in units of the scale of that head."""
LONGEST_READ = 3000
"""Characters of an answer up to which a model reads it."""


_START_BITS = 19
_START_SHIFT = np.uint32(32 - _START_BITS)
_GROUP_COLUMN = np.arange(len(GROUPS))[:, np.newaxis]


class ModelParameters(Struct, frozen=True):
    """What a model has beside the weights of runs.

    `scales`: of the weights, for each head. `measures`: the weights of measures and cues, for each head. `denials`:
    short runs of words that refusals hold several times as often as ordinary answers. `masked`: words that say nothing
    about what an answer does (`Masks`).
    """

    scales: tuple[float, ...]
    measures: Mapping[str, Sequence[float]]
    denials: AbstractSet[str] = frozenset()
    masked: AbstractSet[str] = frozenset()


class ActScores(Struct, frozen=True):
    """What an answer does by its wording, which kind of refusal it would be, and how far the first score is above the
    second; `denies`: whether it holds words of refusing at all."""

    act: AnswerAct
    kind: RefusalKind
    margin: float
    denies: bool = False


class PhraseWeight(Struct, frozen=True):
    """A run of words of a text and what it adds to the score of refusing, less what it adds to that of answering."""

    phrase: str
    weight: float


class RefusalModel:
    """The weights of one language."""

    def __init__(self, language: str, weights: npt.NDArray[np.void], parameters: ModelParameters) -> None:
        """`weights`: of `WEIGHT_TYPE`, in ascending order of the keys."""
        self.language, self.parameters, self.table = language, parameters, weights
        self._keys: Keys = np.ascontiguousarray(weights["key"])
        self._weights: npt.NDArray[np.int8] = np.ascontiguousarray(weights["weights"])
        self._holds_start = np.zeros(1 << _START_BITS, dtype=np.bool_)
        self._holds_start[self._keys >> _START_SHIFT] = True
        self._masks = Masks(parameters.masked)
        self._scales = np.array(parameters.scales)
        self._measure_places = {name: place for place, name in enumerate(parameters.measures, 1)}
        self._measures = np.array([[0.0] * len(HEADS), *parameters.measures.values()])

    def score_text(self, text: str, question: str = "", cues: Sequence[str] = ()) -> ActScores:
        """Return what an answer does with a question; both are prepared by `prepare_wording`.

        `cues`: names of what the phrases of the lexicons found.
        """
        features = read_features(text, question, self.language, self.parameters.denials, cues, self._masks)
        return structs.replace(compare_scores(self.score_features(features)), denies=features.denies)

    def score_features(self, features: WordingFeatures) -> dict[str, float]:
        """Return the score of each head.

        The weights are whole numbers, so that their sums are exact, and the same everywhere.
        """
        may_be_known = self._holds_start[features.keys >> _START_SHIFT].nonzero()[0]  # saves looking up most runs
        places, is_known = self._look_up(features.keys[may_be_known])
        is_of_group = features.groups[may_be_known[is_known]] == _GROUP_COLUMN
        sums = is_of_group.astype(np.float64) @ self._weights[places[is_known]].astype(np.float64)
        of_runs = (features.weigh_groups()[:, np.newaxis] * sums).sum(axis=0) * self._scales
        weights = self._measures[[self._measure_places.get(name, 0) for name, _ in features.measures]]
        of_measures = (weights * np.array([[value] for _, value in features.measures])).sum(axis=0)
        return dict(zip(HEADS, (of_runs + of_measures).tolist(), strict=True))

    def list_phrases(self, text: str, question: str = "") -> list[PhraseWeight]:
        """Return the runs of words that the model knows in a prepared text, the heaviest first.

        A run that it knows stood in several sentences that it learned from, so that none is the answer's own.
        """
        words = mark_words(text, question, self.language)
        numbers, _ = mix_runs(RunWords(([], words, []), ([], [], [])))
        places, is_known = self._look_up(shorten_keys(numbers))
        weights = self._weights[places].astype(np.float64) * np.array(self.parameters.scales)
        heads = weights[:, HEADS.index("refuse")] - weights[:, HEADS.index("answer")]
        runs = [
            " ".join(words[start : start + length])
            for length in range(1, min(LONGEST_RUN, len(words)) + 1)
            for start in range(len(words) - length + 1)
        ]
        known = itertools.compress(zip(runs, heads.tolist(), strict=True), is_known.tolist())
        return [PhraseWeight(*item) for item in sorted(known, key=lambda item: (-abs(item[1]), item[0]))]

    def _look_up(self, keys: Keys) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the place of each key among those of the model, and whether the model has it."""
        places = self._keys.searchsorted(keys)
        places[places == len(self._keys)] = 0
        return places, self._keys[places] == keys


def compare_scores(scores: Mapping[str, float]) -> ActScores:
    """Return what the scores of the heads say together.

    >>> compare_scores(dict(zip(HEADS, (0.1, 0.6, -0.5, -1.0, 0.3, -0.2, -0.4))))
    ActScores(act='refuse', kind='abstain', margin=0.5, denies=False)
    """
    first, second = sorted(ACTS, key=lambda act: -scores[act])[:2]
    kind = max(KINDS, key=lambda name: scores[name])
    return ActScores(first, kind, scores[first] - scores[second])
