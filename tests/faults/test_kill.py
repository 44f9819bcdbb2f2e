"""A run that is killed, stopped or opened twice: no observation is lost or kept twice, and the run can continue."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path

import pytest
from tests.contracts.loopback import Request, as_json, serving
from tests.faults.forking import CommandForker
from tests.faults.killing import CASES, CONCURRENCY, killed, list_words, start, write_golden

pytestmark = pytest.mark.slow


def test_killed_run_ends_with_the_same_observations_as_an_uninterrupted_one(
    tmp_path: Path, forker: CommandForker
) -> None:
    unkilled = killed(tmp_path, 0, 0, forker)
    outcome = killed(tmp_path, 8, 1, forker)
    assert (8, 0, 0) == (outcome.kills, outcome.lost, outcome.twice)
    assert unkilled.lines == outcome.lines
    assert outcome.calls <= CASES + outcome.kills * CONCURRENCY


def test_first_interrupt_drains_and_the_same_command_goes_on(tmp_path: Path, forker: CommandForker) -> None:
    golden, run = write_golden(tmp_path), tmp_path / "run"
    request_arrived = threading.Event()
    go_on = threading.Event()

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        if not go_on.is_set():
            request_arrived.set()
            await asyncio.to_thread(go_on.wait, 30)
        writer.write(as_json({"answer": "yes"}))

    with serving(answer) as server:
        command = forker.start(list_words(golden, server.url, run))
        assert request_arrived.wait(30)
        os.kill(command.pid, signal.SIGINT)
        go_on.set()
        status, message = command.wait(60)
        kept = (run / "observations.jsonl").read_bytes().count(b"\n")
        assert 130 == status, message
        assert CONCURRENCY <= kept < CASES
        assert f"{CASES - kept} observations are missing; continue with: assay observe" in message
        assert "--run-dir" in message
        status, message = forker.start(list_words(golden, server.url, run)).wait(60)
        assert 0 == status, message
    assert CASES == (run / "observations.jsonl").read_bytes().count(b"\n")


def test_second_interrupt_ends_at_once(tmp_path: Path, forker: CommandForker) -> None:
    golden, run = write_golden(tmp_path), tmp_path / "run"
    request_arrived = threading.Event()

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        request_arrived.set()
        await asyncio.sleep(60)

    with serving(answer) as server:
        command = forker.start(list_words(golden, server.url, run))
        assert request_arrived.wait(30)
        os.kill(command.pid, signal.SIGINT)
        command.wait_for_message("Ctrl-C again to exit at once", 30)
        os.kill(command.pid, signal.SIGINT)
        status, message = command.wait(60)
    assert 130 == status, message
    assert "Traceback" not in message


def test_two_processes_cannot_write_one_run(tmp_path: Path) -> None:
    golden, run = write_golden(tmp_path), tmp_path / "run"
    request_arrived = threading.Event()
    go_on = threading.Event()

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        request_arrived.set()
        await asyncio.to_thread(go_on.wait, 30)
        writer.write(as_json({"answer": "yes"}))

    with serving(answer) as server:
        first = start(golden, server.url, run)
        assert request_arrived.wait(30)
        second = start(golden, server.url, run)
        message = second.communicate(timeout=60)[1].decode()
        go_on.set()
        first.communicate(timeout=60)
    assert (0, 2) == (first.returncode, second.returncode)
    assert f"is being written by process {first.pid} on" in message
