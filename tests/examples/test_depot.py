"""The second application of the attribution benchmark: what it is good for as a measure."""

from __future__ import annotations

import pytest
from benchmarks.attribution_levels import LEVELS, Level, reduce_trace
from benchmarks.attribution_twins import find_open_twins, find_text_twins, replace_texts
from benchmarks.depot.faults import FAULTS, is_untouched
from benchmarks.depot.labels import LABEL_FAULTS
from benchmarks.depot.later_faults import LATER_FAULTS
from benchmarks.depot.pipeline import Depot, Parts
from benchmarks.depot.second_later_faults import SECOND_LATER_FAULTS
from benchmarks.depot.sixth_faults import SIXTH_LATER_FAULTS
from benchmarks.depot.world import DepotWorld, iter_answers, observe
from msgspec.structs import replace

from assay.records.findings import ROOT_CAUSES
from assay.records.observations import Chunk, Observation, Stage, find_stage


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


@pytest.mark.slow
def test_later_faults_spoil_answers() -> None:
    for fault in (LATER_FAULTS | SECOND_LATER_FAULTS | SIXTH_LATER_FAULTS).values():
        answers = iter_answers(Depot(fault.damage(Parts())))
        assert not all(is_good for _, is_good in answers), fault.description


@pytest.fixture(scope="module")
def depot() -> DepotWorld:
    return DepotWorld()


@pytest.mark.slow
@pytest.mark.parametrize("level", ["stages", "minimal"])
def test_without_roles_a_leak_has_the_trace_of_a_sound_system_with_open_documents(
    depot: DepotWorld, level: Level
) -> None:
    observations, good = observe(Depot(FAULTS["acl:open"].damage(Parts())))
    spoiled = {case_id for case_id in depot.good if not good[case_id]}
    assert spoiled
    assert spoiled <= find_open_twins(observations, depot.open_runs, level)
    changed = [replace(observation, answer="another answer") for observation in observations]
    assert find_open_twins(changed, depot.open_runs, level) == frozenset()


@pytest.mark.slow
def test_ids_alone_cannot_tell_a_wrong_index_from_a_wrong_generator(depot: DepotWorld) -> None:
    observations, good = observe(Depot(FAULTS["generator:neighbour"].damage(Parts())))
    twins = find_text_twins(depot.golden, depot.corpus, observations, "stages")
    assert {case_id for case_id in depot.good if not good[case_id]} & twins
    for level in ("everything", "minimal"):
        assert find_text_twins(depot.golden, depot.corpus, observations, level) == frozenset()


def test_in_a_text_twin_the_generator_says_what_its_context_says() -> None:
    stages = (Stage("bm25", (Chunk("a", 2.0, text="A"),)), Stage("context", (Chunk("a", text="A"),)))
    observation = Observation("case", stages=stages, answer="something else")
    twin = replace_texts(observation, {"a": "something else"})
    context = find_stage(twin, "context")
    assert context is not None
    assert [chunk.text for chunk in context.chunks] == [twin.answer]
    assert reduce_trace(twin, "stages") == reduce_trace(observation, "stages")
    assert reduce_trace(twin, "minimal") != reduce_trace(observation, "minimal")
