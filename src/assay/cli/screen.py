"""Terminal output: tables on standard output; progress and the paths of written files on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from assay.report.safe import terminal
from assay.report.tables import Table
from assay.report.terminal import Screen
from assay.workflow.score import Progress as Report

WIDTH_WITHOUT_TERMINAL = 180


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let `though_unread` handle a closed pipe; rich would exit with status 1."""
        raise BrokenPipeError


def _make_console() -> Console:
    """Return a console on standard output. For a file or pipe it is wide, so that cells do not wrap."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH_WITHOUT_TERMINAL
    return _Console(highlight=False, width=width)


@contextmanager
def though_unread() -> Iterator[None]:
    """Print, and continue if the reader closes the pipe (`assay … | head`): the exit code still gives the decision."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(screen: Screen) -> None:
    """Print the decisions, the tables and the notes."""
    console = _make_console()
    for line in screen.lines:
        console.print(Text(line), soft_wrap=True)
    for table in screen.tables:
        show_table(table, console)
    for note in screen.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


def show_table(table: Table, console: Console | None = None) -> None:
    """Print one table; on a narrow terminal cells wrap instead of being cut."""
    console = console or _make_console()
    rich_table = RichTable(title=Text(table.title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        rich_table.add_column(Text(column), overflow="fold")
    for row in table.rows:
        rich_table.add_row(*(Text(cell) for cell in row))
    console.print(rich_table)
    for note in table.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


@contextmanager
def progress(label: str) -> Iterator[Report | None]:
    """Yield a function that updates a progress bar, None if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def wrote(files: Iterable[tuple[str, Path]], next_step: str | None = None) -> None:
    """Print where files were written, and the command to run next."""
    for description, path in files:
        typer.echo(f"{description} written to {terminal(str(path))}", err=True)
    if next_step is not None:
        typer.echo(f"next: {terminal(next_step)}", err=True)


def said(notes: Iterable[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        typer.echo(terminal(note), err=True)
