"""What one rule finds: its state, the number that decides and the sentence for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.gates.rules import GateScores, evaluate_rule
from assay.records.golden_set import Case
from assay.records.release_gates import Rule, RuleResult
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn, ScoreTable

E, N = "error", "not applicable"
Column = Sequence[float | str]


def column(metric: str, scores: Column) -> ScoreColumn:
    """A column from numbers, `E` (a timeout) and `N`."""
    status = [{E: ERROR, N: NOT_APPLICABLE}[score] if isinstance(score, str) else SCORED for score in scores]
    values = np.array([0.0 if isinstance(score, str) else score for score in scores], dtype=np.float64)
    codes = np.array(status, dtype=np.uint16)
    return ScoreColumn(metric, values, np.array(status, dtype=np.uint8), codes, ("", "no evidence", "timeout"))


def finding(rule: Rule, columns: dict[str, Column], tags: dict[str, Sequence[int]] | None = None) -> RuleResult:
    """What one rule finds; `tags` gives the rows that have each tag."""
    ids = [f"case_{row}" for row in range(max(map(len, columns.values()), default=0))]
    of_row = [tuple(tag for tag, rows in (tags or {}).items() if row in rows) for row in range(len(ids))]
    cases = [Case(case_id, "?", tags=own) for case_id, own in zip(ids, of_row, strict=True)]
    table = ScoreTable("c", ids, {metric: column(metric, scores) for metric, scores in columns.items()}, (), ())
    return evaluate_rule(rule, GateScores(table, cases))


RECALL, LEAKS, P95 = "recall@10", "visibility_leaks", "latency_ms(stat=p95)"


# ── the states of one rule ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("state", "rule", "scores"),
    [
        ("pass", Rule(RECALL, at_least=0.5), [1.0, 0.0]),
        ("fail", Rule(RECALL, at_least=0.51), [1.0, 0.0]),
        ("pass", Rule("over_refusal", at_most=0.5), [1.0, 0.0]),
        ("fail", Rule("over_refusal", at_most=0.49), [1.0, 0.0]),
        ("pass", Rule("mrr@10", at_least=0.5), [1.0, 0.0]),
        ("unmeasured", Rule("faithfulness(by=judge)", at_least=0.9), [1.0]),
        ("no_data", Rule(RECALL, at_least=0.5), [N, N]),
        ("no_data", Rule(RECALL, at_least=0.0), []),
        ("no_data", Rule(RECALL, at_least=0.5, slice="tag=absent"), [1.0, 1.0]),
        ("no_data", Rule(RECALL, at_least=0.0, min_coverage=0.0), [E, E]),
        ("no_data", Rule(LEAKS, at_most=0), [N]),
        ("incomplete", Rule(RECALL, at_least=0.5), [1.0, E]),
        ("incomplete", Rule(RECALL, at_least=0.5, min_coverage=0.67), [1.0, 1.0, E, N]),
        ("incomplete", Rule(LEAKS, at_most=0), [0.0, E]),
        ("incomplete", Rule(LEAKS, at_most=0, min_coverage=0.1), [0.0, E]),
        ("incomplete", Rule("cost_usd", at_most=9.0, min_coverage=0.1), [0.1, E]),
        ("fail", Rule(LEAKS, at_most=0), [0.0, 2.0, E]),
        ("inconclusive", Rule(P95, at_most=6000), [100.0] * 19),
        ("pass", Rule(P95, at_most=6000), [100.0] * 20),
        ("fail", Rule(P95, at_most=6000), [7000.0] * 20),
        ("pass", Rule("latency_ms(stat=p50)", at_most=6000), [100.0]),
        ("pass", Rule("tokens(stat=total)", at_most=30), [10.0, 20.0]),
        ("incomplete", Rule("tokens(stat=total)", at_most=30, min_coverage=0.5), [10.0, E]),
        ("fail", Rule("tokens(stat=total)", at_most=29), [10.0, 20.0]),
    ],
)
def test_each_rule_state(state: str, rule: Rule, scores: Column) -> None:
    measured = {"mrr@10": "rr@10", P95: "latency_ms", "latency_ms(stat=p50)": "latency_ms"}.get(
        rule.metric, rule.metric
    )
    measured = "tokens" if measured.startswith("tokens") else measured
    columns: dict[str, Column] = {} if state == "unmeasured" else {measured: scores}
    rule_result = finding(rule, columns)
    assert rule_result.state == state
    assert rule_result.scored == sum(not isinstance(score, str) for score in scores) * (
        bool(columns) and not rule.slice
    )


def test_a_balanced_metric_without_its_parts_is_unmeasured() -> None:
    rule = Rule("refusal_calibration", at_least=0.8)
    assert finding(rule, {"refusal_calibration": [1.0]}).state == "unmeasured"
    parts: dict[str, Column] = {"refused": [1.0, N], "answered": [N, 1.0]}
    assert finding(rule, {"refusal_calibration": [1.0, 1.0], **parts}).state == "pass"


@pytest.mark.parametrize(("scored", "state"), [(6, "incomplete"), (7, "pass")])
def test_coverage_exactly_at_the_floor_is_enough(scored: int, state: str) -> None:
    """.07 · 100 is 7.000000000000001 in floating point; 7 of 100 must do."""
    scores: Column = [*[1.0] * scored, *[E] * (100 - scored)]
    assert finding(Rule(RECALL, at_least=0.06, min_coverage=0.07), {RECALL: scores}).state == state


def test_a_lowered_floor_reads_errors_as_the_worst_value() -> None:
    rule_result = finding(Rule(RECALL, at_least=0.9, min_coverage=0.5), {RECALL: [1.0, 1.0, 1.0, E]})
    assert (rule_result.state, rule_result.value) == ("fail", 0.75)
    assert rule_result.message == "recall@10 0.750 < 0.900 (1 error counted as worst, n 4)"


def test_a_lowered_floor_ranks_errors_last_in_a_percentile() -> None:
    rule = Rule(P95, at_most=6000, min_coverage=0.9)
    # 20 scored + 1 error: rank ceil(.95 · 21) = 20, the slowest that was measured
    assert finding(rule, {"latency_ms": [*[100.0] * 19, 5000.0, E]}).value == 5000.0
    # 20 scored + 2 errors: rank 21 is an error, which nothing bounds
    assert finding(rule, {"latency_ms": [*[100.0] * 20, E, E]}).state == "incomplete"


def test_basis_bound_compares_the_one_sided_bound() -> None:
    # 41 of 41: the one-sided 95% Clopper-Pearson lower bound is .05^(1/41) = .9295
    assert finding(Rule("hit@5", at_least=0.92, basis="bound"), {"hit@5": [1.0] * 41}).state == "pass"
    rule_result = finding(Rule("hit@5", at_least=0.93, basis="bound"), {"hit@5": [1.0] * 41})
    assert rule_result.state == "fail"
    assert rule_result.value == pytest.approx(0.05 ** (1 / 41))
    assert rule_result.message == "hit@5 lower 95% bound 0.9295 < 0.9300 (n 41, Clopper-Pearson)"


@pytest.mark.slow
def test_basis_bound_counts_errors_as_the_worst_and_fails_where_there_is_no_bound() -> None:
    rule = Rule("hit@5", at_least=0.5, basis="bound", min_coverage=0.5)
    assert finding(rule, {"hit@5": [*[1.0] * 10, *[E] * 10]}).state == "fail"
    twins = ScoreTable("c", ["a", "b"], {"hit@5": column("hit@5", [1.0, 1.0])}, (), ())
    one_cluster = [Case(case_id, "?", cluster="same") for case_id in twins.case_ids]
    rule_result = evaluate_rule(Rule("hit@5", at_least=0.5, basis="bound"), GateScores(twins, one_cluster))
    assert (rule_result.state, rule_result.value) == ("fail", 1.0)


def test_zero_events_print_the_rate_that_is_still_possible() -> None:
    rule_result = finding(Rule(LEAKS, at_most=0), {LEAKS: [0.0] * 4})
    assert rule_result.state == "pass"
    assert rule_result.upper_bound == pytest.approx(1 - 0.05 ** (1 / 4))  # 52.7% after 4 cases
    assert "up to 52.7%" in rule_result.message


def test_an_event_names_its_cases() -> None:
    rule_result = finding(Rule(LEAKS, at_most=0, slice="tag=acl"), {LEAKS: [3.0, 0.0, 1.0, 0.0]}, {"acl": [0, 1, 2]})
    assert rule_result.cases == ("case_0", "case_2")
    assert rule_result.message == "visibility_leaks on tag=acl is above 0 on 2 of 3 cases (case_0, case_2)"
    assert rule_result.scored == 3


def test_an_event_is_counted_of_the_cases_that_were_checked() -> None:
    rule_result = finding(Rule(LEAKS, at_most=0), {LEAKS: [3.0, 0.0, *[N] * 12]})
    assert rule_result.scored == 2
    assert rule_result.message == "visibility_leaks is above 0 on 1 of 2 checked cases, 12 not checked (case_0)"


def test_a_rule_on_a_slice_reads_only_the_slice() -> None:
    rule = Rule(RECALL, at_least=1.0, slice="tag=hr")
    assert finding(rule, {RECALL: [1.0, 0.0, E]}, {"hr": [0]}).state == "pass"


def test_reasons_are_sentences_with_value_threshold_n_and_interval() -> None:
    rule_result = finding(Rule(RECALL, at_least=0.85, slice="tag=hr"), {RECALL: [1.0, 0.5, 0.5]}, {"hr": [0, 1, 2]})
    start, _, interval = rule_result.message.partition("95% ")
    assert start == "recall@10 on tag=hr 0.667 < 0.850 (n 3, "
    low, _, high = interval.removesuffix(")").partition("–")
    assert 0 <= float(low) < 0.667 < float(high) <= 1
    latency = finding(Rule(P95, at_most=6000), {"latency_ms": [7000.0] * 20})
    assert latency.message.startswith("latency_ms(stat=p95) 7000 ms > 6000 ms (n 20")


@pytest.mark.slow
def test_a_value_just_below_never_looks_equal_to_its_threshold() -> None:
    scores = [1.0] * 84999 + [0.0] * 15001
    rule_result = finding(Rule("hit@5", at_least=0.85), {"hit@5": scores})
    assert rule_result.message.startswith("hit@5 0.84999 < 0.85000 (n 100000")


def test_incomplete_says_how_many_and_why() -> None:
    rule_result = finding(Rule(RECALL, at_least=0.5), {RECALL: [1.0, E, N, E]})
    assert rule_result.message == "recall@10 was measured on 1 of 3 cases, 100% needed (timeout: 2)"
    assert rule_result.cases == ("case_1", "case_3")


def test_no_data_says_why() -> None:
    rule_result = finding(Rule(RECALL, at_least=0.5), {RECALL: [N, N]})
    assert rule_result.message == "recall@10 applies to none of 2 cases (no evidence: 2)"


HIGH_IS_BETTER = {RECALL: True, "hit@5": True, "over_refusal": False, P95: False, LEAKS: False, "cost_usd": False}


@pytest.mark.slow
@given(st.sampled_from(sorted(HIGH_IS_BETTER)), st.lists(st.floats(0, 1), min_size=4, max_size=60))
def test_failing_on_the_hardest_cases_never_improves_the_gated_number(metric: str, scores: list[float]) -> None:
    """A target that errs on its hardest 30% is gated on a worse number, or on none, even where the floor is lowered."""
    high = HIGH_IS_BETTER[metric]
    easiest_last = sorted(scores, reverse=not high)
    hard = len(scores) * 3 // 10
    rule = Rule(metric, at_least=0.5 if high else None, at_most=None if high else 0.5, min_coverage=0.0)
    name = "latency_ms" if metric == P95 else metric
    honest = finding(rule, {name: easiest_last})
    failing = finding(rule, {name: [*[E] * hard, *easiest_last[hard:]]})
    if failing.state in ("pass", "fail") and honest.state != "inconclusive":
        assert failing.value is not None
        assert honest.value is not None
        assert failing.value <= honest.value if high else failing.value >= honest.value
    assert honest.state == "pass" or failing.state != "pass"
    assert honest.state != "fail" or failing.state in ("fail", "incomplete")


@pytest.mark.parametrize(
    ("rule", "scores", "remark"),
    [
        (
            Rule("abstention_accuracy", at_least=0.9),
            [1.0, 1.0, 1.0, 0.0],
            "case_3 alone decides: of fewer than 10 cases",
        ),
        (Rule("over_refusal", at_most=0.05), [0.0, 1.0], "case_1 alone decides: of fewer than 20 cases none may miss"),
        (Rule("abstention_accuracy", at_least=0.9), [1.0, 1.0, 0.0, 0.0], ""),
        (Rule("abstention_accuracy", at_least=1.0), [1.0, 0.0], ""),
        (Rule("recall@10", at_least=0.9), [1.0, 0.5], ""),
    ],
)
def test_a_rule_that_one_case_fails_alone_says_how_many_cases_may_miss_one(
    rule: Rule, scores: list[float], remark: str
) -> None:
    failed = finding(rule, {rule.metric: scores})
    assert ("fail", bool(remark)) == (failed.state, "alone decides" in failed.message)
    assert remark in failed.message
