"""Weeks of production traffic for the tests: a handbook application whose index is changed on a known day."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FIRST_DAY = datetime(2026, 1, 5, tzinfo=UTC)
SENTENCES = (
    ("leave", "Employees receive twelve days of annual leave each year."),
    ("parking", "Parking permits are issued by the reception in building four."),
    ("travel", "Travel costs are repaid within thirty days of the claim."),
    ("laptop", "Laptops are replaced after four years of use."),
)
QUESTIONS = {
    "leave": "How many days of annual leave do employees receive?",
    "parking": "Who issues parking permits?",
    "travel": "When are travel costs repaid?",
    "laptop": "When are laptops replaced?",
}
WRONG = "Employees receive ninety weeks of sabbatical in Antarctica."


def make_answer(number: int, at: datetime, *, user: str, wrong: bool, refuses: bool, index: str) -> dict[str, Any]:
    """Return one line of production traffic."""
    topic, sentence = SENTENCES[number % len(SENTENCES)]
    answer = f"{WRONG if wrong else sentence} [{topic}-1]"
    if refuses:
        answer = "I could not find this in the documents."
    others = [(f"{name}-1", text) for name, text in SENTENCES if name != topic]
    chunks = [(f"{topic}-1", sentence), *others[:2]]
    stages = [
        {
            "name": "retrieved",
            "chunks": [
                {"chunk_id": name, "text": text, "score": 0.9 - 0.1 * rank} for rank, (name, text) in enumerate(chunks)
            ],
        },
        {"name": "context", "chunks": [{"chunk_id": name, "text": text} for name, text in chunks[:1]]},
    ]
    return {
        "id": f"req-{number}",
        "at": at.isoformat(),
        "question": QUESTIONS[topic],
        "user_uid": user,
        "user": {"tenant": "acme" if number % 3 else "globex", "roles": ["staff"]},
        "retrieved_uids": [name for name, _ in chunks],
        "stages": stages,
        "context_tokens": 300,
        "model": "model-a",
        "prompt_hash": "sha256:1f",
        "versions": {"index": index},
        "answer": answer,
        "citations": [] if refuses else [f"{topic}-1"],
        "tool_calls": 0,
        "latency_ms": 800.0 + number % 50,
        "cost_usd": 0.002,
        "feedback": "down" if wrong and number % 4 == 0 else None,
    }


def list_traffic(
    days: int,
    per_day: int,
    *,
    change_day: int | None = None,
    wrong: float = 0.03,
    wrong_after: float = 0.3,
    seed: int = 1,
) -> Iterator[dict[str, Any]]:
    """Yield the answers of some days; from `change_day` on, a new index makes more of them wrong."""
    generator = random.Random(seed)
    number = 0
    for day in range(days):
        changed = change_day is not None and day >= change_day
        for _ in range(per_day // (3 if day % 7 >= 5 else 1)):
            number += 1
            yield make_answer(
                number,
                FIRST_DAY + timedelta(days=day, seconds=generator.randrange(86_400)),
                user=f"user-{generator.randrange(60)}",
                wrong=generator.random() < (wrong_after if changed else wrong),
                refuses=generator.random() < 0.15,
                index="v12" if changed else "v11",
            )


def write_traffic(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    """Write answers as JSON lines."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
