"""Mechanisms that look beyond one case: what the run shows elsewhere, misread numbers, texts of other chunks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.attribution.traces import BAD, GOOD, LEAVE, TEXTS, blamed, case, corpus, seen

from assay.attribution.one_case.misread_numbers import find_misread_number
from assay.attribution.whole_run.run_consensus import MIN_SUPPORT, count_sure_causes, find_failing_searches, rank_by_run
from assay.records.findings import Attribution, EvidenceTrace
from assay.records.golden_set import Corpus, CorpusChunk, Evidence, User
from assay.records.observations import Chunk, Stage

UNSURE = Attribution(
    "q", "retrieval_fault", "insufficient_trace", evidence=("it returns nothing",), confidence="low", also=("acl",)
)


def make_sure(cause: str, count: int) -> dict[str, Attribution]:
    """So many cases with a cause of medium confidence."""
    finding = Attribution("", "retrieval_fault", confidence="medium")
    return {f"{cause}-{number}": replace(finding, cause=cause) for number in range(count)}


def test_what_the_run_shows_elsewhere_comes_first_of_several_candidates() -> None:
    unsure = replace(UNSURE, also=("bm25_analyzer", "acl"))
    sure = count_sure_causes(make_sure("bm25_analyzer", MIN_SUPPORT) | {"q": unsure})
    ranked = rank_by_run(unsure, sure)
    assert ("bm25_analyzer", ("acl",), "low") == (ranked.cause, ranked.also, ranked.confidence)
    assert "3 other cases of this run have the cause bm25_analyzer" == ranked.evidence[-1]
    assert ranked.fix and ranked.verdict == "retrieval_fault"


def test_nothing_is_named_that_the_case_does_not_name_and_sure_findings_stay() -> None:
    sure = count_sure_causes(make_sure("reranker", 9))
    assert UNSURE == rank_by_run(UNSURE, sure)
    few = count_sure_causes(make_sure("acl", MIN_SUPPORT - 1))
    assert UNSURE == rank_by_run(UNSURE, few)
    high = replace(UNSURE, cause="generator", confidence="high", also=("reranker",))
    assert high == rank_by_run(high, sure)


def test_a_finding_of_medium_confidence_gives_way_to_twice_as_many() -> None:
    dropped = Attribution("q", "retrieval_fault", "hybrid_merge", confidence="medium", also=("bm25_analyzer",))
    as_many = make_sure("hybrid_merge", 5) | make_sure("bm25_analyzer", 9)
    assert dropped == rank_by_run(dropped, count_sure_causes(as_many))
    twice = make_sure("hybrid_merge", 5) | make_sure("bm25_analyzer", 10)
    assert "bm25_analyzer" == rank_by_run(dropped, count_sure_causes(twice)).cause


def test_a_cause_in_another_part_of_the_system_changes_the_fault() -> None:
    ranked = rank_by_run(UNSURE, count_sure_causes(make_sure("acl", 4)))
    assert ("acl", "access_fault") == (ranked.cause, ranked.verdict)


@pytest.mark.parametrize(
    ("answer", "fact"), [("It moves 4O l/min.", "40 l/min"), ("It weighs 121 kg.", "12.1 kg"), ("I2 days", "12 days")]
)
def test_a_number_as_a_reader_of_pages_misreads_it_points_to_the_parser(answer: str, fact: str) -> None:
    assert find_misread_number(answer, [fact]) is not None


@pytest.mark.parametrize(("answer", "fact"), [("1200 days", "1,200 days"), ("13 days", "12 days"), ("So it is", "50")])
def test_another_number_or_the_same_in_another_form_is_not_misread(answer: str, fact: str) -> None:
    assert find_misread_number(answer, [fact]) is None


def test_a_misread_number_in_the_answer_is_blamed_on_the_index_that_no_text_shows() -> None:
    ids = (Stage("dense", (Chunk("leave"),)), Stage("context", (Chunk("leave"),)))
    misread = blamed(case(), seen(*ids, answer=GOOD.replace("12", "l2")), corpus())
    assert ("parser", ("generator",)) == (misread.cause, misread.also)
    assert "generator" == blamed(case(), seen(*ids, answer=BAD), corpus()).cause


def test_a_reranker_that_passes_on_less_than_it_could_has_dropped_what_is_gone() -> None:
    names = ("sick", "carry", "office", "leave")
    stages = (Stage("bm25", tuple(map(Chunk, names))), Stage("rerank", ()), Stage("context", ()))
    attribution = blamed(case(), seen(*stages, answer="I could not find that."), corpus())
    assert ("reranker", "dropped", "high") == (attribution.cause, attribution.subcause, attribution.confidence)
    assert "rerank passes on 0 of the 4 that it received" in attribution.evidence


def test_a_text_with_a_sentence_of_another_document_was_cut_at_the_wrong_place() -> None:
    notice = "The lift is out of order until the end of the week."
    reference_corpus = corpus(notice=CorpusChunk("notice", text=notice, document="notices"))
    text = f"{notice} {LEAVE.replace(' of annual leave.', '')}"
    shown = (Stage("dense", (Chunk("leave", text=text),)), Stage("context", ()))
    attribution = blamed(case(), seen(*shown, answer=BAD), reference_corpus)
    assert "chunking" == attribution.cause
    assert any("also contains text of notice" in fact for fact in attribution.evidence)


def test_a_ranking_by_a_query_of_other_subjects_is_the_querys_doing() -> None:
    texts = {
        "leave": "Staff get twelve days of annual leave.",
        "lift": "The lift in the northern building stops on the second floor after seven in the evening.",
        "cafe": "The cafeteria serves soup and bread in the northern building until seven in the evening.",
    }
    reference_corpus = Corpus({name: CorpusChunk(name, text=text) for name, text in texts.items()})
    lists = {"bm25": ("leave", "lift", "cafe"), "rerank": ("lift", "cafe", "leave"), "context": ("lift", "cafe")}
    stages = tuple(Stage(name, tuple(map(Chunk, ids))) for name, ids in lists.items())
    asked = case(question="How many days of annual leave?", evidence=(Evidence(({"chunk_id": "leave"},)),))
    other = "until when does the cafeteria serve soup and bread, and where does the lift in the northern building stop"
    misled = blamed(asked, seen(*stages, answer=BAD, query_rewrite=f"{asked.question} {other}"), reference_corpus)
    assert ("bm25_analyzer", "query_rewriting", ("reranker",)) == (misled.cause, misled.subcause, misled.also)
    same = blamed(asked, seen(*stages, answer=BAD, query_rewrite=asked.question), reference_corpus)
    assert "reranker" == same.cause


def test_an_unknown_answer_from_a_text_that_lost_its_line_is_a_doubt_about_the_index() -> None:
    asked = case(rubric=None, reference="Leave is twelve days.")
    lost = LEAVE.replace(" 12 days", "")
    shown = (Stage("dense", (Chunk("leave", text=lost),)), Stage("context", (Chunk("leave", text=lost),)))
    attribution = blamed(asked, seen(*shown, answer="Full-time staff get annual leave."), corpus())
    assert attribution.good is None
    assert attribution.cause in ("parser", "chunking", "stale_index")
    sound = (Stage("dense", (Chunk("leave", text=LEAVE),)), Stage("context", (Chunk("leave", text=LEAVE),)))
    assert blamed(asked, seen(*sound, answer="Full-time staff get annual leave."), corpus()).cause is None


def test_a_text_whose_words_break_off_was_read_wrongly_or_cut() -> None:
    text = "## Annual leave\nFull-time staff g 12 days of annu"
    shown = (Stage("dense", (Chunk("leave", text=text),)), Stage("context", ()))
    attribution = blamed(case(), seen(*shown, answer=BAD), corpus())
    assert ("parser", ("chunking",)) == (attribution.cause, attribution.also)


def test_a_merge_that_loses_what_one_search_alone_has_may_lack_the_other_search() -> None:
    stages = (
        Stage("bm25", (Chunk("leave"), Chunk("sick"))),
        Stage("vector", (Chunk("sick"), Chunk("office"))),
        Stage("fused", (Chunk("sick"), Chunk("office"))),
        Stage("context", (Chunk("sick"), Chunk("office"))),
    )
    attribution = blamed(case(), seen(*stages, answer=BAD), corpus())
    assert ("hybrid_merge", ("embedding",), "medium") == (attribution.cause, attribution.also, attribution.confidence)


def test_a_label_of_a_superseded_version_is_outdated() -> None:
    old = CorpusChunk("old", text="## Annual leave\nStaff get 20 days.", document="policy", version="v1")
    reference_corpus = corpus(old=replace(old, valid_from="2025-01-01", valid_to="2026-01-01"))
    asked = case(evidence=(Evidence(({"chunk_id": "old"},)),), rubric=None, must_have=("20 days",))
    asked = replace(asked, user=User(tenant="a", as_of="2026-05-01"))
    stages = (Stage("dense", (Chunk("leave"),)), Stage("context", (Chunk("leave"),)))
    attribution = blamed(asked, seen(*stages, answer=GOOD), reference_corpus)
    assert ("golden_label_issue", "label_outdated", ("stale_index",)) == (
        attribution.cause,
        attribution.subcause,
        attribution.also,
    )


def test_a_chunk_that_is_indexed_with_the_text_of_another_is_no_duplicate() -> None:
    moved = (
        Stage("dense", (Chunk("sick", text=LEAVE),)),
        Stage("context", (Chunk("sick", text=LEAVE),)),
    )
    attribution = blamed(case(), seen(*moved, answer=GOOD), corpus())
    assert ("chunking", "other_ids", ("stale_index",)) == (attribution.cause, attribution.subcause, attribution.also)


def test_an_answer_without_citations_of_a_target_that_reports_them_is_a_doubt() -> None:
    stages = (Stage("dense", (Chunk("leave", text=LEAVE),)), Stage("context", (Chunk("leave", text=LEAVE),)))
    uncited = blamed(case(), seen(*stages, answer=GOOD, citations=()), corpus())
    assert ("citation", "uncited") == (uncited.cause, uncited.subcause)
    assert blamed(case(), seen(*stages, answer=GOOD), corpus()).cause is None, "nothing is reported of citations"
    assert blamed(case(), seen(*stages, answer=GOOD, citations=("leave",)), corpus()).cause is None
    assert blamed(case(), seen(*stages, answer=f"{GOOD} [1]", citations=()), corpus()).cause is None


def make_traces(missed_by_dense: int, missed_by_words: int) -> list[Attribution]:
    """Cases in which one of two searches misses what the other has first, and as many in which both have it."""
    ranks: list[dict[str, int | None]] = [{"dense": None, "bm25": 1}] * missed_by_dense
    ranks += [{"dense": 1, "bm25": None}] * missed_by_words
    ranks += [{"dense": 1, "bm25": 1}] * len(ranks)
    return [Attribution("", "pass", traces=(EvidenceTrace(0, "leave", 3, True, row),)) for row in ranks]


LOST_IN_MERGE = Attribution("q", "retrieval_fault", "hybrid_merge", confidence="medium", also=("embedding",))


def test_a_search_that_misses_far_more_than_the_other_comes_before_the_merge() -> None:
    failing = find_failing_searches(make_traces(6, 0))
    assert {"embedding": "dense misses 6 that bm25 has near the top, and bm25 0 the other way round"} == failing
    ranked = rank_by_run(LOST_IN_MERGE, count_sure_causes({"q": LOST_IN_MERGE}), failing)
    assert ("embedding", ("hybrid_merge",), "low") == (ranked.cause, ranked.also, ranked.confidence)


def test_two_searches_that_complement_each_other_are_for_the_merge_to_join() -> None:
    for missed_by_dense, missed_by_words in ((3, 0), (6, 5), (6, 6)):
        failing = find_failing_searches(make_traces(missed_by_dense, missed_by_words))
        assert not failing
        assert LOST_IN_MERGE == rank_by_run(LOST_IN_MERGE, count_sure_causes({}), failing)


def test_evidence_that_is_quoted_under_another_id_has_moved() -> None:
    listed_ids = (Stage("dense", (Chunk("office"),)), Stage("context", (Chunk("office"),)))
    moved = blamed(case(), seen(*listed_ids, citations=("office",)), corpus())
    assert ("chunking", "other_ids", ("stale_index",)) == (moved.cause, moved.subcause, moved.also)
    assert "chunking" != blamed(case(), seen(*listed_ids), corpus()).cause, "a model may know the words by heart"


def test_a_text_under_the_id_of_another_chunk_is_the_context_builders() -> None:
    ranked = Stage("dense", (Chunk("leave", text=TEXTS["leave"]), Chunk("office", text=TEXTS["office"])))
    exchanged = Stage("context", (Chunk("leave", text=TEXTS["office"]), Chunk("office", text=TEXTS["leave"])))
    attribution = blamed(case(), seen(ranked, exchanged, citations=("office",)), corpus())
    assert ("context_builder", "text_exchanged", "high") == (
        attribution.cause,
        attribution.subcause,
        attribution.confidence,
    )
    parent = Stage("context", (Chunk("leave", text=f"{TEXTS['leave']} {TEXTS['office']}"),))
    whole = Stage("dense", (*ranked.chunks, Chunk("policy", text=f"{TEXTS['leave']} {TEXTS['office']}")))
    assert "text_exchanged" != blamed(case(), seen(whole, parent, citations=("leave",)), corpus()).subcause


def test_a_cause_that_comes_first_by_the_run_is_at_its_own_stage() -> None:
    trace = EvidenceTrace(0, "leave", 3, True, {"bm25": None, "dense": None, "context": None}, "bm25")
    low = Attribution(
        "q",
        "retrieval_fault",
        "embedding",
        stage="dense",
        confidence="low",
        also=("bm25_analyzer", "chunking"),
        traces=(trace,),
    )
    assert "bm25" == rank_by_run(low, {"bm25_analyzer": 9}).stage
    assert "index" == rank_by_run(low, {"chunking": 9}).stage
    assert "dense" == rank_by_run(low, {}).stage
