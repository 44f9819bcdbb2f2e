"""What a run says of its answers after a judge was asked that may not decide: its labels, and what makes them count."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.cli.judging import INPUTS, NAMED, judging
from tests.report.html_islands import islands
from tests.support.judge_server import JudgeCall, JudgeServer, answer_with_labels

import assay
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.gates.calibration_file import write_calibrations
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_store import read_store
from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.records.verdicts import Calibration, LabelledRate, compute_rubrics_hash
from assay.stats.intervals import wilson_interval

ROWS = (
    ("pay", "How do guests pay?", "Guests pay by card at the gate.", "With plastic, on the way in."),
    ("pets", "May pets come along?", "Pets stay at home.", "They are welcome everywhere."),
    ("boat", "What happens if it storms?", "Boats stay in the harbour.", "Nobody sails then."),
    ("kiosk", "How long is the break?", "20 minutes", "The break is 20 minutes."),
)
WRONG = ("pets",)


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        with Path("golden.jsonl").open("w") as golden, Path("outputs.jsonl").open("w") as outputs:
            for name, question, reference, answer in ROWS:
                golden.write(json.dumps({"id": name, "question": question, "reference": reference}) + "\n")
                row = {"query_id": name, "config_id": "ferry", "answer": answer, "versions": {"model": "generator-1"}}
                outputs.write(json.dumps(row) + "\n")
        server.answer = answer_with_labels(choose_label)
        monkeypatch.setenv("COLUMNS", "250")
        yield server


def choose_label(asked: JudgeCall, _: str) -> str:
    """The best label for an answer to its own question, except where it is wrong."""
    labels = [str(each) for each in asked.item["label"]["enum"]]
    prompt = json.dumps(asked.data)
    for name, question, _, answer in ROWS:
        if question in prompt and answer in prompt:
            return labels[-1] if name in WRONG else labels[0]
    return labels[-1]


def judge_all() -> None:
    assert 0 == main(["judge", *INPUTS, *NAMED, "--metrics", JUDGED_CORRECTNESS, "--now", "2026-01-01T00:00:00Z"])


def score(*more: str) -> int:
    return main(["score", *INPUTS, "--verdicts", "verdicts.sqlite", *more])


def calibrated(**changes: Any) -> tuple[str, str]:
    """A calibration of the judge's correctness that lets it gate, unless it is changed."""
    identity = read_store("verdicts.sqlite").judges[0]
    rubrics, bounds = compute_rubrics_hash(load_rubrics().values(), "correctness"), wilson_interval(48, 50)
    rate, golden = LabelledRate(48 / 50, bounds.low, bounds.high, 50), load_golden("golden.jsonl").digest
    record = Calibration(JUDGED_CORRECTNESS, identity.digest, rubrics, golden, "", 100, 2, rate, rate, may_gate=True)
    return "--calibration", str(write_calibrations("calibration.json", [replace(record, **changes)], {}))


WEAK = {"may_gate": False, "reasons": ("specificity 0.61 is below 0.80",)}
SAID = "the judge calls 2 right and 1 wrong; "
UNCALIBRATED = (
    f"{SAID}uncalibrated, it does not count (label a sample and run `assay calibrate`, or trust it with --good "
    "'correctness(by=judge)>=0.5')"
)


@pytest.mark.slow
def test_the_labels_of_an_uncalibrated_judge_are_said_of_answers_that_nothing_else_tells(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judge_all()
    capsys.readouterr()
    assert 0 == score("--report", "report.md", "--html", "page.html")
    screen = capsys.readouterr().out
    headlines = islands(Path("page.html").read_text("utf-8"))["report"]["headlines"]
    assert ["correct_answer", JUDGED_CORRECTNESS] == headlines[:2]
    assert f" - unknown: {UNCALIBRATED}" in screen
    assert "nothing tells" not in screen
    report = Path("report.md").read_text()
    assert re.search(r"\| Answer correctness \|.*\n\| Correctness by judge \| J \| 0\.750 \(n=4\)", report)
    assert "Not calibrated, for ranking and trends only: Correctness by judge." in report
    assert f"3 unknown (pay, pets, boat): {SAID}uncalibrated, it does not count" in report
    assert "nothing that was measured tells" not in report
    for case_id, label in (("pay", "1.00"), ("pets", "0.00")):
        assert 0 == main(["explain", case_id, *INPUTS, "--verdicts", "verdicts.sqlite"])
        printed = " ".join(capsys.readouterr().out.split())
        assert f"correctness(by=judge) {label}, uncalibrated, so it does not count" in printed


@pytest.mark.slow
def test_the_remedy_that_is_named_makes_the_labels_count(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judge_all()
    for remedy in (("--good", "correctness(by=judge)>=0.5"), calibrated()):
        capsys.readouterr()
        score(*remedy)
        screen = capsys.readouterr().out
        assert "Cases: ferry 1 of 4 failed\n" in screen, remedy
        assert "does not count" not in screen
        assert " - pets" in screen


@pytest.mark.slow
def test_a_judge_that_may_not_gate_stands_second_with_its_standing(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rules decide one answer of four, and the judge calls three of four right."""
    judge_all()
    for standing, options in (("uncalibrated", ()), ("may not gate", calibrated(**WEAK))):
        capsys.readouterr()
        score(*options)
        screen = capsys.readouterr().out
        rows = [line for line in screen.splitlines() if "orrectness" in line and "(n " in line]
        assert ["Answer correctness", f"Correctness by judge, {standing}"] == [row.split("  ")[0] for row in rows]
        assert ["0.250–1.000", "0.750"] == [row.split("  ")[-1].split()[0] for row in rows]
    assert f"{SAID}its calibration does not let it count (label more of its items and run `assay calibrate`" in screen
    capsys.readouterr()
    score(*calibrated())
    screen = capsys.readouterr().out
    (row,) = [line for line in screen.splitlines() if "orrectness" in line and "(n " in line]
    assert row.startswith("Correctness by judge  ")


@pytest.mark.slow
def test_python_prints_the_labels_too(server: JudgeServer) -> None:
    judge_all()
    result = assay.score("golden.jsonl", "outputs.jsonl", verdicts="verdicts.sqlite")
    lines = str(result).splitlines()
    assert len(lines) <= 8
    assert "failed: 0 of 4, 3 unknown" in lines
    assert f"unknown: {SAID}uncalibrated, it does not count (assay.calibrate with labels)" in lines
    assert any(line.startswith("correct_answer ") for line in lines)
    assert any(line.endswith("n=4, uncalibrated") for line in lines)


@pytest.mark.slow
def test_a_gate_advises_to_calibrate_a_judge_that_was_asked(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("gate.yaml").write_text(json.dumps({"rules": [{"metric": "correct_answer", "at_least": 0.5}]}))
    score_of_rules = "correctness of answers was not checked on 3 of 4 cases; add must_have, or "
    without_references = [
        {"id": name, "question": question, "evidence": [{"chunk_id": name}]} for name, question, *_ in ROWS[:3]
    ]
    rest = json.loads(Path("golden.jsonl").read_text().splitlines()[3])
    Path("golden.jsonl").write_text("".join(json.dumps(case) + "\n" for case in (*without_references, rest)))
    main(["score", *INPUTS, "--gate", "gate.yaml"])
    assert f"{score_of_rules}run `assay judge`" in capsys.readouterr().out
    judge_all()
    capsys.readouterr()
    score("--gate", "gate.yaml")
    assert f"{score_of_rules}label a sample and run `assay calibrate`" in capsys.readouterr().out
