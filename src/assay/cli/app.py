"""The table of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct
from typer.core import TyperGroup
from typer.main import get_command

from assay.calls.plugins import enable_plugins
from assay.cli.streams import end_on_termination, use_safe_streams
from assay.records.counts import format_count
from assay.records.errors import AssayError, ExitCode, InputError, shorten_repr
from assay.records.unforeseen import describe_unforeseen, find_plugin_at_fault
from assay.text.escaping import escape_terminal
from assay.version import __version__

COMPLETION_VARIABLE = "_ASSAY_COMPLETE"
SEVERAL = ("--labels", "--outputs", "--target", "--only", "--candidate-config")


class CommandEntry(Struct, frozen=True):
    """Where a command is defined in this package, as `module.attribute`, and what the list of commands says of it."""

    location: str
    summary: str


COMMANDS = {
    "run": CommandEntry(
        "run.measure", "Run the targets on a golden set, score the outputs, write reports and check the gate."
    ),
    "observe": CommandEntry("run.measure", "Run the targets and record their outputs, without scoring them."),
    "score": CommandEntry(
        "score.score", "Score recorded outputs or an existing run folder, write reports and check the gate."
    ),
    "explain": CommandEntry(
        "explain.explain",
        "Print one case in 30 lines: question, expected, answer, verdict, cause and fix, and where the evidence went.",
    ),
    "compare": CommandEntry(
        "compare.compare", "Compare candidates with a baseline, case by case, and check the gate if one is given."
    ),
    "plan": CommandEntry(
        "plan.plan",
        "Estimate how many cases a comparison needs to show a difference, from a pilot or from assumptions.",
    ),
    "report": CommandEntry(
        "report.report",
        "Write reports of a run. The exit code does not reflect the gate: it is 0 if the reports were written.",
    ),
    "regrade": CommandEntry(
        "regrade.regrade",
        "Score a run a second time and list the cases that flip, by category. The target is not asked again.",
    ),
    "runs": CommandEntry("runs.runs", "List run folders with their configurations and decisions, the newest first."),
    "history": CommandEntry(
        "history.app",
        "Show what changed across the registered runs: metrics, versions, cases, incidents; promote baselines.",
    ),
    "open": CommandEntry("runs.open_report", "Open the newest HTML report in the browser."),
    "calibrate": CommandEntry(
        "calibrate.calibrate",
        "Calibrate judges, rules and other tools against human labels, and decide which of them may gate.",
    ),
    "convert": CommandEntry(
        "convert.convert",
        "Convert a golden set or recorded outputs; report values that were converted or could not be represented.",
    ),
    "metrics": CommandEntry(
        "metrics.metrics",
        "List all metrics, also those of installed plugins, with unit, direction, range, scorer and parameters.",
    ),
    "init": CommandEntry(
        "setup.init", "Write settings and a first golden set, or import one, and ask the target once."
    ),
    "doctor": CommandEntry(
        "setup.doctor",
        "Check settings, golden set, corpus and gate; ask each target the first case, and show how its reply was read.",
    ),
    "monitor": CommandEntry(
        "monitor.monitor",
        "Show how production answers did, with alerts, leaks and drift; exits with 1 for an open alert or a leak.",
    ),
    "audit": CommandEntry(
        "audit.app", "Store production answers: ingest, show, exposure, verify, export, erase, sample."
    ),
    "baseline": CommandEntry(
        "baseline.app", "Save and show baselines: the scores of one configuration, in a file to commit."
    ),
    "gate": CommandEntry("gate.app", "Show the built-in gates, and check a gate on a recorded run."),
    "golden": CommandEntry("golden.app", "Check golden sets, and keep them up to date."),
    "corpus": CommandEntry("corpus.app", "Build a corpus from a folder of documents."),
    "judge": CommandEntry(
        "judge.app", "Judge recorded answers with a language model and store the verdicts for scoring."
    ),
    "labels": CommandEntry("labels.app", "Collect human labels: export a blind sample, import the filled sheets."),
}
"""The commands in the order of the help. The list of commands is shown without importing them."""
SHARING_A_FUNCTION = ("run", "observe")
"""Commands of one function, whose docstring is the help of neither."""
RENAMED_COMMANDS = {"graders": "metrics"}
"""Commands of earlier versions, which still work."""
RENAMED_OPTIONS = {"judge": {"--book": "--store"}}
"""Options of earlier versions by command, which still work."""


class FullHelpGroup(TyperGroup):
    """Commands whose help is listed whole; Click cuts it at the width of a line. A wrong name is answered with them."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that arguments name; end with all names where none is nearly the same."""
        names = self.list_commands(ctx)
        if args[0] not in names and args[0][:1] != "-" and not get_close_matches(args[0], names):
            ctx.fail(f"No such command {args[0]!r}. Expected one of {', '.join(names)}.")
        return super().resolve_command(ctx, args)

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


def build_app(arguments: Sequence[str] | None = None) -> typer.Typer:
    """Return the command-line application with the command that `arguments` start with; with all if they are None.

    Only the command in use is imported: importing all of them takes longer than scoring a few cases. Arguments that
    start with none only show the list of commands, or are refused.
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
    if arguments is None:
        for name in COMMANDS:
            _add_command(app, name)
    elif arguments and arguments[0] in COMMANDS:
        _add_command(app, arguments[0])
    else:
        for name, entry in COMMANDS.items():
            app.command(name, help=entry.summary)(_list_only)
    return app


@cache
def load_command(first: str | None) -> Callable[..., Any]:
    """Return what runs the arguments of a command; any arguments if it is None, those of no command if it is "".

    Building it takes as long as scoring a case, and a process that runs many commands, as tests do, builds it once.
    """
    return get_command(build_app(None if first is None else [first]))


def _add_command(app: typer.Typer, name: str) -> None:
    module, _, attribute = COMMANDS[name].location.partition(".")
    command = getattr(import_module(f"assay.cli.{module}"), attribute)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, cls=FullHelpGroup)
    else:
        app.command(name, help=COMMANDS[name].summary if name in SHARING_A_FUNCTION else None)(command)


def _list_only() -> None:
    """Stand for a command in the list of commands."""


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


def find_report_option(command: str, option: str) -> str:
    """Return which option, or command, writes the report that an unknown option asks for; "" for other options.

    >>> find_report_option("score", "--json"), find_report_option("compare", "--html")
    ('--json-report writes it.', '')
    >>> find_report_option("run", "--junit")
    'It is written from the run folder: assay report RUN --junit FILE'
    """
    if (command, option) == ("compare", "--baseline"):
        return "The baseline is the first argument: assay compare BASELINE CANDIDATE"
    if command not in ("score", "run"):
        return ""
    own = {"--markdown": "--report", "--json": "--json-report"}
    if option in own:
        return f"{own[option]} writes it."
    values = {"--junit": " FILE", "--csv": " FILE", "--github": ""}
    if option not in values:
        return ""
    needs_folder = " (--run-dir keeps one)" if command == "score" else ""
    return f"It is written from the run folder{needs_folder}: assay report RUN {option}{values[option]}"


def _find_run_option(arguments: list[str], error: Exception) -> str:
    """Return that an argument which was not understood is a run folder, if the command has the option to name one."""
    context = getattr(error, "ctx", None)
    if context is None or not any("--run" in parameter.opts for parameter in context.command.params):
        return ""
    for argument in arguments:
        if f"({argument})" in str(error) and Path(argument, "manifest.json").is_file():
            return f"A run folder is named by an option here: --run {argument}"
    return ""


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
        # Completing a word in the shell, and a command after `--`, may need any of them.
        is_any = COMPLETION_VARIABLE in os.environ or arguments[:1] == ["--"]
        first = arguments[0] if arguments and arguments[0] in COMMANDS else ""
        command = load_command(None if is_any else first)
        code = command(spread(arguments), prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        error.show()  # type: ignore[attr-defined]
        hint = find_report_option(arguments[0], getattr(error, "option_name", "")) if arguments else ""
        hint = hint or _find_run_option(arguments, error)
        if hint:
            typer.echo(hint, err=True)
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
            typer.echo(f"{format_count(problem_count, 'problem')}; nothing was done", err=True)
