"""Nine weeks of simulated traffic of the handbook, as audit records: on a Thursday, its index goes stale.

`python -m examples.handbook.production --out answers.jsonl` writes the same lines every time. The questions are those
of the development set, asked by day and less often at weekends; one in eight has no answer or not for this user. From
Thursday 30 April 2026 on, the index (v12) is one of 31 January: it serves old versions and has no newer document. Some
of those who get a wrong answer say so.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from examples.handbook import handbook
from examples.handbook.app.pipeline import Handbook

QUESTIONS = Path(__file__).resolve().parent / "dev" / "questions.jsonl"
FIRST_DAY = datetime(2026, 3, 2, tzinfo=UTC)
DAYS, FAULT_DAY = 63, 59  # Thursday 30 April
PER_WEEKDAY, PER_WEEKEND_DAY = 22, 8
SHARE_WITHOUT_ANSWER = 1 / 8
AS_OF = "2026-03-15"
"""The day whose versions count: the same for all questions, so that each is computed once."""
FAULT = "stale_index:old-version"
VERSIONS = ("v11", "v12")


@cache
def _application(fault: bool) -> Handbook:
    return handbook("hybrid-rerank", (FAULT,) if fault else ())


@cache
def _ask(question: str, tenant: str, roles: tuple[str, ...], fault: bool) -> dict[str, Any]:
    user = {"tenant": tenant, "roles": list(roles), "as_of": AS_OF}
    return _application(fault).ask(question, user)


def hybrid_rerank_v12(question: str, user: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Ask the application as it was from that Thursday on, as a target of `assay run`."""
    return _application(True).ask(question, user) | {"versions": {"index": "v12"}}


def hybrid_rerank_v13(question: str, user: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Ask the application after its index was built again from the present documents."""
    return _application(False).ask(question, user) | {"versions": {"index": "v13"}}


def iterate_traffic(seed: int = 7) -> Iterator[dict[str, Any]]:
    """Yield the audit records in the order in which the questions were asked."""
    chance = random.Random(seed)  # noqa: S311  # simulates, protects nothing
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    answerable = [row for row in rows if row["behaviour"] == "answer"]
    others = [row for row in rows if row["behaviour"] != "answer"]
    number = 0
    for day in range(DAYS):
        fault = day >= FAULT_DAY
        count = PER_WEEKEND_DAY if day % 7 >= 5 else PER_WEEKDAY
        for second in sorted(chance.randrange(8 * 3600, 18 * 3600) for _ in range(count)):
            number += 1
            row = chance.choice(others if chance.random() < SHARE_WITHOUT_ANSWER else answerable)
            yield _make_record(number, chance, row, FIRST_DAY + timedelta(days=day, seconds=second), fault)


def _make_record(
    number: int, chance: random.Random, row: Mapping[str, Any], moment: datetime, fault: bool
) -> dict[str, Any]:
    answer = _ask(row["question"], row["tenant"], tuple(row["roles"]), fault)
    is_right = row.get("fact") is None or row["fact"] in (answer["answer"] or "")
    usage = answer.get("usage", {})
    return {
        "id": f"req-{number:04}",
        "at": moment.isoformat(),
        "question": row["question"],
        "user_uid": f"employee-{chance.randrange(120)}",
        "user": {"tenant": row["tenant"], "roles": row["roles"]},
        "config_id": "hybrid-rerank",
        "retrieved_uids": [chunk["chunk_id"] for chunk in answer["stages"][0]["chunks"]],
        "stages": answer["stages"],
        "context_tokens": usage.get("context_tokens"),
        "model": "extractive",
        "prompt_hash": "sha256:" + hashlib.sha256(b"extractive 1").hexdigest()[:8],
        "versions": {"index": VERSIONS[fault]},
        "answer": answer["answer"],
        "behaviour": answer["behaviour"],
        "citations": answer["citations"],
        "tool_calls": 0,
        "latency_ms": round(chance.lognormvariate(6.5, 0.3), 1),
        "feedback": None if is_right or chance.random() > 0.4 else "down",
    }


def main() -> int:
    """Write the traffic."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="file to write")
    options = parser.parse_args()
    with Path(options.out).open("w", encoding="utf-8") as file:
        for record in iterate_traffic():
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
