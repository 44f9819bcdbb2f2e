"""Judging that is killed, stopped or run by several processes: no verdict is lost and no question is asked twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.faults.forking import CommandForker
from tests.faults.judging import CONCURRENCY, honest, killed, words_of, write_inputs
from tests.support.judge_server import JudgeCall, answer_with_labels, judge_server
from tests.support.verdicts import count_all_double_bills

from assay.judging.verdict_files import count_verdicts
from assay.judging.verdict_store import SqliteVerdictStore, read_store

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_killed_judging_ends_with_the_same_verdicts_and_scores(tmp_path: Path, forker: CommandForker) -> None:
    unkilled = killed(tmp_path, 0, 0, forker)
    outcome = killed(tmp_path, 5, 1, forker)
    assert (5, 0) == (outcome.kills, outcome.lost)
    assert (unkilled.verdicts, unkilled.report) == (outcome.verdicts, outcome.report)
    assert outcome.calls <= unkilled.calls + 5 * CONCURRENCY
    assert outcome.calls - unkilled.calls <= outcome.double_bills <= 5 * CONCURRENCY


def test_killed_judging_of_a_judge_that_often_fails_gets_done_and_pays_nothing_twice(
    tmp_path: Path, forker: CommandForker
) -> None:
    """Most replies are of no use: known failures come neither before new work nor are they paid for again."""
    unkilled = killed(tmp_path, 0, 0, forker, hopeless=True)
    outcome = killed(tmp_path, 3, 1, forker, hopeless=True)
    assert unkilled.resumes > 2  # it stopped itself, and the last of the commands made no call
    assert (3, 0) == (outcome.kills, outcome.lost)
    assert (unkilled.verdicts, unkilled.report) == (outcome.verdicts, outcome.report)
    assert outcome.calls <= unkilled.calls + 3 * CONCURRENCY


def test_first_interrupt_drains_and_the_same_command_goes_on(
    tmp_path: Path, forker: CommandForker, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden, outputs = write_inputs(tmp_path)
    store = tmp_path / "book.sqlite"
    first_call, go_on = threading.Event(), threading.Event()
    answer = answer_with_labels(honest)

    def slow(asked: JudgeCall) -> Any:
        first_call.set()
        go_on.wait(60)
        return answer(asked)

    with judge_server(answer=slow) as server:
        monkeypatch.setenv("THE_JUDGE", f"{server.url}/v1")
        command = forker.start(words_of(golden, outputs, store))
        assert first_call.wait(60)
        os.kill(command.pid, signal.SIGINT)
        command.wait_for_message("Ctrl-C again to exit at once", 60)
        go_on.set()
        status, message = command.wait(60)
        assert 130 == status, message
        assert "interrupted; run the same command again to continue" in message
        kept = count_verdicts(read_store(store).verdicts)
        assert 1 <= kept == server.calls <= CONCURRENCY
        status, message = forker.start(words_of(golden, outputs, store)).wait(120)
        assert 0 == status, message
        assert server.calls == count_verdicts(read_store(store).verdicts)
    with SqliteVerdictStore(store) as opened:
        assert 0 == count_all_double_bills(opened)


WORKER = """
import asyncio, sys
from tests.support.verdicts import JUDGE, make_request, make_verdict
from assay.judging.verdict_store import SqliteVerdictStore
from assay.judging.call_scheduler import JudgingRunner, JudgingLimits

class Judge:
    identity = JUDGE
    def estimate(self, request): return 1, 1
    async def aclose(self): ...
    async def ask(self, request, sample):
        with open(sys.argv[2], "a") as log:
            log.write(request.inputs["answer"] + "\\n")
        await asyncio.sleep(0)
        return make_verdict(request, sample)

first, last = int(sys.argv[3]), int(sys.argv[4])
with SqliteVerdictStore(sys.argv[1]) as store:
    store.register_judge(JUDGE)
    runner = JudgingRunner(Judge(), store, lambda _, samples: not samples, JudgingLimits(16))
    found = asyncio.run(runner.run([make_request(str(number)) for number in range(first, last)]))
sys.exit(0 if all(len(each) == 1 for each in found.values()) else 1)
"""


def test_four_processes_ask_for_each_verdict_once(tmp_path: Path) -> None:
    """Four processes with 500 requests each; each shares half of them with the next one."""
    store, log = tmp_path / "book.sqlite", tmp_path / "calls.log"
    path = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(store), str(log), str(250 * number), str(250 * number + 500)],
            env=path,
            stderr=subprocess.PIPE,
        )
        for number in range(4)
    ]
    for process in processes:
        message = process.communicate(timeout=120)[1].decode()
        assert 0 == process.returncode, message
    asked = Counter(log.read_text().split())
    assert (250 * 5, {1}) == (len(asked), set(asked.values()))
    assert 250 * 5 == count_verdicts(read_store(store).verdicts)
