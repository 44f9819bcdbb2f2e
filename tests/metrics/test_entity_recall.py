"""Entity recall over recorded outputs, and what `assay explain` says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli import main

QUESTION = "Who closed INC-2024-001 for Delft Medical?"


def score(
    folder: Path, capsys: pytest.CaptureFixture[str], texts: list[str | None], **case: object
) -> tuple[object, object, object, list[str]]:
    """Return the score, its status and the explanation of one case whose context has these texts."""
    golden, outputs = folder / "golden.jsonl", folder / "outputs.jsonl"
    golden.write_text(json.dumps({"id": "q", "question": QUESTION, "expected_chunk_ids": ["c0"], **case}))
    chunks = [{"chunk_id": f"c{number}", "text": text} for number, text in enumerate(texts)]
    stages = [{"name": "retrieved", "chunks": chunks}, {"name": "context", "chunks": chunks[:1]}]
    outputs.write_text(json.dumps({"case_id": "q", "config_id": "a", "stages": stages, "answer": "Kim."}))
    words = ["--golden", str(golden), "--outputs", str(outputs)]
    names = "entity_recall,entity_recall(stage=retrieved)"
    per_case = folder / "cases.jsonl"
    assert 0 == main(["score", *words, "--metrics", names, "--per-case", str(per_case)])
    row = json.loads(per_case.read_bytes())
    capsys.readouterr()
    assert 0 == main(["explain", "q", *words, "--verbose"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("entity_recall")]
    return row["scores"]["entity_recall"], row["scores"]["entity_recall(stage=retrieved)"], row["status"], lines


@pytest.mark.slow
def test_the_share_of_entities_that_the_evidence_mentions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts: list[str | None] = ["Kim closed INC-2024-002 for Delft Medical.", "INC-2024-001 was closed by An."]
    shown, retrieved, _, lines = score(tmp_path, capsys, texts)
    assert (0.5, 1.0) == (shown, retrieved)
    assert "entity missing from the evidence: INC-2024-001" in " ".join(lines)


@pytest.mark.slow
def test_without_texts_or_entities_there_is_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown, _, status, _ = score(tmp_path, capsys, [None])
    assert shown is None and "no text" in json.dumps(status)
    shown, _, status, _ = score(tmp_path, capsys, ["x"], question="Who closed it?")
    assert shown is None and "names no code and no name" in json.dumps(status)
