"""Splits lines of whitespace-separated fields into arrays of positions, and files into blocks of whole queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.errors import shown
from assay.io.lines import MAX_LINE_BYTES
from assay.io.trec.encoding import Fault, normalise
from assay.io.trec.tokens import Bools, Places, Text, changes

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of n well-formed lines: byte positions `start` and `end` in `text`, of shape (n, columns), and `line`,
    the number of each line, of shape (n,)."""

    text: Text
    start: Places
    end: Places
    line: Places

    def __len__(self) -> int:
        return len(self.line)

    def column(self, column: int) -> tuple[Places, Places]:
        """Return start and length of each token of a column."""
        start = np.ascontiguousarray(self.start[:, column])
        return start, self.end[:, column] - start

    def tokens(self, rows: Places, column: int) -> list[bytes]:
        """Return the tokens of a column in some lines."""
        return self.text.tokens(self.start[rows, column], self.end[rows, column])

    def begins(self, column: int) -> Places:
        """Return the lines whose token in a column differs from that of the line before; the first line is included."""
        begins = np.ones(len(self), dtype=np.bool_)
        begins[1:] = changes(self.text, *self.column(column))
        return np.flatnonzero(begins)

    def queries(self) -> tuple[Places, list[bytes]]:
        """Return the first line of each sequence of lines with the same first field (the query), and that field."""
        first = self.begins(0)
        return first, self.tokens(first, 0)

    def rows(self, lines: slice | Places) -> Fields:
        """Return some of the lines."""
        return Fields(self.text, self.start[lines], self.end[lines], self.line[lines])


class Block(NamedTuple):
    """Some lines of a file: the fields of the valid ones, the problems of the others, how many were not in NFC."""

    fields: Fields
    faults: list[Fault]
    normalised: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a line, and whether text after the last one is allowed (and ignored)."""

    names: Sequence[str]
    open_ended: bool

    @property
    def columns(self) -> int:
        """Number of fields in a line."""
        return len(self.names)


def split_fields(text: Text, layout: Layout, first_line: int) -> tuple[Fields, list[Fault]]:
    """Return the fields of every well-formed line and the problems of the others; blank lines are skipped.

    `text` must end in a newline. `first_line` is the number of its first line.
    """
    regular = _split_regular(text, layout.columns, first_line)
    return (regular, []) if regular is not None else _split_any(text, layout, first_line)


def _split_regular(text: Text, columns: int, first_line: int) -> Fields | None:
    """Split lines in which exactly one blank follows each field; return None if a line is different."""
    octets, lines = text.octets[: text.size], text.lines
    end = np.flatnonzero(octets <= ord(" "))
    if len(end) != columns * lines or _controls(octets).any():
        return None
    start = np.zeros_like(end)
    start[1:] = end[:-1] + 1
    if not (end > start).all() or not (octets[end[columns - 1 :: columns]] == ord("\n")).all():
        return None
    shape = lines, columns
    return Fields(text, start.reshape(shape), end.reshape(shape), np.arange(first_line, first_line + lines))


def _split_any(text: Text, layout: Layout, first_line: int) -> tuple[Fields, list[Fault]]:
    """Split lines with any number of blanks between fields."""
    octets = text.octets[: text.size]
    newline = np.flatnonzero(octets == ord("\n"))
    # Tokens begin and end where blanks become letters and letters become blanks.
    edges = np.flatnonzero(np.diff(octets <= ord(" "), prepend=True))
    start, end = edges[0::2], edges[1::2]
    field_count = np.bincount(np.searchsorted(newline, start), minlength=len(newline))
    malformed = (field_count > 0) & (field_count < layout.columns)
    if not layout.open_ended:
        malformed |= field_count > layout.columns
    malformed[np.searchsorted(newline, np.flatnonzero(_controls(octets)))] = True
    valid = np.flatnonzero((field_count > 0) & ~malformed)
    first_field = np.cumsum(field_count) - field_count
    tokens = first_field[valid, np.newaxis] + np.arange(layout.columns)
    line_start = np.concatenate([[0], newline[:-1] + 1])
    faults: list[Fault] = []
    for index in np.flatnonzero(malformed).tolist():
        line = text.data[int(line_start[index]) : int(newline[index])]
        faults.append(_describe_malformed(line, first_line + index, layout))
    return Fields(text, start[tokens], end[tokens], first_line + valid), faults


def _controls(octets: npt.NDArray[np.uint8]) -> Bools:
    """Return which bytes are control characters other than blanks."""
    return np.asarray((octets < ord("\t")) | (octets - np.uint8(0x0E) < ord(" ") - 0x0E), dtype=np.bool_)


def _describe_malformed(line: bytes, number: int, layout: Layout) -> Fault:
    control = _CONTROL.search(line)
    if control:
        got = f"got {shown(control[0].decode())} at byte {control.start() + 1} of the line"
        return Fault(number, "", f"control character ({got}; expected text)", "E_CONTROL")
    got = f"got {shown(line.decode().strip(), 60)}; expected {', '.join(layout.names)}"
    return Fault(number, "", f"wrong number of columns ({got})", "E_CELLS")


def query_blocks(file: BinaryIO, layout: Layout, size: int, stop: int | None = None) -> Iterator[Block]:
    """Yield the lines of a file from its current position up to `stop` in blocks of about `size` bytes.

    A block ends where the first field (the query) changes, so that adjacent lines of a query stay together; lines after
    the last change are kept for the next block. A query that is longer than a block makes the block longer.
    """
    held, tail, first_line, pending = b"", b"", 1, list[Fault]()
    is_last = False
    while not is_last:
        byte_count = max(size, len(held))
        chunk = file.read(byte_count if stop is None else min(byte_count, stop - file.tell()))
        complete, tail = _complete_lines(tail, chunk)
        is_last = not chunk or len(tail) > MAX_LINE_BYTES
        lines = normalise(complete, first_line + held.count(b"\n"))
        text = Text.of(held, lines.data)
        fields, malformed = split_fields(text, layout, first_line)
        pending += lines.faults
        if tail and is_last:
            got = f"got more than {MAX_LINE_BYTES} bytes; expected {MAX_LINE_BYTES} at most"
            pending.append(Fault(first_line + text.lines, "", f"line too long ({got})", "E_LINE_TOO_LONG"))
        keep = len(fields) if is_last else int(fields.begins(0).max(initial=0))
        next_line = first_line + text.lines if keep == len(fields) else int(fields.line[keep])
        faults = [fault for fault in (*pending, *malformed) if is_last or fault.line < next_line]
        yield Block(fields.rows(slice(0, keep)), faults, lines.normalised)
        # Problems of malformed lines are found again with the lines that are held back.
        pending = [fault for fault in pending if fault.line >= next_line]
        held = b"" if keep == len(fields) else text.data[int(fields.start[keep, 0]) : text.size]
        first_line = next_line


def _complete_lines(tail: bytes, chunk: bytes) -> tuple[bytes, bytes]:
    """Return the lines that a chunk completes, and the rest of it; an empty chunk completes the last line."""
    if not chunk:
        return (tail + b"\n" if tail else b""), b""
    cut = chunk.rfind(b"\n") + 1
    return (b"".join((tail, memoryview(chunk)[:cut])), chunk[cut:]) if cut else (b"", tail + chunk)
