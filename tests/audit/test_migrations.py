"""Stores of every released schema are brought forward: on opening, in one transaction, with the chain untouched."""

from __future__ import annotations

import json
import shutil
import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from tests.audit.traffic import make_line, write_lines

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.schema import CITATIONS, HEAD, LABELS, META, RECORDS, TEXTS, USERS
from assay.audit.search_store import AnswerQuery, search_answers
from assay.records.errors import IncompleteError, InputError

SAMPLES = Path(__file__).parent / "samples"
FIRST_CITATIONS = sa.table("citations", sa.column("citation"), sa.column("sequence"))
"""The table of citations up to schema 0003."""
FIRST_TABLES = (META, USERS, RECORDS, TEXTS, FIRST_CITATIONS, LABELS)
IN_TEXTS = {("hr:v1:c3", 1), ("leave-1", 1), ("leave-2", 2), ("hr_leave:v1:c9", 3)}
"""What the three answers of `store-0001.sqlite` cite, of which its own look-up table has only `leave-2`."""


def read_rows(connection: sa.Connection) -> dict[str, list[Any]]:
    return {table.name: list(connection.execute(sa.select(table))) for table in FIRST_TABLES}


def upgrade(connection: sa.Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(files("assay.audit") / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def make_first_schema(address: str) -> str:
    """Fill a store of schema 0001 with the rows of one that its release wrote."""
    return make_earlier_store(address, "0001")


def make_earlier_store(address: str, revision: str) -> str:
    """Fill a store of an earlier schema with the rows of one that its release wrote."""
    sample = SAMPLES / f"store-{revision}.sqlite"
    if "://" not in address:
        shutil.copy(sample, address)
        return address
    source = sa.create_engine(f"sqlite:///file:{sample}?mode=ro&uri=true")
    with source.connect() as connection:
        rows = read_rows(connection)
    source.dispose()
    target = sa.create_engine(sa.make_url(address).set(drivername="postgresql+psycopg"))
    with target.begin() as connection:
        upgrade(connection, revision)
        for table in FIRST_TABLES:
            if rows[table.name]:
                connection.execute(sa.insert(table), [row._asdict() for row in rows[table.name]])
    target.dispose()
    return address


def test_a_store_of_the_first_schema_finds_answers_by_the_citations_in_their_texts(address: str) -> None:
    make_first_schema(address)
    assert assay.audit.verify(address).is_intact
    with open_audit_store(address) as store, store.reading() as connection:
        assert connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one() == HEAD
        rows = list(connection.execute(sa.select(CITATIONS)))
        assert {(citation, sequence) for citation, _, sequence in rows} == IN_TEXTS
    with open_audit_store(address) as store:
        answers = search_answers(store, AnswerQuery(citation="hr:v1:c3")).answers
    assert [record.id for _, record in answers] == ["req-1"]


def test_a_store_of_the_third_schema_lists_its_citations_in_the_order_of_time(address: str) -> None:
    make_earlier_store(address, "0003")
    assert assay.audit.verify(address).is_intact
    with open_audit_store(address) as store, store.reading() as connection:
        rows = {tuple(row) for row in connection.execute(sa.select(CITATIONS))}
        times = dict(list(connection.execute(sa.select(RECORDS.c.sequence, RECORDS.c.at))))
        assert len(rows) == 13 and {(sequence, at) for _, at, sequence in rows} <= times.items()
        assert not [name for name in sa.inspect(connection).get_table_names() if name.endswith("0003")]
    with open_audit_store(address) as store:
        answers = search_answers(store, AnswerQuery(citation="leave-1", limit=3)).answers
    assert [sequence for sequence, _ in answers] == [5, 2, 6]


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


def test_a_store_of_the_second_schema_goes_on_with_bodies_of_both_kinds(tmp_path: Path) -> None:
    store = str(tmp_path / "audit.sqlite")
    shutil.copy(SAMPLES / "store-0002.sqlite", store)
    lines = [make_line(2, user_uid=...), make_line(3, user_uid=...), make_line(4, user_uid=..., answer="day " * 2000)]
    stages = [{"name": "context", "chunks": [{"chunk_id": "leave-1", "text": "Twenty days."}]}]
    result = assay.audit.ingest(store, write_lines(tmp_path / "a.jsonl", [lines[0] | {"stages": stages}, *lines[1:]]))
    assert (result.stored, result.duplicates) == (2, 1)
    assert assay.audit.verify(store).is_intact
    with sqlite3.connect(store) as db:
        assert db.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]
        bodies = [body for (body,) in db.execute("SELECT body FROM records ORDER BY sequence")]
    db.close()
    assert [body[:1] for body in bodies] == [b"x", b"x", b"x", b"{", b"x"]  # "x" begins compressed data
    assert assay.audit.export(store, tmp_path / "out.jsonl").exported == 5
    exported = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in exported] == [f"req-{number}" for number in range(5)]
    assert exported[4]["answer"] == "day " * 2000


def test_a_store_of_a_later_schema_is_refused(tmp_path: Path) -> None:
    store = str(tmp_path / "audit.sqlite")
    shutil.copy(SAMPLES / "store-0002.sqlite", store)
    with sqlite3.connect(store) as db:
        db.execute("UPDATE alembic_version SET version_num = '0999'")
    db.close()
    with pytest.raises(InputError, match="written by a newer version of Assay"):
        open_audit_store(store)
