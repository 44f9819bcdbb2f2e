"""Kills `assay audit ingest` at random moments and checks what it left: for the test suite and, longer, as a soak test.

`python -m tests.audit.killing --kills 1000` prints what was lost, doubled or broken; all three must be 0. With
`--server postgresql://…` each store is a database of that server; `--batch`, `--lines` and `--seconds` say how large a
batch is, how many lines come before each kill, and how long an ingest runs at most before it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from tests.audit.conftest import make_database
from tests.audit.traffic import make_line
from tests.faults.forking import CommandForker

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.schema import RECORDS
from assay.records.errors import InputError

LINES_PER_KILL = 300
BATCH = 10
KILLS_PER_STORE = 10
"""After so many kills a new store is begun, so that creating and migrating one is killed too."""
AMONG_BATCHES = 0.75
"""The share of kills that come after an acknowledgement, without which nothing can be lost."""


@dataclass(frozen=True)
class KillPlan:
    """How ingests are killed: `seconds` is the longest time before a kill, `server` one of PostgreSQL, or None."""

    kills: int
    seed: int
    batch: int = BATCH
    lines: int = LINES_PER_KILL
    seconds: float = 0.25
    server: str | None = None


@dataclass
class KillOutcome:
    """`lost` counts acknowledged answers that were missing later, `doubled` answers stored twice.

    `kills_among_batches` are those after an acknowledgement: without them nothing could be lost.
    """

    kills: int = 0
    kills_among_batches: int = 0
    lost: int = 0
    doubled: int = 0
    broken: int = 0
    answers: int = 0


def kill_ingest(folder: Path, plan: KillPlan, forker: CommandForker) -> KillOutcome:
    """Start and kill ingests until so many of them as planned were running when they were killed."""
    os.environ["ASSAY_AUDIT_KEY"] = "k" * 32
    chance = random.Random(plan.seed)
    outcome = KillOutcome()
    stores = 0
    while outcome.kills < plan.kills:
        stores += 1
        wanted = min(KILLS_PER_STORE, plan.kills - outcome.kills)
        _kill_one_store(forker, plan, folder / f"store-{stores}", wanted, chance, outcome)
    return outcome


def _kill_one_store(
    forker: CommandForker, plan: KillPlan, folder: Path, kills: int, chance: random.Random, outcome: KillOutcome
) -> None:
    folder.mkdir()
    source, log = folder / "traffic.jsonl", folder / "log"
    store = str(folder / "audit.sqlite") if plan.server is None else make_database(plan.server)
    words = ["audit", "ingest", "--checkpoint", "--acknowledge", "--batch", str(plan.batch)]
    words += ["--dead-letters", str(folder / "dead.jsonl"), str(source), "--store", store]
    written = killed = acknowledged = 0
    while killed < kills:
        written = _write_more(source, written, plan.lines)
        log.unlink(missing_ok=True)
        running = forker.start(words, stdout=log)
        # The moment of the kill is drawn: within the start, or between batches that are acknowledged.
        longest = plan.seconds if killed else plan.seconds / 4
        if killed and plan.batch < plan.lines and chance.random() < AMONG_BATCHES:
            _wait_for_acknowledgement(log)
            longest = plan.seconds / 4
        time.sleep(chance.uniform(0, longest))  # nothing is waited for: this is the moment of the kill
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.kill(running.pid, signal.SIGKILL)
        status, _ = running.wait(timeout=60)
        killed += status == -signal.SIGKILL
        last = _last_acknowledged(log)
        outcome.kills_among_batches += status == -signal.SIGKILL and last > 0
        acknowledged = max(acknowledged, last)
        outcome.lost += max(0, acknowledged - _count_answers(store))
    status, _ = forker.start(words).wait(timeout=300)
    result = assay.audit.verify(store)
    outcome.kills += killed
    outcome.broken += status != 0 or not result.is_intact
    outcome.lost += max(0, written - result.answers)
    outcome.doubled += max(0, result.answers - written)
    outcome.answers += result.answers


def _wait_for_acknowledgement(log: Path, seconds: float = 10.0) -> None:
    """Wait until a batch was acknowledged, however slow the machine is; no longer than so many seconds."""
    end = time.monotonic() + seconds
    while not _last_acknowledged(log) and time.monotonic() < end:
        time.sleep(0.002)  # the log is a file, which tells nobody that it grew


def _write_more(source: Path, written: int, lines: int) -> int:
    with source.open("a", encoding="utf-8") as file:
        for number in range(written, written + lines):
            file.write(json.dumps(make_line(number)) + "\n")
    return written + lines


def _last_acknowledged(log: Path) -> int:
    last = 0
    if not log.exists():  # killed before it opened the file
        return last
    for line in log.read_text(encoding="utf-8").splitlines():
        if line.startswith('{"acknowledged"') and line.endswith("}}"):
            last = max(last, json.loads(line)["acknowledged"]["line"])
    return last


def _count_answers(store: str) -> int:
    """Return how many answers are there after a kill; 0 for a store that was killed before it had its tables."""
    try:
        with open_audit_store(store, migrate=False) as opened, opened.reading() as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(RECORDS)).scalar_one())
    except InputError:
        return 0


def main() -> int:
    """Run the soak test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--lines", type=int, default=LINES_PER_KILL)
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--server", help="address of a PostgreSQL server whose user may create databases")
    plan = KillPlan(**vars(parser.parse_args()))
    with tempfile.TemporaryDirectory() as folder, CommandForker() as forker:
        outcome = kill_ingest(Path(folder), plan, forker)
    print(outcome)  # noqa: T201
    return 1 if outcome.lost or outcome.doubled or outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())
