"""Laws of attribution: whatever was observed, there is exactly one finding, the same each time, that adds up."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.metrics.worlds import cases, corpora, make_golden_set, observations
from tests.support.examples import try_examples

from assay.attribution.cause_notes import CAUSE_NOTES
from assay.attribution.index.index_view import IndexView
from assay.attribution.losses.lost_unit import NEAR
from assay.attribution.root_causes import attribute_case
from assay.metrics.cases.case_index import GoldenIndex
from assay.records.findings import FAULT_PARTIES, ROOT_CAUSES, Attribution
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence
from assay.records.observations import Chunk, Observation, Stage
from assay.scoring.attribution_settings import AttributionSettings

SCORES = st.dictionaries(
    st.sampled_from(("citation_correctness(by=rules)", "correctness(by=judge)", "answer_similarity")),
    st.tuples(st.integers(0, 2), st.sampled_from((0.0, 0.5, 1.0)), st.sampled_from(("", "needs_review: tied votes"))),
)
SETTINGS = st.builds(
    AttributionSettings,
    production_k=st.sampled_from((None, 1, 3)),
    reached=st.sampled_from(("all", "any")),
    calibrated=st.sampled_from((frozenset[str](), frozenset(("correctness(by=judge)",)))),
)


def found(case: Case, corpus: Corpus | None, seen: Observation, scores: Any, told: AttributionSettings) -> Attribution:
    view = IndexView(corpus or Corpus({}))
    view.add_observation(seen)
    return attribute_case(
        GoldenIndex(make_golden_set(case, kind="complete"), corpus).case_index(0), seen, scores, told, view
    )


@pytest.mark.slow
@try_examples(150)
@given(cases(), corpora, observations(), SCORES, SETTINGS)
def test_every_observation_has_one_finding_that_adds_up(
    case: Case, corpus: Corpus | None, seen: Observation, scores: Any, told: AttributionSettings
) -> None:
    attribution = found(case, corpus, seen, scores, told)
    assert attribution == found(case, corpus, seen, scores, told)
    assert attribution == found(case, corpus, replace(seen, config_id="x", versions={"parser": "y"}), scores, told)
    assert case.id == attribution.case_id
    assert attribution.verdict in FAULT_PARTIES and (attribution.cause is None or attribution.cause in ROOT_CAUSES)
    assert (attribution.cause is None) == (not attribution.fix) == (not attribution.sign)
    if attribution.verdict == "pass":
        assert attribution.good and attribution.reached is not False
        assert attribution.cause is None or attribution.subcause == "text_exchanged"  # a trace that contradicts itself
    if attribution.verdict == "masked_gap":
        assert attribution.good and attribution.reached is False
    told_apart = ("citation", "injection_followed", "wrong_format")  # whether the answer is right or not
    if attribution.verdict in ("generation_fault", "retrieval_fault") and attribution.subtype not in told_apart:
        assert attribution.good is False
    assert attribution.cause is None or attribution.evidence


# ── what is said agrees with the ranks ───────────────────────────────────────────────────────────────────────────────

SEARCHES: tuple[tuple[str, ...], ...] = (
    ("bm25",),
    ("dense",),
    ("retrieved",),
    ("bm25", "rerank"),
    ("dense", "filter"),
    ("bm25", "dense", "fusion"),
    ("bm25", "dense", "fusion", "rerank"),
)
PASSAGES = {
    "leave": "Full-time staff get 12 days of annual leave.",
    "sick": "A certificate is needed from 3 days of sickness.",
    "carry": "Up to 5 days move to the next year.",
    "pay": "Salaries are paid on the last working day.",
    "office": "The office opens at eight in the morning.",
    "travel": "Trips are booked two weeks ahead.",
    "lunch": "Lunch is served from noon.",
    "old": "Staff get 20 days of annual leave.",
}
QUESTIONS = ("How many days of annual leave do full-time staff get?", "Combien de jours de congés ?", "certificate")


@st.composite
def lists_of_stages(draw: st.DrawFn) -> tuple[Stage, ...]:
    """The lists of a pipeline, each any selection of passages in any order, with or without texts.

    The context is the beginning of the last list, or any selection as well.
    """
    has_texts, context = draw(st.booleans()), draw(st.sampled_from(("first", "any", "none")))
    passages = st.lists(st.sampled_from(list(PASSAGES)), unique=True, min_size=2)
    ranked = {name: draw(passages) for name in draw(st.sampled_from(SEARCHES))}
    if context != "none":
        last = list(ranked.values())[-1]
        ranked["context"] = last[: draw(st.integers(1, 4))] if context == "first" else draw(passages)
    return tuple(
        Stage(name, tuple(Chunk(chunk_id, text=PASSAGES[chunk_id] if has_texts else None) for chunk_id in chunk_ids))
        for name, chunk_ids in ranked.items()
    )


class LostCase(NamedTuple):
    """The attribution of a case with one unit of evidence, the ranks of that in each stage, and how many were shown."""

    found: Attribution
    ranks: dict[str, int | None]
    lost_at: str | None
    shown: int | None
    has_corpus: bool

    @property
    def said(self) -> str:
        """Everything that the finding says in words."""
        return "; ".join((self.found.sign, self.found.fix, *self.found.evidence, *self.found.record))


@st.composite
def lost_cases(draw: st.DrawFn) -> LostCase:
    """One case in a run of some others: the question, the lists, the answer and what is recorded of them vary."""
    question, named = draw(st.sampled_from(QUESTIONS)), draw(st.sampled_from(("leave", "leave", "carry", "typo")))
    case = Case("q", question, must_have=("12 days",), evidence=(Evidence(({"chunk_id": named},)),))
    observed = Observation(
        "q",
        "c",
        stages=draw(lists_of_stages()),
        answer=draw(st.sampled_from(("Staff get 12 days.", "Staff get 20 days.", "I could not find that."))),
        citations=draw(st.sampled_from(((), ("leave",), ("old",)))),
        query_rewrite=draw(st.sampled_from((None, question, "leave"))),
    )
    has_corpus = draw(st.booleans())
    corpus = Corpus({name: CorpusChunk(name, text=text) for name, text in PASSAGES.items()}) if has_corpus else None
    view = IndexView(corpus or Corpus({}))
    view.add_observation(observed)
    for number, others in enumerate(draw(st.lists(lists_of_stages(), max_size=12))):
        asked = draw(st.sampled_from(QUESTIONS))
        view.add_observation(Observation(f"other {number}", "c", stages=others, question=asked))
    settings = AttributionSettings(production_k=draw(st.sampled_from((None, 3))))
    joined = GoldenIndex(make_golden_set(case, kind="complete"), corpus).case_index(0)
    attribution = attribute_case(joined, observed, {}, settings, view)
    (trace,) = attribution.traces
    shown = next((len(stage.chunks) for stage in observed.stages or () if stage.name == "context"), None)
    return LostCase(attribution, trace.ranks, trace.lost_at, shown, has_corpus)


@try_examples(200)
@given(lost_cases())
def test_a_step_is_a_cause_only_where_the_stages_show_it(case: LostCase) -> None:
    found, names = case.found, case.ranks.keys()
    if "dense" not in names:
        assert "embedding" != found.cause
        assert "vector search" not in found.sign and "embedding" not in found.fix
    if names <= {"bm25", "rerank", "context"}:
        assert "embedding" not in found.also
    if names <= {"dense", "filter", "context"}:
        assert "bm25_analyzer" != found.cause or "query_rewriting" == found.subcause
    if names.isdisjoint(("rerank", "retrieved")):
        assert "reranker" not in found.named_causes


@try_examples(200)
@given(lost_cases())
def test_what_a_list_has_near_the_top_is_not_said_to_be_missed_there(case: LostCase) -> None:
    found, rank = case.found, case.ranks.get(case.found.stage or "")
    if rank is not None:
        assert f"is absent in {found.stage}" not in case.said
        assert not found.sign.startswith("nothing shows that")
    ranked = any(rank is not None for rank in case.ranks.values())
    if ranked:
        assert "shows whether it is indexed" not in case.said and "bring up" not in case.said
    is_misled = found.subcause == "query_rewriting" or "by the words it shares" in case.said
    if found.cause in ("bm25_analyzer", "embedding") and rank is not None and not is_misled:
        has_context_alone = case.ranks.keys() <= {found.stage, "context"}
        assert rank > (NEAR if case.shown is not None and has_context_alone else 0)


@try_examples(200)
@given(lost_cases())
def test_the_stage_of_a_cause_is_where_the_evidence_is_lost_or_where_it_ranks_too_low(case: LostCase) -> None:
    attribution = case.found
    if attribution.cause is None or attribution.stage not in case.ranks or attribution.reached is not False:
        return
    assert attribution.stage == case.lost_at  # verdict and table say the same
    rank = case.ranks[attribution.stage]
    if rank is not None:
        assert f"rank {rank} in {attribution.stage}" in case.said or f"to rank {rank}" in case.said


@try_examples(200)
@given(lost_cases())
def test_nothing_is_asked_for_that_is_recorded(case: LostCase) -> None:
    assert not case.has_corpus or not any(field.startswith("the corpus") for field in case.found.record)
    assert "no trace of the run" not in case.said


def test_every_cause_has_a_sign_and_a_fix() -> None:
    assert set(ROOT_CAUSES) == set(CAUSE_NOTES)
    assert all(note.sign and note.fix for note in CAUSE_NOTES.values())
