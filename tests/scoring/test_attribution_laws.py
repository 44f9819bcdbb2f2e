"""Laws of attribution: whatever was observed, there is exactly one finding, the same each time, that adds up."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.laws.worlds import cases, corpora, golden_of, observations

from assay.finding import CAUSES, FAULTS, Attribution
from assay.graders.base import Joins
from assay.model import Case, Corpus, Observation
from assay.scoring.attribution import AttributionSettings, attribute
from assay.scoring.causes import NOTES
from assay.scoring.indexed import IndexView

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
    view.add(seen)
    return attribute(Joins(golden_of(case, kind="complete"), corpus).case(0), seen, scores, told, view)


@settings(max_examples=150, deadline=None)
@given(cases(), corpora, observations(), SCORES, SETTINGS)
def test_every_observation_has_one_finding_that_adds_up(
    case: Case, corpus: Corpus | None, seen: Observation, scores: Any, told: AttributionSettings
) -> None:
    result = found(case, corpus, seen, scores, told)
    assert result == found(case, corpus, seen, scores, told)
    assert result == found(case, corpus, replace(seen, config_id="x", versions={"parser": "y"}), scores, told)
    assert case.id == result.case_id
    assert result.verdict in FAULTS and (result.cause is None or result.cause in CAUSES)
    assert (result.cause is None) == (not result.fix) == (not result.sign)
    if result.verdict == "pass":
        assert result.good and result.reached is not False and result.cause is None
    if result.verdict == "masked_gap":
        assert result.good and result.reached is False
    if result.verdict in ("generation_fault", "retrieval_fault") and result.subtype not in ("citation",):
        assert result.good is False
    assert result.cause is None or result.evidence


def test_every_cause_has_a_sign_and_a_fix() -> None:
    assert set(CAUSES) == set(NOTES)
    assert all(note.sign and note.fix for note in NOTES.values())
