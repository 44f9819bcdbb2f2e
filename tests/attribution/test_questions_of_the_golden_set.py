"""Outputs that do not repeat the question say the same of the run as outputs that do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import assay

TEXTS = {
    "zones": "Zone Q7 is behind the ferry terminal, next to the crane.",
    "prices": "A week in zone Q7 costs 33 EUR.",
    "crane": "The crane lifts boats of up to nine tonnes.",
    "cafe": "The cafe serves soup from noon.",
    "office": "The harbour office opens at eight.",
    "fuel": "Diesel is sold at the eastern pontoon.",
}
ASKED = {
    "price": ("What does a week in zone Q7 cost?", "prices", "33 EUR"),
    "place": ("Where is zone Q7?", "zones", "ferry terminal"),
    "lift": ("What does the crane lift?", "crane", "nine tonnes"),
    "soup": ("What does the cafe serve?", "cafe", "soup"),
    "open": ("When does the harbour office open?", "office", "eight"),
    "diesel": ("Where is diesel sold?", "fuel", "eastern pontoon"),
}


def score(tmp_path: Path, *, repeat_question: bool) -> Any:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_bytes(b"".join(msgspec.json.encode({"chunk_id": n, "text": t}) + b"\n" for n, t in TEXTS.items()))
    golden = [
        {"id": name, "question": question, "must_have": [fact], "expected_chunk_ids": [chunk]}
        for name, (question, chunk, fact) in ASKED.items()
    ]
    outputs: list[dict[str, Any]] = []
    for name, (question, chunk, fact) in ASKED.items():
        found = ["zones", "crane"] if name == "price" else [chunk, "crane"]
        chunks = [{"chunk_id": chunk_id, "text": TEXTS[chunk_id]} for chunk_id in dict.fromkeys(found)]
        stages = [{"name": stage, "chunks": chunks} for stage in ("bm25", "context")]
        answer = "I could not find that." if name == "price" else f"{fact}."
        output = {"case_id": name, "answer": answer, "stages": stages}
        outputs.append(output | ({"question": question} if repeat_question else {}))
    return assay.score(golden, outputs, corpus=corpus)


@pytest.mark.parametrize("repeat_question", [True, False])
def test_a_search_is_looked_at_by_the_question_of_the_golden_set(tmp_path: Path, repeat_question: bool) -> None:
    (case,) = score(tmp_path, repeat_question=repeat_question).failed
    said = " ".join(case.explain(verbose=True).split())
    assert "elsewhere in the run it finds chunks by “q7, zone”" in said
    assert "no search of the run finds" not in said
    assert "stale_index" == case.cause
