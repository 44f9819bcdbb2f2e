"""What the commands draw on a terminal: tables on standard output, progress and written files on standard error.

Observing has a progress bar for each target, with its rate and remaining time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable
from rich.text import Text

from assay.report.tables import Table
from assay.report.terminal import Screen
from assay.runs.score_run import Progress as Report
from assay.text.escaping import escape_terminal

WIDTH_WITHOUT_TERMINAL = 180


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let `ignore_broken_pipe` handle a closed pipe; rich would exit with status 1."""
        raise BrokenPipeError


def make_console() -> Console:
    """Return a console on standard output. For a file or pipe it is wide, so that cells do not wrap."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH_WITHOUT_TERMINAL
    return _Console(highlight=False, width=width)


@contextmanager
def ignore_broken_pipe() -> Iterator[None]:
    """Print, and continue if the reader closes the pipe (`assay … | head`): the exit code still gives the decision."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_screen(screen: Screen) -> None:
    """Print the decisions, the tables and the notes."""
    console = make_console()
    for line in screen.lines:
        style = "bold red" if line in screen.alerts else "bright_black" if line in screen.muted else ""
        console.print(Text(line, style=style), soft_wrap=True)
    for table in screen.tables:
        print_table(table, console)
    for note in screen.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


def print_table(table: Table, console: Console | None = None) -> None:
    """Print one table; on a narrow terminal cells wrap instead of being cut."""
    console = console or make_console()
    rich_table = RichTable(title=Text(table.title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        rich_table.add_column(Text(column), overflow="fold")
    for row in table.rows:
        rich_table.add_row(*(Text(cell) for cell in row))
    console.print(rich_table)
    for note in table.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


@contextmanager
def show_progress(label: str) -> Iterator[Report | None]:
    """Yield a function that updates a progress bar, None if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_written_files(files: Iterable[tuple[str, Path]], next_step: str | None = None) -> None:
    """Print where files were written, several on one line, and the command to run next."""
    written = list(files)
    if len(written) > 1:
        typer.echo(f"written: {', '.join(escape_terminal(str(path)) for _, path in written)}", err=True)
    for description, path in written if len(written) == 1 else ():
        typer.echo(f"{description} written to {escape_terminal(str(path))}", err=True)
    if next_step is not None:
        typer.echo(f"next: {escape_terminal(next_step)}", err=True)


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        typer.echo(escape_terminal(note), err=True)


class _Rate(ProgressColumn):
    """Column with the number of observations per second."""

    def render(self, task: Task) -> Text:
        """Return the rate; below one observation per second it is given per minute."""
        per_second = task.speed or 0.0
        if per_second and per_second < 1:
            return Text(f"{per_second * 60:.1f}/min")
        return Text(f"{per_second:.1f}/s")


@contextmanager
def show_target_progress() -> Iterator[Callable[[str], Callable[[int, int], None] | None]]:
    """Yield a function that starts the bar of a target and returns the function that updates it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        def start(name: str) -> Callable[[int, int], None]:
            task = bars.add_task(escape(escape_terminal(name)), total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield start
