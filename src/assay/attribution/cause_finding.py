"""A root cause that was found, and what a trace should record to tell it from others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from assay.records.findings import CauseConfidence, RootCause


class CauseFinding(Struct, frozen=True):
    """A cause with the stage where it shows, the facts behind it, and what it leaves open.

    `subcause` refines the cause, `also` are other causes that would explain the facts, most likely first, and `record`
    says what to record to tell them apart. `lost_at` are the stages that lost units of the evidence.
    """

    cause: RootCause
    stage: str | None
    evidence: tuple[str, ...]
    confidence: CauseConfidence
    also: tuple[RootCause, ...] = ()
    subcause: str = ""
    record: tuple[str, ...] = ()
    lost_at: Mapping[int, str] = MappingProxyType({})


RECORD_QUERY = "the query as it was sent to the search"
RECORD_UNFILTERED = "the list of the search before it is filtered and reranked"
RECORD_ID_SEARCH = "a search for the evidence by its id, which shows whether it is indexed"
RECORD_TEXTS = "the text of each chunk in the context"
RECORD_ERRORS = "errors and timeouts of the search"
RECORD_BEFORE_ACCESS = "the list before it is filtered by access"
RECORDS_OF_FAILED_SEARCH = (RECORD_ERRORS, RECORD_BEFORE_ACCESS)
RECORD_MERGED = "the list after the searches were merged"
RECORD_CORPUS = "the corpus with the texts of its chunks"
