"""A case that failed before and fails in another way got worse, and is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.report.schema_check import load_schema, violations

import assay
from assay.cli import main

CASES: list[dict[str, Any]] = [
    {"id": "deposit", "question": "How much is the deposit?", "must_have": ["40 euros"]},
    {"id": "key", "question": "Where is the key?", "must_have": ["desk"]},
    {"id": "rent", "question": "How much is the rent?", "must_have": ["700 euros"]},
]
for _case in CASES:
    _case["evidence"] = [{"any_of": [{"chunk_id": _case["id"]}]}]
RIGHT = {"deposit": "The deposit is 40 euros.", "key": "The key is at the desk.", "rent": "The rent is 700 euros."}
TEXTS = [{"chunk_id": name, "text": text} for name, text in RIGHT.items()]


def _write(folder: Path, name: str, cited: dict[str, str], answers: dict[str, str]) -> str:
    rows = [
        {
            "case_id": case,
            "config_id": "x",
            "answer": answers.get(case, RIGHT[case]),
            "citations": [cited.get(case, case)],
            "stages": [{"name": stage, "chunks": TEXTS} for stage in ("retrieved", "context")],
        }
        for case in RIGHT
    ]
    golden, outputs = folder / "golden.jsonl", folder / f"{name}.jsonl"
    golden.write_text("".join(json.dumps(case) + "\n" for case in CASES), encoding="utf-8")
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = str(folder / name)
    recorded = ["--golden", str(golden), "--outputs", str(outputs)]
    assert 0 == main(["score", *recorded, "--run-dir", run, "--no-history"])
    return run


def test_it_is_named_on_the_screen_and_in_the_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deposit was cited wrongly, and is wrong now; the key is cited wrongly on both sides; the rent stays right."""
    monkeypatch.setenv("COLUMNS", "250")
    badly_cited = {"deposit": "rent", "key": "rent"}
    before = _write(tmp_path, "before", badly_cited, {})
    after = _write(tmp_path, "after", badly_cited, {"deposit": "The deposit is 700 euros."})
    capsys.readouterr()
    reports = ["--report", str(tmp_path / "c.md"), "--json-report", str(tmp_path / "c.json")]
    assert 0 == main(["compare", before, after, *reports])
    printed = capsys.readouterr().out
    assert "the same ones fail on both sides, 1 of them in another way (deposit: wrong_answer)" in printed
    report = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    schema = load_schema("comparison")
    assert [] == violations(report, schema, schema)
    assert {"deposit": ["wrong_answer"]} == {row["case_id"]: row["fails_too"] for row in report["cases"]}
    capsys.readouterr()
    assert 0 == main(["compare", before, before])
    assert "in another way" not in capsys.readouterr().out


def test_a_case_that_fails_for_the_first_time_is_in_one_list_only(tmp_path: Path) -> None:
    """It fails now, whatever checks it fails."""
    runs = [
        _write(tmp_path, "before", {}, {}),
        _write(tmp_path, "after", {"deposit": "rent"}, {"deposit": "The deposit is 700 euros."}),
    ]
    comparison = assay.compare(*runs)
    assert [] == [change.case_id for change in comparison.cases if change.fails_too]
    assert ("deposit",) == tuple(comparison.metrics["failed"].regressed)
