"""Run folders: no acknowledged observation is lost or kept twice, and one process writes at a time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from assay.formats.run_files.run_folder import (
    ObservationJournal,
    RunFolder,
    describe_manifest_changes,
    make_observation_key,
)
from assay.records.errors import IncompleteError, InputError
from assay.records.observations import Observation, TargetError


def line_of(case: str, code: str | None = None) -> tuple[bytes, Observation]:
    observation = Observation(case, "system", error=TargetError(code) if code else None)
    return msgspec.json.encode(observation), observation


def append(journal: ObservationJournal, case: str, code: str | None = None) -> None:
    line, observation = line_of(case, code)
    journal.append(line, make_observation_key(observation), failed=code is not None)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    run_folder = RunFolder(tmp_path / "run")
    run_folder.write_manifest({"a": 1})
    yield run_folder
    run_folder.close()


def test_what_was_appended_is_there_when_opened_again(folder: RunFolder) -> None:
    journal = ObservationJournal(folder)
    append(journal, "a")
    append(journal, "b", "timeout")
    journal.close()
    again = ObservationJournal(folder)
    assert {("system", "a", 0), ("system", "b", 0)} == again.keys
    assert {("system", "b", 0)} == again.failed_keys
    again.close()


def test_every_cut_through_the_journal_keeps_the_whole_lines_before_it(folder: RunFolder) -> None:
    """A crash may cut the file at any byte: exactly the complete lines before it are kept."""
    content = b"".join(line_of(case)[0] + b"\n" for case in ("a", "b", "c"))
    path = folder.path / "observations.jsonl"
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        journal = ObservationJournal(folder)
        complete = content[:cut].count(b"\n")
        assert complete == len(journal.keys)
        assert cut - (content[:cut].rfind(b"\n") + 1) == journal.torn_bytes
        append(journal, "z")
        journal.close()
        assert complete + 1 == len(path.read_bytes().splitlines())


def test_line_that_is_broken_or_there_twice_is_an_error_with_its_place(folder: RunFolder) -> None:
    path = folder.path / "observations.jsonl"
    line = line_of("a")[0]
    path.write_bytes(line + b"\n" + line + b"\n{broken}\n")
    with pytest.raises(InputError) as refused:
        ObservationJournal(folder)
    assert f"{path}:2: case_id: observed twice" in str(refused.value)
    assert f"{path}:3" in str(refused.value)


def test_failed_observations_are_taken_out_and_kept_apart(folder: RunFolder) -> None:
    journal = ObservationJournal(folder)
    for case, code in (("a", None), ("b", "timeout"), ("c", "http_500")):
        append(journal, case, code)
    assert 2 == journal.move_out(journal.failed_keys)
    assert {("system", "a", 0)} == journal.keys
    assert 2 == len((folder.path / "replaced.jsonl").read_bytes().splitlines())
    append(journal, "b")
    journal.close()
    again = ObservationJournal(folder)
    assert (2, set()) == (len(again.keys), again.failed_keys)
    again.close()


@pytest.mark.slow
def test_second_opener_is_told_who_has_it(folder: RunFolder) -> None:
    program = (
        "import sys; from pathlib import Path; from assay.formats.run_files.run_folder import RunFolder; "
        "RunFolder(Path(sys.argv[1]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(folder.path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "is being written by process" in run.stderr
    folder.close()
    RunFolder(folder.path).close()


def test_lock_of_a_dead_process_does_not_hold(folder: RunFolder) -> None:
    folder.close()
    (folder.path / "LOCK").write_text("process 1 on elsewhere\n", encoding="utf-8")
    RunFolder(folder.path).close()


@pytest.mark.parametrize("name", ["file", "full"])
def test_folder_of_something_else_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="expected a"):
        RunFolder(tmp_path / name)
    assert "x" == (tmp_path / "full/x").read_text(encoding="utf-8")


def test_broken_manifest_is_an_error_and_left_alone(folder: RunFolder) -> None:
    folder.close()
    (folder.path / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json:1: E_JSON invalid JSON"):
        RunFolder(folder.path)
    assert "{" == (folder.path / "manifest.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_full_disk_leaves_whole_lines_and_says_which_file(folder: RunFolder) -> None:
    """A limit on the file size simulates a full disk: the write that crosses it fails half way."""
    program = """
import resource, signal, sys
from pathlib import Path
from assay.records.errors import IncompleteError
from assay.formats.run_files.run_folder import ObservationJournal, RunFolder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = RunFolder(Path(sys.argv[1]))
journal = ObservationJournal(folder)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    for number in range(100):
        journal.append(b'{"case_id":"c%d","config_id":"system"}' % number, ("system", f"c{number}", 0), failed=False)
        print(number)
except IncompleteError as error:
    print(error)
"""
    folder.close()
    run = subprocess.run(
        [sys.executable, "-c", program, str(folder.path)], capture_output=True, text=True, timeout=60, check=True
    )
    *acknowledged, message = run.stdout.splitlines()
    assert "observations.jsonl: cannot be written: File too large" in message
    with RunFolder(folder.path) as opened:
        journal = ObservationJournal(opened)
        assert (len(acknowledged), 0) == (len(journal.keys), journal.torn_bytes)
        journal.close()


def test_unwritable_folder_is_an_infrastructure_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(IncompleteError, match="cannot be written"):
        RunFolder(tmp_path / "file" / "run")


def test_changes_are_named_one_by_one() -> None:
    before = {"golden": "x", "targets": {"a": {"call": "m:f", "k": 5}}}
    now = {"golden": "y", "targets": {"a": {"call": "m:g", "k": 5}, "b": 1}}
    expected = [
        "golden: was 'x', is now 'y'",
        "targets.a.call: was 'm:f', is now 'm:g'",
        "targets.b: was None, is now 1",
    ]
    assert expected == describe_manifest_changes(before, now)
