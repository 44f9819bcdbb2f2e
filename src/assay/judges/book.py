"""The verdict book: what judges said, in one SQLite file that survives kill -9 and several processes.

A row is a verdict's canonical JSON with its SHA-256; a row that does not belong to its hash is a miss, never a verdict.
An intent is written before each call, so that two processes of one host do not ask the same, and that a call which may
have been billed without leaving a verdict is counted. A damaged file is set aside, never replaced in silence.
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

_LIVE: set[str] = set()  # the books that this process has open, by their tokens
R = TypeVar("R")
_CHANGED = "what is recorded of them was changed since (judge again: they are looked at anew)"
# The only text that is put into a statement (S608); values are always parameters.
_ONE = "WHERE request = ? AND judge = ? AND sample = ?"


class Book:
    """An open book, a `ports.VerdictStore`. One thread at a time may use it (`keep` any); processes share the file."""

    def __init__(self, path: str | Path, now: Callable[[], float] = time.time) -> None:
        """Open the book, making it where there is none. Raises InputError for a file that is something else, and
        IncompleteError, with the file renamed, where it is damaged."""
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
        """Close the file; calls that are still under way count as abandoned."""
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
        """Make what is changed inside one transaction: the disk is waited for once."""
        with self._changing():
            yield

    def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | Turn]:
        """Return what is known of each key, or whose turn it is; see `ports.VerdictStore`."""
        with self._changing():
            return [self._claim(key, self._now() + seconds) for key in keys]

    def save(self, verdicts: Sequence[Verdict]) -> None:
        """Keep verdicts, with the bytes that were sent for them; when this returns they survive a loss of power."""
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
        """Give back claims for which nothing was asked."""
        with self._changing():
            for key in keys:
                self._give_back(key)

    def register(self, judge: JudgeIdentity) -> None:
        """Name a judge, so that its verdicts can be told from others'."""
        with self._changing():
            self._db.execute("INSERT OR REPLACE INTO judges VALUES (?, ?)", (judge.digest, canonical_json(judge)))

    def mark(self, standing: Standing) -> Standing:
        """Keep how a judge stands where the right answer is known; returns what stands now.

        A judge that failed its controls stays invalid in this book: judging less of it later asks fewer of them.
        """
        with self._changing():
            found = self._db.execute("SELECT judge, record, sha256 FROM standings WHERE judge = ?", (standing.judge,))
            standing = still_invalid(_standing(*(found.fetchone() or (standing.judge, None, None))), standing)
            record = canonical_json(standing)
            row = (standing.judge, record, hashlib.sha256(record).digest())
            self._db.execute("INSERT OR REPLACE INTO standings VALUES (?, ?, ?)", row)
        return standing

    def keep(self, name: str, body: bytes) -> None:
        """Keep what was sent, without secrets, named by the digest of what was sent; written with the next verdict."""
        self._rendered[name] = body

    def rendered(self, name: str) -> bytes | None:
        """Return the bytes that were sent under a digest; None where they are not kept, or were changed."""
        with failing(self.path):
            row = self._db.execute("SELECT body, sha256 FROM rendered WHERE digest = ?", (name,)).fetchone()
        body, sha256 = row or (None, None)
        return body if isinstance(body, bytes) and hashlib.sha256(body).digest() == sha256 else None

    def contents(self) -> Contents:
        """Return everything that is recorded; what was changed is left out with a warning."""
        with failing(self.path):
            return _contents(self._db)

    @property
    def double_bills(self) -> int:
        """How many calls may have been billed without a verdict: their process died, or its lease ran out."""
        with failing(self.path):
            known = self._db.execute("SELECT count(*) FROM abandoned").fetchone()[0]
            rows = self._db.execute("SELECT owner, host, pid, until FROM intents").fetchall()
        return int(known) + sum(not self._is_alive(*row) for row in rows)

    def _claim(self, key: SampleKey, until: float) -> Verdict | Turn:
        found = self._read(key)
        if found is not None and found.unscored is None:
            return found
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
        """One transaction: all of it or nothing is kept. Inside another one it is a part of that."""
        with failing(self.path), transaction(self._db):
            yield


def read_contents(path: str | Path) -> Contents:
    """Read a book or an export of one, without changing it; verdicts of judges that are not named are left out.

    Raises InputError for a file that is neither, IncompleteError for a damaged one.
    """
    where = Path(path)
    with failing(where):
        if where.exists() and not where.is_file():  # a device has no end
            raise InputError(
                [Problem(str(where), None, "", "no file (expected a verdict book, or its export)", "E_FILE")]
            )
        with where.open("rb") as file:
            is_book = file.read(len(MAGIC)) == MAGIC
        if not is_book:
            return known_only(read_lines(where))
        address = where.resolve().as_uri()
        try:
            with closing(connected(f"{address}?mode=ro")) as db:
                check_format(db, where)
                return known_only(_contents(db))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname not in ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY"):
                raise
        with closing(connected(f"{address}?immutable=1")) as db:  # a folder where nothing can be written
            check_format(db, where)
            return known_only(_contents(db))


def load_verdicts(
    path: str | Path, warn: Callable[[str], None] = lambda _: None
) -> tuple[list[JudgeIdentity], Verdicts]:
    """Return the judges of a book or an export, and their verdicts by judge, request and sample.

    `warn` is told what was left out because it was changed. Raises as `read_contents`.
    """
    contents = read_contents(path)
    for warning in contents.warnings:
        warn(warning)
    return contents.judges, contents.verdicts


def _contents(db: sqlite3.Connection) -> Contents:
    contents, verdicts, bad = Contents(), dict[SampleKey, Verdict](), 0
    for name, record in db.execute("SELECT digest, record FROM judges ORDER BY digest"):
        judge = _unpacked(record, JudgeIdentity)
        if judge is not None and judge.digest == name:  # else its verdicts are strangers' and left out as such
            contents.judges.append(judge)
    for name, record, sha256 in db.execute("SELECT judge, record, sha256 FROM standings ORDER BY judge"):
        standing = _standing(name, record, sha256)
        if standing is None:
            contents.warnings.append(f"how judge {name} stood in its controls was changed: it may not gate")
        contents.standings[name] = standing or Standing(name, invalid=True, reasons=(_CHANGED,))
    for *key, record, sha256 in db.execute("SELECT request, judge, sample, record, sha256 FROM verdicts"):
        verdict = unpacked((key[0], key[1], key[2]), record, sha256)
        if verdict is None:
            bad += 1
        else:
            verdicts[key_of(verdict)] = verdict
    if bad:
        contents.warnings.append(f"{bad} verdicts do not belong to their sha256: changed since, and left out")
    contents.verdicts = sorted_verdicts(verdicts.values())
    return contents


def _standing(name: str, record: object, sha256: object) -> Standing | None:
    """Return the standing of a row; None where judge, record and hash do not belong together."""
    if not isinstance(record, bytes) or hashlib.sha256(record).digest() != sha256:
        return None
    standing = _unpacked(record, Standing)
    return standing if standing is not None and standing.judge == name else None


def _unpacked(record: Any, kind: type[R]) -> R | None:
    try:
        return msgspec.json.decode(record, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
        return None
