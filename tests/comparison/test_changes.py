"""Why metrics moved: which part each way of evidence points at, moves, transitions, and what the sides say of
themselves."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.comparison.sides import make_trace, side

from assay.attribution.cause_notes import TARGET_ERROR, get_cause_note
from assay.comparison.case_changes import describe_changes, find_changed_step, find_rank_moves
from assay.comparison.paired_comparison import compare_snapshots
from assay.records.findings import Attribution, CaseChange, Comparison, EvidenceTrace, RankMove

Walks = Sequence[EvidenceTrace]


def attributed(*traces: EvidenceTrace, verdict: str = "pass", cause: str | None = None) -> Attribution:
    return Attribution("c0", verdict, cause, traces=traces)  # type: ignore[arg-type]


def blamed(metric: str, before: Walks, after: Walks) -> tuple[str, str]:
    change = CaseChange("c0", attributed(*before), attributed(*after))
    return find_changed_step([metric], change, worse=True)


def went(metric: str, before: Walks, after: Walks) -> tuple[str, str]:
    change = CaseChange("c0", attributed(*before), attributed(*after))
    return find_changed_step([metric], change, worse=False)


FOUND = make_trace(retrieved=2, reranked=1, context=1)
RULES = {
    "gone": (
        FOUND,
        make_trace(retrieved=None, reranked=None, context=None),
        "retriever",
        "u0 rank 1 in reranked → gone in",
    ),
    "demoted": (FOUND, make_trace(retrieved=2, reranked=9, context=None), "reranker", "u0 rank 1 → rank 9 in reranked"),
    "dropped by the reranker": (
        FOUND,
        make_trace(retrieved=2, reranked=None, context=None),
        "reranker",
        "→ gone in reranked",
    ),
    "not significant": (
        FOUND,
        make_trace(retrieved=2, reranked=1, context=None),
        "context_builder",
        "u0 rank 1 → gone in context",
    ),
    "a search alone": (make_trace(search=1), make_trace(search=4), "search", "u0 rank 1 → rank 4 in search"),
    "made up for": (FOUND, make_trace(retrieved=7, reranked=1, context=1), "search", "u0 rank 2 → rank 7 in retrieved"),
}


@pytest.mark.parametrize("name", RULES)
def test_the_way_of_evidence_names_the_part_and_shows_the_ranks(name: str) -> None:
    before, after, part, detail = RULES[name]
    attribution = blamed("recall@10", [before], [after])
    assert part == attribution[0]
    assert detail in attribution[1]


def test_evidence_that_came_up_is_told_the_other_way_around() -> None:
    lost = make_trace(retrieved=None, reranked=None, context=None)
    assert ("retriever", "u0 absent in retrieved → rank 1 in reranked") == went("recall@10", [lost], [FOUND])


def test_an_answer_that_got_worse_on_the_same_evidence_is_the_generators() -> None:
    assert "generator" == blamed("keywords", [FOUND], [FOUND])[0]
    assert "generator" == blamed("behaviour", [], [])[0]


def test_an_answer_whose_evidence_ranks_lower_and_was_shown_all_the_same_is_the_generators_too() -> None:
    lower = make_trace(retrieved=2, reranked=3, context=3)
    assert "generator" == blamed("keywords", [FOUND], [lower])[0]
    assert "reranker" == blamed("ndcg@10", [FOUND], [lower])[0]


def test_citations_alone_point_at_the_citations_and_leaks_at_access() -> None:
    assert "citation" == blamed("must_cite", [FOUND], [FOUND])[0]
    assert "access" == blamed("visibility_leaks", [FOUND], [make_trace(retrieved=None, context=None)])[0]


def test_a_smaller_share_of_cited_claims_does_not_say_that_the_citations_changed() -> None:
    """The answer that says one sentence more has the same citation: nothing of it got worse."""
    same = {f"c{index}": attributed(FOUND) for index in range(12)}
    baseline = side({"claim_citation_coverage": [1.0] * 12, "must_cite": [1.0] * 12}, attributions=same)
    candidate = side({"claim_citation_coverage": [0.5] * 12, "must_cite": [1.0] * 12}, attributions=same)
    moved = compare_snapshots(baseline, candidate).moved
    assert any("a smaller share of what the answers say has a citation next to it" in line for line in moved)
    assert "cited_share" == went("claim_citation_coverage", [FOUND], [FOUND])[0]
    (rose,) = compare_snapshots(candidate, baseline).moved
    assert rose.startswith("claim_citation_coverage rose on 12 cases: a larger share") and "or say less" in rose
    both = CaseChange("c0", attributed(FOUND), attributed(FOUND))
    assert "citation" == find_changed_step(["claim_citation_coverage", "must_cite"], both, worse=True)[0]


def test_a_larger_share_of_a_smaller_context_is_no_better_citation() -> None:
    """The same citation covers 1 of 3 chunks, then 1 of 1."""
    assert "unexplained" == went("citation_coverage", [FOUND], [FOUND])[0]


def test_other_chunks_around_the_evidence_are_told_as_that() -> None:
    assert "around" == blamed("context_precision", [FOUND], [FOUND])[0]


def test_the_heaviest_loss_decides_and_unrequired_evidence_does_not() -> None:
    gone = make_trace(1, retrieved=None, reranked=None, context=None)
    kept, lower = make_trace(1, retrieved=1, reranked=2, context=2), make_trace(retrieved=2, reranked=3, context=3)
    assert "retriever" == blamed("recall@10", [FOUND, kept], [lower, gone])[0]
    optional = make_trace(1, required=False, retrieved=None, reranked=None, context=None)
    assert "around" == blamed("recall@10", [FOUND, make_trace(1, required=False, retrieved=1)], [FOUND, optional])[0]


def test_an_error_of_the_target_explains_a_change_in_either_direction() -> None:
    sign = get_cause_note("insufficient_trace", TARGET_ERROR).sign
    failed = Attribution("c0", "unknown", "insufficient_trace", sign=sign)
    worse = CaseChange("c0", attributed(FOUND), failed)
    assert ("target", "") == find_changed_step(["failed", "error_rate"], worse, worse=True)
    assert ("target", "") == find_changed_step(["failed"], CaseChange("c0", failed, attributed(FOUND)), worse=False)
    still = CaseChange("c0", failed, attributed(FOUND))
    assert ("unexplained", "") == find_changed_step(["failed"], still, worse=True)


def test_without_attributions_nothing_is_explained() -> None:
    assert ("unexplained", "") == find_changed_step(
        ["recall@10"], CaseChange("c0", None, attributed(FOUND)), worse=True
    )


def test_moves_are_those_of_stages_on_both_sides_and_the_scored_stage_is_one_whatever_its_name() -> None:
    before, after = [make_trace(dense=2, context=1)], [make_trace(bm25=5, merge=None, context=1)]
    assert [] == find_rank_moves("c0", before, after)
    expected = [RankMove("c0", 0, "u0", "retrieved", 2, None)]
    assert expected == find_rank_moves("c0", before, after, retrieved_stages=("dense", "merge"))
    assert [RankMove("c0", 0, "u0", "context", 1, None)] == find_rank_moves(
        "c0", [make_trace(context=1)], [make_trace(context=None)]
    )


def compare_losses(losses: int) -> Comparison:
    """30 cases of which the first ones lose their evidence; the embedding changed, and each side states more."""
    lost = make_trace(retrieved=None, reranked=None, context=None)
    worse = attributed(lost, verdict="retrieval_fault", cause="embedding")
    ids = [f"c{row}" for row in range(30)]
    before = side(
        {"recall@10": [1.0] * 30},
        "a",
        versions={"embedding": ("e1",)},
        attributions={case_id: attributed(FOUND) for case_id in ids},
        made_with={"target.type": "python"},
    )
    after = side(
        {"recall@10": [0.0] * losses + [1.0] * (30 - losses)},
        "b",
        versions={"embedding": ("e2",), "reranker": ("r1",)},
        attributions={case_id: worse if row < losses else attributed(FOUND) for row, case_id in enumerate(ids)},
    )
    return compare_snapshots(before, after)


def test_a_change_that_is_not_significant_is_not_explained() -> None:
    """Two losses of 30: p = .5. The cases, their moves and transitions are facts and stay listed."""
    comparison = compare_losses(2)
    assert ("not significant", ()) == (comparison.metrics["recall@10"].verdict, comparison.moved)
    assert ["c0", "c1"] == [change.case_id for change in comparison.cases]
    assert ("pass", "embedding", 2) in comparison.transitions


def test_a_comparison_tells_what_changed_why_and_how_attributions_went_over() -> None:
    comparison = compare_losses(8)
    assert (("pass", "pass", 22), ("pass", "embedding", 8)) == comparison.transitions
    assert {"configuration: was a, is now b", "embedding: was e1, is now e2"} == set(comparison.changed)
    assert "reported by a only, so not compared: target.type (python)" in comparison.notes
    assert "reported by b only, so not compared: reranker (r1)" in comparison.notes
    why = "recall@10 got worse on 8 cases: evidence that the baseline retrieved is gone: look at the retriever"
    assert comparison.moved[0].startswith(why)
    assert "c0: u0 rank 1 in reranked → gone in retrieved" in comparison.moved[0]
    assert "8 cases went from pass to embedding" == comparison.moved[-1]
    assert [("c0", (1.0, 0.0)), ("c1", (1.0, 0.0))] == [
        (each.case_id, each.scores["recall@10"]) for each in comparison.cases[:2]
    ]
    assert ["retrieved", "reranked", "context"] == [each.stage for each in comparison.moves if each.case_id == "c0"]


def test_a_case_whose_attribution_alone_differs_is_told_too() -> None:
    before = side({"recall@10": [1.0]}, "a", attributions={"c0": attributed(FOUND)})
    after = side({"recall@10": [1.0]}, "b", attributions={"c0": attributed(FOUND, verdict="unknown")})
    assert ["c0"] == [each.case_id for each in compare_snapshots(before, after).cases]
    assert () == compare_snapshots(before, before).cases


def test_time_and_money_are_no_quality() -> None:
    assert () == compare_snapshots(side({"latency_ms": [1.0]}, "a"), side({"latency_ms": [2.0]}, "b")).cases


def test_what_one_side_alone_reports_is_not_called_the_same() -> None:
    """A run that is compared while it is made does not know its own target as its manifest will tell it."""
    values = {"recall@10": [1.0] * 4}
    before = side(values, "a", config_id="x", made_with={"target.call": "rag:ask"})
    changed = compare_snapshots(before, side(values, "b", config_id="x")).changed
    assert ("nothing that both sides report about how they were produced differs",) == changed


def test_the_versions_of_the_system_come_before_the_name_of_its_configuration() -> None:
    before, after = (
        side({"recall@10": [1.0]}, name, config_id=name, versions={"index": (version,)})
        for name, version in (("old", "v1"), ("new", "v2"))
    )
    assert ("index: was v1, is now v2", "configuration: was old, is now new") == describe_changes(before, after)
