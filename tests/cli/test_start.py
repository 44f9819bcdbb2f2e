"""What a start of the command line costs: modules imported for nothing, and the work of the interpreter at its exit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.main import get_command

from assay.cli import may_end_at_once
from assay.cli.app import COMMANDS, SHARING_A_FUNCTION, build_app
from assay.records.plugin_table import PluginTable

SLOW_TO_IMPORT = ("numpy", "yaml", "rich", "asyncio", "assay.cli.score", "assay.cli.options", "assay.records.requests")

ONLY_FOR_REPORTS = (
    *(
        "assay.report.cases.explain_case",
        "assay.report.exports.github",
        "assay.report.page.case_data",
        "assay.report.exports.junit",
    ),
    *(
        "assay.report.exports.markdown",
        "assay.report.page.write_html",
        "assay.runs.compare_runs",
        "xml.etree.ElementTree",
        "yaml",
    ),
)
HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"


def run_python(code: str) -> list[str]:
    """Return the last line that a new interpreter prints, as words."""
    environment = os.environ | {"COLUMNS": "200"}
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120, env=environment
    )
    return finished.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_what_shows_no_command_imports_none(arguments: list[str]) -> None:
    loaded = run_python(f"import sys; from assay.cli import main; main({arguments}); print(*sys.modules)")
    assert not set(SLOW_TO_IMPORT) & set(loaded)


def test_a_score_that_writes_a_run_folder_imports_no_renderer_and_no_comparison(tmp_path: Path) -> None:
    outputs = HANDBOOK / "outputs" / "hybrid-rerank.jsonl"
    golden, corpus = HANDBOOK / "golden" / "handbook.jsonl", HANDBOOK / "corpus" / "chunks.jsonl"
    arguments = ["score", "--golden", golden, "--corpus", corpus, "--outputs", outputs, "--run-dir", tmp_path / "run"]
    words = [str(argument) for argument in arguments]
    loaded = run_python(f"import sys; from assay.cli import main; main({words}); print(*sys.modules)")
    assert (tmp_path / "run" / "derived" / "report.json").is_file()
    assert not {name for name in loaded if name in ONLY_FOR_REPORTS or name.startswith("assay.comparison")}


def test_the_garbage_collector_has_nothing_to_look_at_when_the_interpreter_exits() -> None:
    code = """
import atexit, gc
atexit.register(lambda: print(gc.get_freeze_count()))  # what is registered first runs last
from assay.cli import main
main(["--version"])
main(["--version"])
"""
    assert int(run_python(code)[0]) > 5_000


@pytest.mark.parametrize(("command", "last"), [("score", ["at", "once"]), ("metrics", [])])
def test_a_command_of_files_ends_the_process_after_what_is_registered_for_its_exit(
    command: str, last: list[str]
) -> None:
    code = f"""
import atexit, os, sys
import assay.cli.app
from assay.__main__ import run_process
end = os._exit
os._exit = lambda code: (os.write(1, b"at once"), end(code))
atexit.register(lambda: print("registered"))
assay.cli.app.run_command = lambda arguments: print("printed", end=" ") or 1
sys.argv = ["assay", "{command}"]
run_process()
"""
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (finished.stdout.split(), finished.returncode) == (["printed", "registered", *last], 1)


def test_a_command_with_a_plugin_a_thread_a_tracer_or_an_error_ends_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "gettrace", lambda: None)  # coverage has one
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # servers of other tests may have theirs
    assert may_end_at_once(["score"], 0)
    assert not may_end_at_once(["score"], 3)
    assert not may_end_at_once(["run"], 0)
    assert not may_end_at_once([], 0)
    for owner, name, value in (
        (PluginTable, "in_use", [("metric", None)]),
        (sys, "getprofile", lambda: print),
        (sys, "gettrace", lambda: print),
        (threading, "active_count", lambda: 2),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value)
            assert not may_end_at_once(["score"], 0), name


@pytest.mark.slow
def test_the_list_of_commands_says_what_the_help_of_each_command_begins_with() -> None:
    commands = get_command(build_app()).commands  # type: ignore[attr-defined]  # a group
    assert set(commands) == set(COMMANDS)
    for name, entry in COMMANDS.items():
        assert entry.summary == " ".join(commands[name].help.split("\n\n")[0].split()), name


def test_only_commands_that_share_a_function_take_their_help_from_the_list() -> None:
    locations = [entry.location for entry in COMMANDS.values()]
    assert {name for name, entry in COMMANDS.items() if locations.count(entry.location) > 1} == set(SHARING_A_FUNCTION)


def test_a_command_after_a_double_hyphen_is_itself() -> None:
    assert _print_help(["--", "metrics", "--help"]) == _print_help(["metrics", "--help"])


def _print_help(arguments: list[str]) -> str:
    code = f"from assay.cli import main; main({arguments})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_options_of_a_command_are_completed() -> None:
    environment = os.environ | {
        "_ASSAY_COMPLETE": "complete_bash",
        "COMP_WORDS": "assay score --golden-f",
        "COMP_CWORD": "2",
    }
    code = "import sys; from assay.cli import main; sys.exit(main([]))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert finished.stdout.split() == ["--golden-format"], finished.stderr
