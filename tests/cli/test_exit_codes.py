"""One list of exit codes: errors, decisions and commands all use it, and only `cli/app.py` exits."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest
import typer
from tests.support.source_files import dotted_name, iter_nodes
from typer.main import get_command

from assay.cli import app, main
from assay.gates.decision_weight import find_exit_code
from assay.records.errors import ExitCode, IncompleteError, InputError, SettingsError
from assay.records.release_gates import Decision, Outcome

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "assay"
EXITING_CALLS = ("sys.exit", "exit", "quit", "os._exit", "SystemExit", "typer.Exit", "raise_exit")


def test_the_codes_are_those_that_scripts_rely_on() -> None:
    codes = {"PASS": 0, "FAILED": 1, "BAD_INPUT": 2, "INCOMPLETE": 3, "INTERRUPTED": 130}
    assert codes == {code.name: code.value for code in ExitCode}


@pytest.mark.parametrize("outcome", get_args(Outcome))
@pytest.mark.parametrize("strict", [False, True])
def test_every_decision_has_an_exit_code(outcome: Outcome, strict: bool) -> None:
    code = find_exit_code(Decision(outcome, ()), strict=strict)
    expected = {"PASS": ExitCode.PASS, "FAIL": ExitCode.FAILED, "INCOMPLETE": ExitCode.INCOMPLETE}
    if outcome == "PASS_WITH_RISK" and strict:
        expected["PASS_WITH_RISK"] = ExitCode.FAILED
    assert code is expected.get(outcome, ExitCode.PASS)


@pytest.mark.provokes_bug
@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (InputError("bad"), ExitCode.BAD_INPUT),
        (SettingsError("bad"), ExitCode.BAD_INPUT),
        (IncompleteError("died"), ExitCode.INCOMPLETE),
        (OSError(28, "No space left on device", "report.md"), ExitCode.INCOMPLETE),
        (ZeroDivisionError("a bug"), ExitCode.INCOMPLETE),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
    ],
)
def test_an_error_of_a_command_becomes_its_exit_code(
    raised: BaseException, code: ExitCode, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise raised

    failing = typer.Typer(pretty_exceptions_enable=False)
    failing.command()(fail)
    monkeypatch.setattr(app, "load_command", lambda first: get_command(failing))
    assert app.run_command([]) is code
    assert capsys.readouterr().err


def test_a_wrong_option_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert ExitCode.BAD_INPUT == main(["score", "--no-such-option"])
    assert "--no-such-option" in capsys.readouterr().err


@pytest.mark.slow
def test_commands_return_named_codes_and_only_the_table_of_commands_exits() -> None:
    problems = []
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef) or function.returns is None:
                continue
            if ast.unparse(function.returns) == "int" and path.name not in ("__init__.py", "display.py", "streams.py"):
                problems.append(f"{path.name}:{function.lineno}: {function.name} returns int (expected ExitCode)")
    for path in sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "__main__.py"}):
        for node in iter_nodes(path, [call.rpartition(".")[2] for call in EXITING_CALLS]):
            if isinstance(node, ast.Call) and dotted_name(node.func) in EXITING_CALLS:
                problems.append(f"{path.name}:{node.lineno}: exits (expected an exit code that is returned)")
    assert not problems
