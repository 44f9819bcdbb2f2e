"""Makes run folders with scripted outcomes, for tests of the history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.cli import main


def make_case(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"c{number:02d}",
        "question": f"What is item {number}?",
        "rubric": {"correct_keywords": [f"item {number}"]},
        **more,
    }


def score_run(
    folder: Path,
    name: str,
    right: Sequence[bool],
    *options: str,
    day: int = 1,
    index: str = "v1",
    cases: Sequence[Mapping[str, Any]] | None = None,
) -> Path:
    """Score one run of as many cases as there are outcomes; returns its folder."""
    golden = cases if cases is not None else [make_case(number) for number in range(len(right))]
    rows = [
        {
            "case_id": case["id"],
            "config_id": "bm25",
            "answer": f"It is {case['rubric']['correct_keywords'][0]}." if is_right else "It is something else.",
            "versions": {"index": index},
        }
        for case, is_right in zip(golden, right, strict=True)
    ]
    (folder / "golden.jsonl").write_text("".join(json.dumps(case) + "\n" for case in golden), encoding="utf-8")
    (folder / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = ["--golden", str(folder / "golden.jsonl"), "--outputs", str(folder / "outputs.jsonl")]
    run = folder / "runs" / name
    time = f"2026-03-{day:02d}T08:00:00Z"
    assert main(["score", *files, "--run-dir", str(run), "--now", time, "--metrics", "failed,keywords", *options]) == 0
    return run
