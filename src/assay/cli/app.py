"""The table of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from assay.errors import AssayError, IncompleteError, InputError
from assay.version import __version__

INTERRUPTED = 130
SEVERAL = ("--labels", "--outputs", "--target", "--only")
COMMANDS = {
    "run": "measure.measure",
    "observe": "measure.measure",
    "score": "score.score",
    "explain": "explain.explain",
    "compare": "compare.compare",
    "report": "report.report",
    "calibrate": "calibrate.calibrate",
    "convert": "convert.convert",
    "graders": "graders.graders",
    "init": "setup.init",
    "doctor": "setup.doctor",
    "baseline": "baseline.app",
    "gate": "gate.app",
    "golden": "golden.app",
    "judge": "judge.app",
    "labels": "labels.app",
}
"""Where each command is: `module.name` in this package, in the order in which help lists them."""
_HELP = {
    "run": "Observe targets, score, write reports, and decide the release by exit code.",
    "observe": "Observe targets: the same as run, without scoring.",
}


def app_for(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command line with the command that the arguments begin with, or with all where they name none.

    Reading the options of every command takes longer than scoring a few cases.
    """
    app = typer.Typer(
        name="assay",
        help="Measure whether a RAG system can be trusted, which part failed, and whether a change may ship.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    first = arguments[0] if arguments else ""
    for name in [first] if first in COMMANDS else COMMANDS:
        module, _, attribute = COMMANDS[name].partition(".")
        found = getattr(import_module(f"assay.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name, help=_HELP.get(name))(found)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[  # the callback has done the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def spread(arguments: list[str]) -> list[str]:
    """Let an option that takes several values take them in a row, as a shell's pattern gives them.

    >>> spread(["score", "--outputs", "a.jsonl", "b.jsonl", "--strict"])
    ['score', '--outputs', 'a.jsonl', '--outputs', 'b.jsonl', '--strict']
    """
    result: list[str] = []
    option: str | None = None
    for argument in arguments:
        if argument in SEVERAL:
            option = argument
        elif argument.startswith("-") and argument != "-":
            option = None
            result.append(argument)
        elif option is not None:
            result += [option, argument]
        else:
            result.append(argument)
    return result


def run(arguments: list[str]) -> int:
    """Run one command; every error is a message on standard error and an exit code, never that of a failed gate."""
    try:
        code = app_for(arguments)(spread(arguments), prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        error.show()  # type: ignore[attr-defined]
        return InputError.exit_code
    except AssayError as error:
        _complain(error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader of our output has gone (typer would end with 1, which means a failed gate); point standard output
        # at nothing so that the exit stays quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        typer.echo(f"{error.filename or 'system'}: {error.strerror or error}", err=True)
        return IncompleteError.exit_code
    except Exception:  # noqa: BLE001  # a defect of Assay: its trace is shown, and 1 would mean a failed gate
        traceback.print_exc()
        return IncompleteError.exit_code
    if code == INTERRUPTED:
        typer.echo("interrupted", err=True)
    return code if isinstance(code, int) else 0


def _complain(error: AssayError) -> None:
    from assay.report.safe import terminal

    for line in str(error).split("\n"):
        typer.echo(terminal(line), err=True)
    if isinstance(error, InputError) and len(error.problems) + error.more > 1:
        typer.echo(f"{len(error.problems) + error.more} problems; nothing was scored", err=True)
