"""The audit store: a SQLite file or a PostgreSQL database that keeps every answer and never changes one.

What `append_answers` has returned is on disk: SQLite runs in WAL mode with synchronous=FULL. A batch is one transaction
with its links of the chain, so that a process that is killed leaves whole batches, and writers wait for one another.
"""

from __future__ import annotations

import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from msgspec import Struct, structs
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from assay.audit.batch_rows import MAX_LEXEME, BatchRows, ChainHead, Owner
from assay.audit.chain import GENESIS, NONCE_BYTES, SALT_BYTES, HmacSha256
from assay.audit.packed_body import UNPACKING_ERRORS, unpack_body
from assay.audit.results import DAMAGE_REMEDY
from assay.audit.schema import CHECKPOINTS, CITATIONS, HEAD, LABELS, META, RECORDS, STORE_OWNER, TEXTS, USERS
from assay.records.audit_records import AuditRecord, RecordKind, StoredAnswer
from assay.records.errors import AssayError, ExitCode, IncompleteError, InputError, MissingExtraError, shorten_repr
from assay.records.observations import Chunk, Stage

STORE_PSEUDONYM = "store"
LOCK_NUMBER = 0x61756469  # of the advisory lock in PostgreSQL: one writer at a time
KEYS_PER_QUERY = 500
COMPARED_TOGETHER = 100
"""How many stored answers are read at a time to be compared with records of the same ids; each may have megabytes."""
WAIT_SECONDS = 60
CHANGED_REMEDY = "`assay audit verify` names every such record, and a copy of the store may still have it"
CACHE_KIBIBYTES, CHECKPOINT_PAGES = 65_536, 16_000
_ID_KEY_BYTES = 16
_LOST_CONNECTION_SIGNS = ("closed the connection", "terminating connection", "connection is lost")
_POSTGRES_SCHEMES = ("postgresql://", "postgres://")
_DECODER = msgspec.json.Decoder(StoredAnswer)
_decode_text = methodcaller("decode", "utf-8", "surrogateescape")
"""Decodes a text of SQLite, which keeps any bytes as one: those that are no UTF-8 become surrogates."""


class ChainRow(NamedTuple):
    """One record of the chain as it is stored; `body` is packed."""

    sequence: int
    day: str
    kind: str
    id_key: bytes | None
    at: int | None
    owner: int | None
    body: bytes | None
    nonce: bytes | None
    commitment: bytes
    link: bytes
    erased_at: str | None


class Appended(Struct):
    """What became of a batch: how many records are new, and which positions in it were stored before.

    `conflicts` are records whose id belongs to another record, or to one that somebody changed beyond reading; `erased`
    are such as were erased: neither is stored.
    """

    stored: int = 0
    duplicates: list[int] = []
    conflicts: list[int] = []
    erased: list[int] = []

    def note_known(self, index: int, record: AuditRecord, earlier: AuditRecord | None) -> None:
        """Note what a record of the batch is whose id the earlier one has; None for one that was erased."""
        if earlier is None:
            self.erased.append(index)
        else:
            (self.duplicates if _is_same(record, earlier) else self.conflicts).append(index)


class DamagedStoreError(IncompleteError):
    """The database file cannot be read as what it was."""


class ChangedRecordError(AssayError):
    """A record that cannot be read because somebody changed it: what `assay audit verify` calls a fault."""

    exit_code = ExitCode.FAILED


class AuditStore:
    """An open audit store; close it, or use it in a `with` statement."""

    def __init__(self, engine: sa.Engine, name: str) -> None:
        self.engine, self.name = engine, name
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._packed_texts: dict[str, bytes] = {}

    def __enter__(self) -> AuditStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    # ── transactions ─────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that no other writer runs beside. Raises IncompleteError if it fails."""
        with self._explaining(), self.engine.connect() as plain:
            connection = plain.execution_options(assay_writes=True)
            with connection.begin():
                if not self.is_sqlite:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK_NUMBER)))
                yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that sees one state of the store."""
        with self._explaining(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            kind = DamagedStoreError if _is_damage(error) else IncompleteError
            raise kind(f"{self.name}: {_describe_failure(error)}") from error
        except SQLAlchemyError as error:
            raise IncompleteError(f"{self.name}: {' '.join(str(error).split())[:300]}") from error

    # ── settings of the store ────────────────────────────────────────────────────────────────────────────────────

    def check_key(self, fingerprint: str) -> None:
        """Note the fingerprint of the audit key, or raise InputError if the store was written with another key.

        A store without records has no pseudonyms yet, and takes any key.
        """
        with self.writing() as connection:
            noted = connection.execute(sa.select(META.c.value).where(META.c.name == "key")).scalar_one_or_none()
            is_empty = connection.execute(sa.select(RECORDS.c.sequence).limit(1)).first() is None
            if noted is None:
                connection.execute(sa.insert(META).values(name="key", value=fingerprint))
            elif is_empty:
                connection.execute(sa.update(META).where(META.c.name == "key").values(value=fingerprint))
        if noted not in (None, fingerprint) and not is_empty:
            raise InputError(
                f"{self.name}: the audit key is not the one this store was written with: pseudonyms would not match "
                f"(got fingerprint {fingerprint}; expected {noted})"
            )

    def load_position(self, source: str) -> str | None:
        """Return how far a source has been read, None if it has not been."""
        with self.reading() as connection:
            query = sa.select(CHECKPOINTS.c.position).where(CHECKPOINTS.c.source == source)
            value = connection.execute(query).scalar_one_or_none()
        return None if value is None else str(value)

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def append_answers(
        self, records: Sequence[AuditRecord], today: str, *, source: str | None = None, position: str = ""
    ) -> Appended:
        """Append records to the chain of `today`, all of them or none; when this returns they are on disk.

        The day of the chain never goes back: with a clock that does, records join the newest day. A record whose id is
        stored already is left out. With `source`, the position up to which it has been read is saved with the records.
        """
        appended = Appended()
        with self.writing() as connection:
            head = _read_head(connection)
            store_salt = _read_store_salt(connection)
            id_keys = make_id_keys([record.id for record in records], store_salt)
            fresh = self._find_fresh(connection, records, id_keys, appended)
            owners = _load_owners(connection, {records[index].user_uid for index in fresh})
            rows = BatchRows(head, max(today, head.day), self._packed_texts, _make_nonce)
            for index in fresh:
                rows.add_answer(records[index], id_keys[index], owners[records[index].user_uid])
            self._insert(connection, rows)
            if source is not None:
                _save_position(connection, source, position)
            appended.stored = len(fresh)
        return appended

    def append_event(
        self, connection: sa.Connection, kind: RecordKind, body: Struct, today: str, owner: int = STORE_OWNER
    ) -> int:
        """Append a record that is no answer, within a transaction, and return its number."""
        head = _read_head(connection)
        salt = connection.execute(sa.select(USERS.c.salt).where(USERS.c.number == owner)).scalar_one()
        rows = BatchRows(head, max(today, head.day), {}, _make_nonce)
        rows.add_record(kind, msgspec.json.encode(body), None, None, Owner(owner, _require_bytes(salt, "users.salt")))
        self._insert(connection, rows)
        return head.sequence + 1

    def _find_fresh(
        self,
        connection: sa.Connection,
        records: Sequence[AuditRecord],
        id_keys: Sequence[bytes],
        appended: Appended,
    ) -> list[int]:
        """Return the positions of records that are not stored yet, and note what the others are."""
        query = "SELECT id_key, sequence FROM records WHERE id_key IN"
        stored = {bytes(key): int(sequence) for key, sequence in _select_in(connection, query, id_keys)}
        fresh: list[int] = []
        known_ranges: list[tuple[int, int]] = []
        first_in_batch: dict[bytes, int] = {}
        for index, (record, id_key) in enumerate(zip(records, id_keys, strict=True)):
            if id_key in stored:
                known_ranges.append((index, stored[id_key]))
            elif id_key in first_in_batch:
                appended.note_known(index, record, records[first_in_batch[id_key]])
            else:
                first_in_batch[id_key] = index
                fresh.append(index)
        for start in range(0, len(known_ranges), COMPARED_TOGETHER):
            some = known_ranges[start : start + COMPARED_TOGETHER]
            changed: set[int] = set()
            earlier = _load_records(connection, [sequence for _, sequence in some], changed)
            for index, sequence in some:
                if sequence in changed:  # nobody can say whether they are the same
                    appended.conflicts.append(index)
                else:
                    appended.note_known(index, records[index], earlier.get(sequence))
        for positions in (appended.duplicates, appended.conflicts, appended.erased):
            positions.sort()
        return fresh

    def _insert(self, connection: sa.Connection, rows: BatchRows) -> None:
        questions = rows.questions
        if not self.is_sqlite:
            questions = [(sequence, _shorten_words(words)) for sequence, words in questions]
        tables: tuple[tuple[str, Sequence[str], Sequence[tuple[Any, ...]]], ...] = (
            (RECORDS.name, RECORDS.columns.keys(), rows.records),
            (CITATIONS.name, CITATIONS.columns.keys(), rows.citations),
            (LABELS.name, LABELS.columns.keys(), rows.labels),
            ("questions", ("rowid" if self.is_sqlite else "sequence", "words"), questions),
        )
        for name, columns, table_rows in tables:
            if table_rows and self.is_sqlite:
                # The driver takes rows as they are: SQLAlchemy would look at each value again.
                places = ", ".join("?" * len(columns))
                statement = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608  # no outside text
                connection.exec_driver_sql(statement, list(table_rows))
            elif table_rows:
                self._copy_rows(connection, f"COPY {name} ({', '.join(columns)}) FROM STDIN", table_rows)
        if rows.texts:
            self._insert_texts(connection, list(rows.texts.values()))

    def _copy_rows(self, connection: sa.Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Send rows to PostgreSQL in its bulk format, which takes it a fraction of the time of as many inserts."""
        driver = self.engine.dialect.loaded_dbapi
        try:
            cursor: Any = connection.connection.cursor()
            with cursor, cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)
        except driver.Error as error:
            raise DBAPIError(statement, None, error) from error

    def _insert_texts(self, connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
        statement = (
            "INSERT INTO texts (key, owner, last_at, body) VALUES (:key, :owner, :last_at, :body) ON CONFLICT (key) "
            "DO UPDATE SET last_at = CASE WHEN texts.last_at > excluded.last_at "
            "THEN texts.last_at ELSE excluded.last_at END"
        )
        connection.execute(sa.text(statement), rows)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def load_answer(self, sequence: int, connection: sa.Connection | None = None) -> AuditRecord | None:
        """Return an answer with its texts, None if it was erased or is no answer.

        Raises ChangedRecordError for a content that cannot be read.
        """
        if connection is None:
            with self.reading() as own_connection:
                return self.load_answer(sequence, own_connection)
        return _load_records(connection, [sequence]).get(sequence)

    def find_by_id(self, record_id: str) -> int | None:
        """Return the number of the answer with this id, None if there is none."""
        with self.reading() as connection:
            key = make_id_key(record_id, _read_store_salt(connection))
            matches = connection.execute(
                sa.select(RECORDS.c.sequence).where(RECORDS.c.id_key == key)
            ).scalar_one_or_none()
        return None if matches is None else int(matches)

    def iterate_chain(self, after: int = 0, page: int = 2000) -> Iterator[ChainRow]:
        """Yield all records of the chain in order."""
        for rows in self.iterate_pages(after, page):
            yield from rows

    def iterate_pages(self, after: int = 0, page: int = 2000) -> Iterator[list[ChainRow]]:
        """Yield all records of the chain in order, at most `page` together."""
        while True:
            with self.reading() as connection:
                query = sa.select(RECORDS).where(RECORDS.c.sequence > after).order_by(RECORDS.c.sequence).limit(page)
                rows = [ChainRow(*row) for row in connection.execute(query)]
            if rows:
                yield rows
            if len(rows) < page:
                return
            after = rows[-1].sequence


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def open_audit_store(address: str, *, create: bool = False, migrate: bool = True) -> AuditStore:
    """Open a store by the path of its SQLite file or by the address of a PostgreSQL database, and migrate it.

    Without `migrate`, a store of an older schema is left as it is, which is enough to read the chain of a damaged one.
    An address holds no password: PostgreSQL's own variables (PGPASSWORD, PGPASSFILE) give it. Raises InputError for a
    file that does not exist (unless `create`) or is no store, IncompleteError if the store cannot be opened.
    """
    is_postgres = address.startswith(_POSTGRES_SCHEMES)
    engine = _connect_postgres(address) if is_postgres else _connect_sqlite(address, create)
    store = AuditStore(engine, _hide_password(address))
    try:
        _migrate(store, create, migrate)
    except BaseException:  # Ctrl-C too: whatever ends it, the connection is closed, and the error goes on
        store.close()
        raise
    return store


def _connect_postgres(address: str) -> sa.Engine:
    url = sa.make_url(address).set(drivername="postgresql+psycopg")
    if url.password is not None:
        raise InputError(
            f"{_hide_password(address)}: no password in an address (expected it in PGPASSWORD or PGPASSFILE)"
        )
    try:
        # A connection that a restart of the server ended is replaced before it is used.
        return sa.create_engine(url, pool_pre_ping=True)
    except ImportError:
        raise MissingExtraError("PostgreSQL", "postgres") from None


def _connect_sqlite(address: str, create: bool) -> sa.Engine:
    path = Path(address)
    if not create and not path.is_file():
        raise InputError(f"{address}: no such audit store (expected a file that `assay audit ingest` wrote)")
    if not path.parent.is_dir():  # more often a slip of the finger than a wish
        raise InputError(f"{address}: no such folder (got {str(path.parent)!r}; expected one that exists: mkdir -p)")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise IncompleteError(f"{address}: cannot be opened: {error.strerror or error}") from error
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": WAIT_SECONDS})

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        connection.text_factory = _decode_text
        connection.isolation_level = None  # transactions are begun below, not by the driver
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA foreign_keys=ON")
        # The indexes of ids, citations and words are written all over: with a small cache, large stores wait for pages.
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIBIBYTES}")
        connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("assay_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _hide_password(address: str) -> str:
    return sa.make_url(address).render_as_string() if "://" in address else address


def _migrate(store: AuditStore, create: bool, wanted: bool) -> None:
    """Bring the schema to its newest version, in one transaction."""
    with store.reading() as connection:
        version = _read_version(connection)
    if version == HEAD:
        return
    if version is None and not create:
        raise InputError(f"{store.name}: not an audit store (expected one that `assay audit ingest` wrote)")
    if not wanted and version is not None and version < HEAD:
        return
    try:
        from alembic import command  # slow to import, and rarely needed
        from alembic.config import Config
        from alembic.util import CommandError
    except ImportError:
        raise MissingExtraError("the audit store", "audit") from None

    with store.writing() as connection:
        if _read_version(connection) == HEAD:  # another process was faster
            return
        config = Config()
        config.set_main_option("script_location", str(files("assay.audit") / "migrations"))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, HEAD)
        except CommandError:
            message = (
                f"{store.name}: written by a newer version of Assay (got schema {version}; expected {HEAD} or older)"
            )
            raise InputError(message) from None
        if connection.execute(sa.select(USERS.c.number).where(USERS.c.number == STORE_OWNER)).first() is None:
            salt = secrets.token_bytes(SALT_BYTES)
            connection.execute(sa.insert(USERS).values(number=STORE_OWNER, pseudonym=STORE_PSEUDONYM, salt=salt))


def _read_version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return None if version is None else str(version)


def _is_damage(error: DBAPIError) -> bool:
    text = str(error.orig)
    return "malformed" in text or "not a database" in text


def _describe_failure(error: DBAPIError) -> str:
    """Return what the database said, with a remedy where there is one."""
    text = " ".join(str(error.orig).split())
    if _is_damage(error):
        return f"the store is damaged ({text}); {DAMAGE_REMEDY}"
    if "locked" in text:
        return f"another process keeps the store locked ({text}); try again"
    if "full" in text or "No space left" in text:
        return f"no space left ({text}); nothing of this batch was stored"
    if "disk I/O error" in text:
        return (
            f"the disk, or a limit on the size of files, refused it ({text}); nothing of this batch was stored, and "
            "batches before it were: make room or raise the limit (`ulimit -f`, `df`), and give the same command again"
        )
    if any(sign in text for sign in _LOST_CONNECTION_SIGNS):
        return f"the connection was lost ({text}); try again: what was stored already is not stored twice"
    return shorten_repr(text, 300)


def _make_nonce() -> bytes:
    return secrets.token_bytes(NONCE_BYTES)


# ── helpers within a transaction ─────────────────────────────────────────────────────────────────────────────────────


def _shorten_words(words: str) -> str:
    """Return the words of a question as PostgreSQL's index takes them."""
    if len(words) <= MAX_LEXEME:
        return words
    return " ".join(word[:MAX_LEXEME] for word in words.split(" "))


def make_id_key(record_id: str, store_salt: bytes) -> bytes:
    """Return the key under which an id is found. It stays when the record is erased, which is not stored again."""
    return make_id_keys([record_id], store_salt)[0]


def make_id_keys(record_ids: Iterable[str], store_salt: bytes) -> list[bytes]:
    """Return the key of each id."""
    digest = HmacSha256(store_salt).digest
    return [digest(b"id|" + record_id.encode("utf-8", "surrogatepass"))[:_ID_KEY_BYTES] for record_id in record_ids]


def decode_answer(body: object) -> StoredAnswer:
    """Return the answer in the stored bytes of a record. Raises one of UNPACKING_ERRORS for what is none."""
    return _DECODER.decode(unpack_body(body))


def read_answer(sequence: int, body: object) -> StoredAnswer:
    """Return the answer in the stored bytes of a record by its number. Raises ChangedRecordError for what is none."""
    try:
        return decode_answer(body)
    except UNPACKING_ERRORS as error:
        message = f"record {sequence}: its content was changed and cannot be read ({error}); {CHANGED_REMEDY}"
        raise ChangedRecordError(message) from None


def load_texts(store: AuditStore, keys: Iterable[str]) -> dict[str, str]:
    """Return the texts with these keys that the store has."""
    with store.reading() as connection:
        return load_texts_within(connection, keys)


def load_texts_within(connection: sa.Connection, keys: Iterable[str]) -> dict[str, str]:
    """Return the texts with these keys that the store has, within a transaction."""
    wanted = sorted(set(keys))
    texts: dict[str, str] = {}
    for start in range(0, len(wanted), KEYS_PER_QUERY):
        raw_keys = [bytes.fromhex(key) for key in wanted[start : start + KEYS_PER_QUERY]]
        for key, body in connection.execute(sa.select(TEXTS.c.key, TEXTS.c.body).where(TEXTS.c.key.in_(raw_keys))):
            # A text that was changed counts as missing; verifying names the answers that have it.
            with suppress(zlib.error, UnicodeDecodeError, TypeError):
                texts[bytes(key).hex()] = zlib.decompress(body).decode()
    return texts


def restore_texts(stored: StoredAnswer, texts: Mapping[str, str]) -> AuditRecord:
    """Return the record with its chunks' texts by their keys; a text that is missing stays None."""
    if not stored.texts or not stored.record.stages:
        return stored.record
    keys = iter(stored.texts)
    stages = []
    for stage in stored.record.stages:
        chunks: list[Chunk] = []
        for chunk in stage.chunks:
            key = next(keys)
            chunks.append(chunk if key is None else structs.replace(chunk, text=texts.get(key)))
        stages.append(Stage(stage.name, tuple(chunks), stage.latency_ms))
    return structs.replace(stored.record, stages=tuple(stages))


def _read_head(connection: sa.Connection) -> ChainHead:
    query = sa.select(RECORDS.c.sequence, RECORDS.c.day, RECORDS.c.link).order_by(RECORDS.c.sequence.desc()).limit(1)
    row = connection.execute(query).first()
    if row is None:
        return ChainHead(0, "", GENESIS)
    return ChainHead(row[0], str(row[1]), _require_bytes(row[2], f"record {row[0]}: its link"))


def _read_store_salt(connection: sa.Connection) -> bytes:
    query = sa.select(USERS.c.salt).where(USERS.c.number == STORE_OWNER)
    return _require_bytes(connection.execute(query).scalar_one(), "users.salt")


def _require_bytes(value: object, what: str) -> bytes:
    """Return a value of the store that is bytes unless somebody changed it."""
    if not isinstance(value, bytes):
        message = f"{what} was changed (holds {type(value).__name__}; expected bytes); {CHANGED_REMEDY}"
        raise ChangedRecordError(message)
    return value


def _select_in(connection: sa.Connection, query: str, keys: Sequence[Any]) -> Iterator[Any]:
    """Yield the rows of a query that ends in IN, for many keys; SQLAlchemy's own lists take longer than the search."""
    place = "?" if connection.dialect.name == "sqlite" else "%s"
    for start in range(0, len(keys), KEYS_PER_QUERY):
        part = tuple(keys[start : start + KEYS_PER_QUERY])
        yield from connection.exec_driver_sql(f"{query} ({', '.join([place] * len(part))})", part).fetchall()


def _load_owners(connection: sa.Connection, pseudonyms: set[str | None]) -> Mapping[str | None, Owner]:
    """Return the users of a batch; those that the store does not know yet are added."""
    owners: dict[str | None, Owner] = {None: Owner(STORE_OWNER, _read_store_salt(connection))}
    named = sorted(name for name in pseudonyms if name is not None)
    query = "SELECT number, pseudonym, salt FROM users WHERE pseudonym IN"
    for number, pseudonym, salt in _select_in(connection, query, named):
        owners[pseudonym] = Owner(number, _require_bytes(salt, "users.salt"))
    newcomers = [name for name in named if name not in owners]
    if newcomers:
        # A number is never given twice: records of erased users keep theirs.
        counter = connection.execute(sa.select(META.c.value).where(META.c.name == "users")).scalar_one_or_none()
        last = int(counter or 0)
        rows = []
        for number, name in enumerate(newcomers, last + 1):
            owners[name] = Owner(number, secrets.token_bytes(SALT_BYTES))
            rows.append({"number": number, "pseudonym": name, "salt": owners[name].salt})
        connection.execute(sa.insert(USERS), rows)
        _save_meta(connection, "users", str(last + len(newcomers)))
    return owners


def _save_meta(connection: sa.Connection, name: str, value: str) -> None:
    connection.execute(sa.delete(META).where(META.c.name == name))
    connection.execute(sa.insert(META).values(name=name, value=value))


def _save_position(connection: sa.Connection, source: str, position: str) -> None:
    connection.execute(sa.delete(CHECKPOINTS).where(CHECKPOINTS.c.source == source))
    connection.execute(sa.insert(CHECKPOINTS).values(source=source, position=position))


def _load_records(
    connection: sa.Connection, sequences: Sequence[int], changed: set[int] | None = None
) -> dict[int, AuditRecord]:
    """Return the answers with these numbers and their texts, by number; those that were erased are missing.

    An answer that cannot be read is added to `changed`; without that, raises ChangedRecordError.
    """
    query = sa.select(RECORDS.c.sequence, RECORDS.c.body).where(
        RECORDS.c.sequence.in_(sequences), RECORDS.c.kind == "answer", RECORDS.c.body.is_not(None)
    )
    answers: dict[int, StoredAnswer] = {}
    for sequence, body in connection.execute(query):
        try:
            answers[sequence] = read_answer(sequence, body)
        except ChangedRecordError:
            if changed is None:
                raise
            changed.add(sequence)
    keys = [key for answer in answers.values() for key in answer.texts if key is not None]
    texts = load_texts_within(connection, keys) if keys else {}
    return {sequence: restore_texts(answer, texts) for sequence, answer in answers.items()}


def _is_same(record: AuditRecord, earlier: AuditRecord) -> bool:
    """Return whether a record is the one that is stored; the time of receipt is no part of it."""
    if record.time_source == "received" and earlier.time_source == "received":
        record = structs.replace(record, at=earlier.at)
    return record == earlier
