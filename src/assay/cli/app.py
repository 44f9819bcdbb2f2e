"""The table of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from assay.cli import explain, gate, golden, graders, score
from assay.errors import AssayError, InputError
from assay.version import __version__

INTERRUPTED = 130
SEVERAL = ("--outputs",)

app = typer.Typer(
    name="assay",
    help="Measure whether a RAG system can be trusted, which part failed, and whether a change may ship.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("score")(score.score)
app.command("explain")(explain.explain)
app.command("graders")(graders.graders)
app.add_typer(gate.app, name="gate")
app.add_typer(golden.app, name="golden")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


@app.callback()
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
    """Run one command; every error is a message on standard error and an exit code."""
    try:
        code = app(spread(arguments), prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        error.show()  # type: ignore[attr-defined]
        return 2
    except AssayError as error:
        _complain(error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; point standard output at nothing so that the exit stays quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0


def _complain(error: AssayError) -> None:
    from assay.report.safe import terminal

    for line in str(error).split("\n"):
        typer.echo(terminal(line), err=True)
    if isinstance(error, InputError) and len(error.problems) + error.more > 1:
        typer.echo(f"{len(error.problems) + error.more} problems; nothing was scored", err=True)
