"""The logger of answers: it never raises, never waits, loses no count, and writes what `ingest` reads."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest
from tests.audit.traffic import at_noon, make_line

import assay
from assay.audit.answer_log_file import AnswerLog


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def test_what_is_logged_can_be_ingested(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "log" / "answers.jsonl")
    assert log.log(make_line(1))
    assert log.log({"question": "Nghỉ phép?", "answer": "Mười hai ngày.", "user_uid": "lan"})
    log.close()
    assert (2, 0) == (log.written, log.dropped)
    assert 0o600 == log.path.stat().st_mode & 0o777
    result = assay.audit.ingest(tmp_path / "s", log.path, now=at_noon)
    assert (2, 0, 0) == (result.stored, result.rejected, result.without_time)


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("value", [Unprintable(), "\ud800", {1: {2: Unprintable()}}])
def test_what_is_no_json_is_counted_and_not_raised(value: object, tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "answers.jsonl")
    assert not log.log({"question": value})
    assert log.log({"question": "good"})
    log.close()
    assert (1, 1) == (log.written, log.dropped)


def test_a_full_queue_drops_and_counts_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # opening it for writing waits for a reader
    log = AnswerLog(pipe, max_queued=5)
    start = time.monotonic()
    accepted = sum(log.log({"question": str(number)}) for number in range(1000))
    assert time.monotonic() - start < 5
    assert accepted in (5, 6)  # one may be in the writer's hands
    assert 1000 - accepted == log.dropped
    assert not log.flush(0.01)
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert log.flush(30)
    log.close()
    os.close(handle)
    assert 1000 == log.written + log.dropped


def test_a_file_that_cannot_be_written_is_counted(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path)  # a folder
    assert log.log({"question": "x"})
    log.close()
    assert (0, 1) == (log.written, log.dropped)
    full = AnswerLog("/dev/full")
    assert full.log({"question": "x"})
    full.close()
    assert (0, 1) == (full.written, full.dropped)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_file_that_is_moved_or_deleted_is_made_again(is_deleted: bool, tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "answers.jsonl")
    log.log({"question": "before"})
    assert log.flush(60)
    moved = log.path.rename(tmp_path / "answers.1.jsonl")
    if is_deleted:
        moved.unlink()
    log.log({"question": "after"})
    log.log({"question": "later"})
    log.close()
    assert (3, 0) == (log.written, log.dropped)
    assert ["after", "later"] == [row["question"] for row in read_rows(log.path)]


def test_an_application_without_the_right_to_look_goes_on_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "no right")

    (tmp_path / "answers.jsonl").write_text('{"question": "before"}\n')
    log = AnswerLog(tmp_path / "answers.jsonl")
    monkeypatch.setattr(Path, "open", refuse)  # a file that may be written and not read
    log.log({"question": "first"})
    assert log.flush(60)
    monkeypatch.setattr(Path, "stat", refuse)  # then it gives up its rights on the folder
    log.log({"question": "second"})
    assert log.flush(60)
    monkeypatch.undo()
    moved = log.path.rename(tmp_path / "answers.1.jsonl")
    monkeypatch.setattr("assay.audit.answer_log_file.os.open", refuse)  # where no new file may be made
    log.log({"question": "third"})
    assert log.flush(60)
    assert ["before", "first", "second", "third"] == [row["question"] for row in read_rows(moved)]
    moved.unlink()
    log.log({"question": "nowhere"})
    log.close()
    assert (3, 1) == (log.written, log.dropped)


def test_half_a_line_that_a_killed_process_left_spoils_no_other_one(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'{"question":"whole"}\n{"question":"ha')
    log = AnswerLog(path)
    log.log({"question": "next"})
    log.log({"question": "last"})
    log.close()
    lines = path.read_bytes().splitlines()
    assert [b'{"question":"ha'] == lines[1:2]
    assert ["next", "last"] == [msgspec.json.decode(line)["question"] for line in lines[2:]]


def test_half_a_line_that_a_full_disk_took_spoils_no_other_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    room = [100]

    def write_what_fits(handle: int, data: bytes) -> int:
        if room[0] == 0:
            raise OSError(errno.ENOSPC, "no space left")
        written = write(handle, data[: room[0]])
        room[0] -= written
        return written

    log = AnswerLog(tmp_path / "answers.jsonl")
    monkeypatch.setattr("assay.audit.answer_log_file.os.write", write_what_fits)
    for number in range(3):
        log.log({"id": str(number), "at": "2026-03-02T08:00:00Z", "answer": "x" * 20})
    assert log.flush(60)
    room[0] = 10_000
    log.log({"question": "next"})
    log.close()
    lines = log.path.read_bytes().splitlines()
    assert (2, 2) == (log.written, log.dropped)
    assert [True, False, True] == [line.endswith(b"}") for line in lines]
    assert "next" == msgspec.json.decode(lines[-1])["question"]


def test_lines_of_many_threads_stay_whole(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "answers.jsonl")

    def write(number: int) -> None:
        for turn in range(200):
            log.log({"id": f"{number}-{turn}", "answer": "x" * 500})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.flush(60)
    log.close()
    assert 1600 == len({row["id"] for row in read_rows(log.path)}) == log.written


PROGRAM = """
import os, sys, assay
assert not assay.audit.log(question="nowhere")
os.environ["ASSAY_AUDIT_LOG"] = sys.argv[1]
assay.audit.log(question="parent")
if os.fork() == 0:
    assay.audit.log(question="child")
    sys.exit()
os.wait()
assert assay.audit.count_dropped() == 1
assert "sqlalchemy" not in sys.modules
"""


def test_the_function_needs_one_variable_and_survives_forks_and_the_end_of_the_program(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "ASSAY_AUDIT_LOG"}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, str(tmp_path / "a.jsonl")]
    subprocess.run(command, check=True, timeout=120, env=environment)
    assert {"parent", "child"} == {row["question"] for row in read_rows(tmp_path / "a.jsonl")}


def test_fields_are_given_as_a_mapping_as_keywords_or_both(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    log = AnswerLog(path)
    assert log.log({"question": "a?"}) and log.log(question="b?") and log.log({"question": "c?"}, answer="d")
    log.close()
    assert ["a?", "b?", "c?"] == [row["question"] for row in read_rows(path)]
