"""Arguments of the Python interface are checked before the target is asked, and no answer is lost to an error."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from typing import Any

import numpy as np
import pytest

import assay
from assay import api
from assay.records.errors import AssayError, InputError
from assay.records.observations import Observation

CASES = [
    {"id": "key", "question": "Where is the key?", "must_have": ["drawer"]},
    {"id": "bell", "question": "Who rings?", "must_have": ["porter"]},
    {"id": "gate", "question": "When does it shut?", "must_have": ["nine"]},
]


class Asked:
    """A target that counts how often it is asked."""

    def __init__(self, reply: Any = "In the drawer.") -> None:
        self.questions: list[str] = []
        self.reply = reply

    def ask(self, question: str) -> Any:
        """Return the reply."""
        self.questions.append(question)
        return self.reply


def shout(case: Any, observation: Any) -> float:
    """How loud the answer is."""
    return float("!" in observation.answer)


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("metrics", ["recal@5"], "'recal@5': no such metric"),
        ("metrics", [3.5], r"metrics: E_VALUE no metric \(got 3.5; expected a list of names"),
        ("metrics", 7, r"metrics: E_VALUE no metrics \(got 7; "),
        ("metrics", [lambda case, observation: 1], "a function without a name .*assay.metric.name="),
        ("gate", "unheard-of", "unknown profile"),
        ("gate", {"rules": [{"metric": "luck", "at_least": 1}]}, "'luck': no such metric"),
        ("gate", "missing.yaml", "cannot be read"),
        ("by", "mood", r"by: no case has this key \(got 'mood'"),
        ("by", 12, r"by: E_VALUE no keys \(got 12"),
        ("corpus", [{"words": "x"}], "corpus:1: words"),
        ("corpus", 9, "corpus: E_VALUE not rows"),
        ("repeat", 0, r"repeat: E_VALUE no count \(got 0; expected a whole number of 1 or more"),
        ("repeat", "2", "repeat: E_VALUE no count .got '2'"),
        ("repeat", True, "repeat: E_VALUE no count .got True"),
        ("concurrency", -3, "concurrency: E_VALUE no count .got -3"),
        ("concurrency", 2.5, "concurrency: E_VALUE no count .got 2.5"),
        ("deadline", 0, "deadline: E_VALUE no time .got 0; expected seconds above 0"),
        ("deadline", math.inf, "deadline: E_VALUE no time .got inf"),
        ("context", 4, "context: E_VALUE no stage .got 4"),
        ("config", 11, "config: E_VALUE no name .got 11"),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused_before_anything_is_asked(
    argument: str, value: Any, message: str
) -> None:
    target = Asked()
    with pytest.raises(AssayError, match=message):
        assay.run(target, CASES, **{argument: value})
    assert not target.questions
    if argument in ("repeat", "concurrency", "deadline", "context", "config"):
        with pytest.raises(AssayError, match=message):
            assay.observe(target, CASES, **{argument: value})
        assert not target.questions


def test_counts_may_be_those_of_numpy() -> None:
    assert 6 == len(assay.observe(Asked(), CASES, repeat=np.int64(2), concurrency=np.int32(1)))  # type: ignore[arg-type]


def test_a_function_with_a_name_is_a_metric() -> None:
    result = assay.run(Asked("In the drawer!"), CASES, metrics=[shout, "answered"])
    assert 1.0 == result.metric("shout").mean
    assert 1.0 == assay.run(Asked("The porter!"), CASES, metrics=shout).metric("shout").mean


@pytest.mark.parametrize("text", ["0.25", "1", " .5 ", "80%", "nan"])
def test_a_metric_that_returns_a_number_as_a_text_is_an_error_and_not_left_out(text: str) -> None:
    def rating(case: Any, observation: Any) -> str:
        return text

    summary = assay.run(Asked(), CASES, metrics=[assay.metric(rating)]).metric("rating")
    assert (0, 0, 3) == (summary.scored, summary.not_applicable, summary.errors)


def test_a_text_of_words_says_why_a_metric_is_not_applicable() -> None:
    def second_rating(case: Any, observation: Any) -> str:
        return "2 raters are missing"

    assert 3 == assay.run(Asked(), CASES, metrics=[assay.metric(second_rating)]).metric("second_rating").not_applicable


@pytest.mark.parametrize("error", [InputError("no room"), RuntimeError("a bug"), MemoryError()])
def test_answers_are_kept_where_scoring_fails(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(api, "score_observations", fail)
    with pytest.raises(type(error)) as raised:
        assay.run(Asked(), CASES)
    monkeypatch.undo()
    kept: tuple[Observation, ...] = raised.value.observations  # type: ignore[attr-defined]
    assert ["key", "bell", "gate"] == [row.case_id for row in kept]
    assert any("3 answers are kept in the member observations" in note for note in raised.value.__notes__)
    assert 3 == len(assay.score(CASES, kept).cases)


def test_answers_are_kept_where_the_user_interrupts() -> None:
    asked: list[str] = []

    async def ask(question: str) -> str:
        asked.append(question)
        if len(asked) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(30)
        return "In the drawer."

    with pytest.raises(KeyboardInterrupt) as raised:
        assay.run(ask, CASES, concurrency=1)
    assert ["key"] == [row.case_id for row in raised.value.observations]  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [assay.run, assay.observe])
def test_a_context_that_is_nearly_called_like_a_stage_stops_after_the_first_answer(function: Any) -> None:
    target = Asked({"answer": "In the drawer.", "retrieved": ["c1"], "reranked": ["c1"]})
    with pytest.raises(
        InputError, match=r"context: .*no such stage \(got 'rerankd'; expected 'reranked'\?\)"
    ) as raised:
        function(target, CASES, context="rerankd", concurrency=1)
    assert 1 == len(target.questions) == len(raised.value.observations)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"answer": "Nine.", "retrieved": ["c1"]}, r"got 'window'; expected one of retrieved"),
        ("Nine.", r"got 'window'; expected none, because the target reports no stage"),
    ],
)
def test_a_context_that_no_answer_reports_is_an_error_with_the_answers(reply: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        assay.observe(Asked(reply), CASES, context="window")
    assert 3 == len(raised.value.observations)  # type: ignore[attr-defined]


def test_a_context_that_some_answers_report_is_no_error() -> None:
    def ask(question: str) -> Any:
        return {"answer": "Nine.", **({"retrieved": ["c1"]} if question.startswith("When") else {})}

    assert 3 == len(assay.observe(ask, CASES, context="retrieved"))
