"""A cell of the store that was changed to another type: found, named, and no hindrance to checking the rest."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from tests.audit.traffic import at_noon, make_line, write_lines

import assay
from assay.audit.audit_store import ChainRow, ChangedRecordError
from assay.audit.chain import compute_link
from assay.audit.load_cells import find_foreign_cells, mend_row
from assay.audit.schema import METADATA
from assay.records.errors import AssayError

VALUES = ("123", "1.5", "'x'", "x'00ff'", "CAST({} AS TEXT)", "CAST({} AS BLOB)", "{} || 'ABC'", "NULL")
COLUMNS = [(table.name, column.name) for table in METADATA.sorted_tables for column in table.columns]
CHANGED = 2
"""The number of the record whose cells are changed; the last record is always changed in its answer too."""


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("intact")
    stages = [{"name": "context", "chunks": [{"chunk_id": "leave-1", "text": "Twenty days."}]}]
    lines = [make_line(number, user_uid="u", stages=stages, feedback="down") for number in range(3)]
    lines.append(make_line(3, user_uid=...))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
        store = folder / "audit.sqlite"
        source = write_lines(folder / "day.jsonl", lines)
        assay.audit.ingest(store, source, checkpoint=True, now=at_noon)
    run_sql(store, "UPDATE records SET body = replace(CAST(body AS TEXT), 'grants', 'denies') WHERE sequence = 4")
    run_sql(store, "UPDATE records SET body = CAST(body AS BLOB) WHERE sequence = 4")
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return store.read_bytes()


def run_sql(store: Path, statement: str) -> None:
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA foreign_keys=OFF")
        db.execute(statement)
    db.close()


def change_cell(store: Path, table: str, column: str, value: str) -> bool:
    """Change one cell of a table; return whether the table now has a value of another type in that column."""
    where = f"sequence = {CHANGED}" if table in ("records", "citations", "labels") else "1"
    keyed = table in ("citations", "labels")  # without rowid
    key = where if keyed else f"rowid = (SELECT max(rowid) FROM {table} WHERE {where})"
    db = sqlite3.connect(store)
    try:
        db.text_factory = bytes
        db.execute("PRAGMA foreign_keys=OFF")
        (before,) = db.execute(f"SELECT typeof({column}) FROM {table} WHERE {key}").fetchone()
        with suppress(sqlite3.IntegrityError):
            db.execute(f"UPDATE {table} SET {column} = {value.format(column)} WHERE {key}")
        db.commit()
        types = {row[0] for row in db.execute(f"SELECT typeof({column}) FROM {table}")}
    finally:
        db.close()
    return bool(types - {b"null", before})


@pytest.mark.slow
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_cell_of_another_type_is_a_fault_and_the_rest_is_still_checked(
    table: str, column: str, intact: bytes, tmp_path: Path
) -> None:
    for number, value in enumerate(VALUES):
        store = tmp_path / f"{number}.sqlite"
        store.write_bytes(intact)
        has_other_type = change_cell(store, table, column, value)
        result = assay.audit.verify(store)
        faults = [(fault.kind, fault.sequence) for fault in result.faults]
        assert ("changed", 4) in faults, (value, faults)
        if has_other_type:
            assert [fault for fault in faults if fault != ("changed", 4)], (value, faults)
            if table == "records":
                assert {row[1] for row in faults} == {CHANGED, 4}, (value, faults)


@pytest.mark.parametrize("column", ["body", "commitment", "link", "day", "kind", "owner", "at", "nonce", "id_key"])
def test_a_cell_of_another_type_is_named_once_with_the_number_and_the_id(
    column: str, intact: bytes, tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    store.write_bytes(intact)
    type_name = "BLOB" if column in ("day", "kind") else "TEXT"
    run_sql(store, f"UPDATE records SET {column} = CAST({column} AS {type_name}) || '' WHERE sequence = 2")
    run_sql(store, f"UPDATE records SET {column} = CAST({column} AS {type_name}) WHERE sequence = 2")
    if column in ("owner", "at"):
        run_sql(store, f"UPDATE records SET {column} = 'x' WHERE sequence = 2")
    fault, last = assay.audit.verify(store).faults
    assert ("changed", 2, "req-1") == (fault.kind, fault.sequence, fault.record_id)
    assert column in fault.message
    assert last.sequence == 4


@pytest.mark.parametrize("column", ["body", "commitment", "link", "nonce", "day", "kind", "owner", "at"])
@pytest.mark.parametrize("value", ["123", "'x'", "body || 'ABC'"])
def test_an_answer_beside_one_that_was_changed_is_still_shown(
    column: str, value: str, intact: bytes, tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    store.write_bytes(intact)
    run_sql(store, f"UPDATE records SET {column} = {value} WHERE sequence = 2")
    incident = assay.audit.show(store, "req-0", now=at_noon()).incident
    assert incident is not None
    assert incident.chain_faults == ()
    try:
        changed = assay.audit.show(store, "req-1", now=at_noon()).incident
    except AssayError as error:
        assert "record 2" in str(error)
    else:
        assert changed is not None
        assert changed.chain_faults


def test_an_answer_that_was_changed_beyond_reading_is_named_with_the_exit_code_of_a_change(
    intact: bytes, tmp_path: Path
) -> None:
    store = tmp_path / "s.sqlite"
    store.write_bytes(intact)
    run_sql(store, "UPDATE records SET body = 123 WHERE sequence = 2")
    with pytest.raises(ChangedRecordError, match=r"record 2: its content was changed .*audit verify") as raised:
        assay.audit.show(store, "req-1")
    assert raised.value.exit_code == 1
    with pytest.raises(ChangedRecordError, match="record 2"):
        assay.audit.show(store, question="contract leave")


def test_a_changed_salt_of_the_store_is_a_fault(intact: bytes, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    store.write_bytes(intact)
    run_sql(store, "UPDATE users SET salt = 'x' WHERE number = 0")
    messages = [fault.message for fault in assay.audit.verify(store).faults]
    assert any("users.salt" in message for message in messages), messages


def test_what_a_page_of_zeros_leaves_of_a_record_can_be_linked_and_is_named() -> None:
    lost = ChainRow(7, *[None] * 10)  # type: ignore[arg-type]  # what SQLite reads there
    named = {fault.partition(" ")[0] for fault in find_foreign_cells(lost)}
    assert {"day", "kind", "commitment", "link"} == named
    typed = mend_row(lost)
    assert ("", "", b"", b"") == (typed.day, typed.kind, typed.commitment, typed.link)
    assert typed.body is None
    assert 32 == len(compute_link(bytes(32), typed.sequence, typed.day, typed.kind, typed.commitment))
