"""Reads the answers of a store for those that a document reached."""

from __future__ import annotations

import sqlalchemy as sa

from assay.audit.audit_store import AuditStore
from assay.audit.document_exposure import DocumentSearch, ExposedAnswer, Exposure
from assay.audit.load_answers import NO_TIME, iterate_answer_pages, load_answers
from assay.audit.schema import RECORDS


def load_exposure(store: AuditStore, search: DocumentSearch, since: int | None, until: int | None) -> Exposure:
    """Return the answers with `since` ≤ time < `until` (microseconds since 1970) that a document reached.

    No index tells what was shown: every answer of the period is read.
    """
    exposed: list[ExposedAnswer] = []
    searched = untold = 0
    first, end = (-NO_TIME if since is None else since), (NO_TIME if until is None else until)
    for page in iterate_answer_pages(store, first, end):
        searched += len(page)
        reached = {}
        in_doubt = [answer.sequence for answer in page if search.needs_texts(answer.record)]
        with_texts = {answer.sequence: answer for answer in load_answers(store, in_doubt)}
        for answer in (with_texts.get(answer.sequence, answer) for answer in page):
            record = answer.record
            places, chunks = search.find_places(record)
            if places:
                reached[answer.sequence] = tuple(places), chunks
            elif record.stages is None and record.retrieved_uids is None and record.citations is None:
                untold += 1
        exposed += [
            search.describe_answer(answer.sequence, answer.record, *reached[answer.sequence])
            for answer in load_answers(store, list(reached))
        ]
    exposed.sort(key=lambda answer: (answer.at, answer.sequence))
    return Exposure(search.name, tuple(exposed), searched, untold, _count_erased(store), search.is_known)


def _count_erased(store: AuditStore) -> int:
    """Return how many answers were erased, of any period: what is left of them has no time."""
    erased = sa.select(sa.func.count()).where(RECORDS.c.kind == "answer", RECORDS.c.body.is_(None))
    with store.reading() as connection:
        return int(connection.execute(erased).scalar_one())
