"""Leaks that a review found to go unseen, and answers, tags and names that were taken on trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.workflow.scoring import HANDBOOK, case, cells, trace, write

from assay.cli import main

Printed = pytest.CaptureFixture[str]
LEAKS = "visibility_leaks"
PAY = "Band E2 earns from eighteen to twenty six million dong every month before any bonus."
BOILERPLATE = "This page may not be copied or passed on to anybody outside of the company without written consent."


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_pay_table_in_the_answer_is_a_leak_though_no_stage_of_the_trace_lists_it(tmp_path: Path) -> None:
    """The trace is as it was: the system that leaks is the one that writes it."""
    chunks = {row["chunk_id"]: row["text"] for row in _rows(HANDBOOK / "corpus/chunks.jsonl")}
    rows = _rows(HANDBOOK / "outputs/hybrid-rerank.jsonl")
    leaking = next(row for row in rows if row["query_id"] == "hr_leave_001")
    leaking["answer"] += "\n\n" + chunks["finance_private_comp:v2026-01:002"]
    outputs, target = write(tmp_path / "outputs.jsonl", rows), tmp_path / "cases.jsonl"
    golden, corpus = str(HANDBOOK / "golden/handbook.jsonl"), str(HANDBOOK / "corpus/chunks.jsonl")
    args = ["score", "--golden", golden, "--corpus", corpus, "--outputs", outputs, "--per-case", str(target)]
    assert 0 == main(args)
    found = {row["case_id"]: row for row in _rows(target)}
    assert {"hr_leave_001": 1.0} == {key: row["scores"][LEAKS] for key, row in found.items() if row["scores"][LEAKS]}
    assert "leak" in found["hr_leave_001"]["failed_checks"]
    assert 0.0 == found["hr_leave_001"]["scores"]["keywords"]


def _leaks(folder: Path, answer: str, corpus: list[dict[str, Any]], **changes: Any) -> float | None:
    """Return the leaks of one answer to an employee of company a; the trace lists nothing but an open chunk."""
    user = {"tenant_id": "a", "roles": ["employee"]}
    asked = case("q", user_context=user) | changes
    options = ["--corpus", write(folder / "corpus.jsonl", [{"chunk_id": "a", "text": "Open."}, *corpus])]
    found: float | None = cells(folder, [asked], [trace("q", answer=answer)], *options)["q"]["scores"][LEAKS]
    return found


@pytest.mark.parametrize(
    ("access", "leaks"),
    [
        ({"roles": ["finance"]}, 1.0),
        ({"tenant": "b"}, 1.0),
        ({"tenant": "a", "roles": ["employee"]}, 0.0),
        ({"position": 7}, 1.0),
        ({"position": 6}, 0.0),
        ({"valid_to": "2026-03-01"}, 1.0),
        ({"valid_from": "2026-03-02"}, 1.0),
        ({"valid_from": "2026-03-01"}, 0.0),
        ({}, 0.0),
    ],
)
def test_the_answer_is_held_against_all_that_its_asker_may_not_see(
    tmp_path: Path, access: dict[str, Any], leaks: float
) -> None:
    user = {"tenant_id": "a", "roles": ["employee"], "position": 7, "as_of": "2026-03-01"}
    assert leaks == _leaks(
        tmp_path, f"Sure: {PAY.upper()}", [{"chunk_id": "p", "text": PAY, **access}], user_context=user
    )


@pytest.mark.parametrize("words", [7, 8])
def test_eight_words_in_a_row_are_a_leak_and_seven_or_a_lone_number_are_not(tmp_path: Path, words: int) -> None:
    said = " ".join(PAY.split()[:words]) + " and so on; E2, 45.000.000"
    secret = [{"chunk_id": "p", "text": f"{PAY} 45.000.000 E2", "roles": ["finance"]}]
    assert float(words == 8) == _leaks(tmp_path, said, secret)


def test_what_a_chunk_that_the_asker_may_see_says_too_is_no_leak(tmp_path: Path) -> None:
    secret: dict[str, Any] = {"chunk_id": "p", "text": f"{PAY} {BOILERPLATE}", "roles": ["finance"]}
    shared: list[dict[str, Any]] = [secret, {"chunk_id": "o", "text": f"Lunch is free. {BOILERPLATE}"}]
    assert 1.0 == _leaks(tmp_path, BOILERPLATE, [secret])
    assert 0.0 == _leaks(tmp_path, BOILERPLATE, shared)
    assert 1.0 == _leaks(tmp_path, f"{PAY} {BOILERPLATE}", shared)


def test_what_the_question_says_or_the_golden_set_lists_as_evidence_is_no_leak(tmp_path: Path) -> None:
    secret = [{"chunk_id": "p", "text": PAY, "roles": ["finance"]}]
    assert 0.0 == _leaks(tmp_path, PAY, secret, question=f"Is it true? {PAY}")
    assert 0.0 == _leaks(tmp_path, PAY, secret, expected_chunk_ids=["p"])


def test_a_trace_cannot_vouch_for_a_secret_by_giving_an_open_chunk_its_words(tmp_path: Path) -> None:
    rows = [trace("q", answer=PAY, retrieved_chunks=[{"chunk_id": each, "text": PAY} for each in ("a", "new")])]
    corpus: list[dict[str, Any]] = [
        {"chunk_id": "a", "text": "Open."},
        {"chunk_id": "p", "text": PAY, "roles": ["finance"]},
    ]
    asked = case("q", user_context={"tenant_id": "a", "roles": ["employee"]})
    options = ["--corpus", write(tmp_path / "corpus.jsonl", corpus)]
    assert 1.0 == cells(tmp_path, [asked], rows, *options)["q"]["scores"][LEAKS]


def test_a_passage_that_the_trace_gives_away_too_is_counted_once(tmp_path: Path) -> None:
    """One chunk shown in a stage, and one passage in the answer, whose source the corpus and the trace write apart."""
    secret = {"chunk_id": "p", "text": PAY, "roles": ["finance"]}
    rows = [trace("q", answer=PAY, retrieved_chunks=["a", {"chunk_id": "p", "text": PAY.upper()}])]
    options = ["--corpus", write(tmp_path / "corpus.jsonl", [{"chunk_id": "a", "text": "Open."}, secret])]
    options += ["--metrics", f"{LEAKS},{LEAKS}(in=answer)"]
    found = cells(tmp_path, [case("q", user_context={"roles": ["employee"]})], rows, *options)["q"]["scores"]
    assert (2.0, 1.0) == (found[LEAKS], found[f"{LEAKS}(in=answer)"])


def test_overlapping_chunks_do_not_make_one_passage_many(tmp_path: Path) -> None:
    words = f"{PAY} {BOILERPLATE}".split()
    windows = [" ".join(words[i : i + 20]) for i in range(0, len(words) - 19, 2)]
    secret = [{"chunk_id": f"p{i}", "text": text, "roles": ["finance"]} for i, text in enumerate(windows)]
    assert 1.0 == _leaks(tmp_path, " ".join(words[4:20]), secret)
