"""Which files are left, and which exit code is returned, when the system fails during scoring."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.runs.scoring import make_case, make_trace, score, write

from assay.cli import main
from assay.formats import outputs as files_of_outputs
from assay.runs import score_run
from assay.scoring import score_shard

Printed = pytest.CaptureFixture[str]
SOURCE = str(Path(__file__).resolve().parents[2] / "src")
CASES, ROWS = [make_case("q1")], [make_trace("q1")]

DIES = """
import os, signal, sys
sys.path.insert(0, {source!r})
from assay.formats import file_io

def die(*arguments, **named):
    {before}
    os.kill(os.getpid(), signal.SIGKILL)

{patch}
from assay.cli import main
main({arguments!r})
"""
POINTS = {
    "while writing": ("pass", "file_io.os.fdopen = die"),
    "before it reaches the disk": ("pass", "file_io.os.fsync = die"),
    "before it gets its name": ("pass", "real = file_io.os.replace; file_io.os.replace = die"),
    "after it got its name": ("real(*arguments)", "real = file_io.os.replace; file_io.os.replace = die"),
}


def command(folder: Path, *options: str) -> list[str]:
    golden, outputs = write(folder / "golden.jsonl", CASES), write(folder / "outputs.jsonl", ROWS)
    return ["score", "--golden", golden, "--outputs", outputs, *options]


def run_python(code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, **options)


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_while_a_report_is_written_leaves_the_old_one_or_the_new_one(tmp_path: Path, point: str) -> None:
    target = tmp_path / "report.json"
    target.write_text("old", encoding="utf-8")
    before, patch = POINTS[point]
    arguments = command(tmp_path, "--json-report", str(target))
    done = run_python(DIES.format(source=SOURCE, before=before, patch=patch, arguments=arguments))
    assert -signal.SIGKILL == done.returncode
    if point == "after it got its name":
        assert "c" in json.loads(target.read_text(encoding="utf-8"))["configs"]
    else:
        assert "old" == target.read_text(encoding="utf-8")
    assert 0 == main(arguments)  # what the kill left behind is not in the way
    assert "c" in json.loads(target.read_text(encoding="utf-8"))["configs"]


def test_a_report_that_cannot_be_written_is_infrastructure_and_not_a_failed_gate(
    tmp_path: Path, capsys: Printed
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    target = tmp_path / "file" / "report.json"  # a file where a folder is needed: nobody can write there, not even root
    assert 3 == score(tmp_path, CASES, ROWS, "--json-report", str(target))
    assert f"{target}: cannot be written: " in capsys.readouterr().err


def test_a_full_disk_leaves_no_half_report(tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert 3 == score(tmp_path, CASES, ROWS, "--per-case", str(tmp_path / "cases.jsonl"))
    assert "No space left on device" in capsys.readouterr().err
    assert ["golden.jsonl", "outputs.jsonl"] == sorted(path.name for path in tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_a_reader_that_goes_away_changes_no_exit_code(tmp_path: Path, form: str) -> None:
    """`assay score … | true`: there is no error message, and the failed gate still fails."""
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: precision@10, at_least: 1}]", encoding="utf-8")
    arguments = command(tmp_path, "--gate", str(gate), "--format", form)
    code = f"import sys; sys.path.insert(0, {SOURCE!r}); from assay.cli import main; sys.exit(main({arguments!r}))"
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], stdout=written, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(written)
    assert 1 == done.returncode
    assert ("", "") == (done.stderr.partition("Traceback")[1], done.stderr.partition("BrokenPipe")[1])


@pytest.mark.slow
@pytest.mark.parametrize("words", [["metrics"], ["gate", "show", "support"], ["--help"]])
def test_any_command_ends_quietly_when_its_reader_has_gone(words: list[str]) -> None:
    code = f"import sys; sys.path.insert(0, {SOURCE!r}); from assay.cli import main; sys.exit(main({words!r}))"
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], stdout=written, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(written)
    assert (0, "") == (done.returncode, done.stderr)


def test_an_interrupt_is_exit_code_130(tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(score_shard, "ObservationCollector", interrupted)
    assert 130 == score(tmp_path, CASES, ROWS)
    assert "interrupted\n" == capsys.readouterr().err


def test_a_worker_that_dies_makes_the_measurement_incomplete(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 50)
    monkeypatch.setattr(score_run, "_start_method", lambda: "fork")
    monkeypatch.setattr(score_shard, "ObservationCollector", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    rows = [make_trace("q1", repeat=number) for number in range(4)]
    assert 3 == score(tmp_path, CASES, rows, "--workers", "2")
    assert "a worker process died before it finished" in capsys.readouterr().err


@pytest.mark.provokes_bug
def test_a_defect_of_assay_shows_its_trace_and_never_reads_as_a_failed_gate(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_shard, "ObservationCollector", None)
    assert 3 == score(tmp_path, CASES, ROWS)
    assert "TypeError: 'NoneType' object is not callable" in capsys.readouterr().err
