"""Calibration end to end: recorded verdicts and labels in, report, file and exit code out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.calibration.calibrating import (
    CONFIGS,
    JUDGE,
    SECOND,
    Say,
    flags,
    truly,
    write_labels,
    write_verdict_export,
    write_world,
)

from assay.calibration.collect_scorer_labels import LabelItem
from assay.cli import main
from assay.gates.calibration_file import load_calibrations
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_files import StoreContents, encode_lines
from assay.metrics.judged.judge_requests import RULES_VERSION
from assay.records.verdicts import JudgeIdentity, JudgeStatus, compute_rubrics_hash


def erring(share: int) -> Say:
    """A judge that passes the canteen in every `share`-th case, and is right elsewhere."""

    def said(each: LabelItem) -> str:
        wrong = "canteen" in each.text and int(each.key[0][-3:]) // 2 % share == 0
        return "supported" if wrong else truly(each)

    return said


def calibrated(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main(["calibrate", *arguments, "--format", "json"])
    return status, json.loads(capsys.readouterr().out or "{}")


@pytest.mark.slow
def test_a_judge_is_calibrated_against_human_labels_and_scoring_reads_the_calibration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Per configuration 60 claims are supported and 30 not, of which the judge passes 3 (cases 1, 21, 41): three
    cases show no direction yet."""
    where = write_world(tmp_path)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [erring(10)])], ("faithfulness",))
    label_file = write_labels(tmp_path / "l.jsonl", where, "faithfulness")
    out, markdown = tmp_path / "calibration.json", tmp_path / "report.md"
    status, report = calibrated(
        capsys,
        "--labels",
        label_file,
        "--verdicts",
        verdicts,
        *flags(where),
        "--out",
        str(out),
        "--report",
        str(markdown),
    )
    assert 0 == status
    judge = next(each for each in report["measured"] if each["by"] == "judge")
    record = judge["calibration"]
    assert (180, 1.0, 0.9) == (record["n"], record["sensitivity"]["value"], record["specificity"]["value"])
    assert (6, 0, "no significant direction") == tuple(
        judge["bias"][name] for name in ("too_lenient", "too_strict", "direction")
    )
    assert {"tag=even", "tag=odd"} <= judge["slices"].keys()
    assert 6 == len(judge["worst"]) and "reason c2" == judge["worst"][0]["scorer_reason"]
    assert sorted(CONFIGS) == sorted(judge["corrected"])
    stored = load_calibrations(str(out))["faithfulness(by=judge)"]
    assert stored.applies_to(JUDGE.digest, compute_rubrics_hash(load_rubrics().values(), "support"))
    assert not stored.applies_to(SECOND.digest, compute_rubrics_hash(load_rubrics().values(), "support"))
    assert "# Calibration against human labels" in markdown.read_text(encoding="utf-8")
    assert "the word of the judge alone" not in markdown.read_text(encoding="utf-8")  # nothing vetoes a faithful claim


@pytest.mark.slow
def test_a_calibration_keeps_how_the_judge_answered_its_anchors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = write_world(tmp_path, 20)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [erring(10)])], ("faithfulness",))
    standing = JudgeStatus(JUDGE.digest, anchors=20, anchors_right=0.9)
    with Path(verdicts).open("ab") as lines:
        lines.writelines(encode_lines(StoreContents(statuses={JUDGE.digest: standing})))
    label_file, out = write_labels(tmp_path / "l.jsonl", where, "faithfulness"), str(tmp_path / "calibration.json")
    assert 0 == calibrated(capsys, "--labels", label_file, "--verdicts", verdicts, *flags(where), "--out", out)[0]
    stored = load_calibrations(out)["faithfulness(by=judge)"]
    assert stored.anchors is not None
    assert (0.9, 20) == (stored.anchors.value, stored.anchors.n)


@pytest.mark.slow
def test_the_rules_are_calibrated_against_the_same_labels_and_get_their_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = write_world(tmp_path)
    label_file = write_labels(tmp_path / "l.jsonl", where, "faithfulness")
    out = tmp_path / "calibration.json"
    assert 0 == calibrated(capsys, "--labels", label_file, *flags(where), "--out", str(out))[0]
    rules = load_calibrations(str(out))["faithfulness(by=rules)"]
    assert rules.platt is not None and rules.platt["slope"] > 0
    assert (180, RULES_VERSION) == (rules.n, rules.judge)
    assert rules.may_gate, rules.reasons


@pytest.mark.slow
def test_the_screen_says_first_whether_the_judge_may_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "240")  # on which no heading of a table is folded
    where = write_world(tmp_path, 20)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [truly])], ("correctness",))
    label_file = write_labels(tmp_path / "l.jsonl", where, "correctness")
    written = tmp_path / "calibration.md"
    arguments = ["--labels", label_file, "--verdicts", verdicts, "--report", str(written), *flags(where)]
    assert 0 == main(["calibrate", *arguments])
    report = written.read_text(encoding="utf-8")
    assert "As judged is the word of the judge alone" in report
    assert "\n  - too few labelled items" in report and "&#45;" not in report  # a reason is an item below its scorer
    lines = capsys.readouterr().out.splitlines()
    assert "40 labels of 1 rater: Lan" == lines[0]
    rates = "sensitivity 1.000 [0.692, 1.000], specificity 1.000 [0.692, 1.000]"
    assert f"correctness(by=judge): may inform, not gate, n=40, {rates}" == lines[1]
    assert not any("Balanced accuracy" in line for line in lines)
    assert any(line.startswith("note: --verbose, or --report FILE, for how this was measured: ") for line in lines)
    assert 0 == main(["calibrate", *arguments, "--verbose"])
    assert "Balanced accuracy" in capsys.readouterr().out
    assert " - too few labelled items (got 40; expected 100)" in lines


@pytest.mark.slow
def test_two_judges_are_compared_on_the_same_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_world(tmp_path, 30)
    say: list[tuple[JudgeIdentity, list[Say]]] = [(JUDGE, [erring(2)]), (SECOND, [truly])]
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, say, ("faithfulness",))
    label_file = write_labels(tmp_path / "l.jsonl", where, "faithfulness")
    both = ["--judge", JUDGE.model, "--judge", SECOND.model]
    status, report = calibrated(capsys, "--labels", label_file, "--verdicts", verdicts, *both, *flags(where))
    assert 0 == status
    ((metric, difference),) = report["differences"]
    assert ("faithfulness", 90, 1.0) == (metric, difference["n"], difference["second_right"])
    assert difference["gain"]["value"] > 0 and difference["gain"]["low"] > 0


def test_a_judge_without_its_verdicts_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_world(tmp_path, 4)
    label_file = write_labels(tmp_path / "l.jsonl", where, "correctness")
    assert 2 == main(["calibrate", "--labels", label_file, *flags(where), "--judge", JUDGE.model])
    assert "--judge: no verdicts given (expected --verdicts FILE as well)" in capsys.readouterr().err


@pytest.mark.slow
def test_votes_that_differ_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three samples of every claim; the second one passes the canteen in half of the cases."""
    where = write_world(tmp_path, 40, CONFIGS[:1])
    verdicts = write_verdict_export(
        tmp_path / "v.jsonl", where, [(JUDGE, [truly, erring(2), truly])], ("faithfulness",)
    )
    label_file = write_labels(tmp_path / "l.jsonl", where, "faithfulness")
    _, report = calibrated(capsys, "--labels", label_file, "--verdicts", verdicts, *flags(where))
    steady = next(measurement for measurement in report["measured"] if measurement["by"] == "judge")["consistency"]
    assert (60, 180) == (steady["items"], steady["votes"])
    assert steady["unsteady"] == pytest.approx(10 / 60)
    assert steady["flips"] == pytest.approx(10 / 60 * 2 / 3)


def test_external_scores_need_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_world(tmp_path, 20, CONFIGS[:1])
    people = write_labels(tmp_path / "l.jsonl", where, "correctness")
    tool = write_labels(tmp_path / "t.jsonl", where, "correctness", rater="ragas", source="ragas")
    status, report = calibrated(capsys, "--labels", people, "--labels", tool)
    assert 0 == status
    (measurement,) = report["measured"]
    assert ("correctness(by=ragas)", 1.0, False) == (
        measurement["calibration"]["metric"],
        measurement["pass_fail"]["raw"],
        measurement["calibration"]["may_gate"],
    )


def test_nothing_in_common_exits_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_world(tmp_path, 4)
    label_file = write_labels(tmp_path / "l.jsonl", where, "grade", lambda _: "wrong")
    assert 3 == main(["calibrate", "--labels", label_file, *flags(where)])
    assert "have no item in common" in capsys.readouterr().err


@pytest.mark.slow
def test_a_whole_answer_is_judged_by_rules_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_world(tmp_path, 30)
    label_file = write_labels(tmp_path / "l.jsonl", where, "correctness")
    _, report = calibrated(capsys, "--labels", label_file, *flags(where))
    (rules,) = report["measured"]
    assert ("correctness(by=rules)", 60, None) == tuple(rules["calibration"][name] for name in ("metric", "n", "platt"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"case_id": "nobody"}, "labels of unknown cases (got nobody"),
        ({"label": "corect"}, "did you mean 'correct'?"),
        ({"metric": "recall@5"}, "unknown metric (got 'recall@5'"),
    ],
)
def test_bad_labels_exit_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: dict[str, str], said: str
) -> None:
    where = write_world(tmp_path, 2)
    good = {"case_id": "case000", "metric": "correctness", "rater": "Lan", "label": "correct", "config_id": CONFIGS[0]}
    (tmp_path / "l.jsonl").write_text(json.dumps(good | row), encoding="utf-8")
    assert 2 == main(["calibrate", "--labels", str(tmp_path / "l.jsonl"), *flags(where)])
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_labels_of_other_answers_and_configurations_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = write_world(tmp_path, 12)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [truly])], ("correctness",))
    label_file = write_labels(tmp_path / "l.jsonl", where, "correctness")
    lines = [json.loads(line) for line in Path(label_file).read_text(encoding="utf-8").splitlines()]
    lines[0]["answer_hash"] = "sha256:another"
    lines[1]["config_id"] = "gone"
    Path(label_file).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    _, report = calibrated(capsys, "--labels", label_file, "--verdicts", verdicts, *flags(where))
    assert 22 == report["labelled"]
    assert [
        "left out: 1 labels of answers that are not those of the run",
        "left out: 1 labels of gone, which the run does not have",
    ] == report["notes"]


@pytest.mark.slow
def test_the_same_inputs_give_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_world(tmp_path, 20)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [erring(3)])], ("faithfulness",))
    label_file = write_labels(tmp_path / "l.jsonl", where, "faithfulness")
    turned = tmp_path / "turned.jsonl"
    turned.write_bytes(b"".join(reversed(Path(label_file).read_bytes().splitlines(keepends=True))))
    files = []
    for path in (label_file, str(turned)):
        out = tmp_path / "out.json"
        assert 0 == main(["calibrate", "--labels", path, "--verdicts", verdicts, *flags(where), "--out", str(out)])
        files.append(out.read_bytes())
        capsys.readouterr()
    assert files[0] == files[1]


def test_a_file_that_was_read_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_world(tmp_path, 2)
    label_file = write_labels(tmp_path / "l.jsonl", where, "correctness")
    assert 2 == main(["calibrate", "--labels", label_file, *flags(where), "--out", label_file])
    assert "would overwrite a file" in capsys.readouterr().err
