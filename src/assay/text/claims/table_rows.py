"""Tables in a source, Markdown and CSV: their headers, rows and cells, and the row that a claim is about.

The values of a row say nothing of another row: "Race: the deductible is €150" is no contradiction of the row of another
plan with €75.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay.text.pattern_cache import compile_pattern
from assay.text.segmentation import Span, find_cell_spans, segment_blocks

_CSV_CELL = compile_pattern(r'[ ]*+(?:"(?>(?:[^"\n]|"")*)"[ ]*+|[^,;\t\n"]*+)(?P<mark>[,;\t]|$)')
_CSV_MARK = compile_pattern(r"[,;\t]")
_SEPARATORS = ",;\t"
_FEWEST_CSV_CELLS, _FEWEST_CSV_LINES = 2, 3
_LONGEST_CSV_CELL = 120
_LONGEST_CSV_LINE = 2000


class TableRow(Struct, frozen=True):
    """A row of a table: its span and those of its cells. `table`: the number of the table; `is_header`: its names."""

    table: int
    start: int
    end: int
    cells: tuple[Span, ...]
    is_header: bool


def list_table_rows(text: str) -> list[TableRow]:
    """Return the rows of the tables of a text in order, the header of each first.

    A table of CSV has at least three lines with as many fields, and no digit in the first of them.

    >>> rows = list_table_rows("| Tour | Price |\\n|---|---|\\n| Cave | €9 |\\n\\nname,beds\\nElm,2\\nOak,4")
    >>> [(row.table, row.is_header, len(row.cells)) for row in rows]
    [(0, True, 2), (0, False, 2), (1, True, 2), (1, False, 2), (1, False, 2)]
    """
    rows = list(_list_markdown_rows(text)) if "|" in text else []
    first = rows[-1].table + 1 if rows else 0
    rows += _list_csv_rows(text, first) if _CSV_MARK.search(text) else ()
    return sorted(rows, key=_get_row_start)


def _get_row_start(row: TableRow) -> int:
    return row.start


def _list_markdown_rows(text: str) -> Iterator[TableRow]:
    table, header = -1, (-1, -1)
    for block in segment_blocks(text):
        if block.kind != "row" or not block.header_cells:
            continue
        first, last = block.header_cells[0][0], block.header_cells[-1][1]
        if header != (first, last):
            table, header = table + 1, (first, last)
            yield TableRow(table, first, last, block.header_cells, True)
        yield TableRow(table, block.start, block.end, tuple(find_cell_spans(text, block.start, block.end)), False)


def _list_csv_rows(text: str, table: int) -> Iterator[TableRow]:
    lines: list[tuple[str, list[Span]]] = []  # a separator with the cells of a line
    position = 0
    for line in (*text.split("\n"), ""):
        mark, cells = _split_csv_line(line.rstrip("\r"), position)
        if lines and (mark, len(cells)) != (lines[0][0], len(lines[0][1])):
            if _is_csv_table(text, lines):
                yield from _build_csv_rows(lines, table)
                table += 1
            lines = []
        if len(cells) >= _FEWEST_CSV_CELLS:
            lines.append((mark, cells))
        position += len(line) + 1


def _split_csv_line(line: str, start: int) -> tuple[str, list[Span]]:
    """Return the separator of a line of CSV and its cells; no cells if it is none."""
    first = _CSV_MARK.search(line)
    if first is None or len(line) > _LONGEST_CSV_LINE or "|" in line:
        return "", []
    cells: list[Span] = []
    mark, position = "", 0
    while position <= len(line):
        match = _CSV_CELL.match(line, position)
        if (
            match is None
            or match.end() - position > _LONGEST_CSV_CELL
            or match["mark"] not in ("", mark or match["mark"])
        ):
            return "", []
        mark = mark or match["mark"]
        if mark != "\t" and line.startswith(" ", match.end()):
            return "", []  # a comma of a sentence
        cells.append((start + position, start + match.start("mark")))
        if not match["mark"]:
            break
        position = match.end()
    return mark, cells


def _is_csv_table(text: str, lines: Sequence[tuple[str, list[Span]]]) -> bool:
    if len(lines) < _FEWEST_CSV_LINES:
        return False
    names = [text[start:end].strip(' "') for start, end in lines[0][1]]
    return all(name and not any(map(str.isdigit, name)) for name in names) and len(set(names)) == len(names)


def _build_csv_rows(lines: Sequence[tuple[str, list[Span]]], table: int) -> Iterator[TableRow]:
    for number, (_, cells) in enumerate(lines):
        yield TableRow(table, cells[0][0], cells[-1][1], tuple(cells), number == 0)


def part_cells(text: str, rows: Sequence[TableRow]) -> str:
    """Return a text of the same length with bars between the cells of its rows: "€88,36 months" is no price of 88.36.

    >>> text = "lock,price,warranty\\nChain,€65,12 months\\nFolding,€88,36 months"
    >>> part_cells(text, list_table_rows(text)).splitlines()[-1]
    'Folding|€88|36 months'
    """
    ends = [cell[1] for row in rows for cell in row.cells[:-1] if text[cell[1]] in _SEPARATORS]
    if not ends:
        return text
    letters = list(text)
    for end in ends:
        letters[end] = "|"
    return "".join(letters)


def find_cell(row: TableRow, position: int) -> int:
    """Return the number of the cell of a row that holds a position of the text, the last one before it if none does."""
    return max(0, bisect_right(row.cells, position, key=_get_cell_start) - 1)


def _get_cell_start(cell: Span) -> int:
    return cell[0]
