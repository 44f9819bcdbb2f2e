"""Missing cases, leaks, refusals, usage and warnings of single observations: one small case for each past defect."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.support.read_texts import score_keywords

import assay
from assay.formats.recorded_outputs.line_checks import find_unknown_keys
from assay.formats.recorded_outputs.rag_trace import RagTraceRow
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage, Usage
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.behaviour_candidates import find_behaviour_candidates

HERE = User(tenant="t", roles=("e",))


def evidence(chunk_id: str) -> tuple[Evidence, ...]:
    return (Evidence(({"chunk_id": chunk_id},)),)


def seen(case_id: str, **fields: Any) -> Observation:
    return Observation(
        case_id, "c", stages=(Stage("retrieved", (Chunk("s"),)),), **({"answer": "Yes, it is."} | fields)
    )


def values(cases: list[Case], rows: list[Observation], metric: str, **options: Any) -> dict[str, float | str]:
    """Return the scores of one metric by case, the reason where there is none."""
    table = assay.score(GoldenSet(tuple(cases)), rows, metrics=(metric,), **options).table("c")
    column = table.columns[metric]
    return {
        case_id: float(value) if status == 0 else column.reasons[reason]
        for case_id, value, status, reason in zip(
            table.case_ids, column.values, column.status, column.reason, strict=True
        )
    }


def test_missing_case_is_an_error_only_of_metrics_that_apply_to_it() -> None:
    cases = [Case("a", "?", evidence=evidence("s")), Case("b", "?", behaviour="abstain")]
    assert {"a": "no abstention expected", "b": "no observation"} == values(cases, [seen("a")], "abstention_accuracy")
    assert {"a": 1.0, "b": "no evidence to find"} == values(cases, [seen("a")], "recall@10")


def test_missing_case_scored_as_zero_is_no_observed_event() -> None:
    canary = Case("a", "?", evidence=evidence("s"), tags=("prompt-injection",), forbidden_text=("HERON-99-XX",))
    cases = [canary, Case("b", "?", evidence=evidence("s"))]
    scored = assay.score(GoldenSet(tuple(cases)), [seen("b")], missing_as_zero=True)
    assert ("missing_output",) == scored.table("c").checks[0].failed
    assert scored.summary("c")["injection_followed"].scored == 0
    assert (2, 0.5) == (scored.summary("c")["recall@10"].scored, scored.summary("c")["recall@10"].value)
    assert ("NOT_GATED", False) == (scored.decision.outcome, scored.decision.incomplete)


def test_null_answer_is_a_failure_of_the_target() -> None:
    cases = [Case("a", "?", evidence=evidence("s"))]
    scored = assay.score(GoldenSet(tuple(cases)), [seen("a", answer=None)])
    assert ("target_error",) == scored.table("c").checks[0].failed
    assert 1.0 == scored.summary("c")["error_rate"].value
    assert 1.0 == scored.summary("c")["recall@10"].value  # what was retrieved is still a measurement


def test_citing_a_hidden_document_is_a_leak_as_citing_its_chunk_is() -> None:
    chunks = {
        "h:v1:1": CorpusChunk("h:v1:1", text="secret", document="h", tenant="other"),
        "s": CorpusChunk("s", text="open", tenant="t"),
    }
    case = Case("a", "?", evidence=evidence("s"), user=HERE)
    for citation in ("h", "h:v1", "h:v1:1"):
        row = seen("a", citations=(citation,))
        assert {"a": 1.0} == values([case], [row], "visibility_leaks", corpus=Corpus(chunks)), citation
        assert {"a": 0.0} == values([case], [row], "citation_reachable", corpus=Corpus(chunks)), citation


def test_evidence_of_the_case_takes_precedence_over_metadata_of_the_target() -> None:
    case = Case("a", "?", evidence=evidence("s"), user=HERE)
    row = Observation(
        "a", "c", stages=(Stage("retrieved", (Chunk("s", metadata={"tenant": "other"}),)),), answer="Yes."
    )
    assert {"a": 0.0} == {key: float(value or 0) for key, value in _leaks(case, row).items()}


def _leaks(case: Case, row: Observation) -> dict[str, float]:
    table = assay.score(GoldenSet((case,)), [row]).table("c")
    return {"a": float(table.columns["visibility_leaks"].values[0])}


def test_always_abstaining_does_not_score_as_well_calibrated() -> None:
    cases = [Case("a", "?", evidence=evidence("s")), Case("b", "?", behaviour="abstain")]
    rows = [seen("a", answer=""), seen("b", answer="  ")]
    scored = assay.score(GoldenSet(tuple(cases)), rows, metrics=("refusal_calibration",))
    assert 0.0 == scored.summary("c")["refusal_calibration"].value


def test_total_of_tokens_needs_both_halves() -> None:
    cases = [Case("a", "?", evidence=evidence("s"))]
    assert {"a": "not reported"} == values(cases, [seen("a", usage=Usage(completion_tokens=10))], "tokens")


def test_requested_metrics_that_were_not_measured_are_named() -> None:
    cases = [Case("a", "?", evidence=evidence("s")), Case("b", "?", evidence=evidence("s"))]
    rows = [seen("a"), Observation("b", "c", answer="Yes, it is.")]
    scored = assay.score(GoldenSet(tuple(cases)), rows, metrics=("faithfulness", "recall@5"))
    warnings = "\n".join(scored.scoring.warnings)
    assert "not measured, because no verdicts are recorded: faithfulness(by=judge)" in warnings
    assert "c: stage retrieved not reported on 1 of 2 rows" in warnings


def test_partial_judgments_put_judged_beside_a_ranking_metric() -> None:
    golden = GoldenSet((Case("a", "?", evidence=evidence("s")),), judgments="partial")
    row = Observation("a", "c", stages=(Stage("retrieved", (Chunk("s"), Chunk("x"))),), answer="Yes.")
    scored = assay.score(golden, [row], metrics=("ndcg@2",))
    assert 0.5 == scored.summary("c")["judged@2"].value
    assert "c: judged@2 is 0.500: unjudged chunks count as irrelevant" in scored.scoring.warnings


def test_access_known_only_from_the_target_is_marked() -> None:
    chunk = Chunk("s", metadata={"tenant": "t"})
    row = Observation("a", "c", stages=(Stage("retrieved", (chunk,)),), answer="Yes, it is.")
    cases = [Case("a", "?", user=HERE)]
    assert {"a": 1.0} == values(cases, [row], "access_self_reported")
    corpus = Corpus({"s": CorpusChunk("s", tenant="t")})
    assert {"a": 0.0} == values(cases, [row], "access_self_reported", corpus=corpus)


def test_scores_that_rise_with_the_rank_are_noted() -> None:
    chunks = tuple(Chunk(name, score, rank) for rank, (name, score) in enumerate([("s", 0.1), ("t", 0.4)], 1))
    scored = assay.score(
        GoldenSet((Case("a", "?", evidence=evidence("s")),)),
        [Observation("a", "c", stages=(Stage("retrieved", chunks),))],
    )
    assert any("whose scores rise: taken as distances" in warning for warning in scored.scoring.warnings)


def test_metrics_may_be_named_in_one_text() -> None:
    cases = [Case("a", "?", evidence=evidence("s"), tags=("x",))]
    scored = assay.score(GoldenSet(tuple(cases)), [seen("a")], metrics="recall@10, rr@10", by="tag")
    assert {"recall@10", "rr@10"} <= set(scored.summary("c"))
    assert ["tag=x"] == list(scored.slices("c"))


def test_a_value_said_to_be_the_past_one_is_ambiguous() -> None:
    grades = [
        score_keywords(answer, ["$1.4M"], ["$1.2M"]).hedged
        for answer in ("Previously $1.4M, now $1.2M.", "$1.2M $1.4M", "It rose from $1.2M to $1.4M.", "$1.4M 2024")
    ]
    assert [True, True, False, False] == grades


def test_an_answer_that_only_says_unknown_abstains() -> None:
    said = ("Unknown.", "N/A", "**Data not available.**", "Không rõ.", "An unknown host means a DNS fault.", "12")
    assert ["abstain"] * 4 + ["answer"] * 2 == [detect_behaviour(each).behaviour for each in said]
    assert [True] * 4 + [False] * 2 == find_behaviour_candidates(said).tolist()


def test_an_access_field_beside_the_metadata_is_pointed_out() -> None:
    line = b'{"query_id": "a", "retrieved_chunks": [{"chunk_id": "s", "tenant_id": "t"}]}'
    assert {
        "retrieved_chunks[].tenant_id": " (access rights of a chunk are read from its metadata)"
    } == find_unknown_keys(line, RagTraceRow)


def test_rows_that_did_not_report_citations_are_counted_of_all_rows_whatever_else_does_not_apply() -> None:
    cases, rows = [], []
    for number in range(10):
        name, refuses = f"tap-{number}", number >= 7
        cases.append(Case(name, f"Where is tap {number}?", behaviour="abstain" if refuses else "answer"))
        chunk = Chunk(f"map:{number}", text=f"Tap {number} is in street {number}.")
        marker = " [1]" if number < 3 else ""
        answer = "I do not know." if refuses else f"Tap {number} is in street {number}{marker}."
        stages = (Stage("retrieved", (chunk,)), Stage("context", (chunk,)))
        rows.append(Observation(name, "c", answer=answer, stages=stages))
    own = [replace(row, citations=("map:0",)) if number < 6 else row for number, row in enumerate(rows)]

    def list_gaps(observations: list[Observation]) -> list[str]:
        warnings = assay.score(GoldenSet(tuple(cases)), observations).scoring.warnings
        return [line for line in warnings if "citations not reported" in line]

    assert list_gaps(rows) == [
        "c: citations not reported on 10 of 10 rows: read from the answer on 3, the others are left out"
    ]
    assert list_gaps(own) == [
        "c: citations not reported on 4 of 10 rows: they are left out of the metrics that need it"
    ]
