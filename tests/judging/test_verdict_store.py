"""The verdict store: acknowledged verdicts stay, none is asked for twice, and a changed row is never a verdict."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.support.verdicts import JUDGE, make_request, make_unscored, make_verdict, read_sent_bytes

from assay.calls.interfaces import ClaimState
from assay.judging.verdict_files import count_verdicts, encode_lines, read_export
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.records.errors import InputError
from assay.records.verdicts import ItemVerdict, JudgeStatus, Verdict

A, B = make_request("a"), make_request("b")
KEY = (A.digest, JUDGE.digest, 0)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "verdicts.sqlite"


def filled(path: Path, count: int = 5) -> list[Verdict]:
    """Make a store with some verdicts in it."""
    verdicts = [make_verdict(make_request(f"r{number}")) for number in range(count)]
    with SqliteVerdictStore(path) as store:
        store.register_judge(JUDGE)
        store.save(verdicts)
    return verdicts


def execute(path: Path, statement: str, *values: object) -> None:
    db = sqlite3.connect(path)
    db.execute(statement, values)
    db.commit()
    db.close()


def test_saved_verdict_comes_back_the_same(path: Path) -> None:
    (first, *_) = filled(path)
    contents = read_store(path)
    assert [JUDGE] == contents.judges
    assert [first] == contents.verdicts[JUDGE.digest][first.request]
    assert 5 == count_verdicts(contents.verdicts)


def test_samples_come_in_the_order_of_their_numbers(path: Path) -> None:
    with SqliteVerdictStore(path) as store:
        store.register_judge(JUDGE)
        store.save([make_verdict(A, 2), make_verdict(A, 0), make_verdict(A, 1)])
        assert [0, 1, 2] == [sample.sample for sample in store.load_contents().verdicts[JUDGE.digest][A.digest]]


def test_book_is_readable_for_its_owner_only(path: Path) -> None:
    with SqliteVerdictStore(path) as store:
        store.save([make_verdict(A)])
        for file in path.parent.iterdir():
            assert 0o600 == stat.S_IMODE(file.stat().st_mode), file.name
    assert [path.name] == [file.name for file in path.parent.iterdir()]


def test_claim_gives_what_is_kept_else_the_turn(path: Path) -> None:
    with SqliteVerdictStore(path) as store:
        store.save([make_verdict(A)])
        assert [make_verdict(A), ClaimState.CLAIMED] == store.claim([KEY, (A.digest, JUDGE.digest, 1)], 60)


def test_second_book_waits_while_the_first_asks_and_then_sees_its_verdict(path: Path) -> None:
    with SqliteVerdictStore(path) as first, SqliteVerdictStore(path) as second:
        assert [ClaimState.CLAIMED] == first.claim([KEY], 60)
        assert [ClaimState.BUSY] == second.claim([KEY], 60)
        first.save([make_verdict(A)])
        assert [make_verdict(A)] == second.claim([KEY], 60)
        assert 0 == first.count_double_bills(JUDGE.digest)


def test_released_claim_is_free_again(path: Path) -> None:
    with SqliteVerdictStore(path) as first, SqliteVerdictStore(path) as second:
        first.claim([KEY], 60)
        second.release([KEY])  # not its own: nothing happens
        assert [ClaimState.BUSY] == second.claim([KEY], 60)
        first.release([KEY])
        assert [ClaimState.CLAIMED] == second.claim([KEY], 60)
        assert 0 == second.count_double_bills(JUDGE.digest)


def test_lease_that_ran_out_is_taken_over_and_counted(path: Path) -> None:
    now = [1000.0]
    with SqliteVerdictStore(path, lambda: now[0]) as first, SqliteVerdictStore(path, lambda: now[0]) as second:
        first.claim([KEY], 60)
        now[0] = 1061.0
        assert 1 == second.count_double_bills(JUDGE.digest)
        assert [ClaimState.CLAIMED] == second.claim([KEY], 60)
        assert 1 == second.count_double_bills(JUDGE.digest)


def test_call_under_way_when_the_book_was_closed_counts_as_possibly_billed(path: Path) -> None:
    with SqliteVerdictStore(path) as store:
        store.claim([KEY], 60)
    with SqliteVerdictStore(path) as store:
        assert 1 == store.count_double_bills(JUDGE.digest)
        assert [ClaimState.CLAIMED] == store.claim([KEY], 60)


@pytest.mark.slow
def test_claim_of_a_process_that_was_killed_is_taken_over(path: Path) -> None:
    program = (
        "import os, sys; from assay.judging.verdict_store import SqliteVerdictStore; store = "
        "SqliteVerdictStore(sys.argv[1]);"
        "store.claim([tuple(sys.argv[2:4]) + (0,)], 600); os.kill(os.getpid(), 9)"
    )
    process = subprocess.run([sys.executable, "-c", program, str(path), *KEY[:2]], check=False)
    assert -9 == process.returncode
    with SqliteVerdictStore(path) as store:
        assert 1 == store.count_double_bills(JUDGE.digest)
        assert [ClaimState.CLAIMED] == store.claim([KEY], 60)


def test_sample_that_was_paid_for_in_vain_is_asked_again_only_if_errors_are_retried(path: Path) -> None:
    with SqliteVerdictStore(path) as store:
        store.register_judge(JUDGE)
        store.save([make_unscored(A)])
        assert [make_unscored(A)] == store.claim([KEY], 60)
    with SqliteVerdictStore(path, retry_errors=True) as store:
        assert [ClaimState.CLAIMED] == store.claim([KEY], 60)
        store.save([make_verdict(A)])
        assert [make_verdict(A)] == store.claim([KEY], 60)


def test_scored_verdict_is_never_replaced(path: Path) -> None:
    with SqliteVerdictStore(path) as store:
        store.save([make_verdict(A, label="yes")])
        store.save([make_verdict(A, label="no"), make_unscored(A)])
        assert [make_verdict(A, label="yes")] == store.claim([KEY], 60)


def test_bytes_that_were_sent_are_kept_with_the_verdict(path: Path) -> None:
    body = b'{"messages": []}'
    name = "sha256:" + hashlib.sha256(body).hexdigest()
    with SqliteVerdictStore(path) as store:
        store.keep_rendered(name, body)
        assert None is read_sent_bytes(store, name)
        store.save([make_verdict(A)])
        assert body == read_sent_bytes(store, name)
        assert None is read_sent_bytes(store, "sha256:0")
        execute(path, "UPDATE rendered SET body = ?", b"x")
        assert None is read_sent_bytes(store, name)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("record", b"{}"),
        ("record", b"\xff"),
        ("record", None),
        ("record", "text"),
        ("record", msgspec.json.encode(make_verdict(A, label="no"))),
        ("sha256", b"0" * 32),
        ("request", B.digest),
        ("sample", 7),
    ],
)
def test_changed_row_is_a_miss_with_a_warning(path: Path, column: str, value: object) -> None:
    with SqliteVerdictStore(path) as store:
        store.register_judge(JUDGE)
        store.save([make_verdict(A)])
    if value is None:
        value = b""
    execute(path, f"UPDATE verdicts SET {column} = ?", value)
    contents = read_store(path)
    assert ([JUDGE], {}) == (contents.judges, contents.verdicts)
    assert ["1 verdict does not match the recorded sha256: changed, and left out"] == contents.warnings
    with SqliteVerdictStore(path) as store:
        assert [ClaimState.CLAIMED] == store.claim([KEY], 60)
        assert (column in ("record", "sha256")) == bool(store.changed_rows)
        store.save([make_verdict(A)])
        assert [make_verdict(A)] == store.claim([KEY], 60)


def test_verdicts_of_a_judge_that_is_not_named_are_left_out_with_a_warning(path: Path) -> None:
    with SqliteVerdictStore(path) as store:
        store.save([make_verdict(A)])
    contents = read_store(path)
    assert {} == contents.verdicts
    assert [f"left out: 1 verdict of an unknown judge ({JUDGE.digest})"] == contents.warnings


def test_standing_of_a_judge_is_kept_and_a_changed_one_is_told(path: Path) -> None:
    judge_status = JudgeStatus(JUDGE.digest, 8, 0.5, invalid=True, reasons=("controls",))
    with SqliteVerdictStore(path) as store:
        store.register_judge(JUDGE)
        store.record_status(judge_status)
    assert {JUDGE.digest: judge_status} == read_store(path).statuses
    execute(path, "UPDATE judge_statuses SET record = replace(record, 'true', 'false')")
    assert 1 == len(read_store(path).warnings)
    assert not read_store(path).statuses[JUDGE.digest].may_gate


def test_text_that_utf8_cannot_hold_is_spelled_out_and_kept(path: Path) -> None:
    odd = msgspec.structs.replace(make_verdict(A), raw="a\ud800b", items=(ItemVerdict("answer", "yes", "\udfff"),))
    with SqliteVerdictStore(path) as store:
        store.register_judge(JUDGE)
        store.save([odd])
    (found,) = read_store(path).verdicts[JUDGE.digest][A.digest]
    assert ("a\\ud800b", "\\udfff") == (found.raw, found.items[0].reasoning)


def test_export_holds_everything_and_reads_back_the_same(path: Path, tmp_path: Path) -> None:
    filled(path)
    with SqliteVerdictStore(path) as store:
        store.record_status(JudgeStatus(JUDGE.digest, 4, 0.0))
        store.save([make_verdict(A, 1), make_verdict(A)])
    contents = read_store(path)
    export = tmp_path / "verdicts.jsonl"
    export.write_bytes(b"".join(encode_lines(contents)))
    assert contents == read_store(export)
    assert export.read_bytes() == b"".join(encode_lines(read_export(export)))


def test_changed_line_of_an_export_is_refused_with_its_number(path: Path, tmp_path: Path) -> None:
    filled(path, 2)
    lines = list(encode_lines(read_store(path)))
    export = tmp_path / "verdicts.jsonl"
    changed = lines[1].replace(b'"label":"yes"', b'"label":"no"')
    export.write_bytes(b"".join([lines[0], changed, b"{}\n", b"nonsense\n", b"\n", lines[2]]))
    with pytest.raises(InputError) as caught:
        read_store(export)
    assert [2, 3, 4] == [problem.line for problem in caught.value.problems]
    assert "it was changed" in caught.value.problems[0].message


def test_two_verdicts_for_one_sample_in_an_export_are_refused(path: Path, tmp_path: Path) -> None:
    export = tmp_path / "verdicts.jsonl"
    texts = []
    for name, label in (("one", "yes"), ("two", "no")):
        with SqliteVerdictStore(tmp_path / name) as store:
            store.register_judge(JUDGE)
            store.save([make_verdict(A, label=label)])
        texts.append(b"".join(encode_lines(read_store(tmp_path / name))))
    export.write_bytes(texts[0] + texts[0])
    assert 1 == count_verdicts(read_store(export).verdicts)
    export.write_bytes(texts[0] + texts[1])
    with pytest.raises(InputError, match="another verdict for the sample of line 2"):
        read_store(export)


def test_book_in_a_folder_that_cannot_be_written_is_read(path: Path) -> None:
    written = filled(path)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert 5 == count_verdicts(read_store(path).verdicts)
    finally:
        path.parent.chmod(0o700)
    assert 5 == len(written)


def test_reading_sees_what_a_process_that_still_writes_has_acknowledged(path: Path) -> None:
    with SqliteVerdictStore(path) as store:
        store.register_judge(JUDGE)
        store.save([make_verdict(A)])
        assert path.with_name(f"{path.name}-wal").stat().st_size > 0
        assert 1 == count_verdicts(read_store(path).verdicts)


@pytest.mark.slow
def test_full_disk_is_incomplete_and_names_the_book(path: Path) -> None:
    program = (
        "import resource, signal, sys; from assay.judging.verdict_store import SqliteVerdictStore; from "
        "assay.records.errors import IncompleteError\n"
        "from tests.support.verdicts import make_request, make_verdict\n"
        "store = SqliteVerdictStore(sys.argv[1]); store.save([make_verdict(make_request('recorded'))])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (80_000, 80_000))\n"
        "try:\n"
        "    for n in range(1000): store.save([make_verdict(make_request(str(n)))])\n"
        "except IncompleteError as error: print(error); sys.exit(3)\n"
    )
    root = Path(__file__).resolve().parents[2]
    process = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
    )
    assert 3 == process.returncode, process.stderr
    assert f"{path}: cannot be used" in process.stdout
    assert "bytes are free there" in process.stdout
    with SqliteVerdictStore(path) as store:
        store.register_judge(JUDGE)
        recorded = store.load_contents().verdicts[JUDGE.digest]
        assert make_request("recorded").digest in recorded
        store.save([make_verdict(B)])
