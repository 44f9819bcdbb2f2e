"""`*-graded.jsonl`: one schema for people and models; invalid grades stay in the file and count in no rate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.formats.labels.label_files import (
    Grade,
    LabelScales,
    collect_grades,
    encode_graded,
    encode_labels_jsonl,
    load_graded,
    load_labels,
)
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError
from assay.records.verdicts import Label

SCALES: LabelScales = {
    "grade": {"fully_correct": 1.0, "partially_correct": 0.5, "unsupported": 0.0, "wrong": 0.0},
    "failure_label": dict.fromkeys(["hallucination", "retrieval_miss", "none"]),
}


def row(case: str, **members: Any) -> dict[str, Any]:
    return {
        "question_id": case,
        "question": "?",
        "answer": "12 days",
        "evidence_files": ["a.py"],
        "model": "m",
    } | members


def written(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return str(path)


def test_grades_of_a_model_and_of_a_person_are_labels_of_the_same_kind(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        row(
            "q1",
            grade="wrong",
            failure_label="hallucination",
            grading_notes="no",
            judge_model="g",
            judge_confidence=0.8,
        ),
        row("q2", grade="fully_correct", failure_label=None, grading_notes="yes"),
    )
    hashed = compute_answer_hash("12 days")
    assert (
        Label("q1", "grade", "g", "wrong", config_id="m", answer_hash=hashed, source="judge", note="no"),
        Label("q1", "failure_label", "g", "hallucination", config_id="m", answer_hash=hashed, source="judge"),
        Label("q2", "grade", "Lan", "fully_correct", config_id="m", answer_hash=hashed, note="yes"),
    ) == load_graded(path, SCALES, "Lan").labels


@pytest.mark.parametrize(
    "members",
    [
        {"grade": "great"},
        {"grade": "wrong", "grading_error": "the judge's reply could not be read"},
        {"failure_label": "bad luck"},
    ],
)
def test_a_grade_that_is_none_stays_in_its_row_and_is_no_label(tmp_path: Path, members: dict[str, Any]) -> None:
    graded = load_graded(written(tmp_path, row("q1", **members)), SCALES)
    assert () == graded.labels
    assert members.items() <= graded.rows[0].items()
    assert "left out of all rates" in graded.flawed[0].message


def test_an_unreadable_verdict_does_not_count_as_unsupported(tmp_path: Path) -> None:
    """The code benchmark writes `unsupported` and a grading_error for a reply that it cannot parse: not a grade."""
    path = written(tmp_path, row("q1", grade="unsupported", grading_error="invalid JSON", judge_confidence=0.0))
    assert () == load_graded(path, SCALES).labels


def test_a_file_comes_out_as_it_went_in(tmp_path: Path) -> None:
    rows = [
        row("q1", x=[1], grade="wrong", failure_label="hallucination", grading_notes="n", judge_confidence=0.5,
            judge_model="g"),
        row("q2", grade="fully_correct", failure_label=None, grading_notes="", judge_confidence=None, judge_model=None),
    ]  # fmt: skip
    graded = load_graded(written(tmp_path, *rows), SCALES)
    assert rows == [json.loads(line) for line in encode_graded(graded.rows, graded.grades, SCALES)]


def test_grading_again_replaces_the_grade_and_nothing_else(tmp_path: Path) -> None:
    graded = load_graded(written(tmp_path, row("q1", grade="wrong", grading_error="x", metadata={"a": 1})), SCALES)
    (line,) = encode_graded(graded.rows, {("q1", "m"): Grade("fully_correct", "hallucination", "ok")}, SCALES)
    assert row("q1", metadata={"a": 1}) | {
        "grade": "fully_correct",
        "failure_label": None,
        "grading_notes": "ok",
        "judge_confidence": None,
        "judge_model": None,
    } == json.loads(line)


def test_a_row_without_a_grade_and_one_with_an_unknown_grade_say_so() -> None:
    lines = [json.loads(line) for line in encode_graded([row("q1"), row("q2")], {("q2", "m"): Grade("good")}, SCALES)]
    assert "not graded" == lines[0]["grading_error"]
    assert "good" == lines[1]["grade"]
    assert "unknown label (got 'good'" in lines[1]["grading_error"]


def test_labels_of_one_rater_become_grades(tmp_path: Path) -> None:
    labels = (
        Label("q1", "grade", "Lan", "wrong", config_id="m", note="no"),
        Label("q1", "failure_label", "Lan", "hallucination", config_id="m"),
    )
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b"".join(encode_labels_jsonl(labels)))
    assert {("q1", "m"): Grade("wrong", "hallucination", "no")} == collect_grades(load_labels([str(path)], SCALES))
    with pytest.raises(InputError, match="graded by several raters"):
        collect_grades([*labels, Label("q1", "grade", "Minh", "wrong", config_id="m")])


def test_lines_that_are_no_run_log_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"question": "?"}\n{"question_id": 3}\nnot json\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_graded(str(path), SCALES)
    assert [f"{path}:1", f"{path}:2", f"{path}:3"] == [f"{each.path}:{each.line}" for each in caught.value.problems]
