"""`assay runs` lists run folders with their decisions; `assay open` opens the newest report."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from assay.records.errors import ExitCode


def runs(
    folder: Annotated[str, typer.Argument(help="Folder to search, three levels deep.")] = ".",
) -> ExitCode:
    """List run folders with their configurations and decisions, the newest first."""
    from assay.cli.display import ignore_broken_pipe, print_table
    from assay.report.screen.terminal import escape_table
    from assay.runs.list_runs import build_runs_table, list_runs

    rows = list_runs(Path(folder))
    if not rows:
        typer.echo(f"no run folders in {folder} (`assay score --run-dir DIR` and `assay run` write them)", err=True)
        return ExitCode.PASS
    with ignore_broken_pipe():
        print_table(escape_table(build_runs_table(rows)))
    return ExitCode.PASS


def open_report(
    place: Annotated[str, typer.Argument(help="HTML report, or folder to search, three levels deep.")] = ".",
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the path of the report without opening it.")
    ] = False,
) -> ExitCode:
    """Open the newest HTML report in the browser."""
    from assay.runs.list_runs import find_newest_report
    from assay.text.escaping import escape_terminal

    report = find_newest_report(Path(place))
    typer.echo(escape_terminal(str(report)))
    if not print_only and not webbrowser.open(report.resolve().as_uri()):
        typer.echo("no browser was found: open the file yourself", err=True)
        return ExitCode.INCOMPLETE
    return ExitCode.PASS
