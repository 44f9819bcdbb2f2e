"""Reads lines as bytes for every reader, so that line ends depend neither on the platform nor on Unicode.

Only `\n` ends a line: a lone carriage return, U+2028 or U+0085 is data. `.gz` files are unpacked while they are read;
standard input and pipes are copied to a temporary file first. Memory is bounded by the longest line allowed.

Writes files so that no reader ever sees half of one, not even after a crash.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from msgspec import Struct

from assay.records.errors import IncompleteError, InputError, Problem, shorten_repr

MAX_LINE_BYTES = 16 * 2**20
MAX_UNPACKED_BYTES = 16 * 2**30
IF_IT_IS_RIGHT = "if the file is what it should be, unpack it with gunzip and read it unpacked"
RATIO_FREE_BYTES = 2 * MAX_LINE_BYTES
"""Up to here a packed file may unpack to any multiple of its size: a few alike lines do."""

_BOM = b"\xef\xbb\xbf"
_COPY_BYTES = 2**20
_BUFFER_BYTES = 2**18  # small enough that the lines read ahead stay in the processor's cache


class Line(Struct, frozen=True):
    """One line without its line end: `number` counts from 1, `offset` is the byte at which `data` begins."""

    number: int
    offset: int
    data: bytes


class Source(Struct, frozen=True):
    """A file (or a folder) to read; messages call it `name`. Its bytes are read with `open_unpacked`.

    A `.gz` file may unpack to `max_bytes`, and above `RATIO_FREE_BYTES` to `max_ratio` times its size.
    """

    path: Path
    name: str
    suffix: str = ""
    max_bytes: int = MAX_UNPACKED_BYTES
    max_ratio: int | None = None


@contextmanager
def open_source(path: str | Path, *, max_bytes: int = MAX_UNPACKED_BYTES) -> Iterator[Source]:
    """Yield `path` as a file that can be read more than once (or a folder); `-` and pipes are copied to a file first.

    `suffix` of the result is that of the file without `.gz`. Raises InputError if the file cannot be read. Reading it
    raises InputError if it has the suffix `.gz` but is not gzip data, or unpacks to more than `max_bytes`.
    """
    file = Path(path)
    if str(path) == "-":
        with _spool(sys.stdin.buffer, "<stdin>", max_bytes) as spool:
            yield Source(spool, "<stdin>")
    elif is_folder(path):
        yield Source(file, str(path))
    elif is_packed(file):
        source = Source(file, str(path), Path(file.stem).suffix.lower(), max_bytes)
        with open_unpacked(source) as unpacked:
            unpacked.read(1)
        yield source
    else:
        with open_file(file) as stream:
            if stream.seekable():
                yield Source(file, str(path), file.suffix.lower())
                return
            with _spool(stream, str(path), max_bytes) as spool:
                yield Source(spool, str(path), file.suffix.lower())


@contextmanager
def unpack_source(source: Source) -> Iterator[Path]:
    """Yield the path of a plain file with the bytes of the source; a `.gz` file is unpacked to a temporary one.

    For readers that go to byte offsets, from several processes. The caller looks at the first line before, with
    `read_lines`, so that a file of another format is refused before all of it is unpacked.
    """
    if not is_packed(source.path):
        yield source.path
        return
    with open_unpacked(source) as unpacked, _spool(unpacked, source.name, source.max_bytes) as spool:
        yield spool


def is_packed(path: Path) -> bool:
    """Return whether a path is that of a gzip file, by its suffix."""
    return path.suffix.lower() == ".gz" and not is_folder(path)


def open_unpacked(source: Source) -> BinaryIO:
    """Open a source for reading its bytes, those of a `.gz` file unpacked. Raises InputError if that fails."""
    file = open_file(source.path, source.name)
    if not is_packed(source.path):
        return file
    return cast("BinaryIO", io.BufferedReader(_Unpacking(file, source), _BUFFER_BYTES))


class _Unpacking(io.RawIOBase):
    """The unpacked bytes of a gzip file; reading raises InputError where the file is broken or unpacks to too much."""

    def __init__(self, packed: BinaryIO, source: Source) -> None:
        self._packed, self._name, self._max_bytes = packed, source.name, source.max_bytes
        self._packed_bytes = os.fstat(packed.fileno()).st_size
        ratio = source.max_ratio
        self._expected_bytes = None if ratio is None else max(RATIO_FREE_BYTES, ratio * self._packed_bytes)
        import gzip  # few files are packed

        self._unpacked = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with self._explain():
            return self._unpacked.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        with self._explain():
            size = self._unpacked.readinto(buffer)
        unpacked = self._unpacked.tell()
        if unpacked > self._max_bytes:
            limit = self._max_bytes
            message = f"unpacks to too much (got more than {limit} bytes; expected {limit} at most)"
            raise _input_error(self._name, None, "E_TOO_LARGE", message)
        if self._expected_bytes is not None and unpacked > self._expected_bytes:
            message = (
                f"unpacks to too much (got more than {self._expected_bytes} bytes out of {self._packed_bytes}, as no "
                f"traffic does; {IF_IT_IS_RIGHT})"
            )
            raise _input_error(self._name, None, "E_TOO_LARGE", message)
        return size

    def close(self) -> None:
        self._unpacked.close()
        self._packed.close()
        super().close()

    @contextmanager
    def _explain(self) -> Iterator[None]:
        import gzip  # few files are packed

        try:
            yield
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            message = f"broken gzip file (got: {error}; expected gzip data)"
            raise _input_error(self._name, None, "E_GZIP", message) from None


def is_folder(path: str | Path) -> bool:
    """Return whether `path` is a folder; False for a name that the operating system refuses to look up."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: str | Path) -> bool:
    """Return whether `path` is a file; False for a name that the operating system refuses to look up."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def open_file(path: Path, name: str | None = None) -> BinaryIO:
    """Open `path` for reading bytes. Raises InputError if that fails."""
    try:
        return open(path, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        message = f"cannot be read: {reason} (expected a readable file)"
        raise _input_error(name or str(path), None, "E_FILE", message) from None


def read_lines(source: Source, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield every line of the source, including blank ones, without byte-order mark and without `\\n` or `\\r\\n`.

    Offsets are those of the plain file. Raises InputError for UTF-16 and for a line longer than `max_bytes`.
    """
    with open_unpacked(source) as file:
        yield from iterate_lines(file, source.name, max_bytes=max_bytes)


def iterate_lines(file: BinaryIO, name: str, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield the lines of an open binary file, read from its beginning; see `read_lines`."""
    head = file.read(_SIGNATURE_BYTES)
    file.seek(0)
    refuse_other_content(head, name)
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
            raise _input_error(name, number, "E_LINE_TOO_LONG", message)
        yield Line(number, offset, data)
        offset += size


def read_lines_between(path: str, start: int, end: int) -> Iterator[bytes]:
    """Yield the lines between two byte offsets of a file, without their `\\n`; a line that crosses `end` is cut."""
    with open(path, "rb", buffering=_BUFFER_BYTES) as file:
        file.seek(start)
        for line in file:
            start += len(line)
            if start >= end:
                yield (line if start == end else line[: end - start]).removesuffix(b"\n")
                return
            yield line[:-1] if line.endswith(b"\n") else line


def count_lines(path: str, start: int, end: int) -> int:
    """Return how many lines lie between two byte offsets of a file."""
    count, last = 0, b"\n"
    with open(path, "rb") as file:
        file.seek(start)
        while start < end and (data := file.read(min(_BUFFER_BYTES, end - start))):
            start += len(data)
            count, last = count + data.count(b"\n"), data[-1:]
    return count + (last != b"\n")


def decode_line(line: Line, name: str) -> str:
    """Return the line as text. Raises InputError with the byte offset in the file if it is not UTF-8."""
    try:
        return line.data.decode()
    except UnicodeDecodeError as error:
        byte = line.data[error.start]
        offset = line.offset + error.start
        message = f"not UTF-8 (got byte 0x{byte:02x} at byte offset {offset}; expected UTF-8 text)"
        raise _input_error(name, line.number, "E_ENCODING", message) from None


def quote_line_start(line: Line) -> str:
    """Return the beginning of the line for an error message, even if it is not UTF-8."""
    return shorten_repr(line.data[: 4 * _MOST_QUOTED].decode("utf-8", "backslashreplace"), _MOST_QUOTED)


_MOST_QUOTED = 60
"""Characters of a line that an error message quotes."""


_SIGNATURES = {
    b"PK\x03\x04": ("a zip archive or a workbook", "text: in a spreadsheet, save as “CSV UTF-8”"),
    b"\xd0\xcf\x11\xe0": ("an old workbook", "text: in a spreadsheet, save as “CSV UTF-8”"),
    b"PAR1\x15": ("a Parquet file", "text; from Python, its data frame can be passed"),
    b"SQLite format 3": ("an SQLite database", "text, such as a query's result as CSV"),
    b"%PDF-": ("a PDF", "text"),
    b"\x1f\x8b": ("gzip data", "a name that ends in .gz for it"),
}
"""How files of other kinds begin: what they are, and what is expected instead."""
_SIGNATURE_BYTES = max(map(len, _SIGNATURES))
_UTF16_BYTES = 4


def refuse_other_content(head: bytes, name: str) -> None:
    """Raise InputError if the first bytes of a file are those of a workbook, an archive or a database, or of UTF-16."""
    for signature, (kind, expected) in _SIGNATURES.items():
        if head.startswith(signature):
            raise _input_error(name, None, "E_FORMAT", f"not a text file (got {kind}; expected {expected})")
    start = head[:_UTF16_BYTES]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start:
        got = f"{shorten_repr(start)} at byte offset 0, which looks like UTF-16"
        message = f"not UTF-8 (got {got}; expected UTF-8 text)"
        raise _input_error(name, 1, "E_ENCODING", message)


@contextmanager
def _spool(stream: BinaryIO, name: str, max_bytes: int) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="assay-"))
    try:
        spool = folder / "input"
        _copy_stream(stream, spool, name, max_bytes)
        yield spool
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_stream(stream: BinaryIO, target: Path, name: str, max_bytes: int) -> None:
    total = 0
    with open(target, "wb") as out:
        while block := stream.read(_COPY_BYTES):
            total += len(block)
            if total > max_bytes:
                message = f"is too large (got more than {max_bytes} bytes; expected {max_bytes} at most)"
                raise _input_error(name, None, "E_TOO_LARGE", message)
            out.write(block)


def _input_error(name: str, line: int | None, code: str, message: str) -> InputError:
    return InputError([Problem(name, line, "", message, code)])


def write_atomically(path: str | Path, parts: Iterable[bytes], *, is_shared: bool = False) -> Path:
    """Write a file completely or not at all, creating its folder if needed, and return its path.

    Only its owner can read a new file, because reports quote answers and contexts; one that `is_shared` quotes none and
    has the mode that the umask leaves, so that a collector of metrics or a web server may read it. A file that is
    replaced keeps its mode. Devices and pipes (/dev/null, /dev/stdout) are written to and never replaced. Raises
    IncompleteError if the file cannot be written (no space, no permission).
    """
    target = Path(path)
    try:
        # /dev/stdout and /dev/fd/1 are links to what is open; /dev/shm holds files like any other folder.
        is_in_memory = target.absolute().is_relative_to("/dev/shm")  # noqa: S108  # compared with, not written to
        is_open_stream = target.is_symlink() and target.absolute().is_relative_to("/dev") and not is_in_memory
        if target.exists() and (not target.is_file() or is_open_stream):
            with target.open("ab") as device:
                device.writelines(parts)
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            new_mode = 0o666 & ~_read_umask() if is_shared else 0o600
            Path(draft).chmod(target.stat().st_mode & 0o777 if target.exists() else new_mode)
            Path(draft).replace(target)
        except BaseException:  # also on Ctrl-C: no draft may be left behind
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise IncompleteError(f"{target}: cannot be written: {error.strerror or error}") from error
    return target


def _read_umask() -> int:
    """Return the umask of this process, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def hold_folder(path: str | Path) -> Iterator[None]:
    """Keep other processes that call this from writing into the folder of a file, which is created if needed.

    Who comes second waits. The lock leaves no file and ends with its process, however that ends. Raises IncompleteError
    if the folder cannot be created or read.
    """
    import fcntl

    folder = Path(path).absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise IncompleteError(f"{folder}: cannot be locked: {error.strerror or error}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
