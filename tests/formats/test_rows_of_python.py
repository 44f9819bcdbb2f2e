"""Rows of outputs are the same observations from a file, a list of dictionaries and a frame, with the same notes."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import try_examples

import assay
from assay.formats.outputs import open_output_files, prepare_decodable, read_observations
from assay.records.errors import InputError
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation
from assay.runs.python_values import read_outputs_value

QUESTION, TEXT = "When does the ferry leave?", "The ferry to the island leaves at noon."
GOLDEN = GoldenSet((Case("ferry", QUESTION, reference="At noon."), Case("bus", "Which bus?", reference="Line 4.")))
CONFIG = "rows"  # the name of the file too
SHOWN = ("contexts", "retrieved_contexts", "retrieval_context")
RANKINGS = (*SHOWN, "documents", "docs", "sources", "chunks", "passages", "retrieved_documents", "source_documents")
NAMES: tuple[dict[str, Any], ...] = (
    {"question": QUESTION}, {"user_input": QUESTION}, {"input": QUESTION}, {"query": QUESTION}, {"id": "ferry"},
    {"case_id": "ferry"}, {"question_id": "ferry"}, {"query_id": "ferry"}, {"Question": QUESTION},
    {"inputs": {"question": QUESTION}}, {"id": "ferry", "question": QUESTION},
)  # fmt: skip
ANSWERS: tuple[dict[str, Any], ...] = (
    {"answer": "At noon."}, {"response": "At noon."}, {"actual_output": "At noon."}, {"Response": "At noon."},
    {"output": "At noon."}, {"outputs": {"answer": "At noon."}}, {"answer": None}, {"answer": ""}, {},
    {"error": "timeout"}, {"answer": "At noon.", "latency": 5}, {"respnse": "At noon."},
)  # fmt: skip
EXPECTED: tuple[dict[str, Any], ...] = (
    {}, {"reference": "Noon."}, {"ground_truth": "Noon.", "context": ["x y"]}, {"expected_output": "Noon."},
    {"category": "sea", "config": "v2"}, {"config_id": "v2"}, {"context": [TEXT]},
)  # fmt: skip
CHUNKS: tuple[Any, ...] = ([TEXT], [{"id": "c1", "text": TEXT}], [], [{"page_content": TEXT, "metadata": {"p": 1}}])


class Frame:
    """A data frame as Polars has them."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def to_dicts(self) -> list[dict[str, Any]]:
        return self._rows


Reading = tuple[list[Observation], list[str]] | str


def read_file(path: Path, rows: list[dict[str, Any]]) -> Reading:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    try:
        with open_output_files([str(path)], None) as files, prepare_decodable(files, GOLDEN.cases) as ready:
            read = [row for file in ready for row in read_observations(file.path, file.name, file.decoded_as)]
            return read, sorted(notice.removeprefix(f"{path}: ") for file in ready for notice in file.notices)
    except InputError as error:
        return error.problems[0].message


def read_python(rows: Any) -> Reading:
    notes: dict[str, None] = {}
    try:
        read = read_outputs_value(rows, GOLDEN, CONFIG, notes)
    except InputError as error:
        return error.problems[0].message
    return read, sorted(note.removeprefix("outputs: ") for note in notes)


@given(
    st.sampled_from(NAMES), st.sampled_from(ANSWERS), st.sampled_from(EXPECTED), st.sampled_from(RANKINGS),
    st.sampled_from(CHUNKS),
)  # fmt: skip
@try_examples(200)
def test_a_row_is_the_same_observation_from_a_file_and_from_python(
    tmp_path_factory: pytest.TempPathFactory, name: Any, answer: Any, expected: Any, ranking: str, chunks: Any
) -> None:
    row = {**name, **answer, **expected, ranking: chunks}
    path = tmp_path_factory.getbasetemp() / f"{CONFIG}.jsonl"
    assert read_file(path, [row]) == read_python([row])


@pytest.mark.parametrize(("key", "form"), list(product(SHOWN, (list, Frame))))
def test_texts_that_another_tool_calls_contexts_are_what_the_model_was_shown(key: str, form: Any) -> None:
    rows = [{"question": QUESTION, "answer": TEXT, key: [TEXT]}]
    outputs = form(rows)
    result = assay.score(GOLDEN, outputs, metrics=["faithfulness(by=rules)"])
    (observation,) = read_outputs_value(outputs, GOLDEN)
    assert ["retrieved", "context"] == [stage.name for stage in observation.stages or ()]
    assert (result.metric("faithfulness(by=rules)").mean or 0) > 0.9
    assert any(f"{key} is taken for what the model was shown too" in note for note in result.run.scoring.warnings)


def test_contexts_beside_a_stage_of_that_name_make_no_context_of_other_chunks() -> None:
    row = {
        "case_id": "bus",
        "answer": "Line 4.",
        "retrieved": [{"id": "c1", "text": "Line 4 stops."}],
        "contexts": ["x"],
    }
    (observation,) = read_outputs_value([row], GOLDEN)
    assert ["retrieved"] == [stage.name for stage in observation.stages or ()]


@pytest.mark.parametrize("column", ["answer", "Response", "actual_output"])
@pytest.mark.parametrize("form", [list, Frame])
def test_an_answer_that_is_no_number_is_missing_in_every_form(column: str, form: Any) -> None:
    rows = [{"question": QUESTION, column: float("nan"), "latency": float("nan")}, {"id": "bus", column: "Line 4."}]
    missing, given_answer = read_outputs_value(form(rows), GOLDEN)
    assert (None, "Line 4.") == (missing.answer, given_answer.answer)


def test_rows_of_no_case_are_left_out_where_the_caller_says_so() -> None:
    rows = [{"question": QUESTION, "answer": "At noon."}, {"question": "What of the tram?", "answer": "Closed."}]
    with pytest.raises(InputError, match=r"outputs:2: question: E_OUTPUT .*ignore_unknown=True"):
        assay.score(GOLDEN, rows)
    assert 1 == len(assay.score(GOLDEN, rows[:1]).run.scoring.configs)
    assert ["ferry"] == [case.id for case in assay.score(GOLDEN, rows, ignore_unknown=True).cases if case.answer]
