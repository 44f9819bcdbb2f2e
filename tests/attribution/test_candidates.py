"""When several causes fit: which of them comes first, what else is named, and what would tell them apart."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec import structs
from tests.attribution.traces import BAD, GOOD, LEAVE, TEXTS, blamed, case, corpus, score, seen

from assay.attribution.cause_sentences import describe_cause, name_causes
from assay.attribution.root_causes import MAX_CAUSES
from assay.attribution.whole_run.run_consensus import MIN_SUPPORT, rank_by_run
from assay.records.findings import Attribution
from assay.records.golden_set import Corpus, CorpusChunk, Evidence, User
from assay.records.observations import Chunk, Observation, Stage

REFUSED = "I could not find that in the documents."
OTHERS = [Chunk(name, text=TEXTS[name]) for name in TEXTS if name != "leave"]


def listed(name: str, *ids: str) -> Stage:
    """A stage whose chunks have their texts."""
    return Stage(name, tuple(Chunk(chunk_id, text=TEXTS.get(chunk_id)) for chunk_id in ids))


def named(attribution: Attribution) -> tuple[str | None, str, str]:
    assert len(attribution.also) < MAX_CAUSES
    return attribution.cause, attribution.subcause, attribution.confidence


def test_a_filter_that_drops_what_the_search_had_is_named_as_such() -> None:
    stages = (listed("bm25", "leave", "sick"), listed("filter", "sick"), listed("context", "sick"))
    trace = seen(*stages, answer=BAD, query_rewrite=case().question)
    assert ("hybrid_merge", "filtered_out", "high") == named(blamed(case(), trace, corpus()))


def test_a_filter_of_which_no_trace_states_the_query_may_have_gone_by_another() -> None:
    stages = (listed("bm25", "leave", "sick"), listed("filter", "sick"), listed("context", "sick"))
    attribution = blamed(case(), seen(*stages, answer=BAD), corpus())
    assert ("hybrid_merge", "filtered_out", "medium") == named(attribution)
    assert ("bm25_analyzer",) == attribution.also
    assert any("query" in field for field in attribution.record)


def test_a_filter_that_keeps_nothing_of_what_the_question_names_went_by_another_query() -> None:
    texts = {"p40": "Kestrel 40: it weighs 8 kg.", "p65": "Kestrel 65: it weighs 12 kg."}
    reference_corpus = Corpus({name: CorpusChunk(name, text=text) for name, text in texts.items()})
    asked = case(question="How heavy is the Kestrel 40?", evidence=(Evidence(({"chunk_id": "p40"},)),))

    def blame(*kept: str) -> Attribution:
        lists = {"bm25": ("p65", "p40", "p41"), "filter": kept, "context": kept}
        stages = (Stage(name, tuple(map(Chunk, ids))) for name, ids in lists.items())
        return blamed(asked, seen(*stages, answer=REFUSED), reference_corpus)

    misled = blame("p65")
    assert ("bm25_analyzer", "query_rewriting", "medium") == named(misled)
    assert ("hybrid_merge",) == misled.also
    reference_corpus.chunks["p41"] = CorpusChunk("p41", text="Kestrel 40: notes of the workshop.")
    assert "hybrid_merge" == blame("p65", "p41").cause


def test_a_filter_by_a_query_that_lost_a_word_drops_what_rewriting_misled_it_to() -> None:
    stages = (listed("bm25", "leave", "sick"), listed("filter", "sick"), listed("context", "sick"))
    attribution = blamed(case(), seen(*stages, answer=BAD, query_rewrite="how many days of sick leave"), corpus())
    assert ("bm25_analyzer", "query_rewriting", "medium") == named(attribution)
    assert ("hybrid_merge",) == attribution.also
    longer = seen(*stages, answer=BAD, query_rewrite=f"{case().question} (holidays)")
    assert ("hybrid_merge", "filtered_out", "high") == named(blamed(case(), longer, corpus()))


def test_a_stage_that_only_thins_its_predecessor_is_a_filter_whatever_its_name() -> None:
    trace = seen(listed("bm25", "leave", "sick"), listed("trimmed", "sick"), listed("context", "sick"), answer=BAD)
    assert ("hybrid_merge", "filtered_out", "medium") == named(blamed(case(), trace, corpus()))


def test_evidence_just_below_the_cut_off_is_the_rerankers_doing_or_the_contexts() -> None:
    ranking = ("sick", "office", "carry", "leave")
    trace = seen(listed("bm25", *ranking), listed("rerank", *ranking), listed("context", *ranking[:3]), answer=BAD)
    attribution = blamed(case(), trace, corpus())
    assert ("reranker", "ranked_below_cut_off", "low") == named(attribution)
    assert ("context_builder",) == attribution.also
    assert attribution.record


def test_a_word_that_rewriting_loses_is_told_from_the_analyzer() -> None:
    trace = seen(listed("bm25", "sick"), listed("context", "sick"), answer=BAD, query_rewrite="how many")
    attribution = blamed(case(question="How many days of annual leave?"), trace, corpus())
    assert ("bm25_analyzer", "query_rewriting", "high") == named(attribution)


def lost(*returned: str, others: tuple[Observation, ...] = ()) -> Attribution:
    """The evidence is not in the only search, which returns other chunks."""
    trace = seen(listed("bm25", *returned), listed("context", *returned), answer=BAD, question="annual leave")
    return blamed(case(question="annual leave"), trace, corpus(), others=others)


def test_a_search_that_finds_nothing_by_words_that_it_finds_elsewhere_has_failed() -> None:
    elsewhere = Observation("other", question="annual leave", stages=(listed("bm25", "leave"),), answer=GOOD)
    attribution = lost(others=(elsewhere,))
    assert "insufficient_trace" == attribution.cause
    assert "bm25_analyzer" == attribution.also[0]
    assert any("timeouts" in field for field in attribution.record)


def test_words_by_which_no_search_of_the_run_finds_anything_point_to_the_analyzer() -> None:
    tried = Observation("other", question="annual report", stages=(listed("bm25", "sick"),), answer=GOOD)
    assert ("bm25_analyzer", "analyzer", "high") == named(lost("office", others=(tried,)))
    # Without another search for these words, a chunk that is not indexed would look the same.
    untried = Observation("other", question="sick pay", stages=(listed("bm25", "sick"),), answer=GOOD)
    assert ("bm25_analyzer", "analyzer", "medium") == named(lost("office", others=(untried,)))


def test_a_chunk_that_no_trace_shows_may_not_be_indexed() -> None:
    piece = Chunk("carry", text="annual leave")
    elsewhere = Observation("other", question="annual leave", stages=(Stage("bm25", (piece,)),), answer=GOOD)
    attribution = lost("office", others=(elsewhere,))
    assert ("stale_index", "not_indexed", "medium") == named(attribution)
    assert ("bm25_analyzer",) == attribution.also, "nothing here searches by vectors"
    assert any("“annual, leave”" in fact for fact in attribution.evidence)
    assert "index what is missing" in attribution.fix


def test_that_no_list_of_the_run_has_a_chunk_is_said_where_the_lists_have_most_of_the_corpus() -> None:
    def say(count: int, *shown: str) -> str:
        stages = (Stage("bm25", tuple(map(Chunk, shown))),)
        others = tuple(Observation(f"other {number}", question="annual", stages=stages) for number in range(count))
        return "; ".join(lost("office", others=others).evidence)

    assert "the 11 questions of this run bring up 3 of the 4 chunks of the corpus, and not it" in say(
        10, "sick", "carry"
    )
    assert "bring up" not in say(10), "one chunk of four says nothing of the others"
    assert "bring up" not in say(2, "sick", "carry"), "two questions say nothing"
    assert "trace" not in say(10, "sick", "carry")


KILN = CorpusChunk("kiln", text="The stoneware kiln fires at cone ten.", document="kiln")
GLAZE = CorpusChunk("glaze", text="Celadon glaze is sieved twice.", document="glaze")
WHEEL = CorpusChunk("wheel", text="The wheel is oiled weekly.", document="wheel")
POTTERY = Corpus({chunk.chunk_id: chunk for chunk in (KILN, GLAZE, WHEEL)})


def lost_glaze(question: str, *others: Observation, stage_name: str = "bm25") -> Attribution:
    """The question is about the glaze, and the only search returns the kiln."""
    asked = case(question=question, evidence=(Evidence(({"chunk_id": "glaze"},)),), rubric=None, reference=None)
    trace = seen(listed(stage_name, "kiln"), listed("context", "kiln"), answer=REFUSED)
    return blamed(structs.replace(asked, must_have=("twice",)), trace, POTTERY, others=others)


def ask_others(count: int, stage_name: str = "bm25") -> list[Observation]:
    """Other questions, each of which finds its chunk by its words."""
    asked = (("What fires at cone ten?", "kiln"), ("When is the wheel oiled?", "wheel"))
    return [
        Observation(f"other {number}", question=question, stages=(listed(stage_name, chunk_id),), answer=GOOD)
        for number, (question, chunk_id) in zip(range(count), asked * count, strict=False)
    ]


def test_words_that_no_other_chunk_has_and_that_are_written_alike_point_to_the_index() -> None:
    attribution = lost_glaze("How often is Celadon sieved?", *ask_others(10))
    assert ("stale_index", "not_indexed", "medium") == named(attribution)
    assert ("bm25_analyzer",) == attribution.also
    assert "no list of the run has a chunk with “Celadon, sieved”, which question and evidence share as written" in (
        attribution.evidence
    )
    assert "the 11 questions of this run bring up 2 of the 3 chunks of the corpus, and not it" in attribution.evidence
    assert "low" == lost_glaze("How often is Celadon sieved?", *ask_others(3)).confidence, "few questions say little"


def test_words_that_are_written_in_another_way_leave_the_analyzer_first() -> None:
    for question in ("CELADON", "Céladon"):
        attribution = lost_glaze(question, *ask_others(10))
        assert ("bm25_analyzer", "analyzer", "low") == named(attribution), question
        assert "stale_index" in attribution.also


def test_an_indexed_chunk_that_the_words_do_not_find_either_is_the_analyzers() -> None:
    indexed = structs.replace(WHEEL, text="The wheel and the celadon bucket are cleaned weekly.")
    corpus_of_three = Corpus(POTTERY.chunks | {"wheel": indexed})
    asked = case(question="celadon", evidence=(Evidence(({"chunk_id": "glaze"},)),), rubric=None, reference=None)
    trace = seen(listed("bm25", "kiln"), listed("context", "kiln"), answer=REFUSED)
    attribution = blamed(structs.replace(asked, must_have=("twice",)), trace, corpus_of_three, others=ask_others(10))
    assert ("bm25_analyzer", "analyzer") == (attribution.cause, attribution.subcause)
    assert "wheel, which other lists of the run have, has one of these words too" in attribution.evidence


def test_a_search_that_finds_hardly_anything_by_words_is_not_cleared() -> None:
    asked = ("What fires at cone ten?", "When is the wheel oiled?")
    deaf = [
        Observation(f"other {number}", question=asked[number % 2], stages=(listed("bm25", chunk_id),), answer=GOOD)
        for number, chunk_id in enumerate(("wheel", "kiln") * 5)
    ]
    assert "bm25_analyzer" == lost_glaze("How often is Celadon sieved?", *deaf).cause


def test_a_list_of_unknown_kind_that_never_has_a_chunk_points_to_the_index() -> None:
    attribution = lost_glaze("How often is Celadon sieved?", *ask_others(10, "retrieved"), stage_name="retrieved")
    assert ("stale_index", "not_indexed", "low") == named(attribution)
    assert ("embedding", "bm25_analyzer") == attribution.also
    few = lost_glaze("How often is Celadon sieved?", *ask_others(3, "retrieved"), stage_name="retrieved")
    assert "insufficient_trace" == few.cause
    by_vectors = lost_glaze("How often is Celadon sieved?", *ask_others(10, "dense"), stage_name="dense")
    assert "embedding" == by_vectors.cause and "stale_index" in by_vectors.also


def test_that_nothing_of_a_document_is_shown_is_said_where_it_has_more_chunks() -> None:
    more = CorpusChunk("glaze:2", text="Tenmoku is brown.", document="glaze")
    larger_corpus = Corpus(POTTERY.chunks | {"glaze:2": more})
    asked = case(question="celadon", evidence=(Evidence(({"chunk_id": "glaze"},)),), rubric=None, reference=None)
    asked = structs.replace(asked, question="Is Celadon sieved?", must_have=("twice",))
    trace = seen(listed("bm25", "kiln"), listed("context", "kiln"), answer=REFUSED)
    facts = blamed(asked, trace, larger_corpus, others=ask_others(10)).evidence
    assert "no list of the run has anything of glaze" in facts
    shown = Observation("tenmoku", question="What is brown?", stages=(listed("bm25", "glaze:2"),), answer=GOOD)
    assert not any(
        "anything of" in fact for fact in blamed(asked, trace, larger_corpus, others=[*ask_others(9), shown]).evidence
    )


# ── what the stages show ─────────────────────────────────────────────────────────────────────────────────────────


def test_what_the_only_search_has_near_the_top_was_cut_off_by_the_context() -> None:
    ranking = ("sick", "office", "carry", "pay", "leave")
    for search, cause in (("bm25", "bm25_analyzer"), ("dense", "embedding")):
        trace = seen(listed(search, *ranking), listed("context", *ranking[:3]), answer=BAD)
        attribution = blamed(case(question="How long?"), trace)
        assert ("context_builder", "ranked_below_cut_off", "low") == named(attribution)
        assert ("context", (cause,)) == (attribution.stage, attribution.also)
        assert "context" == attribution.traces[0].lost_at
        assert f"leave has rank 5 in {search}, the only search; the generator was shown 3" == attribution.evidence[0]
        assert "more chunks, or rerank" in attribution.fix
        assert not any("by its id" in field for field in attribution.record), "rank 5 shows that it is indexed"


def test_a_list_that_does_not_tell_how_it_was_ranked_is_not_called_a_reranker_in_words() -> None:
    ranking = ("sick", "office", "carry", "leave")
    attribution = blamed(case(), seen(listed("retrieved", *ranking), listed("context", *ranking[:3]), answer=BAD))
    assert ("reranker", "ranked_too_low", "low") == named(attribution)
    assert "context_builder" == attribution.also[0]
    assert "reranker" not in describe_cause(attribution) and "reranking model" not in attribution.fix
    assert (
        "retrieved is the only ranking that is reported, and nothing tells what ranked it" == attribution.evidence[-1]
    )
    assert ["ranking", "context_builder"] == name_causes(attribution)[:2]


@pytest.mark.parametrize(
    "trace",
    [
        (listed("retrieved", "sick", "office", "carry", "leave"), listed("context", "sick")),
        (listed("hits", "sick"), listed("context", "sick")),
        (
            listed("retrieved", "sick", "office", "leave"),
            listed("shortlist", "sick", "office"),
            listed("context", "sick"),
        ),
        (listed("dense", "sick"), listed("bm25", "leave"), listed("context", "sick")),
        (listed("bm25", "sick", "office", "carry", "leave"), listed("context", "sick")),
    ],
)
def test_no_reranker_is_named_where_none_is_reported(trace: tuple[Stage, ...]) -> None:
    """Neither as what happened, nor as a candidate, nor as a cause that the run puts first, nor as what to repair."""
    found = blamed(case(), seen(*trace, answer=BAD))
    candidates = [found, *(rank_by_run(found, Counter({cause: 2 * MIN_SUPPORT})) for cause in found.also)]
    for attribution in candidates:
        said = (describe_cause(attribution), *attribution.evidence, attribution.fix)
        assert not any("reranker" in text or "reranking model" in text for text in said), said
        assert "reranker" not in name_causes(attribution)


def test_what_the_only_search_ranks_far_down_is_its_own_doing_and_the_contexts_at_most() -> None:
    ranking = ("sick", "office", "carry", "pay", "old", "new", "leave")
    trace = seen(listed("bm25", *ranking), listed("context", *ranking[:3]), answer=BAD)
    attribution = blamed(case(question="How long?"), trace)
    assert ("bm25_analyzer", "context_builder") == attribution.named_causes[:2]
    assert "the keyword search ranked the right passage low or not at all" == attribution.sign
    assert "leave has rank 7 in bm25, the only search; the generator was shown 3" == attribution.evidence[0]


def test_a_question_in_other_words_is_beyond_the_only_search_by_words() -> None:
    trace = seen(listed("bm25", "sick"), listed("context", "sick"), answer=REFUSED)
    attribution = blamed(case(question="Combien de congés ?"), trace, corpus())
    assert ("bm25_analyzer", "vocabulary_mismatch", "low") == named(attribution)
    assert ("stale_index",) == attribution.also, "nothing here searches by vectors"
    assert any("share no word" in fact for fact in attribution.evidence)
    assert "synonyms" in attribution.fix and "vectors" in attribution.fix and "embedding model" not in attribution.fix
    elsewhere = Observation("other", stages=(listed("bm25", "leave"),), answer=GOOD)
    indexed = blamed(case(question="Combien de congés ?"), trace, corpus(), others=[elsewhere])
    assert ("vocabulary_mismatch", "medium", ()) == (indexed.subcause, indexed.confidence, indexed.also)
    hybrid = seen(listed("bm25", "sick"), listed("dense", "sick"), listed("context", "sick"), answer=REFUSED)
    assert "embedding" == blamed(case(question="Combien de congés ?"), hybrid, corpus()).cause


def test_vectors_are_no_candidate_where_no_stage_searches_by_them() -> None:
    denied = "You do not have permission to see this."
    for name, also in (("bm25", ("stale_index",)), ("dense", ("stale_index", "embedding"))):
        trace = seen(Stage(name, (Chunk("sick"),)), Stage("context", ()), answer=denied)
        assert also == blamed(case(), trace, corpus()).also


def test_nothing_is_asked_for_that_the_trace_has() -> None:
    stages = (listed("bm25", "sick"), listed("context", "sick"))
    assert any("query" in field for field in blamed(case(), seen(*stages, answer=BAD)).record)
    attribution = blamed(case(), seen(*stages, answer=BAD, query_rewrite=case().question))
    assert not any("query" in field for field in attribution.record)


def test_a_search_by_a_wrong_query_is_not_told_to_fold_diacritics() -> None:
    trace = seen(listed("bm25", "sick"), listed("context", "sick"), answer=BAD, query_rewrite="how many")
    attribution = blamed(case(question="How many days of annual leave?"), trace, corpus())
    assert "rewriting" in attribution.fix and "diacritics" not in attribution.fix


# ── the label as a candidate ─────────────────────────────────────────────────────────────────────────────────────


def test_the_label_is_a_candidate_where_another_chunk_has_what_the_right_answer_says() -> None:
    asked = case(evidence=(Evidence(({"chunk_id": "elsewhere"},)),))
    trace = seen(listed("retrieved", "leave"), listed("context", "leave"), answer=GOOD)
    attribution = blamed(asked, trace)
    assert ("insufficient_trace", ("golden_label_issue", "chunking")) == (attribution.cause, attribution.also)
    assert ("masked_gap", "gold_misspecified", None) == (attribution.verdict, attribution.subtype, attribution.stage)
    assert (
        "has what leave in the context says" in attribution.evidence[0]
        and "elsewhere, which is labelled" in attribution.evidence[0]
    )
    assert "check the label" in attribution.fix


def test_the_label_is_a_candidate_where_its_evidence_lacks_what_another_chunk_of_the_context_has() -> None:
    wrong = case(evidence=(Evidence(({"chunk_id": "office"},)),))
    trace = seen(listed("dense", "leave", "office"), listed("context", "leave", "office"), answer=BAD)
    attribution = blamed(wrong, trace)
    assert ("generator", "medium") == (attribution.cause, attribution.confidence)
    assert ("golden_label_issue",) == attribution.also
    said = "leave in the context has “12 days”, which the case looks for; the labelled evidence does not (office)"
    assert said in attribution.evidence
    assert "golden_label_issue" not in blamed(case(), trace).named_causes
    cut = seen(listed("dense", "sick", "leave", "carry", "office"), listed("context", "leave", "carry"), answer=BAD)
    assert any("the labelled evidence does not (office)" in fact for fact in blamed(wrong, cut).evidence)
    lost = blamed(case(evidence=(Evidence(({"chunk_id": "elsewhere"},)),)), trace)
    assert "golden_label_issue" in lost.also
    assert any("no stage has a text of the labelled evidence (elsewhere)" in fact for fact in lost.evidence)
    by_chance = case(question="Who parks behind?", evidence=(Evidence(({"chunk_id": "office"},)),))
    assert "golden_label_issue" not in blamed(by_chance, trace).named_causes, "the figure alone is there by chance"


def test_chunks_without_ids_and_passages_are_quoted_and_not_named_by_digests() -> None:
    shown = Chunk("text:sha256:0123456789abcdef", text="Annual leave is 12 days for all who work full time in a year.")
    wrong = case(evidence=(Evidence(({"quote": "Leave is granted by the head of each team on request only."},)),))
    stages = (Stage("retrieved", (shown,)), Stage("context", (shown,)))
    facts = " | ".join(blamed(wrong, seen(*stages, answer=BAD)).evidence)
    assert "“Annual leave is 12 days for all who …” in the context has “12 days”" in facts
    assert "“Leave is granted by the head of each …”" in facts
    assert "sha256" not in facts and "quote=" not in facts


def test_without_a_user_a_denial_says_nothing_of_what_a_user_may_see() -> None:
    denied = seen(listed("bm25", "sick"), listed("context", "sick"), answer="You do not have permission to see this.")
    named_user = blamed(case(), denied, corpus())
    assert "acl" == named_user.cause and any("this user may see" in fact for fact in named_user.evidence)
    nobody = blamed(case(user=None), denied, corpus())
    assert "acl" != nobody.cause and "acl" in nobody.also
    assert not any("this user" in fact for fact in nobody.evidence)
    assert any("the case names no user" in fact for fact in nobody.evidence)
    assert "access_fault" != nobody.verdict


def test_a_leak_is_named() -> None:
    board = CorpusChunk("board", text="The board meets its lender in the old mill every March.", tenant="b")
    shown = Stage("context", (Chunk("board", text=board.text), Chunk("leave", text=LEAVE)))
    fact, reason = blamed(case(), seen(shown), corpus(board=board)).evidence
    assert "board is forbidden: it is of tenant b, the user of tenant a (shown at rank 1 of context)" == reason
    assert "1 chunk or passage that this user must not see, in context: board" == fact
    leaking = seen(listed("context", "leave"), answer=f"{GOOD} {board.text}")
    fact, reason = blamed(case(), leaking, corpus(board=board)).evidence
    assert "1 chunk or passage that this user must not see, in the answer: board" == fact
    assert "board is forbidden: it is of tenant b, the user of tenant a (its words are in the answer)" == reason
    relabelled = Stage("context", (Chunk("leave", text=f"{LEAVE} {board.text}"),))
    fact, *_ = blamed(case(evidence=()), seen(relabelled), corpus(board=board)).evidence
    assert "1 chunk or passage that this user must not see, in context: leave with words of board" == fact
    listed_chunks = case(user=None, forbidden=({"chunk_id": "sick"},))
    fact, reason = blamed(listed_chunks, seen(listed("context", "leave", "sick")), corpus()).evidence
    assert "1 chunk or passage that must not be shown, in context: sick" == fact
    assert "sick is forbidden: the case lists it as forbidden (shown at rank 2 of context)" == reason


def test_an_answer_to_what_the_context_does_not_mention_says_nothing_of_the_label() -> None:
    def blame(question: str) -> Attribution:
        trace = seen(listed("bm25", "leave", "office"), listed("context", "leave", "office"), answer=GOOD)
        return blamed(case(question=question, behaviour="abstain", evidence=(), reference=None, rubric=None), trace)

    attribution = blame("When does the pizzeria in the office close?")
    assert ("generator", "answered_unanswerable", "high") == named(attribution)
    assert "no text of the context has “pizzeria”, which the question names" in attribution.evidence
    assert () == attribution.also
    assert not any("label" in fact for fact in attribution.evidence)
    assert "where no answer was expected" in attribution.sign
    unrelated = blame("May dogs come along?")
    assert ("medium", ()) == (unrelated.confidence, unrelated.also)
    assert "no text of the context has “dogs”, “come”, “along”, of which the question asks" in unrelated.evidence
    close = blame("Is the morning full?")
    assert (("golden_label_issue",), "medium") == (close.also, close.confidence)
    assert any("the label may be wrong" in fact for fact in close.evidence)
    polite = blame("Could you please explain whether the morning is full within something?")
    assert (("golden_label_issue",), "medium") == (polite.also, polite.confidence)


def test_an_empty_list_is_not_access_where_others_with_the_same_rights_are_served() -> None:
    empty = seen(Stage("dense", ()), Stage("context", ()), answer=REFUSED)
    served = Observation("other", stages=(listed("dense", "sick"),), answer=GOOD)
    the_case = case(user=None)
    assert "acl" != blamed(the_case, empty, corpus(), others=[served]).cause


def test_evidence_labelled_by_a_quote_is_truncated_and_not_left_out_where_its_chunk_is_shown() -> None:
    quoted = case(evidence=(Evidence(({"quote": "12 days of annual leave"},)),))
    stages = (
        listed("dense", "leave", "sick"),
        Stage("context", (Chunk("leave", text=LEAVE[:20]), Chunk("sick", text=TEXTS["sick"]))),
    )
    attribution = blamed(quoted, seen(*stages, answer=GOOD))
    assert ("context_builder", "text_truncated", "high") == named(attribution)
    assert "words are left" in attribution.evidence[0]
    other = (listed("dense", "leave", "sick"), Stage("context", (Chunk("sick", text=TEXTS["sick"]),)))
    assert ("context_builder", "left_out", "high") == named(blamed(quoted, seen(*other, answer=REFUSED)))


def test_a_text_that_the_context_shows_in_part_was_cut_by_its_builder() -> None:
    short = Chunk("leave", text=LEAVE[:20])
    trace = seen(listed("dense", "leave"), Stage("context", (short,)), answer=REFUSED)
    assert ("context_builder", "text_truncated", "high") == named(blamed(case(), trace))


def test_without_any_text_a_refusal_may_come_from_the_generator_or_the_index() -> None:
    trace = seen(Stage("dense", (Chunk("leave"),)), Stage("context", (Chunk("leave"),)), answer=REFUSED)
    attribution = blamed(case(), trace)
    assert ("generator", "ignored_evidence", "low") == named(attribution)
    assert ("parser",) == attribution.also
    assert any("text" in field for field in attribution.record)


def test_chunking_is_a_candidate_where_the_run_shows_pieces_of_chunks() -> None:
    trace = seen(Stage("dense", (Chunk("leave"),)), Stage("context", (Chunk("leave"),)), answer=REFUSED)
    pieces = Observation("other", stages=(Stage("dense", (Chunk("carry"), Chunk("carry#2"))),), answer=GOOD)
    assert ("parser", "chunking") == blamed(case(), trace, others=[pieces]).also


def test_a_cut_chunk_shows_in_ids_that_the_corpus_lacks() -> None:
    whole = CorpusChunk("p:01", text=LEAVE, document="pay")
    trace = seen(Stage("dense", (Chunk("p:01"),)), Stage("context", (Chunk("p:01"),)), answer=REFUSED)
    asked = case(evidence=(Evidence(({"chunk_id": "p:01"},)),))
    assert "generator" == blamed(asked, trace, corpus(**{"p:01": whole})).cause
    piece = Observation("other", stages=(Stage("dense", (Chunk("p:01b"),)),), answer=GOOD)
    attribution = blamed(asked, trace, corpus(**{"p:01": whole}), others=[piece])
    assert ("chunking", "", "medium") == named(attribution)
    assert ("generator",) == attribution.also


CUT = "Full-time staff get a number of days of annual"


def test_without_a_corpus_evidence_that_stops_inside_a_sentence_was_cut() -> None:
    shown = Stage("context", (Chunk("leave", text=CUT),))
    trace = seen(shown, answer="Full-time staff get days off every year.")
    attribution = blamed(case(), trace)
    assert ("chunking", "cut_off", "low") == named(attribution)
    assert ("golden_label_issue",) == attribution.also
    whole = seen(
        Stage("context", (Chunk("leave", text=f"{CUT} leave."),)), answer="Full-time staff get days off every year."
    )
    assert "chunking" not in blamed(case(), whole).named_causes


def test_without_a_corpus_a_piece_named_after_the_evidence_shows_where_it_was_cut() -> None:
    shown = Stage("context", (Chunk("leave", text="Full-time staff get annual leave."),))
    trace = seen(shown, answer="Full-time staff get annual leave.")
    piece = Stage("retrieved", (Chunk("leave#2", text="It is 12 days a year."),))
    attribution = blamed(case(), trace, others=[Observation("other", stages=(piece,), answer=GOOD)])
    assert ("chunking", "cut_off", "medium") == named(attribution)
    other = Stage("retrieved", (Chunk("leave2", text="It is 12 days a year."),))
    assert "chunking" != blamed(case(), trace, others=[Observation("other", stages=(other,), answer=GOOD)]).cause


def test_a_search_that_finds_nothing_for_anyone_by_these_words_is_no_matter_of_access() -> None:
    empty = seen(Stage("bm25", ()), Stage("context", ()), answer=REFUSED)
    asked = case(question="annual leave")
    elsewhere = Observation("other", question="sick pay", stages=(listed("bm25", "sick"),), answer=GOOD)
    attribution = blamed(asked, empty, corpus(), others=[elsewhere], other_user=User(tenant="b"))
    assert ("bm25_analyzer", "analyzer") == (attribution.cause, attribution.subcause)
    served = Observation("other", question="annual leave", stages=(listed("bm25", "leave"),), answer=GOOD)
    assert "acl" == blamed(asked, empty, corpus(), others=[served], other_user=User(tenant="b")).cause


def test_a_grounded_answer_to_a_question_that_must_not_be_answered_may_be_a_wrong_label() -> None:
    asked = case(behaviour="abstain", rubric=None, evidence=(), reference=None)
    attribution = blamed(asked, seen(listed("dense", "leave"), listed("context", "leave"), answer=GOOD), corpus())
    assert ("golden_label_issue", "wrong_reference", "medium") == named(attribution)
    assert ("generator",) == attribution.also
    invented = blamed(asked, seen(listed("dense", "sick"), listed("context", "sick"), answer=BAD), corpus())
    assert ("generator", "answered_unanswerable", "high") == named(invented)


def test_another_value_than_that_of_the_reference_is_wrong() -> None:
    asked = case(rubric=None, reference="It is 12 days of leave.")
    text = "## Annual leave\nFull-time staff get 12 days of leave, and 3 days for moving."
    shown = Stage("context", (Chunk("leave", text=text),))
    attribution = blamed(asked, seen(shown, answer="Staff get 3 days of leave."))
    assert attribution.good is False
    assert ("generator", "wrong_entity_or_number", "high") == named(attribution)
    right = blamed(asked, seen(shown, answer="Staff get 12 days, and 3 days for moving."))
    assert right.cause is None


def test_citing_a_lesser_source_without_the_facts_is_a_wrong_citation() -> None:
    units = (Evidence(({"chunk_id": "leave"},)), Evidence(({"chunk_id": "office"},), required=False))
    scores = {"citation_correctness(by=rules)": score(1.0)}
    shown = (listed("dense", "leave", "office"), listed("context", "leave", "office"))
    attribution = blamed(case(evidence=units), seen(*shown, citations=("office",)), corpus(), scores=scores)
    assert ("citation", "wrong_in_context", "medium") == named(attribution)
    both = blamed(case(evidence=units), seen(*shown, citations=("leave", "office")), corpus(), scores=scores)
    assert both.cause is None


def test_a_chunk_that_the_vector_search_misses_may_be_indexed_under_another_id() -> None:
    trace = seen(Stage("dense", (Chunk("sick"),)), Stage("context", (Chunk("sick"),)), answer=REFUSED)
    attribution = blamed(case(), trace, corpus())
    assert ("embedding", "", "low") == named(attribution)
    assert ("chunking", "stale_index") == attribution.also
    shown = Observation("other", stages=(Stage("dense", (Chunk("leave"),)),), answer=GOOD)
    assert ("embedding", "", "low") == named(blamed(case(), trace, corpus(), others=[shown]))


def test_a_citation_beside_the_evidence_is_wrong_although_it_is_in_the_context() -> None:
    trace = seen(listed("dense", "leave", "office"), listed("context", "leave", "office"), citations=("office",))
    scores = {"citation_correctness(by=rules)": score(1.0)}
    attribution = blamed(case(), trace, corpus(), scores=scores)
    assert ("citation", "wrong_in_context", "high") == named(attribution)


def test_a_cited_duplicate_that_nobody_labelled_is_a_matter_of_the_labels() -> None:
    copy = Chunk("copy", text=LEAVE)
    context = Stage("context", (Chunk("leave", text=LEAVE), copy))
    trace = seen(listed("dense", "leave"), context, citations=("copy",))
    attribution = blamed(case(), trace, scores={"citation_correctness(by=rules)": score(1.0)})
    assert ("golden_label_issue", "unlabelled_duplicate", "medium") == named(attribution)


def test_a_number_that_no_source_has_takes_the_pass_from_a_right_answer() -> None:
    trace = seen(listed("dense", "leave"), listed("context", "leave"), answer=f"{GOOD} Interns get 77 days.")
    attribution = blamed(case(), trace, corpus())
    assert ("generator", "invented", "medium") == named(attribution)
    assert ("unknown", True) == (attribution.verdict, attribution.good)


def test_pieces_that_are_named_after_a_chunk_are_the_chunkings_doing_without_any_text() -> None:
    ids = [Chunk("leave#1"), Chunk("leave#2")]
    trace = seen(Stage("dense", tuple(ids)), Stage("context", tuple(ids)), answer=BAD)
    asked = case(evidence=(Evidence(({"chunk_id": "leave"},)),))
    assert ("chunking", "", "high") == named(blamed(asked, trace, corpus()))


def test_insufficient_trace_names_candidates_and_what_is_missing() -> None:
    trace = seen(Stage("retrieved", (Chunk("sick"),)), Stage("context", (Chunk("sick"),)), answer=BAD)
    attribution = blamed(case(), trace)
    assert "insufficient_trace" == attribution.cause
    assert attribution.also
    assert attribution.record
    assert f"record {attribution.record[0]}" == attribution.fix, "what is recorded already is not asked for"


def test_a_stage_whose_name_tells_no_kind_is_said_where_the_cause_is_not_sure() -> None:
    trace = seen(Stage("step two", (Chunk("sick"),)), Stage("context", (Chunk("sick"),)), answer=BAD)
    assert any("“step two”" in field for field in blamed(case(), trace).record)


def test_citing_everything_beside_the_source_is_a_doubt() -> None:
    ids = ("leave", "office", "sick", "carry")
    scores = {"citation_correctness(by=rules)": score(1.0)}
    shown = (listed("dense", *ids), listed("context", *ids))
    attribution = blamed(case(), seen(*shown, citations=ids), corpus(), scores=scores)
    assert ("citation", "over_cited", "medium") == named(attribution)
    assert blamed(case(), seen(*shown, citations=("leave", "office")), corpus(), scores=scores).cause is None


def test_ids_that_no_search_of_the_run_returns_may_not_be_indexed_under_them() -> None:
    ids = (Chunk("sick"),)
    trace = seen(Stage("dense", ids), Stage("bm25", ids), Stage("context", ids), answer=REFUSED)
    others = [Observation(f"other {number}", stages=(Stage("dense", ids),), answer=GOOD) for number in range(10)]
    attribution = blamed(case(), trace, others=others)
    assert ("stale_index", ("chunking", "embedding"), "low") == (
        attribution.cause,
        attribution.also,
        attribution.confidence,
    )
    elsewhere = Observation("last", stages=(Stage("dense", (Chunk("leave"),)),), answer=GOOD)
    assert ("bm25_analyzer",) == blamed(case(), trace, others=[*others, elsewhere]).also


def test_a_leak_in_a_context_that_nothing_ranked_may_be_the_context_of_another_question() -> None:
    secret = corpus(secret=CorpusChunk("secret", text="The plan is secret.", tenant="b"))
    trace = seen(listed("bm25", "leave"), Stage("context", (Chunk("secret"),)), answer=REFUSED)
    attribution = blamed(case(), trace, secret)
    assert ("acl", "leak_in_context", "medium") == named(attribution)
    assert ("context_builder",) == attribution.also
    ranked = seen(Stage("bm25", (Chunk("secret"),)), Stage("context", (Chunk("secret"),)), answer=REFUSED)
    assert ("acl", "leak_in_context", "high") == named(blamed(case(), ranked, secret))


def shown_as(text: str, known: Corpus) -> Attribution:
    """The evidence is indexed with this text, and the answer lacks what it should say."""
    chunk = Chunk("leave", text=text)
    return blamed(case(), seen(Stage("bm25", (chunk,)), Stage("context", (chunk,)), answer=BAD), known)


def test_another_wording_may_be_read_wrongly_unless_it_is_that_of_another_version() -> None:
    misread = shown_as("## Annual leave\nFull-time staff get l2 days of annual leave.", corpus())
    assert ("stale_index", "", "medium") == named(misread)
    assert ("parser",) == misread.also
    earlier = "## Annual leave\nFull-time staff get 10 days of annual leave."
    old = CorpusChunk("leave-v1", text=earlier, document="policy", version="v1", valid_to="2025-12-31")
    assert ("stale_index", "", "high") == named(shown_as(earlier, corpus(**{"leave-v1": old})))


def test_whole_lines_that_are_lost_at_an_end_may_be_in_a_chunk_that_nothing_shows() -> None:
    rows = "| Staff | Leave |\n| half-time | 6 days |\n| full-time | 12 days |\n| trainees | 9 days |"
    table = corpus(leave=CorpusChunk("leave", text=rows, document="policy", version="v2", tenant="a"))
    cut = shown_as("| Staff | Leave |\n| half-time | 6 days |", table)
    assert ("parser", "", "medium") == named(cut)
    assert ("chunking",) == cut.also
    inside = shown_as("| Staff | Leave |\n| half-time | 6 days |\n| trainees | 9 days |", table)
    assert ("parser", "", "high") == named(inside)


def test_denied_access_to_what_no_trace_shows_may_be_a_missing_chunk() -> None:
    denied = seen(
        Stage("dense", (Chunk("sick"),)), Stage("context", ()), answer="You do not have permission to see this."
    )
    attribution = blamed(case(), denied, corpus())
    assert ("acl", "access_denied", "medium") == named(attribution)
    assert ("stale_index", "embedding") == attribution.also
    elsewhere = Observation("other", stages=(Stage("dense", (Chunk("leave"),)),), answer=GOOD)
    assert ("acl", "access_denied", "high") == named(blamed(case(), denied, corpus(), others=[elsewhere]))


def test_without_the_texts_of_the_context_an_unexpected_answer_may_be_a_wrong_label() -> None:
    trace = seen(Stage("dense", (Chunk("leave"),)), Stage("context", (Chunk("leave"),)), answer=GOOD)
    attribution = blamed(case(behaviour="abstain", evidence=()), trace)
    assert ("generator", "answered_unanswerable", "medium") == named(attribution)
    assert ("golden_label_issue",) == attribution.also


def test_an_answer_that_keeps_to_the_line_that_is_nearest_to_the_question_is_not_surely_wrong() -> None:
    asked = case(
        evidence=(Evidence(({"chunk_id": "table"},)),), question="How many days of leave do full-time staff get?"
    )
    shifted = "| full-time staff | 20 days |\n| half-time staff | 12 days |"
    right = "| full-time staff | 12 days |\n| half-time staff | 20 days |"

    def blame(text: str, known: Corpus | None = None) -> Attribution:
        chunk = Chunk("table", text=text)
        answer = "They get 20 days."
        return blamed(asked, seen(Stage("dense", (chunk,)), Stage("context", (chunk,)), answer=answer), known)

    attribution = blame(shifted)
    assert ("parser", "", "low") == named(attribution)
    assert ("golden_label_issue", "generator") == attribution.also
    assert ("generator", "wrong_entity_or_number", "high") == named(blame(right))
    indexed = Corpus({"table": CorpusChunk("table", text=shifted)})
    assert ("generator", "wrong_entity_or_number", "medium") == named(blame(shifted, indexed))


def test_a_run_that_cites_whatever_it_shows_is_doubted_where_no_text_tells() -> None:
    names = ("leave", "sick", "carry")
    stages = (Stage("dense", tuple(map(Chunk, names))), Stage("context", tuple(map(Chunk, names))))
    others = [Observation(f"other{number}", stages=stages, answer=GOOD, citations=names) for number in range(10)]
    trace = seen(*stages, citations=names)
    attribution = blamed(case(), trace, others=others)
    assert ("citation", "over_cited", "low") == named(attribution)
    choosing = [
        Observation(f"choosing{number}", stages=stages, answer=GOOD, citations=names[:1]) for number in range(10)
    ]
    assert blamed(case(), trace, others=[*others, *choosing]).cause is None


def test_a_chunk_that_is_missing_in_a_document_that_the_run_shows_was_cut_otherwise() -> None:
    others = [
        Observation(
            f"other{name}", question=f"annual leave {name}", stages=(Stage("bm25", (Chunk(name),)),), answer=GOOD
        )
        for name in ("sick", "carry")
    ]
    reference_corpus = corpus(pay=CorpusChunk("pay", text="annual pay", document="pay"))
    finder = Observation("finder", question="annual", stages=(Stage("bm25", (Chunk("pay"),)),), answer=GOOD)
    trace = seen(
        Stage("bm25", (Chunk("office"),)), Stage("dense", (Chunk("office"),)), Stage("context", ()), answer=REFUSED
    )
    attribution = blamed(case(question="annual leave"), trace, reference_corpus, others=[*others, finder])
    assert ("chunking", "", "medium") == named(attribution)
    assert ("embedding", "bm25_analyzer") == attribution.also
    unknown = blamed(case(question="annual leave"), trace, reference_corpus, others=[])
    assert "bm25_analyzer" == unknown.cause


def test_a_vector_search_that_misses_what_the_keyword_search_has_is_not_the_only_cause() -> None:
    ids = ("sick", "office", "carry", "pay", "old", "new", "leave")
    lists = {"dense": ids[:3], "bm25": ids, "merge": ids[:5], "rerank": ids[:3], "context": ids[:3]}
    stages = (
        Stage(name, tuple(Chunk(each, text=TEXTS.get(each, each)) for each in names)) for name, names in lists.items()
    )
    attribution = blamed(case(question="How long is it?"), seen(*stages, answer=REFUSED), corpus())
    assert ("embedding", "", "low") == named(attribution)
    assert ("reranker",) == attribution.also


def test_a_step_has_not_lost_what_a_later_one_has() -> None:
    lists = {"bm25": "leave sick", "dense": "leave", "fusion": "sick", "rerank": "sick leave", "context": "sick"}
    stages = (listed(name, *ids.split()) for name, ids in lists.items())
    attribution = blamed(case(question="How long?"), seen(*stages, answer=BAD))
    assert "hybrid_merge" not in attribution.named_causes
    filtered = (listed("bm25", "leave", "sick"), listed("filter", "sick"), listed("rerank", "sick", "leave"))
    attribution = blamed(case(question="How long?"), seen(*filtered, listed("context", "sick"), answer=BAD))
    assert "hybrid_merge" not in attribution.named_causes


def test_an_answer_with_a_part_of_its_facts_is_incomplete_in_verdict_and_cause() -> None:
    text = "Students get 25% off bus tickets. It does not apply to ferries."
    chunk = Chunk("leave", text=text)
    asked = case(question="Does it apply to ferries?", must_have=("25%", "not apply to ferries"), rubric=None)
    trace = seen(Stage("bm25", (chunk,)), Stage("context", (chunk,)), answer="It does not apply to ferries.")
    attribution = blamed(asked, trace)
    assert ("partial", "incompleteness") == (attribution.subcause, attribution.subtype)
    assert not any("another passage" in fact for fact in attribution.evidence)


def test_an_id_that_no_trace_has_and_hardly_differs_from_a_listed_one_is_misspelt() -> None:
    asked = case(evidence=(Evidence(({"chunk_id": "annual-leve"},)),))
    trace = seen(Stage("retrieved", (Chunk("office"), Chunk("annual-leave"))), answer=BAD)
    attribution = blamed(asked, trace)
    assert ("golden_label_issue", "misspelt_id", "medium") == named(attribution)
    assert ("annual-leve, which the case names, is in no list, and annual-leave is: did you mean that?",) == (
        attribution.evidence
    )
    elsewhere = Observation("other", stages=(Stage("retrieved", (Chunk("annual-leve"),)),), answer=GOOD)
    assert "misspelt_id" != blamed(asked, trace, others=[elsewhere]).subcause  # the index has that id
    numbered = seen(Stage("retrieved", (Chunk("annual-leve-2"),)), answer=BAD)
    assert "misspelt_id" != blamed(asked, numbered).subcause


def test_a_search_of_unknown_kind_is_one_thing_that_may_have_happened() -> None:
    """It was told twice, once "if by vectors" and once "if by words", in one sentence."""
    unsure = Attribution(
        "c1", "retrieval_fault", "stale_index", confidence="low", also=("embedding", "bm25_analyzer", "reranker")
    )
    sentence = describe_cause(unsure)
    assert 1 == sentence.count("the search ranked the right passage low or not at all")
    assert "if by" not in sentence and "then ranked too low" in sentence
    two = Attribution("c1", "retrieval_fault", "embedding", confidence="low", also=("bm25_analyzer",))
    assert 2 == describe_cause(two).count("if by")  # of two candidates both have to be told
    alone = Attribution("c1", "retrieval_fault", "stale_index", confidence="low", also=("embedding",))
    assert "the search, if by vectors" in describe_cause(alone)
