"""Lines of whitespace-separated fields as arrays of places, and files of them cut where the query changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy as np

from assay.errors import shown
from assay.io.lines import MAX_LINE_BYTES
from assay.io.trec.encoding import Fault, normalise
from assay.io.trec.tokens import Bools, Places, Text, changes

_TOKEN = re.compile(rb"[^\s]+")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of n well-formed lines: `start` and `end`, of shape (n, columns), and each line's number."""

    text: Text
    start: Places
    end: Places
    line: Places

    def __len__(self) -> int:
        return len(self.line)

    def column(self, place: int) -> tuple[Places, Places]:
        """Return starts and lengths of one column's tokens."""
        start = np.ascontiguousarray(self.start[:, place])
        return start, self.end[:, place] - start

    def token(self, row: int, place: int) -> bytes:
        """Return one field of one line."""
        return self.text.data[int(self.start[row, place]) : int(self.end[row, place])]

    def queries(self) -> tuple[Places, list[bytes]]:
        """Return the first line of each run of lines with the same first field, and that field."""
        start, length = self.column(0)
        begins = np.ones(len(self), dtype=np.bool_)
        begins[1:] = changes(self.text, start, length)
        first = np.flatnonzero(begins)
        data, begin, end = self.text.data, start[first], (start + length)[first]
        return first, [data[at:to] for at, to in zip(begin.tolist(), end.tolist(), strict=True)]

    def rows(self, chosen: slice | Places) -> Fields:
        """Return some of the lines."""
        return Fields(self.text, self.start[chosen], self.end[chosen], self.line[chosen])


class Block(NamedTuple):
    """Some lines of a file: the fields of the good ones, what is wrong with others, how many were not in NFC."""

    fields: Fields
    faults: list[Fault]
    normalised: int


@dataclass(frozen=True, slots=True)
class Layout:
    """What a line holds: the fields' names, and whether text after the last of them is allowed (and ignored)."""

    names: Sequence[str]
    open_ended: bool

    @property
    def columns(self) -> int:
        """How many fields a line has."""
        return len(self.names)


def split_fields(text: Text, layout: Layout, first_line: int) -> tuple[Fields, list[Fault]]:
    """Find the fields of every line, and the lines that are malformed; blank lines are neither.

    `text` must end in a newline. Lines that all hold exactly the expected fields are found without looking at each.
    """
    regular = _split_regular(text, layout.columns, first_line)
    return (regular, []) if regular is not None else _split_any(text, layout, first_line)


def _split_regular(text: Text, columns: int, first_line: int) -> Fields | None:
    octets, lines = text.octets[: text.size], text.lines
    if np.count_nonzero(octets < ord(" ")) != lines and _CONTROL.search(text.data, 0, text.size):
        return None
    blank = octets <= ord(" ")
    start, end = _after_one_blank(blank, columns) or _between_blanks(blank, columns)
    if len(end) != lines or not (octets[start[1:, 0] - 1] == ord("\n")).all():
        return None
    return Fields(text, start, end, np.arange(first_line, first_line + lines))


def _after_one_blank(blank: Bools, columns: int) -> tuple[Places, Places] | None:
    """Find the fields where exactly one blank follows each: None where that cannot be so."""
    end = np.flatnonzero(blank)
    if len(end) % columns:
        return None
    start = np.zeros_like(end)
    start[1:] = end[:-1] + 1
    return (start.reshape(-1, columns), end.reshape(-1, columns)) if (end > start).all() else None


def _between_blanks(blank: Bools, columns: int) -> tuple[Places, Places]:
    """Find the fields wherever blanks begin and end; none where they are not a multiple of the columns."""
    edges = np.flatnonzero(np.diff(blank, prepend=True))
    if len(edges) % (2 * columns):
        edges = edges[:0]
    places = edges.reshape(-1, 2 * columns)
    return places[:, 0::2], places[:, 1::2]


def _split_any(text: Text, layout: Layout, first_line: int) -> tuple[Fields, list[Fault]]:
    found: list[list[tuple[int, int]]] = []
    numbers: list[int] = []
    faults: list[Fault] = []
    begin = 0
    for number in range(first_line, first_line + text.lines):
        end = text.data.index(b"\n", begin)
        spans = [match.span() for match in _TOKEN.finditer(text.data, begin, end)]
        fault = _malformed(text.data[begin:end], number, len(spans), layout) if spans else None
        if fault:
            faults.append(fault)
        elif spans:
            found.append(spans[: layout.columns])
            numbers.append(number)
        begin = end + 1
    places = np.array(found, dtype=np.int64).reshape(-1, layout.columns, 2)
    return Fields(text, places[:, :, 0], places[:, :, 1], np.array(numbers, dtype=np.int64)), faults


def _malformed(line: bytes, number: int, fields: int, layout: Layout) -> Fault | None:
    control = _CONTROL.search(line)
    if control:
        got = f"got {shown(control[0].decode())} at byte {control.start() + 1} of the line"
        return Fault(number, "", f"control character ({got}; expected text)", "E_CONTROL")
    if fields < layout.columns or (fields > layout.columns and not layout.open_ended):
        got = f"got {shown(line.decode().strip(), 60)}; expected {', '.join(layout.names)}"
        return Fault(number, "", f"wrong number of columns ({got})", "E_CELLS")
    return None


def query_blocks(file: BinaryIO, layout: Layout, size: int, stop: int | None = None) -> Iterator[Block]:
    """Yield the lines of a file from its present place up to `stop` in blocks of about `size` bytes.

    A block ends where the first field (the query) changes, so that adjacent lines of a query stay together; the lines
    after the last change are held back for the next block. A query longer than a block makes a longer block.
    """
    held, tail, first_line, later = b"", b"", 1, list[Fault]()
    last = False
    while not last:
        wanted = max(size, len(held))
        chunk = file.read(wanted if stop is None else min(wanted, stop - file.tell()))
        fresh, tail = _whole_lines(tail, chunk)
        last = not chunk or len(tail) > MAX_LINE_BYTES
        lines = normalise(fresh, first_line + held.count(b"\n"))
        text = Text.of(held, lines.data)
        fields, malformed = split_fields(text, layout, first_line)
        later += lines.faults
        if tail and last:
            got = f"got more than {MAX_LINE_BYTES} bytes; expected {MAX_LINE_BYTES} at most"
            later.append(Fault(first_line + text.lines, "", f"line too long ({got})", "E_LINE_TOO_LONG"))
        keep = len(fields) if last else int(fields.queries()[0].max(initial=0))
        following = first_line + text.lines if keep == len(fields) else int(fields.line[keep])
        faults = [fault for fault in (*later, *malformed) if last or fault.line < following]
        yield Block(fields.rows(slice(0, keep)), faults, lines.normalised)
        later = [fault for fault in later if fault.line >= following]
        held = b"" if keep == len(fields) else text.data[int(fields.start[keep, 0]) : text.size]
        first_line = following


def _whole_lines(tail: bytes, chunk: bytes) -> tuple[bytes, bytes]:
    """Return the lines that a chunk completes, and what it leaves over; an empty chunk completes the last line."""
    if not chunk:
        return (tail + b"\n" if tail else b""), b""
    cut = chunk.rfind(b"\n") + 1
    return (b"".join((tail, memoryview(chunk)[:cut])), chunk[cut:]) if cut else (b"", tail + chunk)
