"""Checks the database file of an audit store page by page, also those pages that reading the chain never meets.

The chain shows that records are what they were. It says nothing of the look-up tables' trees, so a store with a damaged
page could be verified and still fail at the next search: SQLite's own check of every table finds that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

import sqlalchemy as sa

from assay.audit.audit_store import AuditStore, DamagedStoreError
from assay.audit.results import PageCheck, TableDamage
from assay.text.escaping import shorten_to_line

CONTENTS: Mapping[str, str] = {
    "records": "the chain of answers",
    "users": "pseudonyms and salts",
    "texts": "texts of chunks",
    "citations": "the look-up by citation",
    "labels": "the look-up by verdict",
    "questions": "the look-up by words of the question",
    "checkpoints": "how far files were read",
    "meta": "settings of the store",
}
NOT_CHECKED_POSTGRES = (
    "pages of the database: not checked here. On PostgreSQL only the records and their look-up rows were read: "
    "`pg_amcheck` checks tables and indexes, and checksums (`initdb --data-checksums`) every page"
)
_WORD_INDEX = "questions"
_PREAMBLE = re.compile(r"\*\*\* in database \w+ \*\*\*")


def check_pages(store: AuditStore) -> PageCheck:
    """Check every table with its indexes, in SQLite; of a PostgreSQL database nothing is checked, which is noted."""
    if not store.is_sqlite:
        return PageCheck(notice=NOT_CHECKED_POSTGRES)
    names = sa.text("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY rootpage")
    with store.reading() as connection:
        tables = [str(row[0]) for row in connection.execute(names)]
    faults: dict[str, list[str]] = {}
    for table in tables:
        found = _check_table(store, table)
        if found:
            faults.setdefault(table.partition("_")[0] if table.startswith(f"{_WORD_INDEX}_") else table, []).extend(
                found
            )
    if _WORD_INDEX not in faults:
        found = _check_word_index(store)
        if found:
            faults[_WORD_INDEX] = found
    return PageCheck(
        True, tuple(TableDamage(name, CONTENTS.get(name, ""), len(found), found[0]) for name, found in faults.items())
    )


def _check_table(store: AuditStore, table: str) -> list[str]:
    """Return what SQLite finds wrong with a table and its indexes; where it cannot even read them, that."""
    try:
        return _ask_for_faults(store, f"PRAGMA integrity_check('{table}')")
    except DamagedStoreError:
        faults: list[str] = []
        with suppress(DamagedStoreError):  # the quick check stops at fewer things, and says where it was
            faults = _ask_for_faults(store, f"PRAGMA quick_check('{table}')")
        return faults or ["cannot be read"]


def _ask_for_faults(store: AuditStore, pragma: str) -> list[str]:
    with store.reading() as connection:
        texts = [str(row[0]) for row in connection.exec_driver_sql(pragma)]
    lines = [line for text in texts for line in _PREAMBLE.sub("", text).splitlines() if line.strip()]
    return [] if lines == ["ok"] else [shorten_to_line(line) for line in lines]


def _check_word_index(store: AuditStore) -> list[str]:
    """Return what is wrong with the content of the index of words, which SQLite's check takes for plain rows."""
    try:
        with store.writing() as connection:  # the check has the form of an insert; it writes nothing
            connection.exec_driver_sql(f"INSERT INTO {_WORD_INDEX}({_WORD_INDEX}) VALUES ('integrity-check')")  # noqa: S608  # no outside text
    except DamagedStoreError:
        return ["the index of words contradicts itself"]
    return []
