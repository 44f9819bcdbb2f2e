"""Reads files of production traffic, also such as grow: line by line, with the byte at which each line ends.

A line that is too long is skipped and reported, because one bad line must not keep the rest from the store.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from assay.audit.load_own_fields import propose_fields
from assay.formats.file_io import IF_IT_IS_RIGHT, MAX_LINE_BYTES, Source, is_packed, open_file, open_unpacked
from assay.records.audit_records import AUDIT_FIELDS
from assay.records.errors import InputError, Problem, shorten_repr

IDLE_SECONDS = 0.5
MAX_TRAFFIC_RATIO = 100
"""Lines of traffic pack to a tenth of their size, a long run of the same bytes to a thousandth."""
LINES_OF_ANY_FILE, PACKED_BYTES_OF_A_LINE = 100_000, 4
"""How many lines a packed file may have however small it is, and how many bytes each further one needs at least."""
QUIET_POLLS = 2
"""A file that was replaced is done with when nothing was written to it between so many looks at its end."""
_BLOCK_BYTES = 2**18
_BOM = b"\xef\xbb\xbf"


class TrafficLine(msgspec.Struct, frozen=True, gc=False):
    """One line: `data` is None if it is longer than any reader takes. `end` is the offset of the byte after it."""

    number: int
    data: bytes | None
    end: int


class FilePosition(msgspec.Struct, frozen=True):
    """How far a file has been read: the file by device and inode, so that a rotated one is not continued."""

    device: int
    inode: int
    offset: int
    line: int


class TrafficFile:
    """An open source of lines. `position` is where reading begins; `iterate` yields None when it has to wait.

    Of a packed file, at most `most_lines` are read.
    """

    def __init__(
        self, stream: BinaryIO, name: str, position: FilePosition | None = None, most_lines: int | None = None
    ) -> None:
        self.name = name
        self._stream = stream
        self._most_lines = most_lines
        self._number = 0 if position is None else position.line
        self._offset = 0 if position is None else position.offset
        if position is not None:
            stream.seek(position.offset)

    def close(self) -> None:
        """Close the file that is open now."""
        self._stream.close()

    def tell(self, number: int, offset: int) -> FilePosition:
        """Return the position after the line that ends at `offset`."""
        status = os.fstat(self._stream.fileno())
        return FilePosition(status.st_dev, status.st_ino, offset, number)

    def iterate(self, keep_waiting: Callable[[], bool] | None = None) -> Iterator[TrafficLine | None]:
        """Yield the lines; None while there is nothing to read yet.

        At the end of a file, `keep_waiting` is asked whether to wait for more. A last line without its line end is read
        only if nobody waits: it may still be written. A file that was replaced by another one of its name is read to
        its end, and then the other one. Raises InputError for a packed file of more lines than its size can hold.
        """
        pending = b""
        skipping = False
        quiet = 0  # how often the end was met in a row since the file was replaced
        while True:
            if not self._is_ready():
                yield None
                continue
            block = self._read()
            if not block:
                if quiet == QUIET_POLLS:
                    if pending or skipping:
                        yield self._take(pending, 0, skipping)
                    yield None
                    pending, skipping, quiet = b"", False, 0
                    self._reopen()
                    continue
                if keep_waiting is None or not keep_waiting():
                    break
                yield None
                quiet = quiet + 1 if self._is_replaced() else 0
                continue
            quiet = 0
            if (
                not pending and not skipping and not block.strip(b"\n")
            ):  # only blank lines: millions of them are few bytes
                self._number += len(block)
                self._offset += len(block)
                self._check_number()
                continue
            parts = block.split(b"\n")
            parts[0] = pending + parts[0]
            pending = parts.pop()
            for part in parts:
                yield self._take(part, 1, skipping)
                skipping = False
            if skipping or len(pending) > MAX_LINE_BYTES:
                self._offset += len(pending)
                pending, skipping = b"", True
        if (pending or skipping) and keep_waiting is None:
            yield self._take(pending, 0, skipping)

    def _take(self, data: bytes, line_end: int, skipped: bool) -> TrafficLine:
        self._number += 1
        self._check_number()
        self._offset += len(data) + line_end
        if self._number == 1:
            data = data.removeprefix(_BOM)
        return TrafficLine(self._number, None if skipped or len(data) > MAX_LINE_BYTES else data, self._offset)

    def _check_number(self) -> None:
        if self._most_lines is not None and self._number > self._most_lines:
            message = (
                f"too many lines for a packed file of its size (got more than {self._most_lines}; {IF_IT_IS_RIGHT})"
            )
            raise InputError([Problem(self.name, self._number, "", message, "E_TOO_LARGE")])

    def _is_ready(self) -> bool:
        """Return whether a pipe has something to read; True for anything that cannot be asked."""
        try:
            return bool(select.select([self._stream], [], [], IDLE_SECONDS)[0])
        except (OSError, ValueError):
            return True

    def _is_replaced(self) -> bool:
        """Return whether the name now belongs to another file."""
        try:
            present, read = Path(self.name).stat(), os.fstat(self._stream.fileno())
        except OSError:
            return False
        return (present.st_dev, present.st_ino) != (read.st_dev, read.st_ino)

    def _reopen(self) -> None:
        """Go on with the file that has the name now."""
        former = self._stream
        self._stream = open_file(Path(self.name))
        self._number = self._offset = 0
        former.close()

    def _read(self) -> bytes:
        read = getattr(self._stream, "read1", self._stream.read)
        return bytes(read(_BLOCK_BYTES))


@contextmanager
def open_traffic(path: str, position: FilePosition | None) -> Iterator[tuple[TrafficFile, str | None]]:
    """Yield a source of lines, and why `position` could not be used (None where it could, or there is none).

    `-` is standard input, `.gz` is unpacked. Raises InputError for a file that cannot be read.
    """
    if path == "-":
        yield TrafficFile(sys.stdin.buffer, "<stdin>"), None
        return
    if is_packed(Path(path)):
        with open_unpacked(Source(Path(path), path, max_ratio=MAX_TRAFFIC_RATIO)) as unpacked:
            most_lines = LINES_OF_ANY_FILE + Path(path).stat().st_size // PACKED_BYTES_OF_A_LINE
            yield TrafficFile(unpacked, path, most_lines=most_lines), None
        return
    with open_file(Path(path)) as stream:
        status = os.fstat(stream.fileno())
        notice = None
        if position is not None:
            if (position.device, position.inode) != (status.st_dev, status.st_ino):
                notice = f"{path}: another file than the one read before: read from its beginning"
            elif position.offset > status.st_size:
                notice = f"{path}: shorter than what was read of it before: read from its beginning"
        traffic = TrafficFile(stream, path, position if notice is None else None)
        with closing(traffic):
            yield traffic, notice


def detect_traffic_format(path: str, number: int, line: bytes) -> str:
    """Return the format of a line by its members. Raises InputError, saying what was looked for."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        message = (
            f"not UTF-8 (got byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line; expected UTF-8 text)"
        )
        raise InputError([Problem(path, number, "", message, "E_ENCODING")]) from None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    members = row.keys() if isinstance(row, dict) else set[str]()
    if "resourceSpans" in members:
        return "otlp-json"
    if "query_id" in members:
        return "rag-trace"
    if "case_id" in members:
        return "assay"
    if not members.isdisjoint(AUDIT_FIELDS):
        return "audit"
    got = shorten_repr(line[:120].decode("utf-8", "backslashreplace"))
    message = (
        f"cannot tell the format (got {got}; expected JSON lines with members of an audit record such as question and "
        "answer, with case_id (assay), query_id (rag-trace) or resourceSpans (otlp-json)); name it with "
        f"--traffic-format, or say what your own members are: --fields {propose_fields(members)}"
    )
    raise InputError([Problem(path, number, "", message, "E_FORMAT")])
