"""Exporting answers: filters, masks, what was erased, Parquet, and what is left of a damaged store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.audit.test_show import EMPLOYEE, SALARY, TWELVE, context, write_corpus
from tests.audit.traffic import NOON, at_noon, make_line, write_lines

import assay
from assay.audit.audit_tables import build_export_table
from assay.audit.results import ExportResult
from assay.cli import main
from assay.records.errors import IncompleteError, InputError, MissingExtraError


def make_store(folder: Path, address: str, lines: list[dict[str, Any]]) -> str:
    assay.audit.ingest(address, write_lines(folder / "day.jsonl", lines), now=at_noon)
    return address


def export_lines(folder: Path, store: str, **options: Any) -> tuple[ExportResult, list[dict[str, Any]]]:
    """Export a store and return what was said and written."""
    result = assay.audit.export(store, folder / "out.jsonl", **options)
    return result, [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()]


def test_all_answers_come_out_as_they_are_stored(address: str, tmp_path: Path) -> None:
    stages = context(("leave-1", TWELVE))
    make_store(tmp_path, address, [make_line(number, stages=stages) for number in range(12)])
    result, rows = export_lines(tmp_path, address)
    assert (12, 0, True) == (result.exported, result.masked, result.is_complete)
    assert [f"req-{number}" for number in range(12)] == [row["id"] for row in rows]
    assert TWELVE == rows[3]["stages"][0]["chunks"][0]["text"]
    assert rows[3]["user_uid"].startswith("user:")
    assert 0o600 == (tmp_path / "out.jsonl").stat().st_mode & 0o777


def test_what_was_exported_can_be_ingested_again(tmp_path: Path) -> None:
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), [make_line(number) for number in range(5)])
    export_lines(tmp_path, store)
    again = assay.audit.ingest(tmp_path / "again.sqlite", tmp_path / "out.jsonl", format="audit", now=at_noon)
    assert (5, 0) == (again.stored, again.rejected)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"first": "2026-03-03"}, [2, 3]),
        ({"last": "2026-03-02"}, [0, 1]),
        ({"first": "2026-03-03", "last": "2026-03-03"}, [2]),
        ({"user": "user-1"}, [1]),
        ({"slices": ["tenant=acme"]}, [0, 1]),
        ({"slices": ["role=board", "version.index=v2"]}, [1]),
        ({"slices": ["feedback=down"]}, [3]),
        ({"slices": ["model=none"]}, []),
    ],
)
def test_answers_are_chosen_by_period_user_and_slice(options: dict[str, Any], ids: list[int], tmp_path: Path) -> None:
    lines = [
        make_line(0, user={"tenant": "acme", "roles": ["staff"]}, versions={"index": "v1"}),
        make_line(1, user={"tenant": "acme", "roles": ["staff", "board"]}, versions={"index": "v2"}),
        make_line(2, at="2026-03-03T23:59:59Z", user={"tenant": "globex", "roles": ["board"]}),
        make_line(3, at="2026-03-04T00:00:00Z", feedback="down"),
    ]
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), lines)
    _, rows = export_lines(tmp_path, store, **options)
    assert [f"req-{number}" for number in ids] == [row["id"] for row in rows]


def test_what_a_user_may_not_see_is_masked_unless_it_is_asked_for(tmp_path: Path) -> None:
    answer = f"{TWELVE} {SALARY}"
    stages = context(("leave-1", TWELVE), ("board-1", SALARY))
    lines = [make_line(1, user=EMPLOYEE, stages=stages, answer=answer), make_line(2, user=EMPLOYEE)]
    lines.append(make_line(3, user={"tenant": "acme", "roles": ["board"]}, stages=stages, answer=answer))
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), lines)
    corpus = write_corpus(tmp_path / "corpus.jsonl", leave_1=TWELVE, board_1=SALARY)
    result, rows = export_lines(tmp_path, store, corpus=corpus)
    assert (3, 1) == (result.exported, result.masked)
    assert "zephyrine" not in json.dumps(rows[0])
    assert TWELVE in json.dumps(rows[0])
    assert "zephyrine" in json.dumps(rows[2])  # the board may see it
    _, shown = export_lines(tmp_path, store, corpus=corpus, show_restricted=True)
    assert "zephyrine" in json.dumps(shown[0])


def test_an_answer_is_masked_by_the_corpus_of_its_version(tmp_path: Path) -> None:
    line = make_line(1, user=EMPLOYEE, stages=context(("board-1", SALARY)), answer=SALARY)
    lines = [line | {"id": version, "versions": {"index": version}} for version in ("v1", "v2", "v3")]
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), lines)
    restricted = write_corpus(tmp_path / "v1.jsonl", board_1=SALARY)
    public = write_lines(tmp_path / "v2.jsonl", [{"chunk_id": "board-1", "text": SALARY}])
    result, rows = export_lines(tmp_path, store, corpus=[f"v1={restricted}", f"v2={public}"])
    assert (3, 1, 1) == (result.exported, result.masked, result.unsearched)
    assert [False, True, True] == ["zephyrine" in json.dumps(row) for row in rows]


def test_where_nothing_tells_what_users_may_see_no_absence_of_masked_text_is_claimed(tmp_path: Path) -> None:
    lines = [make_line(1, user=EMPLOYEE, stages=context(("board-1", SALARY)), answer=SALARY), make_line(2)]
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), lines)
    result, _ = export_lines(tmp_path, store)
    assert (2, 0, 2, True) == (result.exported, result.masked, result.unsearched, result.is_complete)
    (note,) = build_export_table(result).notes
    assert note.startswith("exported as they are: 2 answers of which nothing tells what their users may see")
    corpus = write_corpus(tmp_path / "corpus.jsonl", board_1=SALARY)
    assert 1 == export_lines(tmp_path, store, corpus=corpus)[0].unsearched, "the other record names no user"
    assert 0 == export_lines(tmp_path, store, corpus=corpus, show_restricted=True)[0].unsearched
    other = write_corpus(tmp_path / "other.jsonl", leave_1=TWELVE)
    assert 2 == export_lines(tmp_path, store, corpus=other)[0].unsearched, "no corpus has the chunk of the first"


def test_erased_answers_are_counted_and_not_exported(tmp_path: Path) -> None:
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), [make_line(number) for number in range(14)])
    assay.audit.erase(store, user="user-3", now=NOON)
    result, rows = export_lines(tmp_path, store)
    assert (12, 2, True) == (result.exported, result.erased, result.is_complete)
    assert not {"req-3", "req-10"} & {row["id"] for row in rows}


def test_nothing_to_export_is_an_empty_file(tmp_path: Path) -> None:
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), [make_line(1)])
    result, rows = export_lines(tmp_path, store, last="2020-01-01")
    assert (0, []) == (result.exported, rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": "soon"}, "--from: not a day"),
        ({"first": "2026-03-03", "last": "2026-03-02"}, "before the first day"),
        ({"slices": ["team=hr"]}, "not a slice"),
        ({"slices": ["tenant"]}, "not a slice"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), [make_line(1)])
    with pytest.raises(InputError, match=message):
        assay.audit.export(store, tmp_path / "out.jsonl", **options)
    assert not (tmp_path / "out.jsonl").exists()


def test_parquet_has_a_column_for_each_field(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (pip install pyarrow)")
    store = make_store(
        tmp_path,
        str(tmp_path / "s.sqlite"),
        [make_line(1, user=EMPLOYEE, stages=context(("leave-1", TWELVE))), make_line(2, answer=None, latency_ms=...)],
    )
    assay.audit.export(store, tmp_path / "out.parquet")
    first, second = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert ("req-1", "acme", ["employee"], 900.5) == (first["id"], first["tenant"], first["roles"], first["latency_ms"])
    assert "2026-03-02T12:00:01+00:00" == first["at"].isoformat()
    assert TWELVE == json.loads(first["stages"])[0]["chunks"][0]["text"]
    assert (None, None, None) == (second["answer"], second["latency_ms"], second["roles"])
    empty = assay.audit.export(store, tmp_path / "none.parquet", last="2020-01-01")
    assert (0, 0) == (empty.exported, parquet.read_table(tmp_path / "none.parquet").num_rows)


def test_parquet_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), [make_line(1)])
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"rag-assay\[parquet\]"):
        assay.audit.export(store, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


# ── damaged stores ───────────────────────────────────────────────────────────────────────────────────────────────────


def find_record_pages(store: Path) -> list[int]:
    """Return the offsets of the leaf pages that hold records."""
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = db.execute("PRAGMA page_size").fetchone()[0]
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'records'").fetchone()[0]
    db.close()
    raw = store.read_bytes()
    page = raw[(root - 1) * size : root * size]
    assert 5 == page[0]  # an interior page of a table: its cells name the leaves
    count = int.from_bytes(page[3:5], "big")
    cells = [int.from_bytes(page[12 + 2 * number : 14 + 2 * number], "big") for number in range(count)]
    return [(int.from_bytes(page[cell : cell + 4], "big") - 1) * size for cell in cells]


@pytest.mark.slow
def test_what_is_left_of_a_damaged_store_is_exported_and_the_rest_named(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    make_store(tmp_path, str(store), [make_line(number) for number in range(1, 401)])
    pages = find_record_pages(store)
    raw = bytearray(store.read_bytes())
    for offset in (pages[3], pages[4], pages[9]):
        raw[offset : offset + 200] = b"\xff" * 200
    store.write_bytes(raw)
    with pytest.raises(IncompleteError, match=r"the store is damaged .* --salvage"):
        assay.audit.export(store, tmp_path / "out.jsonl")
    result, rows = export_lines(tmp_path, str(store), salvage=True)
    lost = {number for first, last in result.lost for number in range(first, last + 1)} | set(result.damaged)
    assert 0 < len(lost) < 100
    assert not result.is_complete
    assert {f"req-{number}" for number in range(1, 401) if number not in lost} == {row["id"] for row in rows}


@pytest.mark.slow
def test_the_command_says_what_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "s.sqlite"
    make_store(tmp_path, str(store), [make_line(number) for number in range(1, 201)])
    offset = find_record_pages(store)[2]
    raw = bytearray(store.read_bytes())
    raw[offset : offset + 200] = b"\xff" * 200
    store.write_bytes(raw)
    out = tmp_path / "out.jsonl"
    capsys.readouterr()
    assert 3 == main(["audit", "export", "--store", str(store), "--out", str(out), "--salvage"])
    assert "records that cannot be read" in capsys.readouterr().out
    assert 3 == main(["audit", "export", "--store", str(store), "--out", str(out), "--salvage", "--format", "json"])
    report = json.loads(capsys.readouterr().out.rpartition("}")[0] + "}")
    assert 200 == report["exported"] + sum(last - first + 1 for first, last in report["lost"])


EDITS: dict[str, Callable[[sqlite3.Connection], Any]] = {
    "a changed record": lambda db: db.execute(
        "UPDATE records SET body = (SELECT body FROM records WHERE sequence = 2) WHERE sequence = 5"
    ),
    "a record that is no record": lambda db: db.execute("UPDATE records SET body = x'00ff' WHERE sequence = 5"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_record_that_is_not_what_the_chain_committed_to_is_not_salvaged(name: str, tmp_path: Path) -> None:
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), [make_line(number) for number in range(1, 9)])
    with sqlite3.connect(store) as db:
        EDITS[name](db)
    db.close()
    result, rows = export_lines(tmp_path, store, salvage=True)
    assert ([5], 7) == (result.damaged, len(rows))


def test_a_removed_record_and_a_lost_text_are_said(tmp_path: Path) -> None:
    lines = [make_line(number, stages=context(("leave-1", f"{TWELVE} {number}"))) for number in range(1, 9)]
    store = make_store(tmp_path, str(tmp_path / "s.sqlite"), lines)
    with sqlite3.connect(store) as db:
        db.execute("DELETE FROM records WHERE sequence IN (3, 4)")
        db.execute("DELETE FROM texts WHERE rowid = 1")
    db.close()
    result, _ = export_lines(tmp_path, store, salvage=True)
    assert ([(3, 4)], 1, 6) == (result.lost, result.lost_texts, result.exported)
