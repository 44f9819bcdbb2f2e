"""The audit store: rates of ingesting, verifying and looking up, next to what SQLite itself needs for the same bytes.

`python -m benchmarks.audit --answers 1000000` prints CPU seconds of one process and milliseconds of each look-up; it
ends with 1 if a bar is missed: 5,000 answers a second of CPU time, 200 ms for each look-up. `--store postgresql://…`
measures a server (its own CPU time is not counted).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.privacy import AuditKeys
from assay.audit.search_store import AnswerQuery, search_answers

RATE_BAR, LOOK_UP_BAR_MS = 5000, 200
LOOK_UPS = 20
BATCH = 1000
START = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "the secret of the benchmark"
WORDS = (
    *("leave", "policy", "days", "annual", "remote", "work", "sick", "salary", "contract", "overtime", "invoice"),
    *("refund", "ticket", "outage", "laptop", "security", "training", "travel", "expense", "claim", "nghỉ", "phép"),
    *("năm", "bao", "nhiêu", "ngày", "được", "hưởng", "chính", "sách", "làm", "việc", "từ", "xa", "hợp", "đồng"),
)


def iterate_traffic(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield audit records of a year: half Vietnamese words, 100,000 users at most, 5,000 chunks."""
    chance = random.Random(seed)
    users = min(100_000, max(1, count // 10))
    for number in range(count):
        yield {
            "id": f"req-{number}",
            "at": (START + timedelta(seconds=31_000_000 * number / count)).isoformat(),
            "question": f"{' '.join(chance.choices(WORDS, k=10))} {number}?",
            "user_uid": f"user-{chance.randrange(users)}",
            "retrieved_uids": [f"chunk-{chance.randrange(5000)}" for _ in range(10)],
            "context_tokens": 1800,
            "model": "model-a",
            "prompt_hash": "sha256:1f",
            "answer": f"{' '.join(chance.choices(WORDS, k=60))}.",
            "citations": [f"chunk-{chance.randrange(5000)}" for _ in range(2)],
            "tool_calls": 1,
            "latency_ms": round(900 + 500 * chance.random(), 1),
            "feedback": chance.choice([None, None, "up", "down"]),
        }


def write_traffic(path: Path, count: int, seed: int) -> None:
    """Write the records as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        for row in iterate_traffic(count, seed):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def measure(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU and wall-clock seconds of a piece of work."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def insert_plainly(source: Path, target: Path) -> None:
    """Insert the lines as they are into a table with one index: the least that any store in SQLite does."""
    with sqlite3.connect(target, isolation_level=None) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE lines (number INTEGER PRIMARY KEY, id TEXT UNIQUE, line BLOB)")
        with source.open("rb") as lines:
            batch: list[tuple[str, bytes]] = []
            for number, line in enumerate(lines, 1):
                batch.append((f"req-{number}", line))
                if len(batch) == BATCH:
                    _insert_batch(db, batch)
                    batch = []
            _insert_batch(db, batch)
    db.close()


def _insert_batch(db: sqlite3.Connection, batch: list[tuple[str, bytes]]) -> None:
    db.execute("BEGIN IMMEDIATE")
    db.executemany("INSERT INTO lines (id, line) VALUES (?, ?)", batch)
    db.execute("COMMIT")


def measure_look_ups(address: str, count: int, seed: int) -> dict[str, list[float]]:
    """Return the milliseconds of each look-up, by kind."""
    chance = random.Random(seed)
    keys = AuditKeys(SECRET.encode())
    users = min(100_000, max(1, count // 10))

    def make_query(kind: str) -> AnswerQuery:
        day = (START + timedelta(days=chance.randrange(350))).date().isoformat()
        next_day = (datetime.fromisoformat(day) + timedelta(days=1)).date().isoformat()
        pseudonym = keys.make_pseudonym(f"user-{chance.randrange(users)}")
        return {
            "question, rare word": AnswerQuery(question=f"leave {chance.randrange(count)}"),
            "question, common words": AnswerQuery(question=" ".join(chance.sample(WORDS, 3))),
            "user": AnswerQuery(pseudonym=pseudonym),
            "user and question": AnswerQuery(pseudonym=pseudonym, question=chance.choice(WORDS)),
            "day": AnswerQuery(since=day, until=next_day),
            "citation": AnswerQuery(citation=f"chunk-{chance.randrange(5000)}"),
            "citation and question": AnswerQuery(
                citation=f"chunk-{chance.randrange(5000)}", question=chance.choice(WORDS)
            ),
            "verdict": AnswerQuery(verdict="feedback=down"),
            "verdict and day": AnswerQuery(verdict="feedback=down", since=day, until=next_day),
        }[kind]

    kinds = ("question, rare word", "question, common words", "user", "user and question", "day", "citation")
    times: dict[str, list[float]] = {}
    with open_audit_store(address) as store:
        for kind in (*kinds, "citation and question", "verdict", "verdict and day"):
            times[kind] = []
            for _ in range(LOOK_UPS):
                start = time.perf_counter()
                search_answers(store, make_query(kind))
                times[kind].append(1000 * (time.perf_counter() - start))
    return times


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="address of an empty PostgreSQL database (default: a new SQLite file)")
    options = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # each figure is seen when it is there, also in a file
    os.environ["ASSAY_AUDIT_KEY"] = SECRET
    count = options.answers
    missed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "traffic.jsonl"
        write_traffic(source, count, options.seed)
        address = options.store or str(folder / "audit.sqlite")
        cpu, wall = measure(lambda: assay.audit.ingest(address, source))
        print(f"ingest: {count} answers, {count / cpu:.0f} a second of CPU, {count / wall:.0f} a second of time")
        if count / cpu < RATE_BAR:
            missed.append(f"ingest below {RATE_BAR} a second of CPU")
        if options.store is None:
            floor_cpu, floor_wall = measure(lambda: insert_plainly(source, folder / "floor.sqlite"))
            print(
                f"SQLite's floor (the bare lines, one index): {count / floor_cpu:.0f} a second of CPU, "
                f"{count / floor_wall:.0f} a second of time"
            )
            size, lines = (folder / "audit.sqlite").stat().st_size, source.stat().st_size
            print(f"size: {size / count:.0f} bytes an answer; the lines have {lines / count:.0f}")
        for kind, times in measure_look_ups(address, count, options.seed).items():
            slowest = max(times)
            print(f"look-up by {kind}: median {statistics.median(times):.1f} ms, slowest {slowest:.1f} ms")
            if slowest > LOOK_UP_BAR_MS:
                missed.append(f"look-up by {kind} above {LOOK_UP_BAR_MS} ms")
        results = []
        cpu, wall = measure(lambda: results.append(assay.audit.verify(address)))
        print(f"verify: intact {results[0].is_intact}, {count / cpu:.0f} a second of CPU")
    for sentence in missed:
        print(f"missed: {sentence}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
