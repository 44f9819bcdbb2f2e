"""A system says with its trace what it was shown, and not what is right."""

from __future__ import annotations

import pytest

import assay
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Chunk, Observation, Stage

QUESTION, REFERENCE = "What does a parking permit for staff cost?", "$40"


@pytest.mark.parametrize(
    "answer", ["A parking permit costs $40 for residents.", "A parking permit for staff costs $40.", "It costs $45."]
)
def test_what_a_trace_shows_vouches_for_no_answer(answer: str) -> None:
    golden = GoldenSet((Case("permit", QUESTION, reference=REFERENCE),))
    outcomes = set()
    for text in (answer, "Staff park behind the library.", f"{answer} {REFERENCE} is the price of a permit for staff."):
        chunks = (Chunk("permits", text=text),)
        stages = (Stage("retrieved", chunks), Stage("context", chunks))
        result = assay.score(golden, [Observation("permit", "c", stages=stages, answer=answer)])
        column = result.run.scoring.configs["c"].table.columns["correct_answer"]
        outcomes.add((int(column.status[0]), float(column.values[0])))
    assert len(outcomes) == 1
