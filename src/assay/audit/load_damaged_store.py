"""Reads what is left of a damaged audit store, and says which records are lost.

A SQLite file is read page by page, whatever SQLite thinks of it. A PostgreSQL database is asked range by range: a range
that cannot be read is halved until the records that are lost are known by number.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy as sa

from assay.audit.audit_store import AuditStore, ChainRow, load_texts, open_audit_store
from assay.audit.damaged_store_file import DamagedStoreFile
from assay.audit.results import ExportResult
from assay.audit.schema import RECORDS, USERS
from assay.audit.write_records import PAGE, RecordSource
from assay.records.errors import IncompleteError


@contextmanager
def open_salvaged(address: str) -> Iterator[RecordSource]:
    """Yield what is left of a store. Raises InputError where that is nothing, IncompleteError where a server fails."""
    if "://" in address:
        with open_audit_store(address, migrate=False) as store:
            yield SalvagedDatabase(store)
    else:
        with DamagedStoreFile(address) as file:
            yield SalvagedFile(file, address)


class SalvagedFile:
    """What is left of a SQLite file."""

    def __init__(self, file: DamagedStoreFile, path: str) -> None:
        self._file, self._path = file, path

    def iterate_pages(self, result: ExportResult) -> Iterator[list[ChainRow]]:
        """Yield the records that are left in order; the numbers of the others are noted as ranges."""
        expected = 1
        for rows in self._file.iterate_pages(PAGE):
            expected = _note_gaps(rows, expected, result)
            yield rows
        last = _ask_last_sequence(self._path)
        _note_end(last, expected, self._file.describe_loss() or "the end of the store cannot be read", result)

    def load_salts(self, owners: set[int]) -> dict[int, bytes]:
        """Return the salts of users that are left."""
        found = {owner: self._file.load_salt(owner) for owner in owners}
        return {owner: salt for owner, salt in found.items() if salt is not None}

    def load_texts(self, keys: set[str]) -> dict[str, str]:
        """Return the texts that are left."""
        texts: dict[str, str] = {}
        for key in keys:
            packed = self._file.load_packed_text(key)
            try:
                if packed is not None:
                    texts[key] = zlib.decompress(packed).decode()
            except (zlib.error, UnicodeDecodeError):
                continue
        return texts


class SalvagedDatabase:
    """What a PostgreSQL database with damaged pages still gives."""

    def __init__(self, store: AuditStore) -> None:
        self._store = store

    def iterate_pages(self, result: ExportResult) -> Iterator[list[ChainRow]]:
        """Yield the records that can be read in order; the numbers of the others are noted as ranges."""
        last = self._read_last_sequence()
        expected = 1
        for start in range(1, (last or 0) + 1, PAGE):
            rows = list(self._read_range(start, min(start + PAGE - 1, last or 0)))
            expected = _note_gaps(rows, expected, result)
            yield rows
        _note_end(last, expected, "the end of the store cannot be read", result)

    def load_salts(self, owners: set[int]) -> dict[int, bytes]:
        """Return the salts of users that can be read."""
        salts: dict[int, bytes] = {}
        for owner in sorted(owners):
            try:
                with self._store.reading() as connection:
                    query = sa.select(USERS.c.salt).where(USERS.c.number == owner)
                    salt = connection.execute(query).scalar_one_or_none()
            except IncompleteError:
                continue
            if salt is not None:
                salts[owner] = bytes(salt)
        return salts

    def load_texts(self, keys: set[str]) -> dict[str, str]:
        """Return the texts that can be read."""
        return self._load_texts(sorted(keys))

    def _load_texts(self, keys: Sequence[str]) -> dict[str, str]:
        """Of many texts that cannot be read together, return those that can be by themselves."""
        if not keys:
            return {}
        try:
            return load_texts(self._store, keys)
        except (IncompleteError, zlib.error, UnicodeDecodeError):
            if len(keys) == 1:
                return {}
        middle = len(keys) // 2
        return self._load_texts(keys[:middle]) | self._load_texts(keys[middle:])

    def _read_range(self, first: int, last: int) -> Iterator[ChainRow]:
        """Yield the records from first to last that can be read."""
        query = sa.select(RECORDS).where(RECORDS.c.sequence.between(first, last)).order_by(RECORDS.c.sequence)
        try:
            with self._store.reading() as connection:
                rows = [ChainRow(*row) for row in connection.execute(query)]
        except IncompleteError:
            if first < last:
                middle = (first + last) // 2
                yield from self._read_range(first, middle)
                yield from self._read_range(middle + 1, last)
            return
        yield from rows

    def _read_last_sequence(self) -> int | None:
        """Return the number of the newest record, None where the store does not tell any more."""
        try:
            with self._store.reading() as connection:
                return int(connection.execute(sa.select(sa.func.max(RECORDS.c.sequence))).scalar_one() or 0)
        except IncompleteError:
            return None


def _ask_last_sequence(path: str) -> int | None:
    """Return the number of the newest record of a file by SQLite, None where it cannot tell any more."""
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT max(sequence) FROM records").fetchone()[0] or 0)
    except sqlite3.Error:
        return None


def _note_gaps(rows: Sequence[ChainRow], expected: int, result: ExportResult) -> int:
    """Note the numbers that are missing before and between some records, and return the one that comes next."""
    for row in rows:
        if row.sequence > expected:
            result.lost.append((expected, row.sequence - 1))
        expected = row.sequence + 1
    return expected


def _note_end(last: int | None, expected: int, reason: str, result: ExportResult) -> None:
    """Note what is lost after the last record that was read."""
    if last is None:
        result.notices.append(f"{reason}; records after number {expected - 1}, if there were any, are lost")
    elif last >= expected:
        result.lost.append((expected, last))
