"""Edge cases of golden sets, outputs, ranking, judging, text, citation, refusal and access, from file to score.

Each test covers a mistake that is easy to make in an evaluator and that changes results silently.
"""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from tests.runs.scoring import HANDBOOK, make_case, make_trace, score, score_to_cells, score_to_report

from assay.cli import main
from assay.metrics.catalog import parse_metric

Printed = pytest.CaptureFixture[str]
DENIED = make_case(
    "q1",
    expected_behavior="permission_denied",
    expected_chunk_ids=["secret"],
    user_context={"tenant_id": "b", "roles": ["employee"]},
)


def scores(folder: Path, golden: dict[str, Any], **seen: Any) -> dict[str, Any]:
    """Score one output of one case; returns the scores by metric."""
    found: dict[str, Any] = score_to_cells(folder, [golden], [make_trace("q1", **seen)])["q1"]["scores"]
    return found


def metric(folder: Path, name: str, golden: dict[str, Any], **seen: Any) -> float | None:
    found: float | None = score_to_cells(folder, [golden], [make_trace("q1", **seen)], "--metrics", name)["q1"][
        "scores"
    ][name]
    return found


# ── golden sets ───────────────────────────────────────────────────────────────────────────────────────────────


def test_relevance_without_expected_ids_is_scored(tmp_path: Path) -> None:
    golden = make_case("q1", expected_chunk_ids=[], relevance={"a": 1, "z": 3, "n": 0})
    assert 0.5 == metric(tmp_path, "recall@10", golden)


def test_a_document_that_must_be_cited_is_cited_by_its_chunk(tmp_path: Path) -> None:
    golden = make_case("q1", expected_chunk_ids=["hr:v1:003"], must_cite=["hr"])
    assert 1.0 == metric(tmp_path, "must_cite", golden, citations=["hr:v1:003"])
    assert 0.0 == metric(tmp_path, "must_cite", golden, citations=["hr_other:v1:003"])


def test_no_answer_cases_have_no_chunks_to_find() -> None:
    rows = [json.loads(line) for line in (HANDBOOK / "golden" / "handbook.jsonl").read_bytes().splitlines()]
    found = [row.get("expected_chunk_ids", []) for row in rows if row["expected_behavior"] == "abstain"]
    assert [[], [], [], []] == found


# ── outputs ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_chunk_without_an_id_is_not_skipped(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, [make_case("q1")], [make_trace("q1", retrieved_chunks=["a", {"text": "?"}])])
    assert "retrieved_chunks[1].chunk_id: E_MISSING" in capsys.readouterr().err


@pytest.mark.slow
def test_a_target_that_gives_up_on_hard_questions_does_not_score_higher(tmp_path: Path) -> None:
    golden = [make_case("q1"), make_case("q2")]
    both = [make_trace("q1"), make_trace("q2", retrieved_chunks=["b"])]
    honest = score_to_report(tmp_path, golden, both)["configs"]["c"]["summary"]["recall@10"]
    silent = score_to_report(tmp_path, golden, both[:1])["configs"]["c"]["summary"]["recall@10"]
    assert honest["mean_worst"] == silent["mean_worst"] == 0.5
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: recall@10, at_least: 0.9}]", encoding="utf-8")
    assert 3 == score(tmp_path, golden, both[:1], "--gate", str(gate))


def test_rows_given_twice_are_counted_once_or_refused(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, [make_case("q1")], [make_trace("q1"), make_trace("q1")])
    assert 2 == score(tmp_path, [make_case("q1"), make_case("q1")], [make_trace("q1")])
    assert "golden.jsonl:2: id: E_DUPLICATE_ID" in capsys.readouterr().err


# ── retrieval ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_hit_in_a_short_list_is_two_precisions_with_two_names(tmp_path: Path) -> None:
    trace = scores(tmp_path, make_case("q1"), retrieved_chunks=["a"])
    assert (0.2, 1.0) == (trace["precision@5"], trace["precision(of=returned)@5"])


@pytest.mark.parametrize("ranking", [["a", "a"], ["a", "a", "a"]])
def test_a_repeated_chunk_gains_once(tmp_path: Path, ranking: list[str]) -> None:
    assert 1.0 == metric(tmp_path, "ndcg@5", make_case("q1", relevance={"a": 3}), retrieved_chunks=ranking)


def test_symbols_are_looked_for_in_the_evidence_before_the_answer(tmp_path: Path) -> None:
    golden = {"id": "q1", "question": "Where?", "gold_answer": "x", "expected_symbols": ["run_job"]}
    trace = {"retrieved_chunks": [{"chunk_id": "a", "text": "def run_job():"}], "answer": "I do not know."}
    assert 1.0 == metric(tmp_path, "symbol_recall", golden, **trace)
    trace["retrieved_chunks"] = [{"chunk_id": "a", "text": "def other():"}]
    assert 0.0 == metric(tmp_path, "symbol_recall", golden, **(trace | {"answer": "It is run_job."}))


# ── d, e: context and answers ────────────────────────────────────────────────────────────────────────────────────


def test_what_no_judge_has_seen_has_no_score(tmp_path: Path) -> None:
    found = score_to_report(
        tmp_path, [make_case("q1")], [make_trace("q1", answer="Yes.")], "--metrics", "faithfulness(by=judge),recall@5"
    )
    assert "faithfulness(by=judge)" not in found["configs"]["c"]["summary"]
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: 'faithfulness(by=judge)', at_least: 0.9}]", encoding="utf-8")
    assert 1 == score(tmp_path, [make_case("q1")], [make_trace("q1", answer="Yes.")], "--gate", str(gate))


def test_faithfulness_to_the_context_and_to_the_cited_sources_are_two_metrics() -> None:
    context, cited = parse_metric("faithfulness(by=judge)"), parse_metric("faithfulness(against=cited,by=judge)")
    assert (
        "faithfulness(by=judge)"
        == str(parse_metric("faithfulness(against=context,by=judge)"))
        == str(context)
        != str(cited)
    )


def test_citation_coverage_is_a_share_of_the_context_and_undefined_without_one(tmp_path: Path) -> None:
    trace = {"context_chunks": ["a", "b", "c", "d"], "citations": ["a"], "answer": "Yes."}
    assert 0.25 == metric(tmp_path, "citation_coverage", make_case("q1"), **trace)
    assert metric(tmp_path, "citation_coverage", make_case("q1"), **(trace | {"context_chunks": []})) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The budget increased from $1.2M to $1.4M", 1.0),  # a correct keyword next to an outdated one: correct first
        ("It is $1.2M", 0.0),
        ("unknown", 0.0),
        ("It is $11.4M", 0.0),  # not inside another number
    ],
)
def test_keywords_are_graded_correct_first_and_within_boundaries(tmp_path: Path, answer: str, expected: float) -> None:
    golden = rubric(correct_keywords=["$1.4M"], incorrect_patterns=["$1.2M"])
    assert expected == metric(tmp_path, "keywords", golden, answer=answer)


def rubric(**parts: Any) -> dict[str, Any]:
    return make_case("q1", rubric=parts)


@pytest.mark.parametrize("answer", ["It is $1.2M or $1.4M.", "It is not $1.4M."])
def test_a_hedged_or_negated_keyword_is_flagged(tmp_path: Path, answer: str) -> None:
    golden = rubric(correct_keywords=["$1.4M"], incorrect_patterns=["$1.2M"])
    assert 1.0 == metric(tmp_path, "keywords_ambiguous", golden, answer=answer)


def test_without_correct_keywords_nothing_is_divided_by_zero(tmp_path: Path) -> None:
    golden = rubric(incorrect_patterns=["$1.2M"])
    found = {answer: metric(tmp_path, "keywords", golden, answer=answer) for answer in ("Yes.", "It is $1.2M.")}
    assert {"Yes.": None, "It is $1.2M.": None} == found


# ── citations ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_leaking_system_scores_worst_although_its_citation_is_in_its_context(tmp_path: Path) -> None:
    trace: dict[str, Any] = {"retrieved_chunks": ["secret"], "context_chunks": ["secret"], "citations": ["secret"]}
    found = score_to_cells(tmp_path, [DENIED], [make_trace("q1", answer="You may not, but it is 90,000.", **trace)])[
        "q1"
    ]
    assert 0.0 == found["scores"]["citation_correctness(by=rules)"]
    assert "leak" in found["failed_checks"]


def test_an_answer_that_cites_nothing_is_not_a_correct_citation(tmp_path: Path) -> None:
    trace = {"context_chunks": ["a"], "citations": [], "answer": "Yes."}
    assert metric(tmp_path, "citation_correctness(by=rules)", make_case("q1"), **trace) is None
    assert 0.0 == metric(tmp_path, "citation_correctness(by=rules)", make_case("q1", must_cite=["a"]), **trace)


def test_expected_ids_and_relevance_that_disagree_are_refused(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, [make_case("q1", relevance={"z": 3})], [make_trace("q1")])
    assert "expected_chunk_ids[0]: E_GRADE" in capsys.readouterr().err


# ── refusals ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("answer", ["Tôi không tìm thấy thông tin.", "Toi khong tim thay thong tin trong tai lieu."])
def test_a_refusal_is_seen_in_any_spelling(tmp_path: Path, answer: str, form: Any) -> None:
    golden = make_case("q1", expected_behavior="abstain", expected_chunk_ids=[])
    assert 1.0 == metric(tmp_path, "behaviour", golden, answer=unicodedata.normalize(form, answer))


def test_an_answer_about_permissions_is_no_refusal(tmp_path: Path) -> None:
    answer = "Lỗi 403 nghĩa là người dùng không có quyền truy cập; hãy cấp vai trò admin cho tài khoản đó."
    assert 1.0 == metric(tmp_path, "behaviour", make_case("q1"), answer=answer)


def test_refusing_and_then_answering_is_answering(tmp_path: Path) -> None:
    golden = make_case("q1", expected_behavior="abstain", expected_chunk_ids=[])
    answer = "I don't have enough information, but the leave is 12 days a year and 5 of them carry over to March."
    assert 0.0 == metric(tmp_path, "behaviour", golden, answer=answer)


def test_escalation_is_looked_for_and_not_taken_for_granted(tmp_path: Path) -> None:
    golden = make_case("q1", expected_behavior="escalate", expected_chunk_ids=["a"])
    assert 0.0 == metric(tmp_path, "escalation_accuracy", golden, answer="The limit is 12 days.")
    assert 1.0 == metric(tmp_path, "escalation_accuracy", golden, answer="Please contact the HR team about this.")


# ── safety, cost and gates ────────────────────────────────────────────────────────────────────────────────────


def test_a_secure_system_does_not_fail_the_access_case(tmp_path: Path) -> None:
    answer = "Bạn không có quyền xem tài liệu này."
    trace = score_to_cells(tmp_path, [DENIED], [make_trace("q1", answer=answer, context_chunks=["b"], citations=[])])[
        "q1"
    ]
    assert [] == trace["failed_checks"]
    assert trace["scores"]["recall@10"] is None
    assert 0.0 == trace["scores"]["visibility_leaks"]


def test_the_tool_compares_and_its_exit_code_decides(tmp_path: Path) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: error_rate, at_most: 0.05}]", encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert 0 == score(tmp_path, [make_case("q1")], [make_trace("q1")], "--gate", str(gate))
    assert [*before, "golden.jsonl", "outputs.jsonl"] == sorted(path.name for path in tmp_path.iterdir())


def test_missing_latency_and_cost_are_not_zero_and_zero_is_not_missing(tmp_path: Path) -> None:
    rows = [make_trace("q1", latency_ms={"end_to_end": 0}, cost_usd=0), make_trace("q2")]
    summary = score_to_report(tmp_path, [make_case("q1"), make_case("q2")], rows)["configs"]["c"]["summary"]
    for name in ("latency_ms", "cost_usd"):
        assert (1, 1, 0.0) == tuple(summary[name][key] for key in ("scored", "not_applicable", "mean"))


def test_nothing_that_was_read_is_written_over(tmp_path: Path, capsys: Printed) -> None:
    outputs = tmp_path / "outputs.jsonl"
    assert 2 == score(tmp_path, [make_case("q1")], [make_trace("q1")], "--per-case", str(outputs))
    assert "would overwrite" in capsys.readouterr().err
    content = outputs.read_bytes()
    assert 2 == main(["convert", "--from", "rag-trace", "--to", "assay", str(outputs), str(outputs)])
    assert content == outputs.read_bytes()
