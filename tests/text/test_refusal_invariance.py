"""What an answer does cannot depend on a colour, a day, a trade, a thing or a name in it."""

from __future__ import annotations

import random

import pytest
from benchmarks.train_refusal_model import EXCHANGEABLE, TrainingAnswer, exchange_words, read_answers

from assay.text.refusals import detect_behaviour
from assay.text.wording_features import Masks, mask_words, read_features

COUNT = 200
MOST_CHANGED = {"en": 0.02, "fr": 0.05, "es": 0.05, "pt": 0.05}
"""Largest share of answers that may be read otherwise with other names and things: phrases hold some of them."""


def _read_act(answer: TrainingAnswer) -> tuple[str, bool]:
    detected = detect_behaviour(answer.text, question=answer.question)
    return detected.behaviour, detected.is_partial_refusal


@pytest.mark.parametrize("language", MOST_CHANGED)
def test_hardly_any_answer_is_read_otherwise_with_other_names_and_things(language: str) -> None:
    answers = read_answers(language)
    random.Random(language).shuffle(answers)
    changed = compared = 0
    for answer, copy in _pair_copies(answers):
        changed += _read_act(answer) != _read_act(copy)
        compared += 1
        if compared == COUNT:
            break
    assert compared >= COUNT / 2
    assert changed <= MOST_CHANGED[language] * compared


def _pair_copies(answers: list[TrainingAnswer]) -> list[tuple[TrainingAnswer, TrainingAnswer]]:
    """Return answers that hold exchangeable words, each with a copy that holds others."""
    marked = [answer._replace(source=str(place)) for place, answer in enumerate(answers)]
    return [(answers[int(copy.source)], copy) for copy in exchange_words(marked, shift=11)]


@pytest.mark.parametrize("question", ["What does item 0 cost?", "How do I get there?", ""])
@pytest.mark.parametrize(
    "sentence", ["Our {} list has all prices.", "The {} form is missing from our files.", "Ask for the {} one, please."]
)
def test_every_colour_is_read_alike(sentence: str, question: str) -> None:
    colours = EXCHANGEABLE["en"][0]
    readings = {detect_behaviour(sentence.format(colour), question=question).behaviour for colour in colours}
    assert 1 == len(readings)


def test_a_masked_word_is_seen_like_one_that_nobody_knows() -> None:
    masks = Masks(frozenset(("red", "anna")))
    masked, unknown = (
        read_features(f"{name} has no list.", "who has the list?", "en", frozenset(("no",)), (), masks)
        for name in ("anna", "xqvzk")
    )
    assert len(masked.keys) == len(unknown.keys)
    assert masked.measures == unknown.measures
    assert ["§anna", "has", "xqvzk"] == mask_words(["anna", "has", "xqvzk"], masks)
