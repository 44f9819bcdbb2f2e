"""Outdated labels: what the corpus contradicts is the golden set's fault, and a check of its own says so."""

from __future__ import annotations

import pytest

from assay import api
from assay.metrics.case_checks import find_outdated_labels
from assay.metrics.cases.case_index import GoldenIndex
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, Selector
from assay.records.observations import Chunk, Observation, Stage
from assay.records.release_gates import Gate, Rule
from assay.records.scores import ERROR

CORPUS = Corpus({"a": CorpusChunk("a", text="Nghỉ phép 12 ngày.", text_hash="sha256:" + "a" * 64)})


def case(*units: Evidence, behaviour: str = "answer") -> Case:
    return Case("q", "Why?", behaviour=behaviour, evidence=units)  # type: ignore[arg-type]


def unit(*selectors: Selector, **changes: object) -> Evidence:
    return Evidence(selectors, **changes)  # type: ignore[arg-type]


A: Selector = {"chunk_id": "a"}
GONE: Selector = {"chunk_id": "gone"}


@pytest.mark.parametrize(
    ("evidence", "problems"),
    [
        (unit(A), ()),
        (unit(A, quote="nghi phep  12 NGÀY"), ()),
        (unit(A, text_hash="sha256:" + "a" * 64), ()),
        (unit(GONE, A), ()),
        (unit({"document": "gone"}), ()),
        (unit(GONE, required=False), ()),
        (unit(GONE), ("gone is not in the corpus",)),
        (unit(GONE, {"quote": "13 ngày"}), ("gone is not in the corpus",)),
        (unit(GONE, {"quote": "12 Ngay"}), ()),
        (unit(GONE, {"quote": "13 ngày"}, {"document": "rules"}), ()),
        (unit(A, {"quote": "13 ngày"}, quote="13 ngày"), ("a does not hold the quote that was labelled",)),
        (unit(A, {"quote": "12 ngày"}, text_hash="sha256:" + "b" * 64), ()),
        (unit(A, quote="13 ngày"), ("a does not hold the quote that was labelled",)),
        (unit(A, text_hash="sha256:" + "b" * 64), ("a has another text than the one that was labelled",)),
    ],
)
def test_a_unit_is_outdated_where_the_corpus_contradicts_it(evidence: Evidence, problems: tuple[str, ...]) -> None:
    assert problems == find_outdated_labels(GoldenIndex(GoldenSet((case(evidence),)), CORPUS).case_index(0))


def test_a_quote_may_stand_in_a_chunk_of_which_the_corpus_has_no_text() -> None:
    corpus = Corpus({**CORPUS.chunks, "b": CorpusChunk("b")})
    golden = GoldenSet((case(unit(GONE, {"quote": "13 ngày"})),))
    assert () == find_outdated_labels(GoldenIndex(golden, corpus).case_index(0))


def test_nothing_is_outdated_without_a_corpus_or_where_the_evidence_is_forbidden() -> None:
    assert () == find_outdated_labels(GoldenIndex(GoldenSet((case(unit(GONE)),))).case_index(0))
    assert () == find_outdated_labels(
        GoldenIndex(GoldenSet((case(unit(GONE), behaviour="permission_denied"),)), CORPUS).case_index(0)
    )


def checked(evidence: Evidence, corpus: Corpus | None, *chunk_ids: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the failed checks and the warnings of a case of which these chunks were retrieved and shown."""
    chunks = tuple(map(Chunk, chunk_ids))
    observation = Observation("q", "c", stages=(Stage("retrieved", chunks), Stage("context", chunks)), answer="Yes.")
    result = api.score(GoldenSet((case(evidence),)), [observation], corpus=corpus)
    checks = result.table("c").checks
    return (checks[0].failed, checks[0].warnings) if checks else ((), ())


def test_an_outdated_label_fails_its_own_check_instead_of_blaming_the_retrieval() -> None:
    assert (("golden_label_issue",), ("unknown_answer",)) == checked(unit(GONE), CORPUS, "b")


def test_a_miss_of_a_label_in_order_stays_a_miss_of_the_retrieval() -> None:
    assert ("retrieval_miss", "context_miss") == checked(unit(A), CORPUS, "b")[0]


def test_without_a_corpus_a_miss_is_a_miss() -> None:
    assert ("retrieval_miss", "context_miss") == checked(unit(GONE), None, "b")[0]


def test_the_metric_is_not_applicable_without_a_corpus_and_without_required_evidence() -> None:
    observation = Observation("q", "c", stages=(Stage("retrieved", ()),))
    for golden, corpus, reason in (
        (case(unit(GONE)), None, "no corpus"),
        (case(unit(A, required=False)), CORPUS, "no evidence required"),
    ):
        column = api.score(GoldenSet((golden,)), [observation], corpus=corpus).table("c").columns["gold_outdated"]
        assert reason == column.reasons[column.reason[0]]


def test_what_compares_retrieval_with_a_label_that_the_corpus_lacks_is_an_error_that_names_it() -> None:
    observation = Observation("q", "c", stages=(Stage("retrieved", (Chunk("b"),)), Stage("context", (Chunk("b"),))))
    table = api.score(GoldenSet((case(unit(GONE)),)), [observation], corpus=CORPUS).table("c")
    for metric in ("recall@10", "context_recall", "rr@10"):
        column = table.columns[metric]
        assert ERROR == column.status[0]
        assert "the golden set names gone, which is not in the corpus" == column.reasons[column.reason[0]]


def test_a_rule_on_recall_is_incomplete_and_names_the_label_that_the_corpus_lacks() -> None:
    observation = Observation("q", "c", stages=(Stage("retrieved", (Chunk("b"),)), Stage("context", (Chunk("b"),))))
    gate = Gate(rules=(Rule("recall@10", at_least=0.5),), name="g")
    result = api.score(GoldenSet((case(unit(GONE)),)), [observation], corpus=CORPUS, gate=gate)
    decision = result.decision
    assert decision is not None
    assert "INCOMPLETE" == decision.outcome
    assert any("names gone" in reason for reason in decision.reasons)
