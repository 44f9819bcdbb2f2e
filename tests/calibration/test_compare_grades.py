"""`assay labels grades`: grades of people and models, summarised, compared and selected for review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.calibration.compare_grades import GradedRequest, summarise_graded
from assay.cli import main
from assay.records.errors import InputError

SCALE = {"F": "fully_correct", "P": "partially_correct", "U": "unsupported", "W": "wrong"}


def write_log(path: Path, grades: str, **members: Any) -> str:
    """Write a graded run log: one row for each letter of `grades`, `-` for a row without a grade."""
    rows = []
    for number, letter in enumerate(grades):
        row = {"question_id": f"q{number}", "answer": "x", "category": "odd" if number % 2 else "even"} | members
        row |= {"grade": SCALE[letter]} if letter != "-" else {"grade": None, "grading_error": "timeout"}
        if letter in "UW":
            row["failure_label"] = "hallucination"
        rows.append(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_grades_are_summarised_by_category(tmp_path: Path) -> None:
    """Of F, P, W and U the mean is (1 + .5 + 0 + 0) / 4; the row without a grade counts in no share."""
    graded = summarise_graded(GradedRequest([write_log(tmp_path / "a-graded.jsonl", "FPWU-", config_id="a")]))
    everything, even, odd = graded.summaries
    assert ("a", "person", "all", 4, 1, 0.375) == (
        everything.config, everything.rater, everything.category, everything.n, everything.ungraded, everything.mean
    )  # fmt: skip
    assert {"hallucination": 2} == everything.failures
    assert (1, 0.25) == (everything.grades["wrong"].count, everything.grades["wrong"].share)
    assert (0.5, 0.25) == (even.mean, odd.mean)
    assert ["q4"] == [entry.case_id for entry in graded.review]
    assert "timeout" == graded.review[0].reason


def test_configurations_and_raters_are_compared_case_by_case(tmp_path: Path) -> None:
    files = [
        write_log(tmp_path / "a.jsonl", "FPWU", config_id="a"),
        write_log(tmp_path / "b.jsonl", "FFWF", config_id="b"),
        write_log(tmp_path / "model.jsonl", "FPFU", config_id="a", judge_model="grader-1", judge_confidence=0.6),
    ]
    graded = summarise_graded(GradedRequest(files, below=0.7))
    by_kind = {comparison.kind: comparison for comparison in graded.comparisons}
    configs, raters = by_kind["configurations"], by_kind["raters"]
    assert (4, 2, 0, 2, 0.375) == (configs.n, configs.better, configs.worse, configs.same, configs.difference)
    assert ("q1: partially_correct → fully_correct", "q3: unsupported → fully_correct") == configs.changed
    assert ("a by grader-1", "a by person") == (raters.first, raters.second)
    reasons = [(entry.case_id, entry.reason) for entry in graded.review]
    assert ("q0", "confidence 0.6 is below 0.7") in reasons
    assert ("q2", "raters differ: fully_correct by grader-1, wrong by person") in reasons
    assert not summarise_graded(GradedRequest(files, below=0.6)).review[1:]


def test_an_answer_graded_twice_by_one_rater_is_an_error(tmp_path: Path) -> None:
    path = write_log(tmp_path / "a.jsonl", "F", config_id="a")
    with pytest.raises(InputError, match="graded twice by person"):
        summarise_graded(GradedRequest([path, path]))


def test_a_grade_off_the_scale_is_for_review_and_counts_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"question_id": "q0", "answer": "x", "grade": "superb"}\n{"question_id": "q1", "grade": "wrong"}\n'
    )
    assert 0 == main(["labels", "grades", str(path)])
    printed = capsys.readouterr()
    assert "unknown by person: 1 graded, mean 0.00" in printed.out
    assert "q0 (unknown by person): no grade that is on the scale" in printed.out
    assert f"{path}:1: grade" in printed.err
    assert 0 == main(["labels", "grades", str(path), "--format", "json"])
    assert 1 == json.loads(capsys.readouterr().out)["summaries"][0]["ungraded"]
