"""Starting is fast: what a fresh interpreter has loaded after the import, and after the help of the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("msgspec", "numpy", "rich", "scipy", "typer", "yaml")

IMPORT_ALL = """
import importlib, pkgutil, assay
for module in pkgutil.walk_packages(assay.__path__, "assay."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""

SHOW_HELP = """
from assay.cli import main
sys.argv = ["assay", "--help"]
try:
    main()
except SystemExit as stop:
    assert stop.code in (0, None), stop.code
"""


def _run(code: str) -> tuple[list[str], list[str]]:
    """Run `code` in a fresh interpreter; return the lines that it printed and which of HEAVY it loaded."""
    report = f"\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}{report}"], capture_output=True, text=True, timeout=60
    )
    assert run.stderr == ""
    assert run.returncode == 0
    *printed, loaded = run.stdout.splitlines()
    return printed, loaded.split()


def test_importing_the_package_prints_nothing_and_loads_nothing_heavy() -> None:
    assert ([], []) == _run("import assay")


@pytest.mark.slow
def test_no_module_prints_or_loads_scipy_when_imported() -> None:
    printed, loaded = _run(IMPORT_ALL)
    assert [] == printed
    assert {"msgspec", "numpy"} <= set(loaded)
    assert "scipy" not in loaded


@pytest.mark.slow
def test_help_does_not_load_scipy() -> None:
    printed, loaded = _run(SHOW_HELP)
    assert any("score" in line for line in printed)
    assert "scipy" not in loaded


LATE = (
    "assay.judging.verdict_store",
    "assay.metrics.judged.second_judgement",
    "sqlite3",
    "assay.comparison.compare_scores",
    "assay.comparison.twin_clusters",
    "assay.runs.compare_runs",
    "assay.formats.trec.qrels",
    "assay.records.settings",
    "dataclasses",
    "html",
    "importlib.resources",
    "yaml",
)
SCORE = """
from pathlib import Path
from assay.cli import main
Path("golden.jsonl").write_text('{"id": "c1", "question": "Why?", "expected_chunk_ids": ["a"]}\\n')
Path("outputs.jsonl").write_text('{"query_id": "c1", "config_id": "a", "retrieved_chunks": ["a"], "answer": "So."}\\n')
assert main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl"]) == 0
"""


@pytest.mark.slow
def test_scoring_without_verdicts_and_baseline_loads_nothing_for_them(tmp_path: Path) -> None:
    report = f"\nprint(*(name for name in {LATE!r} if name in sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", f"import sys\n{SCORE}{report}"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=True,
    )
    assert "" == run.stdout.splitlines()[-1]
