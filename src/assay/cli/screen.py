"""Drawing: tables on standard output, progress and where things were written on standard error."""

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

UNWATCHED_WIDTH = 180


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave a reader that has gone to `though_unread`; rich would end the process with status 1."""
        raise BrokenPipeError


def _console() -> Console:
    """A console on standard output; output that goes to a file or pipe is wide, so that cells do not wrap."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else UNWATCHED_WIDTH
    return _Console(highlight=False, width=width)


@contextmanager
def though_unread() -> Iterator[None]:
    """Print, and go on quietly where the reader has gone (`assay … | head`): the exit code still says the decision."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(screen: Screen) -> None:
    """Print the decisions, the tables and the notes."""
    console = _console()
    for line in screen.lines:
        console.print(Text(line), soft_wrap=True)
    for table in screen.tables:
        show_table(table, console)
    for note in screen.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


def show_table(table: Table, console: Console | None = None) -> None:
    """Print one table; on a narrow terminal cells wrap instead of being cut."""
    console = console or _console()
    drawn = RichTable(title=Text(table.title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        drawn.add_column(Text(column), overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    console.print(drawn)
    for note in table.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


@contextmanager
def progress(label: str) -> Iterator[Report | None]:
    """Yield a function that moves a progress bar, None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def wrote(files: Iterable[tuple[str, Path]], next_step: str | None = None) -> None:
    """Say where things were written, and what to run next."""
    for what, path in files:
        typer.echo(f"{what} written to {terminal(str(path))}", err=True)
    if next_step is not None:
        typer.echo(f"next: {terminal(next_step)}", err=True)


def said(notes: Iterable[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        typer.echo(terminal(note), err=True)
