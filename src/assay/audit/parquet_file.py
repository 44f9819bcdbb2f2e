"""Writes production answers as Parquet, for notebooks and warehouses. Needs pyarrow, an optional extra."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from assay.records.audit_records import AuditRecord
from assay.records.errors import IncompleteError, MissingExtraError

TEXT_FIELDS = (
    "time_source",
    "config_id",
    "user_uid",
    "question",
    "query_rewrite",
    "model",
    "prompt_hash",
    "answer",
    "behaviour",
)
COUNT_FIELDS = ("context_tokens", "prompt_tokens", "completion_tokens")
FLOAT_FIELDS = ("latency_ms", "cost_usd")
LIST_FIELDS = ("retrieved_uids", "citations")
JSON_FIELDS = ("stages", "tool_calls", "feedback", "versions", "error", "redacted")
"""Fields of several shapes: each is a column with JSON."""


def write_parquet(path: str, pages: Iterable[Sequence[AuditRecord]]) -> Path:
    """Write records as a Parquet file, completely or not at all; each page is a row group.

    Columns are the fields of the audit record: `at` is a time in UTC, lists are lists of strings, `tenant`, `roles` and
    `locale` are those of the user, and `stages`, `tool_calls`, `feedback`, `versions`, `error` and `redacted` are JSON.
    What a record does not have is null. Raises MissingExtraError without pyarrow, IncompleteError if the file cannot be
    written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("a Parquet file", "parquet") from None
    texts = [(name, pa.string()) for name in ("tenant", "locale", *TEXT_FIELDS, *JSON_FIELDS)]
    numbers = [*((name, pa.int64()) for name in COUNT_FIELDS), *((name, pa.float64()) for name in FLOAT_FIELDS)]
    lists = [(name, pa.list_(pa.string())) for name in ("roles", *LIST_FIELDS)]
    schema = pa.schema([("id", pa.string()), ("at", pa.timestamp("us", tz="UTC")), *texts, *numbers, *lists])
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
            for records in pages:
                writer.write_table(pa.Table.from_pylist([_make_row(record) for record in records], schema=schema))
        partial.replace(target)
    except OSError as error:
        raise IncompleteError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return target


def _make_row(record: AuditRecord) -> dict[str, Any]:
    row: dict[str, Any] = {"id": record.id, "at": datetime.fromisoformat(record.at)}
    for name in (*TEXT_FIELDS, *COUNT_FIELDS, *FLOAT_FIELDS, *LIST_FIELDS):
        row[name] = getattr(record, name)
    for name in JSON_FIELDS:
        value = getattr(record, name)
        row[name] = None if value is None or value == {} else msgspec.json.encode(value).decode()
    if record.user is not None:
        row |= {"tenant": record.user.tenant, "locale": record.user.locale, "roles": list(record.user.roles)}
    return row
