"""The verdict store as a file: creating, recognising and opening it, and setting a damaged one aside."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from assay.errors import IncompleteError, InputError, Problem

MAGIC = b"SQLite format 3\0"
APPLICATION, FORMAT = 0x41736179, 1
BUSY_SECONDS = 60.0
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")

_SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE judges(digest TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE standings(judge TEXT PRIMARY KEY, record BLOB NOT NULL, sha256 BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE rendered(digest TEXT PRIMARY KEY, body BLOB NOT NULL, sha256 BLOB NOT NULL);
CREATE TABLE verdicts(request TEXT, judge TEXT, sample INTEGER, record BLOB NOT NULL, sha256 BLOB NOT NULL,
    PRIMARY KEY (request, judge, sample));
CREATE TABLE intents(request TEXT, judge TEXT, sample INTEGER, owner TEXT NOT NULL, host TEXT NOT NULL,
    pid INTEGER NOT NULL, until REAL NOT NULL, PRIMARY KEY (request, judge, sample)) WITHOUT ROWID;
CREATE TABLE abandoned(request TEXT, judge TEXT, sample INTEGER, owner TEXT NOT NULL);
"""


def connected(address: str) -> sqlite3.Connection:
    """Connect to a file: address; every statement is its own transaction unless one is begun."""
    db = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.text_factory = lambda text: text.decode("utf-8", "replace")  # a damaged text equals no key that is looked up
    return db


def make(path: Path) -> None:
    """Create an empty store that only its owner can read; it appears complete, even if two processes create it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        with closing(connected(Path(draft).resolve().as_uri())) as db:
            db.executescript(_SCHEMA)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()


def check_kind(path: Path) -> None:
    """Raise InputError for a file that is not an SQLite database, and leave it unchanged."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise InputError(
                [Problem(str(path), None, "", "not a verdict store (expected one, or a new file)", "E_BOOK")]
            )


def check_format(db: sqlite3.Connection, path: Path) -> None:
    """Raise InputError for another program's database and for a store of another version."""
    identity = tuple(db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if identity != (APPLICATION, FORMAT):
        message = f"a database, not a verdict store of this version (got {identity}; expected {APPLICATION, FORMAT})"
        raise InputError([Problem(str(path), None, "", message, "E_BOOK")])


def is_sound(db: sqlite3.Connection) -> bool:
    """Return whether SQLite finds the structure of the file intact; the contents are checked row by row."""
    try:
        return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except UnicodeDecodeError:  # SQLite's own message quotes the damage
        return False
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorname not in DAMAGED:
            raise
        return False


def check(db: sqlite3.Connection, path: Path) -> None:
    """Refuse the file of another program or version; close a damaged one, set it aside and raise IncompleteError."""
    if is_sound(db):
        check_format(db, path)
        return
    db.close()
    aside = set_aside(path)
    raise IncompleteError(
        f"{path}: damaged, and set aside as {aside.name}; nothing was judged. Put a copy or an export in its "
        "place; without one, judging again creates a new store and asks, and pays, for everything again"
    )


def set_aside(path: Path) -> Path:
    """Rename a damaged store with its SQLite companion files; returns its new path."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    return path.rename(aside)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Keep all changes made inside the block, or none; inside another transaction it is a part of that."""
    outer = db.in_transaction
    if outer:
        yield
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:  # also on KeyboardInterrupt and SystemExit: half a change must not be kept
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def failing(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and the operating system into InputError and IncompleteError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "") in DAMAGED:
            raise IncompleteError(f"{path}: damaged: {error} (expected the store as it was written)") from error
        free = shutil.disk_usage(path.parent).free
        message = f"cannot be used: {error} ({free} bytes are free there; acknowledged verdicts are kept)"
        raise IncompleteError(f"{path}: {message}") from error
    except UnicodeDecodeError as error:
        raise IncompleteError(f"{path}: damaged (expected the store as it was written)") from error
    except FileNotFoundError as error:
        raise InputError([Problem(str(path), None, "", "no such file (expected a verdict store)", "E_FILE")]) from error
    except OSError as error:
        raise IncompleteError(f"{path}: cannot be used: {error.strerror or error}") from error
