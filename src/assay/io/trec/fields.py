"""Lines of whitespace-separated fields as arrays of places, and files of them cut where the query changes."""

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

    def tokens(self, rows: Places, place: int) -> list[bytes]:
        """Return one field of some lines."""
        return self.text.tokens(self.start[rows, place], self.end[rows, place])

    def begins(self, place: int) -> Places:
        """Return the lines whose field at a place is another than that of the line before; the first is one."""
        begins = np.ones(len(self), dtype=np.bool_)
        begins[1:] = changes(self.text, *self.column(place))
        return np.flatnonzero(begins)

    def queries(self) -> tuple[Places, list[bytes]]:
        """Return the first line of each run of lines with the same first field, and that field."""
        first = self.begins(0)
        return first, self.tokens(first, 0)

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

    `text` must end in a newline.
    """
    regular = _split_regular(text, layout.columns, first_line)
    return (regular, []) if regular is not None else _split_any(text, layout, first_line)


def _split_regular(text: Text, columns: int, first_line: int) -> Fields | None:
    """Find the fields where exactly one blank follows each of them: None where the lines are not like that."""
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
    """Find the fields wherever blanks begin and end."""
    octets = text.octets[: text.size]
    newline = np.flatnonzero(octets == ord("\n"))
    edges = np.flatnonzero(np.diff(octets <= ord(" "), prepend=True))
    start, end = edges[0::2], edges[1::2]
    fields = np.bincount(np.searchsorted(newline, start), minlength=len(newline))
    bad = (fields > 0) & (fields < layout.columns)
    if not layout.open_ended:
        bad |= fields > layout.columns
    bad[np.searchsorted(newline, np.flatnonzero(_controls(octets)))] = True
    good = np.flatnonzero((fields > 0) & ~bad)
    places = (np.cumsum(fields) - fields)[good, np.newaxis] + np.arange(layout.columns)
    begin = np.concatenate([[0], newline[:-1] + 1])
    lines = ((each, text.data[int(begin[each]) : int(newline[each])]) for each in np.flatnonzero(bad).tolist())
    faults = [_malformed(line, first_line + each, layout) for each, line in lines]
    return Fields(text, start[places], end[places], first_line + good), faults


def _controls(octets: npt.NDArray[np.uint8]) -> Bools:
    """Return which bytes are control characters and not blanks."""
    return np.asarray((octets < ord("\t")) | (octets - np.uint8(0x0E) < ord(" ") - 0x0E), dtype=np.bool_)


def _malformed(line: bytes, number: int, layout: Layout) -> Fault:
    control = _CONTROL.search(line)
    if control:
        got = f"got {shown(control[0].decode())} at byte {control.start() + 1} of the line"
        return Fault(number, "", f"control character ({got}; expected text)", "E_CONTROL")
    got = f"got {shown(line.decode().strip(), 60)}; expected {', '.join(layout.names)}"
    return Fault(number, "", f"wrong number of columns ({got})", "E_CELLS")


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
        keep = len(fields) if last else int(fields.begins(0).max(initial=0))
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
