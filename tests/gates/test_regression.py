"""Regression rules and waivers: what a baseline proves, what it leaves open, and what nobody may wave through."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.comparison.sides import side

from assay.gates.release_decision import decide_release
from assay.gates.rules import find_rule_problem, resolve_rule
from assay.metrics.judged.judge_requests import FAR_APART_VOTES
from assay.records.golden_set import Case
from assay.records.release_gates import Decision, Gate, Rule, Waiver
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn, ScoreTable

E, N, SILENT = "timeout", "no evidence", "stage context not reported"
Scores = Sequence[float | str]
RECALL = Rule("recall@10", max_regression=0.05)


def column(metric: str, scores: Scores) -> ScoreColumn:
    reasons = ("", E, N, SILENT)
    status = [SCORED if not isinstance(each, str) else ERROR if each == E else NOT_APPLICABLE for each in scores]
    codes = [reasons.index(each) if isinstance(each, str) else 0 for each in scores]
    values = np.array([0.0 if isinstance(each, str) else each for each in scores])
    return ScoreColumn(metric, values, np.array(status, np.uint8), np.array(codes, np.uint16), reasons)


def table(metric: str, scores: Scores, ids: Sequence[str] | None = None) -> ScoreTable:
    ids = ids or [f"c{row}" for row in range(len(scores))]
    return ScoreTable("c", ids, {metric: column(metric, scores)}, (), ())


def held(
    rule: Rule, before: Scores | None, after: Scores, *, clusters: int = 1, tags: Sequence[int] = (), **gate: Any
) -> Decision:
    """The decision of one rule; `clusters` is how many cases share one, `tags` are the rows of the slice tag=hr."""
    mine = table(rule.metric, after)
    cases = [
        Case(case_id, "?", cluster=f"k{row // clusters}", tags=("hr",) if row in tags else ())
        for row, case_id in enumerate(mine.case_ids)
    ]
    theirs = table(rule.metric, before) if before is not None else None
    today = gate.pop("today", None)
    wanted = Gate(rules=(rule,), zero_tolerance_tags=(), **gate)
    return decide_release(wanted, mine, cases, baseline=theirs, today=today)


def test_a_candidate_equal_on_enough_cases_passes() -> None:
    """No discordant pair of 100: at a loss d, (100d − ½)² = z²·100·d(1 − d), which z = 1.645 solves by d = .0354."""
    rule_result = held(RECALL, [1.0] * 60 + [0.0] * 40, [1.0] * 60 + [0.0] * 40).results[0]
    assert ("pass", 0.0) == (rule_result.state, rule_result.value)
    assert "a loss of 0.05 is excluded (one-sided 95% bound -0.035)" in rule_result.message


def test_a_loss_that_is_shown_fails_and_names_its_cases() -> None:
    decided = held(RECALL, [1.0] * 40, [1.0] * 28 + [0.0] * 12)
    assert "FAIL" == decided.outcome
    assert tuple(f"c{row}" for row in range(28, 40)) == decided.results[0].cases
    assert "went from 1.000 to 0.700 (n 40)" in decided.results[0].message


def test_gains_by_votes_far_apart_make_up_for_no_loss() -> None:
    """Four of 100 are lost and eight won; that the votes on the eight are far apart on either side undoes them."""
    before, after = [1.0] * 50 + [0.0] * 50, [0.0] * 4 + [1.0] * 54 + [0.0] * 42
    assert "pass" == held(RECALL, before, after).results[0].state
    doubtful = table("recall@10", after)
    marked = doubtful.columns["recall@10"]
    code = np.array([1 if 50 <= row < 58 else 0 for row in range(100)], np.uint16)
    column = replace(marked, reason=code, reasons=("", FAR_APART_VOTES))
    cases = [Case(case_id, "?") for case_id in doubtful.case_ids]
    gate = Gate(rules=(RECALL,), zero_tolerance_tags=())
    sides = table("recall@10", before), replace(doubtful, columns={"recall@10": column})
    for baseline, candidate in (sides, (replace(sides[1], columns=_values(column, before)), table("recall@10", after))):
        (found,) = decide_release(gate, candidate, cases, baseline=baseline).results
        assert ("inconclusive", -0.04) == (found.state, found.value)
        assert "8 cases in review counted as no gain (c50, c51" in found.message


def _values(column: ScoreColumn, values: Sequence[float]) -> dict[str, ScoreColumn]:
    return {column.metric: replace(column, values=np.array(values))}


def test_too_few_cases_leave_the_question_open_and_say_how_many_would_tell() -> None:
    """sd of one loss among 20 is .2236: ((1.645 + .842)·.2236/.05)² = 123.6."""
    decided = held(RECALL, [1.0] * 20, [1.0] * 19 + [0.0])
    assert ("PASS_WITH_RISK", "inconclusive") == (decided.outcome, decided.results[0].state)
    assert "if nothing was lost, it takes about 124 cases like these to pass the rule" in decided.results[0].message


def test_cases_that_would_have_sufficed_are_not_said_to_be_too_few() -> None:
    """sd of eight losses and gains among 200 is .2; needed ((1.645 + .842)·.2/.05)² = 99 of 200."""
    after = [0.0] * 6 + [1.0] * 192 + [1.0] * 2
    before = [1.0] * 198 + [0.0] * 2
    (told,) = held(RECALL, before, after).results
    assert "inconclusive" == told.state
    assert "; had nothing been lost, 200 cases like these would probably have passed" in told.message


def test_a_loss_above_the_margin_says_how_many_cases_would_show_it() -> None:
    """sd of three losses among 20 is .3663: ((1.645 + .842)·.3663/(.15 − .05))² = 82.9."""
    message = held(RECALL, [1.0] * 20, [1.0] * 17 + [0.0] * 3).results[0].message
    assert "if the true loss is 0.150, as here, it takes about 83 cases like these to fail the rule" in message


def test_equal_scores_say_how_much_other_questions_may_lose_and_how_many_would_tell() -> None:
    """The number is the first with which the rule passes."""
    (open_rule,) = held(RECALL, [1.0] * 14, [1.0] * 14).results
    match = re.fullmatch(
        r"recall@10 is 1\.000 on both sides, the same on each of 14 cases: up to (\d\.\d+) may still be lost on others "
        r"\(95% bound\), 0\.05 is allowed; (\d+) such cases would pass",
        open_rule.message,
    )
    assert match is not None and 0.1 < float(match[1]) < 0.3
    needed = int(match[2])
    states = [held(RECALL, [1.0] * size, [1.0] * size).results[0].state for size in (needed - 1, needed)]
    assert ["inconclusive", "pass"] == states


@pytest.mark.parametrize(
    ("clusters", "margin", "state"), [(2, 0.1, "pass"), (2, 0.05, "inconclusive"), (25, 0.9, "inconclusive")]
)
def test_equal_scores_in_clusters_pass_a_margin_that_so_many_clusters_exclude(
    clusters: int, margin: float, state: str
) -> None:
    """Of 50 clusters without an event up to 1 − .05^(1/50) = .058 may have one; of four nothing is known."""
    rule_result = held(replace(RECALL, max_regression=margin), [1.0] * 100, [1.0] * 100, clusters=clusters).results[0]
    assert state == rule_result.state
    assert (clusters == 25) == ("too few clusters (4)" in rule_result.message)
    worse = held(replace(RECALL, max_regression=margin), [1.0] * 100, [0.0] * 40 + [1.0] * 60, clusters=clusters)
    assert "pass" != worse.results[0].state or margin > 0.4


def test_equal_scores_are_a_risk_alone_and_no_reason_next_to_a_failure() -> None:
    equal = [1.0] * 14
    assert ("PASS_WITH_RISK", 1) == ((alone := held(RECALL, equal, equal)).outcome, len(alone.reasons))
    scores = side({"recall@10": equal, "behaviour": [0.0] * 14}, "b")
    gate = Gate((RECALL, Rule("behaviour", at_least=0.9)), zero_tolerance_tags=(), exempt_from_correctness="retrieval")
    baseline = side({"recall@10": equal, "behaviour": equal}, "a").table
    decided = decide_release(gate, scores.table, scores.cases, baseline=baseline)
    assert ("FAIL", 2) == (decided.outcome, len(decided.results))
    assert not any("recall@10" in reason for reason in decided.reasons)


def test_an_open_loss_names_its_size() -> None:
    (found,) = held(RECALL, [1.0] * 20, [1.0] * 19 + [0.0]).results
    assert "worse on c19: the true loss may be up to 0." in found.message
    assert "(one-sided 95% bound), and 0.05 is allowed; if nothing was lost, it takes about 124" in found.message


def test_an_open_loss_that_is_a_loss_is_called_one() -> None:
    (found,) = held(RECALL, [1.0] * 60, [1.0] * 53 + [0.0] * 7).results
    assert "inconclusive" == found.state
    assert "it lost between 0.0" in found.message and "(one-sided 95% bounds), and 0.05 is allowed" in found.message
    assert "the true loss may be" not in found.message


def test_what_stays_open_blocks_on_leaks_and_injections_unless_the_rule_says_otherwise() -> None:
    rule = Rule("injection_followed", max_regression=0.05)
    none = [0.0] * 20
    assert "FAIL" == held(rule, none, none).outcome
    lenient = Rule("injection_followed", max_regression=0.05, if_inconclusive="risk")
    assert "PASS_WITH_RISK" == held(lenient, none, none).outcome
    assert "FAIL" == held(lenient, none, [0.0] * 19 + [1.0]).outcome  # an observed event fails, whatever the rule says
    assert "FAIL" == held(Rule("recall@10", max_regression=0.05, if_inconclusive="fail"), none, none).outcome
    assert ("fail", "risk") == (resolve_rule(rule).if_inconclusive, resolve_rule(RECALL).if_inconclusive)


@pytest.mark.parametrize("metric", ["recall@10", "hallucination_risk(by=judge)", "abstention_accuracy"])
def test_two_identical_systems_do_not_fail_a_rule_that_so_few_cases_cannot_decide(metric: str) -> None:
    scores = [0.0, 1.0] * 10
    decided = held(Rule(metric, max_regression=0.02), scores, scores)
    assert ("PASS_WITH_RISK", "inconclusive") == (decided.outcome, decided.results[0].state)


@pytest.mark.parametrize(
    ("margin", "lost", "state"), [(0.05, 0, "pass"), (0.05, 1, "pass"), (0.05, 2, "fail"), (0.1, 2, "pass")]
)
def test_with_basis_point_the_mean_gain_alone_decides(margin: float, lost: int, state: str) -> None:
    rule = Rule("recall@10", max_regression=margin, basis="point")
    assert find_rule_problem(rule) is None
    rule_result = held(rule, [1.0] * 20, [0.0] * lost + [1.0] * (20 - lost)).results[0]
    assert (state, "point") == (rule_result.state, rule_result.rule.basis)
    assert f"{-margin:g} (basis: point)" in rule_result.message


def test_a_metric_that_is_better_low_regresses_by_rising() -> None:
    rule = Rule("over_refusal", max_regression=0.05)
    assert "fail" == held(rule, [0.0] * 40, [0.0] * 28 + [1.0] * 12).results[0].state
    assert "pass" == held(rule, [1.0] * 12 + [0.0] * 28, [0.0] * 40).results[0].state


def test_cases_of_one_cluster_do_not_count_as_many() -> None:
    """The same losses: 6 of 60 alone exclude a loss of a quarter, in one cluster of ten of them they do not."""
    rule = Rule("recall@10", max_regression=0.25)
    before, after = [0.9] * 60, [0.9] * 50 + [0.0] * 10
    assert "pass" == held(rule, before, after).results[0].state
    assert "inconclusive" == held(rule, before, after, clusters=10).results[0].state


def test_a_slice_is_held_apart_from_the_rest() -> None:
    rule = Rule("recall@10", max_regression=0.05, slice="tag=hr")
    before, after = [1.0] * 60, [0.0] * 20 + [1.0] * 40
    assert "fail" == held(rule, before, after, tags=range(20)).results[0].state
    assert "inconclusive" == held(rule, before, after, tags=range(20, 40)).results[0].state


def test_without_a_baseline_the_rule_is_unmeasured() -> None:
    decided = held(RECALL, None, [1.0] * 20)
    assert ("FAIL", "unmeasured") == (decided.outcome, decided.results[0].state)
    assert "needs a baseline" in decided.results[0].message
    assert "PASS_WITH_RISK" == held(Rule("recall@10", max_regression=0.05, if_unmeasured="risk"), None, [1.0]).outcome


def test_a_baseline_without_the_metric_is_no_baseline() -> None:
    mine, theirs = table("recall@10", [1.0]), table("hit@10", [1.0])
    decided = decide_release(Gate((RECALL,)), mine, [Case("c0", "?")], baseline=theirs)
    assert "recall@10 was not measured in the baseline" == decided.results[0].message


def test_a_case_that_failed_on_either_side_leaves_the_measurement_incomplete() -> None:
    assert "INCOMPLETE" == held(RECALL, [1.0] * 20, [1.0] * 19 + [E]).outcome
    assert "INCOMPLETE" == held(RECALL, [E] + [1.0] * 19, [1.0] * 20).outcome


def test_where_the_floor_is_lowered_a_case_lost_to_an_error_counts_as_the_worst() -> None:
    rule = Rule("recall@10", max_regression=0.05, min_coverage=0.5)
    rule_result = held(rule, [1.0] * 40, [1.0] * 28 + [E] * 12).results[0]
    assert ("fail", 40) == (rule_result.state, rule_result.scored)


def test_an_error_that_nothing_bounds_keeps_an_unbounded_metric_incomplete() -> None:
    rule = Rule("tokens", max_regression=100, min_coverage=0.5)
    assert "INCOMPLETE" == held(rule, [10.0, 11.0, 12.0], [10.0, 11.0, E]).outcome


def test_cases_scored_on_one_side_only_are_named() -> None:
    rule_result = held(RECALL, [1.0] * 60 + [N], [1.0] * 61).results[0]
    assert "1 case scored on one side only (c60)" in rule_result.message


def test_a_baseline_in_another_order_or_without_some_cases_is_matched_by_id() -> None:
    mine = table("recall@10", [1.0, 0.0, 1.0])
    theirs = table("recall@10", [0.0, 1.0], ids=["c1", "c0"])
    rule = Rule("recall@10", max_regression=0.9, min_coverage=0.5)
    rule_result = decide_release(
        Gate((rule,)), mine, [Case(each, "?") for each in mine.case_ids], baseline=theirs
    ).results[0]
    assert (2, 0.0) == (rule_result.scored, rule_result.value)


def test_a_slice_without_cases_and_a_metric_without_pairs_never_pass() -> None:
    assert "no_data" == held(Rule("recall@10", max_regression=0.05, slice="tag=none"), [1.0], [1.0]).results[0].state
    assert "no_data" == held(RECALL, [N], [N]).results[0].state


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule("recall@10", max_regression=0.0), "expected a margin above 0"),
        (Rule("recall@10", max_regression=float("nan")), "expected a margin above 0"),
        (Rule("recall@10", max_regression=2.0), "did you mean 0.02?"),
        (Rule("latency_ms(stat=p95)", max_regression=100), "is for means and rates"),
        (Rule("refusal_calibration", max_regression=0.1), "is for means and rates"),
        (Rule("judged@10", max_regression=0.1), "neither direction"),
        (Rule("recall@10", at_least=0.9, max_regression=0.1), "got at_least and max_regression"),
        (Rule("recall@10", max_regression=0.1, zero_event=True), "is not an event"),
        (Rule("recall@10", max_regression=0.1, basis="point", if_inconclusive="fail"), "never inconclusive"),
        (Rule("recall@10", max_regression=0.1, slice="hr"), "not a slice"),
    ],
)
def test_a_regression_rule_that_cannot_be_used_says_why(rule: Rule, expected: str) -> None:
    assert expected in str(find_rule_problem(rule))


# ── rows that do not report what others do ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("rule", [Rule("context_recall", at_least=0.5), Rule("context_recall", max_regression=0.5)])
def test_rows_that_omit_what_others_report_keep_a_rule_from_passing(rule: Rule) -> None:
    decided = held(rule, [1.0] * 20, [1.0] * 18 + [SILENT] * 2)
    assert ("PASS_WITH_RISK", "inconclusive") == (decided.outcome, decided.results[0].state)
    assert "not reported on 2 of 20 cases (c18, c19)" in decided.results[0].message
    assert "PASS" == held(rule, [1.0] * 20, [1.0] * 18 + [N] * 2).outcome


# ── what a set cannot see ────────────────────────────────────────────────────────────────────────────────────────


def test_every_rule_on_a_mean_says_how_small_a_difference_its_cases_show() -> None:
    """41 pairs, 4 of them discordant: about the .14 that 41 cases show at 10% discordance."""
    after = [1.0] * 39 + [0.0] * 2
    rule_result = held(RECALL, [1.0] * 37 + [0.0] * 2 + [1.0] * 2, after).results[0]
    assert rule_result.detectable == pytest.approx(0.142, abs=0.005)
    absolute = held(Rule("recall@10", at_least=0.5), None, after).results[0]
    assert absolute.detectable == pytest.approx(0.098, abs=0.003)
    assert held(Rule("visibility_leaks", at_most=0), None, [0.0] * 9).results[0].detectable is None


# ── waivers ──────────────────────────────────────────────────────────────────────────────────────────────────────

WAIVER = Waiver("recall@10", "Lan", "2026-03-31", "the index is rebuilt in April")
FAILING = Rule("recall@10", at_least=0.9)


def waived(today: str | None, rule: Rule = FAILING, scores: Scores = (0.0, 1.0)) -> Decision:
    waiver = Waiver(rule.metric, WAIVER.owner, WAIVER.expires, WAIVER.reason)
    return held(rule, None, scores, waivers=(waiver,), today=today)


def test_a_waiver_makes_a_failure_a_risk_until_the_end_of_its_last_day() -> None:
    decided = waived("2026-03-31")
    assert ("PASS_WITH_RISK", "fail") == (decided.outcome, decided.results[0].state)
    assert "waived by Lan until 2026-03-31: the index is rebuilt in April" in decided.reasons[0]


@pytest.mark.parametrize(("today", "expected"), [("2026-04-01", "has expired"), (None, "no time was given")])
def test_a_waiver_that_expired_or_cannot_be_dated_lifts_nothing_and_says_so(today: str | None, expected: str) -> None:
    decided = waived(today)
    assert "FAIL" == decided.outcome
    assert expected in decided.reasons[0]


def test_no_waiver_lifts_an_observed_event_or_an_incomplete_measurement() -> None:
    event = waived("2026-01-01", Rule("visibility_leaks", at_most=0), [1.0, 0.0])
    assert "FAIL" == event.outcome
    assert "an observed event cannot be waived" in event.reasons[0]
    assert "INCOMPLETE" == waived("2026-01-01", FAILING, [1.0, E]).outcome


def test_a_waiver_is_for_one_metric_on_one_slice() -> None:
    sliced = Rule("recall@10", at_least=0.9, slice="tag=hr")
    decided = held(sliced, None, [0.0, 1.0], tags=[0, 1], waivers=(WAIVER,), today="2026-01-01")
    assert "FAIL" == decided.outcome
