"""Kills `assay audit ingest` at random moments and checks what it left: for the test suite and, longer, as a soak test.

`python -m tests.audit.killing --kills 1000` prints what was lost, doubled or broken; all three must be 0.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.audit.traffic import make_line
from tests.faults.forking import CommandForker

import assay

LINES_PER_KILL = 300
BATCH = 10
KILLS_PER_STORE = 10
"""After so many kills a new store is begun, so that creating and migrating one is killed too."""


@dataclass
class KillOutcome:
    """`lost` counts acknowledged answers that were missing later, `doubled` answers stored twice."""

    kills: int = 0
    lost: int = 0
    doubled: int = 0
    broken: int = 0
    answers: int = 0


def kill_ingest(folder: Path, kills: int, seed: int, forker: CommandForker) -> KillOutcome:
    """Start and kill ingests until `kills` of them were running when they were killed."""
    os.environ["ASSAY_AUDIT_KEY"] = "k" * 32
    chance = random.Random(seed)
    outcome = KillOutcome()
    command = ["audit", "ingest", "--checkpoint", "--acknowledge", "--batch", str(BATCH)]
    command += ["--dead-letters", str(folder / "dead.jsonl")]
    stores = 0
    while outcome.kills < kills:
        stores += 1
        wanted = min(KILLS_PER_STORE, kills - outcome.kills)
        _kill_one_store(forker, command, folder / f"store-{stores}", wanted, chance, outcome)
    return outcome


def _kill_one_store(
    forker: CommandForker,
    command: Sequence[str],
    folder: Path,
    kills: int,
    chance: random.Random,
    outcome: KillOutcome,
) -> None:
    folder.mkdir()
    source, store, log = folder / "traffic.jsonl", folder / "audit.sqlite", folder / "log"
    words = [*command, str(source), "--store", str(store)]
    written = killed = acknowledged = 0
    while killed < kills:
        written = _write_more(source, written)
        running = forker.start(words, stdout=log)
        time.sleep(chance.uniform(0, 0.25 if killed else 0.06))
        os.kill(running.pid, signal.SIGKILL)
        status, _ = running.wait(timeout=60)
        killed += status == -signal.SIGKILL
        acknowledged = max(acknowledged, _last_acknowledged(log))
        outcome.lost += max(0, acknowledged - _count_answers(store))
    status, _ = forker.start(words).wait(timeout=300)
    result = assay.audit.verify(store)
    outcome.kills += killed
    outcome.broken += status != 0 or not result.is_intact
    outcome.lost += max(0, written - result.answers)
    outcome.doubled += max(0, result.answers - written)
    outcome.answers += result.answers


def _write_more(source: Path, written: int) -> int:
    with source.open("a", encoding="utf-8") as file:
        for number in range(written, written + LINES_PER_KILL):
            file.write(json.dumps(make_line(number)) + "\n")
    return written + LINES_PER_KILL


def _last_acknowledged(log: Path) -> int:
    last = 0
    if not log.exists():  # killed before it opened the file
        return last
    for line in log.read_text(encoding="utf-8").splitlines():
        if line.startswith('{"acknowledged"') and line.endswith("}}"):
            last = max(last, json.loads(line)["acknowledged"]["line"])
    return last


def _count_answers(store: Path) -> int:
    if not store.exists():
        return 0
    with sqlite3.connect(store) as db:
        tables = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'records'").fetchone()[0]
        count = db.execute("SELECT count(*) FROM records").fetchone()[0] if tables else 0
    db.close()
    return int(count)


def main() -> int:
    """Run the soak test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, CommandForker() as forker:
        outcome = kill_ingest(Path(folder), options.kills, options.seed, forker)
    print(outcome)  # noqa: T201
    return 1 if outcome.lost or outcome.doubled or outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())
