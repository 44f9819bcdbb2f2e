"""The third application of the attribution benchmark: what it is good for as a measure."""

from __future__ import annotations

from benchmarks.attribution_twins import SpoiledRun, find_pair_twins, find_ranking_twins
from benchmarks.lending.faults import FAULTS, LABEL_FAULTS
from benchmarks.lending.later_faults import FOURTH_LATER_FAULTS, FOURTH_LATER_LABEL_FAULTS
from benchmarks.lending.pipeline import Desk, Steps
from benchmarks.lending.questions import build_golden
from benchmarks.lending.world import iter_answers, observe

from assay.records.findings import ROOT_CAUSES
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage


def test_the_sound_help_desk_answers_every_question_well() -> None:
    _, good = observe(Desk())
    assert [case_id for case_id, is_good in good.items() if not is_good] == []


def test_each_fault_of_the_help_desk_spoils_answers() -> None:
    for name, fault in (FAULTS | FOURTH_LATER_FAULTS).items():
        answers = iter_answers(Desk(fault.damage(Steps())))
        assert not all(is_good for _, is_good in answers), name
    for name, label_fault in (LABEL_FAULTS | FOURTH_LATER_LABEL_FAULTS).items():
        assert any(case != label_fault.damage(case) for case in build_golden().cases), name


def test_causes_of_the_help_desk_are_root_causes_and_a_third_has_two_or_none() -> None:
    faults = FAULTS | FOURTH_LATER_FAULTS
    assert set().union(*(fault.causes for fault in faults.values())) <= set(ROOT_CAUSES)
    unsure = [name for name, fault in faults.items() if len(fault.causes) > 1 or fault.at]
    no_cause = ["third:timeout", "third:locked-out"]
    assert 3 * len({*unsure, *no_cause}) >= len(faults)


def test_a_search_that_times_out_and_rights_that_are_missing_leave_the_same_trace() -> None:
    timeout, _ = observe(Desk(FAULTS["third:timeout"].damage(Steps())))
    locked, spoiled = observe(Desk(FAULTS["third:locked-out"].damage(Steps())))
    lost = [case_id for case_id, is_good in spoiled.items() if not is_good]
    assert lost
    by_case = {observation.case_id: observation for observation in timeout}
    assert all(by_case[observation.case_id] == observation for observation in locked if observation.case_id in lost)


def test_two_faults_with_one_trace_are_a_pair() -> None:
    timeout, _ = observe(Desk(FAULTS["third:timeout"].damage(Steps())))
    locked, good = observe(Desk(FAULTS["third:locked-out"].damage(Steps())))
    spoiled = frozenset(case_id for case_id, is_good in good.items() if not is_good)
    runs = {
        "timeout": SpoiledRun(timeout, spoiled, FAULTS["third:timeout"].causes),
        "locked": SpoiledRun(locked, spoiled, FAULTS["third:locked-out"].causes),
    }
    assert {"timeout": spoiled, "locked": spoiled} == find_pair_twins(runs, "everything")
    same_half = runs | {"locked": SpoiledRun(locked, spoiled, frozenset(("reranker",)))}
    assert not any(find_pair_twins(same_half, "everything").values())


def test_a_level_with_all_lists_has_no_twin_of_rankings() -> None:
    golden = GoldenSet((Case("q", "?", evidence=(Evidence(({"chunk_id": "a"},)),)),))
    stages = (Stage("bm25", (Chunk("a"), Chunk("b"))), Stage("rerank", (Chunk("b"),)), Stage("context", (Chunk("b"),)))
    lost = [Observation("q", stages=stages, answer="?")]
    assert {"q"} == find_ranking_twins(golden, lost, "minimal")
    for level in ("everything", "stages+corpus", "stages"):
        assert frozenset() == find_ranking_twins(golden, lost, level)
    shown = [Observation("q", stages=(*stages[:1], Stage("rerank", (Chunk("a"),))), answer="?")]
    assert frozenset() == find_ranking_twins(golden, shown, "minimal")
