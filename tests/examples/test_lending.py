"""The third application of the attribution benchmark: what it is good for as a measure."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.attribution import list_misses
from benchmarks.attribution_levels import FaultyRun
from benchmarks.attribution_twins import SpoiledRun, find_pair_twins, find_ranking_twins
from benchmarks.lending.faults import FAULTS, LABEL_FAULTS
from benchmarks.lending.fifth_faults import FIFTH_LATER_FAULTS, FIFTH_LATER_LABEL_FAULTS
from benchmarks.lending.later_faults import FOURTH_LATER_FAULTS, FOURTH_LATER_LABEL_FAULTS
from benchmarks.lending.pipeline import Desk, Steps
from benchmarks.lending.questions import build_golden
from benchmarks.lending.world import iter_answers, observe
from msgspec.structs import replace as replace_fields

from assay.records.findings import ROOT_CAUSES, Attribution
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage


def test_the_sound_help_desk_answers_every_question_well() -> None:
    _, good = observe(Desk())
    assert [case_id for case_id, is_good in good.items() if not is_good] == []


def test_each_fault_of_the_help_desk_spoils_answers() -> None:
    for name, fault in (FAULTS | FOURTH_LATER_FAULTS | FIFTH_LATER_FAULTS).items():
        answers = iter_answers(Desk(fault.damage(Steps())))
        assert not all(is_good for _, is_good in answers), name
    for name, label_fault in (LABEL_FAULTS | FOURTH_LATER_LABEL_FAULTS | FIFTH_LATER_LABEL_FAULTS).items():
        assert any(case != label_fault.damage(case) for case in build_golden().cases), name


def test_causes_of_the_help_desk_are_root_causes_and_a_third_has_two_or_none() -> None:
    faults = FAULTS | FOURTH_LATER_FAULTS | FIFTH_LATER_FAULTS
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


def test_a_word_that_does_not_keep_its_promise_misses_a_bar() -> None:
    wrong = Attribution("q", "retrieval_fault", "reranker", confidence="medium")
    missed = "lending: medium is right in 0.000, below 0.7"
    causes = LABEL_FAULTS["third:last-year"].causes
    run = FaultyRun("lending", "third:last-year", "everything", causes, "third later", (wrong,), ())
    assert missed in list(list_misses("lending", [run]))
    twin = replace(run, untellable=frozenset("q"))
    assert missed not in list(list_misses("lending", [twin])), "no word is right in both worlds"
    right = replace(run, affected=(replace_fields(wrong, cause="golden_label_issue"),))
    assert missed not in list(list_misses("lending", [right]))
