"""Comparing two sides: gains worked by hand, what may not be hidden, what may not be compared, the laws of swapping."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields
from tests.comparison.sides import E, N, Scores, side

from assay.comparison.paired_comparison import compare_snapshots
from assay.records.errors import InputError
from assay.records.findings import Comparison, MetricChange
from assay.records.golden_set import Case
from assay.records.release_gates import Gate, Rule
from assay.stats.paired_tests import compute_tango_interval

RECALL = "recall@10"


def changed(before: Scores, after: Scores, metric: str = RECALL, **both: Any) -> MetricChange:
    return compare_snapshots(side({metric: before}, "a", **both), side({metric: after}, "b", **both)).metrics[metric]


# ── one metric ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_pairs_of_zero_and_one_get_tangos_interval_and_mcnemars_p() -> None:
    """12 gained and 2 lost of 50: +.2; p = 2·(1 + 14 + 91)/2^14 = .0129. The only headline may err in 5%."""
    change = changed([1.0] * 36 + [0.0] * 12 + [1.0] * 2, [1.0] * 48 + [0.0] * 2)
    bounds = compute_tango_interval(12, 2, 50, 0.95)
    assert (bounds.low, bounds.high, 0.95) == (change.low, change.high, change.confidence)
    assert ("improved", "headline", 0.05) == (change.verdict, change.family, change.level)
    assert (0.76, 0.96, 50) == (change.baseline, change.candidate, change.n)
    assert change.gain == pytest.approx(0.2)
    assert change.p == pytest.approx(212 / 2**14)
    assert (12, 2, 36, 0) == tuple(map(len, (change.improved, change.regressed, change.unchanged, change.unpaired)))
    assert ("c48", "c49") == change.regressed


def test_a_gain_is_positive_when_better_whatever_the_direction() -> None:
    """Three leaks less, two less and one less: mean gain 2, sd 1, t(.975; 2)·1/√3 = 2.484."""
    change = changed([3.0, 2.0, 1.0], [0.0, 0.0, 0.0], "visibility_leaks")
    assert (2.0, 0.0, 2.0) == (change.baseline, change.candidate, change.gain)
    assert (change.low, change.high) == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-3)
    assert (("c0", "c1", "c2"), ()) == (change.improved, change.regressed)


def test_few_latencies_are_compared_by_their_median_which_an_outlier_does_not_move() -> None:
    """Nine of ten cases got 10 ms faster and one 5 s slower: p = 2·(1 + 10)/2^10 by the sign test."""
    change = changed([100.0] * 10, [90.0] * 9 + [5000.0], "latency_ms")
    assert (100.0, 90.0, 10.0, "median") == (change.baseline, change.candidate, change.gain, change.statistic)
    assert 22 / 2**10 == change.p
    assert (10.0, 10.0) == (change.low, change.high)
    assert "n < 300 is too few for a mean" in change.note


def test_many_latencies_are_compared_by_their_mean() -> None:
    before = [100.0 + row % 10 for row in range(300)]
    change = changed(before, [value - 5 for value in before], "latency_ms")
    assert (104.5, 99.5, 5.0, "") == (change.baseline, change.candidate, change.gain, change.statistic)


def test_a_metric_that_is_better_neither_way_has_no_gain_and_no_better_cases() -> None:
    change = changed([0.2, 0.4], [0.9, 0.4], "judged@10")
    assert (None, None, (), ()) == (change.gain, change.low, change.improved, change.regressed)
    assert "neither direction is better" == change.note
    assert change.candidate == pytest.approx(0.65)


def test_clusters_count_as_one_each() -> None:
    """Gains 3, 2, 1 of two each, over six cases of three clusters: CR1 as worked in tests/stats/test_paired.py.

    The quantile is t(.975; 2), because the only test of a comparison has the whole 5% to itself.
    """
    cases = [Case(f"c{row}", "?", cluster=f"k{row // 2}") for row in range(6)]
    change = changed([0.0] * 6, [1, 2, 1, 1, 0.5, 0.5], "visibility_leaks", cases=cases)
    assert (change.low, change.high) == pytest.approx((-1 - 4.302653 * 0.288675, -1 + 4.302653 * 0.288675), abs=1e-5)
    assert "CR1-t; sign flip, exact" == change.method
    assert "too few clusters (3)" == change.note


def test_cases_scored_on_one_side_only_are_listed_and_never_counted() -> None:
    change = changed([1.0, E, 0.5, N, N, E], [0.5, 1.0, E, 1.0, N, E])
    assert (1, ("c1", "c2", "c3")) == (change.n, change.unpaired)
    assert (1.0, 0.5) == (change.baseline, change.candidate)


def test_what_an_error_of_the_candidate_cost_is_said() -> None:
    """Three pairs equal at 1; the fourth was .5 and failed: counted as 0, the mean moves by −.5/4."""
    change = changed([1.0, 1.0, 1.0, 0.5], [1.0, 1.0, 1.0, E])
    assert 0.0 == change.gain
    assert (
        "failed on 1 case that the baseline scored (c3); counted as the worst value, the gain is -0.125" in change.note
    )


def test_an_error_of_an_unbounded_metric_is_said_without_a_number() -> None:
    assert changed([5.0, 6.0], [5.0, E], "tokens").note.endswith("that the baseline scored (c1)")


def test_a_percentile_has_a_gain_and_no_test() -> None:
    before, after = [float(n) for n in range(1, 21)], [float(n) for n in range(11, 31)]
    both: dict[str, Any] = {"metrics": ["latency_ms(stat=p95)"]}
    sides = side({"latency_ms": before}, "a", **both), side({"latency_ms": after}, "b", **both)
    change = compare_snapshots(*sides).metrics["latency_ms(stat=p95)"]
    assert (19.0, 29.0, -10.0, None, None) == (change.baseline, change.candidate, change.gain, change.low, change.p)
    assert "has no pairs" in change.note


def test_a_total_gains_what_its_cases_gain_together() -> None:
    metric = "cost_usd(stat=total)"
    both: dict[str, Any] = {"metrics": [metric]}
    before = [1.0, 2.0, 3.0] * 100
    sides = side({"cost_usd": before}, "a", **both), side({"cost_usd": [1.0] * 300}, "b", **both)
    change = compare_snapshots(*sides).metrics[metric]
    assert (600.0, 300.0, 300.0) == (change.baseline, change.candidate, change.gain)
    assert change.low is not None and change.high is not None
    assert (change.low + change.high) / 2 == pytest.approx(300.0)


def test_a_total_of_few_cases_is_not_tested() -> None:
    metric = "cost_usd(stat=total)"
    both: dict[str, Any] = {"metrics": [metric]}
    sides = side({"cost_usd": [1.0, 2.0, 3.0]}, "a", **both), side({"cost_usd": [1.0, 1.0, 1.0]}, "b", **both)
    change = compare_snapshots(*sides).metrics[metric]
    assert (3.0, None, None, "n/a") == (change.gain, change.low, change.p, change.verdict)
    assert "a few outliers decide a total" in change.note


def test_a_balanced_mean_has_a_gain_from_its_parts_and_no_test() -> None:
    """Refusing goes from 1 of 2 to 2 of 2, answering stays at 2 of 2: from .75 to 1."""
    parts: dict[str, Scores] = {"refused": [1.0, 0.0, N, N], "answered": [N, N, 1.0, 1.0]}
    before = side({**parts, "refusal_calibration": [1.0, 0.0, 1.0, 1.0]}, "a")
    after = side({**parts, "refused": [1.0, 1.0, N, N], "refusal_calibration": [1.0] * 4}, "b")
    change = compare_snapshots(before, after).metrics["refusal_calibration"]
    assert (0.75, 1.0, 0.25, None) == (change.baseline, change.candidate, change.gain, change.low)


def test_no_pair_at_all_says_so() -> None:
    change = changed([N, 1.0], [1.0, N])
    assert (None, 0, "no case was scored on both sides") == (change.gain, change.n, change.note)


def test_last_bits_of_means_of_repeats_move_nothing() -> None:
    change = changed([0.1 + 0.2, 1.0], [0.3, 1.0])
    assert ((), ("c0", "c1")) == (change.regressed, change.unchanged)


# ── slices and multiplicity ──────────────────────────────────────────────────────────────────────────────────────


def sliced(gate: Gate | None = None) -> Comparison:
    """Three slices: 12 cases that all gain, 12 that stay, 5 that all lose."""
    tags = ["up"] * 12 + ["same"] * 12 + ["few"] * 5
    cases = [Case(f"c{row}", "?", tags=(tag,)) for row, tag in enumerate(tags)]
    before, after = [0.0] * 12 + [1.0] * 17, [1.0] * 24 + [0.0] * 5
    return compare_snapshots(
        side({RECALL: before}, "a", cases=cases), side({RECALL: after}, "b", cases=cases), gate=gate
    )


def test_small_slices_are_described_and_not_tested() -> None:
    few = sliced().slices["tag=few"][RECALL]
    assert (-1.0, None, None, "descriptive only (n < 10)") == (few.gain, few.low, few.p, few.note)


def test_slices_are_adjusted_by_benjamini_hochberg_whatever_a_gate_looks_at() -> None:
    """p of `up` is 2/2^12 = .000488. `behaviour=answer` holds all cases: only the gate asks for it, and it is apart."""
    rules = (
        Rule(RECALL, max_regression=0.1, slice="tag=up"),
        Rule(RECALL, at_least=0.5, slice="behaviour=answer"),
    )
    free, gated = sliced().slices, sliced(Gate(rules)).slices
    assert 2 / 2**12 == free["tag=up"][RECALL].p
    assert gated["tag=up"] == free["tag=up"]
    assert ("gated", 0.02) == (gated["behaviour=answer"][RECALL].family, gated["behaviour=answer"][RECALL].level)
    assert "behaviour=answer" not in free
    family = [each[RECALL] for each in free.values() if each[RECALL].p is not None and each[RECALL].counted]
    smallest = min(each.p_adjusted or 1.0 for each in family)
    assert len(family) * 2 / 2**12 == pytest.approx(smallest)


def test_a_slice_that_only_the_gate_names_is_compared_too() -> None:
    cases = [Case(f"c{row}", "?", attributes={"team": "a"}) for row in range(12)]
    sides = side({RECALL: [1.0] * 12}, "a", cases=cases), side({RECALL: [1.0] * 12}, "b", cases=cases)
    rules = Gate((Rule(RECALL, max_regression=0.1, slice="team=a"),))
    assert "team=a" in compare_snapshots(*sides, gate=rules).slices
    assert "team=a" not in compare_snapshots(*sides).slices


# ── what may not be compared ─────────────────────────────────────────────────────────────────────────────────────

JUDGED = "faithfulness(by=judge)"


@pytest.mark.parametrize(
    ("metric", "other", "expected"),
    [
        (RECALL, {"golden_digest": "sha256:other"}, "another golden set"),
        (JUDGED, {"judge": "sha256:j2"}, "the judges differ (got sha256:j1 and sha256:j2"),
        (JUDGED, {"rubrics": {"support (en)": "sha256:r2"}}, "rubric support (en) differs"),
    ],
)
def test_measurements_of_different_things_are_refused(metric: str, other: dict[str, Any], expected: str) -> None:
    same: dict[str, Any] = {"judge": "sha256:j1", "rubrics": {"support (en)": "sha256:r1"}}
    with pytest.raises(InputError, match=expected.replace("(", r"\(").replace(")", r"\)")):
        compare_snapshots(side({metric: [1.0]}, "a", **same), side({metric: [1.0]}, "b", **{**same, **other}))


def test_verdicts_of_two_models_under_one_name_are_not_compared() -> None:
    may, june, unnamed = (
        side({JUDGED: [1.0]}, name, judge="sha256:j1", judge_models=models)
        for name, models in (("a", ("m-may",)), ("b", ("m-june",)), ("c", ()))
    )
    with pytest.raises(InputError, match=r"another model answered .* \(got m-may, then m-june"):
        compare_snapshots(may, june)
    assert compare_snapshots(may, unnamed).metrics, "what a baseline of an earlier version does not say"


def test_another_judge_does_not_matter_where_no_judge_decides() -> None:
    sides = side({RECALL: [1.0], JUDGED: [1.0]}, "a", judge="j1"), side({RECALL: [1.0], JUDGED: [1.0]}, "b", judge="j2")
    assert [RECALL] == list(compare_snapshots(*sides, metrics=[RECALL]).metrics)


def test_a_metric_that_is_defined_otherwise_is_refused_by_name() -> None:
    old = with_fields(side({RECALL: [1.0]}, "a"), definitions={RECALL: "sha256:older"})
    with pytest.raises(InputError, match=r"recall@10 is defined otherwise"):
        compare_snapshots(old, side({RECALL: [1.0]}, "b"))


def test_metrics_and_cases_of_one_side_only_are_said() -> None:
    cases = [Case("c0", "?"), Case("c9", "?")]
    comparison = compare_snapshots(
        side({RECALL: [1.0]}, "a"), side({RECALL: [1.0, 0.0], "hit@5": [1.0, 1.0]}, "b", cases=cases)
    )
    assert "measured on one side only, b, and not compared: hit@5" in comparison.notes
    assert "1 case only b has: c9" in comparison.notes
    assert ("c9",) == comparison.metrics[RECALL].unpaired


def test_what_neither_side_measured_is_said_and_nothing_in_common_is_refused() -> None:
    one, other = side({RECALL: [1.0]}, "a"), side({RECALL: [1.0]}, "b")
    assert ("measured on neither side: hit@3",) == compare_snapshots(one, other, metrics=[RECALL, "hit@3"]).notes
    with pytest.raises(InputError, match="nothing to compare: hit@3"):
        compare_snapshots(one, other, metrics=["hit@3"])
    with pytest.raises(InputError, match="nothing to compare: any metric"):
        compare_snapshots(one, side({"hit@5": [1.0]}, "b"))


# ── laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0, E, N])
_PAIRS = st.lists(st.tuples(_SCORES, _SCORES), min_size=1, max_size=14)
_METRICS = st.sampled_from([RECALL, "over_refusal", "tokens", "judged@10", "visibility_leaks"])


@pytest.mark.slow
@given(_PAIRS, _METRICS)
def test_swapping_the_sides_turns_every_gain_around(pairs: list[tuple[Any, Any]], metric: str) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    there, back = changed(before, after, metric), changed(after, before, metric)
    assert (there.improved, there.regressed) == (back.regressed, back.improved)
    assert (there.unchanged, there.unpaired, there.n) == (back.unchanged, back.unpaired, back.n)
    assert (there.gain is None) == (back.gain is None)
    if there.gain is not None:
        assert there.gain == pytest.approx(-(back.gain or 0.0))
    if there.low is not None and there.high is not None:
        assert (there.low, there.high) == pytest.approx((-(back.high or 0.0), -(back.low or 0.0)), abs=1e-9)
    assert there.p == pytest.approx(back.p)


@pytest.mark.slow
@given(st.lists(_SCORES, min_size=1, max_size=14), _METRICS)
def test_a_side_compared_with_itself_shows_nothing(scores: list[Any], metric: str) -> None:
    change = changed(scores, scores, metric)
    assert ((), (), ()) == (change.improved, change.regressed, change.unpaired)
    assert not change.gain
    assert change.low is None or change.low <= 0 <= (change.high or 0.0)
    assert change.p in (None, 1.0)


@pytest.mark.slow
@given(_PAIRS, _METRICS)
def test_every_case_is_in_exactly_one_list_or_scored_nowhere(pairs: list[tuple[Any, Any]], metric: str) -> None:
    change = changed([pair[0] for pair in pairs], [pair[1] for pair in pairs], metric)
    listed = [*change.unchanged, *change.unpaired, *change.improved, *change.regressed]
    assert len(set(listed)) == len(listed)
    scored = {f"c{row}" for row, pair in enumerate(pairs) if not all(isinstance(each, str) for each in pair)}
    moved = {
        f"c{row}" for row, (a, b) in enumerate(pairs) if a != b and not isinstance(a, str) and not isinstance(b, str)
    }
    neither = moved if metric == "judged@10" else set()  # it moved, and no direction is better
    assert scored - neither == set(listed)


def test_a_side_whose_leaks_count_in_its_scores_says_so() -> None:
    right = side({"correct_answer": [1.0] * 20}, "before")
    leaky = side({"correct_answer": [0.0] * 4 + [1.0] * 16}, "after")
    table = with_fields(leaky.table, before_leaks={"correct_answer": right.table.columns["correct_answer"]})
    notes = compare_snapshots(right, with_fields(leaky, table=table)).notes
    assert "after: 4 cases that leaked get the worst score in correct_answer, whatever the answer says" in notes
    assert not any("leaked" in note for note in compare_snapshots(right, leaky).notes)
