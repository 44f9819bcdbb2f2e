"""The table of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from assay.calls.plugins import enable_plugins
from assay.cli.streams import end_on_termination, use_safe_streams
from assay.records.errors import AssayError, ExitCode, InputError, shorten_repr
from assay.records.unforeseen import describe_unforeseen, find_plugin_at_fault
from assay.text.escaping import escape_terminal
from assay.version import __version__

SEVERAL = ("--labels", "--outputs", "--target", "--only", "--candidate-config")
COMMANDS = {
    "run": "run.measure",
    "observe": "run.measure",
    "score": "score.score",
    "explain": "explain.explain",
    "compare": "compare.compare",
    "report": "report.report",
    "regrade": "regrade.regrade",
    "runs": "runs.runs",
    "history": "history.app",
    "open": "runs.open_report",
    "calibrate": "calibrate.calibrate",
    "convert": "convert.convert",
    "metrics": "metrics.metrics",
    "init": "setup.init",
    "doctor": "setup.doctor",
    "monitor": "monitor.monitor",
    "audit": "audit.app",
    "baseline": "baseline.app",
    "gate": "gate.app",
    "golden": "golden.app",
    "corpus": "corpus.app",
    "judge": "judge.app",
    "labels": "labels.app",
}
"""Location of each command in this package as `module.attribute`, in the order of the help."""
RENAMED_COMMANDS = {"graders": "metrics"}
"""Commands of earlier versions, which still work."""
RENAMED_OPTIONS = {"judge": {"--book": "--store"}}
"""Options of earlier versions by command, which still work."""
_HELP = {
    "run": "Run the targets on a golden set, score the outputs, write reports and check the gate.",
    "observe": "Run the targets and record their outputs, without scoring them.",
}


class FullHelpGroup(TyperGroup):
    """Commands whose help is listed whole; Click cuts it at the width of a line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the first paragraph of each command's help, on as many lines as it takes."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, " ".join((command.help or "").split("\n\n")[0].split())))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def build_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command-line application with the command that `arguments` start with, or with all commands.

    Only the command in use is imported: importing all of them takes longer than scoring a few cases.
    """
    app = typer.Typer(
        name="assay",
        help="Evaluate a RAG system: how good its answers are, which step failed, and whether a change may ship.",
        no_args_is_help=True,
        cls=FullHelpGroup,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    first_argument = arguments[0] if arguments else ""
    names = [first_argument] if first_argument in COMMANDS else list(COMMANDS)
    for name in names:
        module, _, attribute = COMMANDS[name].partition(".")
        command = getattr(import_module(f"assay.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, cls=FullHelpGroup)
        else:
            app.command(name, help=_HELP.get(name))(command)
    return app


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[  # handled by its callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def spread(arguments: list[str]) -> list[str]:
    """Repeat the name of an option before each of its values, so that a shell pattern can follow the option.

    >>> spread(["score", "--outputs", "a.jsonl", "b.jsonl", "--strict"])
    ['score', '--outputs', 'a.jsonl', '--outputs', 'b.jsonl', '--strict']
    """
    expanded: list[str] = []
    option: str | None = None
    for argument in arguments:
        if argument in SEVERAL:
            option = argument
        elif argument.startswith("-") and argument != "-":
            option = None
            expanded.append(argument)
        elif option is not None:
            expanded += [option, argument]
        else:
            expanded.append(argument)
    return expanded


def replace_former_names(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the arguments with the present names of commands and options, and a note for each former one.

    >>> replace_former_names(["judge", "--book=a.sqlite"])
    (['judge', '--store=a.sqlite'], ['--book is now --store'])
    """
    if not arguments:
        return [], []
    command, notes = arguments[0], list[str]()
    if command in RENAMED_COMMANDS:
        notes.append(f"assay {command} is now assay {RENAMED_COMMANDS[command]}")
        command = RENAMED_COMMANDS[command]
    options, present_arguments = RENAMED_OPTIONS.get(command, {}), [command]
    for argument in arguments[1:]:
        name, separator, value = argument.partition("=")
        if name in options:
            notes.append(f"{name} is now {options[name]}")
            argument = options[name] + separator + value
        present_arguments.append(argument)
    return present_arguments, notes


def run_command(arguments: list[str]) -> ExitCode:
    """Run one command and return its exit code.

    An error becomes a message on standard error and an exit code other than FAILED, which is about quality.
    """
    enable_plugins()
    with use_safe_streams(), end_on_termination():
        arguments, notes = replace_former_names(arguments)
        for note in notes:
            typer.echo(f"note: {note}", err=True)
        with_nul = next((argument for argument in arguments if "\0" in argument), None)
        if with_nul is not None:
            typer.echo(f"an argument with a NUL character (got {shorten_repr(with_nul)}; expected text)", err=True)
            return InputError.exit_code
        return _run_and_report(arguments)


def _run_and_report(arguments: list[str]) -> ExitCode:
    try:
        code = build_app(arguments)(spread(arguments), prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        error.show()  # type: ignore[attr-defined]
        return ExitCode.BAD_INPUT
    except AssayError as error:
        _print_error(error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader of our output has closed the pipe. Typer would exit with 1, which means a failed gate.
        # Standard output goes to the null device so that Python does not complain about the pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.PASS
    except OSError as error:
        typer.echo(escape_terminal(_describe_os_error(error)), err=True)
        return ExitCode.INCOMPLETE
    except Exception as error:  # noqa: BLE001  # a bug: show where, and do not exit with 1 (failed gate)
        if find_plugin_at_fault(error) is None:
            traceback.print_exc()
        typer.echo(escape_terminal(describe_unforeseen(error)), err=True)
        return ExitCode.INCOMPLETE
    if code == ExitCode.INTERRUPTED:
        typer.echo("interrupted", err=True)
    return ExitCode(code) if isinstance(code, int) else ExitCode.PASS


def _describe_os_error(error: OSError) -> str:
    """Return the message of an error of the operating system: the file, or that there is no folder to work in."""
    if error.filename is None and isinstance(error, FileNotFoundError):  # only the working directory has no name
        return "the working directory does not exist any more: it was removed (expected a folder to run in)"
    name = "" if error.filename is None else f"{error.filename}: "
    return f"{name}{error.strerror or error}"


def _print_error(error: AssayError) -> None:
    for line in str(error).split("\n"):
        typer.echo(escape_terminal(line), err=True)
    if isinstance(error, InputError):
        problem_count = len(error.problems) + error.more
        if problem_count > 1:
            typer.echo(f"{problem_count} problems; nothing was scored", err=True)
