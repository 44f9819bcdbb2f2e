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


@pytest.fixture(name="inputs", params=[0, 2], ids=["passed gate", "bad input"])
def make_inputs(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[int, list[str]]:
    """The expected exit code, and the arguments that lead to it: an error made by a stream would change 0, and an error
    swallowed because of one would change 2. Each run is a process of its own, which takes half a second."""
    options = write_inputs(tmp_path)
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: 5\n" if request.param else GATE)
    return request.param, ["score", *options, "--gate", str(gate)]


@pytest.mark.slow
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "<&-", "2>/dev/full", ">&- 2>/dev/full"])
def test_a_stream_that_cannot_be_used_changes_no_exit_code(redirection: str, inputs: tuple[int, list[str]]) -> None:
    code, arguments = inputs
    assert code == run_in_shell(arguments, redirection)[0]


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_narrow_encoding_changes_no_exit_code(encoding: str, inputs: tuple[int, list[str]]) -> None:
    code, arguments = inputs
    got, text = run_in_shell(arguments, "", PYTHONIOENCODING=encoding)
    assert code == got
    assert "UnicodeEncodeError" not in text


@pytest.mark.slow
def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    code, _ = run_in_shell(["score", *write_inputs(tmp_path), "--json-report", str(report)], ">&- 2>&- <&-")
    assert 0 == code
    assert report.read_text().lstrip().startswith("{")
    assert report.read_text().rstrip().endswith("}")
