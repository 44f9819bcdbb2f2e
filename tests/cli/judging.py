"""What the tests of `assay judge` share: a working directory with eight cases, judges, and what scoring tells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.faults.judging import honest, write_inputs
from tests.support.judge_server import JudgeCall, JudgeServer, answer_with_labels, judge_server

from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.gates.calibration_file import write_calibrations
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_store import read_store
from assay.records.verdicts import Calibration, LabelledRate, compute_rubrics_hash
from assay.stats.intervals import wilson_interval

KEY = "a-very-secret-key-of-mine"
NAMED = ("--judge", "scripted", "--model", "scripted-1", "--base-url-env", "THE_JUDGE", "--api-key-env", "THE_KEY")
METRICS = ("--metrics", "faithfulness(by=judge),answer_relevance(by=judge)", "--control-share", "0.95")
"""The metrics, and room for all controls and anchors, of which runs this small would ask only a few."""
INPUTS = ("--golden", "golden.jsonl", "--outputs", "outputs.jsonl")
FAITHFUL, RELEVANT = "faithfulness(by=judge)", "answer_relevance(by=judge)"


@contextmanager
def judging(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """Yield the judge's endpoint; its address and key are in the environment."""
    patch.chdir(folder)
    write_inputs(folder, 8)
    with judge_server(answer=answer_with_labels(honest)) as server:
        patch.setenv("THE_JUDGE", f"{server.url}/v1")
        patch.setenv("THE_KEY", KEY)
        yield server


def judge(*more: str) -> int:
    """Judge the eight cases; returns the exit code."""
    return main(["judge", *INPUTS, *NAMED, *METRICS, *more])


def score(*more: str, verdicts: str = "verdicts.sqlite", metrics: str = f"{FAITHFUL},{RELEVANT}") -> dict[str, Any]:
    """The JSON report of the scoring, which also writes `cases.jsonl` and `report.md`; its exit code under `status`."""
    reports = ("--json-report", "report.json", "--per-case", "cases.jsonl", "--report", "report.md")
    words = ["score", *INPUTS, "--verdicts", verdicts, "--metrics", metrics, *reports, *more]
    status = main(words)
    return {"status": status, **json.loads(Path("report.json").read_bytes())}


def lines(path: str) -> dict[str, Any]:
    """The lines of scores by case."""
    return {row["case_id"]: row for row in map(json.loads, Path(path).read_text().splitlines())}


def divided(*numbers: int) -> Any:
    """A judge that labels honestly and changes its mind, every second time, about the answers of some years."""
    answer_counts: dict[str, int] = {}

    def choose(asked: JudgeCall, item: str) -> str:
        labels = [str(each) for each in asked.item["label"]["enum"]]
        said = json.dumps([asked.data.get("claims"), asked.data.get("answer")])
        context = json.dumps(asked.data.get("context"))  # a control about the same answer has another context
        doubtful = any(f"year {number}." in said and f"year {number}" in context for number in numbers)
        if not doubtful or "claims" not in asked.data:
            return honest(asked, item)
        answer_counts[said] = answer_counts.get(said, 0) + 1
        return labels[0] if answer_counts[said] % 2 else labels[-1]

    return answer_with_labels(choose)


def calibrated(**changes: Any) -> tuple[str, str]:
    """A file that lets the judge gate by faithfulness: of 50 items of either kind it got 48 right."""
    identity = read_store("verdicts.sqlite").judges[0]
    rubrics, bounds = compute_rubrics_hash(load_rubrics().values(), "support"), wilson_interval(48, 50)
    rate, golden = LabelledRate(48 / 50, bounds.low, bounds.high, 50), load_golden("golden.jsonl").digest
    record = Calibration(FAITHFUL, identity.digest, rubrics, golden, "", 100, 2, rate, rate, may_gate=True)
    return "--calibration", str(write_calibrations("calibration.json", [replace(record, **changes)], {}))


def gate(**rule: Any) -> tuple[str, str]:
    """A gate of one rule on faithfulness."""
    Path("gate.yaml").write_text(json.dumps({"rules": [{"metric": FAITHFUL, "at_least": 0.1} | rule]}))
    return "--gate", "gate.yaml"


def state(report: dict[str, Any]) -> str:
    """What the only rule of the gate came to."""
    (rule,) = report["configs"]["a"]["decision"]["rules"]
    return str(rule["state"])
