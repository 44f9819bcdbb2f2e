"""The gate: what each rule finds, which finding outweighs which, and that nothing passes unmeasured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.gates.decision_weight import combine_decisions, find_exit_code
from assay.gates.gate_files import list_profile_names, load_profile
from assay.gates.release_decision import decide_release, list_gate_metrics, select_gated_configs
from assay.gates.rules import find_rule_problem
from assay.gates.summarise_run import absent_tags_warning
from assay.gates.ungated_decision import describe_partial
from assay.records.errors import SettingsError
from assay.records.golden_set import Case, GoldenSet
from assay.records.release_gates import Decision, Gate, Rule, RuleResult
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, CaseChecks, ScoreColumn, ScoreTable
from assay.report.findings.gate_tables import build_checklist_table

E, N = "error", "not applicable"
Scores = Sequence[float | str]


def column(metric: str, scores: Scores) -> ScoreColumn:
    """A column from numbers, `E` (a timeout) and `N`."""
    status = [{E: ERROR, N: NOT_APPLICABLE}[score] if isinstance(score, str) else SCORED for score in scores]
    values = np.array([0.0 if isinstance(score, str) else score for score in scores], dtype=np.float64)
    codes = np.array(status, dtype=np.uint16)
    return ScoreColumn(metric, values, np.array(status, dtype=np.uint8), codes, ("", "no evidence", "timeout"))


def table(
    columns: dict[str, Scores], *, missing: Sequence[str] = (), checks: tuple[CaseChecks, ...] = ()
) -> ScoreTable:
    size = max((len(scores) for scores in columns.values()), default=0)
    ids = [f"case_{row}" for row in range(size)]
    return ScoreTable("c", ids, {m: column(m, scores) for m, scores in columns.items()}, tuple(missing), checks)


def cases(scores: ScoreTable, tags: dict[str, Sequence[int]] | None = None) -> list[Case]:
    """The golden cases of a table; `tags` gives the rows that have each tag."""
    of_row = [tuple(tag for tag, rows in (tags or {}).items() if row in rows) for row in range(len(scores.case_ids))]
    return [Case(case_id, "?", tags=tags) for case_id, tags in zip(scores.case_ids, of_row, strict=True)]


def decision(
    rules: Sequence[Rule],
    columns: dict[str, Scores],
    tags: dict[str, Sequence[int]] | None = None,
    *,
    missing: Sequence[str] = (),
    checks: tuple[CaseChecks, ...] = (),
    **gate: Any,
) -> Decision:
    scores = table(columns, missing=missing, checks=checks)
    # Most tests are about other rules: their gates are exempt from looking at the correctness of answers.
    settings = {"exempt_from_correctness": "a test of other rules"} | gate
    return decide_release(Gate(rules=tuple(rules), **settings), scores, cases(scores, tags))


def finding(rule: Rule, columns: dict[str, Scores], tags: dict[str, Sequence[int]] | None = None) -> RuleResult:
    return decision([rule], columns, tags).results[0]


RECALL, LEAKS, P95 = "recall@10", "visibility_leaks", "latency_ms(stat=p95)"


# ── precedence ───────────────────────────────────────────────────────────────────────────────────────────────────

Held = tuple[Rule, Scores | None]

EVENT: Held = (Rule(LEAKS, at_most=0), [1.0, 0.0])
INCOMPLETE: Held = (Rule("ap", at_least=0.5), [1.0, E])
BLOCKED: Held = (Rule(RECALL, at_least=0.9), [0.0, 0.0])
NO_DATA: Held = (Rule("hit@1", at_least=0.9), [N, N])
UNMEASURED: Held = (Rule("faithfulness(by=judge)", at_least=0.9), None)
WARNED: Held = (Rule("ndcg@10", at_least=0.9, severity="warn"), [0.0, 0.0])
WARNED_EVENT: Held = (Rule("stale_chunks", at_most=0, severity="warn"), [1.0, 0.0])
UNMEASURED_RISK: Held = (Rule("correctness(by=judge)", at_least=0.9, if_unmeasured="risk"), None)
UNMEASURED_WARN: Held = (Rule("correctness(by=judge)", at_least=0.9, severity="warn"), None)
INCONCLUSIVE: Held = (Rule(P95, at_most=6000), [100.0, 100.0])
IGNORED: Held = (Rule("citation_support(by=judge)", at_least=0.9, if_unmeasured="ignore"), None)
PASSED: Held = (Rule("hit@10", at_least=0.9), [1.0, 1.0])


@pytest.mark.parametrize(
    ("outcome", "code", "strict_code", "rules"),
    [
        ("FAIL", 1, 1, [PASSED, WARNED, BLOCKED, INCOMPLETE, EVENT]),
        ("FAIL", 1, 1, [PASSED, EVENT]),
        ("INCOMPLETE", 3, 3, [PASSED, WARNED, UNMEASURED, NO_DATA, BLOCKED, INCOMPLETE]),
        ("INCOMPLETE", 3, 3, [WARNED_EVENT, INCOMPLETE]),
        ("FAIL", 1, 1, [PASSED, WARNED, INCONCLUSIVE, BLOCKED]),
        ("FAIL", 1, 1, [PASSED, NO_DATA]),
        ("FAIL", 1, 1, [PASSED, UNMEASURED]),
        ("PASS_WITH_RISK", 0, 1, [PASSED, WARNED]),
        ("PASS_WITH_RISK", 0, 1, [PASSED, WARNED_EVENT]),
        ("PASS_WITH_RISK", 0, 1, [PASSED, INCONCLUSIVE]),
        ("PASS_WITH_RISK", 0, 1, [PASSED, UNMEASURED_RISK]),
        ("PASS_WITH_RISK", 0, 1, [PASSED, UNMEASURED_WARN]),
        ("PASS_WITH_RISK", 0, 1, [IGNORED]),
        ("PASS", 0, 0, [PASSED, IGNORED]),
        ("PASS", 0, 0, [PASSED]),
    ],
)
def test_precedence(outcome: str, code: int, strict_code: int, rules: list[Held]) -> None:
    columns = {"latency_ms" if rule is INCONCLUSIVE[0] else rule.metric: scores for rule, scores in rules if scores}
    for order in (rules, rules[::-1]):
        decided = decision([rule for rule, _ in order], columns)
        assert decided.outcome == outcome
        assert (find_exit_code(decided), find_exit_code(decided, strict=True)) == (code, strict_code)
        assert len(decided.results) == len(rules)
        assert bool(decided.reasons) == (outcome != "PASS")


def test_reasons_come_in_order_of_weight() -> None:
    held = [WARNED, BLOCKED, INCOMPLETE, EVENT]
    decided = decision([rule for rule, _ in held], {rule.metric: scores for rule, scores in held if scores})
    first, *others = decided.reasons
    assert "1 of 2 cases leaked what the user must not see (visibility_leaks): case_0" == first
    assert ["ap", "recall@10", "ndcg@10"] == [reason.split()[0] for reason in others]


def test_a_gate_that_could_check_nothing_is_a_risk_and_says_so() -> None:
    decided = decision([IGNORED[0]], {RECALL: [1.0]})
    assert decided.reasons == ("nothing was measured that any rule of this gate looks at",)


def test_a_missing_case_that_no_rule_looks_at_makes_the_run_incomplete() -> None:
    rule = Rule(RECALL, at_least=0.5, slice="tag=hr")
    decided = decision([rule], {RECALL: [1.0, E]}, {"hr": [0]}, missing=["case_1"])
    assert decided.outcome == "INCOMPLETE"
    assert decided.reasons == ("1 case without observation, and no rule looks at them: case_1",)


def test_a_missing_case_under_a_lowered_floor_is_the_users_choice() -> None:
    rule = Rule(RECALL, at_least=0.5, min_coverage=0.5)
    assert decision([rule], {RECALL: [1.0, E]}, missing=["case_1"]).outcome == "PASS"


# ── zero tolerance and blocking tags ─────────────────────────────────────────────────────────────────────────────

GOOD: dict[str, Scores] = {RECALL: [1.0] * 4, LEAKS: [0.0] * 4, "behaviour": [1.0] * 4, "injection_followed": [N] * 4}


@pytest.mark.parametrize("tag", ["acl", "tenant", "permission_denied", "prompt-injection"])
@pytest.mark.parametrize(
    ("metric", "bad"), [(LEAKS, [0.0, 1.0]), ("behaviour", [1.0, 0.0]), ("injection_followed", [N, 1.0])]
)
def test_behaviour_blocks_on_the_usual_tags_and_leaks_and_injections_on_every_case(
    tag: str, metric: str, bad: list[float | str]
) -> None:
    columns = GOOD | {metric: [*bad, GOOD[metric][0], GOOD[metric][0]]}
    blocked = decision([PASSED[0]], columns | {"hit@10": [1.0] * 4}, {tag: [1, 2]})
    assert blocked.outcome == "FAIL"
    (message,) = (rule_result.message for rule_result in blocked.results if rule_result.state == "fail")
    assert message.startswith(f"{metric} on tag={tag} is ") and "(case_1)" in message
    assert metric in blocked.reasons[0] and "case_1" in blocked.reasons[0]
    assert blocked.reasons[0].endswith("every gate has this rule")
    elsewhere = [
        decision([PASSED[0]], columns | {"hit@10": [1.0] * 4}, {tag: [2, 3]}),
        decision([PASSED[0]], columns | {"hit@10": [1.0] * 4}, {tag: [1]}, zero_tolerance_tags=()),
        decision([PASSED[0]], columns | {"hit@10": [1.0] * 4}, zero_tolerance_tags=()),
    ]
    # A leak and a followed injection are events on every case; only the behaviour depends on tags.
    assert {"PASS" if metric == "behaviour" else "FAIL"} == {found.outcome for found in elsewhere}


def test_rules_that_no_gate_file_has_are_named_as_such_with_the_reason() -> None:
    columns = GOOD | {"behaviour": [1.0, 0.0, 1.0, 1.0], "hit@10": [1.0] * 4}
    decided = decision([PASSED[0]], columns, {"acl": [1, 2]})
    assert decided.reasons[0].endswith("; every gate has this rule")
    own, *added = [rule_result.message for rule_result in decided.results]
    assert [False, True] == ["every gate" in own, "every gate" in added[-1]]
    notes = build_checklist_table({"c": decided}).notes
    assert notes[1].startswith("Not from the gate's file, but in every gate: visibility_leaks on tag=acl, ")
    assert "zero_tolerance_tags changes the tags" in notes[1]
    plain = decision([PASSED[0]], columns | {"behaviour": [1.0] * 4})
    assert 1 == len(build_checklist_table({"c": plain}).notes)


def test_tags_that_nobody_wrote_are_in_no_note_and_the_blocking_tags_of_a_profile_are() -> None:
    golden = GoldenSet((Case("a", "Q?"),))
    assert () == absent_tags_warning(Gate((PASSED[0],)), golden)
    assert () == absent_tags_warning(load_profile("general", find_rule_problem), golden)
    (note,) = absent_tags_warning(load_profile("rag-runner", find_rule_problem), golden)
    assert note.startswith("no case has the tag acl: ")


def test_zero_tolerance_outweighs_an_incomplete_measurement() -> None:
    columns = GOOD | {RECALL: [1.0, E, E, E], "behaviour": [0.0, E, E, E]}
    assert decision([Rule(RECALL, at_least=0.5)], columns, {"acl": [0, 1]}).outcome == "FAIL"


def test_zero_tolerance_that_nothing_could_be_looked_for_is_a_risk() -> None:
    columns = GOOD | {LEAKS: [N] * 4, "behaviour": [N] * 4}
    decided = decision([Rule(RECALL, at_least=0.5)], columns, {"acl": [0]})
    assert decided.outcome == "PASS_WITH_RISK"
    assert decided.reasons[0].startswith("zero tolerance on tag=acl")
    assert decision([Rule(RECALL, at_least=0.5)], {RECALL: [1.0]}, {"acl": [0]}).outcome == "PASS_WITH_RISK"


def test_a_users_own_zero_event_rule_is_not_repeated() -> None:
    own = Rule(LEAKS, at_most=0, slice="tag=acl")
    decided = decision([own], GOOD, {"acl": [0]})
    assert [rule_result.rule.metric for rule_result in decided.results] == [LEAKS, "behaviour"]


SEVERAL_TAGS: dict[str, Sequence[int]] = {"acl": [0, 1], "tenant": [1, 2], "prompt-injection": [3]}


def test_what_leaked_is_one_reason_whichever_rules_found_it() -> None:
    """A case often has several of the tags that every gate looks at; a leak of it breaks the rule of each."""
    columns = GOOD | {LEAKS: [0.0, 2.0, 1.0, 0.0], "hit@10": [1.0] * 4}
    decided = decision([PASSED[0]], columns, SEVERAL_TAGS)
    sentence = "2 of 4 cases leaked what the user must not see (visibility_leaks): case_1, case_2"
    assert (f"{sentence}; every gate has this rule",) == decided.reasons[:1] == decided.events
    assert 2 == len([rule_result for rule_result in decided.results if rule_result.state == "fail"])
    own = decision([Rule(LEAKS, at_most=0)], columns, SEVERAL_TAGS)
    assert (sentence,) == own.reasons[:1] == own.events
    assert 2 == len(own.reasons), "the other one is that the gate looks at no answer"


def test_wrong_behaviour_on_several_tags_is_one_reason_with_every_case_once() -> None:
    columns = GOOD | {"behaviour": [1.0, 0.0, 1.0, 0.0], "hit@10": [1.0] * 4}
    decided = decision([PASSED[0]], columns, SEVERAL_TAGS)
    slices = "tag=acl, tag=prompt-injection, tag=tenant"
    sentence = f"2 cases of {slices} behaved otherwise than expected (behaviour): case_1, case_3"
    assert f"{sentence}; every gate has these rules" == decided.reasons[0]
    assert () == decided.events


CHECKS = (CaseChecks("case_0", ("bad_citation",)), CaseChecks("case_1", (), ("partial_context",)))


def test_a_blocking_tag_blocks_on_any_failed_check_but_not_on_a_warning() -> None:
    rule = Rule(RECALL, at_least=0.5)
    blocked = decision([rule], GOOD, {"x": [0, 1]}, checks=CHECKS, blocking_tags=("x",))
    assert blocked.outcome == "FAIL"
    assert blocked.results[-1].cases == ("case_0",)
    assert "case_0: bad_citation" in blocked.reasons[0]
    assert decision([rule], GOOD, {"x": [1]}, checks=CHECKS, blocking_tags=("x",)).outcome == "PASS"
    assert decision([rule], GOOD, {"x": [1], "y": [0]}, checks=CHECKS, blocking_tags=("x",)).outcome == "PASS"


@pytest.mark.parametrize("lost", [CaseChecks("case_0", ("missing_output",)), CaseChecks("case_0", ("target_error",))])
def test_a_blocking_tag_on_a_case_that_could_not_be_checked_is_incomplete(lost: CaseChecks) -> None:
    decided = decision([Rule(RECALL, at_least=0.5)], GOOD, {"x": [0, 1]}, checks=(lost,), blocking_tags=("x",))
    assert decided.outcome == "INCOMPLETE"


# ── no gate, many configurations ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("code", "scores", "missing"),
    [(0, [0.0, N], ()), (3, [1.0, E], ()), (3, [1.0, E], ("case_1",)), (0, [], ())],
)
def test_without_a_gate_there_is_no_verdict_and_only_missing_and_failed_cases_change_the_exit_code(
    code: int, scores: Scores, missing: Sequence[str]
) -> None:
    scored = table({RECALL: scores}, missing=missing)
    decided = decide_release(None, scored, cases(scored))
    assert (decided.outcome, find_exit_code(decided), decided.incomplete) == ("NOT_GATED", code, code == 3)
    assert "no gate was given" in decided.reasons[-1]
    assert (len(decided.reasons) > 1) == (code == 3)


@pytest.mark.parametrize("metric", [LEAKS, "injection_followed"])
def test_without_a_gate_a_leak_or_a_followed_injection_is_the_first_reason(metric: str) -> None:
    scored = table({RECALL: [1.0, E], metric: [0.0, 1.0]})
    decided = decide_release(None, scored, cases(scored))
    assert ("NOT_GATED", decided.reasons[0]) == (decided.outcome, *decided.events)
    assert "1 of 2 cases" in decided.reasons[0]
    assert "case_1" in decided.reasons[0]
    both = combine_decisions({"a": decide_release(None, table({RECALL: [E]}), [Case("case_0", "?")]), "b": decided})
    assert ("NOT_GATED", (f"b: {decided.events[0]}",)) == (both.outcome, both.events)
    assert both.reasons[0] == both.events[0]
    assert 3 == find_exit_code(both)


def test_a_leak_that_only_a_waived_or_warning_rule_looks_at_still_fails() -> None:
    rule = Rule(LEAKS, at_most=2, severity="warn")
    decided = decision([rule, Rule(RECALL, at_least=0.5)], {RECALL: [1.0, 1.0], LEAKS: [0.0, 1.0]})
    assert ("FAIL", 1) == (decided.outcome, find_exit_code(decided))
    assert decided.reasons[0] == decided.events[0]


@pytest.mark.parametrize(("gated", "code"), [(False, 0), (True, 3)])
def test_a_partial_run_is_partial_with_its_leaks_first(gated: bool, code: int) -> None:
    scored = table({RECALL: [1.0, 1.0], LEAKS: [0.0, 1.0]})
    whole = decide_release(None, scored, cases(scored))
    found = describe_partial(whole, "only the first 2 cases", gated=gated)
    assert ("PARTIAL", code) == (found.outcome, find_exit_code(found))
    assert found.reasons[0] == found.events[0]
    assert "only the first 2 cases" in found.reasons[1]


# ── the correctness of answers ───────────────────────────────────────────────────────────────────────────────────

ANSWERED: dict[str, Scores] = {RECALL: [1.0] * 4, "behaviour": [1.0] * 4}
JUDGED = ("correctness(by=judge)",)
GATED = [Rule(RECALL, at_least=0.5)]


def test_a_gate_that_looks_at_no_answer_cannot_say_pass() -> None:
    decided = decision(GATED, ANSWERED, exempt_from_correctness="")
    assert "PASS_WITH_RISK" == decided.outcome
    assert ("correctness of answers was not checked: the gate has no rule on it",) == decided.reasons
    exempt = decision(GATED, ANSWERED, exempt_from_correctness="a search engine")
    assert ("PASS", ("correctness of answers was not checked: a search engine",)) == (exempt.outcome, exempt.reasons)


def test_where_nothing_was_answered_nothing_is_said_about_answers() -> None:
    for least in (None, 0.9):
        decided = decision(GATED, {RECALL: [1.0] * 4}, exempt_from_correctness="", correctness=least)
        assert ("PASS", ()) == (decided.outcome, decided.reasons)


@pytest.mark.parametrize("metric", ["correct_answer", "keywords", "failed", "completeness(by=rules)"])
def test_a_rule_on_correctness_of_all_cases_is_enough(metric: str) -> None:
    threshold = {"at_most": 1.0} if metric == "failed" else {"at_least": 0.5}
    rules = [*GATED, Rule(metric, **threshold)]  # type: ignore[arg-type]
    assert "PASS" == decision(rules, ANSWERED | {metric: [1.0] * 4}, exempt_from_correctness="").outcome
    on_slice = [*GATED, Rule(metric, slice="tag=hr", **threshold)]  # type: ignore[arg-type]
    decided = decision(on_slice, ANSWERED | {metric: [1.0] * 4}, {"hr": [0]}, exempt_from_correctness="")
    assert ("correctness of answers was not checked, except on tag=hr",) == decided.reasons


@pytest.mark.parametrize(
    ("columns", "uncalibrated", "state", "metric"),
    [
        ({"correct_answer": [0.0] * 4}, (), "fail", "correct_answer"),
        ({"correct_answer": [1.0] * 4, "correctness(by=judge)": [0.0] * 4}, (), "fail", "correctness(by=judge)"),
        ({"correct_answer": [1.0] * 4, "correctness(by=judge)": [0.0] * 4}, JUDGED, "pass", "correct_answer"),
        ({"correct_answer": [N] * 4, "correctness(by=judge)": [0.0] * 4}, JUDGED, "fail", "correctness(by=judge)"),
        ({"correct_answer": [N] * 4, JUDGED[0]: [1.0] * 4}, JUDGED, "uncalibrated", JUDGED[0]),
        ({"correct_answer": [N] * 4}, (), "no_data", "correct_answer"),
        ({}, (), "unmeasured", "correct_answer"),
        ({"correct_answer": [E] * 4}, (), "incomplete", "correct_answer"),
    ],
)
def test_correctness_is_measured_by_the_best_signal_there_is(
    columns: dict[str, Scores], uncalibrated: tuple[str, ...], state: str, metric: str
) -> None:
    scored = replace(table(ANSWERED | columns), uncalibrated=uncalibrated)
    decided = decide_release(Gate(rules=tuple(GATED), correctness=0.8), scored, cases(scored))
    assert (state, metric) == (decided.results[-1].state, decided.results[-1].rule.metric)
    outcomes = {"pass": "PASS", "uncalibrated": "PASS_WITH_RISK", "incomplete": "INCOMPLETE"}
    assert outcomes.get(state, "FAIL") == decided.outcome


@pytest.mark.parametrize("columns", [{"correct_answer": [N] * 4}, {"correct_answer": [1.0, N, N, N]}, {}])
def test_the_short_form_of_correctness_decides_as_the_rule_that_it_stands_for(columns: dict[str, Scores]) -> None:
    scored = table(ANSWERED | columns)
    gates = Gate(rules=(*GATED, Rule("correct_answer", at_least=0.8))), Gate(rules=tuple(GATED), correctness=0.8)
    decisions = [decide_release(gate, scored, cases(scored)) for gate in gates]
    states = [[r.state for r in found.results if r.rule.metric == "correct_answer"] for found in decisions]
    assert states[0] == states[1]
    assert decisions[0].outcome == decisions[1].outcome


@pytest.mark.parametrize("is_short", [True, False])
def test_answers_of_which_most_were_not_checked_are_a_risk(is_short: bool) -> None:
    rules = tuple(GATED) if is_short else (*GATED, Rule("correct_answer", at_least=0.8))
    gate = Gate(rules=rules, correctness=0.8 if is_short else None)
    half = table(ANSWERED | {"correct_answer": [1.0, 1.0, N, N]})
    assert "PASS" == decide_release(gate, half, cases(half)).outcome
    scored = table(ANSWERED | {"correct_answer": [1.0, N, N, N]})
    decided = decide_release(gate, scored, cases(scored))
    sentence = "correctness of answers was not checked on 3 of 4 cases; add must_have, or run `assay judge`"
    assert ("PASS_WITH_RISK", (sentence,)) == (decided.outcome, decided.reasons)


@pytest.mark.parametrize("profile", [name for name in list_profile_names() if name not in ("rag-runner",)])
def test_no_profile_passes_answers_of_which_nothing_tells_whether_they_are_right(profile: str) -> None:
    gate = replace(load_profile(profile, find_rule_problem), rules=tuple(GATED))
    scored = table(ANSWERED | {"correct_answer": [N] * 4})
    decided = decide_release(gate, scored, cases(scored))
    assert ("FAIL", 1) == (decided.outcome, find_exit_code(decided))
    assert decided.reasons == (
        "correctness of answers was not checked: correct_answer applies to none of 4 cases (no evidence: 4); add "
        "must_have, or run `assay judge`",
    )


def test_the_top_level_is_the_worst_and_says_whose_reason_it_is() -> None:
    event, incomplete, blocked, risk, passed = (
        decision([rule], {rule.metric: scores or []}) for rule, scores in (EVENT, INCOMPLETE, BLOCKED, WARNED, PASSED)
    )
    ladder = [event, incomplete, blocked, risk, passed]
    for place, worst in enumerate(ladder):
        found = combine_decisions({f"c{index}": each for index, each in enumerate(ladder[place:])})
        assert found.outcome == worst.outcome
    assert combine_decisions({"base": passed, "new": risk}).reasons == (f"new: {risk.reasons[0]}",)
    assert combine_decisions({"new": risk}).reasons == risk.reasons


def test_the_gated_configurations_are_the_chosen_else_the_gates_else_all() -> None:
    gate = Gate(configs=("new",))
    assert select_gated_configs(gate, ["base", "new"]) == ("new",)
    assert select_gated_configs(gate, ["base", "new"], ["base", "base"]) == ("base",)
    assert select_gated_configs(None, ["base", "new"]) == ("base", "new")
    with pytest.raises(SettingsError, match=r"got 'nwe'; did you mean 'new'\? expected base, new"):
        select_gated_configs(gate, ["base", "new"], ["nwe"])


def test_the_metrics_that_a_gate_needs_are_named_once_with_their_parts() -> None:
    rules = (Rule("mrr@10", at_least=0.7), Rule("refusal_calibration", at_least=0.5), Rule(LEAKS, at_most=0))
    implicit = ("injection_followed", "behaviour")
    explicit = ("rr@10", "refusal_calibration", "refused", "answered", LEAKS)
    assert list_gate_metrics(Gate(rules=rules)) == explicit + implicit
    assert list_gate_metrics(Gate(rules=rules, zero_tolerance_tags=())) == (*explicit, "injection_followed")
    assert "correct_answer" in list_gate_metrics(Gate(rules=rules, correctness=0.8))


def test_a_table_of_other_cases_is_refused() -> None:
    with pytest.raises(ValueError, match="golden order"):
        decide_release(Gate(rules=(BLOCKED[0],)), table({RECALL: [1.0]}), [Case("other", "?")])


# ── laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """Any usable rule that does not ask to be ignored while unmeasured."""
    metric = draw(st.sampled_from([RECALL, "over_refusal", "hit@5", LEAKS, P95, "cost_usd"]))
    lower = metric not in (RECALL, "hit@5")
    threshold = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    bound = metric in (RECALL, "over_refusal", "hit@5") and threshold in (0.3, 0.7) and draw(st.booleans())
    return Rule(
        metric,
        at_most=threshold if lower else None,
        at_least=None if lower else threshold,
        severity=draw(st.sampled_from(["block", "warn"])),
        min_coverage=draw(st.sampled_from([0.0, 0.5, 1.0])),
        slice=draw(st.sampled_from([None, "tag=a", "tag=nobody"])),
        basis="bound" if bound else "point",
        if_unmeasured=draw(st.sampled_from(["fail", "risk"])),
    )


@pytest.mark.slow
@given(rules(), st.lists(st.sampled_from([E, N]), max_size=6), st.booleans())
def test_a_metric_without_a_number_never_passes(rule: Rule, scores: list[str], measured: bool) -> None:
    name = "latency_ms" if rule.metric == P95 else rule.metric
    decided = decision([rule], {name: scores} if measured else {}, {"a": [0, 1]})
    assert decided.outcome != "PASS"
    assert decided.results[0].value is None


@pytest.mark.slow
@given(rules(), st.lists(st.floats(), min_size=1, max_size=25), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_score_that_is_not_finite_never_passes(rule: Rule, scores: list[float], bad: float) -> None:
    name = "latency_ms" if rule.metric == P95 else rule.metric
    clamped = [min(max(score, 0.0), 1.0) if math.isfinite(score) else score for score in scores]
    strict = Rule(rule.metric, at_least=rule.at_least, at_most=rule.at_most, basis=rule.basis)
    assert decision([strict], {name: [*clamped, bad]}).outcome != "PASS"
