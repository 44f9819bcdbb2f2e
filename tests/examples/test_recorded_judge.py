"""The verdicts recorded with the handbook are replayed, and each of them rests on a reading that somebody made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from examples.handbook import recorded_judge

import assay

HANDBOOK = Path(recorded_judge.__file__).parent


@pytest.mark.parametrize("config", recorded_judge.CONFIGS)
def test_recorded_verdicts_are_replayed_without_a_judge(config: str) -> None:
    result = assay.score(
        HANDBOOK / "golden/handbook.jsonl",
        HANDBOOK / f"outputs/{config}.jsonl",
        corpus=HANDBOOK / "corpus/chunks.jsonl",
        verdicts=HANDBOOK / "judge/verdicts.jsonl",
    )
    assert result.metric("faithfulness(by=judge)").scored >= 30, (
        "the prompts changed: run python -m examples.handbook.recorded_judge --unread FILE"
    )


def test_readings_quote_what_decides_them() -> None:
    chunks = map(json.loads, (HANDBOOK / "corpus/chunks.jsonl").read_text("utf-8").splitlines())
    texts = "\n".join(chunk["text"] for chunk in chunks)
    quotes = [
        item.get("quote", "") for items in recorded_judge.read_readings().values() for item in items if "quote" in item
    ]
    assert 0.8 <= sum(quote in texts for quote in quotes) / len(quotes), "the others are of the judge's own anchors"


def test_a_request_that_nobody_has_read_is_kept() -> None:
    data = {"question": "How many?", "answer": "Twelve."}
    fence = "0123456789abcdef"
    text = f"<<<DATA {fence}>>>\n{json.dumps(data | {'note': 'x'})}\n<<<END {fence}>>>"
    body = {"messages": [{"role": "user", "content": text}]}
    assert data == recorded_judge.parse_request(body)
    assert recorded_judge.make_key(data) not in recorded_judge.read_readings()
