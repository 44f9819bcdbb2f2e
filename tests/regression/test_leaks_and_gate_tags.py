"""Leaks in the text of answers, tags that a gate names and no case has, and unknown names in input files."""

from __future__ import annotations

import gzip
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from tests.runs.scoring import HANDBOOK, make_case, make_trace, score, score_to_cells, write

from assay.cli import main

Printed = pytest.CaptureFixture[str]
LEAKS = "visibility_leaks"
PAY = "Band E2 earns from eighteen to twenty six million dong every month before any bonus."
OPEN_CHUNKS = [{"chunk_id": "a", "text": "Open."}, {"chunk_id": "b", "text": "Open too."}]
BOILERPLATE = "This page may not be copied or passed on to anybody outside of the company without written consent."


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
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
    asked = make_case("q", user_context=user) | changes
    options = ["--corpus", write(folder / "corpus.jsonl", [*OPEN_CHUNKS, *corpus])]
    found: float | None = score_to_cells(folder, [asked], [make_trace("q", answer=answer)], *options)["q"]["scores"][
        LEAKS
    ]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("access", "leaks"),
    [
        ({"roles": ["finance"]}, 1.0),
        ({"tenant": "b"}, 1.0),
        ({"tenant": "a", "roles": ["employee"]}, 0.0),
        ({"position": 7}, 1.0),
        ({"position": 6}, 0.0),
        ({"valid_to": "2026-03-01"}, 0.0),
        ({"valid_from": "2026-03-02"}, 0.0),
        ({"valid_from": "2026-03-01"}, 0.0),
        ({}, 0.0),
    ],
)
def test_answer_is_compared_with_everything_that_its_user_may_not_see(
    tmp_path: Path, access: dict[str, Any], leaks: float
) -> None:
    user = {"tenant_id": "a", "roles": ["employee"], "position": 7, "as_of": "2026-03-01"}
    assert leaks == _leaks(
        tmp_path, f"Sure: {PAY.upper()}", [{"chunk_id": "p", "text": PAY, **access}], user_context=user
    )


@pytest.mark.parametrize("words", [7, 8])
def test_eight_words_in_a_row_are_a_leak_and_seven_or_a_short_code_are_not(tmp_path: Path, words: int) -> None:
    said = " ".join(PAY.split()[:words]) + " and so on; E2"
    secret = [{"chunk_id": "p", "text": PAY, "roles": ["finance"]}]
    assert float(words == 8) == _leaks(tmp_path, said, secret)


def test_text_that_a_visible_chunk_contains_too_is_not_a_leak(tmp_path: Path) -> None:
    secret: dict[str, Any] = {"chunk_id": "p", "text": f"{PAY} {BOILERPLATE}", "roles": ["finance"]}
    shared: list[dict[str, Any]] = [secret, {"chunk_id": "o", "text": f"Lunch is free. {BOILERPLATE}"}]
    assert 1.0 == _leaks(tmp_path, BOILERPLATE, [secret])
    assert 0.0 == _leaks(tmp_path, BOILERPLATE, shared)
    assert 1.0 == _leaks(tmp_path, f"{PAY} {BOILERPLATE}", shared)


def test_what_the_question_says_or_the_golden_set_lists_as_evidence_is_no_leak(tmp_path: Path) -> None:
    secret = [{"chunk_id": "p", "text": PAY, "roles": ["finance"]}]
    assert 0.0 == _leaks(tmp_path, PAY, secret, question=f"Is it true? {PAY}")
    assert 0.0 == _leaks(tmp_path, PAY, secret, expected_chunk_ids=["p"])


def test_trace_cannot_hide_a_leak_by_putting_its_words_into_a_visible_chunk(tmp_path: Path) -> None:
    rows = [make_trace("q", answer=PAY, retrieved_chunks=[{"chunk_id": each, "text": PAY} for each in ("a", "new")])]
    corpus: list[dict[str, Any]] = [
        {"chunk_id": "a", "text": "Open."},
        {"chunk_id": "p", "text": PAY, "roles": ["finance"]},
    ]
    asked = make_case("q", user_context={"tenant_id": "a", "roles": ["employee"]})
    options = ["--corpus", write(tmp_path / "corpus.jsonl", corpus)]
    assert 1.0 == score_to_cells(tmp_path, [asked], rows, *options)["q"]["scores"][LEAKS]


def test_a_passage_that_the_trace_gives_away_too_is_counted_once(tmp_path: Path) -> None:
    """One chunk that is shown in a stage and repeated in the answer, though the corpus and the trace write it apart."""
    secret = {"chunk_id": "p", "text": PAY, "roles": ["finance"]}
    rows = [make_trace("q", answer=PAY, retrieved_chunks=["a", {"chunk_id": "p", "text": PAY.upper()}])]
    options = ["--corpus", write(tmp_path / "corpus.jsonl", [{"chunk_id": "a", "text": "Open."}, secret])]
    options += ["--metrics", f"{LEAKS},{LEAKS}(in=answer)"]
    found = score_to_cells(tmp_path, [make_case("q", user_context={"roles": ["employee"]})], rows, *options)["q"][
        "scores"
    ]
    assert (1.0, 1.0) == (found[LEAKS], found[f"{LEAKS}(in=answer)"])


def test_overlapping_chunks_do_not_make_one_passage_many(tmp_path: Path) -> None:
    words = f"{PAY} {BOILERPLATE}".split()
    windows = [" ".join(words[i : i + 20]) for i in range(0, len(words) - 19, 2)]
    secret = [{"chunk_id": f"p{i}", "text": text, "roles": ["finance"]} for i, text in enumerate(windows)]
    assert 1.0 == _leaks(tmp_path, " ".join(words[4:20]), secret)


# ── tags that a gate names and no case has ───────────────────────────────────────────────────────────────────────


def _gated(folder: Path, text: str, tags: list[str]) -> tuple[int, str]:
    gate = folder / "gate.yaml"
    gate.write_text(f"rules: [{{metric: recall@5, at_least: 0.5}}]\n{text}\n", encoding="utf-8")
    found = folder / "report.json"
    options = ("--gate", str(gate), "--json-report", str(found))
    status = score(folder, [make_case("q", tags=tags)], [make_trace("q", answer="Because.")], *options)
    return status, " ".join(json.loads(found.read_text(encoding="utf-8"))["decision"]["reasons"])


@pytest.mark.slow
@pytest.mark.parametrize("field", ["zero_tolerance_tags", "blocking_tags"])
@pytest.mark.parametrize("named", ["confidental", "acl"])
def test_a_tag_that_a_gate_file_names_and_no_case_has_fails_the_gate(tmp_path: Path, field: str, named: str) -> None:
    status, reasons = _gated(tmp_path, f"{field}: [{named}]", ["confidential"])
    assert 1 == status
    assert f"the gate names tag={named}, which no case has" in reasons
    assert (named == "confidental") == ("did you mean 'confidential'?" in reasons)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("zero_tolerance_tags: [Prompt_Injection]", ["prompt injection"]),
        ("blocking_tags: []", ["hr"]),
        ("zero_tolerance_tags: []", ["hr"]),
        ("", []),
    ],
)
def test_a_tag_that_some_case_has_and_tags_that_nobody_named_do_not_fail_it(
    tmp_path: Path, text: str, tags: list[str]
) -> None:
    assert 0 == _gated(tmp_path, text, tags)[0]


def test_denied_cases_stand_for_the_tag_permission_denied(tmp_path: Path) -> None:
    denied = make_case("q", expected_behavior="permission_denied", user_context={"roles": ["employee"]})
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: behaviour, at_least: 0.5}]\nzero_tolerance_tags: [permission_denied]\n")
    rows = [make_trace("q", retrieved_chunks=["b"], answer="You do not have permission to see that.")]
    assert 0 == score(tmp_path, [denied], rows, "--gate", str(gate))


def test_a_tag_of_a_shipped_gate_that_no_case_has_is_a_note(tmp_path: Path, capsys: Printed) -> None:
    """rag-runner blocks on acl. A file that takes it as its base named nothing itself."""
    gate = tmp_path / "gate.yaml"
    gate.write_text("profile: rag-runner\n", encoding="utf-8")
    for options in (("--profile", "rag-runner"), ("--gate", str(gate))):
        score(tmp_path, [make_case("q")], [make_trace("q", answer="Because.")], *options)
        printed = capsys.readouterr()
        assert "no case has the tag acl: the rule of the profile for it checks nothing" in printed.out
        assert "the gate names" not in printed.out


def test_which_tags_are_usual_is_not_for_a_gate_file_to_say(tmp_path: Path, capsys: Printed) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("blocking_tags: [x]\nusual_tags: [x]\n", encoding="utf-8")
    assert 2 == score(tmp_path, [make_case("q")], [make_trace("q")], "--gate", str(gate))
    assert "unknown key (got 'usual_tags'" in capsys.readouterr().err


@pytest.mark.parametrize("look_again", [False, True], ids=["arrays", "general"])
@pytest.mark.parametrize("packed", [False, True])
def test_query_missing_from_the_qrels_is_reported_with_its_first_line(
    tmp_path: Path, capsys: Printed, *, packed: bool, look_again: bool
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n", encoding="utf-8")
    run = tmp_path / ("run.txt.gz" if packed else "run.txt")
    text = "\ufeff\n cafe\u0301 Q0 d1 1 2 t\nq1 Q0 d1 1 2 t\ncaf\u00e9 Q0 d2 2 1 t\nq8\tQ0 d1 1 2 t\n".encode()
    run.write_bytes(gzip.compress(text) if packed else text)
    extra = ["--format", "markdown"] if look_again else []
    command = ["score", "--golden", str(tmp_path / "qrels.txt"), "--outputs", str(run), "--outputs-format", "trec-run"]
    assert 2 == main([*command, *extra])
    printed = capsys.readouterr().err
    assert f"{run.name}:2: query: E_UNKNOWN_ID no such case (got 'café'" in printed
    assert f"{run.name}:5: query: E_UNKNOWN_ID no such case (got 'q8'" in printed


@pytest.mark.parametrize("name", ["tag", "difficulty", "behaviour", "language", "kind", "k=e"])
def test_an_attribute_that_slices_would_pass_over_is_refused(tmp_path: Path, capsys: Printed, name: str) -> None:
    assert 2 == score(
        tmp_path,
        [make_case("q"), make_case("r", attributes={name: "v"})],
        [make_trace("q"), make_trace("r")],
        "--by",
        name,
    )
    printed = capsys.readouterr().err
    assert "golden.jsonl:2: attributes" in printed
    assert f"(got '{name}'; expected " in printed


def test_an_attribute_is_the_same_slice_in_any_normal_form(tmp_path: Path) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: recall@5, at_least: 0.5, slice: miền=đệ}]\n", encoding="utf-8")
    cases = [make_case("q", attributes={unicodedata.normalize("NFD", "miền"): unicodedata.normalize("NFD", "đệ")})]
    assert 0 == score(tmp_path, cases, [make_trace("q")], "--by", "miền", "--gate", str(gate))


@pytest.mark.parametrize("question", ["\u200b\u200d", "\ufeff \u2060", "\u00ad", "\u3164"])
def test_a_question_of_which_nothing_can_be_seen_is_refused(tmp_path: Path, capsys: Printed, question: str) -> None:
    assert 2 == score(tmp_path, [make_case("q", question=question)], [make_trace("q")])
    assert "golden.jsonl:1: question: E_QUESTION empty question (got " in capsys.readouterr().err


PRICES = "From the first of June a berth of ten metres costs forty one crowns a night, electricity included."


def _score_early(folder: Path, **access: Any) -> tuple[dict[str, Any], int]:
    """Score a right answer that copies the price list of a later day; return its row and the code of the gate."""
    user = {"tenant_id": "a", "roles": ["employee"], "as_of": "2026-03-01"}
    case = make_case("q", user_context=user, rubric={"correct_keywords": ["forty one crowns"]})
    corpus = [*OPEN_CHUNKS, {"chunk_id": "p", "text": PRICES, "valid_from": "2026-06-01", **access}]
    trace = make_trace("q", retrieved_chunks=["p"], context_chunks=["p"], answer=PRICES)
    target = folder / "cases.jsonl"
    gate = folder / "gate.yaml"
    gate.write_text("rules:\n  - metric: visibility_leaks\n    at_most: 0\n    basis: point\n", encoding="utf-8")
    options = ["--corpus", write(folder / "corpus.jsonl", corpus), "--per-case", str(target), "--gate", str(gate)]
    code = score(folder, [case], [trace], *options)
    return _rows(target)[0], code


def test_what_is_valid_only_later_is_no_leak_and_warned_of(tmp_path: Path) -> None:
    row, _ = _score_early(tmp_path)
    assert 0.0 == row["scores"][LEAKS] and 1.0 == row["scores"]["early_chunks"]
    assert "not_yet_valid" in row["warnings"] and "leak" not in row["failed_checks"]
    assert 1.0 == row["scores"]["keywords"]


def test_an_early_document_that_roles_keep_secret_still_leaks(tmp_path: Path) -> None:
    row, code = _score_early(tmp_path, roles=["board"])
    assert row["scores"][LEAKS] >= 1.0 and "leak" in row["failed_checks"] and code != 0
    assert 0.0 == row["scores"]["keywords"]
