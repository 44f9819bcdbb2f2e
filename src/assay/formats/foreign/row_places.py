"""Where the rows of a file are: the line at which each begins, which people see in an editor, next to its number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from assay.records.errors import Problem
from assay.text.pattern_cache import compile_pattern

_DECODER = json.JSONDecoder()
_SPACE = compile_pattern(r"[ \t\r\n]*")


class RowPlaces(Struct):
    """The line at which each numbered row begins, None where that cannot be told; nothing for rows of Python."""

    lines: dict[int, int | None] = field(default_factory=dict)
    name: str = "row {}"
    """How a row is called by its number; with {index}, counted from 0."""

    def name_row(self, row: int) -> str:
        """Return what a row is called.

        >>> RowPlaces().name_row(3), RowPlaces(name="tests[{index}]").name_row(3)
        ('row 3', 'tests[2]')
        """
        return self.name.format(row, index=row - 1)

    def point_problems(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return problems that have the number of a row in the place of a line with the line of that row.

        The row is named too, unless each row of the file is one line and the first is at the first.

        >>> places = RowPlaces({1: 2, 2: 5})
        >>> str(*places.point_problems([Problem("a.csv", 2, "answer", "missing")]))
        'a.csv:5: row 2: answer: missing'
        """
        is_named = any(line != row for row, line in self.lines.items())
        return [self._point(problem, is_named=is_named) for problem in problems]

    def _point(self, problem: Problem, *, is_named: bool) -> Problem:
        row = problem.line
        if row is None or row not in self.lines:
            return problem
        called = self.name_row(row)
        member = problem.field
        if is_named and not member.startswith(called):
            separator = "." if called.endswith("]") else ": "
            member = f"{called}{separator}{member}" if member else called
        return replace(problem, line=self.lines[row], field=member)


def find_item_lines(text: str, key: str | None) -> list[int]:
    """Return the lines at which the items of the list begin that a JSON text is, or that its member `key` is.

    >>> find_item_lines('[{"a": 1},\\n{"a": 2}]', None), find_item_lines('{"n": 2,\\n"rows": [1]}', "rows")
    ([1, 2], [2])
    """
    begin = _skip_space(text, 0)
    if key is not None:
        begin = next((value for name, value in _walk_members(text, begin) if name == key), begin)
    if text[begin : begin + 1] != "[":
        return []
    lines: list[int] = []
    line, counted = 1, 0
    for item in _walk_items(text, begin):
        line, counted = line + text.count("\n", counted, item), item
        lines.append(line)
    return lines


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()


def _walk_items(text: str, begin: int) -> Iterator[int]:
    """Yield where each item of the list begins that begins at a position of a valid JSON text."""
    position = _skip_space(text, begin + 1)
    while text[position] != "]":
        yield position
        _, end = _DECODER.raw_decode(text, position)
        position = _skip_space(text, end)
        if text[position] == ",":
            position = _skip_space(text, position + 1)


def _walk_members(text: str, begin: int) -> Iterator[tuple[str, int]]:
    """Yield the name of each member of the object that begins at a position, and where its value begins."""
    position = _skip_space(text, begin + 1)
    while text[position] != "}":
        name, end = _DECODER.raw_decode(text, position)
        value = _skip_space(text, _skip_space(text, end) + 1)
        yield name, value
        _, end = _DECODER.raw_decode(text, value)
        position = _skip_space(text, end)
        if text[position] == ",":
            position = _skip_space(text, position + 1)


def number_rows(rows: Sequence[Any], lines: Sequence[int], places: RowPlaces) -> Iterator[tuple[int, Any]]:
    """Yield rows by their number, from 1, and note the line of each; where the lines are of other items, none."""
    for number, row in enumerate(rows, 1):
        places.lines[number] = lines[number - 1] if len(lines) == len(rows) else None
        yield number, row
