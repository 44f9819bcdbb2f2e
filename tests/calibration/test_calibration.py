"""Calibration against hand-worked human labels: majorities, rates, bias, refusals, and when a scorer may gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.calibration.human_labels import ScorerLabel, majority_labels
from assay.calibration.judge_bias import LENIENT, STRICT, compare_scorers
from assay.calibration.rater_agreement import ItemKey, compute_agreement, compute_alpha
from assay.calibration.scorer_quality import CalibrationQuestion, ScorerMeasurement, measure_scorer
from assay.records.verdicts import Label
from assay.stats.intervals import wilson_interval

SCALE = {"correct": 1.0, "partly_correct": 0.5, "incorrect": 0.0}
SUPPORT = {"supported": 1.0, "contradicted": 0.0, "not_found": 0.0, "unclear": None}


def question(by: str = "judge", **changes: Any) -> CalibrationQuestion:
    return CalibrationQuestion(
        "correctness", f"correctness(by={by})", by, "sha256:j", "sha256:r", SCALE, "g", "l"
    )._replace(**changes)


def label(case: int | str, said: str | None, rater: str = "Lan", **changes: Any) -> Label:
    return Label(f"c{case:03}" if isinstance(case, int) else case, "correctness", rater, said, config_id="a", **changes)


def key(case: int, config: str = "a", item: str = "") -> ItemKey:
    return f"c{case:03}", config, item


def run(
    people: Mapping[int, str], judge: Mapping[int, str], by: str = "judge", lengths: Mapping[int, int] | None = None
) -> ScorerMeasurement:
    sizes = {key(case)[:2]: length for case, length in (lengths or {}).items()}
    opinions = {key(case): ScorerLabel(said, reasoning=f"because {case}") for case, said in judge.items()}
    quality = measure_scorer(question(by), [label(case, said) for case, said in people.items()], opinions, sizes, {})
    assert quality is not None
    return quality


def sets(passed: int, failed: int, missed: int = 0, waved: int = 0) -> tuple[dict[int, str], dict[int, str]]:
    """Labels with so many passed and failed items, of which the judge failed `missed` and passed `waved`."""
    people = {case: "correct" if case < passed else "incorrect" for case in range(passed + failed)}
    judge = dict(people)
    judge |= dict.fromkeys(range(missed), "incorrect")
    judge |= dict.fromkeys(range(passed, passed + waved), "correct")
    return people, judge


def test_sensitivity_and_specificity_are_what_the_judge_made_of_what_people_passed_and_failed() -> None:
    calibration = run(*sets(60, 50, missed=3, waved=5)).calibration
    assert calibration.sensitivity is not None and calibration.specificity is not None
    assert (57 / 60, 60) == (calibration.sensitivity.value, calibration.sensitivity.n)
    assert (45 / 50, 50) == (calibration.specificity.value, calibration.specificity.n)
    assert wilson_interval(57, 60).low == calibration.sensitivity.low


def test_a_judge_with_enough_labels_and_good_bounds_may_gate() -> None:
    calibration = run(*sets(60, 50, missed=3, waved=5)).calibration
    assert (True, ()) == (calibration.may_gate, calibration.reasons)
    assert calibration.applies_to("sha256:j", "sha256:r")
    assert not calibration.applies_to("sha256:other", "sha256:r")
    assert not calibration.applies_to("sha256:j", "sha256:other")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("passed", "failed", "missed", "waved", "why"),
    [
        (50, 49, 0, 0, "too few labelled items (got 99; expected 100)"),
        (60, 50, 20, 0, "the lower bound of sensitivity is too low"),
        (60, 50, 0, 15, "the lower bound of specificity is too low"),
        (120, 0, 0, 0, "specificity is unknown: people failed none of the items"),
        (0, 120, 0, 0, "sensitivity is unknown: people passed none of the items"),
    ],
)
def test_a_judge_that_may_not_gate_says_why(passed: int, failed: int, missed: int, waved: int, why: str) -> None:
    calibration = run(*sets(passed, failed, missed, waved)).calibration
    assert not calibration.may_gate
    assert why in "; ".join(calibration.reasons)


def test_fifty_labels_are_enough_for_the_rules_with_a_curve_and_not_without() -> None:
    people, rules = sets(30, 25)
    opinions = {key(case): ScorerLabel(said, signal=1.0) for case, said in rules.items()}
    labels = [label(case, said) for case, said in people.items()]
    curve = {"slope": 1.0, "intercept": 0.0}
    with_curve = measure_scorer(question("rules"), labels, opinions, {}, {}, curve)
    without = measure_scorer(question("rules"), labels, opinions, {}, {})
    assert with_curve is not None and without is not None
    assert (True, curve) == (with_curve.calibration.may_gate, with_curve.calibration.platt)
    assert ("no curve could be fitted to the labels",) == without.calibration.reasons


def test_another_tool_is_a_second_opinion_and_never_gates() -> None:
    calibration = run(*sets(60, 60), by="ragas").calibration
    assert not calibration.may_gate
    assert "external score" in calibration.reasons[0]


def test_most_raters_decide_and_an_even_split_is_left_out_and_counted() -> None:
    labels = [label(1, "correct", "A"), label(1, "correct", "B"), label(1, "incorrect", "C"),
              label(2, "correct", "A"), label(2, "incorrect", "B"), label(3, "partly_correct", "A")]  # fmt: skip
    found, undecided = majority_labels(labels, SCALE)
    assert 1 == undecided
    assert {key(1): (1.0, "correct", True), key(3): (0.5, "partly_correct", False)} == {
        each: (truth.value, truth.label, truth.passed) for each, truth in found.items()
    }


def test_labels_without_a_number_have_no_say() -> None:
    found, undecided = majority_labels([label(1, "unclear", "A"), label(1, "supported", "B")], SUPPORT)
    assert (0, 1.0) == (undecided, found[key(1)].value)
    assert ({}, 0) == majority_labels([label(1, "unclear")], SUPPORT)


def test_95_percent_of_agreement_can_be_no_agreement() -> None:
    """The judge passes everything, people pass 95 of 100: kappa 0, AC1 high, and the note says which to read."""
    measurement = run(*sets(95, 5, waved=5))
    assert measurement.pass_fail.raw == 0.95
    assert measurement.pass_fail.kappa is not None and measurement.pass_fail.kappa.value == pytest.approx(0.0)
    assert measurement.pass_fail.balanced_accuracy is not None and measurement.pass_fail.balanced_accuracy.value == 0.5
    assert {"fail": 0.05, "pass": 0.95} == measurement.pass_fail.prevalence
    assert any("almost all labels are the same" in note for note in measurement.notes)


def test_the_confusion_has_the_labels_of_people_in_its_rows() -> None:
    measurement = run({0: "correct", 1: "correct", 2: "incorrect"}, {0: "correct", 1: "partly_correct", 2: "correct"})
    assert measurement.by_label is not None
    assert ("incorrect", "partly_correct", "correct") == measurement.by_label.labels
    assert ((0, 0, 1), (0, 0, 0), (0, 1, 1)) == measurement.by_label.confusion
    assert measurement.by_label.weighted is not None


def test_the_direction_of_the_errors_is_named_only_where_it_shows() -> None:
    assert LENIENT == run(*sets(40, 40, waved=15)).bias.direction
    assert STRICT == run(*sets(40, 40, missed=15)).bias.direction
    assert "no significant direction" == run(*sets(40, 40, missed=3, waved=3)).bias.direction
    bias = run(*sets(40, 40, missed=2, waved=10)).bias
    assert (10, 2, 0.5, 0.6) == (bias.too_lenient, bias.too_strict, bias.people, bias.scorer)
    assert bias.leniency.value == pytest.approx(0.1)
    recorded = run(*sets(40, 40, missed=2, waved=10)).calibration.leniency
    assert recorded is not None and (recorded.value, recorded.low) == (bias.leniency.value, bias.leniency.low)


@pytest.mark.slow
def test_a_judge_that_likes_long_answers_shows_a_length_bias() -> None:
    people = dict.fromkeys(range(40), "incorrect")
    judge = {case: "correct" if case >= 20 else "incorrect" for case in range(40)}
    biased = run(people, judge, lengths={case: 10 * case for case in range(40)}).bias.length
    fair = run(people, judge, lengths={case: 7 * case % 11 for case in range(40)}).bias.length
    assert biased is not None and fair is not None
    assert biased.low is not None and biased.low > 0.5
    assert abs(fair.value) < 0.3
    assert run(people, judge, lengths=dict.fromkeys(range(40), 5)).bias.length is None


def test_the_worst_disagreements_come_first_with_both_reasons() -> None:
    labels = [label(0, "correct", note="it says 12 days"), label(1, "partly_correct"), label(2, "correct")]
    opinions = {
        key(0): ScorerLabel("incorrect", reasoning="the number differs"),
        key(1): ScorerLabel("correct"),
        key(2): ScorerLabel("correct"),
    }
    quality = measure_scorer(question(), labels, opinions, {}, {})
    assert quality is not None
    assert ["c000", "c001"] == [each.case_id for each in quality.worst]
    assert (("Lan: it says 12 days",), "the number differs") == (
        quality.worst[0].people_reasons,
        quality.worst[0].scorer_reason,
    )


def test_repeated_votes_that_differ_are_flips() -> None:
    """Pairs that differ: 0 of 1, 2 of 3; one of two items is unsteady; a single vote says nothing."""
    opinions = {
        key(0): ScorerLabel("correct", votes=("correct", "correct")),
        key(1): ScorerLabel("correct", votes=("correct", "incorrect", "correct")),
        key(2): ScorerLabel("correct", votes=("correct",)),
    }
    quality = measure_scorer(question(), [label(0, "correct")], opinions, {}, {})
    assert quality is not None and quality.consistency is not None
    assert (2, 5, 0.5) == (quality.consistency.items, quality.consistency.votes, quality.consistency.unsteady)
    assert quality.consistency.flips == pytest.approx(1 / 3)


def test_slices_have_their_own_figures() -> None:
    people, judge = sets(10, 10, waved=4)
    labels = [label(case, said) for case, said in people.items()]
    opinions = {key(case): ScorerLabel(said) for case, said in judge.items()}
    quality = measure_scorer(question(), labels, opinions, {}, {"tag=hr": {"c010", "c011", "c015"}, "tag=none": {"x"}})
    assert quality is not None
    assert ["tag=hr"] == list(quality.slices)
    figures = quality.slices["tag=hr"]
    assert 3 == figures.n
    assert (figures.agreement, figures.leniency) == pytest.approx((1 / 3, 2 / 3))


def test_the_share_that_passes_is_corrected_by_how_the_judge_errs() -> None:
    """Of 110 labelled and 200 more the judge passes (57 + 5 + 150)/310; q1 = .95, q0 = .9: Rogan-Gladen."""
    people, judge = sets(60, 50, missed=3, waved=5)
    judge |= {case: "correct" if case < 350 else "incorrect" for case in range(200, 400)}
    pass_rate = run(people, judge).corrected["a"]
    rate = (57 + 5 + 150) / 310
    assert (310, pass_rate.judged.value) == (pass_rate.n, rate)
    assert pass_rate.rogan_gladen is not None and pass_rate.ppi is not None
    assert pass_rate.rogan_gladen.value == pytest.approx((rate + 0.9 - 1) / (0.9 + 0.95 - 1))
    assert ("PPI++", ()) == (pass_rate.recommended, pass_rate.problems)


def test_what_cannot_be_corrected_says_why() -> None:
    pass_rate = run(*sets(15, 5)).corrected["a"]
    assert (None, None, "none") == (pass_rate.rogan_gladen, pass_rate.ppi, pass_rate.recommended)
    assert "Rogan-Gladen: too few labels of a class (got 15 passed, 5 failed" in pass_rate.problems[0]
    assert "PPI++: too few labels (got 20" in pass_rate.problems[1]


def test_configurations_are_corrected_apart() -> None:
    people, judge = sets(30, 30)
    labels = [label(case, said) for case, said in people.items()]
    opinions = {key(case): ScorerLabel(said) for case, said in judge.items()}
    opinions |= {key(case, "b"): ScorerLabel("correct") for case in range(60)}
    quality = measure_scorer(question(), labels, opinions, {}, {})
    assert quality is not None
    assert {"a": 0.5, "b": 1.0} == {config: each.judged.value for config, each in quality.corrected.items()}


def test_nothing_in_common_is_no_calibration() -> None:
    assert measure_scorer(question(), [label(1, "correct")], {key(2): ScorerLabel("correct")}, {}, {}) is None
    assert measure_scorer(question(), [label(1, "correct")], {key(1): ScorerLabel(unscored="quote")}, {}, {}) is None


def test_unjudged_items_are_counted_not_imputed() -> None:
    opinions = {key(0): ScorerLabel("correct"), key(1): ScorerLabel(unscored="quote")}
    quality = measure_scorer(question(), [label(case, "correct") for case in range(3)], opinions, {}, {})
    assert quality is not None
    assert (3, 2, 1) == (quality.labelled, quality.unjudged, quality.calibration.n)


def test_numbers_of_another_tool_are_compared_as_pass_and_fail() -> None:
    opinions = {key(case): ScorerLabel(value=0.9 if case < 5 else 0.2) for case in range(10)}
    labels = [label(case, "correct" if case < 6 else "incorrect") for case in range(10)]
    quality = measure_scorer(question("ragas"), labels, opinions, {}, {})
    assert quality is not None
    assert quality.by_label is None
    assert (0.9, 1) == (quality.pass_fail.raw, quality.bias.too_strict)


def test_two_rubrics_are_compared_on_the_same_labels() -> None:
    truth = {key(case): True for case in range(40)}
    first = {key(case): float(case < 20) for case in range(40)}
    second = {key(case): float(case < 32) for case in range(40)}
    found = compare_scorers(("v1", "v2"), truth, first, second)
    assert found is not None
    assert (40, 0.5, 0.8, 0.7) == (found.n, found.first_right, found.second_right, found.same)
    assert found.gain.value == pytest.approx(0.3)
    assert found.gain.low is not None and found.gain.low > 0
    assert compare_scorers(("v1", "v2"), truth, first, {}) is None


def test_raters_are_compared_with_each_other_and_all_together() -> None:
    labels = [label(case, "correct" if case % 2 else "incorrect", "Lan") for case in range(20)]
    labels += [label(case, "correct" if case % 2 or case == 0 else "incorrect", "Minh") for case in range(20)]
    quality = measure_scorer(question(), labels, {key(case): ScorerLabel("correct") for case in range(20)}, {}, {})
    assert quality is not None
    (pair,) = quality.raters
    assert ("Lan", "Minh", 20, 0.95) == (pair.first, pair.second, pair.n, pair.raw)
    assert quality.alpha is not None and 0.85 < quality.alpha.value < 0.95
    assert 1 == quality.undecided


verdicts = st.lists(st.tuples(st.sampled_from(sorted(SCALE)), st.sampled_from(sorted(SCALE))), min_size=1, max_size=12)


@pytest.mark.slow
@settings(max_examples=5)
@given(verdicts, st.randoms())
def test_the_order_of_labels_and_verdicts_changes_nothing(pairs: list[tuple[str, str]], random: Any) -> None:
    labels = [label(case, said) for case, (said, _) in enumerate(pairs)]
    opinions = {key(case): ScorerLabel(said) for case, (_, said) in enumerate(pairs)}
    shuffled = list(opinions.items())
    random.shuffle(shuffled)
    turned = random.sample(labels, len(labels))
    assert measure_scorer(question(), labels, opinions, {}, {}) == measure_scorer(
        question(), turned, dict(shuffled), {}, {}
    )


@pytest.mark.slow
@settings(max_examples=5)
@given(verdicts)
def test_every_figure_is_finite_and_in_its_range(pairs: list[tuple[str, str]]) -> None:
    first = {key(case): said for case, (said, _) in enumerate(pairs)}
    second = {key(case): said for case, (_, said) in enumerate(pairs)}
    agreement = compute_agreement(("a", "b"), first, second, SCALE)
    assert agreement is not None
    assert 0 <= agreement.raw <= 1
    assert agreement.raw == sum(one == other for one, other in pairs) / len(pairs)
    for each in (agreement.kappa, agreement.ac1, agreement.weighted, compute_alpha({"a": first, "b": second}, SCALE)):
        assert each is None or -1 <= each.value <= 1
        assert each is None or each.low is None or each.high is None or each.low <= each.high


def test_raters_who_agree_everywhere_are_not_certain_to() -> None:
    """4 passed and 17 failed cases: the Wilson scores allow .490 and .184 of them to differ."""
    labels = {(f"c{case}", "x", ""): "pass" if case < 4 else "fail" for case in range(21)}
    agreement = compute_agreement(("people", "scorer"), labels, labels, {"fail": 0.0, "pass": 1.0})
    assert agreement is not None and agreement.balanced_accuracy is not None and agreement.kappa is not None
    assert (1.0, 1.0) == (agreement.balanced_accuracy.value, agreement.balanced_accuracy.high)
    assert pytest.approx((0.510 + 0.816) / 2, abs=1e-3) == agreement.balanced_accuracy.low
    # Of 21 items 13.87 + 2.04 stay equal, po = .758, and pe = (17·15.83 + 4·5.17)/21² = .657: (po − pe)/(1 − pe).
    assert pytest.approx(0.293, abs=5e-3) == agreement.kappa.low
    assert "no two labels differ" in agreement.kappa.note
