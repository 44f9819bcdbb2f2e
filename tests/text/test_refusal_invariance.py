"""What an answer does cannot depend on a colour, a day, a trade, a thing or a name in it."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator, Sequence

import pytest
from benchmarks.train_refusal_model import EXCHANGEABLE, NAMED, TrainingAnswer, find_names, read_answers

from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.wording_features import Masks, mask_words, read_features

COUNT = 200
MOST_CHANGED = {"en": 0.02, "fr": 0.05, "es": 0.05, "pt": 0.05}
"""Largest share of answers that may be read otherwise with other names and things: phrases hold some of them."""


def _read_act(answer: TrainingAnswer) -> tuple[str, bool]:
    detected = detect_behaviour(answer.text, question=answer.question)
    return detected.behaviour, detected.is_partial_refusal


@pytest.mark.parametrize("language", sorted(NAMED))
def test_hardly_any_answer_is_read_otherwise_with_other_names_and_things(language: str) -> None:
    answers = read_answers(language)
    random.Random(language).shuffle(answers)
    changed = compared = 0
    for answer, copy in _pair_copies(answers):
        changed += _read_act(answer) != _read_act(copy)
        compared += 1
        if compared == COUNT:
            break
    assert compared == COUNT
    assert changed <= MOST_CHANGED[language] * compared


def _pair_copies(answers: Sequence[TrainingAnswer]) -> Iterator[tuple[TrainingAnswer, TrainingAnswer]]:
    """Yield the answers that hold exchangeable words or names, each with a copy that holds others, in its question
    too."""
    language = answers[0].language
    group_of = {word: group for group in EXCHANGEABLE[language] for word in group}
    words = re.compile(rf"\b(?:{'|'.join(group_of)})\b", re.IGNORECASE)
    names = sorted({name for answer in answers for name in find_names(answer.text)})
    for index, answer in enumerate(answers):
        others = {name: names[(zlib.crc32(name.encode()) + index) % len(names)] for name in find_names(answer.text)}
        others |= {word: _choose_other(word, group_of[word.lower()], index) for word in words.findall(answer.text)}
        if others:
            text, question = (_exchange(others, part) for part in (answer.text, answer.question))
            yield answer, answer._replace(text=text, question=question)


def _exchange(others: dict[str, str], text: str) -> str:
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, others))})\b")
    return pattern.sub(lambda match: others[match[0]], text)


def _choose_other(word: str, group: Sequence[str], index: int) -> str:
    """Return another word of a group than the one given, in its case."""
    other = group[(group.index(word.lower()) + 1 + index % (len(group) - 1)) % len(group)]
    return other.capitalize() if word[0].isupper() else other


@pytest.mark.parametrize("question", ["What does item 0 cost?", "How do I get there?", ""])
@pytest.mark.parametrize(
    "sentence", ["Our {} list has all prices.", "The {} form is missing from our files.", "Ask for the {} one, please."]
)
def test_every_colour_is_read_alike(sentence: str, question: str) -> None:
    colours = EXCHANGEABLE["en"][0]
    readings = {detect_behaviour(sentence.format(colour), question=question).behaviour for colour in colours}
    assert 1 == len(readings)


def test_a_masked_word_is_seen_like_a_long_one_that_nobody_knows() -> None:
    masks = Masks(frozenset(("red", "anna")))
    masked, unknown = (
        read_features(f"{name} has no list.", "who has the list?", "en", frozenset(("no",)), (), masks)
        for name in ("anna", "xqvzkw")
    )
    assert len(masked.keys) == len(unknown.keys)
    assert masked.measures == unknown.measures
    assert ["§anna", "has", "xqvzkw"] == mask_words(["anna", "has", "xqvzkw"], masks)


@pytest.mark.parametrize("question", ["Who has the keys to the drug cabinet?", "Who looks after the keys?"])
@pytest.mark.parametrize(
    "answer",
    [
        "The vet on duty and the practice manager hold the keys.",
        "The guard on duty has them.",
        "The adviser in charge keeps them in the safe.",
        "The billing office and an outside solicitor hold one each.",
    ],
)
def test_a_trade_is_no_word_of_refusing(answer: str, question: str) -> None:
    assert "answer" == detect_behaviour(answer, question=question).behaviour
