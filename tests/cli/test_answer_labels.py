"""What rules leave open is decided by people, end to end: exported, labelled, imported and scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main
from assay.metrics.settled_answers import digest_expectations
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError
from assay.records.golden_set import Case

GOLDEN: list[dict[str, Any]] = [
    {"id": "loan", "question": "What may a reader take home?", "reference": "Readers may borrow six books at a time."},
    {"id": "fine", "question": "What is the fine per day?", "reference": "20 cents"},
    {"id": "room", "question": "Which room is the archive in?", "must_have": ["room 12"]},
    {"id": "home", "question": "Where does the warden live?", "behaviour": "abstain"},
]
OUTPUTS: list[dict[str, Any]] = [
    {"case_id": "loan", "answer": "Half a dozen volumes, if they like."},
    {"case_id": "fine", "answer": "It is 30 cents."},
    {"case_id": "room", "answer": "It is in room 12."},
    {"case_id": "home", "answer": "Hmm. I would not be the one to ask."},
]
Rows = list[dict[str, Any]]


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    write("golden.jsonl", GOLDEN)
    write("outputs.jsonl", [{"config_id": "v1", **row} for row in OUTPUTS])
    assert main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "run"]) == 0
    return tmp_path


def write(path: str, rows: Rows) -> str:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def export(*only: str, folder: str = "sheet") -> Rows:
    assert main(["labels", "export", "--run", "run", "--only", *only, "--out", folder]) == 0
    return [json.loads(line) for line in Path(folder, "answers.jsonl").read_text().splitlines()]


def label(choose: Callable[[dict[str, Any]], str | None], *only: str) -> str:
    rows = export(*only)
    filled = write("filled.jsonl", [{**row, "label": choose(row)} for row in rows])
    key = "sheet/key.json"
    assert main(["labels", "import", filled, "--key", key, "--rater", "Ann", "--out", "labels.jsonl"]) == 0
    return "labels.jsonl"


def read_case(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["score", *arguments, "--format", "json"]) in (0, 1, 3)
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_a_sheet_holds_exactly_the_open_answers_with_what_their_cases_expect() -> None:
    rows = export("ambiguous")
    assert [(row["metric"], row["answer"]) for row in rows] == [("correct_answer", OUTPUTS[0]["answer"])]
    assert rows[0]["reference"] == GOLDEN[0]["reference"]
    assert rows[0]["options"] == ["right", "wrong", "unclear"]
    assert "v1" not in Path("sheet/answers.jsonl").read_text()


def test_answers_that_fail_and_named_cases_can_be_asked_about_too() -> None:
    assert [row["answer"] for row in export("failed", folder="failed")] == ["It is 30 cents."]
    (row,) = export("case:room", folder="named")
    assert (row["metric"], row["item"]) == ("correct_answer", "room 12")
    (row,) = export("case:home", folder="other")
    assert row["metric"] == "behaviour"
    assert main(["labels", "export", "--run", "run", "--only", "case:attic", "--out", "none"]) == 2


@pytest.mark.parametrize(("answer", "value", "failed"), [("right", 1.0, 1), ("wrong", 0.0, 2)])
def test_what_a_person_decides_is_the_score_and_is_named(
    answer: str, value: float, failed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = label(lambda _: answer, "ambiguous")
    report = read_case(capsys, "run", "--labels", labels)
    result = report["configs"]["v1"]
    assert result["counts"] == {"cases": 4, "passed": 4 - failed, "failed": failed, "unknown": 0, "unanswered": 0}
    assert any("1 case settled by a person (Ann): loan" in note for note in result["notes"])
    assert main(["explain", "loan", "--run", "run", "--labels", labels]) == 0
    shown = capsys.readouterr().out
    assert "settled by Ann: correct_answer" in shown
    assert ("good answer: yes" in shown) == bool(value)


def test_a_person_overrules_the_rules_and_the_report_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "failed")
    report = read_case(capsys, "run", "--labels", labels)
    assert report["configs"]["v1"]["counts"]["failed"] == 0
    assert any("the rules say otherwise of fine" in note for note in report["configs"]["v1"]["notes"])


def test_a_label_counts_for_the_answer_that_was_read_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    changed = [{"config_id": "v1", **row, "answer": str(row["answer"]) + " Or more."} for row in OUTPUTS]
    inputs = ("--golden", "golden.jsonl", "--outputs", write("changed.jsonl", changed))
    report = read_case(capsys, *inputs, "--labels", labels)
    assert report["configs"]["v1"]["counts"]["unknown"] >= 1
    assert not any("settled" in note for note in report["configs"]["v1"]["notes"])


def test_a_label_of_a_case_that_expects_something_else_now_is_left_out_and_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    labels = label(lambda _: "right", "ambiguous")
    golden = write("golden-2.jsonl", [{**GOLDEN[0], "reference": "Readers may borrow four books."}, *GOLDEN[1:]])
    report = read_case(capsys, "--golden", golden, "--outputs", "outputs.jsonl", "--labels", labels)
    assert report["configs"]["v1"]["counts"]["unknown"] == 1
    assert any("(loan) given when the case expected something else" in text for text in report["warnings"])


def test_a_run_folder_keeps_the_labels_that_it_was_scored_with(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    assert main(["score", "run", "--labels", labels, "--run-dir", "settled"]) == 0
    Path(labels).unlink()
    report = read_case(capsys, "settled")
    assert report["configs"]["v1"]["counts"]["unknown"] == 0
    assert "answer_labels" not in Path("settled/golden.jsonl").read_text()
    assert report["golden"]["digest"] == read_case(capsys, "run")["golden"]["digest"]


def test_a_comparison_reads_the_same_answer_alike_on_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "wrong", "ambiguous")
    assert main(["score", "run", "--labels", labels, "--run-dir", "settled"]) == 0
    capsys.readouterr()
    main(["compare", "run", "settled", "--format", "json"])
    compared = json.loads(capsys.readouterr().out)
    assert compared["cases"] == []


def test_people_who_disagree_leave_an_answer_open(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    (ann,) = (json.loads(line) for line in Path(labels).read_text().splitlines())
    other = write("bo.jsonl", [{**ann, "rater": "Bo", "label": "wrong"}])
    report = read_case(capsys, "run", "--labels", labels, "--labels", other)
    assert report["configs"]["v1"]["counts"]["unknown"] == 1
    assert any("people disagree about answers to loan" in text for text in report["warnings"])


def test_what_an_answer_does_can_be_decided_too() -> None:
    golden = [{"id": "home", "question": "Where does the warden live?", "behaviour": "abstain"}]
    outputs = [{"case_id": "home", "answer": "I moved there in 2019."}]
    before = assay.score(golden, outputs)
    decided = assay.label_answer(before, "home", "abstain", rater="Ann", metric="behaviour")
    after = assay.score(golden, outputs, labels=[decided])
    assert (before.metric("behaviour").value, after.metric("behaviour").value) == (0.0, 1.0)
    assert not after.failed


def test_labels_that_cannot_be_used_are_refused_with_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"case_id": "loan", "metric": "correct_answer", "rater": "Ann", "label": "rihgt"}
    hashed = {**row, "answer_hash": compute_answer_hash("x")}
    assert main(["score", "run", "--labels", write("bad.jsonl", [hashed])]) == 2
    assert "bad.jsonl:1: label: " in (said := capsys.readouterr().err)
    assert "did you mean 'right'" in said
    assert main(["score", "run", "--labels", write("bare.jsonl", [{**row, "label": "right"}])]) == 2
    assert "no answer_hash of loan" in capsys.readouterr().err
    with pytest.raises(InputError, match="did you mean 'wrong'"):
        assay.label_answer(assay.score(GOLDEN, OUTPUTS), "loan", "wrnog", rater="Ann")
    with pytest.raises(InputError, match="no answer to label"):
        assay.label_answer(assay.score(GOLDEN, OUTPUTS), "attic", "wrong", rater="Ann")


def test_labels_for_calibration_in_the_same_file_are_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    labels = label(lambda _: "right", "ambiguous")
    other = {"case_id": "loan", "metric": "faithfulness", "rater": "Ann", "label": "supported", "item": "c1"}
    with Path(labels).open("a") as file:
        file.write(json.dumps(other) + "\n")
    assert read_case(capsys, "run", "--labels", labels)["configs"]["v1"]["counts"]["unknown"] == 0


def test_the_digest_of_what_is_expected_ignores_evidence_and_tags() -> None:
    case = Case("loan", "What?", reference="Six.", must_have=("six",))
    assert digest_expectations(case) == digest_expectations(
        Case("x", "What?", reference="Six.", must_have=("six",), tags=("a",))
    )
    assert digest_expectations(case) != digest_expectations(
        Case("loan", "What?", reference="Six.", must_have=("five",))
    )


def test_where_nothing_failed_the_next_step_is_to_read_what_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    golden, outputs = write("one.jsonl", GOLDEN[:1]), write("said.jsonl", OUTPUTS[:1])
    capsys.readouterr()
    main(["score", "--golden", golden, "--outputs", outputs])
    (command,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next: assay labels export")]
    assert main(command.removeprefix("next: assay ").split()) == 0
    assert Path("sheet/answers.html").is_file()
