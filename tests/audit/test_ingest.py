"""Ingesting: every line is accounted for, nothing is stored twice, and what people may not read is not stored."""

from __future__ import annotations

import gzip
import json
import os
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from tests.audit.conftest import SECRET, make_database
from tests.audit.traffic import NOON, at_noon, counting_statements, make_line, write_lines
from tests.support.examples import try_examples

import assay
from assay.audit.audit_store import AuditStore, open_audit_store
from assay.audit.audit_tables import build_ingest_table
from assay.audit.commands import read_answers
from assay.audit.ingest_traffic import IngestRequest, ingest_traffic
from assay.audit.load_traffic_lines import LineReader
from assay.audit.privacy import AuditKeys
from assay.audit.schema import RECORDS
from assay.records.audit_records import AuditRecord
from assay.records.errors import IncompleteError, InputError


def ingest(address: str, *sources: Path, **options: Any) -> Any:
    return assay.audit.ingest(address, *sources, **{"now": at_noon, **options})


def load(address: str, record_id: str) -> AuditRecord:
    with open_audit_store(address) as store:
        sequence = store.find_by_id(record_id)
        assert sequence is not None, record_id
        record = store.load_answer(sequence)
        assert record is not None
        return record


def test_a_record_is_stored_as_it_came_but_for_the_user(address: str, tmp_path: Path, keys: AuditKeys) -> None:
    ingested = ingest(address, write_lines(tmp_path / "day.jsonl", map(make_line, range(30))))
    assert (30, 30, 0, 1.0) == (ingested.lines, ingested.stored, ingested.rejected, ingested.completeness)
    record = load(address, "req-4")
    assert record.question == "How many days of annual leave does contract 4 grant?"
    assert record.user_uid == keys.make_pseudonym("user-4")
    assert ("leave-4", "leave-overview") == record.retrieved_uids
    assert (record.at, record.time_source) == ("2026-03-02T12:00:04.000000Z", "reported")
    assert (1200, "model-a", "sha256:1f", ("leave-4",), 1, 900.5) == (
        *(record.context_tokens, record.model, record.prompt_hash),
        *(record.citations, record.tool_calls, record.latency_ms),
    )


def test_observations_and_traces_keep_their_stages_and_texts(address: str, tmp_path: Path) -> None:
    observation = {
        "case_id": "o-1",
        "config_id": "hybrid",
        "at": "2026-03-02T08:00:00Z",
        "user_uid": "minh",
        "stages": [
            {"name": "retrieved", "chunks": [{"chunk_id": "a", "text": "Twelve days."}, {"chunk_id": "b"}]},
            {"name": "context", "chunks": [{"chunk_id": "a", "text": "Twelve days."}]},
        ],
        "answer": "Twelve.",
        "versions": {"model": "model-b", "index": "v12"},
    }
    trace = {
        "query_id": "t-1",
        "retrieved_chunks": [{"chunk_id": "c", "text": "Mười hai ngày."}],
        "answer": "12",
        "latency_ms": {"end_to_end": 800},
        "feedback": "down",
    }
    first = ingest(address, write_lines(tmp_path / "a.jsonl", [observation]))
    second = ingest(address, write_lines(tmp_path / "b.jsonl", [trace]))
    assert (1, 1) == (first.stored, second.stored)
    stored = load(address, "o-1@hybrid")
    assert stored.stages is not None
    assert [["Twelve days.", None], ["Twelve days."]] == [[c.text for c in stage.chunks] for stage in stored.stages]
    assert (("a", "b"), "model-b", "v12") == (stored.retrieved_uids, stored.model, stored.versions["index"])
    traced = load(address, "t-1")
    assert (800, "down", "received") == (traced.latency_ms, traced.feedback, traced.time_source)


def test_completeness_counts_each_field_and_null_feedback_is_recorded(tmp_path: Path) -> None:
    lines = [make_line(1), make_line(2, feedback=..., model=None), make_line(3, citations=[])]
    ingested = ingest(str(tmp_path / "s"), write_lines(tmp_path / "day.jsonl", lines))
    assert (2, 2, 3) == (ingested.complete["feedback"], ingested.complete["model"], ingested.complete["citations"])
    assert pytest.approx(31 / 33) == ingested.completeness


def test_stages_are_what_was_retrieved(tmp_path: Path) -> None:
    stages = [{"name": "search", "chunks": [{"chunk_id": "leave-1"}]}]
    for name, line in (
        ("audit", make_line(1, retrieved_uids=..., stages=stages)),
        ("assay", {"case_id": "o-1", "stages": stages, "answer": "Twelve."}),
    ):
        ingested = ingest(str(tmp_path / f"{name}.sqlite"), write_lines(tmp_path / f"{name}.jsonl", [line]))
        assert ingested.complete["retrieved_uids"] == 1, name


def test_unknown_keys_are_named_with_what_may_be_meant_or_refused(tmp_path: Path) -> None:
    lines = [make_line(n, **({"feed_back": "down", "x_own": 1} if n % 100 == 7 else {})) for n in range(300)]
    lines[5]["stages"] = [{"name": "retrieved", "chunks": [{"chunk_id": "leave-1", "txt": "Twelve days."}]}]
    source = write_lines(tmp_path / "day.jsonl", lines)
    ingested = ingest(str(tmp_path / "audit.sqlite"), source)
    assert (ingested.stored, ingested.rejected) == (300, 0)
    named = {"feed_back (did you mean 'feedback'?)": 3, "stages[].chunks[].txt (did you mean 'text'?)": 1}
    assert ingested.unknown_keys == named
    assert build_ingest_table(ingested).notes[:2] == (
        "unknown key feed_back (did you mean 'feedback'?): not stored (in at least 3 lines)",
        "unknown key stages[].chunks[].txt (did you mean 'text'?): not stored (in at least 1 line)",
    )
    assert build_ingest_table(ingested).notes[2].startswith("no shipped rule looks for names of people, dates of birth")
    strict = ingest(str(tmp_path / "strict.sqlite"), source, strict=True)
    assert (strict.stored, strict.rejected, strict.unknown_keys) == (296, 4, {})
    assert "unknown key (did you mean 'text'?)" in strict.reasons[0]


def test_unknown_keys_of_an_observation_are_named_but_not_what_its_line_may_add(tmp_path: Path) -> None:
    line = {"case_id": "o-1", "answer": "Twelve.", "at": "2026-03-02T08:00:00Z", "feedback": "up", "anwser": "12"}
    ingested = ingest(str(tmp_path / "audit.sqlite"), write_lines(tmp_path / "day.jsonl", [line]))
    assert ingested.unknown_keys == {"anwser (did you mean 'answer'?)": 1}


def test_lines_that_make_up_keys_do_not_fill_the_memory(tmp_path: Path) -> None:
    lines = [make_line(n, **{f"made-up-{n}": 1}) for n in range(300)]
    ingested = ingest(str(tmp_path / "audit.sqlite"), write_lines(tmp_path / "day.jsonl", lines))
    assert (len(ingested.unknown_keys), ingested.unknown_keys["(others)"]) == (101, 200)


def test_a_word_of_any_length_is_stored_and_found(address: str, tmp_path: Path) -> None:
    word = "".join(random.Random(1).choices("abcdefghij0123456789", k=5000))  # that no database can pack
    line = make_line(1, question=f"What is {word}?")
    assert ingest(address, write_lines(tmp_path / "day.jsonl", [line])).stored == 1
    assert len(assay.audit.show(address, question=f"what {word}").answers) == 1


def test_malformed_lines_go_to_the_dead_letters_with_line_and_reason(tmp_path: Path) -> None:
    lines = [
        make_line(1),
        "{broken",
        make_line(2, latency_ms=-1),
        make_line(3, at="yesterday"),
        make_line(4, at="2026-03-02T08:00:00"),
        make_line(5, id=""),
        make_line(6, citations="leave-1"),
        '{"question": "' + "x" * 20 + "\ud83d".encode("utf-16", "surrogatepass").decode("latin-1") + '"',
        "[" * 5000,
        make_line(7, question="Mail me at minh@example.com", latency_ms="slow"),
    ]
    dead = tmp_path / "dead.jsonl"
    ingested = ingest(str(tmp_path / "s"), write_lines(tmp_path / "day.jsonl", lines), dead_letters=dead)
    assert (10, 1, 9) == (ingested.lines, ingested.stored, ingested.rejected)
    rows = [json.loads(line) for line in dead.read_text().splitlines()]
    assert [2, 3, 4, 5, 6, 7, 8, 9, 10] == [row["line"] for row in rows]
    assert all(row["reasons"] and "day.jsonl:" in row["reasons"][0] for row in rows)
    assert "latency_ms" in rows[1]["reasons"][0]
    assert "at: E_VALUE not a time (got 'yesterday'" in rows[2]["reasons"][0]
    assert "minh@example.com" not in dead.read_text()
    assert 0o600 == dead.stat().st_mode & 0o777


def test_a_line_that_no_reader_takes_does_not_stop_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("traffic_files", "ingest_traffic"):
        monkeypatch.setattr(f"assay.audit.{module}.MAX_LINE_BYTES", 300_000)
    source = write_lines(
        tmp_path / "day.jsonl", [make_line(1), make_line(2, answer="x" * 900_000), make_line(3), make_line(4)]
    )
    ingested = ingest(str(tmp_path / "s"), source)
    assert (4, 3, 1) == (ingested.lines, ingested.stored, ingested.rejected)
    assert ["E_LINE_TOO_LONG"] == [reason.split()[1] for reason in ingested.reasons]
    assert "day.jsonl:2:" in ingested.reasons[0]


def test_a_long_value_is_not_repeated_whole_in_its_reason(tmp_path: Path) -> None:
    ingested = ingest(str(tmp_path / "s"), write_lines(tmp_path / "day.jsonl", [make_line(1, at="x" * 100_000)]))
    assert 1 == ingested.rejected
    assert len(ingested.reasons[0]) < 500


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_below_the_dead_letters_names_their_file(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "day.jsonl", [make_line(1), "{broken"])
    with pytest.raises(IncompleteError, match=r"^/dev/full: No space left"):
        ingest(str(tmp_path / "s"), source, dead_letters="/dev/full")


@pytest.mark.slow
def test_a_record_of_ten_megabytes_is_stored(tmp_path: Path) -> None:
    answer = "".join(chr(97 + number * number % 26) for number in range(10_000_000))
    ingested = ingest(str(tmp_path / "s"), write_lines(tmp_path / "day.jsonl", [make_line(1, answer=answer)]))
    assert ingested.stored == 1
    assert load(str(tmp_path / "s"), "req-1").answer == answer


PADDED = json.dumps(make_line(1, answer="twelve days " * 100)).encode() + b"\n"
BOMBS: dict[str, tuple[bytes, str]] = {
    "zeros": (bytes(2**21), "unpacks to too much"),
    "blank lines": (b"\n" * 2**19, "too many lines"),
    "empty objects": (b"{}\n" * 1500, "too many lines"),
    "one record again and again": (PADDED * 900, "unpacks to too much"),
    "one long line": (b'{"answer": "' + b"a" * 2**21, "unpacks to too much"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.formats.file_io.RATIO_FREE_BYTES", 2**20)
    monkeypatch.setattr("assay.audit.traffic_files.LINES_OF_ANY_FILE", 1000)
    content, message = BOMBS[name]
    source, store = tmp_path / "bomb.jsonl.gz", str(tmp_path / "s")
    source.write_bytes(gzip.compress(PADDED + content))
    with pytest.raises(InputError, match=rf"bomb\.jsonl\.gz.* E_TOO_LARGE .*{message}.*unpack it with gunzip"):
        ingest(store, source, format="audit")


def test_packed_traffic_that_repeats_itself_is_read(tmp_path: Path) -> None:
    lines = [make_line(number, answer="twelve days " * 100) for number in range(300)]
    source = tmp_path / "day.jsonl.gz"
    source.write_bytes(gzip.compress(b"\n\n".join(json.dumps(line).encode() for line in lines) + b"\n" * 1000))
    assert (300, 0) == ((result := ingest(str(tmp_path / "s"), source)).stored, result.rejected)
    long = make_line(1, answer="Twelve days. " * 800_000)
    source.write_bytes(gzip.compress(json.dumps(long).encode()))
    assert 1 == ingest(str(tmp_path / "long"), source).stored


def test_the_same_record_twice_is_one_and_another_under_its_id_is_refused(address: str, tmp_path: Path) -> None:
    source = write_lines(
        tmp_path / "day.jsonl", [make_line(1), make_line(1), make_line(2), make_line(2, answer="Other.")]
    )
    dead = tmp_path / "dead.jsonl"
    first = ingest(address, source, dead_letters=dead)
    assert (2, 1, 1) == (first.stored, first.duplicates, first.conflicts)
    again = ingest(address, source, dead_letters=dead)
    assert (0, 3, 1) == (again.stored, again.duplicates, again.conflicts)
    assert [4, 4] == [json.loads(line)["line"] for line in dead.read_text().splitlines()]


def test_records_that_are_known_already_are_compared_together(address: str, tmp_path: Path) -> None:
    stage = {"name": "context", "chunks": [{"chunk_id": "leave-1", "text": "Twenty days."}]}
    lines = [make_line(number, stages=[stage]) for number in range(300)]
    assay.audit.ingest(address, write_lines(tmp_path / "a.jsonl", lines))
    assay.audit.erase(address, user="user-3")
    lines[10]["answer"] = "Another one."
    again = assay.audit.ingest(address, write_lines(tmp_path / "b.jsonl", [*lines, lines[0]]))
    erased = len(range(3, 300, 7))
    assert (again.stored, again.duplicates, again.conflicts, again.erased) == (0, 301 - erased, 0, erased)
    lines[11]["answer"] = "Another one."
    assert assay.audit.ingest(address, write_lines(tmp_path / "c.jsonl", lines)).conflicts == 1
    reader = LineReader("audit", AuditKeys(SECRET.encode()), NOON)
    records = [reader.parse_line(json.dumps(line).encode()).record for line in lines]
    with open_audit_store(address) as store, counting_statements(store) as statements:
        appended = store.append_answers(records, "2026-03-03")
    assert (len(appended.duplicates), appended.conflicts, len(appended.erased)) == (299 - erased, [11], erased)
    assert len(statements) < 20


def test_a_stored_record_that_was_changed_keeps_no_other_from_being_stored(address: str, tmp_path: Path) -> None:
    assay.audit.ingest(address, write_lines(tmp_path / "a.jsonl", map(make_line, range(5))))
    with open_audit_store(address) as store, store.writing() as connection:
        connection.execute(sa.update(RECORDS).where(RECORDS.c.sequence == 3).values(body=b"\0"))
    dead = tmp_path / "dead.jsonl"
    again = assay.audit.ingest(address, write_lines(tmp_path / "b.jsonl", map(make_line, range(8))), dead_letters=dead)
    assert (again.stored, again.duplicates, again.conflicts) == (3, 4, 1)
    assert json.loads(dead.read_text(encoding="utf-8"))["line"] == 3


def test_a_record_without_id_and_time_is_known_again_later(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "day.jsonl", [make_line(1, id=..., at=...), make_line(2, id=..., at=...)])
    first = ingest(str(tmp_path / "s"), source)
    later = ingest(str(tmp_path / "s"), source, now=lambda: NOON + timedelta(days=1))
    assert (2, 2, 0, 2) == (first.stored, first.without_time, later.stored, later.duplicates)


def test_late_and_unordered_records_and_a_clock_that_goes_back_leave_one_chain(address: str, tmp_path: Path) -> None:
    ingest(address, write_lines(tmp_path / "a.jsonl", [make_line(5), make_line(1, at="2025-01-01T00:00:00Z")]))
    yesterday = NOON - timedelta(days=1)
    ingest(address, write_lines(tmp_path / "b.jsonl", [make_line(3)]), now=lambda: yesterday)
    verification = assay.audit.verify(address)
    assert (True, 3, ["2026-03-02"]) == (
        verification.is_intact,
        verification.answers,
        [root.day for root in verification.roots],
    )


def test_personal_data_and_keys_are_removed_before_storing(tmp_path: Path) -> None:
    question = (
        "Write to minh.tran@example.com.vn or call +84 912 345 678; card 4111 1111 1111 1111, order 4111111111111112"
    )
    answer = (
        "The IBAN is GB82 WEST 1234 5698 7654 32, the key sk-abcdefghijklmnopqrstuvwx. "
        "Leave: 12/05/2026, 1.200.000 đồng."
    )
    line = make_line(1, question=question, answer=answer, stages=[
        {"name": "context", "chunks": [{"chunk_id": "a", "text": "HR: hr@example.com"}]}
    ])  # fmt: skip
    store = tmp_path / "s"
    ingested = ingest(str(store), write_lines(tmp_path / "day.jsonl", [line]))
    record = load(str(store), "req-1")
    assert record.question == "Write to [email] or call [phone]; card [card], order 4111111111111112"
    assert record.answer == "The IBAN is [iban], the key [redacted]. Leave: 12/05/2026, 1.200.000 đồng."
    assert record.stages is not None
    assert record.stages[0].chunks[0].text == "HR: [email]"
    assert {"email": 2, "phone": 1, "card": 1, "iban": 1, "secret": 1} == ingested.redacted


def test_own_redaction_rules_are_added_to_the_shipped_ones_and_bad_ones_are_refused(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "day.jsonl", [make_line(1, question="EMP-12345 asks minh@example.com")])
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n  - {name: employee, pattern: 'EMP-\\d+'}\n")
    ingest(str(tmp_path / "s"), source, redact=str(rules))
    assert load(str(tmp_path / "s"), "req-1").question == "[employee] asks [email]"
    rules.write_text("shipped: false\nrules:\n  - {name: employee, pattern: 'EMP-\\d+'}\n")
    ingest(str(tmp_path / "t"), source, redact=str(rules))
    assert load(str(tmp_path / "t"), "req-1").question == "[employee] asks minh@example.com"
    rules.write_text("shipped: maybe\nrules: []\n")
    with pytest.raises(InputError, match=r"shipped: .*not true or false"):
        ingest(str(tmp_path / "t"), source, redact=str(rules))
    rules.write_text("rules:\n  - {name: Bad Name, pattern: '('}\n  - {name: empty, pattern: 'x*'}\n")
    with pytest.raises(InputError) as raised:
        ingest(str(tmp_path / "s"), source, redact=str(rules))
    assert ["rules[0].name", "rules[0].pattern", "rules[1].pattern"] == [p.field for p in raised.value.problems]


def test_users_need_a_key_and_a_store_keeps_to_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_lines(tmp_path / "day.jsonl", [make_line(1)])
    monkeypatch.delenv("ASSAY_AUDIT_KEY")
    with pytest.raises(InputError, match=r"day\.jsonl:1: user_uid: .* no key"):
        ingest(str(tmp_path / "s"), source)
    monkeypatch.setenv("OTHER", "k" * 32)
    assert ingest(str(tmp_path / "s"), source, key_env="OTHER").stored == 1
    monkeypatch.setenv("OTHER", "l" * 32)
    with pytest.raises(InputError, match="not the one this store was written with"):
        ingest(str(tmp_path / "s"), source, key_env="OTHER")
    monkeypatch.setenv("OTHER", "short")
    with pytest.raises(InputError, match="too short"):
        ingest(str(tmp_path / "s"), source, key_env="OTHER")


def test_a_store_without_answers_takes_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_AUDIT_KEY", "the first key, with which nothing is stored")
    with pytest.raises(InputError):
        ingest(str(tmp_path / "s"), tmp_path / "missing.jsonl")
    monkeypatch.setenv("ASSAY_AUDIT_KEY", "the second key, with which an answer is stored")
    assert ingest(str(tmp_path / "s"), write_lines(tmp_path / "day.jsonl", [make_line(1)])).stored == 1


def test_no_text_of_a_user_and_no_user_id_is_readable_in_the_file(tmp_path: Path) -> None:
    store = tmp_path / "audit.sqlite"
    ingest(str(store), write_lines(tmp_path / "day.jsonl", [make_line(1, user_uid="minh.tran")]))
    raw = b"".join(path.read_bytes() for path in tmp_path.glob("audit.sqlite*"))
    assert b"minh.tran" not in raw
    assert 0o600 == store.stat().st_mode & 0o777


def test_a_packed_file_standard_input_and_a_checkpoint_are_read(tmp_path: Path) -> None:
    packed = tmp_path / "day.jsonl.gz"
    packed.write_bytes(gzip.compress("".join(json.dumps(make_line(n)) + "\n" for n in range(3)).encode()))
    assert ingest(str(tmp_path / "s"), packed).stored == 3
    growing = write_lines(tmp_path / "live.jsonl", [make_line(10), make_line(11)])
    assert ingest(str(tmp_path / "s"), growing, checkpoint=True).lines == 2
    with growing.open("a") as file:
        file.write(json.dumps(make_line(12)) + "\n")
    again = ingest(str(tmp_path / "s"), growing, checkpoint=True)
    assert (1, 1) == (again.lines, again.stored)
    replaced = write_lines(tmp_path / "new.jsonl", [make_line(13)])
    replaced.replace(growing)
    rotated = ingest(str(tmp_path / "s"), growing, checkpoint=True)
    assert (1, 1) == (rotated.lines, rotated.stored)
    assert "another file than the one read before" in rotated.notices[0]


def test_a_followed_file_is_read_as_it_grows_and_half_a_line_is_waited_for(tmp_path: Path) -> None:
    growing = write_lines(tmp_path / "live.jsonl", [make_line(1)])
    text = json.dumps(make_line(2)) + "\n"
    steps = [lambda: None, lambda: append(text[:40]), lambda: append(text[40:]), lambda: None]

    def append(part: str) -> None:
        with growing.open("a") as file:
            file.write(part)

    def keep_waiting() -> bool:
        if steps:
            steps.pop(0)()
        return bool(steps)

    ingested = ingest(str(tmp_path / "s"), growing, checkpoint=True, keep_waiting=keep_waiting)
    assert (2, 2, 0) == (ingested.lines, ingested.stored, ingested.rejected)


def test_a_followed_file_that_is_rotated_is_read_to_its_end_and_then_the_new_one(tmp_path: Path) -> None:
    growing = write_lines(tmp_path / "live.jsonl", [make_line(1)])
    former = tmp_path / "live.jsonl.1"

    def append(path: Path, line: dict[str, Any], end: str = "\n") -> None:
        with path.open("a") as file:
            file.write(json.dumps(line) + end)

    def rotate() -> None:
        growing.rename(former)
        append(growing, make_line(4))

    steps: list[Callable[[], object]] = [
        lambda: None,
        rotate,
        lambda: append(former, make_line(2)),  # by a writer that has not noticed yet
        lambda: append(former, make_line(3), end=""),
        *[lambda: None] * 5,
        lambda: append(growing, make_line(5)),
        lambda: None,
    ]

    def keep_waiting() -> bool:
        if steps:
            steps.pop(0)()
        return bool(steps)

    store = str(tmp_path / "s")
    ingested = ingest(store, growing, checkpoint=True, keep_waiting=keep_waiting)
    assert (5, 5, 0) == (ingested.lines, ingested.stored, ingested.rejected)
    again = ingest(store, growing, checkpoint=True)
    assert (0, 0) == (again.lines, again.stored)


@pytest.mark.slow
def test_two_ingesters_at_once_store_each_record_once(address: str, tmp_path: Path) -> None:
    half = write_lines(tmp_path / "a.jsonl", map(make_line, range(1500)))
    other = write_lines(tmp_path / "b.jsonl", map(make_line, range(500, 2000)))
    open_audit_store(address, create=True).close()
    barrier = threading.Barrier(2)

    def start(source: Path) -> Any:
        barrier.wait()
        return ingest(address, source)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(start, [half, other]))
    assert (2000, 1000) == (sum(r.stored for r in results), sum(r.duplicates for r in results))
    assert (True, 2000) == ((checked := assay.audit.verify(address)).is_intact, checked.answers)


END_CONNECTIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"


@pytest.mark.slow
def test_a_server_that_is_restarted_between_batches_is_connected_to_again(postgres_server: str, tmp_path: Path) -> None:
    address = make_database(postgres_server)
    other = sa.create_engine(sa.make_url(address).set(drivername="postgresql+psycopg"), poolclass=sa.NullPool)

    def end_other_connections(*_: object) -> None:
        with other.connect() as connection:
            connection.execute(sa.text(f"{END_CONNECTIONS} AND pid <> pg_backend_pid()"))

    source = write_lines(tmp_path / "a.jsonl", map(make_line, range(50)))
    keys = AuditKeys(SECRET.encode())
    request = IngestRequest(address, [str(source)], keys=keys, batch=10, on_commit=end_other_connections)
    assert ingest_traffic(request, at_noon).stored == 50
    assert assay.audit.verify(address).is_intact


@pytest.mark.slow
def test_a_connection_lost_within_a_batch_leaves_whole_batches(
    postgres_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = make_database(postgres_server)
    source = write_lines(tmp_path / "a.jsonl", map(make_line, range(50)))
    insert = AuditStore._insert
    batches: list[int] = []

    def lose_connection(store: AuditStore, connection: sa.Connection, rows: Any) -> None:
        batches.append(len(rows.records))
        if len(batches) == 3:
            connection.execute(sa.text(f"{END_CONNECTIONS} AND pid = pg_backend_pid()"))
        insert(store, connection, rows)

    monkeypatch.setattr(AuditStore, "_insert", lose_connection)
    request = IngestRequest(address, [str(source)], keys=AuditKeys(SECRET.encode()), batch=10)
    with pytest.raises(IncompleteError, match=r"the connection was lost .* try again"):
        ingest_traffic(request, at_noon)
    again = ingest_traffic(request, at_noon)
    assert (again.stored, again.duplicates) == (30, 20)
    assert assay.audit.verify(address).is_intact


def test_a_full_disk_is_an_error_and_what_was_stored_stays(tmp_path: Path) -> None:
    store = tmp_path / "s"
    ingest(str(store), write_lines(tmp_path / "a.jsonl", map(make_line, range(10))))
    with open_audit_store(str(store)) as opened:
        with opened.engine.connect() as connection:
            pages = connection.execute(sa.text("PRAGMA page_count")).scalar_one()
        engine = opened.engine

        @sa.event.listens_for(engine, "connect")
        def limit(connection: Any, _: object) -> None:
            connection.execute(f"PRAGMA max_page_count={pages + 2}")

        engine.dispose()
        records = [
            AuditRecord(id=f"x-{n}", at="2026-03-02T12:00:00.000000Z", answer=os.urandom(500).hex()) for n in range(500)
        ]
        with pytest.raises(IncompleteError, match=r"no space left .* nothing of this batch was stored"):
            opened.append_answers(records, "2026-03-02")
    assert assay.audit.verify(str(store)).records == 10


@pytest.mark.slow
def test_more_users_than_one_query_takes_keep_their_answers(tmp_path: Path) -> None:
    """Each batch has more users than one query asks for, and meets those of the batch before again."""
    users = 1700
    lines = [make_line(number, user_uid=f"employee-{number % users}") for number in range(2 * users)]
    store = str(tmp_path / "s")
    assert 2 * users == assay.audit.ingest(store, write_lines(tmp_path / "a.jsonl", lines), now=at_noon).stored
    with open_audit_store(store) as opened, opened.reading() as connection:
        assert users + 1 == connection.execute(sa.text("SELECT count(*) FROM users")).scalar_one()
    answers = assay.audit.show(store, user="employee-1699", now=NOON).answers
    assert {"req-1699", "req-3399"} == {record.id for _, record in answers}
    assert assay.audit.verify(store).is_intact


def test_an_error_is_read_as_applications_write_it_and_found_by_its_code(tmp_path: Path) -> None:
    errors: list[Any] = [
        "timeout",
        {"code": "timeout", "message": "no reply"},
        {"kind": "timeout", "detail": "no reply"},
        {"type": "ReadTimeout", "message": "no reply"},
        {"code": 504},
        "no reply within 5 s",
        {"message": "no reply"},
        "",
        None,
    ]
    lines = [make_line(number, error=error, answer=None) for number, error in enumerate(errors)]
    store = str(tmp_path / "s")
    result = ingest(store, write_lines(tmp_path / "a.jsonl", lines))
    assert (9, 0) == (result.stored, result.rejected)
    records = [record for _, record in reversed(read_answers(store))]
    assert ["timeout", "timeout", "timeout", "ReadTimeout", "504", "error", "error", None, None] == [
        record.error and record.error.code for record in records
    ]
    assert ["", "no reply", "no reply", "no reply", "", "no reply within 5 s", "no reply"] == [
        record.error.message for record in records if record.error
    ]
    matches = assay.audit.show(store, verdict="error=timeout").answers
    assert {"req-0", "req-1", "req-2"} == {record.id for _, record in matches}


def test_an_unknown_member_of_the_user_is_refused_by_its_name(tmp_path: Path) -> None:
    line = make_line(1, user={"tenant": "acme", "plan": "gold"}, confidence=0.4)
    (reason,) = ingest(str(tmp_path / "s"), write_lines(tmp_path / "a.jsonl", [line])).reasons
    assert "a.jsonl:1: user.plan: E_UNKNOWN_FIELD unknown" in reason and "tenant" in reason and "x_" not in reason


def test_a_missing_member_is_explained_by_the_keys_of_its_own_object(tmp_path: Path) -> None:
    line = make_line(1, model="m", stages=[{"nam": "context", "chunks": []}])
    (reason,) = ingest(str(tmp_path / "s"), write_lines(tmp_path / "a.jsonl", [line])).reasons
    assert reason.endswith("stages[0].name: E_MISSING missing (got no 'name'; expected a string); did you mean 'nam'?")


@pytest.mark.parametrize("name", ["", "no-such.jsonl"])
def test_what_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        ingest(str(tmp_path / "s"), tmp_path / name)
    with pytest.raises(InputError, match="cannot tell the format"):
        ingest(str(tmp_path / "s"), write_lines(tmp_path / "x.jsonl", [{"a": 1}]))
    (tmp_path / "bad.jsonl").write_bytes(b'{"question": "\xff"}\n')
    with pytest.raises(InputError, match=r"bad\.jsonl:1: .*not UTF-8 \(got byte 0xff at byte 15 of the line"):
        ingest(str(tmp_path / "s"), tmp_path / "bad.jsonl")
    with pytest.raises(InputError, match="no such format"):
        ingest(str(tmp_path / "s"), write_lines(tmp_path / "x.jsonl", [make_line(1)]), format="csv")


def test_a_file_that_is_no_store_and_a_newer_store_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a store, and longer than the header of a database file " * 20)
    source = write_lines(tmp_path / "x.jsonl", [make_line(1)])
    with pytest.raises(IncompleteError, match="the store is damaged"):
        ingest(str(tmp_path / "text"), source)
    ingest(str(tmp_path / "s"), source)
    with open_audit_store(str(tmp_path / "s")) as store, store.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match="newer version of Assay"):
        assay.audit.verify(str(tmp_path / "s"))
    with pytest.raises(InputError, match="no such audit store"):
        assay.audit.verify(str(tmp_path / "absent"))


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(InputError, match="PGPASSWORD") as raised:
        open_audit_store("postgresql://me:hunter22@127.0.0.1/x")
    assert "hunter22" not in str(raised.value)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.slow
@try_examples(25)
@given(question=TEXTS, answer=TEXTS, citations=st.lists(TEXTS, max_size=3), model=TEXTS, user=TEXTS)
def test_any_text_survives_storing(
    tmp_path_factory: pytest.TempPathFactory, question: str, answer: str, citations: list[str], model: str, user: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    line = make_line(1, question=question, answer=answer, citations=citations, model=model, user_uid=user)
    os.environ["ASSAY_AUDIT_KEY"] = "x" * 32
    ingested = ingest(str(folder / "s"), write_lines(folder / "x.jsonl", [line]), redact="none")
    assert ingested.stored == 1, ingested.reasons
    record = load(str(folder / "s"), "req-1")
    if "-" not in question + answer and "://" not in question + answer:  # what looks like a key is always removed
        assert (question, answer) == (record.question, record.answer)
    assert (tuple(citations), model) == (record.citations, record.model)
    assert assay.audit.verify(folder / "s").is_intact


def test_the_store_survives_a_failed_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = str(tmp_path / "s")
    ingest(store, write_lines(tmp_path / "a.jsonl", [make_line(1)]))
    with open_audit_store(store) as opened, pytest.raises(RuntimeError), opened.writing() as connection:
        connection.execute(sa.update(RECORDS).values(day="1999-01-01"))
        raise RuntimeError
    assert assay.audit.verify(store).is_intact


def test_the_clock_is_an_argument(tmp_path: Path) -> None:
    clock = iter([datetime(2026, 5, 1, 12, tzinfo=NOON.tzinfo)] * 10)
    ingest(str(tmp_path / "s"), write_lines(tmp_path / "a.jsonl", [make_line(1, at=...)]), now=lambda: next(clock))
    assert load(str(tmp_path / "s"), "req-1").at == "2026-05-01T12:00:00.000000Z"


def test_secrets_are_counted_one_by_one_where_they_were(tmp_path: Path) -> None:
    line = make_line(
        1,
        question="Does npm_" + "a1B2" * 9 + " still work?",
        answer="Use glpat-" + "x9Y8z7W6" * 3 + ", or rk_live_" + "4eC39HqLyj" + "; [redacted] is no secret.",
        tool_calls=[
            {
                "name": "login",
                "arguments": {"as": {"clientSecret": "plain words", "max_tokens": 5, "keys": [{"pwd": "x"}]}},
                "result": "Authorization: Bearer abcdefghijkl",
            }
        ],
    )
    ingested = ingest(str(tmp_path / "s"), write_lines(tmp_path / "day.jsonl", [line]))
    assert {"secret": {"questions": 1, "answers": 2, "tool calls": 3}} == ingested.redacted_in
    assert {"secret": 6} == ingested.redacted == load(str(tmp_path / "s"), "req-1").redacted
    record = load(str(tmp_path / "s"), "req-1")
    assert isinstance(record.tool_calls, tuple)
    expected = {"as": {"clientSecret": "[redacted]", "max_tokens": 5, "keys": [{"pwd": "[redacted]"}]}}
    assert (expected, "Authorization: Bearer [redacted]") == (
        record.tool_calls[0].arguments,
        record.tool_calls[0].result,
    )


def test_what_was_redacted_is_counted_by_part(tmp_path: Path) -> None:
    lines = [
        make_line(1, question="I am ann@a.example. Whom do I ask?", answer="Write to desk@a.example."),
        make_line(
            2,
            stages=[
                {"name": "context", "chunks": [{"chunk_id": "a", "text": "Write to desk@a.example or b@a.example."}]}
            ],
            feedback={"comment": "I wrote to desk@a.example"},
        ),
    ]
    ingested = ingest(str(tmp_path / "s"), write_lines(tmp_path / "day.jsonl", lines))
    assert {"email": 5} == ingested.redacted
    assert {"email": {"questions": 1, "answers": 1, "documents": 2, "elsewhere": 1}} == ingested.redacted_in
    assert ("redacted: email", "5 (answers 1, documents 2, elsewhere 1, questions 1)") in build_ingest_table(
        ingested
    ).rows


def test_what_is_refused_at_its_beginning_leaves_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, source = tmp_path / "new.sqlite", write_lines(tmp_path / "day.jsonl", [make_line(1)])
    for broken, words in ((tmp_path / "missing.jsonl", "cannot be read"), (source, "there is no key")):
        with monkeypatch.context() as patch:
            patch.delenv("ASSAY_AUDIT_KEY", raising=False)
            with pytest.raises(InputError, match=words):
                ingest(str(store), broken)
    assert ["day.jsonl"] == [path.name for path in tmp_path.iterdir()]
    assert ingest(str(store), source).stored == 1


def test_a_store_in_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "day.jsonl", [make_line(1)])
    with pytest.raises(InputError, match=r"no such folder \(got '.*typo'"):
        ingest(str(tmp_path / "typo" / "new.sqlite"), source)
    assert not (tmp_path / "typo").exists()


def test_lines_with_names_of_their_own_are_read_by_a_mapping(tmp_path: Path) -> None:
    line = {
        "query": "How much leave?",
        "out": {"text": "Twelve days."},
        "passages": [{"doc_id": "hr-1", "body": "Twelve days."}, "Ask HR."],
        "when": 1772438400,
        "who": "minh",
        "meta": {"request": "own-1"},
    }
    source = write_lines(tmp_path / "own.jsonl", [line])
    with pytest.raises(InputError, match=r"--fields question=query,contexts=passages"):
        ingest(str(tmp_path / "s"), source)
    names = "question=query,answer=out.text,contexts=passages,at=when,user_uid=who,id=meta.request"
    ingested = ingest(str(tmp_path / "s"), source, fields=names)
    assert (1, 0) == (ingested.stored, ingested.rejected)
    assert {"out", "meta"} == set(ingested.unknown_keys)
    record = load(str(tmp_path / "s"), "own-1")
    assert ("How much leave?", "Twelve days.", "2026-03-02T08:00:00.000000Z") == (
        record.question,
        record.answer,
        record.at,
    )
    assert record.stages is not None
    first, second = record.stages[0].chunks
    assert ("context", "hr-1", "Twelve days.", "Ask HR.") == (
        record.stages[0].name, first.chunk_id, first.text, second.text
    )  # fmt: skip
    assert second.chunk_id.startswith("text:")
    assert 1 == ingest(str(tmp_path / "s"), source, fields=names).duplicates


def test_a_mapping_that_cannot_be_used_is_explained(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "own.jsonl", [{"q": "Why?", "docs": [5]}])
    for fields, message in (
        ("ask=q", "no such member .*'ask'"),
        ("question", "not a pair"),
        ("question=", "not a pair"),
    ):
        with pytest.raises(InputError, match=message):
            ingest(str(tmp_path / "s"), source, fields=fields)
    with pytest.raises(InputError, match="only for lines of your own"):
        ingest(str(tmp_path / "s"), source, fields="question=q", format="assay")
    letters = tmp_path / "letters.jsonl"
    ingested = ingest(str(tmp_path / "s"), source, fields="question=q,contexts=docs", dead_letters=letters)
    assert 1 == ingested.rejected
    assert "docs[0]: E_VALUE not a context (got 5" in ingested.reasons[0]
