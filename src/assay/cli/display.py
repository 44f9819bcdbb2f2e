"""What the commands print on a terminal: screens and tables on standard output, written files on standard error.

Only tables need `rich`, which takes long to import.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import typer

from assay.report.findings.table import Table
from assay.report.screen.terminal import Screen
from assay.text.escaping import escape_json_for_log, escape_terminal

WIDTH_WITHOUT_TERMINAL = 180
NARROW, MAX_NARROW_COLUMNS = 80, 3
"""Below that many columns of the screen, a table of more columns whose words it would cut is printed as lines."""
WIDE = 132
"""Below that many, it is if these lines are not many more than those of the table."""
_MORE_LINES = 1.5
"""How many times the lines of a table the lines without cut words may be."""
_COLUMN_GAP = 3
"""Columns of the screen that a table takes for the space around each of its columns."""
_ALERT, _MUTED, _PLAIN = "\x1b[1;31m", "\x1b[90m", "\x1b[0m"


def print_json(value: str | msgspec.Struct) -> None:
    """Print a record, or text that is JSON already, without what a terminal or a build log would act on."""
    text = value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value)).decode()
    typer.echo(escape_json_for_log(text), nl=not text.endswith("\n"))


def get_screen_width() -> int:
    """Return the columns of the terminal; a file or pipe counts as wide, so that cells do not wrap."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return shutil.get_terminal_size().columns
    return WIDTH_WITHOUT_TERMINAL


def uses_colors() -> bool:
    """Return whether standard output is a terminal with colours that the user has not switched off with NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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
    in_color = uses_colors()
    for line in screen.lines:
        color = _ALERT if line in screen.alerts else _MUTED if line in screen.muted else ""
        typer.echo(f"{color}{line}{_PLAIN}" if color and in_color else line)
    for table in screen.tables:
        print_table(table)
    for note in screen.notes:
        typer.echo(f"note: {note}")


def print_table(table: Table) -> None:
    """Print one table; on a narrow terminal cells wrap instead of being cut, and too many columns become lines."""
    screen_width = get_screen_width()
    if _reads_better_as_lines(table, screen_width):
        _print_blocks(table, screen_width)
        _print_table_notes(table)
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    class SafeConsole(Console):
        def on_broken_pipe(self) -> None:
            """Let `ignore_broken_pipe` handle a closed pipe; rich would exit with status 1."""
            raise BrokenPipeError

    console = SafeConsole(highlight=False, width=screen_width, no_color=not uses_colors())
    rich_table = RichTable(
        title=Text(escape_terminal(table.title)), title_justify="left", box=SIMPLE_HEAD, pad_edge=False
    )
    widths = _choose_column_widths(table, console.width)
    for column, width in zip(table.columns, widths, strict=True):
        rich_table.add_column(Text(column), overflow="fold", width=width)
    for row in table.rows:
        rich_table.add_row(*(Text(_escape_cell(cell)) for cell in row))
    console.print(rich_table)
    _print_table_notes(table)


def _print_table_notes(table: Table) -> None:
    for note in table.notes:
        typer.echo(f"note: {escape_terminal(note)}")


def _reads_better_as_lines(table: Table, width: int) -> bool:
    if width >= WIDE or len(table.columns) <= MAX_NARROW_COLUMNS or _fit_words(table, width):
        return False
    return width < NARROW or _count_block_lines(table, width) <= _MORE_LINES * _count_table_lines(table, width)


def _count_block_lines(table: Table, width: int) -> int:
    """Return about how many lines the rows take where each cell is a line or more of its own."""
    cells = [f"{column}: {cell}" for row in table.rows for column, cell in zip(table.columns, row, strict=True) if cell]
    return len(table.rows) + sum(-(-len(cell) // (width - 4)) for cell in cells)


def _count_table_lines(table: Table, width: int) -> int:
    """Return about how many lines the rows take as a table, whose cells wrap."""
    widths = [column_width or width for column_width in _choose_column_widths(table, width)]
    lines = 0
    for row in table.rows:
        lines += max(len(textwrap.wrap(cell, column_width)) for cell, column_width in zip(row, widths, strict=True))
    return lines


def _fit_words(table: Table, width: int) -> bool:
    """Return whether a screen has room for the longest word of each column."""
    words, _ = _measure_columns(table)
    return sum(words) + _COLUMN_GAP * len(words) <= width


def _print_blocks(table: Table, width: int) -> None:
    """Print each row as lines: its first cell, and below it the name and the value of every other one that has any."""
    typer.echo(escape_terminal(table.title))
    for first, *others in table.rows:
        typer.echo("")
        typer.echo(_wrap_cell(first, width, ""))
        for column, cell in zip(table.columns[1:], others, strict=True):
            if cell:
                typer.echo(_wrap_cell(f"{column}: {cell}" if column else cell, width, "  "))
    typer.echo("")


def _wrap_cell(cell: str, width: int, indent: str) -> str:
    lines = _escape_cell(cell).split("\n")
    deeper = indent + "  "
    return "\n".join(
        textwrap.fill(line, width, initial_indent=indent, subsequent_indent=deeper, break_on_hyphens=False)
        for line in lines
    )


def _choose_column_widths(table: Table, width: int) -> list[int | None]:
    """Return the widths of columns on a screen that is too narrow for them: ids stay whole while there is room.

    Every column gets its longest word, of which the longest are cut first; what is left goes to those that need most.
    None where all fit.
    """
    words, wanted = _measure_columns(table)
    room = width - _COLUMN_GAP * len(words)
    if sum(wanted) <= room or room < len(words):
        return [None] * len(words)
    return list(_share_room(words, wanted, room))


def _measure_columns(table: Table) -> tuple[list[int], list[int]]:
    """Return the width of each column's longest word and of its longest line."""
    from rich.cells import cell_len

    texts = [[head, *(row[place] for row in table.rows)] for place, head in enumerate(table.columns)]
    words = [max((cell_len(word) for text in column for word in text.split()), default=1) for column in texts]
    return words, [max(cell_len(line) for text in column for line in text.split("\n")) for column in texts]


def _share_room(words: Sequence[int], wanted: Sequence[int], room: int) -> list[int]:
    """Return the width of each column: its longest word, as far as there is room, then more where more is wanted.

    >>> _share_room([8, 4, 12], [8, 4, 90], 40), _share_room([8, 30], [8, 30], 20)
    ([8, 4, 28], [8, 12])
    """
    widths = [max(1, word) for word in words]
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda place: (widths[place], place))
        widths[widest] -= 1
    while sum(widths) < room:
        neediest = max(range(len(widths)), key=lambda place: (wanted[place] / widths[place], -place))
        widths[neediest] += 1
    return widths


def _escape_cell(cell: str) -> str:
    """Return a cell, which may have several lines, without what moves the cursor or is read as a build command."""
    return "\n".join(escape_terminal(line) for line in cell.split("\n"))


_REASONS_TO_READ = {
    " --only passed ": "a person reads a sample of the answers that passed, which tells how many of them are wrong",
    " --only ambiguous ": "a person settles the answers that the rules leave open",
}
"""Why somebody should read the answers that a command exports, by its option."""


def print_written_files(files: Iterable[tuple[str, Path]], next_step: str | None = None) -> None:
    """Print where files were written, several on one line, and the command to run next, with its reason where the
    screen has not said it."""
    written = list(files)
    if len(written) > 1:
        typer.echo(f"written: {', '.join(escape_terminal(str(path)) for _, path in written)}", err=True)
    for description, path in written if len(written) == 1 else ():
        typer.echo(f"{description} written to {escape_terminal(str(path))}", err=True)
    if next_step is not None:
        typer.echo(f"next: {escape_terminal(next_step)}", err=True)
        for option, reason in _REASONS_TO_READ.items():
            if option in next_step:
                typer.echo(f"  ({reason})", err=True)


def print_last_gate(folder: Path, decided: str) -> None:
    """Print what the last gate decided about a run; `decided` is what is made of it now without a gate."""
    from assay.gates.gate_files import list_profile_names
    from assay.runs.list_runs import describe_last_gate

    note = describe_last_gate(folder, list_profile_names(), decided)
    print_notes([note] if note else [])


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on standard error."""
    for note in notes:
        typer.echo(escape_terminal(note), err=True)
