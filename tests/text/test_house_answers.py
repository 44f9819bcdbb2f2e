"""Ordinary answers of a house in eight languages, many of them in the first person and with a negation, and refusals.

Every other line of `house_answers` was never looked at while the rules changed; the floors hold for each half.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import assay
from assay.text.refusals.behaviour import detect_behaviour

FOLDER = Path(__file__).parent / "house_answers"
REFUSALS = ("abstain", "permission_denied", "escalate")
LANGUAGES = ("en", "vi", "fr", "de", "es", "pt", "ja", "zh")
Kind = Literal["answers", "refusals"]


def read_pairs(language: str, wanted: Kind, half: int) -> list[tuple[str, str]]:
    """Return questions with answers of one kind: one half of them."""
    pairs, kind = [], ""
    for line in (FOLDER / f"{language}.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            kind = line[2:]
        elif kind == wanted:
            question, answer = line.split(" | ")
            pairs.append((question, answer))
    return pairs[half::2]


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_house_does_and_does_not_do_is_an_answer(language: str, half: int) -> None:
    pairs = read_pairs(language, "answers", half)
    assert len(pairs) == 20
    for asks in (True, False):
        found = [detect_behaviour(answer, language, question if asks else "").behaviour for question, answer in pairs]
        assert sum(behaviour in REFUSALS for behaviour in found) <= 1
        assert found.count("answer") >= 17


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("language", LANGUAGES)
def test_who_does_not_know_or_may_not_say_refuses(language: str, half: int) -> None:
    pairs = read_pairs(language, "refusals", half)
    assert len(pairs) == 10
    found = [detect_behaviour(answer, language, question).behaviour for question, answer in pairs]
    assert sum(behaviour in REFUSALS for behaviour in found) >= 8


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Combien facturez-vous ?", "Nous facturons une nuit."),
        ("Was kostet das Zimmer?", "Das weiß ich nicht."),
        ("Who fixes the lift?", "That is not stated in the documents."),
        ("猫はどこですか？", "わかりません。"),
    ],
)
def test_the_reference_word_for_word_is_never_failed_as_a_refusal(question: str, answer: str) -> None:
    case = {"id": "a", "question": question, "reference": answer}
    scored = assay.score([case], [{"case_id": "a", "answer": f" {answer.upper()} "}])
    assert not scored.failed
    other = assay.score([case | {"reference": "Something else."}], [{"case_id": "a", "answer": answer}])
    assert other.failed or other.unknown


@pytest.mark.parametrize("answer", ["Je ne sais pas.", "We do not know."])
def test_a_refusal_that_is_expected_stays_one_where_it_is_the_reference(answer: str) -> None:
    case = {"id": "a", "question": "Why?", "reference": answer, "behaviour": "abstain"}
    scored = assay.score([case], [{"case_id": "a", "answer": answer}])
    assert not scored.failed and not scored.unknown
