"""The Markdown report names the corpus that was given, whether or not its versions are stated."""

from __future__ import annotations

import json
from pathlib import Path

from assay.cli import main


def test_a_corpus_without_versions_is_named_next_to_what_is_stated_without_one(tmp_path: Path) -> None:
    golden, outputs, corpus = (str(tmp_path / f"{name}.jsonl") for name in ("golden", "outputs", "corpus"))
    case = {"id": "ferry", "question": "When does the ferry leave?", "evidence": [{"chunk_id": "piers"}]}
    Path(golden).write_text(json.dumps(case), encoding="utf-8")
    Path(outputs).write_text(json.dumps({"case_id": "ferry", "answer": "At noon."}), encoding="utf-8")
    chunks = [{"chunk_id": name, "text": f"The {name} open at noon."} for name in ("piers", "locks", "gates")]
    Path(corpus).write_text("\n".join(map(json.dumps, chunks)), encoding="utf-8")
    lines = []
    for more in ([], ["--corpus", corpus]):
        report = tmp_path / f"report{len(more)}.md"
        main(["score", "--golden", golden, "--outputs", outputs, "--report", str(report), *more])
        lines += [line for line in report.read_text(encoding="utf-8").splitlines() if "Corpus / index" in line]
    assert "| Corpus / index | versions not stated |" == lines[0]
    assert lines[1].startswith("| Corpus / index | 3 chunks, sha256:") and lines[1].endswith("; versions not stated |")
