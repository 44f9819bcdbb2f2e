"""Exports the answers of an audit store, and with `salvage` what can still be read of a damaged one.

A damaged store is read range by range: a range that cannot be read is halved until the records that are lost are
known by number. What is read is exported only if it is what the chain committed to.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import sqlalchemy as sa

from assay.audit.audit_store import AuditStore, ChainRow, decode_answer, load_texts, restore_texts
from assay.audit.chain import compute_commitment
from assay.audit.mask_records import RecordMasker
from assay.audit.packed_body import UNPACKING_ERRORS, unpack_body
from assay.audit.parquet_file import write_parquet
from assay.audit.record_slices import is_in_slices
from assay.audit.results import ExportResult
from assay.audit.schema import RECORDS, USERS
from assay.formats.file_io import write_atomically
from assay.records.audit_records import AuditRecord, StoredAnswer
from assay.records.errors import IncompleteError
from assay.records.golden_set import Corpus

PAGE = 1000
MIN_RECORD_BYTES = 64
"""No record takes less space in a file; the number of records of a damaged store is bounded by it."""


@dataclass(frozen=True)
class ExportRequest:
    """Which answers to export, and how.

    `since` ≤ time < `until` (microseconds since 1970); `pseudonym` and `slices` (key and value) narrow further. Text
    that the user of an answer may not see is masked by the rules of `corpus`, unless `show_restricted`.
    """

    since: int | None = None
    until: int | None = None
    pseudonym: str | None = None
    slices: Sequence[tuple[str, str]] = ()
    corpus: Corpus | None = None
    show_restricted: bool = False
    salvage: bool = False


def write_records(store: AuditStore, request: ExportRequest, path: str) -> ExportResult:
    """Write the answers to a file: Parquet if its name ends in .parquet, else JSON lines of audit records.

    Raises IncompleteError if the store is damaged (unless `salvage`) or the file cannot be written.
    """
    result = ExportResult(file=path)
    pages = _iterate_answers(store, request, result)
    if path.lower().endswith(".parquet"):
        write_parquet(path, pages)
    else:
        lines = (msgspec.json.encode(record) + b"\n" for page in pages for record in page)
        write_atomically(path, lines)
    return result


def _iterate_answers(store: AuditStore, request: ExportRequest, result: ExportResult) -> Iterator[list[AuditRecord]]:
    masker = RecordMasker(request.corpus)
    rows = _iterate_salvaged_rows(store, result) if request.salvage else store.iterate_pages(page=PAGE)
    for page in rows:
        records = _read_page(store, page, request, result)
        if not request.show_restricted:
            masked = masker.mask_records(records)
            result.masked += sum(was_masked for _, was_masked in masked)
            records = [record for record, _ in masked]
        result.exported += len(records)
        if records:
            yield records


def _read_page(
    store: AuditStore, rows: Sequence[ChainRow], request: ExportRequest, result: ExportResult
) -> list[AuditRecord]:
    read = [(row, _read_answer(row, request, result)) for row in rows]
    wanted: list[tuple[ChainRow, StoredAnswer]] = []
    for row, answer in read:
        if answer is None or (request.pseudonym is not None and answer.record.user_uid != request.pseudonym):
            continue
        if is_in_slices(answer.record, request.slices):
            wanted.append((row, answer))
    if request.salvage:
        salts = _load_salts(store, {row.owner for row, _ in wanted})
        wanted = [(row, answer) for row, answer in wanted if _is_committed(row, salts, result)]
    keys = {key for _, answer in wanted for key in answer.texts if key is not None}
    texts = _salvage_texts(store, sorted(keys)) if request.salvage else load_texts(store, keys)
    result.lost_texts += len(keys - texts.keys())
    return [restore_texts(answer, texts) for _, answer in wanted]


def _read_answer(row: ChainRow, request: ExportRequest, result: ExportResult) -> StoredAnswer | None:
    """Return the answer in a record of the period; None for events, and for erased answers, which are counted."""
    if row.kind != "answer":
        return None
    if row.body is None:
        result.erased += 1
        return None
    if row.at is not None and not (request.since or -(2**62)) <= row.at < (request.until or 2**62):
        return None
    try:
        return decode_answer(bytes(row.body))
    except UNPACKING_ERRORS:
        if not request.salvage:
            message = f"record {row.sequence} cannot be unpacked: the store is damaged (see --salvage)"
            raise IncompleteError(message) from None
        result.damaged.append(row.sequence)
        return None


# ── damaged stores ───────────────────────────────────────────────────────────────────────────────────────────────────


def _iterate_salvaged_rows(store: AuditStore, result: ExportResult) -> Iterator[list[ChainRow]]:
    """Yield all records that can be read; the numbers of the others are noted as ranges."""
    last = _read_last_sequence(store)
    bound = _bound_last_sequence(store) if last is None else last
    expected = 1
    for start in range(1, bound + 1, PAGE):
        rows = list(_read_range(store, start, min(start + PAGE - 1, bound)))
        for row in rows:
            if row.sequence > expected:
                result.lost.append((expected, row.sequence - 1))
            expected = row.sequence + 1
        yield rows
    if last is None:
        result.notices.append(f"the end of the store cannot be read: records after {expected - 1} may be lost")
    elif last >= expected:
        result.lost.append((expected, last))


def _read_range(store: AuditStore, first: int, last: int) -> Iterator[ChainRow]:
    """Yield the records from first to last that can be read."""
    query = sa.select(RECORDS).where(RECORDS.c.sequence.between(first, last)).order_by(RECORDS.c.sequence)
    try:
        with store.reading() as connection:
            rows = [ChainRow(*row) for row in connection.execute(query)]
    except IncompleteError:
        if first < last:
            middle = (first + last) // 2
            yield from _read_range(store, first, middle)
            yield from _read_range(store, middle + 1, last)
        return
    yield from rows


def _read_last_sequence(store: AuditStore) -> int | None:
    """Return the number of the newest record, None where the store does not tell any more."""
    try:
        with store.reading() as connection:
            return int(connection.execute(sa.select(sa.func.max(RECORDS.c.sequence))).scalar_one() or 0)
    except IncompleteError:
        return None


def _bound_last_sequence(store: AuditStore) -> int:
    """Return a number that no record is above, from the size of the file; 0 for a server that does not answer."""
    return Path(store.name).stat().st_size // MIN_RECORD_BYTES if store.is_sqlite else 0


def _load_salts(store: AuditStore, owners: set[int | None]) -> dict[int, bytes]:
    """Return the salts of users by number; those that cannot be read are missing."""
    salts: dict[int, bytes] = {}
    for owner in sorted(number for number in owners if number is not None):
        try:
            with store.reading() as connection:
                query = sa.select(USERS.c.salt).where(USERS.c.number == owner)
                salt = connection.execute(query).scalar_one_or_none()
        except IncompleteError:
            continue
        if salt is not None:
            salts[owner] = bytes(salt)
    return salts


def _salvage_texts(store: AuditStore, keys: Sequence[str]) -> dict[str, str]:
    """Return the texts that can be read: of many that cannot be read together, those that can be by themselves."""
    if not keys:
        return {}
    try:
        return load_texts(store, keys)
    except (IncompleteError, zlib.error, UnicodeDecodeError):
        if len(keys) == 1:
            return {}
    middle = len(keys) // 2
    return _salvage_texts(store, keys[:middle]) | _salvage_texts(store, keys[middle:])


def _is_committed(row: ChainRow, salts: dict[int, bytes], result: ExportResult) -> bool:
    """Return whether a record is what the chain committed to; one whose salt is lost is exported and counted."""
    salt = None if row.owner is None else salts.get(row.owner)
    if salt is None or row.nonce is None or row.body is None:
        result.unverified += 1
        return True
    intact = compute_commitment(unpack_body(row.body), salt, bytes(row.nonce)) == bytes(row.commitment)
    if not intact:
        result.damaged.append(row.sequence)
    return intact
