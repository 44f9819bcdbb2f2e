"""The composite action, run here as a workflow would: its exit code is the gate's, and its reports say the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from tests.faults.forking import CommandForker

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HANDBOOK = ROOT / "examples" / "handbook"
CORPUS = HANDBOOK / "corpus" / "chunks.jsonl"
EVERY_THIRD = slice(1, None, 3)
"""Of the handbook's cases: enough for each decision, one that leaks among them, and a third of the time."""


class Done(NamedTuple):
    """What a job left: the step's exit code, its log, the job's summary and the folder of reports."""

    status: int
    log: str
    summary: str
    reports: Path


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some cases of the handbook, and what two configurations answered to them."""
    folder = tmp_path_factory.mktemp("part")
    cases = (HANDBOOK / "golden" / "handbook.jsonl").read_text().splitlines()
    kept = cases[EVERY_THIRD]
    (folder / "golden.jsonl").write_text("\n".join(kept) + "\n")
    ids = {json.loads(case)["id"] for case in kept}
    for name in ("hybrid-rerank.jsonl", "vector-only.jsonl"):
        rows = (HANDBOOK / "outputs" / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(row for row in rows if json.loads(row)["query_id"] in ids))
    return folder


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory, forker: CommandForker) -> Iterator[Path]:
    """A folder with the command `assay`, which the steps of the action start by its name."""
    folder = tmp_path_factory.mktemp("bin")
    with forker.command_file(folder / "assay"):
        yield folder


def act(here: Path, part: Path, commands: Path, **inputs: object) -> Done:
    action_inputs = {"install": "false", "golden": part / "golden.jsonl", "corpus": CORPUS} | inputs
    environment = dict(os.environ) | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(here / "summary.md"),
        "GITHUB_OUTPUT": str(here / "output"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    words = [
        sys.executable,
        str(ROOT / "scripts" / "run_action.py"),
        *(f"{key}={value}" for key, value in action_inputs.items()),
    ]
    done = subprocess.run(words, cwd=here, env=environment, capture_output=True, text=True, check=False)
    summary = here / "summary.md"
    assert f"exit-code={done.returncode}\n" == (here / "output").read_text()
    summary_text = summary.read_text() if summary.exists() else ""
    return Done(done.returncode, done.stdout + done.stderr, summary_text, here / "assay-out")


def test_a_candidate_that_may_ship_passes_the_job(tmp_path: Path, part: Path, commands: Path) -> None:
    done = act(tmp_path, part, commands, outputs=part / "hybrid-rerank.jsonl", profile="capstone")
    assert 0 == done.status, done.log
    assert done.summary.startswith("## ⚠️ Assay: PASS_WITH_RISK")
    assert "::warning title=assay%3A PASS_WITH_RISK::" in done.log
    suites = ElementTree.parse(done.reports / "junit.xml").getroot()
    assert ["0", "0"] == [suite.attrib["failures"] for suite in suites]
    assert b"<!doctype html>" == (done.reports / "report.html").read_bytes()[:15].lower()


def test_a_risk_fails_the_job_where_it_is_strict(tmp_path: Path, part: Path, commands: Path) -> None:
    done = act(tmp_path, part, commands, outputs=part / "hybrid-rerank.jsonl", profile="capstone", strict="true")
    assert 1 == done.status, done.log
    assert done.summary.startswith("## ❌ Assay: PASS_WITH_RISK, a failure with --strict")
    assert "::error title=assay%3A PASS_WITH_RISK::" in done.log
    assert "::warning " not in done.log


def test_a_candidate_that_leaks_fails_the_job_and_is_marked(tmp_path: Path, part: Path, commands: Path) -> None:
    done = act(tmp_path, part, commands, outputs=part / "vector-only.jsonl", profile="capstone")
    assert 1 == done.status, done.log
    assert done.summary.startswith("## ❌ Assay: FAIL")
    assert "::error title=assay%3A FAIL::" in done.log
    assert "leaked what the user must not see (visibility_leaks): acl_003" in done.log
    gate = ElementTree.parse(done.reports / "junit.xml").getroot()[0]
    assert int(gate.attrib["failures"]) > 0


def test_a_measurement_with_holes_is_incomplete_and_never_green(tmp_path: Path, part: Path, commands: Path) -> None:
    rows = (part / "hybrid-rerank.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "part.jsonl").write_text("".join(rows[:-4]))
    done = act(tmp_path, part, commands, outputs=tmp_path / "part.jsonl", profile="capstone")
    assert 3 == done.status, done.log
    assert done.summary.startswith("## ❓ Assay: INCOMPLETE")


def test_bad_input_is_marked_although_nothing_was_scored(tmp_path: Path, part: Path, commands: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"query_id": 7}\n')
    done = act(tmp_path, part, commands, outputs=tmp_path / "bad.jsonl")
    assert 2 == done.status, done.log
    assert "::error title=assay::nothing was scored (exit 2)" in done.log


@pytest.mark.parametrize("name", ["$(touch pwned).jsonl", "`touch pwned`.jsonl", "a b;touch pwned.jsonl"])
def test_a_file_name_never_becomes_a_command(tmp_path: Path, part: Path, commands: Path, name: str) -> None:
    done = act(tmp_path, part, commands, outputs=name)
    assert 2 == done.status, done.log
    assert not (tmp_path / "pwned").exists()


def test_several_files_are_given_one_on_each_line(tmp_path: Path, part: Path, commands: Path) -> None:
    both = f"{part / 'hybrid-rerank.jsonl'}\n{part / 'vector-only.jsonl'}"
    done = act(tmp_path, part, commands, outputs=both)
    assert 0 == done.status, done.log
    report = json.loads((done.reports / "run" / "derived" / "report.json").read_text())
    assert {"hybrid-rerank", "vector-only"} == set(report["configs"])
