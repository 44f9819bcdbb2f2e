"""The chain: every change, removal, insertion and exchange is found and named, and signing off finds the rest."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from tests.audit.traffic import NOON, at_noon, make_line, write_lines

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.audit_tables import build_erasure_table, build_verify_table
from assay.audit.chain import CHECKPOINT_RECORDS, GENESIS, compute_commitment, compute_link
from assay.audit.packed_body import pack_body, unpack_body
from assay.audit.schema import RECORDS, USERS
from assay.audit.search_store import AnswerQuery, search_answers
from assay.records.audit_records import StoredAnswer
from assay.records.errors import IncompleteError, InputError

Tampering = Callable[[sqlite3.Connection], object]


def make_store(folder: Path, count: int = 20, now: Callable[[], datetime] = at_noon) -> str:
    store = str(folder / "audit.sqlite")
    stages = [{"name": "context", "chunks": [{"chunk_id": "leave-1", "text": "Twenty days."}]}]
    lines = [make_line(number, stages=stages) for number in range(count)]
    assay.audit.ingest(store, write_lines(folder / "day.jsonl", lines), now=now)
    return store


def faults_after(folder: Path, tamper: Tampering) -> list[tuple[str, int | None, str | None]]:
    store = make_store(folder)
    with sqlite3.connect(store) as db:
        tamper(db)
    db.close()
    return [(fault.kind, fault.sequence, fault.record_id) for fault in assay.audit.verify(store).faults]


def _edit_answer(db: sqlite3.Connection, sequence: int) -> bytes:
    (packed,) = db.execute("SELECT body FROM records WHERE sequence = ?", (sequence,)).fetchone()
    body = unpack_body(packed).replace(b"grants", b"denies")
    db.execute("UPDATE records SET body = ? WHERE sequence = ?", (pack_body(body), sequence))
    return body


def _swap(db: sqlite3.Connection, columns: str, first: int, second: int) -> None:
    names = columns.split(", ")
    rows = {
        n: db.execute(f"SELECT {columns} FROM records WHERE sequence = ?", (n,)).fetchone() for n in (first, second)
    }
    if "id_key" in names:  # it is unique
        db.execute("UPDATE records SET id_key = NULL WHERE sequence IN (?, ?)", (first, second))
    setters = ", ".join(f"{name} = ?" for name in names)
    db.execute(f"UPDATE records SET {setters} WHERE sequence = ?", (*rows[second], first))
    db.execute(f"UPDATE records SET {setters} WHERE sequence = ?", (*rows[first], second))


def _forge_one(db: sqlite3.Connection, sequence: int) -> None:
    """Change an answer with its commitment and its own link, as somebody would who knows the format."""
    body = _edit_answer(db, sequence)
    query = "SELECT day, kind, nonce, salt FROM records JOIN users ON number = owner WHERE sequence = ?"
    day, kind, nonce, salt = db.execute(query, (sequence,)).fetchone()
    (previous,) = db.execute("SELECT link FROM records WHERE sequence = ?", (sequence - 1,)).fetchone()
    commitment = compute_commitment(body, salt, nonce)
    link = compute_link(previous, sequence, day, kind, commitment)
    db.execute("UPDATE records SET commitment = ?, link = ? WHERE sequence = ?", (commitment, link, sequence))


EVERYTHING = "kind, id_key, at, owner, body, nonce, commitment, erased_at"

TAMPERINGS: dict[str, tuple[Tampering, list[tuple[str, int | None, str | None]]]] = {
    "nothing": (lambda db: None, []),
    "an answer is changed": (lambda db: _edit_answer(db, 7), [("changed", 7, "req-6")]),
    "an answer is changed with its own link": (lambda db: _forge_one(db, 7), [("moved", 8, None)]),
    "a record is removed": (
        lambda db: db.execute("DELETE FROM records WHERE sequence = 7"),
        [("removed", 7, None)],
    ),
    "two records are exchanged": (
        lambda db: _swap(db, EVERYTHING, 5, 9),
        [("moved", 5, None), ("index", 5, "req-8"), ("moved", 9, None), ("index", 9, "req-4")],
    ),
    "two bodies are exchanged": (
        lambda db: _swap(db, "body", 5, 12),
        [("changed", 5, "req-11"), ("changed", 12, "req-4")],
    ),
    "the content is taken out": (
        lambda db: db.execute("UPDATE records SET body = NULL, nonce = NULL WHERE sequence = 7"),
        [("changed", 7, None)],
    ),
    "the content is taken out as if it were erased": (
        lambda db: db.execute("UPDATE records SET body = NULL, nonce = NULL, erased_at = 'x' WHERE sequence = 7"),
        [("erased", 7, None)],
    ),
    "the time in the index is changed": (
        lambda db: db.execute("UPDATE records SET at = at + 1 WHERE sequence = 7"),
        [("index", 7, "req-6")],
    ),
    "an answer is given to another user": (
        lambda db: db.execute("UPDATE records SET owner = (owner % 7) + 1 WHERE sequence = 7"),
        [("changed", 7, "req-6")],
    ),
    "a citation is taken out of the index": (
        lambda db: db.execute("DELETE FROM citations WHERE sequence = 7"),
        [("index", 7, "req-6")],
    ),
    "the kind of a record is changed": (
        lambda db: db.execute("UPDATE records SET kind = 'finding' WHERE sequence = 7"),
        [("moved", 7, None)],
    ),
    "the body is no packed text": (
        lambda db: db.execute("UPDATE records SET body = x'00' WHERE sequence = 7"),
        [("changed", 7, None)],
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_was_done_to_a_store_is_found_and_named(name: str, tmp_path: Path) -> None:
    tamper, faults = TAMPERINGS[name]
    assert faults == faults_after(tmp_path, tamper)


@pytest.mark.parametrize("change", ["UPDATE texts SET body = x'00'", "DELETE FROM texts"])
def test_a_changed_or_missing_text_is_found_in_every_answer_that_has_it(change: str, tmp_path: Path) -> None:
    faults = faults_after(tmp_path, lambda db: db.execute(f"{change} WHERE owner = 1"))
    assert {"changed"} == {kind for kind, _, _ in faults}
    assert len(faults) == 3  # one user asked three of the twenty questions


@pytest.mark.slow
def test_every_single_removal_is_found(tmp_path: Path) -> None:
    store = make_store(tmp_path, 12)
    for sequence in range(1, 12):
        with sqlite3.connect(store) as db:
            row = db.execute("SELECT * FROM records WHERE sequence = ?", (sequence,)).fetchone()
            db.execute("DELETE FROM records WHERE sequence = ?", (sequence,))
        db.close()
        assert ("removed", sequence) in {(f.kind, f.sequence) for f in assay.audit.verify(store).faults}
        with sqlite3.connect(store) as db:
            db.execute(f"INSERT INTO records VALUES ({', '.join('?' * len(row))})", row)
        db.close()
    assert assay.audit.verify(store).is_intact


# ── signing off ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _rewrite_from(store: str, sequence: int) -> None:
    """Change one answer and compute the chain again up to its end: the chain itself is then in order."""
    with open_audit_store(store) as opened, opened.writing() as connection:
        rows = connection.execute(sa.select(RECORDS).order_by(RECORDS.c.sequence)).all()
        salts = {number: salt for number, _, salt in connection.execute(sa.select(USERS))}
        link = GENESIS
        for row in rows:
            body = unpack_body(row.body)
            if row.sequence == sequence:
                answer = msgspec.json.decode(body, type=StoredAnswer)
                changed = msgspec.structs.replace(answer.record, answer="Something else.")
                body = msgspec.json.encode(msgspec.structs.replace(answer, record=changed))
            commitment = compute_commitment(body, salts[row.owner], row.nonce)
            link = compute_link(link, row.sequence, row.day, row.kind, commitment)
            values = {"body": pack_body(body), "commitment": commitment, "link": link}
            connection.execute(sa.update(RECORDS).where(RECORDS.c.sequence == row.sequence).values(values))


@pytest.mark.slow
def test_a_store_rewritten_as_a_whole_is_found_by_its_signed_off_root(tmp_path: Path) -> None:
    store, roots = make_store(tmp_path, 2 * CHECKPOINT_RECORDS + 500), tmp_path / "roots.jsonl"
    signed = assay.audit.verify(store, roots=roots, sign_off="Lan Pham", now=NOON)
    assert (True, 1, []) == (signed.is_intact, signed.signed_roots, signed.unsigned_days)
    _rewrite_from(store, 1234)
    assert assay.audit.verify(store).is_intact  # which is why roots are signed off
    (fault,) = assay.audit.verify(store, roots=roots).faults
    assert ("root", 2000) == (fault.kind, fault.sequence)
    assert "by Lan Pham differs" in fault.message


def test_a_store_that_was_cut_off_is_found_by_its_signed_off_root(tmp_path: Path) -> None:
    store, roots = make_store(tmp_path), tmp_path / "roots.jsonl"
    assay.audit.verify(store, roots=roots, sign_off="Lan Pham", now=NOON)
    with sqlite3.connect(store) as db:
        db.execute("DELETE FROM records WHERE sequence > 15")
    db.close()
    assert assay.audit.verify(store).is_intact
    (fault,) = assay.audit.verify(store, roots=roots).faults
    assert ("removed", 16) == (fault.kind, fault.sequence)


def test_a_day_may_go_on_after_it_was_signed_off(tmp_path: Path) -> None:
    store, roots = make_store(tmp_path), tmp_path / "roots.jsonl"
    assay.audit.verify(store, roots=roots, sign_off="Lan Pham", now=NOON)
    assay.audit.ingest(store, write_lines(tmp_path / "more.jsonl", map(make_line, range(100, 110))), now=at_noon)
    assert assay.audit.verify(store, roots=roots).is_intact
    tomorrow = NOON + timedelta(days=1)
    assay.audit.ingest(store, write_lines(tmp_path / "b.jsonl", [make_line(200)]), now=lambda: tomorrow)
    verification = assay.audit.verify(store, roots=roots)
    assert (True, ["2026-03-03"]) == (verification.is_intact, verification.unsigned_days)
    assay.audit.verify(store, roots=roots, sign_off="Lan Pham", now=tomorrow)
    assert ["2026-03-02", "2026-03-03"] == [json.loads(line)["root"]["day"] for line in roots.read_text().splitlines()]


def test_what_came_after_a_sign_off_of_the_day_is_named_and_signed_off_next(tmp_path: Path) -> None:
    store, roots = make_store(tmp_path), tmp_path / "roots.jsonl"
    assay.audit.verify(store, roots=roots, sign_off="Lan Pham", now=NOON)
    covered = assay.audit.verify(store, roots=roots)
    assert (1, 20, None, []) == (
        covered.signed_roots,
        covered.signed_until,
        covered.unsigned_from,
        covered.unsigned_days,
    )
    assay.audit.ingest(store, write_lines(tmp_path / "more.jsonl", map(make_line, range(100, 110))), now=at_noon)
    later = assay.audit.verify(store, roots=roots)
    assert (1, 20, 21, ["2026-03-02"]) == (
        later.signed_roots,
        later.signed_until,
        later.unsigned_from,
        later.unsigned_days,
    )
    notes = build_verify_table(later).notes
    assert "1 signed-off day, up to record 20" in notes
    assert any(note.startswith("records 21 to 30 are not signed off (2026-03-02): ") for note in notes)
    again = assay.audit.verify(store, roots=roots, sign_off="Lan Pham", now=NOON)
    assert (1, 30, None) == (again.signed_roots, again.signed_until, again.unsigned_from)
    with sqlite3.connect(store) as db:
        db.execute("DELETE FROM records WHERE sequence > 25")
    db.close()
    (fault,) = assay.audit.verify(store, roots=roots).faults
    assert ("removed", 26) == (fault.kind, fault.sequence)


def test_a_day_that_was_rewritten_and_went_on_is_found_by_its_signed_off_root(tmp_path: Path) -> None:
    store, roots = make_store(tmp_path), tmp_path / "roots.jsonl"
    assay.audit.verify(store, roots=roots, sign_off="Lan Pham", now=NOON)
    assay.audit.ingest(store, write_lines(tmp_path / "more.jsonl", map(make_line, range(100, 110))), now=at_noon)
    _rewrite_from(store, 5)
    assert assay.audit.verify(store).is_intact
    (fault,) = assay.audit.verify(store, roots=roots).faults
    assert "root" == fault.kind and "by Lan Pham differs" in fault.message


def test_a_forged_root_and_a_wrong_key_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, roots = make_store(tmp_path), tmp_path / "roots.jsonl"
    assay.audit.verify(store, roots=roots, sign_off="Lan Pham", now=NOON)
    genuine = roots.read_text()
    roots.write_text(genuine.replace("Lan Pham", "Somebody Else"))
    (fault,) = assay.audit.verify(store, roots=roots).faults
    assert "was not signed with this key" in fault.message
    row = json.loads(genuine)
    del row["signature"]
    roots.write_text(json.dumps(row) + "\n")
    assert "has no signature" in assay.audit.verify(store, roots=roots).faults[0].message
    monkeypatch.delenv("ASSAY_AUDIT_KEY")
    assert assay.audit.verify(store, roots=roots).is_intact
    roots.write_text("{}\nnot json\n")
    with pytest.raises(InputError, match="not a signed-off root") as raised:
        assay.audit.verify(store, roots=roots)
    assert [1, 2] == [problem.line for problem in raised.value.problems]


def test_a_store_with_faults_is_not_signed_off(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with sqlite3.connect(store) as db:
        _edit_answer(db, 7)
    db.close()
    with pytest.raises(InputError, match="not signed off, because the store has 1 fault"):
        assay.audit.verify(store, roots=tmp_path / "roots.jsonl", sign_off="Lan Pham", now=NOON)
    assert not (tmp_path / "roots.jsonl").exists()
    with pytest.raises(InputError, match="no file for the roots"):
        assay.audit.verify(store, sign_off="Lan Pham")


@pytest.mark.slow
def test_many_corrupted_pages_are_named_by_what_is_lost(tmp_path: Path) -> None:
    store = Path(make_store(tmp_path, 400))
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    raw = bytearray(store.read_bytes())
    for page in range(4096 * 8, len(raw) - 4096 * 4, 4096 * 3):
        raw[page : page + 200] = b"\xff" * 200
    store.write_bytes(raw)
    verification = assay.audit.verify(store)
    assert not verification.is_intact
    assert verification.lost
    assert {"lost"} <= {fault.kind for fault in verification.faults}


def test_a_full_disk_leaves_no_half_of_a_signed_off_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, roots = make_store(tmp_path), tmp_path / "roots.jsonl"
    assay.audit.verify(store, roots=roots, sign_off="Lan")
    before = roots.read_bytes()
    later = at_noon() + timedelta(days=1)
    assay.audit.ingest(store, write_lines(tmp_path / "b.jsonl", [make_line(90)]), now=lambda: later)

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("assay.audit.verify_store.os.fsync", fail)
        with pytest.raises(IncompleteError, match=r"roots\.jsonl: cannot be written: No space left on device"):
            assay.audit.verify(store, roots=roots, sign_off="Lan")
    assert roots.read_bytes() == before
    assert roots.stat().st_mode & 0o777 == 0o600
    assert not assay.audit.verify(store, roots=roots, sign_off="Lan").unsigned_days


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_erased_user_is_gone_and_the_chain_stays_whole(address: str, tmp_path: Path) -> None:
    stages = [{"name": "context", "chunks": [{"chunk_id": "leave-1", "text": "Twenty days."}]}]
    lines = [make_line(number, stages=stages) for number in range(21)]
    source = write_lines(tmp_path / "day.jsonl", lines)
    assay.audit.ingest(address, source, now=at_noon)
    counted = assay.audit.erase(address, user="user-3", dry_run=True, now=NOON)
    assert (3, 1, True) == (counted.records, counted.texts, counted.dry_run)
    erased = assay.audit.erase(address, user="user-3", now=NOON)
    assert (3, 1, False) == (erased.records, erased.texts, erased.dry_run)
    verification = assay.audit.verify(address)
    assert (True, 18, 3, 22) == (
        verification.is_intact,
        verification.answers,
        verification.erased,
        verification.records,
    )
    with pytest.raises(InputError, match="no such user"):
        assay.audit.erase(address, user="user-3", now=NOON)
    again: Any = assay.audit.ingest(address, source, now=at_noon)
    assert (0, 18, 3) == (again.stored, again.duplicates, again.erased)
    newer = write_lines(tmp_path / "new.jsonl", [make_line(24)])  # the same user asks again
    assert assay.audit.ingest(address, newer, now=at_noon).stored == 1
    assert assay.audit.verify(address).is_intact


def test_nothing_of_an_erased_user_is_left_in_the_file(tmp_path: Path) -> None:
    store = tmp_path / "audit.sqlite"
    lines = [make_line(number) for number in range(50)]
    lines[3] |= {"user_uid": "gone", "question": "xylophonist zeppelins quixotry", "citations": ["secretcitation"]}
    assay.audit.ingest(store, write_lines(tmp_path / "day.jsonl", lines), now=at_noon)

    def read_all() -> bytes:
        return b"".join(path.read_bytes() for path in sorted(tmp_path.glob("audit.sqlite*")))

    with sqlite3.connect(store) as db:
        body, nonce = db.execute("SELECT body, nonce FROM records WHERE sequence = 4").fetchone()
        (salt,) = db.execute("SELECT salt FROM users JOIN records ON number = owner WHERE sequence = 4").fetchone()
    db.close()
    traces = [b"xylophonist", b"zeppelins", b"secretcitation", body, nonce, salt]
    assert all(trace in read_all() for trace in traces)
    assay.audit.erase(store, user="gone", now=NOON)
    assert [] == [trace for trace in traces if trace in read_all()]


CHANGES = {
    "its body is no answer": b"\0",
    "its body is empty": b"",
    "another question is in it": pack_body(b'{"record":{"id":"req-3","at":"2026-03-02T12:00:03Z","question":"Tax?"}}'),
}


@pytest.mark.parametrize("body", CHANGES.values(), ids=CHANGES)
def test_a_changed_record_keeps_nobody_from_erasing_and_stays_a_fault(
    address: str, body: bytes, tmp_path: Path
) -> None:
    lines = [make_line(number) for number in range(21)]
    lines[3]["question"] = "xylophonist zeppelins quixotry"
    assay.audit.ingest(address, write_lines(tmp_path / "day.jsonl", lines), now=at_noon)
    with open_audit_store(address) as store, store.writing() as connection:
        connection.execute(sa.update(RECORDS).where(RECORDS.c.sequence == 4).values(body=body))
    assert list(assay.audit.erase(address, user="user-3", dry_run=True, now=NOON).changed) == [4]
    erased = assay.audit.erase(address, user="user-3", now=NOON)
    assert (erased.records, list(erased.changed)) == (3, [4])
    elsewhere, changed = build_erasure_table(erased).notes
    assert elsewhere.startswith("erased here only: logs of the application, dead letters, exports")
    assert "changed by somebody before: 1 record of these (4)" in changed
    with open_audit_store(address) as store, store.reading() as connection:
        bodies = sa.select(RECORDS.c.body).where(RECORDS.c.sequence.in_([4, 11, 18]))
        assert [None] * 3 == [row[0] for row in connection.execute(bodies)]
        assert search_answers(store, AnswerQuery("xylophonist")).answers == []
        assert [record.id for _, record in search_answers(store, AnswerQuery("contract 5")).answers] == ["req-5"]
    verification = assay.audit.verify(address)
    assert [("changed", 4)] == [(fault.kind, fault.sequence) for fault in verification.faults]
    assert (18, 3) == (verification.answers, verification.erased)
    if "://" not in address:
        assert b"xylophonist" not in b"".join(path.read_bytes() for path in sorted(tmp_path.glob("audit.sqlite*")))


def test_a_record_of_another_type_keeps_nobody_from_erasing(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with sqlite3.connect(store) as db:
        db.execute("UPDATE records SET body = 'text', nonce = 7 WHERE sequence = 4")
        db.execute("UPDATE users SET salt = 'text' WHERE number = (SELECT owner FROM records WHERE sequence = 5)")
    db.close()
    assert list(assay.audit.erase(store, older_than=1, now=NOON + timedelta(days=9)).changed) == [4, 5, 12, 19]


def test_retention_erases_by_the_age_of_the_question_and_keeps_texts_that_are_still_used(tmp_path: Path) -> None:
    store = tmp_path / "s"
    stages = [{"name": "context", "chunks": [{"chunk_id": "a", "text": "Shared."}]}]
    old_only = [{"name": "context", "chunks": [{"chunk_id": "b", "text": "Old."}]}]
    lines = [
        make_line(1, user_uid="u", at="2026-01-01T00:00:00Z", stages=[*stages, *old_only]),
        make_line(2, user_uid="u", at="2026-03-01T00:00:00Z", stages=stages),
    ]
    assay.audit.ingest(store, write_lines(tmp_path / "day.jsonl", lines), now=at_noon)
    erased = assay.audit.erase(store, older_than=30, now=NOON)
    assert (1, 1) == (erased.records, erased.texts)
    verification = assay.audit.verify(store)
    assert (True, 1, 1) == (verification.is_intact, verification.answers, verification.erased)
    assert assay.audit.erase(store, older_than=30, now=NOON).records == 0
    with pytest.raises(InputError, match="at least 1"):
        assay.audit.erase(store, older_than=0, now=NOON)
    with pytest.raises(InputError, match="what to erase is unclear"):
        assay.audit.erase(store, now=NOON)


# ── only what is new ─────────────────────────────────────────────────────────────────────────────────────────────────


def grow(folder: Path, store: str, first: int, count: int, day: int) -> None:
    lines = [make_line(number) for number in range(first, first + count)]
    later = at_noon() + timedelta(days=day)
    assay.audit.ingest(store, write_lines(folder / f"{day}.jsonl", lines), now=lambda: later)


def run_sql(store: str, *statements: str) -> None:
    with sqlite3.connect(store) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def test_a_checkpoint_leaves_only_new_records_to_read_and_the_same_days(tmp_path: Path) -> None:
    store, point = make_store(tmp_path), tmp_path / "verified.json"
    assert assay.audit.verify(store, checkpoint=point, now=NOON).records == 20
    again = assay.audit.verify(store, checkpoint=point, now=NOON)
    assert (again.records, again.skipped, again.answers, again.is_intact) == (0, 20, 20, True)
    grow(tmp_path, store, 20, 5, day=0)
    grow(tmp_path, store, 25, 7, day=1)
    verification = assay.audit.verify(store, checkpoint=point, now=NOON + timedelta(days=1))
    whole = assay.audit.verify(store)
    assert (verification.records, verification.skipped, verification.is_intact) == (12, 20, True)
    assert (verification.roots, verification.answers) == (whole.roots, whole.answers)
    assert any("were verified at 2026-03-02" in note and "--full" in note for note in verification.notices)
    assert assay.audit.verify(store, checkpoint=point, full=True, now=NOON).records == 32


@pytest.mark.parametrize(
    ("statement", "kinds"),
    [
        ("DELETE FROM records WHERE sequence = 7", {"root", "removed"}),
        ("UPDATE records SET link = x'00' WHERE sequence = 20", {"root", "moved"}),
        ("DELETE FROM records WHERE sequence > 18", {"root"}),
        ("UPDATE records SET body = x'00' WHERE sequence = 22", {"changed"}),
    ],
)
def test_what_a_checkpoint_can_tell_is_found_without_reading_all(
    statement: str, kinds: set[str], tmp_path: Path
) -> None:
    store, point = make_store(tmp_path), tmp_path / "verified.json"
    assay.audit.verify(store, checkpoint=point, now=NOON)
    before = point.read_bytes()
    grow(tmp_path, store, 20, 5, day=1)
    run_sql(store, "PRAGMA foreign_keys=OFF", statement)
    assert {fault.kind for fault in assay.audit.verify(store, checkpoint=point).faults} == kinds
    assert point.read_bytes() == before, "a store with faults moves no checkpoint"


def test_an_old_answer_that_was_changed_is_found_by_reading_everything(tmp_path: Path) -> None:
    store, point = make_store(tmp_path), tmp_path / "verified.json"
    assay.audit.verify(store, checkpoint=point, now=NOON)
    with sqlite3.connect(store) as db:
        _edit_answer(db, 7)
    db.close()
    assert assay.audit.verify(store, checkpoint=point).is_intact, "this is what a checkpoint trusts"
    faults = assay.audit.verify(store, checkpoint=point, full=True).faults
    assert [(fault.kind, fault.sequence) for fault in faults] == [("changed", 7)]


def test_a_checkpoint_that_was_made_up_skips_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, point = make_store(tmp_path), tmp_path / "verified.json"
    monkeypatch.delenv("ASSAY_AUDIT_KEY")
    assay.audit.verify(store, checkpoint=point, now=NOON)
    notices = assay.audit.verify(store, checkpoint=point, now=NOON).notices
    assert any("taken on trust" in note for note in notices)
    monkeypatch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
    with pytest.raises(InputError, match="has no signature"):
        assay.audit.verify(store, checkpoint=point)
    assay.audit.verify(store, checkpoint=point, full=True, now=NOON)
    forged = msgspec.json.decode(point.read_bytes())
    forged["at"] = "2027-01-01T00:00:00+00:00"
    for content, words in (
        (msgspec.json.encode(forged), "not signed with this key"),
        (b"{}", "not a checkpoint"),
        (msgspec.json.encode(forged | {"sequence": 19}), "do not end at its record"),
        (b"\xff", "not a checkpoint"),
    ):
        point.write_bytes(content)
        with pytest.raises(InputError, match=words):
            assay.audit.verify(store, checkpoint=point)
    assert assay.audit.verify(store, checkpoint=point, full=True, now=NOON).is_intact


def test_an_erasure_after_the_checkpoint_is_no_fault(tmp_path: Path) -> None:
    store, point = make_store(tmp_path), tmp_path / "verified.json"
    assay.audit.verify(store, checkpoint=point, now=NOON)
    assay.audit.erase(store, user="user-3", now=NOON)
    verification = assay.audit.verify(store, checkpoint=point, now=NOON)
    assert (verification.is_intact, verification.records) == (True, 1)
    assert assay.audit.verify(store, checkpoint=point, full=True, now=NOON).is_intact
