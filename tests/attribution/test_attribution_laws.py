"""Laws of attribution: whatever was observed, there is exactly one finding, the same each time, that adds up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.metrics.worlds import cases, corpora, make_golden_set, observations
from tests.support.examples import try_examples

from assay.attribution.cause_rules import CAUSE_NOTES
from assay.attribution.index_state import IndexView
from assay.attribution.root_causes import attribute_case
from assay.metrics.case_index import GoldenIndex
from assay.records.findings import FAULT_PARTIES, ROOT_CAUSES, Attribution
from assay.records.golden_set import Case, Corpus
from assay.records.observations import Observation
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
    result = found(case, corpus, seen, scores, told)
    assert result == found(case, corpus, seen, scores, told)
    assert result == found(case, corpus, replace(seen, config_id="x", versions={"parser": "y"}), scores, told)
    assert case.id == result.case_id
    assert result.verdict in FAULT_PARTIES and (result.cause is None or result.cause in ROOT_CAUSES)
    assert (result.cause is None) == (not result.fix) == (not result.sign)
    if result.verdict == "pass":
        assert result.good and result.reached is not False
        assert result.cause is None or result.subcause == "text_exchanged"  # a trace that contradicts itself
    if result.verdict == "masked_gap":
        assert result.good and result.reached is False
    if result.verdict in ("generation_fault", "retrieval_fault") and result.subtype not in ("citation",):
        assert result.good is False
    assert result.cause is None or result.evidence


def test_every_cause_has_a_sign_and_a_fix() -> None:
    assert set(ROOT_CAUSES) == set(CAUSE_NOTES)
    assert all(note.sign and note.fix for note in CAUSE_NOTES.values())
