"""Kills `assay observe` repeatedly at random points and checks what it left, for the test suite and the soak test."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec
from tests.contracts.loopback import Request, as_json, serving
from tests.faults.forking import CommandForker

from assay.records.golden_set import Case
from assay.records.observations import Observation

CASES = 120
CONCURRENCY = 6
ASSAY = "import sys; from assay.cli import main; sys.exit(main())"


@dataclass
class Outcome:
    """The result of a series of kills; `lost` counts acknowledged lines missing later, `twice` duplicate lines."""

    kills: int
    calls: int
    lost: int
    twice: int
    torn: int
    lines: list[bytes]


def write_golden(folder: Path, cases: int = CASES) -> Path:
    """Write a golden set with this number of questions."""
    path = folder / "golden.jsonl"
    header = {"golden_set": {"name": "kill", "schema_version": 1}}
    lines = [msgspec.json.encode(header)]
    lines += [msgspec.json.encode(Case(f"c{number}", f"q{number}", "abstain")) for number in range(cases)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def killed(folder: Path, kills: int, seed: int, forker: CommandForker) -> Outcome:
    """Observe all cases while the process is killed `kills` times, each after a random number of requests."""
    chance = random.Random(seed)
    golden, run = write_golden(folder), folder / f"run-{seed}-{kills}"
    journal = run / "observations.jsonl"
    state: dict[str, int] = {"calls": 0, "pid": 0, "after": 0}

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        state["calls"] += 1
        question = request.json["question"]
        await asyncio.sleep(chance.random() / 100)
        if state["pid"] and state["calls"] >= state["after"]:
            pid, state["pid"] = state["pid"], 0
            os.kill(pid, signal.SIGKILL)
        writer.write(as_json({"answer": f"answer to {question}", "usage": {"end_to_end_ms": 1.0}}))

    outcome = Outcome(0, 0, 0, 0, 0, [])
    with serving(answer) as server:
        while True:
            command = forker.start(list_words(golden, server.url, run))
            if outcome.kills < kills:
                remaining = max(2, (CASES - len(_lines(journal))) // (kills - outcome.kills + 1))
                state["after"] = state["calls"] + 1 + chance.randrange(2 * remaining)
                state["pid"] = command.pid
            status, message = command.wait(timeout=120)
            outcome.torn += "cut off by a crash" in message
            if status == 0:
                break
            if status != -signal.SIGKILL:
                raise AssertionError(f"exit status {status}: {message}")
            outcome.kills += 1
            acknowledged = set(_lines(journal))
            outcome.lost += len(set(outcome.lines) - acknowledged)
            outcome.lines = sorted(acknowledged)
    final = _lines(journal)
    outcome.lost += len(set(outcome.lines) - set(final))
    outcome.twice = len(final) - len({msgspec.json.decode(line, type=Observation).case_id for line in final})
    outcome.calls, outcome.lines = state["calls"], sorted(final)
    return outcome


def start(golden: Path, url: str, run: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start `assay observe` against an address, in an interpreter of its own."""
    command = [sys.executable, "-c", ASSAY, *list_words(golden, url, run, *more)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def list_words(golden: Path, url: str, run: Path, *more: str) -> list[str]:
    """Return the command that observes all cases."""
    words = ["observe", "--golden", str(golden), "--target", f"system={url}", "--run-dir", str(run)]
    return [*words, "--concurrency", str(CONCURRENCY), *more]


def _lines(journal: Path) -> list[bytes]:
    """Return the complete lines of a journal, which are the acknowledged ones."""
    return journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
