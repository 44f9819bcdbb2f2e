"""The line that a message names is the one that an editor shows, whatever the format of the rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.formats.foreign.row_places import find_item_lines

ROWS: list[dict[str, Any]] = [
    {"question": "Where is\nthe lift?", "reference": "Left"},
    {"question": "When is tea?", "reference": "At four"},
    {"question": 4, "reference": "Yes"},
]
FILES = {
    "table.csv": ('question,reference\n"Where is\nthe lift?",Left\n\nWhen is tea?,"At\nfour",surplus\n', 5, "row 2: "),
    "plain.csv": ('question,response,contexts\nWhen is tea?,At four,"[\'x\', 5]"\n', 2, "row 1: contexts: "),
    "list.json": (json.dumps(ROWS, indent=2), 10, "row 3: question: "),
    "member.json": (json.dumps({"note": ["data"], "data": ROWS}, indent=1), 14, "row 3: question: "),
    "one-line.json": (json.dumps(ROWS), 1, "row 3: question: "),
    "lines.jsonl": ("\n\n".join(map(json.dumps, ROWS)) + "\n", 5, "question: "),
    "tests.yaml": ("prompts: [p]\ntests:\n- vars: {question: a}\n- note: later\n", 4, "tests[1].vars: "),
    "alone.yaml": ("# all\n- vars: {question: a}\n\n- {note: later}\n", 4, "tests[1].vars: "),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_problem_of_an_import_is_at_the_line_of_its_row(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text, line, place = FILES[name]
    (folder / name).write_text(text, encoding="utf-8")
    assert 2 == main(["init", "--from", name])
    assert capsys.readouterr().err.startswith(f"{name}:{line}: {place}E_")
    assert [name] == [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("name", ["answers.csv", "answers.json"])
def test_a_problem_of_outputs_is_at_the_line_of_its_row(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    case = {"id": "tea", "question": "When is tea?", "reference": "At four"}
    (folder / "golden.jsonl").write_text(json.dumps(case), encoding="utf-8")
    rows = [{"question": "When is tea?", "response": "At\nfour."}, {"question": "When is lunch?", "response": "Noon."}]
    text = json.dumps(rows, indent=1)
    if name.endswith(".csv"):
        text = 'question,response\nWhen is tea?,"At\nfour."\nWhen is lunch?,Noon.\n'
    (folder / name).write_text(text, encoding="utf-8")
    assert 2 == main(["score", "--golden", "golden.jsonl", "--outputs", name])
    line = 4 if name.endswith(".csv") else 6
    assert f"{name}:{line}: row 2: question: E_ROW the question of no case" in capsys.readouterr().err


def test_what_reading_the_golden_set_would_refuse_is_at_the_line_of_its_row(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "id,question,reference\nlift,Where?,Left\nstairs,Who?,Ida\ntea\x7f,When?,At four\n"
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    assert 2 == main(["init", "--from", "rows.csv"])
    assert "rows.csv:4: row 3: id: E_ID control character inside" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["question", "reference"])
def test_a_nul_character_in_a_cell_is_called_one(folder: Path, capsys: pytest.CaptureFixture[str], column: str) -> None:
    cells = {"question": "Where?", "reference": "['Left']"} | {column: "['Le\0ft']"}
    (folder / "rows.csv").write_text(
        f"question,reference\n{cells['question']},{cells['reference']}\n", encoding="utf-8"
    )
    assert 2 == main(["init", "--from", "rows.csv"])
    assert f"rows.csv:2: row 1: {column}: E_TEXT a NUL character" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.csv"])
@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_called_empty(folder: Path, capsys: pytest.CaptureFixture[str], name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    assert 2 == main(["init", "--from", name])
    assert f"{name}: E_EMPTY no row (got an empty file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "first", ["When is tea?,At four,At four", "When is tea?,Noon,At four", "Tea is served at four.,4,5"]
)
def test_a_table_without_a_header_is_refused_as_such(
    folder: Path, capsys: pytest.CaptureFixture[str], first: str
) -> None:
    (folder / "rows.csv").write_text(f"{first}\nWhere is it?,Left,Left\n", encoding="utf-8")
    assert 2 == main(["init", "--from", "rows.csv"])
    message = capsys.readouterr().err
    assert message.startswith(f"rows.csv:1: E_HEADER no header (got {first.split(',')!r}"[:40])
    assert "expected the names of the columns in the first line, such as question and reference" in message


def test_a_header_of_other_names_is_no_missing_header(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rows.csv").write_text("topic,remark\nWhen is tea?,At four\n", encoding="utf-8")
    assert 2 == main(["init", "--from", "rows.csv"])
    assert "question: E_IMPORT missing (got remark, topic" in capsys.readouterr().err


@pytest.mark.parametrize("indent", [None, 0, 3])
def test_lines_of_items_are_those_at_which_they_begin(indent: int | None) -> None:
    rows = [{"a": [1, {"b": "]\n"}]}, [], 'x,\\"]', 4.5, None, {}]
    text = "\n" + json.dumps({"first": {"data": [0]}, "data": rows, "last": [1]}, indent=indent)
    begins = find_item_lines(text, "data")
    assert len(rows) == len(begins) and sorted(begins) == begins
    if indent is not None:
        shown = text.split("\n")
        assert all(shown[line - 1].strip()[:1] == json.dumps(row)[:1] for line, row in zip(begins, rows, strict=True))
    assert [] == find_item_lines(text, "other") == find_item_lines('"x"', None)
