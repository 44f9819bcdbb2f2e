"""Removes from production answers what their users may not see, before others read them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import structs

from assay.audit.incident import rebuild_observation
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.leaks.find_leaks import find_leaks
from assay.metrics.leaks.withheld_text import WithheldTexts
from assay.records.audit_records import AuditRecord
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.records.observations import Stage
from assay.text.escaping import WITHHELD


class RecordMasker:
    """Masks records by a corpus with its access rules; without one, by what the records say of their chunks."""

    def __init__(self, corpus: Corpus | None) -> None:
        self._empty_index = GoldenIndex(GoldenSet(()), corpus)

    def mask_records(self, records: Sequence[AuditRecord]) -> list[tuple[AuditRecord, bool]]:
        """Return the records without text that their users may not see, and whether there was such text."""
        cases = tuple(
            Case(
                id=record.id,
                question=record.question or "",
                user=None if record.user is None else structs.replace(record.user, as_of=record.at[:10]),
            )
            for record in records
        )
        index = self._empty_index.replace_cases(GoldenSet(cases))
        masked: list[tuple[AuditRecord, bool]] = []
        for position, record in enumerate(records):
            case = index.case_index(position)
            observation, _ = rebuild_observation(record)
            leaks = find_leaks(case, observation)
            forbidden = {chunk_id for chunk_ids in leaks.ids.values() for chunk_id in chunk_ids}
            if not forbidden and not leaks.text:
                masked.append((record, False))
                continue
            hidden = structs.replace(record, stages=_hide_chunks(record.stages, forbidden))
            plain = WithheldTexts(case, observation, leaks).withhold(msgspec.to_builtins(hidden))
            masked.append((msgspec.convert(plain, AuditRecord), True))
        return masked


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
