"""The phrases of an answer that count most for reading it as a refusal, and against it.

What a phrase counts is how much the score of the model of free wording falls without it. Only words of the model's
classes are named ("notes are blank"): they are the product's own, so that nothing restricted in an answer is shown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.text.refusal_model import RefusalModel
from assay.text.segmentation import Span

_LEAST = 0.05  # of the score that a phrase must move to be named
_MOST_FOR, _MOST_AGAINST = 3, 2
_LONGEST = 5  # words of a phrase
_UNNAMED = frozenset(("w", "0"))
_BETWEEN = re.compile(r"[a-z ]*")  # words that the model ignores


class WordingReasons(NamedTuple):
    """The phrases that count most for a refusal and against it, the strongest first."""

    counting_for: tuple[str, ...]
    counting_against: tuple[str, ...]


def find_reasons(model: RefusalModel, text: str, question: str) -> WordingReasons:
    """Return the phrases of a prepared answer that move the score of a model most; both may be empty."""
    whole = model.score_text(text, question).score
    weight_by_phrase: dict[str, float] = {}
    for start, end in _find_phrases(model, text):
        without = f"{text[:start]} {text[end:]}"
        weight = whole - model.score_text(without, question).score
        weight_by_phrase[text[start:end]] = weight_by_phrase.get(text[start:end], 0.0) + weight
    ordered = sorted(weight_by_phrase.items(), key=lambda item: (-abs(item[1]), item[0]))
    counting_for = [phrase for phrase, weight in ordered if weight >= _LEAST]
    counting_against = [phrase for phrase, weight in ordered if weight <= -_LEAST]
    return WordingReasons(tuple(counting_for[:_MOST_FOR]), tuple(counting_against[:_MOST_AGAINST]))


def _find_phrases(model: RefusalModel, text: str) -> list[Span]:
    """Return the spans of successive words of the model's classes, with nothing but spaces and ignored words between
    them, of a few words each."""
    spans: list[Span] = []
    word_count = position = 0
    for word, name in model.reader.classify_words(text):
        found = re.compile(r"\W+".join(map(re.escape, word.split(" ")))).search(text, position)
        if found is None:
            continue
        joins = word_count in range(1, _LONGEST) and _BETWEEN.fullmatch(text, position, found.start()) is not None
        position = found.end()
        if name in _UNNAMED or not word[0].isalpha():
            word_count = 0
        elif joins:
            spans[-1] = spans[-1][0], found.end()
            word_count += 1
        else:
            spans.append(found.span())
            word_count = 1
    return spans
