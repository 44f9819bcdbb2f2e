"""Answers that rest on sources out of their user's reach, on unknown ones, or on none."""

from __future__ import annotations

import pytest

import assay
from assay.metrics.answers.hallucination_risk import score_hallucination_risk
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.leaks.find_leaks import ACCESS_UNKNOWN
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, User
from assay.records.observations import Chunk, Observation, Sentence, Stage
from assay.records.scores import NOT_APPLICABLE, SCORED

OPEN, SECRET = "Lunch is served from noon until two.", "The purser earns 73,900 euros a year."
CORPUS = Corpus(
    {
        "lunch": CorpusChunk("lunch", text=OPEN),
        "pay:1": CorpusChunk("pay:1", text=SECRET, tenant="a"),
    }
)
CASE = Case("q", "When is lunch?", user=User(tenant="b"))


def _observe(answer: str = OPEN, **changes: object) -> Observation:
    shown = (Chunk("lunch", text=OPEN), Chunk("pay:1", text=SECRET), Chunk("new-7", text="Dinner is at six."))
    return Observation("q", "c", stages=(Stage("context", shown),), answer=answer, **changes)  # type: ignore[arg-type]


def _score_risk(observation: Observation, case: Case = CASE) -> tuple[int, float, str]:
    reading = ParsedAnswer(GoldenIndex(GoldenSet((case,)), CORPUS).case_index(0), observation)
    return score_hallucination_risk(reading)[:3]


def _score(observation: Observation, metric: str) -> float | str:
    """Return the score of one observation, the reason where there is none."""
    column = assay.score(GoldenSet((CASE,)), [observation], metrics=(metric,), corpus=CORPUS).table("c").columns[metric]
    return float(column.values[0]) if column.status[0] == SCORED else column.reasons[column.reason[0]]


@pytest.mark.parametrize(
    ("citations", "reachable"),
    [
        (("lunch",), 1.0),
        (("lunch", "pay:1"), 0.5),
        (("lunch", "new-7"), ACCESS_UNKNOWN),
        (("lunch", "new-7", "pay:1"), 1 / 3),
        (("lunch", "ghost"), 0.5),
    ],
)
def test_citation_that_the_corpus_does_not_know_is_never_reachable(
    citations: tuple[str, ...], reachable: float | str
) -> None:
    assert pytest.approx(reachable) == _score(_observe(citations=citations), "citation_reachable")


def test_leaks_in_citations_are_unknown_where_the_corpus_does_not_have_a_cited_chunk() -> None:
    assert ACCESS_UNKNOWN == _score(_observe(citations=("new-7",)), "visibility_leaks(in=citations)")


@pytest.mark.parametrize(
    "changes",
    [
        {"citations": ("pay:1",)},
        {"citations": ("pay",)},
        {"citations": (), "answer": f"{SECRET[:-1]} [pay:1]."},
        {"citations": (), "sentences": (Sentence(SECRET, ("pay:1",)),)},
    ],
)
def test_answer_that_rests_only_on_what_its_user_may_not_see_is_at_full_risk(changes: dict[str, object]) -> None:
    assert (SCORED, 1.0) == _score_risk(_observe(**{"answer": SECRET} | changes))[:2]  # type: ignore[arg-type]


def test_citation_of_restricted_text_under_another_id_is_out_of_reach() -> None:
    stages = (Stage("context", (Chunk("lunch", text=OPEN), Chunk("reindexed-0", text=SECRET))),)
    observation = Observation("q", "c", stages=stages, answer=SECRET, citations=("reindexed-0",))
    assert _score(observation, "citation_reachable") == 0
    assert (SCORED, 1.0) == _score_risk(observation)[:2]


def test_citation_out_of_reach_next_to_a_reachable_one_supports_nothing() -> None:
    status, value, _ = _score_risk(_observe(f"{OPEN[:-1]} [lunch]. {SECRET[:-1]} [pay:1].", citations=()))
    assert status == SCORED
    assert 0.5 <= value < 1


def test_risk_has_no_score_where_nobody_can_say_who_may_see_a_cited_chunk() -> None:
    assert (NOT_APPLICABLE, ACCESS_UNKNOWN) == _score_risk(_observe(citations=("lunch", "new-7")))[::2]


def test_claims_of_an_answer_that_cites_nothing_count_as_uncited() -> None:
    assert (SCORED, 1.0) == _score_risk(_observe(citations=()))[:2]
    assert (SCORED, 1.0) == _score_risk(_observe(), Case("q", "When?", must_cite=("lunch",)))[:2]
    assert _score_risk(_observe())[0] == NOT_APPLICABLE
