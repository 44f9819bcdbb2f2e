"""The words of an answer that weigh most for a refusal and against it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from assay.text.refusals.chosen_model import choose_model
from assay.text.refusals.refusal_model import LONGEST_READ, PhraseWeight
from assay.text.refusals.wording_features import prepare_wording


class WordingReasons(NamedTuple):
    """The phrases that count most for a refusal and against it, the strongest first."""

    counting_for: tuple[str, ...]
    counting_against: tuple[str, ...]


_LEAST_WORDS = 2  # of a phrase that is named
_MOST_FOR, _MOST_AGAINST = 3, 2
_LEAST_NAMED = 0.05
_MOST_EXPLAINED = 12
_ASKED_MARK = "Q"


def explain_refusal(answer: str, question: str = "") -> tuple[PhraseWeight, ...]:
    """Return the runs of words of an answer that weigh most for a refusal or against it, the heaviest first.

    Only runs that the model knows from several sentences, with `Q` for what the question named and `#n` for numbers:
    none is the answer's own. Empty if no model reads the answer: it is too long, or in another language than theirs.

    >>> "nothing on" in [item.phrase for item in explain_refusal("The handbook says nothing on that.")]
    True
    """
    phrases = _list_phrases(answer, question)
    named = (item for item in dict.fromkeys(phrases) if sum(map(str.isalpha, item.phrase.split())) >= _LEAST_WORDS)
    return tuple(itertools.islice(named, _MOST_EXPLAINED))


def explain_wording(answer: str, question: str = "") -> WordingReasons:
    """Return the phrases of an answer that count most for reading it as a refusal and against it; none if no model
    reads the answer.

    >>> explain_wording("The manual does not say how long it lasts.", "How long does it last?").counting_for[0]
    'not say'
    """
    phrases = _list_phrases(answer, question)
    return WordingReasons(
        _choose_phrases([item.phrase for item in phrases if item.weight >= _LEAST_NAMED], _MOST_FOR),
        _choose_phrases([item.phrase for item in phrases if item.weight <= -_LEAST_NAMED], _MOST_AGAINST),
    )


def _list_phrases(answer: str, question: str) -> list[PhraseWeight]:
    """Return the runs of words of an answer that its model knows, the heaviest first; none if no model reads it."""
    model = choose_model(answer, question) if 0 < len(answer) <= LONGEST_READ else None
    if model is None:
        return []
    return model.list_phrases(prepare_wording(answer, model.language), prepare_wording(question, model.language))


def _choose_phrases(phrases: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the first phrases of several words that do not overlap with those before them."""
    chosen: list[str] = []
    for phrase in phrases:
        words = [word for word in phrase.split() if word.isalpha()]
        if len(words) < _LEAST_WORDS or _ASKED_MARK in words:
            continue
        if all(set(words).isdisjoint(other.split()) for other in chosen):
            chosen.append(phrase)
    return tuple(chosen[:most])
