"""Bytes-level line reading, shared by every reader: what a line is does not depend on the platform or on Unicode.

Lines end with `\\n` and nothing else (a lone carriage return, U+2028 or U+0085 inside a string is data), `.gz` files
and standard input are spooled to a plain temporary file, and memory is bounded by the longest line allowed.
"""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from assay.errors import InputError, Problem, shown

MAX_LINE_BYTES = 16 * 2**20
MAX_UNPACKED_BYTES = 16 * 2**30

_BOM = b"\xef\xbb\xbf"
_BLOCK = 2**20
_PART = 2**18  # read at a time where each line is used at once: it stays in the processor's cache


class Line(NamedTuple):
    """One line without its end: `number` counts from 1, `offset` is the byte at which `data` begins."""

    number: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Source:
    """A plain, seekable file (or a folder) to read, and the name under which messages mention it."""

    path: Path
    name: str
    suffix: str = ""


@contextmanager
def opened(path: str | Path, *, max_bytes: int = MAX_UNPACKED_BYTES) -> Iterator[Source]:
    """Yield `path` as a plain file (or folder); `-`, pipes and `.gz` are spooled to a temporary file first.

    `suffix` of the result is the file's own, without `.gz`. Raises InputError where the file cannot be read, is not
    gzip although it is called so, or unpacks to more than `max_bytes`.
    """
    given = Path(path)
    if str(path) == "-":
        with _spooled(sys.stdin.buffer, "<stdin>", max_bytes) as spool:
            yield Source(spool, "<stdin>")
    elif is_folder(path):
        yield Source(given, str(path))
    elif given.suffix.lower() == ".gz":
        with (
            open_file(given) as packed,
            gzip.GzipFile(fileobj=packed) as unpacked,
            _spooled(unpacked, str(path), max_bytes) as spool,
        ):
            yield Source(spool, str(path), Path(given.stem).suffix.lower())
    else:
        with open_file(given) as stream:
            if stream.seekable():
                yield Source(given, str(path), given.suffix.lower())
                return
            with _spooled(stream, str(path), max_bytes) as spool:
                yield Source(spool, str(path), given.suffix.lower())


def is_folder(path: str | Path) -> bool:
    """Return whether `path` names a folder; a name that the system cannot even look up does not."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def open_file(path: Path, name: str | None = None) -> BinaryIO:
    """Open `path` for reading bytes; raises InputError where the system says no."""
    try:
        return open(path, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        message = f"cannot be read: {reason} (expected a readable file)"
        raise _failure(name or str(path), None, "E_FILE", message) from None


def read_lines(source: Source, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield every line of the source, blank ones included, without a byte-order mark, `\\n` or the `\\r` before it.

    Offsets are those of the plain file. Raises InputError for UTF-16 and for a line longer than `max_bytes`.
    """
    with open_file(source.path, source.name) as file:
        yield from lines_of(file, source.name, max_bytes=max_bytes)


def lines_of(file: BinaryIO, name: str, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield the lines of an open binary file that stands at its beginning; see `read_lines`."""
    head = file.read(4)
    file.seek(0)
    _refuse_utf16(head, name)
    offset = len(_BOM) if head.startswith(_BOM) else 0
    file.seek(offset)
    number = 0
    while data := file.readline(max_bytes + 2):
        number += 1
        size = len(data)
        if data.endswith(b"\n"):
            data = data[:-2] if data.endswith(b"\r\n") else data[:-1]
        elif data.endswith(b"\r") and size <= max_bytes + 1:
            data = data[:-1]
        if len(data) > max_bytes:
            message = f"line too long (got more than {max_bytes} bytes; expected {max_bytes} at most)"
            raise _failure(name, number, "E_LINE_TOO_LONG", message)
        yield Line(number, offset, data)
        offset += size


def lines_between(path: str, start: int, end: int) -> Iterator[bytes]:
    """Yield the lines that lie between two places of a file, without their `\\n`; a line that goes on is cut off."""
    with open(path, "rb", buffering=_PART) as file:
        file.seek(start)
        for line in file:
            start += len(line)
            if start >= end:
                yield (line if start == end else line[: end - start]).removesuffix(b"\n")
                return
            yield line[:-1] if line.endswith(b"\n") else line


def text_of(line: Line, name: str) -> str:
    """Return the line as text; raises InputError with the byte offset in the file where it is not UTF-8."""
    try:
        return line.data.decode()
    except UnicodeDecodeError as error:
        byte = line.data[error.start]
        place = line.offset + error.start
        message = f"not UTF-8 (got byte 0x{byte:02x} at byte offset {place}; expected UTF-8 text)"
        raise _failure(name, line.number, "E_ENCODING", message) from None


def show_line(line: Line, limit: int = 60) -> str:
    """Return the beginning of the line for an error message, whatever its bytes are."""
    return shown(line.data[: 4 * limit].decode("utf-8", "backslashreplace"), limit)


def _refuse_utf16(head: bytes, name: str) -> None:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head:
        message = f"not UTF-8 (got {shown(head)} at byte offset 0, which looks like UTF-16; expected UTF-8 text)"
        raise _failure(name, 1, "E_ENCODING", message)


@contextmanager
def _spooled(stream: BinaryIO | gzip.GzipFile, name: str, max_bytes: int) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="assay-"))
    try:
        spool = folder / "input"
        _copy(stream, spool, name, max_bytes)
        yield spool
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(stream: BinaryIO | gzip.GzipFile, target: Path, name: str, max_bytes: int) -> None:
    total = 0
    with open(target, "wb") as out:
        try:
            while block := stream.read(_BLOCK):
                total += len(block)
                if total > max_bytes:
                    message = f"unpacks to too much (got more than {max_bytes} bytes; expected {max_bytes} at most)"
                    raise _failure(name, None, "E_TOO_LARGE", message)
                out.write(block)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise _failure(name, None, "E_GZIP", f"broken gzip file (got: {error}; expected gzip data)") from None


def _failure(name: str, line: int | None, code: str, message: str) -> InputError:
    return InputError([Problem(name, line, "", message, code)])
