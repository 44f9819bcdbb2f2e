"""Reads cells of the store that may hold a value of any type.

SQLite keeps what it is given: a column of bytes takes text or a number as well. Whoever changes a cell in that way must
be found out, and must not keep the rest of the store from being checked.
"""

from __future__ import annotations

from contextlib import suppress

import sqlalchemy as sa
from sqlalchemy.types import LargeBinary, Text

from assay.audit.audit_store import AuditStore, ChainRow, DamagedStoreError
from assay.audit.schema import CHECKPOINTS, META, RECORDS, USERS
from assay.records.counts import format_count

_NAMES = {str: "text", bytes: "bytes", int: "a number", float: "a number", type(None): "nothing"}


def _choose_type(column: sa.Column[object]) -> type:
    if isinstance(column.type, LargeBinary):
        return bytes
    return str if isinstance(column.type, Text) else int


_TYPES: tuple[type, ...] = tuple(_choose_type(column) for column in RECORDS.columns)
_USUAL_TYPES = frozenset({(int, str, str, bytes, int, int, bytes, bytes, bytes, bytes, type(None))})
"""The types of an answer that was not erased: most records need no closer look."""


def find_foreign_cells(row: ChainRow) -> list[str]:
    """Return, for each cell of a record whose type is not that of its column, its name and what it holds."""
    types = tuple(map(type, row))
    if types in _USUAL_TYPES and row.day.isascii() and row.kind.isascii():
        return []
    faults = []
    for column, kind, value in zip(RECORDS.columns, _TYPES, row, strict=True):
        if type(value) is not kind and not (value is None and column.nullable):
            faults.append(f"{column.name} holds {_NAMES[type(value)]} (expected {_NAMES[kind]})")
        elif isinstance(value, str) and not value.isascii():  # days, kinds and times are plain
            faults.append(f"{column.name} holds what Assay never wrote")
    return faults


def mend_row(row: ChainRow) -> ChainRow:
    """Return a record whose cells have the types of their columns: text and bytes as each other, others empty."""
    values = []
    for column, kind, value in zip(RECORDS.columns, _TYPES, row, strict=True):
        is_lost = value is None and not column.nullable  # what a page of zeros leaves of a record
        values.append(kind() if is_lost else _mend(value, kind))
    return ChainRow(*values)  # type: ignore[arg-type]  # each has the type of its column


def _mend(value: object, kind: type) -> object:
    if value is None or type(value) is kind:
        return value
    if kind is bytes:
        return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else b""
    if kind is str:
        return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
    return None


def list_foreign_settings(store: AuditStore) -> list[str]:
    """Return what is wrong with types in the tables of users, settings and checkpoints, which no record stands for."""
    if not store.is_sqlite:
        return []  # PostgreSQL keeps no value of another type
    faults: list[str] = []
    for table in (USERS, META, CHECKPOINTS):
        with suppress(DamagedStoreError):  # which the check of the pages reports
            faults += _list_foreign_columns(store, table)
    return faults


def _list_foreign_columns(store: AuditStore, table: sa.Table) -> list[str]:
    faults = []
    with store.reading() as connection:
        for column in table.columns:
            expected = {bytes: "blob", str: "text", int: "integer"}[_choose_type(column)]
            foreign = sa.func.typeof(column) != expected
            count = connection.execute(sa.select(sa.func.count()).select_from(table).where(foreign)).scalar_one()
            if count:
                values = format_count(count, "value is", "values are")
                faults.append(f"{table.name}.{column.name}: {values} not of the type {expected}")
    return faults
