"""Every row of every file is accounted for: duplicates, unknown cases, torn and endless lines, strict reading."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.formats import outputs as files_of_outputs
from assay.formats.file_io import MAX_LINE_BYTES

Printed = pytest.CaptureFixture[str]


def row(case_id: str = "q1", **changes: Any) -> str:
    return json.dumps(
        {"query_id": case_id, "config_id": "c", "retrieved_chunks": ["a"], "versions": {"i": "1"}} | changes
    )


def golden_of(folder: Path, size: int = 2) -> str:
    path = folder / "golden.jsonl"
    cases = [{"id": f"q{n}", "question": f"Why {n}?", "expected_chunk_ids": ["a"]} for n in range(1, size + 1)]
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return str(path)


def score(folder: Path, *lines: str, options: tuple[str, ...] = (), size: int = 2) -> int:
    (folder / "out.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return main(["score", "--golden", golden_of(folder, size), "--outputs", str(folder / "out.jsonl"), *options])


# ── the same case twice ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_case_given_twice_names_both_places(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, row(), row("q2"), row())
    message = capsys.readouterr().err
    path = tmp_path / "out.jsonl"
    assert f"{path}:3: E_DUPLICATE" in message
    assert f"case 'q1' of configuration 'c' again; expected it once, it is at {path}:1; " in message


def test_a_case_given_twice_in_two_files_names_both_files(tmp_path: Path, capsys: Printed) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_text(row() + "\n" + row("q2") + "\n", encoding="utf-8")
    two.write_text("\n" + row("q2") + "\n", encoding="utf-8")
    assert 2 == main(["score", "--golden", golden_of(tmp_path), "--outputs", str(one), str(two)])
    message = capsys.readouterr().err
    assert f"{two}:2: E_DUPLICATE" in message
    assert f"it is at {one}:2" in message


def test_two_files_without_a_configuration_clash_once_and_are_told_what_to_add(tmp_path: Path, capsys: Printed) -> None:
    one, two = tmp_path / "old.jsonl", tmp_path / "new.v2.jsonl"
    for path, answer in ((one, "12 days"), (two, "15 days")):
        rows = [{"case_id": case_id, "answer": answer} for case_id in ("q1", "q2")]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert 2 == main(["score", "--golden", golden_of(tmp_path), "--outputs", str(one), str(two)])
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "E_DUPLICATE" in line]
    assert line.startswith(f"{two}: config_id: E_DUPLICATE outputs of the same configuration as in {one}")
    assert "got 2 cases in both; expected a `config_id` on each line of one file, such as 'new', " in line
    for path, config in ((one, "old"), (two, "new")):
        path.write_text(path.read_text("utf-8").replace("{", f'{{"config_id": "{config}", '), encoding="utf-8")
    assert 0 == main(["score", "--golden", golden_of(tmp_path), "--outputs", str(one), str(two), "--no-history"])


def test_a_case_given_twice_is_found_across_shards(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 10)  # every line is a shard of its own
    assert 2 == score(tmp_path, row(), row("q2"), "", row())
    path = tmp_path / "out.jsonl"
    message = capsys.readouterr().err
    assert f"{path}:4: E_DUPLICATE" in message
    assert f"it is at {path}:1; " in message


def test_repeats_with_a_number_are_samples_of_one_case(tmp_path: Path, capsys: Printed) -> None:
    assert 0 == score(tmp_path, row(), row("q2"), row(repeat=1), options=("--format", "json"))
    report = json.loads(capsys.readouterr().out)
    assert 2 == report["configs"]["c"]["summary"]["recall@10"]["scored"]


def test_two_configurations_of_one_file_are_scored_apart(tmp_path: Path, capsys: Printed) -> None:
    rows = [row(case, config_id=config) for config in ("c", "d") for case in ("q1", "q2")]
    assert 0 == score(tmp_path, *rows, options=("--format", "json"))
    assert ["c", "d"] == list(json.loads(capsys.readouterr().out)["configs"])


@pytest.mark.parametrize("repeat", [1_000_001, 2**63, 2**70])
def test_a_repeat_number_out_of_range_is_refused(tmp_path: Path, capsys: Printed, repeat: int) -> None:
    assert 2 == score(tmp_path, row(repeat=repeat))
    assert ":1: repeat: E_RANGE too large" in capsys.readouterr().err


# ── how much is said ─────────────────────────────────────────────────────────────────────────────────────────────


def test_alike_problems_of_outputs_are_one_line_each_and_all_are_counted(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, *(row("q1", cost_usd=-1, answer=5) for _ in range(40)))
    lines = capsys.readouterr().err.splitlines()
    assert ["cost_usd", "answer"] == [line.split(": ")[1] for line in lines[:-1]]
    assert all(":1: " in line and line.endswith("; 39 more of this kind: lines 2, 3, 4, 5, 6 …") for line in lines[:-1])
    assert "80 problems; nothing was done" == lines[-1]


def test_every_fault_of_a_line_is_named_at_once(tmp_path: Path, capsys: Printed) -> None:
    bad = row(answer=3, retrieved_chunks=[{"id": "a"}, {"chunk_id": 5}], tokens={"prompt": "x"})
    assert 2 == score(tmp_path, bad)
    message = capsys.readouterr().err
    fields = ("answer", "retrieved_chunks[0].chunk_id", "retrieved_chunks[1].chunk_id", "tokens.prompt")
    assert [] == [field for field in fields if f"out.jsonl:1: {field}: " not in message]


def test_unknown_cases_are_listed_one_by_one(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, row(), row("q8"), row("q9"))
    message = capsys.readouterr().err
    assert "out.jsonl:2: query_id: E_UNKNOWN_ID no such case (got 'q8'" in message
    assert "out.jsonl:3: query_id: E_UNKNOWN_ID no such case (got 'q9'" in message


# ── null, empty, absent ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"answer": None}, (0, 0, 1)),  # asked, and the target failed to answer
        ({"answer": ""}, (1, 0, 0)),  # an empty answer is one: neither refusal nor correct
        ({}, (0, 1, 0)),  # never asked for an answer
    ],
    ids=["null", "empty", "absent"],
)
def test_a_null_answer_is_an_error_an_empty_one_is_wrong_and_an_absent_one_does_not_apply(
    tmp_path: Path, capsys: Printed, answer: dict[str, Any], expected: tuple[int, int, int]
) -> None:
    score(tmp_path, row(**answer), options=("--format", "json"), size=1)
    behaviour = json.loads(capsys.readouterr().out)["configs"]["c"]["summary"]["behaviour"]
    assert expected == (behaviour["scored"], behaviour["not_applicable"], behaviour["errors"])
    assert (0.0 if "answer" in answer and answer["answer"] == "" else None) == behaviour["mean"]


@pytest.mark.parametrize(("chunks", "recall"), [([], 0.0), (None, None)])
def test_an_empty_ranking_scores_zero_and_one_not_reported_does_not_apply(
    tmp_path: Path, capsys: Printed, chunks: list[str] | None, recall: float | None
) -> None:
    score(tmp_path, row(retrieved_chunks=chunks, cost_usd=0.1), options=("--format", "json"), size=1)
    assert recall == json.loads(capsys.readouterr().out)["configs"]["c"]["summary"]["recall@10"]["mean"]


# ── files that end in the middle, and lines without an end ───────────────────────────────────────────────────────


def test_a_torn_tail_is_only_a_cut_line_and_not_a_wrong_one(tmp_path: Path, capsys: Printed) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(row() + "\n" + row("q2", cost_usd=-1), encoding="utf-8")
    assert 2 == main(["score", "--golden", golden_of(tmp_path), "--outputs", str(path), "--allow-torn-tail"])
    assert "out.jsonl:2: cost_usd: E_RANGE" in capsys.readouterr().err


def test_a_line_of_more_than_sixteen_mebibytes_is_named(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, row("q2"), row(answer="x" * MAX_LINE_BYTES))
    assert "out.jsonl:2: E_LINE_TOO_LONG" in capsys.readouterr().err


def test_a_line_that_never_ends_is_named_without_being_read(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 100)
    monkeypatch.setattr(files_of_outputs, "MAX_LINE_BYTES", 1000)
    assert 2 == score(tmp_path, row("q2"), row(answer="x" * 5000), row())
    assert "out.jsonl:2: E_LINE_TOO_LONG line too long (got more than 1000 bytes" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_refused(tmp_path: Path, capsys: Printed, content: bytes) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(content)
    assert 2 == main(["score", "--golden", golden_of(tmp_path), "--outputs", str(path)])
    assert "out.jsonl: E_EMPTY" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_by_name(tmp_path: Path, capsys: Printed, encoding: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(row() + "\n", encoding=encoding)
    assert 2 == main(["score", "--golden", golden_of(tmp_path), "--outputs", str(path)])
    assert "out.jsonl:1: E_ENCODING" in capsys.readouterr().err


def test_a_broken_gzip_file_is_refused(tmp_path: Path, capsys: Printed) -> None:
    path = tmp_path / "out.jsonl.gz"
    path.write_bytes(gzip.compress((row() + "\n").encode())[:-9])
    assert 2 == main(["score", "--golden", golden_of(tmp_path), "--outputs", str(path)])
    assert "out.jsonl.gz: E_GZIP" in capsys.readouterr().err


# ── strict reading ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row()[:-1] + ', "answer": "a", "answer": "b"}', "answer: E_KEY_TWICE key given twice"),
        (row(retreived=[]), "retreived: E_UNKNOWN_FIELD"),
        (row(retrieved_chunks=["a", "b", "a"]), "retrieved_chunks[2]: E_DUPLICATE_CHUNK chunk given twice (got 'a'"),
        (row(metadata={"x": [[[[]]] * 40]})[:-1] + ', "y": ' + "[" * 120 + "]" * 120 + "}", "E_DEPTH"),
    ],
)
def test_strict_reading_refuses_what_is_usually_only_said(
    tmp_path: Path, capsys: Printed, line: str, message: str
) -> None:
    assert 3 == score(tmp_path, line)  # q2 has no output
    assert 2 == score(tmp_path, line, options=("--strict-outputs",))
    assert f"out.jsonl:1: {message}" in capsys.readouterr().err
