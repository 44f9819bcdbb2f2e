"""The third application of the attribution benchmark: what it is good for as a measure."""

from __future__ import annotations

from benchmarks.lending.faults import FAULTS, LABEL_FAULTS
from benchmarks.lending.pipeline import Desk, Steps
from benchmarks.lending.questions import build_golden
from benchmarks.lending.world import observe

from assay.records.findings import ROOT_CAUSES


def test_the_sound_help_desk_answers_every_question_well() -> None:
    _, good = observe(Desk())
    assert [case_id for case_id, is_good in good.items() if not is_good] == []


def test_each_fault_of_the_help_desk_spoils_answers() -> None:
    for name, fault in FAULTS.items():
        _, good = observe(Desk(fault.damage(Steps())))
        assert not all(good.values()), name
    for name, label_fault in LABEL_FAULTS.items():
        assert any(case != label_fault.damage(case) for case in build_golden().cases), name


def test_causes_of_the_help_desk_are_root_causes_and_a_third_has_two_or_none() -> None:
    assert set().union(*(fault.causes for fault in FAULTS.values())) <= set(ROOT_CAUSES)
    unsure = [name for name, fault in FAULTS.items() if len(fault.causes) > 1 or fault.at]
    no_cause = ["third:timeout", "third:locked-out"]
    assert 3 * len({*unsure, *no_cause}) >= len(FAULTS)


def test_a_search_that_times_out_and_rights_that_are_missing_leave_the_same_trace() -> None:
    timeout, _ = observe(Desk(FAULTS["third:timeout"].damage(Steps())))
    locked, spoiled = observe(Desk(FAULTS["third:locked-out"].damage(Steps())))
    lost = [case_id for case_id, is_good in spoiled.items() if not is_good]
    assert lost
    by_case = {observation.case_id: observation for observation in timeout}
    assert all(by_case[observation.case_id] == observation for observation in locked if observation.case_id in lost)
