"""Citation support by rules, calibrated against human labels: from the sheets to a risk metric that may gate."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.calibration.calibrating import JUDGE, write_verdict_export

from assay.calibration.collect_scorer_labels import LabelItem
from assay.cli import main
from assay.gates.calibration_file import load_calibrations
from assay.metrics.catalog import may_metric_gate, parse_metric
from assay.metrics.judged.judge_requests import RULES_VERSION, RecordedVerdicts
from assay.records.requests import InputOptions
from assay.records.verdicts import Calibration

CASES = 80
RISK = "citation_support(by=rules),faithfulness(by=rules),hallucination_risk(by=rules)"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Every answer cites its rule; every third one a text about the canteen, and every fourth both of them."""
    golden, outputs = [], []
    for n in range(CASES):
        golden.append(
            {
                "id": f"c{n:02}",
                "question": f"How long is leave {n}?",
                "behaviour": "answer",
                "reference": f"{n + 10} days",
            }
        )
        chunks = [
            {"chunk_id": f"rule-{n}", "text": f"Leave of kind {n} is {n + 10} days. It is granted in full."},
            {"chunk_id": "canteen", "text": "The canteen serves soup on Mondays and is closed in August."},
        ]
        named = ["canteen"] if n % 3 == 0 else [f"rule-{n}", "canteen"] if n % 4 == 0 else [f"rule-{n}"]
        answer = f"Leave of kind {n} lasts {n + 10} days {''.join(f'[{name}]' for name in named)}."
        stages = [{"name": "context", "chunks": chunks}]
        outputs.append({"case_id": f"c{n:02}", "answer": answer, "citations": named, "stages": stages})
    for name, rows in (("golden.jsonl", golden), ("outputs.jsonl", outputs)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return ["--golden", str(tmp_path / "golden.jsonl"), "--outputs", str(tmp_path / "outputs.jsonl")]


def labelled(folder: Path, files: list[str], metric: str) -> str:
    """Export sheets, fill one in as a person would, bring it back, and return the file of labels."""
    sheets, out = folder / metric, folder / f"{metric}.jsonl"
    assert 0 == main(["labels", "export", *files, "--out", str(sheets), "--metric", metric, "--sample", "1000"])
    with (sheets / "sheet-1.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        number = re.search(r"(\[\d\])$", row["item"])
        named = row["sources"][row["sources"].index(number[1]) :] if number else row["sources"]
        row["label"] = "supported" if named.partition("\n[")[0].find("granted in full") >= 0 else "not_found"
        row["rater"] = "Lan"
    with (sheets / "filled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    filled = ["labels", "import", str(sheets / "filled.csv"), "--key", str(sheets / "key.json"), "--out", str(out)]
    assert 0 == main(filled)
    return str(out)


def scores(folder: Path, files: list[str], *options: str) -> dict[str, dict[str, float]]:
    out = folder / "cases.jsonl"
    assert 0 == main(["score", *files, "--metrics", RISK, "--per-case", str(out), *options])
    return {row["case_id"]: row["scores"] for row in map(json.loads, out.read_text("utf-8").splitlines())}


@pytest.mark.slow
def test_labels_make_citation_support_by_rules_a_probability(tmp_path: Path, files: list[str]) -> None:
    """c03 cites the canteen, c04 its rule and the canteen, c05 its rule: a person passes none, one and one of these."""
    label_file, out = labelled(tmp_path, files, "citation_support"), str(tmp_path / "calibration.json")
    before = scores(tmp_path, files)
    assert 0 == main(["calibrate", "--labels", label_file, *files, "--out", out])
    calibration = load_calibrations(out)["citation_support(by=rules)"]
    assert (RULES_VERSION, True) == (calibration.judge, calibration.may_gate), calibration.reasons
    assert calibration.platt is not None and calibration.platt["slope"] > 0
    after = scores(tmp_path, files, "--calibration", out)
    name = "citation_support(by=rules)"
    low, half, high = (after[case][name] for case in ("c03", "c04", "c05"))
    assert low < 0.2
    assert high > 0.9
    assert low < half < high
    assert before["c05"][name] != high
    assert 1 - after["c05"]["faithfulness(by=rules)"] * high == pytest.approx(
        after["c05"]["hallucination_risk(by=rules)"]
    )


def test_a_risk_by_rules_may_gate_once_all_it_is_made_of_may() -> None:
    record = Calibration("", RULES_VERSION, "", "golden", "labels", 200, 1, may_gate=True)
    calibrations = {
        name: replace(record, metric=name) for name in ("faithfulness(by=rules)", "citation_support(by=rules)")
    }
    for names in ((), ("citation_support(by=rules)",), tuple(calibrations)):
        judging = RecordedVerdicts(calibrations={name: calibrations[name] for name in names})
        assert (len(names) == 2) == may_metric_gate(parse_metric("hallucination_risk(by=rules)"), judging)
        assert not may_metric_gate(parse_metric("unsupported_claims(by=rules)"), judging)


def say_citation(item: LabelItem) -> str:
    """A judge that takes the canteen for support in every ninth case."""
    entry = next(entry for entry in item.request.inputs["citations"] if entry["id"] == item.item)
    sources = {source["id"]: source["text"] for source in item.request.inputs["context"]}
    is_right = "granted in full" in sources[entry["source"]]
    return "supported" if is_right or int(item.key[0][1:]) % 9 == 0 else "not_found"


@pytest.mark.slow
def test_judge_and_rules_score_citations_together_with_weights_from_labels(tmp_path: Path, files: list[str]) -> None:
    label_file, out = labelled(tmp_path, files, "citation_support"), str(tmp_path / "calibration.json")
    where = InputOptions(golden=files[1], outputs=(files[3],))
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [say_citation])], ("citation_support",))
    assert 0 == main(["calibrate", "--labels", label_file, "--verdicts", verdicts, *files, "--out", out])
    record = load_calibrations(out)["citation_support(by=combined)"]
    assert record.platt is not None and {"slope", "judge", "intercept"} == record.platt.keys()
    rows = tmp_path / "cases.jsonl"
    together, judged = "citation_support(by=combined)", "citation_support(by=judge)"
    values = {}
    for calibrated in ((), ("--calibration", out)):
        options = ["--verdicts", verdicts, *calibrated, "--metrics", f"{together},{judged}", "--per-case", str(rows)]
        assert 0 == main(["score", *files, *options])
        values = {row["case_id"]: row["scores"] for row in map(json.loads, rows.read_text("utf-8").splitlines())}
        assert values["c03"][together] < 0.3 and values["c05"][together] > 0.9, "a canteen, and the rule that is cited"
        assert values["c09"][together] < values["c05"][together], "the rules doubt what the judge says of the canteen"
