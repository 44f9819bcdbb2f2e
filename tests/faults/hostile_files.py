"""Files and folders that are wrong on purpose, for tests that no command dies with a traceback on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.cli import main

GOLDEN = [{"id": name, "question": f"Why {name}?", "expected_chunk_ids": ["a"]} for name in ("c1", "c2")]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> str:
    """Write rows as JSON Lines and return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def write_inputs(folder: Path, **changes: Any) -> list[str]:
    """Write a golden set and outputs with `changes` in each row; return the options of `assay score` that name them."""
    rows = [{"query_id": case["id"], "config_id": "a", "retrieved_chunks": ["a"]} | changes for case in GOLDEN]
    golden, outputs = write_rows(folder / "golden.jsonl", GOLDEN), write_rows(folder / "outputs.jsonl", rows)
    return ["--golden", golden, "--outputs", outputs]


def make_run(folder: Path) -> Path:
    """Score the inputs into a run folder and return it."""
    run = folder / "run"
    assert 0 == main(["score", *write_inputs(folder), "--run-dir", str(run)])
    return run
