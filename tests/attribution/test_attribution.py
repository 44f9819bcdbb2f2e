"""Each cause by its sign, in a trace made by hand; what the trace does not allow is said to be insufficient."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.attribution.traces import (
    BAD,
    GOOD,
    OFFICE,
    OLD,
    OLD_TEXT,
    TEXTS,
    blamed,
    case,
    corpus,
    hybrid,
    score,
    seen,
    stage,
)

from assay.attribution.cause_sentences import describe_cause
from assay.records.findings import Attribution
from assay.records.golden_set import CorpusChunk, Evidence, User
from assay.records.observations import Chunk, Stage, TargetError
from assay.scoring.attribution_settings import AttributionSettings

CITED = "citation_correctness(by=rules)"
JUDGE = "correctness(by=judge)"


def told(found: Attribution) -> tuple[str, str | None, str | None]:
    return found.verdict, found.cause, found.stage


def told_value(found: Attribution) -> tuple[str | None, str]:
    return found.cause, found.subcause


# ── the cell ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_evidence_that_arrived_and_a_good_answer_pass_without_a_cause() -> None:
    attribution = blamed(case(), seen(stage("dense", "leave", "sick"), stage("context", "leave")))
    assert ("pass", None, None) == told(attribution)
    assert (True, True, "keywords") == (attribution.good, attribution.reached, attribution.signal)
    assert {"dense": 1, "context": 1} == attribution.traces[0].ranks


def test_a_good_answer_without_its_evidence_is_a_masked_gap_known_by_heart() -> None:
    attribution = blamed(case(), seen(stage("dense", "office"), stage("context", "office")), corpus())
    assert ("masked_gap", "embedding", "dense") == told(attribution)
    assert "parametric_knowledge" == attribution.subtype


def test_what_was_reported_last_counts_where_no_context_is_reported() -> None:
    """The evidence has rank 3 of the last ranking: reached at k = 5, not at k = 2."""
    trace = seen(stage("dense", "office", "sick", "leave"), answer=BAD)
    assert blamed(case(), trace).reached
    assert not blamed(case(), trace, settings=AttributionSettings(production_k=2)).reached


def test_a_case_without_labelled_evidence_asks_for_labels_and_not_for_stages() -> None:
    """The stages are reported with their texts: the golden case says too little. Without stages these come first."""
    unlabelled = case(evidence=())
    attribution = blamed(unlabelled, seen(stage("dense", "office"), stage("context", "office"), answer=BAD))
    assert "insufficient_trace" == attribution.cause
    assert attribution.fix.startswith("name in the golden case the evidence that its answer needs")
    attribution = blamed(unlabelled, seen(answer="Ask the office."))
    assert ("insufficient_trace", True) == (
        attribution.cause,
        attribution.fix.startswith("report every stage with its chunks"),
    )
    assert ("generator", "wrong_entity_or_number") == told_value(blamed(unlabelled, seen(answer=BAD)))


def test_any_evidence_is_enough_where_the_settings_say_so() -> None:
    two = case(evidence=tuple(Evidence(({"chunk_id": name},)) for name in ("leave", "carry")))
    trace = seen(stage("dense", "leave"), stage("context", "leave"), answer=GOOD)
    assert "masked_gap" == blamed(two, trace).verdict
    assert "pass" == blamed(two, trace, settings=AttributionSettings(reached="any")).verdict


def test_no_output_and_a_failed_target_are_nobodys_fault_that_could_be_named() -> None:
    assert ("unknown", "insufficient_trace", None) == told(blamed(case(), None))
    broken = seen(stage("dense", "leave"), error=TargetError("timeout"))
    attribution = blamed(case(), broken)
    assert ("unknown", "insufficient_trace", None) == told(attribution)
    assert ("the target failed: timeout",) == attribution.evidence
    assert "repair the target, then ask again" == attribution.fix
    assert "the target failed with an error" == describe_cause(attribution)
    assert "the case has no output" == describe_cause(blamed(case(), None))


# ── retrieval ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_only_search_that_does_not_find_it_is_to_blame() -> None:
    attribution = blamed(case(), seen(stage("dense", "sick", "office"), stage("context", "sick", "office"), answer=BAD))
    assert ("retrieval_fault", "embedding", "dense") == told(attribution)
    assert "dense" == attribution.traces[0].lost_at


def test_the_code_of_the_question_that_no_passage_mentions_is_named() -> None:
    asked = case(question="How many days of leave does rule HR-2024-7 give?")
    trace = seen(stage("dense", "sick", "office"), stage("context", "sick", "office"), answer=BAD)
    named = "nothing that the generator was shown has “HR-2024-7”, which the question names"
    assert named in blamed(asked, trace).evidence
    texts = {"sick": f"{TEXTS['sick']} See hr 2024 7."}
    stages = [stage(name, "sick", "office", texts=texts) for name in ("dense", "context")]
    trace = seen(*stages, answer=BAD)
    assert not [line for line in blamed(asked, trace).evidence if "entity" in line]


def test_a_keyword_search_that_misses_the_questions_own_words_is_to_blame() -> None:
    attribution = blamed(
        case(), hybrid("sick office", "office sick", "sick office", "sick office", "sick office"), corpus()
    )
    assert ("retrieval_fault", "bm25_analyzer", "bm25") == told(attribution)


def test_a_vector_search_is_to_blame_where_words_do_not_help_either() -> None:
    """Question and evidence share no word, so only the vectors could have found it."""
    asked = case(question="Combien de jours de congés ?")
    attribution = blamed(
        asked, hybrid("sick office", "office sick", "sick office", "sick office", "sick office"), corpus()
    )
    assert ("retrieval_fault", "embedding", "dense") == told(attribution)


def test_without_texts_nobody_tells_which_of_two_searches_failed() -> None:
    attribution = blamed(case(), hybrid("sick office", "office sick", "sick office", "sick office", "sick"))
    assert ("retrieval_fault", "embedding", "dense") == told(attribution)
    assert ("low", ("bm25_analyzer",)) == (attribution.confidence, attribution.also)
    assert any("query" in field for field in attribution.record)


def test_a_merge_that_drops_what_one_search_had_first_is_to_blame() -> None:
    attribution = blamed(
        case(), hybrid("sick office", "leave sick", "sick office", "sick office", "sick office"), corpus()
    )
    assert ("retrieval_fault", "hybrid_merge", "merge") == told(attribution)
    assert "merge" == attribution.traces[0].lost_at


def test_a_reranker_that_puts_it_out_of_reach_is_to_blame() -> None:
    trace = hybrid(
        "leave sick office carry", "leave sick", "leave sick office carry", "sick office leave", "sick office"
    )
    attribution = blamed(case(), trace, corpus())
    assert ("retrieval_fault", "reranker", "rerank") == told(attribution)
    assert ("leave has rank 1 in merge; in rerank it falls to rank 3",) == attribution.evidence


def test_a_context_that_skips_a_high_rank_is_to_blame() -> None:
    trace = hybrid("leave sick", "leave sick", "leave sick", "leave sick office", "sick office")
    attribution = blamed(case(), trace, corpus())
    assert ("retrieval_fault", "context_builder", "context") == told(attribution)
    assert "high" == attribution.confidence


def test_one_search_of_a_kind_that_nobody_names_is_insufficient() -> None:
    attribution = blamed(case(), seen(stage("retrieved", "sick", "office"), stage("context", "sick"), answer=BAD))
    assert ("retrieval_fault", "insufficient_trace", "retrieved") == told(attribution)


def test_the_kind_of_a_search_may_be_told_by_its_chunks() -> None:
    ranked = Stage("retrieved", tuple(Chunk(name, stage="vector") for name in ("sick", "office")))
    attribution = blamed(case(), seen(ranked, stage("context", "sick"), answer=BAD))
    assert ("retrieval_fault", "embedding", "retrieved") == told(attribution)


# ── access and behaviour ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_chunk_of_another_tenant_is_a_leak_whatever_else_is_wrong() -> None:
    theirs = CorpusChunk("theirs", text="Their 9 days.", document="other", tenant="b")
    trace = seen(stage("dense", "sick", "theirs"), stage("context", "sick"), answer=BAD)
    attribution = blamed(case(), trace, corpus(theirs=theirs))
    assert ("access_fault", "acl", "dense") == told(attribution)
    assert "leak" == attribution.subtype


def test_a_denial_of_what_the_user_may_see_is_a_filter_that_is_too_strict() -> None:
    trace = seen(stage("dense"), stage("context"), answer="You do not have permission to see this document.")
    attribution = blamed(case(), trace, corpus())
    assert ("access_fault", "acl", "dense") == told(attribution)
    assert "access_denied" == attribution.subtype


def test_a_denial_with_the_evidence_in_the_context_is_the_generators() -> None:
    trace = seen(
        stage("dense", "leave"), stage("context", "leave"), answer="You do not have permission to see this document."
    )
    assert ("refusal_fault", "generator", "generate") == told(blamed(case(), trace, corpus()))


def test_an_answer_where_only_a_refusal_is_right_is_the_generators() -> None:
    asked = case(behaviour="abstain", evidence=(), rubric=None, reference=None)
    attribution = blamed(asked, seen(stage("dense", "sick"), stage("context", "sick"), answer=BAD))
    assert ("refusal_fault", "generator", "generate") == told(attribution)
    assert "under_refusal" == attribution.subtype


def test_a_planted_instruction_that_was_followed_is_the_generators() -> None:
    asked = case(tags=("prompt-injection",), forbidden_text=("CANARY-123456",))
    attribution = blamed(
        asked, seen(stage("dense", "leave"), stage("context", "leave"), answer="CANARY-123456"), corpus()
    )
    assert ("generation_fault", "generator", "generate") == told(attribution)
    assert "injection_followed" == attribution.subtype


# ── generation and citation ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("answer", "subtype"),
    [
        ("Full-time staff get 20 days of annual leave.", "wrong_value"),
        ("Staff get some days of leave, in one of 7 offices.", "hallucination"),
        ("Staff get some days of leave.", "reasoning_error"),
        ("I could not find that in the documents.", "over_refusal"),
    ],
)
def test_a_bad_answer_with_the_evidence_in_the_context_is_the_generators(answer: str, subtype: str) -> None:
    attribution = blamed(case(), seen(stage("dense", "leave"), stage("context", "leave"), answer=answer), corpus())
    assert ("generator", "generate", subtype) == (attribution.cause, attribution.stage, attribution.subtype)
    assert (subtype == "over_refusal") == attribution.fix.startswith("loosen the rule")  # a tighter prompt refuses more


def test_a_part_of_the_facts_is_an_incomplete_answer() -> None:
    asked = case(must_have=("12 days", "full-time"), rubric=None)
    trace = seen(stage("dense", "leave"), stage("context", "leave"), answer="It is 12 days.")
    assert "incompleteness" == blamed(asked, trace, corpus()).subtype


def test_a_good_answer_with_wrong_citations_is_the_citations_fault() -> None:
    trace = seen(stage("dense", "leave"), stage("context", "leave"), citations=("office",))
    attribution = blamed(case(), trace, corpus(), {CITED: score(0.0)})
    assert ("generation_fault", "citation", "cite") == told(attribution)


# ── precedence ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_causes_take_precedence_in_their_order() -> None:
    """Fixing one cause reveals the next: access, version, stage, generation, citation."""
    theirs = CorpusChunk("theirs", text="Their 9 days.", document="other", tenant="b")
    reference_corpus = corpus(theirs=theirs, old=OLD)
    wrong = {CITED: score(0.0)}
    old_text = {"old": OLD_TEXT}
    leaking = seen(stage("dense", "theirs", "old"), stage("context", "old", texts=old_text), answer=BAD)
    stale = seen(stage("dense", "old", "sick"), stage("context", "old", texts=old_text), answer=BAD)
    lost = seen(stage("dense", "sick"), stage("context", "sick"), answer=BAD)
    misread = seen(stage("dense", "leave"), stage("context", "leave"), answer=BAD)
    miscited = seen(stage("dense", "leave"), stage("context", "leave"), answer=GOOD)
    order = [blamed(case(), each, reference_corpus, wrong).cause for each in (leaking, stale, lost, misread, miscited)]
    assert ["acl", "stale_index", "embedding", "generator", "citation"] == order


def test_neither_the_configurations_name_nor_its_versions_count() -> None:
    plain = hybrid("leave sick office carry", "leave", "leave sick office carry", "sick office leave", "sick office")
    named = replace(plain, config_id="broken-parser", versions={"parser": "broken", "generator": "acl"})
    assert blamed(case(), plain, corpus()) == blamed(case(), named, corpus())


def test_units_are_walked_through_every_stage() -> None:
    two = case(evidence=tuple(Evidence(({"chunk_id": name},)) for name in ("leave", "carry")))
    attribution = blamed(two, hybrid("leave sick", "carry leave", "carry leave", "leave sick", "leave"), corpus())
    assert {"dense": 1, "bm25": 2, "merge": 2, "rerank": 1, "context": 1} == attribution.traces[0].ranks
    assert (None, "rerank") == (attribution.traces[0].lost_at, attribution.traces[1].lost_at)


def test_where_nothing_says_whether_the_answer_is_right_nothing_is_blamed() -> None:
    asked = case(rubric=None, reference=None)
    attribution = blamed(asked, seen(stage("dense", "leave"), stage("context", "leave"), answer=OFFICE), corpus())
    assert ("unknown", None, None) == told(attribution)
    assert attribution.good is None


def test_an_unknown_user_of_a_filtered_index_is_not_taken_for_locked_out() -> None:
    attribution = blamed(case(user=None), seen(stage("dense"), stage("context"), answer=BAD))
    assert "embedding" == attribution.cause
    nothing, others = seen(stage("dense"), stage("context"), answer=BAD), [seen(stage("dense", "office"))]
    assert "acl" == blamed(case(user=User(tenant="a")), nothing, others=others, other_user=User(tenant="b")).cause


@pytest.mark.parametrize(
    ("names", "cause", "also"),
    [
        (("bm25", "dense"), "insufficient_trace", ("acl", "embedding")),  # the vectors rank whatever they may see
        (("retrieved",), "insufficient_trace", ("acl", "embedding")),  # may search by either
    ],
)
def test_a_list_that_is_empty_for_one_question_of_a_user(
    names: tuple[str, ...], cause: str, also: tuple[str, ...]
) -> None:
    nothing = seen(*(stage(name) for name in (*names, "context")), answer=BAD)
    asked = "Is annual leave for full-time staff?"
    other = seen(*(stage(name, "leave", "office") for name in names), stage("context", "leave"), question=asked)
    attribution = blamed(case(), nothing, corpus(), others=[other])
    assert (cause, also, "low") == (attribution.cause, attribution.also, attribution.confidence)
    assert any("errors and timeouts" in field for field in attribution.record)


def test_a_search_by_words_that_finds_nothing_for_one_question_is_not_one_of_access() -> None:
    other = seen(stage("bm25", "office"), stage("context", "office"))
    assert "acl" != blamed(case(), seen(stage("bm25"), stage("context"), answer=BAD), corpus(), others=[other]).cause
