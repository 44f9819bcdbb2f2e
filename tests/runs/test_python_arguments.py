"""Arguments of the Python interface are checked before the target is asked, and no answer is lost to an error."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import assay
from assay.records.errors import AssayError, InputError
from assay.records.observations import Observation
from assay.runs import score_values

CASES = [
    {"id": "key", "question": "Where is the key?", "must_have": ["drawer"]},
    {"id": "bell", "question": "Who rings?", "must_have": ["porter"]},
    {"id": "gate", "question": "When does it shut?", "must_have": ["nine"]},
]


UNTYPED: Any = assay
"""The interface as a program without type checks calls it."""


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
        (
            "gate",
            {"rules": [{"metric": "luck", "at_least": 1}]},
            "'luck': no such metric; `assay metrics` lists all, one of your own is",
        ),
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
    measured = assay.run(Asked("In the drawer!"), CASES, metrics=[shout, "answered"])
    assert 1.0 == measured.metric("shout").mean
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

    monkeypatch.setattr(score_values, "score_observations", fail)
    with pytest.raises(type(error)) as raised:
        assay.run(Asked(), CASES)
    monkeypatch.undo()
    observations: tuple[Observation, ...] = raised.value.observations  # type: ignore[attr-defined]  # added to the error
    assert ["key", "bell", "gate"] == [row.case_id for row in observations]
    assert any("3 answers are kept in the member observations" in note for note in raised.value.__notes__)
    assert 3 == len(assay.score(CASES, observations).cases)


def test_answers_are_kept_where_the_user_interrupts() -> None:
    asked: list[str] = []

    async def ask(question: str) -> str:
        asked.append(question)
        if len(asked) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(30)
        return "In the drawer."

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            assay.run(ask, CASES, concurrency=1)
    finally:
        signal.signal(signal.SIGINT, before)
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


@pytest.fixture(scope="module")
def result() -> assay.ScoreResult:
    return assay.run(Asked(), CASES, config="porch")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda result: result.summary("proch"), r"config: got 'proch' .expected one of porch"),
        (lambda result: result.slices("proch"), r"config: got 'proch' .expected one of porch"),
        (lambda result: result.table("proch"), r"config: got 'proch' .expected one of porch"),
        (lambda result: UNTYPED.explain(result, 5), r"no such case in the golden set .got '5'"),
        (lambda result: UNTYPED.score(result, CASES), r"golden: E_VALUE a result in the place of the golden set"),
        (lambda result: UNTYPED.run(CASES, Asked().ask), r"golden: E_VALUE a function in the place of the golden set"),
        (lambda result: UNTYPED.load_golden(CASES), r"golden: E_VALUE no path .*assay.score and assay.run take rows"),
        (lambda result: UNTYPED.load_corpus(None), r"corpus: E_VALUE no path .got None"),
        (lambda result: UNTYPED.score(CASES, result, notices=[7]), r"notices: E_VALUE no text .got 7"),
        (
            lambda result: UNTYPED.score(CASES, [{"id": "key", "answer": "x"}], config=8),
            r"config: E_VALUE no name .got 8",
        ),
        (lambda result: UNTYPED.score(CASES, result, rubrics="none"), r"^none: E_FILE"),
        (lambda result: UNTYPED.score(CASES, result, lexicons="none.yaml"), r"^none.yaml: E_LEXICON"),
        (lambda result: UNTYPED.gate(result, "general", "proch"), r"no such configuration .got 'proch'"),
        (lambda result: UNTYPED.load_observations(["none.jsonl"]), r"^none.jsonl: E_NO_FILE"),
        (lambda result: UNTYPED.metric(12), r"metric: E_METRIC no function .got 12"),
        (lambda result: UNTYPED.metric(lambda case, observation: 1), "a function without a name .*assay.metric.name="),
        (lambda result: UNTYPED.metric(name="x")(lambda case: 1), "takes other arguments .expected case, observation"),
        (lambda result: UNTYPED.metric(Asked().ask), r"ask\(question.* takes other arguments"),
    ],
)
def test_what_cannot_be_used_of_a_call_is_said_with_the_argument(
    result: assay.ScoreResult, call: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(AssayError, match=message):
        call(result)


def test_a_single_configuration_need_not_be_named_and_one_value_is_a_list_of_one(result: assay.ScoreResult) -> None:
    assert result.summary("porch") == result.summary() and result.slices("porch") == result.slices()
    assert result.table() is result.table("porch")
    assert assay.gate(result, "general", "porch") == assay.gate(result, "general", ["porch"])
    assert "One sentence." in assay.score(CASES, result, notices="One sentence.").run.scoring.warnings
    scored = assay.score([{**CASES[0], "id": 4}], [{"id": 4, "answer": "In the drawer."}])
    assert assay.explain(scored, 4) == assay.explain(scored, "4")


def test_a_search_alone_names_the_configuration() -> None:
    def look_up(question: str) -> list[str]:
        return ["c1"]

    assert ["look_up"] * 3 == [row.config_id for row in assay.observe(None, CASES, search=look_up)]


def test_a_metric_may_take_more_arguments_with_defaults_and_any_arguments() -> None:
    def lenient(case: Any, observation: Any, weight: float = 1.0) -> float:
        return weight

    def anything(*arguments: Any) -> float:
        return 1.0

    measured = assay.run(Asked(), CASES, metrics=[lenient, anything])
    assert 1.0 == measured.metric("lenient").mean == measured.metric("anything").mean
