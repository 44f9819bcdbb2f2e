"""Spreadsheets of questions: whatever separates their cells, and what they say of questions to decline."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.formats.golden_files import load_golden
from assay.records.errors import InputError
from assay.runs.import_rows import import_rows

ROWS = [
    ["question_id", "question", "expected_answer", "must_refuse"],
    ["tide", "When is high tide, please?", "06:30", "false"],
    ["win", "Who wins on Sunday?", "Nobody knows", "TRUE"],
]


def write_sheet(folder: Path, separator: str) -> str:
    lines = [separator.join(f'"{cell}"' if "," in cell else cell for cell in row) for row in ROWS]
    path = folder / "sheet.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_sheet_is_read_the_same_way_by_its_format_and_by_the_import(tmp_path: Path, separator: str) -> None:
    path = write_sheet(tmp_path, separator)
    import_rows(path, str(tmp_path))
    direct, imported = load_golden(path).golden.cases, load_golden(tmp_path / "golden.jsonl").golden.cases
    assert direct == imported
    assert [("answer", ()), ("abstain", ("permission_denied",))] == [
        (case.behaviour, case.also_accept) for case in imported
    ]


def test_an_import_refuses_a_value_that_says_neither(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("question,expected_answer,must_refuse\nWho wins?,Nobody knows,perhaps\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"must_refuse: .*expected true or false"):
        import_rows(str(path), str(tmp_path))
