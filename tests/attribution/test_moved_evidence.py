"""Evidence under another id than its label's, labels of another chunk, and what one level of trace leaves open."""

from __future__ import annotations

from msgspec.structs import replace
from tests.attribution.traces import BAD, GOOD, LEAVE, OFFICE, SICK, TEXTS, blamed, case, corpus, seen

from assay.attribution.index.index_view import IndexView
from assay.attribution.root_causes import attribute_case
from assay.attribution.whole_run.run_consensus import MIN_SUPPORT, count_sure_causes, find_moved_ids, rank_by_run
from assay.metrics.cases.case_index import GoldenIndex
from assay.records.findings import Attribution
from assay.records.golden_set import Corpus, CorpusChunk, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage
from assay.scoring.attribution_settings import AttributionSettings

REFUSED = "I could not find that in the documents."
ELSEWHERE = Attribution(
    "q",
    "masked_gap",
    "insufficient_trace",
    confidence="low",
    also=("golden_label_issue", "chunking"),
    good=True,
    reached=False,
)


def list_ids(*ids: str, names: tuple[str, ...] = ("bm25", "dense", "context")) -> tuple[Stage, ...]:
    """Stages that all have these chunks, without their texts."""
    return tuple(Stage(name, tuple(map(Chunk, ids))) for name in names)


def test_no_search_failed_where_a_right_answer_cites_what_no_label_names() -> None:
    finding = blamed(case(), seen(*list_ids("office", "sick"), citations=("office",)))
    assert ("insufficient_trace", "low") == (finding.cause, finding.confidence)
    assert ("golden_label_issue", "chunking") == finding.also
    assert "the answer is right and cites office, so that no search failed" in finding.evidence[0]
    for trace in (
        seen(*list_ids("office", "sick"), citations=("office",), answer=BAD),
        seen(*list_ids("office", "sick")),
    ):
        assert "no search failed" not in str(blamed(case(), trace).evidence)


def test_what_is_cited_must_not_be_known_to_say_something_else() -> None:
    texts = (Chunk("office", text=OFFICE), Chunk("sick", text=SICK))
    shown = (Stage("dense", texts), Stage("context", texts))
    assert "no search failed" not in str(blamed(case(), seen(*shown, citations=("office",))).evidence)


def test_ids_whose_texts_in_the_corpus_lack_the_answer_have_others_in_the_index() -> None:
    ids = list_ids("office", "sick")
    finding = blamed(case(), seen(*ids, answer="It is 12 days.", citations=("office",)), corpus())
    assert ("chunking", "other_ids", ("stale_index",)) == (finding.cause, finding.subcause, finding.also)
    assert "low" == finding.confidence
    extra = corpus(more=CorpusChunk("more", text="12 days of leave.", document="policy", tenant="a"))
    labelled = blamed(case(), seen(*list_ids("office", "more"), answer="It is 12 days.", citations=("office",)), extra)
    assert "chunking" != labelled.cause, "a chunk of the context has the answer under its own id"


def test_moved_ids_come_first_where_most_right_answers_lack_their_evidence() -> None:
    passed = replace(ELSEWHERE, cause=None, also=(), verdict="pass", reached=True)
    moved = find_moved_ids([ELSEWHERE] * MIN_SUPPORT + [passed])
    assert moved == "of 4 right answers of this run, 3 have no labelled evidence in the context"
    ranked = rank_by_run(ELSEWHERE, count_sure_causes({}), {}, moved)
    assert ("chunking", ("golden_label_issue",), "low") == (ranked.cause, ranked.also, ranked.confidence)
    assert find_moved_ids([ELSEWHERE] * MIN_SUPPORT + [passed] * (MIN_SUPPORT - 1)) is None
    assert find_moved_ids([ELSEWHERE] * (MIN_SUPPORT - 1)) is None
    wrong = replace(ELSEWHERE, good=False)
    assert wrong == rank_by_run(wrong, count_sure_causes({}), {}, moved), "a wrong answer shows nothing of the kind"


def test_a_copy_that_the_corpus_does_not_have_is_the_evidence_by_its_text() -> None:
    ranked = tuple(Chunk(name, text=text) for name, text in (("leave@1", LEAVE), ("sick", SICK), ("leave", LEAVE)))
    stages = (Stage("bm25", ranked), Stage("rerank", ranked), Stage("context", ranked[:2]))
    told = blamed(case(), seen(*stages, answer=GOOD, citations=("leave@1",)), corpus())
    assert ("pass", None, True) == (told.verdict, told.cause, told.reached)
    without = blamed(case(), seen(*stages, answer=GOOD, citations=("leave@1",)))
    assert ("chunking", ("golden_label_issue",), "low") == (without.cause, without.also, without.confidence)


def test_a_label_that_no_trace_shows_may_be_outdated_where_the_answer_states_another_value() -> None:
    wanted = case(rubric=None, must_have=("12 days",))
    others = [Observation(f"other {number}", stages=list_ids("sick"), answer=GOOD) for number in range(10)]
    stated = blamed(wanted, seen(*list_ids("sick"), answer=BAD, citations=("sick",)), others=others)
    assert ("insufficient_trace", ("stale_index", "golden_label_issue")) == (stated.cause, stated.also)
    refused = blamed(wanted, seen(*list_ids("sick"), answer=REFUSED), others=others)
    assert "stale_index" == refused.cause


def test_the_same_foreign_text_under_several_ids_was_read_in_place_of_the_documents() -> None:
    notice = "Please accept our cookies so that we can remember what you like to read on these pages."
    shown = tuple(Chunk(name, text=f"{TEXTS[name].splitlines()[0]}\n{notice}") for name in ("leave", "sick", "carry"))
    finding = blamed(case(), seen(Stage("dense", shown), Stage("context", shown), answer=REFUSED), corpus())
    assert ("parser", ("stale_index",), "medium") == (finding.cause, finding.also, finding.confidence)
    assert "leave and 2 other chunks are indexed with the same text, which no document has" in finding.evidence[0]
    alone = blamed(case(), seen(Stage("dense", shown[:1]), Stage("context", shown[:1]), answer=REFUSED), corpus())
    assert "low" == alone.confidence, "one text of other words may be an excerpt, a version or a page that was misread"


def test_a_chunk_that_only_others_are_shown_may_be_hidden_from_the_user() -> None:
    trace = seen(*list_ids("sick", "office"), answer=REFUSED)
    staff = Observation("staff", stages=list_ids("leave"), answer=GOOD)
    for documents in (None, corpus()):
        view = IndexView(documents or Corpus({}))
        for number in range(10):
            view.add_observation(Observation(f"own {number}", stages=list_ids("sick"), answer=GOOD), case().user)
        view.add_observation(staff, User(tenant="a", roles=("staff",)))
        finding = attribute(trace, documents, view)
        assert "acl" in finding.also
        assert "the run shows it to users with other rights, and never to users with these" in finding.evidence
        view.add_observation(staff, case().user)
        assert "acl" not in attribute(trace, documents, view).named_causes


def attribute(trace: Observation, documents: Corpus | None, view: IndexView) -> Attribution:
    """Attribute the case of the leave policy in a run of which a view is given."""
    joins = GoldenIndex(GoldenSet((case(),)), documents)
    return attribute_case(joins.case_index(0), trace, {}, AttributionSettings(), view)


def test_an_answer_that_must_be_denied_may_be_a_leak_where_nothing_shows_who_may_see_it() -> None:
    denied = case(behaviour="permission_denied", evidence=(), rubric=None)
    suspicion = blamed(denied, seen(*list_ids("leave"), citations=("leave",)))
    assert ("acl", ("generator",), "low") == (suspicion.cause, suspicion.also, suspicion.confidence)
    assert ("refusal_fault", "under_refusal", "") == (suspicion.verdict, suspicion.subtype, suspicion.subcause)
    other = blamed(denied, seen(*list_ids("leave"), answer="The office opens at eight.", citations=("leave",)))
    assert ("generator", "high") == (other.cause, other.confidence)
    uncited = blamed(denied, seen(*list_ids("leave")))
    assert "generator" == uncited.cause
    public = blamed(denied, seen(*list_ids("leave"), citations=("leave",)), corpus())
    assert "generator" == public.cause, "the corpus says that the user may see it"


def test_a_wrong_citation_that_no_text_shows_may_be_an_exchanged_text() -> None:
    ids = list_ids("leave", "sick")
    finding = blamed(case(), seen(*ids, citations=("sick",)), corpus())
    assert ("citation", ("context_builder",), "medium") == (finding.cause, finding.also, finding.confidence)
    texts = tuple(Chunk(name, text=TEXTS[name]) for name in ("leave", "sick"))
    shown = blamed(case(), seen(Stage("dense", texts), Stage("context", texts), citations=("sick",)), corpus())
    assert ("citation", "high") == (shown.cause, shown.confidence)


def test_an_unclear_defect_stays_unclear_whatever_word_it_lost() -> None:
    other = "Only the very first of many entirely different remarks."
    chunks = (Chunk("leave", text=other),)
    finding = blamed(case(), seen(Stage("dense", chunks), Stage("context", chunks), answer=REFUSED), corpus())
    assert "low" == finding.confidence
