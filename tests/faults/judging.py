"""Kills `assay judge` repeatedly at random points and checks what it left, for the test suite and the soak test.

A judge can also be made hopeless: nineteen of twenty requests get a reply that is of no use, so that the judging
stops itself and has to be resumed until it is done.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.forking import CommandForker
from tests.support.judge_server import JudgeCall, answer_with_labels, find_text, judge_server
from tests.support.verdicts import count_all_double_bills

from assay.cli import main
from assay.judging.billing import may_have_been_billed
from assay.judging.control_questions import build_all_anchors
from assay.judging.rubric_files import load_anchors, load_rubrics
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.records.verdicts import Verdict

CASES = 40
CONCURRENCY = 6
METRICS = "faithfulness(by=judge),answer_relevance(by=judge)"
MAX_RESUMES = 60
"""A judging that is not done after so many commands is stuck."""
TWO_OBJECTS = '{"items": []} {"items": []}'


@dataclass
class Outcome:
    """The result of a series of kills; `lost` counts acknowledged verdicts that were missing or different later.

    `resumes` counts the commands after one that stopped itself; `status` and `message` are those of the last command.
    """

    kills: int = 0
    resumes: int = 0
    calls: int = 0
    verdicts: int = 0
    lost: int = 0
    double_bills: int = 0
    report: bytes = b""
    status: int = 0
    message: str = ""


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


def _describe_anchor(labels: Sequence[str], *texts: object) -> str:
    return json.dumps([*labels, *texts])


def list_anchor_labels() -> dict[str, str]:
    """Return the label that each anchor deserves, by the labels to choose from, its question, item and answer."""
    rubrics = load_rubrics()
    labels = {}
    for anchor, request in build_all_anchors(load_anchors().anchors, rubrics).values():
        inputs = request.inputs
        item = find_text(inputs, request.items[0]) if rubrics[request.rubric, request.language].per_item else ""
        labels[_describe_anchor(request.labels, inputs["question"], item, inputs.get("answer", ""))] = anchor.label
    return labels


ANCHOR_LABELS = list_anchor_labels()


def label_anchor(asked: JudgeCall, item: str) -> str:
    """Return the label that an anchor deserves; "" for everything else."""
    labels, data = [str(each) for each in asked.item["label"]["enum"]], asked.data
    texts = find_text(data, "question"), find_text(data, item) if "answer" != item else "", data.get("answer", "")
    return ANCHOR_LABELS.get(_describe_anchor(labels, *texts), "")


def honest(asked: JudgeCall, item: str) -> str:
    """Label a claim by its numbers: it is supported if all of them are in the context; anchors by what they are."""
    anchor_label = label_anchor(asked, item)
    if anchor_label:
        return anchor_label
    labels = [str(each) for each in asked.item["label"]["enum"]]
    evidence = json.dumps([asked.data.get("claims"), asked.data.get("answer")])
    numbers = {word for word in evidence.replace('"', " ").replace(".", " ").split() if word.isdigit()}
    context = json.dumps(asked.data.get("context"))
    return labels[0] if numbers and all(number in context for number in numbers) else labels[-1]


def is_hopeless(asked: JudgeCall) -> bool:
    """Return whether a request is one of nineteen of twenty that are about some year."""
    years = re.findall(r"year (\d+)", json.dumps(asked.data))
    return bool(years) and int(years[0]) % 20 > 0


class _Aim:
    """Counts the calls that a judge gets, and kills a process at one of them."""

    def __init__(self, seed: int) -> None:
        self.calls = 0
        self._chance = random.Random(seed)
        self._pid, self._last_call = 0, 0

    def choose(self, pid: int, calls_left: int) -> None:
        """Choose one of the next calls at random."""
        self._last_call = self.calls + 1 + self._chance.randrange(max(3, calls_left))
        self._pid = pid

    def forget(self) -> None:
        """Kill nothing any more."""
        self._pid = 0

    def count_call(self) -> None:
        """Count a call, and kill the process if it is the chosen one."""
        self.calls += 1
        if self._pid and self.calls >= self._last_call:
            pid, self._pid = self._pid, 0
            os.kill(pid, signal.SIGKILL)


def killed(folder: Path, kills: int, seed: int, forker: CommandForker, *, hopeless: bool = False) -> Outcome:
    """Judge until all is done while the process is killed `kills` times, each time after a random number of calls."""
    golden, outputs = write_inputs(folder)
    store = folder / f"store-{seed}-{kills}-{hopeless}.sqlite"
    outcome, aim, answer = Outcome(), _Aim(seed), answer_with_labels(honest)

    def watched(asked: JudgeCall) -> Any:
        aim.count_call()
        return TWO_OBJECTS if hopeless and is_hopeless(asked) else answer(asked)

    words = words_of(golden, outputs, store)
    with judge_server(answer=watched, log=False) as server:
        os.environ["THE_JUDGE"] = f"{server.url}/v1"
        if kills:
            _judge_under_fire(words, store, kills, aim, outcome, forker)
        else:
            _judge_in_peace(words, aim, outcome)
    if outcome.status != (3 if hopeless else 0):
        raise AssertionError(f"exit status {outcome.status}: {outcome.message}")
    outcome.calls = aim.calls
    with SqliteVerdictStore(store) as opened:
        outcome.double_bills = count_all_double_bills(opened)
    outcome.verdicts = len(_checked(store, {}, outcome))
    outcome.report = scored(golden, outputs, store)
    return outcome


def _judge_in_peace(words: list[str], aim: _Aim, outcome: Outcome) -> None:
    """Judge in this process until a command makes no call."""
    calls = -1
    while calls != aim.calls and outcome.resumes < MAX_RESUMES:
        calls, outcome.status = aim.calls, main(words)
        outcome.resumes += 1


def _judge_under_fire(
    words: list[str], store: Path, kills: int, aim: _Aim, outcome: Outcome, forker: CommandForker
) -> None:
    """Judge with processes that are killed, and check after each kill that no verdict of the earlier ones is lost."""
    paid_before: dict[tuple[str, int], Verdict] = {}
    while outcome.resumes < MAX_RESUMES:
        command = forker.start(words)
        if outcome.kills < kills:
            aim.choose(command.pid, (2 * CASES + 30 - len(paid_before)) // (kills - outcome.kills + 1))
        outcome.status, outcome.message = command.wait(timeout=300)
        aim.forget()
        if outcome.status == -signal.SIGKILL:
            outcome.kills += 1
            paid_before = _checked(store, paid_before, outcome)
        elif outcome.status == 3 and "run the same command again to continue" in outcome.message:
            outcome.resumes += 1
        else:
            break
    _checked(store, paid_before, outcome)


def words_of(golden: Path, outputs: Path, store: Path, *more: str) -> list[str]:
    """Return the command that judges the inputs; THE_JUDGE stands for the address."""
    words = ["judge", "--golden", str(golden), "--outputs", str(outputs), "--store", str(store), "--judge", "scripted"]
    words += ["--model", "scripted-1", "--base-url-env", "THE_JUDGE", "--metrics", METRICS, "--votes", "1"]
    return [*words, "--concurrency", str(CONCURRENCY), *more]


def scored(golden: Path, outputs: Path, store: Path) -> bytes:
    """Return the report of scoring with a verdict store or an export of it."""
    report = store.with_name(f"{store.name}.report.json")
    words = ["score", "--golden", str(golden), "--outputs", str(outputs), "--metrics", METRICS]
    status = main([*words, "--verdicts", str(store), "--json-report", str(report)])
    if status not in (0, 3):  # 3: some answers have no verdict
        raise AssertionError(f"exit status {status}")
    return report.read_bytes()


def _checked(store: Path, known: dict[tuple[str, int], Verdict], outcome: Outcome) -> dict[tuple[str, int], Verdict]:
    """Return the verdicts of a store that were paid for, and count those of `known` that are missing or different."""
    if not store.exists():
        return {}
    contents = read_store(store)
    assert [] == contents.warnings
    paid_verdicts: dict[tuple[str, int], Verdict] = {}
    for by_judge in contents.verdicts.values():
        for samples in by_judge.values():
            for verdict in samples:
                if verdict.unscored is None or may_have_been_billed(verdict):
                    paid_verdicts[verdict.request, verdict.sample] = verdict
    outcome.lost += sum(paid_verdicts.get(key) != verdict for key, verdict in known.items())
    return paid_verdicts
