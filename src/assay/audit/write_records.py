"""Exports the answers of an audit store; of a damaged one only what is still what the chain committed to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import msgspec
from msgspec import structs

from assay.audit.audit_store import AuditStore, ChainRow, decode_answer, load_texts, restore_texts
from assay.audit.chain import compute_commitment
from assay.audit.incident import rebuild_observation
from assay.audit.packed_body import UNPACKING_ERRORS, unpack_body
from assay.audit.parquet_file import write_parquet
from assay.audit.record_slices import is_in_slices
from assay.audit.results import ExportResult
from assay.audit.versioned_corpora import NO_CORPORA, VersionedCorpora
from assay.formats.file_io import write_atomically
from assay.metrics.cases.case_index import CaseIndex, GoldenIndex
from assay.metrics.leaks.find_leaks import IN_ANYWHERE, find_leaks
from assay.metrics.leaks.withheld_text import WithheldTexts
from assay.records.audit_records import AuditRecord, StoredAnswer
from assay.records.errors import IncompleteError
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Stage
from assay.text.escaping import WITHHELD

PAGE = 1000


class RecordSource(Protocol):
    """Where exported records come from: an intact store, or what is left of a damaged one."""

    def iterate_pages(self, result: ExportResult) -> Iterator[list[ChainRow]]:
        """Yield the records in order, and note in the result what is lost."""
        ...

    def load_salts(self, owners: set[int]) -> dict[int, bytes]:
        """Return the salts of users by number; those that cannot be read are missing."""
        ...

    def load_texts(self, keys: set[str]) -> dict[str, str]:
        """Return the texts of chunks by their keys; those that cannot be read are missing."""
        ...


class IntactRecords:
    """The records of a store that is read as it is."""

    def __init__(self, store: AuditStore) -> None:
        self._store = store

    def iterate_pages(self, result: ExportResult) -> Iterator[list[ChainRow]]:
        """Yield the records in order."""
        return self._store.iterate_pages(page=PAGE)

    def load_salts(self, owners: set[int]) -> dict[int, bytes]:
        """Return none: what is intact is not checked here."""
        return {}

    def load_texts(self, keys: set[str]) -> dict[str, str]:
        """Return the texts of chunks by their keys."""
        return load_texts(self._store, keys)


@dataclass(frozen=True)
class ExportRequest:
    """Which answers to export, and how.

    `since` ≤ time < `until` (microseconds since 1970); `pseudonym` and `slices` (key and value) narrow further. Text
    that the user of an answer may not see is masked by the rules of its corpus, unless `show_restricted`.
    """

    since: int | None = None
    until: int | None = None
    pseudonym: str | None = None
    slices: Sequence[tuple[str, str]] = ()
    corpora: VersionedCorpora = NO_CORPORA
    show_restricted: bool = False
    salvage: bool = False


def write_records(source: RecordSource, request: ExportRequest, path: str) -> ExportResult:
    """Write the answers to a file: Parquet if its name ends in .parquet, else JSON lines of audit records.

    Raises IncompleteError if the store is damaged (unless `salvage`) or the file cannot be written.
    """
    result = ExportResult(file=path)
    pages = _iterate_answers(source, request, result)
    if path.lower().endswith(".parquet"):
        write_parquet(path, pages)
    else:
        lines = (msgspec.json.encode(record) + b"\n" for page in pages for record in page)
        write_atomically(path, lines)
    return result


def _iterate_answers(source: RecordSource, request: ExportRequest, result: ExportResult) -> Iterator[list[AuditRecord]]:
    masker = RecordMasker(request.corpora)
    for page in source.iterate_pages(result):
        records = _read_page(source, page, request, result)
        if not request.show_restricted:
            masked = masker.mask_records(records)
            result.masked += sum(row.was_masked for row in masked)
            result.unsearched += sum(not row.was_searched for row in masked)
            records = [row.record for row in masked]
        result.exported += len(records)
        if records:
            yield records


def _read_page(
    source: RecordSource, rows: Sequence[ChainRow], request: ExportRequest, result: ExportResult
) -> list[AuditRecord]:
    read = [(row, _read_answer(row, request, result)) for row in rows]
    wanted: list[tuple[ChainRow, StoredAnswer]] = []
    for row, answer in read:
        if answer is None or (request.pseudonym is not None and answer.record.user_uid != request.pseudonym):
            continue
        if is_in_slices(answer.record, request.slices):
            wanted.append((row, answer))
    if request.salvage:
        salts = source.load_salts({row.owner for row, _ in wanted if row.owner is not None})
        wanted = [(row, answer) for row, answer in wanted if _is_committed(row, salts, result)]
    keys = {key for _, answer in wanted for key in answer.texts if key is not None}
    texts = source.load_texts(keys)
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
        return decode_answer(row.body)
    except UNPACKING_ERRORS:
        if not request.salvage:
            message = f"record {row.sequence} cannot be unpacked: the store is damaged (see --salvage)"
            raise IncompleteError(message) from None
        result.damaged.append(row.sequence)
        return None


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


class MaskedRecord(NamedTuple):
    """A record without text that its user may not see.

    `was_masked`: there was such text. `was_searched` is False where nothing tells what the user may see, or who may see
    a chunk.
    """

    record: AuditRecord
    was_masked: bool
    was_searched: bool


class RecordMasker:
    """Masks records by the corpus of their version with its access rules; without one, by what they say of chunks."""

    def __init__(self, corpora: VersionedCorpora) -> None:
        self._corpora = corpora
        self._empty_indexes: dict[str | None, GoldenIndex] = {None: GoldenIndex(GoldenSet(()), corpora.present)}
        for version, corpus in corpora.by_version.items():
            self._empty_indexes[version] = GoldenIndex(GoldenSet(()), corpus)

    def mask_records(self, records: Sequence[AuditRecord]) -> list[MaskedRecord]:
        """Return the records in their order."""
        cases = tuple(
            Case(
                id=record.id,
                question=record.question or "",
                user=None if record.user is None else structs.replace(record.user, as_of=record.at[:10]),
            )
            for record in records
        )
        golden = GoldenSet(cases)
        versions = [self._corpora.find_version(record) for record in records]
        indexes = {version: self._empty_indexes[version].replace_cases(golden) for version in dict.fromkeys(versions)}
        return [
            _mask_record(record, indexes[version].case_index(row))
            for row, (record, version) in enumerate(zip(records, versions, strict=True))
        ]


def _mask_record(record: AuditRecord, case: CaseIndex) -> MaskedRecord:
    observation, _ = rebuild_observation(record)
    leaks = find_leaks(case, observation)
    forbidden = {chunk_id for chunk_ids in leaks.ids.values() for chunk_id in chunk_ids}
    if not forbidden and not leaks.text:
        return MaskedRecord(record, False, leaks.measured and not leaks.list_unknown(IN_ANYWHERE))
    hidden = structs.replace(record, stages=_hide_chunks(record.stages, forbidden))
    plain = WithheldTexts(case, observation, leaks).withhold(msgspec.to_builtins(hidden))
    return MaskedRecord(msgspec.convert(plain, AuditRecord), True, True)


def _hide_chunks(stages: tuple[Stage, ...] | None, forbidden: set[str]) -> tuple[Stage, ...] | None:
    if stages is None:
        return None
    hidden_stages = []
    for stage in stages:
        chunks = [
            structs.replace(chunk, text=WITHHELD, metadata=None) if chunk.chunk_id in forbidden else chunk
            for chunk in stage.chunks
        ]
        hidden_stages.append(Stage(stage.name, tuple(chunks), stage.latency_ms))
    return tuple(hidden_stages)
