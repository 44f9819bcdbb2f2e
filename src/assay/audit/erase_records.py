"""Erases the answers of a user, or those older than a number of days, and leaves a chain that can be verified.

Content, nonce, texts and index rows are removed; of a user the salt too, so that what remains (number, day, commitment,
link) says nothing of them. The erasure is itself a record of the chain. SQLite overwrites what it deletes; the
write-ahead log is emptied at the end. A record that somebody had changed is erased too; that it was changed is then
part of the erasure.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Literal

import sqlalchemy as sa

from assay.audit.audit_store import AuditStore, decode_answer
from assay.audit.batch_rows import index_words
from assay.audit.chain import compute_commitment
from assay.audit.load_traffic_lines import format_time
from assay.audit.packed_body import UNPACKING_ERRORS, unpack_body
from assay.audit.results import ErasureResult
from assay.audit.schema import CITATIONS, LABELS, RECORDS, TEXTS, USERS
from assay.records.audit_records import Erasure
from assay.records.counts import format_count
from assay.records.errors import InputError

ROWS_PER_STEP = 2000
BODIES_TOGETHER = 100
MICROSECONDS = 1_000_000


def erase_user(store: AuditStore, pseudonym: str, now: datetime, *, dry_run: bool = False) -> ErasureResult:
    """Erase everything about a user, by pseudonym. Raises InputError if the store knows no such user."""
    with store.writing() as connection:
        number = connection.execute(
            sa.select(USERS.c.number).where(USERS.c.pseudonym == pseudonym)
        ).scalar_one_or_none()
        if number is None:
            raise InputError(f"{store.name}: no such user ({pseudonym}): never stored, or erased before")
        sequences = _list_sequences(connection, RECORDS.c.owner == number)
        in_texts = TEXTS.c.owner == number
        texts = connection.execute(sa.select(sa.func.count()).where(in_texts)).scalar_one()
        changed = _list_changed(connection, sequences)
        if not dry_run:
            _erase_records(store, connection, sequences, changed, now)
            connection.execute(sa.delete(TEXTS).where(in_texts))
            connection.execute(sa.delete(USERS).where(USERS.c.number == number))
            _append_erasure(store, connection, sequences, changed, "user", now)
    if not dry_run:
        _clean_up(store)
    return ErasureResult(len(sequences), texts, dry_run, changed)


def erase_expired(store: AuditStore, days: int, now: datetime, *, dry_run: bool = False) -> ErasureResult:
    """Erase all answers that were asked more than `days` days ago. Raises InputError for fewer than one day."""
    if days < 1:
        raise InputError(f"retention of {format_count(days, 'day')} (expected at least 1)")
    limit = int((now - timedelta(days=days)).timestamp() * MICROSECONDS)
    with store.writing() as connection:
        sequences = _list_sequences(connection, RECORDS.c.at < limit)
        expired = TEXTS.c.last_at < limit
        texts = connection.execute(sa.select(sa.func.count()).where(expired)).scalar_one()
        changed = _list_changed(connection, sequences)
        if not dry_run and sequences:
            _erase_records(store, connection, sequences, changed, now)
            connection.execute(sa.delete(TEXTS).where(expired))
            _append_erasure(store, connection, sequences, changed, "retention", now)
    if not dry_run and sequences:
        _clean_up(store)
    return ErasureResult(len(sequences), texts, dry_run, changed)


def _list_sequences(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[int]:
    query = sa.select(RECORDS.c.sequence).where(condition, RECORDS.c.body.is_not(None), RECORDS.c.kind != "erasure")
    return [int(row[0]) for row in connection.execute(query.order_by(RECORDS.c.sequence))]


def _list_changed(connection: sa.Connection, sequences: Sequence[int]) -> list[int]:
    """Return the numbers of those records whose content is not what the chain committed to."""
    changed: list[int] = []
    columns = (RECORDS.c.sequence, RECORDS.c.body, RECORDS.c.nonce, RECORDS.c.commitment, USERS.c.salt)
    joined = sa.select(*columns).outerjoin(USERS, USERS.c.number == RECORDS.c.owner)
    for some in _iterate_parts(sequences):
        query = joined.where(RECORDS.c.sequence.in_(some)).order_by(RECORDS.c.sequence)
        with connection.execute(query, execution_options={"yield_per": BODIES_TOGETHER}) as rows:
            changed += [row[0] for row in rows if not _is_committed(*row[1:])]
    return changed


def _is_committed(body: object, nonce: object, commitment: object, salt: object) -> bool:
    """Return whether a body is what the chain committed to; each cell may hold anything."""
    if not isinstance(nonce, bytes) or not isinstance(salt, bytes):
        return False
    try:
        return compute_commitment(unpack_body(body), salt, nonce) == commitment
    except zlib.error:
        return False


def _iterate_parts(sequences: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(sequences), ROWS_PER_STEP):
        yield sequences[start : start + ROWS_PER_STEP]


def _erase_records(
    store: AuditStore, connection: sa.Connection, sequences: Sequence[int], changed: Collection[int], now: datetime
) -> None:
    if store.is_sqlite:
        _erase_changed_questions(connection, changed)
    for some in _iterate_parts(sequences):
        _erase_questions(store, connection, some, frozenset(changed))
        for table in (CITATIONS, LABELS):
            connection.execute(sa.delete(table).where(table.c.sequence.in_(some)))
        connection.execute(
            sa.update(RECORDS)
            .where(RECORDS.c.sequence.in_(some))
            .values(at=None, owner=None, body=None, nonce=None, erased_at=format_time(now))
        )


def _erase_questions(
    store: AuditStore, connection: sa.Connection, sequences: Sequence[int], changed: Collection[int]
) -> None:
    if not store.is_sqlite:
        connection.execute(
            sa.text("DELETE FROM questions WHERE sequence = ANY(:sequences)"), {"sequences": list(sequences)}
        )
        return
    # The full-text index keeps no text of its own: to remove a row it has to be told the words again.
    query = sa.select(RECORDS.c.sequence, RECORDS.c.body).where(
        RECORDS.c.sequence.in_([sequence for sequence in sequences if sequence not in changed])
    )
    words_of = {}
    for sequence, body in connection.execute(query):
        with suppress(*UNPACKING_ERRORS):  # what is no answer, has no question
            words_of[sequence] = index_words(decode_answer(body).record.question)
    _remove_words(connection, words_of)


def _erase_changed_questions(connection: sa.Connection, changed: Collection[int]) -> None:
    """Remove what the full-text index has of records whose content was changed: their words are in the index only."""
    if not changed:
        return
    connection.execute(sa.text("CREATE VIRTUAL TABLE temp.indexed_words USING fts5vocab(main, questions, instance)"))
    words: dict[int, list[tuple[int, str]]] = {sequence: [] for sequence in changed}
    # The rows are in the order of words, and nothing finds those of one record: all are read, once.
    rows = connection.execute(
        sa.text("SELECT doc, offset, term FROM temp.indexed_words"), execution_options={"yield_per": ROWS_PER_STEP}
    )
    for sequence, offset, word in rows:
        if sequence in words:
            words[sequence].append((offset, word))
    connection.execute(sa.text("DROP TABLE temp.indexed_words"))
    _remove_words(connection, {sequence: " ".join(w for _, w in sorted(row)) for sequence, row in words.items()})


def _remove_words(connection: sa.Connection, words_of: Mapping[int, str]) -> None:
    """Remove records from SQLite's full-text index, each with its words in their order."""
    rows = [{"sequence": sequence, "words": words} for sequence, words in words_of.items() if words]
    if rows:
        statement = "INSERT INTO questions (questions, rowid, words) VALUES ('delete', :sequence, :words)"
        connection.execute(sa.text(statement), rows)


def _append_erasure(
    store: AuditStore,
    connection: sa.Connection,
    sequences: Sequence[int],
    changed: Sequence[int],
    reason: Literal["user", "retention"],
    now: datetime,
) -> None:
    erasure = Erasure(_join_ranges(sequences), reason, format_time(now), _join_ranges(changed))
    store.append_event(connection, "erasure", erasure, now.date().isoformat())


def _join_ranges(sequences: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return rising numbers as ranges.

    >>> _join_ranges([1, 2, 3, 7])
    ((1, 3), (7, 7))
    """
    ranges: list[tuple[int, int]] = []
    for sequence in sequences:
        if ranges and ranges[-1][1] == sequence - 1:
            ranges[-1] = (ranges[-1][0], sequence)
        else:
            ranges.append((sequence, sequence))
    return tuple(ranges)


def _clean_up(store: AuditStore) -> None:
    """Remove what deleting leaves behind: words in segments of the full-text index, pages in the write-ahead log."""
    if not store.is_sqlite:
        with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("VACUUM records, texts, citations, labels, questions, users"))
        return
    with store.writing() as connection:
        connection.execute(sa.text("INSERT INTO questions (questions) VALUES ('optimize')"))
    raw = store.engine.raw_connection()
    try:
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        raw.close()
