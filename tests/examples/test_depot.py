"""The second application of the attribution benchmark: what it is good for as a measure."""

from __future__ import annotations

import pytest
from benchmarks.attribution_levels import LEVELS, reduce_trace
from benchmarks.depot.faults import FAULTS, is_untouched
from benchmarks.depot.labels import LABEL_FAULTS
from benchmarks.depot.pipeline import Depot, Parts
from benchmarks.depot.world import observe
from msgspec.structs import replace

from assay.records.findings import ROOT_CAUSES
from assay.records.observations import Chunk, Observation, Stage


@pytest.mark.slow
def test_the_sound_depot_answers_every_question_well() -> None:
    _, good = observe(Depot())
    assert [case_id for case_id, is_good in good.items() if not is_good] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["parser:digits", "filter:expired", "context:cut-texts", "citation:next", "acl:open"])
def test_a_fault_spoils_answers(name: str) -> None:
    _, good = observe(Depot(FAULTS[name].damage(Parts())))
    assert not all(good.values())


def test_a_third_of_the_faults_has_two_causes_or_none_and_half_is_untouched() -> None:
    several = [name for name, fault in FAULTS.items() if len(fault.causes) != 1 or len(fault.hidden) == len(LEVELS)]
    assert 3 * len(several) >= len(FAULTS)
    names = (*FAULTS, *LABEL_FAULTS)
    assert 0.4 < sum(map(is_untouched, names)) / len(names) < 0.6


def test_every_acceptable_cause_is_a_root_cause() -> None:
    assert set().union(*(fault.causes for fault in FAULTS.values())) <= set(ROOT_CAUSES)


def test_each_level_of_trace_keeps_less_than_the_one_before() -> None:
    stages = (Stage("bm25", (Chunk("a", 2.0, text="A"),)), Stage("context", (Chunk("a", text="A"),)))
    observation = Observation("case", query_rewrite="words", stages=stages, answer="A")
    assert reduce_trace(observation, "everything") == observation
    ids = reduce_trace(observation, "stages")
    assert ids == replace(
        observation, query_rewrite=None, stages=(Stage("bm25", (Chunk("a"),)), Stage("context", (Chunk("a"),)))
    )
    minimal = reduce_trace(observation, "minimal")
    assert minimal.stages == (Stage("retrieved", (Chunk("a", text="A"),)), Stage("context", (Chunk("a", text="A"),)))
