"""Which changes survive: families and their shares, agreement of p and interval, rare losses, equal systems."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.comparison_world import draw_sides, make_snapshot, make_world
from benchmarks.comparisons import exchangeable, true_loss
from tests.comparison.sides import side

from assay.comparison.claims import compute_confidence, share_error_rate
from assay.comparison.paired_comparison import compare_candidates, compare_snapshots
from assay.metrics.catalog import CATALOG, find_metric, parse_metric
from assay.metrics.template_columns import HEADLINES
from assay.records.findings import MetricChange
from assay.records.golden_set import Case
from assay.records.release_gates import Gate, Rule
from assay.scoring.change_tests import compute_least_difference

RECALL = "recall@10"


def compare_scores(before: list[float], after: list[float], metric: str = RECALL) -> MetricChange:
    return compare_snapshots(side({metric: before}, "a"), side({metric: after}, "b")).metrics[metric]


def test_the_share_of_a_family_without_a_test_goes_to_the_headlines() -> None:
    assert {"headline": 0.04, "other": 0.01} == share_error_rate(["headline", "other"])
    assert {"headline": 0.05} == share_error_rate(["headline"])
    assert {"other": 0.01} == share_error_rate(["other"])


def test_intervals_belong_to_their_tests() -> None:
    """Two of four selected ones, and at least one."""
    assert 1 - 2 * 0.04 / 4 == compute_confidence(0.04, [0.001, 0.001, 0.3, 0.4])
    assert 1 - 0.01 / 4 == compute_confidence(0.01, [0.2, 0.3, 0.3, 0.4])


def test_a_test_that_could_show_nothing_widens_no_other() -> None:
    """Seven of 60 cases lose their evidence: p is 2^-6, which survives alone, and not beside three more metrics."""
    before, after = {RECALL: [1.0] * 60}, {RECALL: [0.0] * 7 + [1.0] * 53}
    unmoved = {name: [1.0, 0.0] * 30 for name in ("rr@10", "correct_answer", "behaviour")}
    moved = {name: [0.0, 1.0] * 30 for name in unmoved}
    alone = compare_snapshots(side(before, "a"), side(after, "b")).metrics[RECALL]
    beside = compare_snapshots(side({**before, **unmoved}, "a"), side({**after, **unmoved}, "b")).metrics
    among = compare_snapshots(side({**before, **unmoved}, "a"), side({**after, **moved}, "b")).metrics
    assert ("regressed", 2**-6) == (alone.verdict, alone.p_adjusted)
    assert ("regressed", 2**-6, 1 - 0.04) == (
        beside[RECALL].verdict,
        beside[RECALL].p_adjusted,
        beside[RECALL].confidence,
    )
    assert {name: name == RECALL for name in beside} == {name: change.counted for name, change in beside.items()}
    assert among["correct_answer"].counted
    assert "not significant" == among[RECALL].verdict


@pytest.mark.parametrize(("differing", "is_counted"), [(5, False), (6, True)])
def test_what_counts_is_how_many_differ_and_not_which_way(differing: int, is_counted: bool) -> None:
    """The share of a single headline is 0.05, and no claim: as many got better as worse."""
    before, after = [0.0, 1.0] * 30, [0.0, 1.0] * 30
    for row in range(differing):
        after[row] = 1.0 - before[row]
    change = compare_scores(before, after)
    assert (is_counted, "not significant") == (change.counted, change.verdict)


def test_a_gain_without_a_loss_needs_to_exceed_what_unseen_cases_may_cost() -> None:
    """Twelve of 60 gain .2 and none loses: +.04, and unseen cases may cost 1 − .05^(1/60) = .0487."""
    small = compare_scores([0.5] * 60, [0.7] * 12 + [0.5] * 48)
    assert small.low is not None
    assert small.low > 0
    assert "not significant" == small.verdict
    assert "no loss in 60 cases: unseen ones may cost 0.049" in small.note
    assert "improved" == compare_scores([0.5] * 60, [0.9] * 13 + [0.5] * 47).verdict
    assert "regressed" == compare_scores([0.7] * 12 + [0.5] * 48, [0.5] * 60).verdict


def test_an_interval_excludes_zero_only_where_its_test_does() -> None:
    """Six gains of 40 and no loss: the exact p is 2/2^6 = 0.031; the interval at 95% excludes 0, at 98% it may not."""
    tested = compare_scores([0.0] * 6 + [1.0] * 34, [1.0] * 2 + [0.5] * 4 + [1.0] * 34)
    assert (2 / 2**6, True) == (tested.p, tested.low is not None and tested.low > 0)
    other = "recall@3"  # no headline, beside one
    before = side({other: [0.0] * 8 + [1.0] * 32, RECALL: [0.0, 1.0] * 20}, "a")
    after = side({other: [1.0] * 7 + [0.0] + [1.0] * 32, RECALL: [0.0, 1.0] * 20}, "b")
    strict = compare_snapshots(before, after).metrics[other]
    assert (0.01, 0.0, "not significant") == (strict.level, strict.low, strict.verdict)


def test_p_and_interval_must_agree() -> None:
    """One loss of 1 among 200 and 19 gains of .2: p is small, and Hall's limit allows for losses that are missing."""
    before = [1.0] + [0.5] * 199
    change = compare_scores(before, [0.0] + [0.7] * 19 + [0.5] * 180)
    assert change.low is not None
    assert change.low < 0
    assert change.p is not None
    assert (change.p < 0.05, change.verdict) == (True, "not significant")


GATES = {
    "of another metric": (Rule("hit@5", at_least=0.1),),
    "of the metric": (Rule(RECALL, at_least=0.1), Rule(RECALL, max_regression=0.1)),
    "of no headline": (Rule("behaviour", max_regression=0.1),),
    "of a slice": (Rule("behaviour", at_least=0.1, slice="tag=early"),),
    "of many": tuple(Rule(name, max_regression=0.2) for name in ("rr@10", "correct_answer", "behaviour", RECALL)),
}


@pytest.mark.parametrize("rules", GATES.values(), ids=GATES)
def test_a_metric_has_one_verdict_whatever_gate_is_named(rules: tuple[Rule, ...]) -> None:
    """Six gains of 40 have p = 0.031: enough for a headline alone, and not for one of several that a gate names."""
    cases = tuple(Case(f"c{number}", "?", tags=("early",) if number < 20 else ("late",)) for number in range(40))
    still = {name: [1.0, 0.0] * 20 for name in ("hit@5", "rr@10", "correct_answer", "behaviour")}
    before = side({RECALL: [0.0] * 6 + [1.0] * 34, **still}, "a", cases=cases)
    after = side({RECALL: [1.0] * 40, **still}, "b", cases=cases)
    for slice_keys in (None, [], ["tag"]):
        alone = compare_snapshots(before, after, slice_keys=slice_keys)
        gated = compare_snapshots(before, after, gate=Gate(rules), slice_keys=slice_keys)
        assert alone.metrics == gated.metrics
        assert alone.slices == {name: gated.slices[name] for name in alone.slices}
        assert "improved" == gated.metrics[RECALL].verdict


def test_several_candidates_share_their_families() -> None:
    """Eight losses of 40 have p = 2/2^8, and three times as much beside two that are as often better as worse."""
    baseline, worse = side({RECALL: [1.0, 0.0] * 20}, "a"), side({RECALL: [0.0] * 16 + [1.0, 0.0] * 12}, "b")
    others = [side({RECALL: [0.0, 1.0] * 8 + [1.0, 0.0] * 12}, name) for name in "cd"]
    (alone,) = compare_candidates(baseline, [worse])
    together = compare_candidates(baseline, [worse, *others])
    assert 2 / 2**8 == alone.metrics[RECALL].p_adjusted
    assert 3 * 2 / 2**8 == pytest.approx(together[0].metrics[RECALL].p_adjusted)
    assert ("b", "c", "d") == tuple(comparison.candidate.name for comparison in together)


@pytest.mark.slow
def test_equal_systems_get_no_claims() -> None:
    """At most 5% of comparisons; of 40, more than 6 with a claim have a probability below one in a hundred."""
    assert exchangeable(60, 40, clustered=True).events <= 6


@pytest.mark.slow
def test_a_loss_of_fifteen_points_on_one_headline_is_shown() -> None:
    assert true_loss("rate", 10).events >= 9


def test_a_comparison_lists_every_scored_case_once() -> None:
    world = make_world(30, clustered=True, seed=1)
    generator = np.random.Generator(np.random.PCG64(1))
    before, after = (make_snapshot(world, scores, "x") for scores in draw_sides(generator, world, 2))
    for change in compare_snapshots(before, after).metrics.values():
        lists = [*change.improved, *change.regressed, *change.unchanged]
        assert len(set(lists)) == len(lists) <= change.n


# ── differences that matter ──────────────────────────────────────────────────────────────────────────────────────


def test_a_difference_that_is_too_small_to_matter_is_not_significant() -> None:
    """Two functions of one process: microseconds, always in the same direction."""
    before = [0.050 + 0.001 * (row % 7) for row in range(60)]
    after = [latency - 0.004 for latency in before]
    change = compare_scores(before, after, "latency_ms")
    assert change.low is not None and change.p_adjusted is not None
    assert (change.low > 0, change.p_adjusted < 0.001, change.verdict) == (True, True, "not significant")
    assert "differs, but not significantly by more than the 10 ms that matter" in change.note
    assert 10.0 == change.least_difference


AMOUNTS = [(60, 30.0, "improved"), (60, -30.0, "regressed"), (400, 30.0, "improved"), (60, 20.0, "not significant")]


@pytest.mark.parametrize(("size", "gain", "verdict"), AMOUNTS)
def test_amounts_change_where_the_whole_interval_is_beyond_what_matters(size: int, gain: float, verdict: str) -> None:
    """Of a baseline of 500 tokens 5% are 25, which is more than the 10 that always matter."""
    before = [500.0 + row % 5 for row in range(size)]
    after = [tokens - gain + (row % 3 - 1) for row, tokens in enumerate(before)]
    change = compare_scores(before, after, "tokens")
    assert verdict == change.verdict
    assert change.least_difference is not None and 25 <= change.least_difference <= 25.3


@pytest.mark.parametrize(("size", "gain", "verdict"), AMOUNTS)
def test_a_time_is_never_said_to_be_better_or_worse(size: int, gain: float, verdict: str) -> None:
    """Two runs of one system differ by the load on the machine, which all cases of a run share."""
    before = [500.0 + row % 5 for row in range(size)]
    after = [latency - gain + (row % 3 - 1) for row, latency in enumerate(before)]
    change = compare_scores(before, after, "latency_ms")
    assert ("n/a" if verdict in ("improved", "regressed") else verdict) == change.verdict
    assert change.low is not None and change.high is not None and change.p is not None
    word = {"improved": "faster in this run", "regressed": "slower in this run"}.get(verdict, "by more than the 25")
    assert word in change.note


def test_what_matters_is_declared_for_every_amount() -> None:
    amounts = {"latency_ms", "tokens", "cost_usd", "tool_calls", "tool_errors", "retries"}
    assert amounts == {name for name, row in CATALOG.items() if row.least_difference or row.least_share}
    least = find_metric(parse_metric("cost_usd(stat=total)"))
    assert 0.04 == pytest.approx(compute_least_difference(least, 0.1, scale=400))
    assert 0.0 == compute_least_difference(find_metric(parse_metric(RECALL)), 0.9)


def test_what_every_report_shows_first_is_tested_among_the_headlines() -> None:
    assert {"failed", "correct_answer"} <= {name for _, names in HEADLINES for name in names}
