"""Reads the answers of a period in the order in which they were asked, some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from assay.audit.audit_store import KEYS_PER_QUERY, AuditStore, load_texts_within, read_answer, restore_texts
from assay.audit.schema import LABELS, RECORDS
from assay.records.audit_records import AuditRecord, StoredAnswer

PAGE = 2000
NO_TIME = 2**62
"""Later than any time: in SQLite a text or bytes in its place would be later than any number."""


class TimedAnswer(NamedTuple):
    """An answer with its number in the store and when it was asked, in microseconds since 1970."""

    sequence: int
    at: int
    record: AuditRecord


def iterate_answer_pages(store: AuditStore, since: int, until: int, *, page: int = PAGE) -> Iterator[list[TimedAnswer]]:
    """Yield the answers with `since` ≤ time < `until` (microseconds since 1970) in the order of their times.

    Erased answers are left out, and so are the texts of chunks.
    """
    after = (since - 1, 2**62)
    while True:
        position = sa.tuple_(RECORDS.c.at, RECORDS.c.sequence) > sa.tuple_(*map(sa.literal, after))
        query = (
            sa.select(RECORDS.c.sequence, RECORDS.c.at, RECORDS.c.body)
            .where(RECORDS.c.at >= since, RECORDS.c.at < until, position)
            .order_by(RECORDS.c.at, RECORDS.c.sequence)
            .limit(page)
        )
        with store.reading() as connection:
            rows = list(connection.execute(query))
        yield [
            TimedAnswer(sequence, at, read_answer(sequence, body).record)
            for sequence, at, body in rows
            if body is not None
        ]
        if len(rows) < page:
            return
        after = (rows[-1][1], rows[-1][0])


def load_answers(store: AuditStore, sequences: Sequence[int]) -> list[TimedAnswer]:
    """Return the answers with these numbers and their texts, in the order of the numbers; erased ones are left out."""
    answers: list[TimedAnswer] = []
    ordered = sorted(sequences)
    with store.reading() as connection:
        for start in range(0, len(ordered), KEYS_PER_QUERY):
            query = (
                sa.select(RECORDS.c.sequence, RECORDS.c.at, RECORDS.c.body)
                .where(RECORDS.c.sequence.in_(ordered[start : start + KEYS_PER_QUERY]), RECORDS.c.body.is_not(None))
                .order_by(RECORDS.c.sequence)
            )
            rows = [(row[0], row[1], read_answer(row[0], row[2])) for row in connection.execute(query)]
            answers += _restore_answers(connection, rows)
    return answers


def find_answer_times(store: AuditStore, until: int = NO_TIME) -> tuple[int, int] | None:
    """Return when the first and the last answer before `until` was asked, in microseconds since 1970; None without any.

    A producer whose clock is wrong dates answers in the future: `until` leaves them out.
    """
    answers = sa.and_(RECORDS.c.kind == "answer", RECORDS.c.at < until)
    with store.reading() as connection:
        first = connection.execute(sa.select(sa.func.min(RECORDS.c.at)).where(answers)).scalar_one_or_none()
        last = connection.execute(sa.select(sa.func.max(RECORDS.c.at)).where(answers)).scalar_one_or_none()
    return None if first is None or last is None else (int(first), int(last))


def count_answers_from(store: AuditStore, since: int) -> int:
    """Return how many answers were asked at this time or later, in microseconds since 1970."""
    later = sa.select(sa.func.count()).where(RECORDS.c.kind == "answer", RECORDS.c.at >= since, RECORDS.c.at < NO_TIME)
    with store.reading() as connection:
        return int(connection.execute(later).scalar_one())


def load_labelled_sequences(store: AuditStore, name: str) -> frozenset[int]:
    """Return the numbers of the answers that have a label of this name, such as `finding`."""
    with store.reading() as connection:
        return frozenset(
            row[0] for row in connection.execute(sa.select(LABELS.c.sequence).where(LABELS.c.name == name))
        )


def _restore_answers(connection: sa.Connection, rows: Sequence[tuple[int, int, StoredAnswer]]) -> list[TimedAnswer]:
    """Return answers with their texts, which are asked for together: one query for each answer takes far longer."""
    texts = load_texts_within(connection, (key for _, _, answer in rows for key in answer.texts if key is not None))
    return [TimedAnswer(sequence, at, restore_texts(answer, texts)) for sequence, at, answer in rows]
