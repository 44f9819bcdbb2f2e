"""Rows without labelled evidence, as Ragas has them: a context that has what an answer lacks tells what happened."""

from __future__ import annotations

from typing import Any

import pytest

import assay

CONTEXT = "The kiln holds up to 60 litres. Mugs are fired at 1,240 degrees in the morning."


def find_cause(row: dict[str, Any], answer: str, context: str = CONTEXT) -> tuple[str | None, str | None, str]:
    rows = [{**row, "response": answer, "retrieved_contexts": [context]}]
    (case,) = assay.score(rows, rows).cases
    assert case.attribution is not None
    return case.cause, case.attribution.verdict, " ".join(case.attribution.evidence)


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ({"user_input": "How much does the kiln hold?", "reference": "60 litres"}, "It holds 80 litres."),
        ({"user_input": "How hot are mugs fired?", "must_have": ["1,240 degrees"]}, "They are fired at 900 degrees."),
    ],
)
def test_an_answer_that_lacks_what_the_context_has_is_of_the_generator(row: dict[str, Any], answer: str) -> None:
    cause, verdict, evidence = find_cause(row, answer)
    assert ("generator", "generation_fault") == (cause, verdict)
    assert "the context has “" in evidence


def test_a_refusal_of_what_the_context_has_is_one_too() -> None:
    row = {"user_input": "How much does the kiln hold?", "must_have": ["60 litres"]}
    assert ("generator", "refusal_fault") == find_cause(row, "I do not know.")[:2]


@pytest.mark.parametrize("context", ["Ask the potter about the kiln.", "The kiln holds up to 80 litres."])
def test_a_context_without_it_tells_nothing(context: str) -> None:
    row = {"user_input": "How much does the kiln hold?", "reference": "60 litres"}
    assert "insufficient_trace" == find_cause(row, "It holds 80 litres.", context)[0]


def test_a_digit_that_many_texts_have_tells_nothing() -> None:
    row = {"user_input": "How many kilns are there?", "must_have": ["4"]}
    assert "insufficient_trace" == find_cause(row, "There are 7.", "The studio opened 4 years ago.")[0]
