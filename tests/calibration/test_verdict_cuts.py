"""Where probabilities become verdicts: cuts by the labels, unknown between them, and which scorers may gate."""

from __future__ import annotations

import pytest
from benchmarks.verdicts import GOOD, WEAK, simulate_calibration
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.verdict_cuts import (
    LEAST_DECIDED,
    ErrorCosts,
    choose_cuts,
    choose_held_out_cuts,
    measure_cuts,
    parse_costs,
)
from assay.gates.scorer_requirements import list_gating_obstacles
from assay.records.errors import InputError
from assay.records.verdicts import LabelledRate

ITEMS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


@given(ITEMS)
def test_cuts_are_in_order_and_reach_the_precision_on_their_labels(items: list[tuple[float, bool]]) -> None:
    probabilities, labels = [value for value, _ in items], [label for _, label in items]
    cuts = choose_cuts(probabilities, labels)
    for verdict, cut in ((True, cuts.accept), (False, cuts.reject)):
        if cut is None:
            continue
        assert cut >= cuts.middle if verdict else cut <= cuts.middle
        beyond = [label for value, label in items if (value >= cut if verdict else value <= cut)]
        unmoved = cut != cuts.middle
        assert not unmoved or len(beyond) >= LEAST_DECIDED
        assert not unmoved or sum(label is verdict for label in beyond) >= cuts.precision * len(beyond) - 1e-9


def test_the_middle_cut_is_the_base_rate_or_follows_from_the_costs() -> None:
    probabilities, labels = [i / 100 for i in range(100)], [i >= 17 for i in range(100)]
    assert 0.83 == choose_cuts(probabilities, labels).middle
    assert 0.75 == choose_cuts(probabilities, labels, costs=ErrorCosts(3, 1)).middle


def test_a_scorer_without_signal_decides_nothing_it_cannot_confirm() -> None:
    probabilities, labels = [0.5] * 40, [i % 2 == 0 for i in range(40)]
    cuts = choose_cuts(probabilities, labels)
    assert (None, None) == (cuts.accept, cuts.reject)
    assert 0 == measure_cuts(probabilities, labels, [cuts] * 40).decided


def test_held_out_cuts_of_an_item_do_not_depend_on_its_label() -> None:
    probabilities, labels = [i / 100 for i in range(100)], [i >= 40 for i in range(100)]
    cases = [f"c{i}" for i in range(100)]
    before = choose_held_out_cuts(probabilities, labels, cases)
    changed = [not label if i == 70 else label for i, label in enumerate(labels)]
    after = choose_held_out_cuts(probabilities, changed, cases)
    assert before[70] == after[70]
    assert before != after


@pytest.mark.slow
@pytest.mark.parametrize("base_rate", [0.5, 0.83])
def test_a_good_scorer_with_200_labels_may_gate_and_a_fixed_cut_would_have_been_worse(base_rate: float) -> None:
    runs = [simulate_calibration(GOOD, base_rate, seed) for seed in range(5)]
    assert sum(run.record.may_gate for run in runs) >= 4
    for run in runs:
        assert run.record.decided is not None
        assert run.record.decided >= 0.5 or run.record.reasons
        assert run.at_middle >= run.at_half - 0.03
    assert base_rate == 0.5 or all(run.at_middle > run.at_half for run in runs)


@pytest.mark.slow
def test_a_weak_scorer_with_200_labels_may_not_gate_and_says_why() -> None:
    record = simulate_calibration(WEAK, 0.5, 1).record
    assert not record.may_gate
    assert any("too few items are decided" in reason for reason in record.reasons)


def test_a_wide_corrected_estimate_and_too_few_decided_items_are_obstacles() -> None:
    rate = LabelledRate(0.8, 0.6, 0.9, 60)
    wide = list_gating_obstacles("rules", 120, rate, rate, LabelledRate(0.7, 0.4, 0.9, 300), 0.4)
    assert 2 == len(wide)
    assert "the corrected estimate is too uncertain (got 0.400 to 0.900" in wide[0]
    assert "too few items are decided (got 0.40; expected 0.5)" == wide[1]
    assert [] == list_gating_obstacles("rules", 120, rate, rate, LabelledRate(0.7, 0.6, 0.8, 300), 0.6)


@pytest.mark.parametrize("text", ["5", "0:1", "5:-1", "a:b", "5:1:2", ""])
def test_costs_that_are_no_two_positive_numbers_are_an_error(text: str) -> None:
    with pytest.raises(InputError, match="such as 5:1"):
        parse_costs(text)
