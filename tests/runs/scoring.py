"""Small golden sets and outputs for tests that run the whole command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.cli import main

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"


def make_case(case_id: str, **changes: Any) -> dict[str, Any]:
    """A golden case whose evidence is chunk `a`."""
    return {"id": case_id, "question": f"Why {case_id}?", "expected_chunk_ids": ["a"]} | changes


def make_trace(case_id: str, config: str = "c", **changes: Any) -> dict[str, Any]:
    """An output that found chunk `a` first."""
    return {"query_id": case_id, "config_id": config, "retrieved_chunks": ["a", "b"], "versions": {"i": "1"}} | changes


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    """Write rows as JSON Lines and return the path."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def score(folder: Path, cases: list[dict[str, Any]], rows: list[dict[str, Any]], *options: str) -> int:
    """Score rows against cases through the command line, printing everything, and return the exit code."""
    golden, outputs = write(folder / "golden.jsonl", cases), write(folder / "outputs.jsonl", rows)
    return main(["score", "--golden", golden, "--outputs", outputs, "--verbose", *options])


def score_to_report(
    folder: Path, cases: list[dict[str, Any]], rows: list[dict[str, Any]], *options: str
) -> dict[str, Any]:
    """Score and return the JSON report."""
    target = folder / "report.json"
    score(folder, cases, rows, "--json-report", str(target), *options)
    json_report: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return json_report


def score_to_cells(
    folder: Path, cases: list[dict[str, Any]], rows: list[dict[str, Any]], *options: str
) -> dict[str, Any]:
    """Score and return the per-case rows by case id."""
    target = folder / "cases.jsonl"
    score(folder, cases, rows, "--per-case", str(target), *options)
    lines = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    return {row["case_id"]: row for row in lines}
