"""The verdict store: verdicts in one SQLite file that survives kill -9 and serves several processes.

A row is a verdict's canonical JSON with its SHA-256; a row that does not match its hash counts as missing. An intent
is written before each call, so that two processes of one host do not ask the same, and so that a call that may have
been billed without leaving a verdict is counted. A damaged file is set aside, never replaced silently. Stores can be
exported as JSON lines, which can be read, compared and committed with the code, and imported again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from assay.calls.interfaces import ClaimState, SampleKey
from assay.formats.file_io import write_atomically
from assay.formats.run_files.overwriting import refuse_overwriting
from assay.judging.billing import may_have_been_billed
from assay.judging.verdict_files import (
    StoreContents,
    count_verdicts,
    decode_review,
    decode_verdict,
    drop_unknown_judges,
    encode_lines,
    encode_review,
    encode_verdict,
    merge_status,
    read_export,
    review_key,
    sample_key,
    sort_verdicts,
)
from assay.records.counts import format_count
from assay.records.digest import encode_canonical_json
from assay.records.errors import IncompleteError, InputError, Problem
from assay.records.verdicts import JudgeIdentity, JudgeStatus, Verdict, VerdictReview

SQLITE_MAGIC = b"SQLite format 3\0"
APPLICATION_ID, STORE_FORMAT = 0x41736179, 3
_STATUS_TABLES = {1: "standings", 2: "judge_statuses", STORE_FORMAT: "judge_statuses"}
"""The table of judge statuses by the format of the store: older formats are read, and upgraded when written."""
_FIRST_FORMAT_WITH_REVIEWS = 3
_REVIEWS_TABLE = """
CREATE TABLE reviews(request TEXT, item TEXT, reviewer TEXT, record BLOB NOT NULL, sha256 BLOB NOT NULL,
    PRIMARY KEY (request, item, reviewer))"""
BUSY_SECONDS = 60.0
DAMAGE_ERRORS = ("SQLITE_CORRUPT", "SQLITE_NOTADB")

_SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {STORE_FORMAT};
CREATE TABLE judges(digest TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE judge_statuses(judge TEXT PRIMARY KEY, record BLOB NOT NULL, sha256 BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE rendered(digest TEXT PRIMARY KEY, body BLOB NOT NULL, sha256 BLOB NOT NULL);
CREATE TABLE verdicts(request TEXT, judge TEXT, sample INTEGER, record BLOB NOT NULL, sha256 BLOB NOT NULL,
    PRIMARY KEY (request, judge, sample));
CREATE TABLE intents(request TEXT, judge TEXT, sample INTEGER, owner TEXT NOT NULL, host TEXT NOT NULL,
    pid INTEGER NOT NULL, until REAL NOT NULL, PRIMARY KEY (request, judge, sample)) WITHOUT ROWID;
CREATE TABLE abandoned(request TEXT, judge TEXT, sample INTEGER, owner TEXT NOT NULL);
{_REVIEWS_TABLE};
"""


def connect_file(address: str) -> sqlite3.Connection:
    """Connect to a file: address; every statement is its own transaction unless one is begun."""
    db = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.text_factory = lambda text: text.decode("utf-8", "replace")  # a damaged text equals no key that is looked up
    return db


def create_store(path: Path) -> None:
    """Create an empty store that only its owner can read; it appears complete, even if two processes create it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        with closing(connect_file(Path(draft).resolve().as_uri())) as db:
            db.executescript(_SCHEMA)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()


def require_sqlite_file(path: Path) -> None:
    """Raise InputError for a file that is not an SQLite database, and leave it unchanged."""
    with path.open("rb") as file:
        if file.read(len(SQLITE_MAGIC)) != SQLITE_MAGIC:
            raise InputError(
                [Problem(str(path), None, "", "not a verdict store (expected one, or a new file)", "E_STORE")]
            )


def require_store_format(db: sqlite3.Connection, path: Path) -> int:
    """Return the format of a store. Raises InputError for another program's database and for an unknown format."""
    application, store_format = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if application != APPLICATION_ID or store_format not in _STATUS_TABLES:
        message = (
            "a database, not a verdict store of this version "
            f"(got {application, store_format}; expected {APPLICATION_ID, STORE_FORMAT})"
        )
        raise InputError([Problem(str(path), None, "", message, "E_STORE")])
    return int(store_format)


def upgrade_store(db: sqlite3.Connection, path: Path) -> None:
    """Bring a store of an older format up to date, completely or not at all, even if two processes do it at once."""
    if require_store_format(db, path) == STORE_FORMAT:
        return
    with hold_transaction(db):
        store_format = require_store_format(db, path)  # another process may have been faster
        if store_format != STORE_FORMAT:
            # Table names and format come from the constants above, never from the file.
            if _STATUS_TABLES[store_format] != _STATUS_TABLES[STORE_FORMAT]:
                db.execute(f"ALTER TABLE {_STATUS_TABLES[store_format]} RENAME TO {_STATUS_TABLES[STORE_FORMAT]}")
            db.execute(_REVIEWS_TABLE)
            db.execute(f"PRAGMA user_version = {STORE_FORMAT}")


def is_intact(db: sqlite3.Connection) -> bool:
    """Return whether SQLite finds the structure of the file intact; the contents are checked row by row."""
    try:
        return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except UnicodeDecodeError:  # SQLite's own message quotes the damage
        return False
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorname not in DAMAGE_ERRORS:
            raise
        return False


def require_intact(db: sqlite3.Connection, path: Path) -> None:
    """Refuse the file of another program or version; close a damaged one, set it aside and raise IncompleteError."""
    if is_intact(db):
        require_store_format(db, path)
        return
    db.close()
    aside = set_damaged_aside(path)
    raise IncompleteError(
        f"{path}: damaged, and set aside as {aside.name}; nothing was judged. Put a copy or an export in its "
        "place; without one, judging again creates a new store and asks, and pays, for everything again"
    )


def set_damaged_aside(path: Path) -> Path:
    """Rename a damaged store with its SQLite companion files; returns its new path."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    return path.rename(aside)


@contextmanager
def hold_transaction(db: sqlite3.Connection) -> Iterator[None]:
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
def translate_errors(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and the operating system into InputError and IncompleteError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "") in DAMAGE_ERRORS:
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


_LIVE: set[str] = set()  # the stores that this process has open, by their tokens
R = TypeVar("R")
_CHANGED = "the record of its controls was changed (judge again: the controls are evaluated again)"
# The only text that is put into a statement (S608); values are always parameters.
_ONE = "WHERE request = ? AND judge = ? AND sample = ?"


class SqliteVerdictStore:
    """An open verdict store. One thread at a time may use it (any thread may call `keep_rendered`); processes share the
    file.
    """

    def __init__(self, path: str | Path, now: Callable[[], float] = time.time, *, retry_errors: bool = False) -> None:
        """Open the store, creating the file if there is none. `retry_errors`: samples that were paid for and gave no
        verdict can be claimed again. Raises InputError for a file that is something else, and IncompleteError, after
        renaming the file, if it is damaged."""
        self.path = Path(path)
        self._retry_errors = retry_errors
        self.changed_rows = 0
        self._now = now
        self._owner = secrets.token_hex(8)
        self._host = socket.gethostname()
        self._rendered: dict[str, bytes] = {}
        with translate_errors(self.path):
            if not self.path.exists():
                create_store(self.path)
            require_sqlite_file(self.path)
            self._db = connect_file(f"{self.path.resolve().as_uri()}?mode=rw")
            try:
                require_intact(self._db, self.path)
                upgrade_store(self._db, self.path)
                self._db.execute("PRAGMA synchronous = FULL")
            except BaseException:  # also on Ctrl-C: nobody else closes the database
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

    def __enter__(self) -> SqliteVerdictStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes inside the block in one transaction, so that the disk is waited for once."""
        with self._changing():
            yield

    def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | ClaimState]:
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
                key = sample_key(verdict)
                row = (*key, *encode_verdict(verdict))
                new = self._db.execute("INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)", row).rowcount
                if not new and ((before := self._read(key)) is None or before.unscored is not None):
                    self._db.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", row)
                self._give_back(key)

    def save_reviews(self, reviews: Sequence[VerdictReview], *, replace: bool = False) -> None:
        """Store what people settled; an earlier review of the same item by the same person stays unless `replace`."""
        with self._changing():
            for review in reviews:
                row = (*review_key(review), *encode_review(review))
                new = self._db.execute("INSERT OR IGNORE INTO reviews VALUES (?, ?, ?, ?, ?)", row).rowcount
                if not new and replace:
                    self._db.execute("INSERT OR REPLACE INTO reviews VALUES (?, ?, ?, ?, ?)", row)

    def release(self, keys: Sequence[SampleKey]) -> None:
        """Release claims for which no call was made."""
        with self._changing():
            for key in keys:
                self._give_back(key)

    def register_judge(self, judge: JudgeIdentity) -> None:
        """Record the identity of a judge; verdicts of judges that are not recorded are not read."""
        with self._changing():
            self._db.execute(
                "INSERT OR REPLACE INTO judges VALUES (?, ?)", (judge.digest, encode_canonical_json(judge))
            )

    def record_status(self, judge_status: JudgeStatus, *, is_rechecked: bool = False) -> JudgeStatus:
        """Record how a judge answered its controls and anchors; returns the status merged with the recorded one.

        A judge that failed its controls stays invalid in this store, because later runs may ask fewer controls, unless
        it `is_rechecked` with more of them.
        """
        with self._changing():
            cursor = self._db.execute(
                "SELECT judge, record, sha256 FROM judge_statuses WHERE judge = ?", (judge_status.judge,)
            )
            before = _decode_status(*(cursor.fetchone() or (judge_status.judge, None, None)))
            judge_status = merge_status(before, judge_status, is_rechecked=is_rechecked)
            record = encode_canonical_json(judge_status)
            row = (judge_status.judge, record, hashlib.sha256(record).digest())
            self._db.execute("INSERT OR REPLACE INTO judge_statuses VALUES (?, ?, ?)", row)
        return judge_status

    def keep_rendered(self, name: str, body: bytes) -> None:
        """Keep the request bytes, without secrets, under their digest; they are written with the next verdict."""
        self._rendered[name] = body

    def load_contents(self) -> StoreContents:
        """Return everything that is recorded; changed rows are left out with a warning."""
        with translate_errors(self.path):
            return _read_contents(self._db, STORE_FORMAT)

    def count_double_bills(self, judge: str) -> int:
        """Return how many calls of one judge may have been billed without a verdict."""
        with translate_errors(self.path):
            count = "SELECT count(*) FROM abandoned WHERE judge = ?"
            abandoned = self._db.execute(count, (judge,)).fetchone()[0]
            chosen = "SELECT owner, host, pid, until FROM intents WHERE judge = ?"
            rows = self._db.execute(chosen, (judge,)).fetchall()
        return int(abandoned) + sum(not self._is_alive(*row) for row in rows)

    def _claim(self, key: SampleKey, until: float) -> Verdict | ClaimState:
        verdict = self._read(key)
        if verdict is not None and (
            verdict.unscored is None or (not self._retry_errors and may_have_been_billed(verdict))
        ):
            return verdict
        intent = (*key, self._owner, self._host, os.getpid(), until)
        if self._db.execute("INSERT OR IGNORE INTO intents VALUES (?, ?, ?, ?, ?, ?, ?)", intent).rowcount:
            return ClaimState.CLAIMED
        row = self._db.execute(f"SELECT owner, host, pid, until FROM intents {_ONE}", key).fetchone()  # noqa: S608
        if self._is_alive(*row):
            return ClaimState.BUSY
        self._db.execute("INSERT INTO abandoned VALUES (?, ?, ?, ?)", (*key, row[0]))
        self._db.execute("INSERT OR REPLACE INTO intents VALUES (?, ?, ?, ?, ?, ?, ?)", intent)
        return ClaimState.CLAIMED

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
        verdict = decode_verdict(key, *row)
        self.changed_rows += verdict is None
        return verdict

    def _give_back(self, key: SampleKey) -> None:
        self._db.execute(f"DELETE FROM intents {_ONE} AND owner = ?", (*key, self._owner))  # noqa: S608

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold one transaction, with errors translated; inside another one it is a part of that."""
        with translate_errors(self.path), hold_transaction(self._db):
            yield


def read_store(path: str | Path) -> StoreContents:
    """Read a verdict store or an export of one, without changing it; verdicts of unknown judges are left out.

    Raises InputError for a file that is neither, IncompleteError for a damaged one.
    """
    file_path = Path(path)
    with translate_errors(file_path):
        if file_path.exists() and not file_path.is_file():  # a device has no end
            raise InputError(
                [Problem(str(file_path), None, "", "no file (expected a verdict store, or its export)", "E_FILE")]
            )
        with file_path.open("rb") as file:
            is_store = file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
        if not is_store:
            return drop_unknown_judges(read_export(file_path))
        address = file_path.resolve().as_uri()
        try:
            with closing(connect_file(f"{address}?mode=ro")) as db:
                return drop_unknown_judges(_read_contents(db, require_store_format(db, file_path)))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname not in ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY"):
                raise
        with closing(connect_file(f"{address}?immutable=1")) as db:  # a folder in which nothing can be written
            return drop_unknown_judges(_read_contents(db, require_store_format(db, file_path)))


def add_reviews(path: str | Path, reviews: Sequence[VerdictReview], *, replace: bool = False) -> list[VerdictReview]:
    """Add what people settled to a verdict store or to an export of one; return all reviews that it then has.

    An earlier review of the same item by the same person stays unless `replace`. Raises InputError for a file that is
    neither, IncompleteError for a damaged one and for a failed write.
    """
    file_path = Path(path)
    with translate_errors(file_path), file_path.open("rb") as file:
        is_store = file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    if is_store:
        with closing(SqliteVerdictStore(file_path)) as store:
            store.save_reviews(reviews, replace=replace)
            return store.load_contents().reviews
    contents = read_export(file_path)
    merged = {review_key(review): review for review in contents.reviews}
    for review in reviews:
        if replace or review_key(review) not in merged:
            merged[review_key(review)] = review
    contents.reviews = sorted(merged.values())
    write_atomically(str(file_path), encode_lines(contents))
    return contents.reviews


def _read_contents(db: sqlite3.Connection, store_format: int) -> StoreContents:
    contents, verdicts, bad = StoreContents(), dict[SampleKey, Verdict](), 0
    for name, record in db.execute("SELECT digest, record FROM judges ORDER BY digest"):
        judge = _decode_record(record, JudgeIdentity)
        if judge is not None and judge.digest == name:  # else its verdicts count as those of an unknown judge
            contents.judges.append(judge)
    statement = f"SELECT judge, record, sha256 FROM {_STATUS_TABLES[store_format]} ORDER BY judge"  # noqa: S608  # a constant of this file
    for name, record, sha256 in db.execute(statement):
        judge_status = _decode_status(name, record, sha256)
        if judge_status is None:
            contents.warnings.append(
                f"the record of how judge {name} answered its controls was changed: it may not gate"
            )
        contents.statuses[name] = judge_status or JudgeStatus(name, invalid=True, reasons=(_CHANGED,))
    for *key, record, sha256 in db.execute("SELECT request, judge, sample, record, sha256 FROM verdicts"):
        verdict = decode_verdict((key[0], key[1], key[2]), record, sha256)
        if verdict is None:
            bad += 1
        else:
            verdicts[sample_key(verdict)] = verdict
    if bad:
        contents.warnings.append(
            f"{format_count(bad, 'verdict does', 'verdicts do')} not match the recorded sha256: changed, and left out"
        )
    contents.verdicts = sort_verdicts(verdicts.values())
    if store_format >= _FIRST_FORMAT_WITH_REVIEWS:
        _read_reviews(db, contents)
    return contents


def _read_reviews(db: sqlite3.Connection, contents: StoreContents) -> None:
    bad = 0
    for *key, record, sha256 in db.execute("SELECT request, item, reviewer, record, sha256 FROM reviews"):
        review = decode_review((key[0], key[1], key[2]), record, sha256)
        if review is None:
            bad += 1
        else:
            contents.reviews.append(review)
    if bad:
        contents.warnings.append(
            f"{format_count(bad, 'review does', 'reviews do')} not match the recorded sha256: changed, and left out"
        )
    contents.reviews.sort()


def _decode_status(name: str, record: object, sha256: object) -> JudgeStatus | None:
    """Return the status in a row; None if judge, record and hash do not match."""
    if not isinstance(record, bytes) or hashlib.sha256(record).digest() != sha256:
        return None
    judge_status = _decode_record(record, JudgeStatus)
    return judge_status if judge_status is not None and judge_status.judge == name else None


def _decode_record(record: Any, kind: type[R]) -> R | None:
    try:
        return msgspec.json.decode(record, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
        return None


def export_verdict_store(store_path: str, export_path: str) -> tuple[int, list[str]]:
    """Write the judges, verdicts and reviews of a store as JSON lines.

    Returns the number of verdicts, and what was left out. Raises InputError for a file that is not a verdict store,
    IncompleteError for a damaged one and for a failed write.
    """
    refuse_overwriting([export_path], [store_path], into_runs=True)
    contents = read_store(store_path)
    write_atomically(export_path, encode_lines(contents))
    return count_verdicts(contents.verdicts), contents.warnings


def import_verdict_store(store_path: str, source: str) -> tuple[int, list[str]]:
    """Add the verdicts and reviews of a store or an export to a store; those that it already has are kept.

    Returns the number of verdicts read, and what was left out. Raises the same errors as `export_verdict_store`.
    """
    refuse_overwriting([store_path], [source], into_runs=True)
    contents = read_store(source)
    with closing(SqliteVerdictStore(store_path)) as opened:
        for judge in contents.judges:
            opened.register_judge(judge)
        for judge_status in contents.statuses.values():
            opened.record_status(judge_status)
        by_request = [samples for requests in contents.verdicts.values() for samples in requests.values()]
        opened.save([verdict for samples in by_request for verdict in samples])
        kept_reviews = {review_key(review): review for review in opened.load_contents().reviews}
        for review in contents.reviews:
            if kept_reviews.get(review_key(review), review) != review:
                contents.warnings.append(
                    f"the store has another review by {review.reviewer!r} of {review.case_id} {review.item}: it is kept"
                )
        opened.save_reviews(contents.reviews)
    return count_verdicts(contents.verdicts), contents.warnings
