"""Kills `assay judge` repeatedly at random points and checks what it left, for the test suite and the soak test."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.judge_server import JudgeCall, answer_with_labels, judge_server

from assay.cli import main
from assay.judging.verdict_store import SqliteVerdictStore, load_recorded_verdicts
from assay.records.verdicts import Verdict

CASES = 40
CONCURRENCY = 6
ASSAY = "import sys; from assay.cli import main; sys.exit(main())"
METRICS = "faithfulness(by=judge),answer_relevance(by=judge)"


@dataclass
class Outcome:
    """The result of a series of kills; `lost` counts acknowledged verdicts that were missing or different later."""

    kills: int = 0
    calls: int = 0
    verdicts: int = 0
    lost: int = 0
    double_bills: int = 0
    report: bytes = b""


def write_inputs(folder: Path, cases: int = CASES) -> tuple[Path, Path]:
    """Write a golden set and answers to it; every second answer contradicts its context."""
    golden, outputs = folder / "golden.jsonl", folder / "outputs.jsonl"
    with golden.open("w") as questions, outputs.open("w") as answers:
        for number in range(cases):
            text = f"Staff get {number + 10} days of leave in year {number}. They ask the head of department."
            question = f"How many days of leave are there in year {number}?"
            days = number + 10 + number % 2
            chunk = {"chunk_id": f"d{number}", "text": text}
            case = {"id": f"c{number}", "question": question, "expected_chunk_ids": [f"d{number}"]}
            answer = f"Staff get {days} days of leave in year {number} [d{number}]."
            row: dict[str, Any] = {"query_id": f"c{number}", "config_id": "a", "versions": {"model": "generator-1"}}
            row |= {"retrieved_chunks": [chunk], "context_chunks": [chunk], "answer": answer}
            questions.write(json.dumps(case) + "\n")
            answers.write(json.dumps(row | {"citations": [f"d{number}"]}) + "\n")
    return golden, outputs


def honest(asked: JudgeCall, item: str) -> str:
    """Label a claim by its numbers: it is supported if all of them are in the context."""
    labels = [str(each) for each in asked.item["label"]["enum"]]
    evidence = json.dumps([asked.data.get("claims"), asked.data.get("answer")])
    numbers = {word for word in evidence.replace('"', " ").replace(".", " ").split() if word.isdigit()}
    context = json.dumps(asked.data.get("context"))
    return labels[0] if numbers and all(number in context for number in numbers) else labels[-1]


def killed(folder: Path, kills: int, seed: int) -> Outcome:
    """Judge everything while the process is killed `kills` times, each time after a random number of calls."""
    chance = random.Random(seed)
    golden, outputs = write_inputs(folder)
    book = folder / f"book-{seed}-{kills}.sqlite"
    outcome, message, aim = Outcome(), "", {"pid": 0, "after": 0, "calls": 0}
    answer = answer_with_labels(honest)

    def watched(asked: JudgeCall) -> Any:
        aim["calls"] += 1
        if aim["pid"] and aim["calls"] >= aim["after"]:
            pid, aim["pid"] = aim["pid"], 0
            os.kill(pid, signal.SIGKILL)
        return answer(asked)

    known: dict[tuple[str, int], Verdict] = {}
    with judge_server(answer=watched, log=False) as server:
        while True:
            if not kills:  # nothing to kill: no process is needed
                os.environ["THE_JUDGE"] = f"{server.url}/v1"
                status = main(words_of(golden, outputs, book))
                break
            process = start(golden, outputs, server.url, book)
            if outcome.kills < kills:
                left = max(3, (2 * CASES + 30 - len(known)) // (kills - outcome.kills + 1))
                aim["after"] = aim["calls"] + 1 + chance.randrange(left)
                aim["pid"] = process.pid
            message = process.communicate(timeout=300)[1].decode()
            aim["pid"] = 0
            status = process.returncode
            if process.returncode != -signal.SIGKILL:
                break
            outcome.kills += 1
            known = _checked(book, known, outcome)
        outcome.calls = server.calls
    if status != 0:
        raise AssertionError(f"exit status {status}: {message}")
    outcome.verdicts = len(_checked(book, known, outcome))
    with SqliteVerdictStore(book) as opened:
        outcome.double_bills = opened.possible_double_bills
    outcome.report = scored(golden, outputs, book)
    return outcome


def words_of(golden: Path, outputs: Path, book: Path, *more: str) -> list[str]:
    """Return the command that judges the inputs; THE_JUDGE stands for the address."""
    words = ["judge", "--golden", str(golden), "--outputs", str(outputs), "--book", str(book), "--judge", "scripted"]
    words += ["--model", "scripted-1", "--base-url-env", "THE_JUDGE", "--metrics", METRICS, "--votes", "1"]
    return [*words, "--concurrency", str(CONCURRENCY), *more]


def start(golden: Path, outputs: Path, url: str, book: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start `assay judge` against an address."""
    command = [sys.executable, "-c", ASSAY, *words_of(golden, outputs, book, *more)]
    environment = {**os.environ, "THE_JUDGE": f"{url}/v1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def scored(golden: Path, outputs: Path, book: Path) -> bytes:
    """Return the report of scoring with a verdict store or an export of it."""
    report = book.with_name(f"{book.name}.report.json")
    words = ["score", "--golden", str(golden), "--outputs", str(outputs), "--metrics", METRICS]
    status = main([*words, "--verdicts", str(book), "--json-report", str(report)])
    if status != 0:
        raise AssertionError(f"exit status {status}")
    return report.read_bytes()


def _checked(book: Path, known: dict[tuple[str, int], Verdict], outcome: Outcome) -> dict[tuple[str, int], Verdict]:
    """Return the scored verdicts of a store, and count those of `known` that are missing or different."""
    if not book.exists():
        return {}
    notes: list[str] = []
    verdicts = load_recorded_verdicts(book, notes.append)[1]
    assert [] == notes
    scored_verdicts: dict[tuple[str, int], Verdict] = {}
    for by_judge in verdicts.values():
        for samples in by_judge.values():
            for verdict in samples:
                if verdict.unscored is None:
                    scored_verdicts[verdict.request, verdict.sample] = verdict
    outcome.lost += sum(scored_verdicts.get(key) != verdict for key, verdict in known.items())
    return scored_verdicts
