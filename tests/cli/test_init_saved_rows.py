"""`assay init --from` with files that DeepEval, LangChain and pandas write themselves."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.formats.foreign.row_outputs import convert_rows
from assay.formats.golden_files import load_golden

PARKING = "A guest may park for two hours."
BICYCLES = "Bicycles stand in the yard."
COLUMNS = ("input", "actual_output", "expected_output", "retrieval_context", "context", "name")
SAVED = [
    {
        "input": "How long may a guest park?", "actual_output": "Two hours.", "expected_output": "2 hours",
        "retrieval_context": f"{PARKING}|{BICYCLES}", "context": f"{PARKING}|{BICYCLES}", "name": None,
    },
    {
        "input": "Where do bicycles stand?", "actual_output": "In the yard.", "expected_output": "In the yard",
        "retrieval_context": BICYCLES, "context": None, "name": None,
    },
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and a wide screen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path


def save_rows(folder: Path, name: str, rows: list[dict[str, Any]]) -> str:
    """Write rows as DeepEval's `save_as` does, with empty cells or null for what is missing."""
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        if name.endswith(".csv"):
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        elif name.endswith(".jsonl"):
            file.writelines(json.dumps(row) + "\n" for row in rows)
        else:
            json.dump(rows, file)
    return name


def read_outputs(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "outputs.jsonl").read_text(encoding="utf-8").splitlines()]


def list_texts(output: dict[str, Any], stage: str) -> list[str]:
    chunks = [item["chunks"] for item in output["stages"] if item["name"] == stage]
    return [chunk["text"] for chunk in chunks[0]] if chunks else []


@pytest.mark.parametrize("name", ["saved.csv", "saved.jsonl"])
def test_contexts_that_deepeval_joined_are_texts_again(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert 0 == main(["init", "--from", save_rows(folder, name, SAVED)])
    assert "retrieval_context is read as texts joined with |" in capsys.readouterr().err
    first, second = read_outputs(folder)
    assert [PARKING, BICYCLES] == list_texts(first, "retrieved") == list_texts(first, "context")
    assert [BICYCLES] == list_texts(second, "retrieved")
    cases = load_golden(folder / "golden.jsonl").golden.cases
    assert [[PARKING, BICYCLES], []] == [[unit.quote for unit in case.evidence] for case in cases]
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", name, "--metrics", "recall@5"])
    assert "1.000" in capsys.readouterr().out


@pytest.mark.parametrize(
    "joined",
    ["Day | Hours\nMonday | 9 to 5", "|Day|Hours|\n|---|---|", f"{PARKING}||{BICYCLES}", "See below:\n| a |\nend."],
)
def test_a_bar_that_may_belong_to_a_table_is_refused_with_the_form_that_keeps_lists(
    folder: Path, capsys: pytest.CaptureFixture[str], joined: str
) -> None:
    rows = [SAVED[1], {**SAVED[0], "retrieval_context": joined}]
    assert 2 == main(["init", "--from", save_rows(folder, "saved.jsonl", rows)])
    message = capsys.readouterr().err
    assert "saved.jsonl:2: retrieval_context: E_IMPORT a | that could end a text" in message
    assert 'save_as("json")' in message
    assert ["saved.jsonl"] == [path.name for path in folder.iterdir()]


def test_a_context_of_one_text_with_a_bar_in_other_rows_stays_one_text(folder: Path) -> None:
    rows = [{"question": "Which letters?", "answers": {"text": ["a"]}, "context": "Either a|b or c."}]
    assert 0 == main(["init", "--from", save_rows(folder, "squad.json", rows)])
    assert ["Either a|b or c."] == [
        unit.quote for unit in load_golden(folder / "golden.jsonl").golden.cases[0].evidence
    ]


DOCUMENT = {"page_content": PARKING, "metadata": {"source": "house.md"}}
CHAINS = {
    "a question chain": {
        "query": "How long may a guest park?", "result": "Two hours.", "source_documents": [DOCUMENT],
    },
    "a retrieval chain": {
        "input": "How long may a guest park?", "answer": "Two hours.", "context": [{**DOCUMENT, "type": "Document"}],
    },
    "a retrieval chain with a reference": {
        "input": "How long may a guest park?", "answer": "Two hours.", "context": [DOCUMENT], "reference": "2 hours",
    },
    "a prediction with what was found": {
        "question": "How long may a guest park?", "prediction": "Two hours.", "documents": [DOCUMENT],
    },
}  # fmt: skip


@pytest.mark.parametrize("row", CHAINS.values(), ids=CHAINS)
def test_results_of_langchain_are_imported_as_they_are_scored(
    folder: Path, capsys: pytest.CaptureFixture[str], row: dict[str, Any]
) -> None:
    assert 0 == main(["init", "--from", save_rows(folder, "chain.json", [row])])
    assert "no counterpart" not in capsys.readouterr().err
    (output,) = read_outputs(folder)
    stage = "context" if "context" in row else "retrieved"
    assert ("Two hours.", [PARKING]) == (output["answer"], list_texts(output, stage))
    assert [stage] == [item["name"] for item in output["stages"]]
    cases = load_golden(folder / "golden.jsonl").golden.cases
    convert_rows(folder / "chain.json", "chain.json", folder / "scored.jsonl", cases, "imported")
    (as_scored,) = [json.loads(line) for line in (folder / "scored.jsonl").read_text(encoding="utf-8").splitlines()]
    assert output == {key: value for key, value in as_scored.items() if key != "question"}
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "chain.json"])


def test_an_answer_next_to_a_reference_alone_is_imported(folder: Path) -> None:
    rows = [{"question": "Who has the key?", "ground_truth": "The porter", "generated_answer": "The porter has it."}]
    assert 0 == main(["init", "--from", save_rows(folder, "rows.json", rows)])
    assert ["The porter has it."] == [output["answer"] for output in read_outputs(folder)]


def test_a_result_next_to_a_reference_alone_may_be_a_verdict_and_is_no_answer(folder: Path) -> None:
    rows = [{"question": "Who has the key?", "ground_truth": "The porter", "result": "pass"}]
    assert 0 == main(["init", "--from", save_rows(folder, "rows.json", rows)])
    assert not (folder / "outputs.jsonl").exists()


@pytest.mark.parametrize("member", ["result", "completion"])
def test_a_text_of_which_nothing_says_whose_it_is_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], member: str
) -> None:
    rows = [{"question": "Who has the key?", member: "The porter"}]
    assert 2 == main(["init", "--from", save_rows(folder, "rows.json", rows)])
    assert f"{member}: E_IMPORT could be what is expected or what the system answered" in capsys.readouterr().err
    assert not (folder / "golden.jsonl").exists()


FRAME: dict[str, dict[str, object]] = {
    "user_input": {"0": "Who has the key?", "1": "Where is the yard?"},
    "response": {"0": "The porter.", "1": "Behind the house."},
    "reference": {"0": "The porter", "1": None},
}


def test_a_data_frame_with_rows_by_name_is_refused_with_the_form_that_has_rows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {key: {f"r{row}": value for row, value in column.items()} for key, column in FRAME.items()}
    (folder / "frame.json").write_text(json.dumps(named), encoding="utf-8")
    assert 2 == main(["init", "--from", "frame.json"])
    assert "user_input: E_IMPORT not a text" in (message := capsys.readouterr().err)
    assert 'to_json(path, orient="records")' in message


ROWS = [{name: column[label] for name, column in FRAME.items()} for label in ("0", "1")]
CELLS = [list(row.values()) for row in ROWS]
SPLIT: dict[str, object] = {"columns": list(FRAME), "index": [0, 1], "data": CELLS}
FRAMES: dict[str, object] = {
    "columns": FRAME,
    "index": {"0": ROWS[0], "1": ROWS[1]},
    "split": SPLIT,
    "table": {"schema": {"fields": []}, "data": ROWS},
}


@pytest.mark.parametrize("orient", FRAMES)
def test_a_data_frame_is_read_in_each_form_that_has_names(
    folder: Path, orient: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "frame.json").write_text(json.dumps(FRAMES[orient]), encoding="utf-8")
    assert 0 == main(["init", "--from", "frame.json"])
    cases = load_golden(folder / "golden.jsonl").golden.cases
    assert [("Who has the key?", "The porter"), ("Where is the yard?", None)] == [
        (case.question, case.reference) for case in cases
    ]
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "frame.json"])
    assert 2 == main(["golden", "check", "frame.json"])
    assert 'expected a case on each row: to_json(path, orient="records"); `assay init' in capsys.readouterr().err


@pytest.mark.parametrize("frame", [{"key": ROWS[0], "yard": ROWS[1]}, {**SPLIT, "index": ["key", "yard"]}])
def test_names_of_the_rows_of_a_data_frame_are_ids(folder: Path, frame: dict[str, object]) -> None:
    (folder / "frame.json").write_text(json.dumps(frame), encoding="utf-8")
    assert 0 == main(["init", "--from", "frame.json"])
    assert ["key", "yard"] == [case.id for case in load_golden(folder / "golden.jsonl").golden.cases]


@pytest.mark.parametrize("frame", [CELLS, {"user_input": {"a": "Who?"}, "response": {"a": "Me."}}, FRAMES["index"]])
def test_a_data_frame_that_cannot_be_read_is_refused_with_the_form_that_has_rows(
    folder: Path, frame: object, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rows.json").write_text(json.dumps(ROWS), encoding="utf-8")
    assert 0 == main(["init", "--from", "rows.json"])
    (folder / "frame.jsonl").write_text(json.dumps(frame) + "\n", encoding="utf-8")
    assert 2 == main(["score", "--golden", "golden.jsonl", "--outputs", "frame.jsonl"])
    assert 'of a data frame write rows: to_json(path, orient="records")' in capsys.readouterr().err


def test_an_object_without_rows_is_named_by_its_members(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "all.json").write_text(json.dumps({"results": [{"user_input": "Who?"}], "mean": 1}), encoding="utf-8")
    assert 2 == main(["init", "--from", "all.json"])
    assert "no rows (got an object with results, mean; expected a list of rows" in capsys.readouterr().err


def test_names_of_test_cases_are_their_ids_if_each_has_one_of_its_own(folder: Path) -> None:
    rows = [{**row, "name": f"parking {number}"} for number, row in enumerate(SAVED)]
    rows[1]["input"] = rows[0]["input"]  # the same question twice: only the names tell the cases apart
    assert 0 == main(["init", "--from", save_rows(folder, "saved.jsonl", rows)])
    assert ["parking 0", "parking 1"] == [case.id for case in load_golden(folder / "golden.jsonl").golden.cases]
    assert ["parking 0", "parking 1"] == [output["case_id"] for output in read_outputs(folder)]
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "saved.jsonl", "--metrics", "recall@5"])


def test_names_that_are_shared_describe_the_cases(folder: Path) -> None:
    rows = [{**row, "name": "smoke"} for row in SAVED]
    assert 0 == main(["init", "--from", save_rows(folder, "saved.jsonl", rows)])
    assert ["smoke", "smoke"] == [case.attributes["name"] for case in load_golden(folder / "golden.jsonl").golden.cases]
