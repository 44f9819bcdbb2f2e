"""Reads files of production traffic, also such as grow: line by line, with the byte at which each line ends.

A line that is too long is skipped and reported, because one bad line must not keep the rest from the store.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from assay.formats.file_io import MAX_LINE_BYTES, Source, is_packed, open_file, open_unpacked
from assay.records.audit_records import AUDIT_FIELDS
from assay.records.errors import InputError, Problem, shorten_repr

IDLE_SECONDS = 0.5
_BLOCK_BYTES = 2**18
_BOM = b"\xef\xbb\xbf"


class TrafficLine(NamedTuple):
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
    """An open source of lines. `position` is where reading begins; `iterate` yields None when it has to wait."""

    def __init__(self, stream: BinaryIO, name: str, position: FilePosition | None = None) -> None:
        self.name = name
        self._stream = stream
        self._number = 0 if position is None else position.line
        self._offset = 0 if position is None else position.offset
        if position is not None:
            stream.seek(position.offset)

    def tell(self, number: int, offset: int) -> FilePosition:
        """Return the position after the line that ends at `offset`."""
        status = os.fstat(self._stream.fileno())
        return FilePosition(status.st_dev, status.st_ino, offset, number)

    def iterate(self, keep_waiting: Callable[[], bool] | None = None) -> Iterator[TrafficLine | None]:
        """Yield the lines; None while there is nothing to read yet.

        At the end of a file, `keep_waiting` is asked whether to wait for more. A last line without its line end is read
        only if nobody waits: it may still be written.
        """
        pending = b""
        skipping = False
        while True:
            if not self._is_ready():
                yield None
                continue
            block = self._read()
            if not block:
                if keep_waiting is not None and keep_waiting():
                    yield None
                    continue
                break
            parts = (pending + block).split(b"\n")
            pending = parts.pop()
            for part in parts:
                yield self._take(part, 1, skipping)
                skipping = False
            if len(pending) > MAX_LINE_BYTES:
                self._offset += len(pending)
                pending, skipping = b"", True
        if (pending or skipping) and keep_waiting is None:
            yield self._take(pending, 0, skipping)

    def _take(self, data: bytes, line_end: int, skipped: bool) -> TrafficLine:
        self._number += 1
        self._offset += len(data) + line_end
        if self._number == 1:
            data = data.removeprefix(_BOM)
        return TrafficLine(self._number, None if skipped or len(data) > MAX_LINE_BYTES else data, self._offset)

    def _is_ready(self) -> bool:
        """Return whether a pipe has something to read; True for anything that cannot be asked."""
        try:
            return bool(select.select([self._stream], [], [], IDLE_SECONDS)[0])
        except (OSError, ValueError):
            return True

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
        with open_unpacked(Source(Path(path), path)) as unpacked:
            yield TrafficFile(unpacked, path), None
        return
    with open_file(Path(path)) as stream:
        status = os.fstat(stream.fileno())
        notice = None
        if position is not None:
            if (position.device, position.inode) != (status.st_dev, status.st_ino):
                notice = f"{path}: another file than the one read before: read from its beginning"
            elif position.offset > status.st_size:
                notice = f"{path}: shorter than what was read of it before: read from its beginning"
        yield TrafficFile(stream, path, position if notice is None else None), notice


def detect_traffic_format(path: str, number: int, line: bytes) -> str:
    """Return the format of a line by its members. Raises InputError, saying what was looked for."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    members = row.keys() if isinstance(row, dict) else set[str]()
    if "query_id" in members:
        return "rag-trace"
    if "case_id" in members:
        return "assay"
    if not members.isdisjoint(AUDIT_FIELDS):
        return "audit"
    got = shorten_repr(line[:120].decode("utf-8", "backslashreplace"))
    message = (
        f"cannot tell the format (got {got}; expected JSON lines with members of an audit record such as question and "
        "answer, with case_id (assay) or with query_id (rag-trace)); name it with --format"
    )
    raise InputError([Problem(path, number, "", message, "E_FORMAT")])
