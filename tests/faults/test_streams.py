"""Standard streams that are closed, full or narrow change no exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.hostile_files import write_inputs

ASSAY = "import sys; from assay.cli import main; sys.exit(main())"
GATE = "rules:\n  - metric: recall@5\n    at_least: 1.0\n"


def run_in_shell(arguments: list[str], redirection: str, **environment: str) -> tuple[int, str]:
    """Run Assay in a shell with a redirection; return its exit code and what it wrote to both streams."""
    command = [sys.executable, "-c", ASSAY, *arguments]
    script = f'"$@" {redirection}'
    process = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *command], capture_output=True, env=os.environ | environment, check=False
    )
    return process.returncode, (process.stdout + process.stderr).decode("utf-8", "replace")


def make_gate_run(folder: Path, *, is_good: bool) -> list[str]:
    """Return the arguments of a command whose exit code is 0, or 2 where its gate is bad input: an error made by a
    stream would change 0, and an error swallowed because of one would change 2. Each run is a process of its own."""
    options = write_inputs(folder)
    gate = folder / "gate.yaml"
    gate.write_text(GATE if is_good else "rules: 5\n")
    return ["score", *options, "--gate", str(gate)]


@pytest.mark.slow
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "<&-", "2>/dev/full", ">&- 2>/dev/full"])
def test_a_stream_that_cannot_be_used_leaves_success_as_it_is(redirection: str, tmp_path: Path) -> None:
    assert 0 == run_in_shell(make_gate_run(tmp_path, is_good=True), redirection)[0]


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["2>&-", ">&- 2>&-", "2>/dev/full"])
def test_a_stream_that_cannot_be_used_leaves_the_code_of_an_error_as_it_is(redirection: str, tmp_path: Path) -> None:
    """An error is written to the second stream alone."""
    assert 2 == run_in_shell(make_gate_run(tmp_path, is_good=False), redirection)[0]


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 2])
def test_a_narrow_encoding_changes_no_exit_code(code: int, tmp_path: Path) -> None:
    """ASCII holds less than any other encoding."""
    got, text = run_in_shell(make_gate_run(tmp_path, is_good=code == 0), "", PYTHONIOENCODING="ascii")
    assert code == got
    assert "UnicodeEncodeError" not in text


@pytest.mark.slow
def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    code, _ = run_in_shell(["score", *write_inputs(tmp_path), "--json-report", str(report)], ">&- 2>&- <&-")
    assert 0 == code
    assert report.read_text().lstrip().startswith("{")
    assert report.read_text().rstrip().endswith("}")
