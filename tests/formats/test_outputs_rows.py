"""Rows of Ragas and DeepEval as outputs: recognised, matched with cases by id or question, or refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.formats.foreign.foreign_files import load_foreign_file
from assay.formats.outputs import detect_output_format, open_output_files, prepare_decodable, read_observations
from assay.records.errors import InputError
from assay.records.golden_set import Case
from assay.records.observations import Observation, TargetError

LEAVE = "Permanent staff have 12 days of paid leave a year."
CASES = (Case("leave", "How many days of  paid leave?"), Case("a", "Who approves?"), Case("b", "Who approves?"))
RAGAS = {
    "user_input": "How many days of paid leave?",
    "retrieved_contexts": [LEAVE],
    "response": "12 days",
    "reference": "12 days a year",
}
DEEPEVAL = {"input": "How many days of paid leave?", "actual_output": "12 days", "retrieval_context": [LEAVE]}


def read(path: Path, *, keep_unknown: bool = False, cases: tuple[Case, ...] | None = CASES) -> list[Observation]:
    with (
        open_output_files([str(path)], None) as files,
        prepare_decodable(files, cases, keep_unknown=keep_unknown) as decodable,
    ):
        return [row for file in decodable for row in read_observations(file.path, file.name, file.decoded_as)]


def write(tmp_path: Path, *rows: Any, name: str = "ragas.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("row", [RAGAS, DEEPEVAL])
def test_rows_of_other_tools_answer_the_case_whose_question_they_hold(tmp_path: Path, row: dict[str, Any]) -> None:
    (observation,) = read(write(tmp_path, row))
    assert ("leave", "ragas", "12 days") == (observation.case_id, observation.config_id, observation.answer)
    texts = {stage.name: [chunk.text for chunk in stage.chunks] for stage in observation.stages or ()}
    assert {"retrieved": [LEAVE], "context": [LEAVE]} == texts  # their faithfulness is measured against the same texts


@pytest.mark.parametrize(
    "row",
    [
        {"id": "leave", "answer": "12 days", "retrieved": [{"id": "c1", "text": LEAVE}]},
        {"id": "leave", "output": "12 days", "documents": [{"doc_id": "c1", "page_content": LEAVE}]},
        {"query": "How many days of paid leave?", "prediction": "12 days", "sources": [{"id": "c1", "content": LEAVE}]},
        {"case_id": "leave", "answer": "12 days", "source_documents": [{"id": "c1", "text": LEAVE}]},
    ],
)
def test_rows_are_read_under_the_names_that_replies_have(tmp_path: Path, row: dict[str, Any]) -> None:
    """The golden set calls the name of a case `id`: people write their outputs so as well."""
    (observation,) = read(write(tmp_path, row))
    assert ("leave", "12 days") == (observation.case_id, observation.answer)
    assert [("retrieved", "c1", LEAVE)] == [
        (stage.name, chunk.chunk_id, chunk.text) for stage in observation.stages or () for chunk in stage.chunks
    ]


def test_a_row_without_expectations_is_read_whole(tmp_path: Path) -> None:
    row = {"id": "leave", "answer": "12 days", "context": [LEAVE], "behaviour": "answer", "usage": {"latency_ms": 5}}
    (observation,) = read(write(tmp_path, row))
    assert "answer" == observation.behaviour and observation.usage is not None
    assert ["context"] == [stage.name for stage in observation.stages or ()]


def test_what_a_row_expects_is_not_taken_for_what_was_observed(tmp_path: Path) -> None:
    row = {"id": "leave", "answer": "12 days", "reference": "12", "context": [LEAVE], "behaviour": "abstain"}
    (observation,) = read(write(tmp_path, row))
    assert observation.behaviour is None and not observation.stages


def test_members_that_are_not_read_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "leave", "answer": "12 days", "latency": 5})
    with open_output_files([str(path)], None) as files, prepare_decodable(files, CASES) as (file,):
        assert any("keys that were not read: latency" in notice for notice in file.notices)
    path = write(tmp_path, {"id": "leave", "answer": "12 days", "reference": "12", "context": [LEAVE]})
    with open_output_files([str(path)], None) as files, prepare_decodable(files, CASES) as (file,):
        assert any("context is taken for what the golden set expects" in notice for notice in file.notices)


@pytest.mark.parametrize("indent", [None, 1])
def test_one_list_of_rows_is_recognised(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "ragas.json"
    path.write_text(json.dumps([RAGAS, DEEPEVAL | {"id": "a"}], indent=indent), encoding="utf-8")
    assert ["leave", "a"] == [row.case_id for row in read(path)]


@pytest.mark.parametrize("rows", [[], [1], [{"case_id": "leave", "answer": "12 days"}], [{"x": 1}]])
def test_another_list_is_no_output(tmp_path: Path, rows: list[Any]) -> None:
    path = tmp_path / "outputs.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(InputError, match="a JSON array, which is one value and not a line for each case"):
        read(path)


@pytest.mark.parametrize("name", ["ragas.json", "ragas.jsonl"])
def test_a_number_that_another_tool_does_not_have_is_missing(tmp_path: Path, name: str) -> None:
    """Ragas writes NaN for a metric without a value, which no JSON can hold."""
    rows = [RAGAS | {"faithfulness": float("nan")}, RAGAS | {"id": "a", "response": float("nan"), "x": -float("inf")}]
    path = tmp_path / name
    text = json.dumps(rows) if name.endswith(".json") else "\n".join(map(json.dumps, rows))
    path.write_text(text, encoding="utf-8")
    first, second = read(path)
    assert "12 days" == first.answer
    assert not isinstance(second.answer, str)
    assert ["12 days a year"] * 2 == [case.reference for case, _ in load_foreign_file(path).cases]


def test_a_row_is_strict_json_in_all_else(tmp_path: Path) -> None:
    path = tmp_path / "ragas.jsonl"
    path.write_text('{"user_input": "Who?", "response": "HR", "response": NaN}\n', encoding="utf-8")
    with pytest.raises(InputError, match="E_KEY_TWICE"):
        read(path)


def test_an_id_decides_before_the_question(tmp_path: Path) -> None:
    observations = read(write(tmp_path, {"id": "b", "input": "Who approves?", "actual_output": "HR", "config": "x"}))
    assert [("b", "x")] == [(row.case_id, row.config_id) for row in observations]


@pytest.mark.parametrize(
    ("row", "field", "parts"),
    [
        ({"input": "Who approves?", "actual_output": "HR"}, "input", ("question of 2 cases (a, b;", "a member id")),
        ({"input": "Who aproves?", "actual_output": "HR"}, "input", ("of no case", "that of a: 'Who approves?'")),
        ({"input": ["x"], "actual_output": "HR"}, "input", ("not a text",)),
        (RAGAS | {"id": "7"}, "id", ("no such case (got '7'", "is that of leave", "leave the member out")),
        (RAGAS | {"id": 1.5}, "id", ("not a text (got 1.5; expected an id of the golden set)",)),
        (RAGAS | {"question": "Other?"}, "question", ("two questions",)),
        ({"user_input": RAGAS["user_input"]}, "", ("no output",)),
        (["no row"], "", ("not an object",)),
        (RAGAS | {"answer": "13 days"}, "", ("answer", "response")),
    ],
)
def test_a_row_that_fits_no_case_or_several_is_refused_with_its_place(
    tmp_path: Path, row: Any, field: str, parts: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as refused:
        read(write(tmp_path, RAGAS, row))
    (problem,) = refused.value.problems
    assert (2, field) == (problem.line, problem.field)
    assert all(part in problem.message for part in parts), problem.message


def test_rows_of_no_case_are_kept_for_being_counted(tmp_path: Path) -> None:
    rows = read(write(tmp_path, RAGAS, RAGAS | {"user_input": "Who won?"}), keep_unknown=True)
    assert ["leave"] == [row.case_id for row in rows if row.case_id in {case.id for case in CASES}]
    assert 2 == len(rows)


def test_without_a_golden_set_rows_are_refused_with_the_way_to_import_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="assay init --from"):
        read(write(tmp_path, RAGAS), cases=None)


def test_a_line_with_an_id_is_a_row_if_only_the_name_of_its_answer_is_of_another_tool() -> None:
    def detect(**members: str) -> str:
        return detect_output_format("x", json.dumps(members).encode())

    assert "rows" == detect(case_id="c", response="12")
    assert "assay" == detect(case_id="c", answer="12")
    with pytest.raises(InputError, match="two formats fit: assay with the answer in answer, and rows"):
        detect(case_id="c", answer="12", response="13")


def test_scores_of_rows_are_those_of_the_same_answers_in_native_lines(tmp_path: Path) -> None:
    golden = [{"id": "leave", "question": "How many days of paid leave?", "reference": "12 days a year"}]
    by_rows = assay.score(golden, write(tmp_path, RAGAS))
    native = [{"case_id": "leave", "config_id": "ragas", "retrieved_contexts": [LEAVE], "response": "12 days"}]
    assert by_rows.metric("answer_similarity") == assay.score(golden, native).metric("answer_similarity")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("timeout", TargetError("error", "timeout")),
        ({"code": "http_500", "message": "no reply"}, TargetError("http_500", "no reply")),
        ({"code": 429, "message": "slow down"}, TargetError("429", "slow down")),
        ({"type": "RateLimit", "detail": "slow down"}, TargetError("RateLimit", "slow down")),
        ({"status": 500}, TargetError("error", "status: 500")),
    ],
)
def test_a_row_that_states_an_error_in_place_of_an_answer_is_read(
    tmp_path: Path, error: Any, expected: TargetError
) -> None:
    row = {"id": "leave", "error": error}
    (observation,) = read(write(tmp_path, row))
    assert ("leave", expected) == (observation.case_id, observation.error)
    result = assay.score([{"id": "leave", "question": "How many?", "reference": "12"}], [row])
    assert 1 == len(result.failed)


def test_a_row_with_an_answer_under_two_names_is_refused_unless_both_are_the_same(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"two answers, answer and output \(expected one of them in a row\)"):
        read(write(tmp_path, {"id": "leave", "answer": "12 days", "output": "13 days"}))
    (observation,) = read(write(tmp_path, {"id": "leave", "answer": "12 days", "output": "12 days"}))
    assert "12 days" == observation.answer
    (observation,) = read(write(tmp_path, {"id": "leave", "answer": "12 days", "result": "ok", "output": {"n": 1}}))
    assert "12 days" == observation.answer


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"answer": "x", "sources": ["a"], "contexts": ["b"]}, "two rankings, sources and contexts"),
        ({"contexts": ["b"], "bot_reply": "Twelve days."}, "no answer, but a text in bot_reply"),
    ],
)
def test_what_is_wrong_with_many_rows_is_said_once_and_of_the_rows(
    tmp_path: Path, members: dict[str, Any], message: str
) -> None:
    cases = tuple(Case(f"c{number}", f"Question {number}?") for number in range(9))
    rows = [{"id": case.id, **members} for case in cases]
    with pytest.raises(InputError) as of_file:
        read(write(tmp_path, *rows), cases=cases)
    with pytest.raises(InputError) as of_values:
        assay.score([{"id": case.id, "question": case.question, "reference": "x"} for case in cases], rows)
    for raised in (of_file, of_values):
        (problem,) = raised.value.problems
        assert 1 == problem.line
        assert problem.message.startswith(message)
        assert problem.message.endswith("; the same in 8 more rows: 2, 3, 4, 5, 6 …")
        assert "target" not in problem.message


def write_table(tmp_path: Path, cell: str) -> Path:
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["question", "answer", "retrieved"], [CASES[0].question, "12 days", cell]])
    return path


def test_chunks_that_pandas_printed_into_a_table_are_read(tmp_path: Path) -> None:
    chunks = [
        {"id": "leave:3", "text": LEAVE, "score": 0.5},
        {"id": "sick:1", "text": 'It\'s "urgent".', "score": 0.25},
    ]
    urgent = chunks[1]["text"]
    (observation,) = read(write_table(tmp_path, str(chunks)))
    (stage,) = observation.stages or ()
    assert [("leave:3", LEAVE, 0.5), ("sick:1", urgent, 0.25)] == [
        (chunk.chunk_id, chunk.text, chunk.score) for chunk in stage.chunks
    ]


@pytest.mark.parametrize(
    "cell", ["[{'id': b'x'}]", "[{'id': {1, 2}}]", "[{'id': open('x')}]", "[{'id': 'a'}, 'text']", "[{'id': 1j}]"]
)
def test_a_cell_that_holds_other_things_than_texts_and_chunks_is_refused(tmp_path: Path, cell: str) -> None:
    with pytest.raises(InputError, match=r"rows.csv:2: row 1: .*a list .*save the rows as JSON Lines"):
        read(write_table(tmp_path, cell))
