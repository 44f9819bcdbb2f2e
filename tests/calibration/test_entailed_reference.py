"""Correctness by a local entailment model: the least entailed sentence of the reference, calibrated by labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.calibration.calibrating import flags, write_labels, write_world
from tests.support.tiny_entailment import USUAL, write_model

from assay.calibration.collect_scorer_labels import LabelItem
from assay.cli import main
from assay.gates.calibration_file import load_calibrations
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import may_metric_gate, parse_metric, parse_metrics
from assay.metrics.judged.entailment_model import EntailmentError, EntailmentScores
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.parsed_answer import ParsedAnswer
from assay.metrics.scorers import compute_outcome
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED

METRIC = "correctness(by=entailment)"


class Shared:
    """A model of words: how many of a claim's words the premise has; it remembers what it was asked."""

    name, digest = "shared", "sha256:" + "0" * 64

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def compare(self, premise: str, claim: str) -> EntailmentScores:
        self.asked.append((premise, claim))
        if "unreadable" in premise:
            raise EntailmentError("cannot be read")
        words = claim.casefold().rstrip(".").split()
        return EntailmentScores(sum(word in premise.casefold() for word in words) / len(words), 0.0)


def score(answer: str, model: Shared | None = None, **case: Any) -> tuple[int, float, str]:
    fields: dict[str, Any] = {"reference": "The pass is valid for a year. It can be extended twice."} | case
    golden = GoldenSet((Case("q", "How long is the ski pass valid?", **fields),))
    verdicts = RecordedVerdicts(entailment_model=model)
    index = GoldenIndex(golden, judging=verdicts)
    outcome = compute_outcome(
        parse_metric(METRIC), ParsedAnswer(index.case_index(0), Observation("q", "c", answer=answer))
    )
    return outcome.status, outcome.value, outcome.detail


def test_the_least_entailed_sentence_of_the_reference_counts() -> None:
    whole = score("The pass is valid for a year. It can be extended twice, too.", Shared())
    assert (SCORED, 1.0) == whole[:2]
    status, value, detail = score("The pass is valid for a year.", Shared())
    assert SCORED == status and value < 0.5
    assert "It can be extended twice" in detail and "The pass is valid for a year" not in detail


def test_a_few_words_are_read_with_their_question() -> None:
    model = Shared()
    score("Two winters.", model, reference="One year")
    assert [("How long is the ski pass valid? Two winters.", "How long is the ski pass valid? One year")] == model.asked


def test_facts_take_the_place_of_a_reference_that_is_not_there() -> None:
    model = Shared()
    score("It is valid for one year and a day.", model, reference=None, must_have=("valid for one whole year",))
    assert {"valid for one whole year"} == {claim for _, claim in model.asked}


def test_without_a_model_a_reference_or_readable_words_there_is_no_number() -> None:
    assert ERROR == score("A year.")[0]
    assert ERROR == score("An unreadable answer of many words.", Shared())[0]
    assert NOT_APPLICABLE == score("A year.", Shared(), reference=None)[0]
    assert (SCORED, 0.0) == score("", Shared())[:2]


def test_it_is_asked_for_by_its_name_and_decides_nothing_before_calibration() -> None:
    assert METRIC not in map(str, parse_metrics(["correctness"]))
    assert not may_metric_gate(parse_metric(METRIC), RecordedVerdicts(entailment_model=Shared()))


@pytest.mark.slow
def test_labels_calibrate_it_and_then_it_may_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="needs the extra entailment")
    where = write_world(tmp_path)
    outputs = Path(where.outputs[0])
    rows = [json.loads(line) for line in outputs.read_text("utf-8").splitlines()]
    for row in rows:
        if int(row["case_id"][-3:]) % 2:
            row["answer"] = "The canteen serves soup on Mondays."
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    model = write_model(tmp_path / "model", {**USUAL, ("canteen", 0): (0.5, 2.0, -2.0)})

    def say(item: LabelItem) -> str:
        return "incorrect" if "canteen" in str(item.observation.answer) else "correct"

    labels, out = write_labels(tmp_path / "l.jsonl", where, "correctness", say), str(tmp_path / "calibration.json")
    calibrate = ["calibrate", "--labels", labels, *flags(where), "--entailment-model", str(model), "--out", out]
    assert 0 == main(calibrate), capsys.readouterr()
    record = load_calibrations(out)[METRIC]
    assert record.may_gate and record.platt is not None, record.reasons
    gate = tmp_path / "gate.yaml"
    gate.write_text(f"rules:\n  - {{metric: '{METRIC}', at_least: 0.4}}\n", encoding="utf-8")
    scoring = ["score", *flags(where), "--entailment-model", str(model), "--gate", str(gate)]
    capsys.readouterr()
    assert 2 == main(scoring)
    assert "uncalibrated" in capsys.readouterr().err
    by_run: dict[str, dict[str, Any]] = {}
    for name, options in (("with", ["--calibration", out]), ("without", [])):
        path = tmp_path / f"{name}.jsonl"
        arguments = ["--metrics", f"{METRIC},correct_answer", "--entailment-model", str(model), "--per-case", str(path)]
        main(["score", *flags(where), *arguments, *options])
        lines = map(json.loads, path.read_text("utf-8").splitlines())
        by_run[name] = {row["case_id"]: row for row in lines if row["config_id"] == "conf-alpha-77"}
    scores = {case_id: row["scores"] for case_id, row in by_run["with"].items()}
    assert scores["case002"][METRIC] > 0.9 > 0.1 > scores["case001"][METRIC]
    for case_id, row in by_run["without"].items():  # no case is decided by it, calibrated or not
        assert row["failed_checks"] == by_run["with"][case_id]["failed_checks"]
        assert row["scores"].get("correct_answer") == scores[case_id].get("correct_answer")
    assert 0 == main([*scoring, "--calibration", out, "--gate-config", "conf-alpha-77"]), capsys.readouterr()
