"""Correctness by judge and rules together: the judge's grade, with the score of the rules as prior and tie-break."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.calibration.calibrating import JUDGE, write_labels, write_verdict_export
from tests.metrics.answers import make_parsed_answer

from assay.calibration.collect_scorer_labels import LabelItem
from assay.cli import main
from assay.gates.calibration_file import load_calibrations
from assay.metrics.answers.correctness import AnswerPrior, read_answer_prior
from assay.metrics.grounding.combined_support import UNCALIBRATED_ANSWER_CURVE, compute_combined_probability
from assay.records.golden_set import Case, Rubric
from assay.records.requests import InputOptions

CASES = 120


@pytest.mark.parametrize(
    ("answer", "case", "signal", "cap"),
    [
        ("It is 12 days.", {"must_have": ("12 days",)}, 1.0, 1.0),
        ("It is 14 days.", {"must_have": ("12 days",)}, -1.0, 0.0),
        ("Maybe 12 days.", {"must_have": ("12 days",)}, 0.0, 1.0),
        ("12 days.", {"must_have": ("12 days", "the manager signs")}, 0.0, 1.0),
        ("It is 14 days.", {"reference": "12 days", "rubric": Rubric(kind="number")}, -1.0, 0.0),
    ],
)
def test_the_prior_is_what_the_rules_say_and_its_cap_what_they_veto(
    answer: str, case: dict[str, object], signal: float, cap: float
) -> None:
    reading = make_parsed_answer(answer, Case("q", "How long?", **case))  # type: ignore[arg-type]  # of one kind each
    assert AnswerPrior(signal, cap) == read_answer_prior(reading)


def test_rules_break_the_tie_of_a_judge_that_says_partly() -> None:
    wrong, unknown, right = (
        compute_combined_probability(signal, 0.5, UNCALIBRATED_ANSWER_CURVE) for signal in (-1.0, 0.0, 1.0)
    )
    assert wrong < unknown == 0.5 < right


def _is_right(item: LabelItem) -> bool:
    return int(item.key[0][1:]) % 3 > 0


def _lenient(item: LabelItem) -> str:
    """A judge that takes every second wrong answer for a half one, and every fifth right one too."""
    number = int(item.key[0][1:])
    if _is_right(item):
        return "partly_correct" if number % 5 == 0 else "correct"
    return "partly_correct" if number % 2 else "incorrect"


@pytest.mark.slow
def test_correctness_is_calibrated_scored_and_may_gate_by_judge_and_rules_together(tmp_path: Path) -> None:
    golden, outputs = [], []
    for number in range(CASES):
        days = f"{number + 10} days"
        golden.append(
            {
                "id": f"c{number:03}",
                "question": "How long?",
                "behaviour": "answer",
                "must_have": [days],
                "reference": days,
            }
        )
        stated = days if number % 3 else f"{number + 300} days"
        outputs.append({"case_id": f"c{number:03}", "answer": f"It takes {stated}."})
    for name, rows in (("golden.jsonl", golden), ("outputs.jsonl", outputs)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = ["--golden", str(tmp_path / "golden.jsonl"), "--outputs", str(tmp_path / "outputs.jsonl")]
    where = InputOptions(golden=files[1], outputs=(files[3],))
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [_lenient])], ("correctness",))
    labels = write_labels(
        tmp_path / "l.jsonl", where, "correctness", lambda item: "correct" if _is_right(item) else "incorrect"
    )
    out = str(tmp_path / "calibration.json")
    assert 0 == main(["calibrate", "--labels", labels, "--verdicts", verdicts, *files, "--out", out])
    record = load_calibrations(out)["correctness(by=combined)"]
    assert record.platt is not None and {"slope", "judge", "intercept"} == record.platt.keys()
    assert record.may_gate, record.reasons
    rows_file = tmp_path / "cases.jsonl"
    name = "correctness(by=combined)"
    for calibrated in ((), ("--calibration", out)):
        options = ["--verdicts", verdicts, *calibrated, "--metrics", name, "--per-case", str(rows_file)]
        assert 0 == main(["score", *files, *options])
        values = {
            row["case_id"]: row["scores"][name] for row in map(json.loads, rows_file.read_text("utf-8").splitlines())
        }
        right = [values[f"c{number:03}"] for number in range(CASES) if number % 3]
        wrong = [values[f"c{number:03}"] for number in range(CASES) if number % 3 == 0]
        assert max(wrong) < 0.5 < min(right)
