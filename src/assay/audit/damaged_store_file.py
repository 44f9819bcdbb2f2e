"""Reads the rows of a damaged SQLite store from the pages of its file, without the trees that SQLite finds rows by.

SQLite refuses a file that was cut off, and loses all rows below an inner page that is damaged, although the pages with
the rows are still there. Here every page is looked at by itself (https://www.sqlite.org/fileformat2.html): those that
hold rows of a table say so in their first byte, and the tables of a store differ in the shape of their rows. Pages in
the write-ahead log replace those of the file. What is read may be old or damaged: the chain's commitments tell.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from assay.audit.audit_store import ChainRow
from assay.records.counts import format_count
from assay.records.errors import IncompleteError, InputError

Value = int | float | str | bytes | None

_HEADER = b"SQLite format 3\0"
_DEFAULT_PAGE_BYTES = 4096
_MIN_PAGE_BYTES, _MAX_PAGE_BYTES = 512, 65_536
_LEAF_OF_A_TABLE, _LEAF_HEADER_BYTES = 13, 8
_FIRST_PAGE_HEADER_BYTES = 100
_MAX_VARINT_BYTES = 9
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_NULL, _REAL, _ZERO, _ONE, _FIRST_BLOB = 0, 7, 8, 9, 12
_INTEGERS = (*_INTEGER_BYTES, _ZERO, _ONE)
_LOG_HEADER, _FRAME_HEADER = struct.Struct(">8I"), struct.Struct(">6I")
_LOG_MAGIC = (0x377F0682, 0x377F0683)
_HASH_TYPE = _FIRST_BLOB + 2 * 32  # of a column with 32 bytes: a link, a commitment, a salt or a key
_DAY_TYPE = _FIRST_BLOB + 1 + 2 * len("2026-03-02")
_RECORD_COLUMNS, _USER_COLUMNS, _TEXT_COLUMNS = 11, 3, 4
_KEY_BYTES = 32


class _Cell(NamedTuple):
    """Where a row is: the page, where its cell begins, and what the cell's head says."""

    page: int
    offset: int
    row: int
    size: int
    payload: int
    """Where the row's data begin in the page."""
    types: tuple[int, ...]
    head_bytes: int


class _BrokenRowError(ValueError):
    """The bytes are no row."""


class DamagedStoreFile:
    """The rows of a store's file that are still there; close it, or use it in a `with` statement.

    Raises InputError for a file that cannot be read or that has no record in it, IncompleteError if there is no space
    for the list of what was found.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._file: BinaryIO = open(path, "rb")  # noqa: SIM115  # closed below
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
        head = self._file.read(_FIRST_PAGE_HEADER_BYTES)
        self._page_bytes, reserved = _read_page_size(head)
        self._usable_bytes = self._page_bytes - reserved
        self._pages = Path(path).stat().st_size // self._page_bytes
        self._expected_pages = int.from_bytes(head[28:32], "big") if head.startswith(_HEADER) else None
        self._log: BinaryIO | None = None
        self._log_pages: dict[int, int] = {}
        self._open_log(Path(f"{path}-wal"))
        self._places = sqlite3.connect("")  # in memory, and in a nameless temporary file where that is too little
        try:
            self._find_rows()
        except sqlite3.Error as error:
            self.close()
            raise IncompleteError(f"{path}: what is left of it cannot be listed: {error}") from error
        if self._places.execute("SELECT sequence FROM records LIMIT 1").fetchone() is None:
            self.close()
            raise InputError(f"{path}: no record was found (expected an audit store that `assay audit ingest` wrote)")

    def __enter__(self) -> DamagedStoreFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and forget what was found."""
        self._file.close()
        if self._log is not None:
            self._log.close()
        self._places.close()

    def describe_loss(self) -> str | None:
        """Return what the file itself says of pages that are missing, None for a file that has as many as it says."""
        if self._expected_pages is None:
            return "the header of the file is destroyed: how much of it is missing cannot be told"
        missing = self._expected_pages - max(self._pages, max(self._log_pages, default=0))
        if missing <= 0:
            return None
        return f"the file was cut off: {missing} of {format_count(self._expected_pages, 'page')} are missing"

    def iterate_pages(self, page: int) -> Iterator[list[ChainRow]]:
        """Yield the records that were found in the order of the chain, at most `page` together."""
        after = 0
        while True:
            query = "SELECT sequence, page, offset FROM records WHERE sequence > ? ORDER BY sequence LIMIT ?"
            places = self._places.execute(query, (after, page)).fetchall()
            if not places:
                return
            yield [row for row in (self._load_record(*place) for place in places) if row is not None]
            after = places[-1][0]

    def load_salt(self, number: int) -> bytes | None:
        """Return the salt of a user, None if it is lost."""
        values = self._load_row("SELECT page, offset FROM users WHERE number = ?", number)
        salt = None if values is None else values[2]
        return salt if isinstance(salt, bytes) else None

    def load_packed_text(self, key: str) -> bytes | None:
        """Return the packed text with a key, None if it is lost."""
        values = self._load_row("SELECT page, offset FROM texts WHERE key = ?", bytes.fromhex(key))
        body = None if values is None else values[3]
        return body if isinstance(body, bytes) else None

    # ── finding rows ─────────────────────────────────────────────────────────────────────────────────────────────

    def _find_rows(self) -> None:
        """Note where each row of the chain, of users and of texts is; of two that claim one place, the erased one."""
        self._places.execute("CREATE TABLE records (sequence INTEGER PRIMARY KEY, page INT, offset INT, erased INT)")
        self._places.execute("CREATE TABLE users (number INTEGER PRIMARY KEY, page INT, offset INT)")
        self._places.execute("CREATE TABLE texts (key BLOB PRIMARY KEY, page INT, offset INT) WITHOUT ROWID")
        insert_record = (
            "INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT (sequence) DO UPDATE SET page = excluded.page, "
            "offset = excluded.offset, erased = excluded.erased WHERE excluded.erased > records.erased"
        )
        for number in range(1, max(self._pages, max(self._log_pages, default=0)) + 1):
            data = self._read_page(number)
            for cell in self._iterate_cells(number, data):
                types = cell.types
                if _is_record(types):
                    erased = types[-1] != _NULL
                    self._places.execute(insert_record, (cell.row, number, cell.offset, erased))
                elif len(types) == _USER_COLUMNS and types[0] == _NULL and types[2] == _HASH_TYPE:
                    self._places.execute(
                        "INSERT OR IGNORE INTO users VALUES (?, ?, ?)", (cell.row, number, cell.offset)
                    )
                elif _is_text(types):
                    start = cell.payload + cell.head_bytes
                    key = data[start : start + _KEY_BYTES]
                    self._places.execute("INSERT OR IGNORE INTO texts VALUES (?, ?, ?)", (key, number, cell.offset))

    def _iterate_cells(self, number: int, data: bytes) -> Iterator[_Cell]:
        """Yield the rows of a page that is a leaf of some table; what is no row is left out."""
        if len(data) < self._page_bytes or data[0] != _LEAF_OF_A_TABLE:
            return
        count = int.from_bytes(data[3:5], "big")
        end_of_pointers = _LEAF_HEADER_BYTES + 2 * count
        if end_of_pointers > self._usable_bytes:
            return
        for place in range(_LEAF_HEADER_BYTES, end_of_pointers, 2):
            offset = int.from_bytes(data[place : place + 2], "big")
            if end_of_pointers <= offset < self._usable_bytes:
                try:
                    yield _read_cell(number, offset, data)
                except (_BrokenRowError, IndexError):
                    continue

    def _open_log(self, path: Path) -> None:
        """Note the newest committed state of each page in the write-ahead log, if there is one of this file."""
        try:
            log = path.open("rb")
        except OSError:
            return
        self._log = log
        head = log.read(_LOG_HEADER.size)
        if len(head) < _LOG_HEADER.size:
            return
        magic, _, page_bytes, _, *salts, _, _ = _LOG_HEADER.unpack(head)
        if magic not in _LOG_MAGIC or page_bytes != self._page_bytes:
            return
        uncommitted: dict[int, int] = {}
        while len(head := log.read(_FRAME_HEADER.size)) == _FRAME_HEADER.size:
            page, pages_after_commit, *frame_salts, _, _ = _FRAME_HEADER.unpack(head)
            if frame_salts != salts:
                return
            uncommitted[page] = log.tell()
            log.seek(self._page_bytes, 1)
            if pages_after_commit:
                self._log_pages |= uncommitted
                uncommitted = {}

    def _read_page(self, number: int) -> bytes:
        """Return a page by its number from 1, or what is there of it."""
        if number in self._log_pages:
            assert self._log is not None
            self._log.seek(self._log_pages[number])
            data = self._log.read(self._page_bytes)
            if len(data) == self._page_bytes:
                return data
        self._file.seek((number - 1) * self._page_bytes)
        return self._file.read(self._page_bytes)

    # ── reading rows ─────────────────────────────────────────────────────────────────────────────────────────────

    def _load_record(self, sequence: int, page: int, offset: int) -> ChainRow | None:
        values = self._read_row(page, offset)
        if values is None:
            return None
        types = (object, str, str, bytes | None, int | None, int | None, bytes | None, bytes | None, bytes, bytes)
        if not all(isinstance(value, kind) for value, kind in zip(values, types, strict=False)):
            return None
        return ChainRow(sequence, *values[1:])  # type: ignore[arg-type]  # just checked

    def _load_row(self, query: str, key: int | bytes) -> Sequence[Value] | None:
        place = self._places.execute(query, (key,)).fetchone()
        return None if place is None else self._read_row(*place)

    def _read_row(self, page: int, offset: int) -> Sequence[Value] | None:
        """Return the values of a row, None if they cannot be read."""
        data = self._read_page(page)
        try:
            cell = _read_cell(page, offset, data)
            return _decode_values(cell, self._collect_payload(cell, data))
        except (_BrokenRowError, IndexError, UnicodeDecodeError):
            return None

    def _collect_payload(self, cell: _Cell, data: bytes) -> bytes:
        """Return the data of a row: what is in its page, and what is on the pages where it goes on."""
        usable = self._usable_bytes
        most = usable - 35
        if cell.size <= most:
            return data[cell.payload : cell.payload + cell.size]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (cell.size - least) % (usable - 4)
        if local > most:
            local = least
        parts = [data[cell.payload : cell.payload + local]]
        left = cell.size - local
        following = int.from_bytes(data[cell.payload + local : cell.payload + local + 4], "big")
        while left > 0:
            if not following:
                raise _BrokenRowError
            page = self._read_page(following)
            if len(page) < self._page_bytes:
                raise _BrokenRowError
            parts.append(page[4 : min(usable, 4 + left)])
            left -= usable - 4
            following = int.from_bytes(page[:4], "big")
        return b"".join(parts)


def _read_page_size(head: bytes) -> tuple[int, int]:
    """Return the size of a page and the bytes at its end that are not used; the usual ones where the header is gone."""
    size = int.from_bytes(head[16:18], "big")
    size = _MAX_PAGE_BYTES if size == 1 else size
    is_size = _MIN_PAGE_BYTES <= size <= _MAX_PAGE_BYTES and size & (size - 1) == 0
    return (size, head[20]) if head.startswith(_HEADER) and is_size else (_DEFAULT_PAGE_BYTES, 0)


def _is_record(types: tuple[int, ...]) -> bool:
    return (
        len(types) == _RECORD_COLUMNS
        and types[0] == _NULL
        and types[1] == _DAY_TYPE
        and types[8] == types[9] == _HASH_TYPE
    )


def _is_text(types: tuple[int, ...]) -> bool:
    return (
        len(types) == _TEXT_COLUMNS
        and types[0] == _HASH_TYPE
        and types[1] in _INTEGERS
        and types[2] in _INTEGERS
        and types[3] >= _FIRST_BLOB
    )


def _read_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return a number and where it ends. Raises IndexError at the end of the data."""
    number = 0
    for place in range(offset, offset + _MAX_VARINT_BYTES - 1):
        byte = data[place]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + 1
    last = offset + _MAX_VARINT_BYTES - 1
    return number << 8 | data[last], last + 1


def _read_cell(page: int, offset: int, data: bytes) -> _Cell:
    """Return what the head of a cell says. Raises _BrokenRowError or IndexError if it is none."""
    size, place = _read_varint(data, offset)
    row, payload = _read_varint(data, place)
    head_bytes, place = _read_varint(data, payload)
    end = payload + head_bytes
    if end > len(data) or head_bytes > size or row >= 2**63:
        raise _BrokenRowError
    types: list[int] = []
    while place < end:
        kind, place = _read_varint(data, place)
        types.append(kind)
    return _Cell(page, offset, row, size, payload, tuple(types), head_bytes)


def _decode_values(cell: _Cell, payload: bytes) -> list[Value]:
    """Return the values of a row. Raises _BrokenRowError or UnicodeDecodeError if it is none."""
    if len(payload) != cell.size:
        raise _BrokenRowError
    values: list[Value] = []
    place = cell.head_bytes
    for kind in cell.types:
        value, place = _decode_value(kind, payload, place)
        values.append(value)
    return values


def _decode_value(kind: int, payload: bytes, place: int) -> tuple[Value, int]:
    if kind == _NULL:
        return None, place
    if kind in (_ZERO, _ONE):
        return kind - _ZERO, place
    if kind in _INTEGER_BYTES:
        end = place + _INTEGER_BYTES[kind]
        return int.from_bytes(payload[place:end], "big", signed=True), end
    if kind == _REAL:
        return struct.unpack_from(">d", payload, place)[0], place + 8
    if kind < _FIRST_BLOB:
        raise _BrokenRowError
    end = place + (kind - _FIRST_BLOB) // 2
    if end > len(payload):
        raise _BrokenRowError
    data = payload[place:end]
    return (data.decode() if kind % 2 else data), end
