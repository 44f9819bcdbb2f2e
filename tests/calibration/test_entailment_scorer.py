"""Claims by a local entailment model: scored, calibrated twice, and allowed to gate as scores by rules are."""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path

import pytest
from tests.calibration.calibrating import flags, truly, write_labels, write_world
from tests.support.tiny_entailment import USUAL, write_model

from assay.calibration.collect_scorer_labels import LabelItem
from assay.cli import main
from assay.gates.calibration_file import load_calibrations
from assay.metrics.catalog import may_metric_gate, parse_metric, parse_metrics
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.records.requests import InputOptions

FAITHFUL, CONTRADICTED = "faithfulness(by=entailment)", "contradicted_claims(by=entailment)"


def test_a_bare_name_stands_for_no_model() -> None:
    assert ["faithfulness(by=rules)", "faithfulness(by=judge)"] == list(map(str, parse_metrics(["faithfulness"])))
    assert [CONTRADICTED] == list(map(str, parse_metrics(["contradicted_claims"])))


def test_without_a_model_nothing_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = write_world(tmp_path, 4)
    assert 0 == main(["score", *flags(where), "--metrics", FAITHFUL, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert report["configs"]["conf-alpha-77"]["summary"].get(FAITHFUL, {}).get("value") is None
    assert f"not measured, because no --entailment-model is named: {FAITHFUL}" in report["warnings"]
    assert not may_metric_gate(parse_metric(FAITHFUL), RecordedVerdicts())


def need_extra() -> None:
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="needs the extra entailment")


def score_rows(out: Path, where: InputOptions, model: Path, *options: str) -> dict[tuple[str, str], dict[str, float]]:
    arguments = ["--metrics", f"{FAITHFUL},{CONTRADICTED}", "--entailment-model", str(model), "--per-case", str(out)]
    assert 0 == main(["score", *flags(where), *arguments, *options])
    rows = map(json.loads, out.read_text("utf-8").splitlines())
    return {(row["config_id"], row["case_id"]): row["scores"] for row in rows}


@pytest.mark.slow
def test_scores_depend_on_no_batch_and_no_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_extra()
    where, model = write_world(tmp_path, 12), write_model(tmp_path / "model")
    outputs = Path(where.outputs[0])
    lines = outputs.read_text("utf-8").splitlines(keepends=True)
    tables = []
    for size, is_reversed in product((1, 5, 64), (False, True)):
        monkeypatch.setattr("assay.scoring.score_shard.JOIN_SIZE", size)
        outputs.write_text("".join(reversed(lines) if is_reversed else lines), encoding="utf-8")
        tables.append(score_rows(tmp_path / "rows.jsonl", where, model))
    assert all(table == tables[0] for table in tables)
    assert len({scores[FAITHFUL] for scores in tables[0].values()}) > 1


@pytest.mark.slow
def test_an_answer_that_the_model_cannot_read_is_an_error_of_its_row(tmp_path: Path) -> None:
    need_extra()
    where, model = write_world(tmp_path, 6, ("one",)), write_model(tmp_path / "model")
    outputs = Path(where.outputs[0])
    rows = [json.loads(line) for line in outputs.read_text("utf-8").splitlines()]
    rows[2]["answer"] = "The leave is 12 days broken in this year."
    rows[4]["answer"] = "The leave is " + "so " * 60 + "long."
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = tmp_path / "rows.jsonl"
    arguments = ["--entailment-model", str(model), "--per-case", str(out), "--metrics", FAITHFUL]
    main(["score", *flags(where), *arguments])
    scored = {
        row["case_id"]: row["scores"].get(FAITHFUL) for row in map(json.loads, out.read_text("utf-8").splitlines())
    }
    assert {"case002", "case004"} == {case for case, value in scored.items() if value is None}
    assert "not finite" in out.read_text("utf-8")
    assert "tokens" in out.read_text("utf-8")


def say(item: LabelItem) -> str:
    """A denial is contradicted; the rest is as true as it is in this world."""
    return "contradicted" if "not granted" in item.text else truly(item)


@pytest.mark.slow
def test_entailment_and_contradiction_are_calibrated_each_by_itself_and_may_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In every fourth case the canteen gives way to a denial."""
    need_extra()
    where = write_world(tmp_path)
    outputs = Path(where.outputs[0])
    rows = [json.loads(line) for line in outputs.read_text("utf-8").splitlines()]
    for row in rows:
        if int(row["case_id"][-3:]) % 4 == 1:
            row["answer"] = row["answer"].replace("The canteen serves soup on Mondays", "It is not granted in full")
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    model = write_model(tmp_path / "model")
    labels, out = write_labels(tmp_path / "l.jsonl", where, "faithfulness", say), str(tmp_path / "calibration.json")
    calibrate = ["calibrate", "--labels", labels, *flags(where), "--entailment-model", str(model), "--out", out]
    assert 0 == main(calibrate), capsys.readouterr()
    records = load_calibrations(out)
    faithful, contradicted = records[FAITHFUL], records[CONTRADICTED]
    assert faithful.may_gate, faithful.reasons
    assert contradicted.may_gate, contradicted.reasons
    assert faithful.platt is not None and contradicted.platt is not None
    assert faithful.platt != contradicted.platt
    assert faithful.judge == contradicted.judge and faithful.judge.startswith("sha256:")
    scores = score_rows(tmp_path / "rows.jsonl", where, model, "--calibration", out)
    right, denied, foreign = (scores["conf-alpha-77", case] for case in ("case002", "case001", "case003"))
    assert right[FAITHFUL] > 0.9 > 0.1 > right[CONTRADICTED]
    assert 0.4 < denied[FAITHFUL] < 0.6 and 0.4 < denied[CONTRADICTED] < 0.6
    assert 0.4 < foreign[FAITHFUL] < 0.6 and foreign[CONTRADICTED] < 0.1
    gate = tmp_path / "gate.yaml"
    gate.write_text(f"rules:\n  - {{metric: '{FAITHFUL}', at_least: 0.5}}\n", encoding="utf-8")
    scoring = ["score", *flags(where), "--entailment-model", str(model), "--gate", str(gate)]
    capsys.readouterr()
    assert 2 == main(scoring)
    assert "uncalibrated" in capsys.readouterr().err
    calibrated = ["--calibration", out, "--gate-config", "conf-alpha-77"]
    assert 0 == main([*scoring, *calibrated]), capsys.readouterr()
    other = write_model(tmp_path / "other", {**USUAL, ("soup", 1): (0.1, 0.0, 0.0)})
    scoring[scoring.index(str(model))] = str(other)
    assert 2 == main([*scoring, *calibrated])  # a calibration of another model


@pytest.mark.slow
def test_a_run_takes_the_model_that_its_settings_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_extra()
    write_model(tmp_path / "models" / "nli")
    case = {"id": "a", "question": "How long is the leave?", "behaviour": "answer", "reference": "12 days"}
    (tmp_path / "golden.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    target = (
        'import json, sys\nfor line in sys.stdin:\n    chunk = {"chunk_id": "c", "text": "The leave is 12 days."}\n'
    )
    target += '    reply = {"case_id": json.loads(line)["case_id"], "answer": "The leave is 12 days.", '
    target += '"stages": [{"name": "context", "chunks": [chunk]}]}\n    print(json.dumps(reply), flush=True)\n'
    (tmp_path / "target.py").write_text(target, encoding="utf-8")
    settings = {
        "golden": "golden.jsonl",
        "targets": {"t": {"type": "command", "command": [sys.executable, "target.py"]}},
        "scoring": {"metrics": [FAITHFUL], "entailment_model": "models/nli"},
        "report": {"per_case": "rows.jsonl"},
    }
    (tmp_path / "assay.yaml").write_text(json.dumps(settings), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert 0 == main(["run", "--allow-exec"])
    (row,) = map(json.loads, next(tmp_path.rglob("rows.jsonl")).read_text("utf-8").splitlines())
    assert row["scores"][FAITHFUL] > 0
