"""Columns that no field of a case reads: those that describe cases are attributes, and the others are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.records.errors import InputError
from assay.runs.python_values import read_golden_value

OFFICES = ("north", "south", "north", "west")
ROWS = [
    {
        "question": f"When does desk {number} open?",
        "reference": f"At {number} o'clock.",
        "office": office,
        "floor": number,
    }
    for number, office in enumerate(OFFICES, 6)
]


def answer(question: str) -> str:
    return f"At {question.split()[3]} o'clock."


def collect_attributes(golden: Any) -> list[dict[str, str]]:
    return [case.attributes for case in read_golden_value(golden).cases]


def test_columns_are_slices_that_a_gate_may_name() -> None:
    rule = {"metric": "correct_answer", "at_least": 0.1, "slice": "office=north"}
    measured = assay.run(answer, ROWS, by="office", gate={"rules": [rule]})
    assert ["office=north", "office=south", "office=west"] == list(measured.slices())
    assert 2 == measured.slices()["office=north"]["correct_answer"].scored
    assert "PASS_WITH_RISK" == measured.decision.outcome  # two cases are few
    assert "FAIL" == assay.gate(measured, {"rules": [{**rule, "slice": "office=east"}]}).outcome
    said = "golden-set columns read as attributes, for slices and gates: office=north, floor=6"
    assert 1 == str(measured).count(said) and len(str(measured).splitlines()) <= 8
    assert said in measured._repr_html_()


@pytest.mark.parametrize("form", ["rows", "ids", "columns", "jsonl", "csv", "words of Assay", "units"])
def test_every_form_of_rows_has_the_same_attributes(form: str, tmp_path: Path) -> None:
    expected = [{"office": office, "floor": str(number)} for number, office in enumerate(OFFICES, 6)]
    golden: Any = ROWS
    if form == "ids":
        golden = [{"id": f"desk-{number}", **row} for number, row in enumerate(ROWS)]
    elif form == "columns":
        golden = {key: [row[key] for row in ROWS] for key in ROWS[0]}
    elif form == "jsonl":
        golden = tmp_path / "rows.jsonl"
        golden.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    elif form == "csv":
        golden = tmp_path / "rows.csv"
        lines = [",".join(f'"{value}"' for value in row.values()) for row in ROWS]
        golden.write_text("\n".join([",".join(ROWS[0]), *lines]) + "\n", encoding="utf-8")
    elif form == "words of Assay":
        golden = [{**row, "must_have": ["o'clock"]} for row in ROWS]
    elif form == "units":
        golden = [{**row, "id": f"d{number}", "evidence": [{"chunk_id": "c"}]} for number, row in enumerate(ROWS)]
    assert expected == collect_attributes(golden)


def test_a_table_is_imported_with_its_columns_and_scored_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(
        "question,reference,response,Difficulty,Site\nWhat fee?,9 EUR,9 EUR,Hard,Ulm\nRent?,8 EUR,8 EUR,easy,Bonn\n"
    )
    assert 0 == main(["init", "--from", "rows.csv"])
    assert "read as attributes, for slices and gates: Site=Ulm" in capsys.readouterr().err
    assert ["hard", "easy"] == [case.difficulty for case in load_golden("golden.jsonl").golden.cases]
    monkeypatch.setenv("COLUMNS", "250")
    main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--by", "Site", "--verbose"])
    assert "Site=Bonn" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("hints", [["a"], ["b"]]),
        ("remark", ["word " * 30, "short"]),
        ("weight", [1, 0.5]),
        ("weight", ["0.25", "1"]),
        ("tenant", ["a", "b"]),
        ("kind", ["table", "text"]),
        ("a=b", ["x", "y"]),
        ("Source", ["a.md", "b.md"]),
        ("tgas", ["x", "y"]),
    ],
)
def test_what_is_no_attribute_is_named_as_not_read(name: str, values: list[Any]) -> None:
    rows = [
        {"user_input": f"What of {number}?", "reference": "Nine.", name: value} for number, value in enumerate(values)
    ]
    measured = assay.run(lambda _: "Nine.", rows)
    assert not any(case.attributes for case in measured.run.golden.cases)
    assert any(f"keys that were not read: {name}" in warning for warning in measured.scoring.warnings)


def test_of_answered_rows_only_texts_that_say_nothing_of_the_run_are_attributes() -> None:
    rows = [
        {
            "user_input": "What fee?", "reference": "9 EUR", "response": "9 EUR", "config_id": config,
            "team": "sales", "llm_model": config, "latency_ms": 12, "passed": True, "mood": mood,
        }
        for config, mood in (("one", "calm"), ("two", "tense"))
    ]  # fmt: skip
    scored = assay.score(rows, rows)
    assert [{"team": "sales"}] == [case.attributes for case in scored.run.golden.cases]
    assert ("one", "two") == scored.configs
    unread = "golden-set keys that were not read: latency_ms, llm_model, mood, passed"
    assert unread in scored.scoring.warnings


def test_a_missing_cell_is_no_attribute_and_whole_numbers_stay_as_they_are_written() -> None:
    rows = [
        {"question": "What fee?", "reference": "9 EUR", "grade": 3.0},
        {"question": "What rent?", "reference": "8 EUR", "grade": float("nan")},
    ]
    assert [{"grade": "3.0"}, {}] == collect_attributes(rows)


def test_a_category_is_a_tag_and_an_attribute_and_a_stated_attribute_is_kept() -> None:
    row = {
        "question": "What fee?",
        "reference": "9 EUR",
        "category": "fees",
        "attributes": {"site": "Ulm"},
        "wing": "b",
    }
    (case,) = read_golden_value([row]).cases
    assert ("fees",) == case.tags
    assert {"category": "fees", "site": "Ulm", "wing": "b"} == case.attributes


@pytest.mark.parametrize(
    ("row", "field", "remedy"),
    [
        ({"difficulty": "expert"}, "difficulty", "another name, such as level"),
        ({"language": 7}, "language", "x_language for a note"),
        ({"attributes": {"site": 7}}, "attributes", "expected {name: text}"),
    ],
)
def test_a_value_that_its_field_does_not_have_is_refused(row: dict[str, Any], field: str, remedy: str) -> None:
    with pytest.raises(InputError) as refused:
        read_golden_value([{"question": "What fee?", "reference": "9 EUR", "wing": "b", **row}])
    (problem,) = refused.value.problems
    assert (1, field) == (problem.line, problem.field) and remedy in problem.message


@pytest.mark.parametrize("name", ["metadata", "additional_metadata", "additionalMetadata"])
def test_members_of_metadata_are_columns(name: str) -> None:
    rows = [
        {"input": "What fee?", "expected_output": "9 EUR", name: {"team": "shop", "weights": [1]}, "city": "Ulm"},
        {"input": "What rent?", "expected_output": "8 EUR", name: {"team": "desk", "city": "Bonn"}},
    ]
    assert [{"team": "shop", "city": "Ulm"}, {"team": "desk", "city": "Bonn"}] == collect_attributes(rows)
    measured = assay.run(lambda _: "9 EUR", rows, by="team")
    assert ["team=desk", "team=shop"] == list(measured.slices())
    assert "golden-set keys that were not read: weights" in measured.scoring.warnings
