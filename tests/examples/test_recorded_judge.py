"""The verdicts recorded with the handbook are replayed, and each of them rests on a reading that somebody made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from examples.handbook import recorded_judge

import assay
from assay.judging.verdict_store import read_store

HANDBOOK = Path(recorded_judge.__file__).parent


def score_recorded(config: str) -> assay.ScoreResult:
    return assay.score(
        HANDBOOK / "golden/handbook.jsonl",
        HANDBOOK / f"outputs/{config}.jsonl",
        corpus=HANDBOOK / "corpus/chunks.jsonl",
        verdicts=HANDBOOK / "judge/verdicts.jsonl",
    )


@pytest.mark.parametrize(("config", "settled"), [("vector-only", 0), ("hybrid-rerank", 2)])
def test_people_have_settled_everything_that_was_left_to_review(config: str, settled: int) -> None:
    in_review = assay.review(score_recorded(config))
    assert (0, settled, 0, 0) == (
        len(in_review.items), in_review.settled, in_review.other_answers, in_review.unasked,
    )  # fmt: skip


def test_a_recorded_review_has_the_label_and_the_reason_that_were_read() -> None:
    lines = map(json.loads, recorded_judge.REVIEWS.read_text("utf-8").splitlines())
    reviews = {(line["label"], line["reason"], line["reviewer"]) for line in lines}
    recorded = read_store(recorded_judge.VERDICTS).reviews
    assert reviews == {(review.label, review.reason, review.reviewer) for review in recorded}
    assert {"security_005", "redteam_001"} == {review.case_id for review in recorded}


def test_the_demo_replays_the_verdicts_so_that_its_first_screens_leave_nothing_unmeasured() -> None:
    demo = (HANDBOOK.parent.parent / "demo").read_text("utf-8")
    assert 2 == demo.count("--verdicts $example/judge/verdicts.jsonl")
    readme = (HANDBOOK.parent.parent / "README.md").read_text("utf-8")
    screens = readme[readme.index("<!-- excerpt baseline -->") : readme.index("<!-- excerpt report -->")]
    assert "Faithfulness  " in screens
    assert "not measured" not in screens


@pytest.mark.parametrize("config", recorded_judge.CONFIGS)
def test_recorded_verdicts_are_replayed_without_a_judge(config: str) -> None:
    result = score_recorded(config)
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
    inputs = {"question": "How many?", "answer": "Twelve."}
    fence = "0123456789abcdef"
    text = f"<<<DATA {fence}>>>\n{json.dumps(inputs | {'note': 'x'})}\n<<<END {fence}>>>"
    body = {"messages": [{"role": "user", "content": text}]}
    assert inputs == recorded_judge.parse_request(body)
    assert recorded_judge.make_key(inputs) not in recorded_judge.read_readings()
