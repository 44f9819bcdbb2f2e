"""Stores of every released schema are brought forward: on opening, in one transaction, with the chain untouched."""

from __future__ import annotations

import shutil
import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.schema import CITATIONS, HEAD, LABELS, META, RECORDS, TEXTS, USERS
from assay.audit.search_store import AnswerQuery, search_answers
from assay.records.errors import IncompleteError

SAMPLES = Path(__file__).parent / "samples"
TABLES = (META, USERS, RECORDS, TEXTS, CITATIONS, LABELS)
IN_TEXTS = {("hr:v1:c3", 1), ("leave-1", 1), ("leave-2", 2), ("hr_leave:v1:c9", 3)}
"""What the three answers of `store-0001.sqlite` cite, of which its own look-up table has only `leave-2`."""


def read_rows(connection: sa.Connection) -> dict[str, list[Any]]:
    return {table.name: list(connection.execute(sa.select(table))) for table in TABLES}


def upgrade(connection: sa.Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(files("assay.audit") / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def make_first_schema(address: str) -> str:
    """Fill a store of schema 0001 with the rows of one that its release wrote."""
    if "://" not in address:
        shutil.copy(SAMPLES / "store-0001.sqlite", address)
        return address
    source = sa.create_engine(f"sqlite:///file:{SAMPLES / 'store-0001.sqlite'}?mode=ro&uri=true")
    with source.connect() as connection:
        rows = read_rows(connection)
    source.dispose()
    target = sa.create_engine(sa.make_url(address).set(drivername="postgresql+psycopg"))
    with target.begin() as connection:
        upgrade(connection, "0001")
        for table in TABLES:
            if rows[table.name]:
                connection.execute(sa.insert(table), [row._asdict() for row in rows[table.name]])
    target.dispose()
    return address


def test_a_store_of_the_first_schema_finds_answers_by_the_citations_in_their_texts(address: str) -> None:
    make_first_schema(address)
    assert assay.audit.verify(address).is_intact
    with open_audit_store(address) as store, store.reading() as connection:
        assert connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one() == HEAD
        assert {tuple(row) for row in connection.execute(sa.select(CITATIONS))} == IN_TEXTS
    with open_audit_store(address) as store:
        answers = search_answers(store, AnswerQuery(citation="hr:v1:c3")).answers
    assert [record.id for _, record in answers] == ["req-1"]


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_first_schema(str(tmp_path / "audit.sqlite"))
    with sqlite3.connect(store) as db:
        db.execute("CREATE TRIGGER refuse BEFORE INSERT ON citations BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(IncompleteError):
        open_audit_store(store)
    with sqlite3.connect(store) as db:
        assert db.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
        assert db.execute("SELECT citation FROM citations").fetchall() == [("leave-2",)]
        db.execute("DROP TRIGGER refuse")
    db.close()
    assert assay.audit.verify(store).is_intact


def test_a_store_that_cannot_be_migrated_can_still_be_salvaged(tmp_path: Path) -> None:
    store = make_first_schema(str(tmp_path / "audit.sqlite"))
    with sqlite3.connect(store) as db:
        db.execute("CREATE TRIGGER refuse BEFORE INSERT ON citations BEGIN SELECT RAISE(ABORT, 'no'); END")
    db.close()
    result = assay.audit.export(store, tmp_path / "rest.jsonl", salvage=True)
    assert (result.exported, result.damaged) == (3, [])


def test_a_damaged_record_does_not_stop_a_migration(tmp_path: Path) -> None:
    store = make_first_schema(str(tmp_path / "audit.sqlite"))
    with sqlite3.connect(store) as db:
        db.execute("UPDATE records SET body = x'00' WHERE sequence = 1")
    db.close()
    assert [(fault.kind, fault.sequence) for fault in assay.audit.verify(store).faults] == [("changed", 1)]
