"""The verdict store: verdicts in one SQLite file that survives kill -9 and serves several processes.

A row is a verdict's canonical JSON with its SHA-256; a row that does not match its hash counts as missing. An intent
is written before each call, so that two processes of one host do not ask the same, and so that a call that may have
been billed without leaving a verdict is counted. A damaged file is set aside, never replaced silently.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from assay.digest import canonical_json
from assay.errors import IncompleteError, InputError, Problem
from assay.judges.bookfile import (
    MAGIC,
    check,
    check_format,
    check_kind,
    connected,
    failing,
    make,
    transaction,
)
from assay.judges.rows import (
    Contents,
    Verdicts,
    key_of,
    known_only,
    packed,
    read_lines,
    sorted_verdicts,
    still_invalid,
    unpacked,
)
from assay.ports import SampleKey, Turn
from assay.verdict import JudgeIdentity, Standing, Verdict

_LIVE: set[str] = set()  # the stores that this process has open, by their tokens
R = TypeVar("R")
_CHANGED = "the record of its controls was changed (judge again: the controls are evaluated again)"
# The only text that is put into a statement (S608); values are always parameters.
_ONE = "WHERE request = ? AND judge = ? AND sample = ?"


class Book:
    """An open verdict store. One thread at a time may use it (any thread may call `keep`); processes share the file."""

    def __init__(self, path: str | Path, now: Callable[[], float] = time.time) -> None:
        """Open the store, creating the file if there is none. Raises InputError for a file that is something else, and
        IncompleteError, after renaming the file, if it is damaged."""
        self.path = Path(path)
        self.bad = 0
        self._now = now
        self._owner = secrets.token_hex(8)
        self._host = socket.gethostname()
        self._rendered: dict[str, bytes] = {}
        with failing(self.path):
            if not self.path.exists():
                make(self.path)
            check_kind(self.path)
            self._db = connected(f"{self.path.resolve().as_uri()}?mode=rw")
            try:
                check(self._db, self.path)
                self._db.execute("PRAGMA synchronous = FULL")
            except BaseException:
                self._db.close()
                raise
        _LIVE.add(self._owner)

    def close(self) -> None:
        """Close the file; calls still in progress count as abandoned."""
        if self._owner not in _LIVE:
            return
        _LIVE.discard(self._owner)
        with closing(self._db), suppress(IncompleteError), self._changing():
            mine = "FROM intents WHERE owner = ?"
            self._db.execute(f"INSERT INTO abandoned SELECT request, judge, sample, owner {mine}", (self._owner,))
            self._db.execute(f"DELETE {mine}", (self._owner,))

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make all changes inside the block in one transaction, so that the disk is waited for once."""
        with self._changing():
            yield

    def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | Turn]:
        """Return the verdict recorded for each key, or who asks for it; see `VerdictStore`."""
        with self._changing():
            return [self._claim(key, self._now() + seconds) for key in keys]

    def save(self, verdicts: Sequence[Verdict]) -> None:
        """Store verdicts, with the bytes that were sent for them; once this returns they survive a loss of power."""
        rendered, self._rendered = self._rendered, {}  # `keep` may be called by another thread meanwhile
        with self._changing():
            bodies = [(name, body, hashlib.sha256(body).digest()) for name, body in rendered.items()]
            self._db.executemany("INSERT OR IGNORE INTO rendered VALUES (?, ?, ?)", bodies)
            for verdict in verdicts:
                key = key_of(verdict)
                row = (*key, *packed(verdict))
                new = self._db.execute("INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)", row).rowcount
                if not new and ((before := self._read(key)) is None or before.unscored is not None):
                    self._db.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", row)
                self._give_back(key)

    def release(self, keys: Sequence[SampleKey]) -> None:
        """Release claims for which no call was made."""
        with self._changing():
            for key in keys:
                self._give_back(key)

    def register(self, judge: JudgeIdentity) -> None:
        """Record the identity of a judge; verdicts of judges that are not recorded are not read."""
        with self._changing():
            self._db.execute("INSERT OR REPLACE INTO judges VALUES (?, ?)", (judge.digest, canonical_json(judge)))

    def mark(self, standing: Standing) -> Standing:
        """Record how a judge answered its controls and anchors; returns the status merged with the recorded one.

        A judge that failed its controls stays invalid in this store, because later runs may ask fewer controls.
        """
        with self._changing():
            cursor = self._db.execute("SELECT judge, record, sha256 FROM standings WHERE judge = ?", (standing.judge,))
            before = _decode_standing(*(cursor.fetchone() or (standing.judge, None, None)))
            standing = still_invalid(before, standing)
            record = canonical_json(standing)
            row = (standing.judge, record, hashlib.sha256(record).digest())
            self._db.execute("INSERT OR REPLACE INTO standings VALUES (?, ?, ?)", row)
        return standing

    def keep(self, name: str, body: bytes) -> None:
        """Keep the request bytes, without secrets, under their digest; they are written with the next verdict."""
        self._rendered[name] = body

    def rendered(self, name: str) -> bytes | None:
        """Return the request bytes with this digest; None if they are not stored, or were changed."""
        with failing(self.path):
            row = self._db.execute("SELECT body, sha256 FROM rendered WHERE digest = ?", (name,)).fetchone()
        body, sha256 = row or (None, None)
        return body if isinstance(body, bytes) and hashlib.sha256(body).digest() == sha256 else None

    def contents(self) -> Contents:
        """Return everything that is recorded; changed rows are left out with a warning."""
        with failing(self.path):
            return _contents(self._db)

    @property
    def double_bills(self) -> int:
        """How many calls may have been billed without a verdict: their process died, or its lease ran out."""
        with failing(self.path):
            abandoned = self._db.execute("SELECT count(*) FROM abandoned").fetchone()[0]
            rows = self._db.execute("SELECT owner, host, pid, until FROM intents").fetchall()
        return int(abandoned) + sum(not self._is_alive(*row) for row in rows)

    def _claim(self, key: SampleKey, until: float) -> Verdict | Turn:
        verdict = self._read(key)
        if verdict is not None and verdict.unscored is None:
            return verdict
        intent = (*key, self._owner, self._host, os.getpid(), until)
        if self._db.execute("INSERT OR IGNORE INTO intents VALUES (?, ?, ?, ?, ?, ?, ?)", intent).rowcount:
            return Turn.MINE
        row = self._db.execute(f"SELECT owner, host, pid, until FROM intents {_ONE}", key).fetchone()  # noqa: S608
        if self._is_alive(*row):
            return Turn.BUSY
        self._db.execute("INSERT INTO abandoned VALUES (?, ?, ?, ?)", (*key, row[0]))
        self._db.execute("INSERT OR REPLACE INTO intents VALUES (?, ?, ?, ?, ?, ?, ?)", intent)
        return Turn.MINE

    def _is_alive(self, owner: str, host: str, pid: int, until: float) -> bool:
        if until < self._now():
            return False
        if host != self._host:
            return True
        if pid == os.getpid():
            return owner in _LIVE
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass
        return True

    def _read(self, key: SampleKey) -> Verdict | None:
        row = self._db.execute(f"SELECT record, sha256 FROM verdicts {_ONE}", key).fetchone()  # noqa: S608
        if row is None:
            return None
        verdict = unpacked(key, *row)
        self.bad += verdict is None
        return verdict

    def _give_back(self, key: SampleKey) -> None:
        self._db.execute(f"DELETE FROM intents {_ONE} AND owner = ?", (*key, self._owner))  # noqa: S608

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold one transaction, with errors translated; inside another one it is a part of that."""
        with failing(self.path), transaction(self._db):
            yield


def read_contents(path: str | Path) -> Contents:
    """Read a verdict store or an export of one, without changing it; verdicts of unknown judges are left out.

    Raises InputError for a file that is neither, IncompleteError for a damaged one.
    """
    file_path = Path(path)
    with failing(file_path):
        if file_path.exists() and not file_path.is_file():  # a device has no end
            raise InputError(
                [Problem(str(file_path), None, "", "no file (expected a verdict store, or its export)", "E_FILE")]
            )
        with file_path.open("rb") as file:
            is_book = file.read(len(MAGIC)) == MAGIC
        if not is_book:
            return known_only(read_lines(file_path))
        address = file_path.resolve().as_uri()
        try:
            with closing(connected(f"{address}?mode=ro")) as db:
                check_format(db, file_path)
                return known_only(_contents(db))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname not in ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY"):
                raise
        with closing(connected(f"{address}?immutable=1")) as db:  # a folder file_path nothing can be written
            check_format(db, file_path)
            return known_only(_contents(db))


def load_verdicts(
    path: str | Path, warn: Callable[[str], None] = lambda _: None
) -> tuple[list[JudgeIdentity], Verdicts]:
    """Return the judges of a verdict store or an export, and their verdicts by judge, request and sample.

    `warn` is called for rows that were left out because they were changed. Raises the errors of `read_contents`.
    """
    contents = read_contents(path)
    for warning in contents.warnings:
        warn(warning)
    return contents.judges, contents.verdicts


def _contents(db: sqlite3.Connection) -> Contents:
    contents, verdicts, bad = Contents(), dict[SampleKey, Verdict](), 0
    for name, record in db.execute("SELECT digest, record FROM judges ORDER BY digest"):
        judge = _decode_record(record, JudgeIdentity)
        if judge is not None and judge.digest == name:  # else its verdicts count as those of an unknown judge
            contents.judges.append(judge)
    for name, record, sha256 in db.execute("SELECT judge, record, sha256 FROM standings ORDER BY judge"):
        standing = _decode_standing(name, record, sha256)
        if standing is None:
            contents.warnings.append(
                f"the record of how judge {name} answered its controls was changed: it may not gate"
            )
        contents.standings[name] = standing or Standing(name, invalid=True, reasons=(_CHANGED,))
    for *key, record, sha256 in db.execute("SELECT request, judge, sample, record, sha256 FROM verdicts"):
        verdict = unpacked((key[0], key[1], key[2]), record, sha256)
        if verdict is None:
            bad += 1
        else:
            verdicts[key_of(verdict)] = verdict
    if bad:
        contents.warnings.append(f"{bad} verdicts do not match their sha256: they were changed, and are left out")
    contents.verdicts = sorted_verdicts(verdicts.values())
    return contents


def _decode_standing(name: str, record: object, sha256: object) -> Standing | None:
    """Return the status in a row; None if judge, record and hash do not match."""
    if not isinstance(record, bytes) or hashlib.sha256(record).digest() != sha256:
        return None
    standing = _decode_record(record, Standing)
    return standing if standing is not None and standing.judge == name else None


def _decode_record(record: Any, kind: type[R]) -> R | None:
    try:
        return msgspec.json.decode(record, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
        return None
