"""A store whose file is damaged: verifying names the tables, and every row on a page that survives is salvaged."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.audit.test_show import TWELVE, context
from tests.audit.traffic import NOON, at_noon, make_line, write_lines

import assay
from assay.audit.results import ExportResult, VerifyResult
from assay.cli import main
from assay.records.errors import IncompleteError, InputError

pytestmark = pytest.mark.slow
COUNT = 600
LONG = "A long answer of many words. " * 1500  # goes on over several pages


def make_store(folder: Path, count: int = COUNT) -> Path:
    """Return a store with short answers, long ones and texts of chunks, all of it in the file itself."""
    store = folder / "s.sqlite"
    lines = []
    for number in range(1, count + 1):
        stages = context((f"leave-{number % 5}", f"{TWELVE} Contract {number}."))
        lines.append(make_line(number, stages=stages, answer=LONG + str(number) if number % 50 == 0 else "Twelve."))
    assay.audit.ingest(store, write_lines(folder / "day.jsonl", lines), redact="none", now=at_noon)
    read_roots(store)
    return store


def read_roots(store: Path) -> dict[str, int]:
    """Return the root page of each table and index, after everything has been written into the file itself."""
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        roots = dict(db.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0").fetchall())
    db.close()
    return roots


def overwrite(store: Path, offset: int, size: int = 200) -> None:
    raw = bytearray(store.read_bytes())
    raw[offset : offset + size] = b"\xff" * size
    store.write_bytes(raw)


def destroy_page(store: Path, name: str) -> None:
    overwrite(store, 4096 * (read_roots(store)[name] - 1))


def cut(store: Path, share: float) -> None:
    with store.open("r+b") as file:
        file.truncate(int(store.stat().st_size * share))


# ── verifying ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("page", "table"),
    [
        ("records_at", "records"),
        ("sqlite_autoindex_records_1", "records"),
        ("citations", "citations"),
        ("citations_sequence", "citations"),
        ("labels", "labels"),
        ("questions_data", "questions"),
        ("questions_idx", "questions"),
        ("sqlite_autoindex_checkpoints_1", "checkpoints"),
        ("ix_texts_owner", "texts"),
    ],
)
def test_a_damaged_page_that_the_chain_does_not_need_is_found(
    page: str, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_store(tmp_path, 60)
    destroy_page(store, page)
    capsys.readouterr()
    assert 1 == main(["audit", "verify", "--store", str(store), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert (False, [], 60) == (report["intact"], report["faults"], report["records"])
    assert (True, [table]) == (report["pages"]["checked"], [row["table"] for row in report["pages"]["damaged"]])
    assert 1 == main(["audit", "verify", "--store", str(store)])
    printed = " ".join(capsys.readouterr().out.split())
    assert f"pages of the database: damaged in {table}" in printed
    assert "every record of the chain could still be read" in printed
    assert "restore a copy of it" in printed


def test_a_damaged_page_after_a_checkpoint_is_named_and_accuses_nobody(tmp_path: Path) -> None:
    store, point = make_store(tmp_path), tmp_path / "verified.json"
    assay.audit.verify(store, checkpoint=point, now=NOON)
    destroy_page(store, "records")
    verification = assay.audit.verify(store, checkpoint=point)
    assert (0, True) == (verification.skipped, bool(verification.lost))
    assert not any("rewritten" in fault.message for fault in verification.faults)


def test_a_row_that_is_missing_from_an_index_is_found(tmp_path: Path) -> None:
    store = make_store(tmp_path, 60)
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET name = 'hidden', sql = 'CREATE INDEX hidden ON records (at)' "
                   "WHERE name = 'records_at'")  # fmt: skip
    db.close()
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA writable_schema = ON")
        row = db.execute(
            "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master WHERE name = 'hidden'"
        ).fetchone()
        db.execute("DELETE FROM sqlite_master WHERE name = 'hidden'")
    db.close()
    with sqlite3.connect(store) as db:  # nobody knows of the index now
        db.execute("UPDATE records SET at = at + 1 WHERE sequence = 7")
        db.execute("UPDATE records SET at = at - 1 WHERE sequence = 7")
        db.execute("UPDATE records SET at = at + 1 WHERE sequence = 9")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    db.close()
    verification = assay.audit.verify(store)
    assert [("index", 9)] == [(fault.kind, fault.sequence) for fault in verification.faults]
    assert ["records"] == [damage.table for damage in verification.pages.damaged]
    assert "row 9 missing from index" in verification.pages.damaged[0].first


def test_an_index_of_words_that_contradicts_itself_is_found(tmp_path: Path) -> None:
    store = make_store(tmp_path, 60)
    with sqlite3.connect(store) as db:
        db.execute("DELETE FROM questions_data WHERE id > 10")
    db.close()
    assert [("questions", 1)] == [(row.table, row.faults) for row in assay.audit.verify(store).pages.damaged]


def test_pages_are_checked_where_everything_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, point = make_store(tmp_path, 60), tmp_path / "verified.json"
    first = assay.audit.verify(store, checkpoint=point)
    assert (True, True, ()) == (first.is_intact, first.pages.is_checked, first.pages.damaged)
    destroy_page(store, "records_at")
    second = assay.audit.verify(store, checkpoint=point)
    assert (True, False, 60) == (second.is_intact, second.pages.is_checked, second.skipped)
    capsys.readouterr()
    assert 0 == main(["audit", "verify", "--store", str(store), "--checkpoint", str(point)])
    assert "pages of the database: not checked" in " ".join(capsys.readouterr().out.split())
    assert 1 == main(["audit", "verify", "--store", str(store), "--checkpoint", str(point), "--full"])
    with pytest.raises(InputError, match="not signed off, because the store has 1 fault"):
        assay.audit.verify(store, roots=tmp_path / "roots.jsonl", sign_off="Lan Pham")


def test_what_was_not_checked_of_a_database_is_said(address: str, tmp_path: Path) -> None:
    assay.audit.ingest(address, write_lines(tmp_path / "day.jsonl", [make_line(1)]), now=at_noon)
    verification = assay.audit.verify(address)
    assert verification.is_intact
    assert (
        verification.pages.is_checked is (verification.pages.notice is None) is (not address.startswith("postgresql"))
    )
    if verification.pages.notice is not None:
        assert "pg_amcheck" in verification.pages.notice


def test_a_chain_that_cannot_be_read_at_all_is_lost_from_its_first_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_store(tmp_path)
    destroy_page(store, "records")
    capsys.readouterr()
    assert 1 == main(["audit", "verify", "--store", str(store), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert (False, 0, [{"first": 1, "last": None}]) == (report["intact"], report["records"], report["lost"])
    assert "records" in [row["table"] for row in report["pages"]["damaged"]]


def list_leaves(store: Path, table: str) -> list[int]:
    """Return the pages of a table that hold its rows, in order."""
    with sqlite3.connect(store) as db:
        query = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        pages = [row[0] for row in db.execute(query, (table,))]
    db.close()
    return pages


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_records_on_a_damaged_page_are_named_and_the_others_checked(
    share: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_store(tmp_path)
    leaves = list_leaves(store, "records")
    place = min(int(share * len(leaves)), len(leaves) - 1)
    overwrite(store, 4096 * (leaves[place] - 1))
    verification = assay.audit.verify(store)
    ((first, last),) = verification.lost
    end = COUNT if last is None else last
    assert (last is None) is (place == len(leaves) - 1)
    assert verification.records == COUNT - (end - first + 1)
    assert ["lost"] == [fault.kind for fault in verification.faults], (
        "the links around the gap are no faults of their own"
    )
    assert list_lost(salvage(store)[0]) <= set(range(first, end + 1))
    capsys.readouterr()
    assert 1 == main(["audit", "verify", "--store", str(store), "--format", "json"])
    assert [{"first": first, "last": last}] == json.loads(capsys.readouterr().out)["lost"]


def test_another_fault_beside_a_damaged_page_is_still_found(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with sqlite3.connect(store) as db:
        db.execute("UPDATE records SET day = '2020-01-01' WHERE sequence = ?", (COUNT - 1,))
    db.close()
    read_roots(store)
    overwrite(store, 4096 * (list_leaves(store, "records")[1] - 1))
    kinds = {fault.sequence: fault.kind for fault in assay.audit.verify(store).faults}
    assert "lost" in kinds.values()
    assert "moved" == kinds[COUNT - 1]


def test_texts_on_a_damaged_page_are_missed_and_the_others_checked(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    overwrite(store, 4096 * (list_leaves(store, "texts")[1] - 1))
    verification = assay.audit.verify(store)
    assert verification.records == COUNT
    assert 0 < len(verification.faults) < COUNT
    assert {"changed"} == {fault.kind for fault in verification.faults}


# ── salvaging ────────────────────────────────────────────────────────────────────────────────────────────────────────


def salvage(store: Path, **options: Any) -> tuple[ExportResult, dict[int, dict[str, object]]]:
    """Salvage a store, check that what came out is what went in, and return it by the number of its record."""
    export = assay.audit.export(store, store.with_name("rest.jsonl"), salvage=True, **options)
    rows = [json.loads(line) for line in store.with_name("rest.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {int(row["id"].removeprefix("req-")): row for row in rows}
    for number, row in found.items():
        assert row["answer"] == (LONG + str(number) if number % 50 == 0 else "Twelve.")
        assert row["question"] == make_line(number)["question"]
    return export, found


def list_lost(result: ExportResult) -> set[int]:
    return {number for first, last in result.lost for number in range(first, last + 1)} | set(result.damaged)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_what_is_left_of_a_file_that_was_cut_off_is_exported(share: float, tmp_path: Path) -> None:
    store = make_store(tmp_path)
    cut(store, share)
    result, found = salvage(store)
    assert share * COUNT * 0.4 < len(found) < COUNT
    last = max(found)
    assert set(range(1, last + 1)) == set(found) | list_lost(result)
    assert not set(found) & list_lost(result)
    (notice,) = result.notices
    assert "the file was cut off" in notice
    assert "if there were any, are lost" in notice
    assert "--salvage" not in notice


def test_the_command_that_salvages_does_not_recommend_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_store(tmp_path)
    cut(store, 0.5)
    words = ["audit", "export", "--store", str(store), "--out", str(tmp_path / "rest.jsonl")]
    assert 3 == main(words)
    assert "--salvage" in capsys.readouterr().err
    assert 3 == main([*words, "--salvage"])
    captured = capsys.readouterr()
    assert "--salvage" not in captured.out + captured.err
    assert "the file was cut off" in captured.out


DESTRUCTIONS: dict[str, Callable[[Path], None]] = {
    "the header": lambda store: overwrite(store, 0),
    "the inner page over all records": lambda store: destroy_page(store, "records"),
    "the index of texts": lambda store: destroy_page(store, "sqlite_autoindex_texts_1"),
}


@pytest.mark.parametrize("name", DESTRUCTIONS)
def test_rows_are_found_where_no_tree_leads_to_them(name: str, tmp_path: Path) -> None:
    store = make_store(tmp_path)
    DESTRUCTIONS[name](store)
    result, found = salvage(store)
    assert (set(range(1, COUNT + 1)), set()) == (set(found), list_lost(result))
    assert (0, 0) == (result.lost_texts, result.unverified)
    assert f"{TWELVE} Contract 7." in json.dumps(found[7])


def test_records_in_the_write_ahead_log_are_salvaged(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    line = make_line(COUNT + 1, answer="Twelve.")
    kept = tmp_path / "kept"
    kept.mkdir()
    with sqlite3.connect(store) as reader:  # while somebody reads, the log is not written back into the file
        reader.execute("SELECT count(*) FROM records").fetchone()
        assay.audit.ingest(store, write_lines(tmp_path / "more.jsonl", [line]), now=at_noon)
        for name in ("s.sqlite", "s.sqlite-wal"):
            shutil.copy(tmp_path / name, kept / name)
    reader.close()
    overwrite(kept / "s.sqlite", 0)
    _, found = salvage(kept / "s.sqlite")
    assert set(range(1, COUNT + 2)) == set(found)
    (kept / "s.sqlite-wal").write_bytes(b"no log")
    _, found = salvage(kept / "s.sqlite")
    assert set(range(1, COUNT + 1)) == set(found)


def test_erased_answers_stay_erased_in_what_is_salvaged(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    erased = assay.audit.erase(store, user="user-3", now=NOON)
    read_roots(store)
    overwrite(store, 0)
    result, found = salvage(store)
    assert erased.records == result.erased > 0
    assert not any(number % 7 == 3 for number in found)


def test_a_user_is_salvaged_by_the_key(tmp_path: Path) -> None:
    store = make_store(tmp_path, 60)
    overwrite(store, 0)
    _, found = salvage(store, user="user-3")
    assert found
    assert all(number % 7 == 3 for number in found)


@pytest.mark.parametrize("content", [b"", b"no store", bytes(9000), b"\x0d" * 9000])
def test_a_file_without_a_record_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.sqlite: no record was found"):
        assay.audit.export(tmp_path / "x.sqlite", tmp_path / "out.jsonl", salvage=True)
    with pytest.raises(InputError, match=r"none\.sqlite: cannot be read"):
        assay.audit.export(tmp_path / "none.sqlite", tmp_path / "out.jsonl", salvage=True)


def test_any_damage_gives_true_records_or_a_clear_error(tmp_path: Path) -> None:
    chance = random.Random(7)
    original = make_store(tmp_path, 120).read_bytes()
    store = tmp_path / "torn.sqlite"
    counts = []
    for _ in range(25):
        raw = bytearray(original)
        for _ in range(chance.randrange(1, 40)):
            start, size = chance.randrange(len(raw)), chance.randrange(1, 3000)
            raw[start : start + size] = chance.randbytes(min(size, len(raw) - start))
        store.write_bytes(raw)
        result, found = salvage(store)
        counts.append(len(found))
        assert not result.unverified or result.exported >= result.unverified
        try:
            verified: VerifyResult | None = assay.audit.verify(store)
        except (IncompleteError, InputError):
            verified = None
        if verified is not None and verified.is_intact:
            assert len(found) == 120
    assert 20 < sum(counts) / len(counts) < 120
