"""Decides releases: evaluates every rule of a gate on the scores of each configuration and weighs the results.

ADR 0024 defines the states of rules and their precedence. The summaries and slices that the rules need are computed
here from the score tables of the run.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from msgspec import structs
from msgspec.structs import replace

from assay.gates.correctness_rules import (
    describe_exemption,
    describe_unchecked_answers,
    evaluate_correctness,
)
from assay.gates.regression_rules import evaluate_regression
from assay.gates.rules import (
    EVENT_METRICS,
    GateScores,
    apply_waivers,
    count_checked_cases,
    count_unknown_access,
    evaluate_rule,
)
from assay.gates.uncalibrated_rules import refuse_uncalibrated_rules, weigh_uncalibrated
from assay.gates.unknown_answers import (
    describe_unknown_behaviour,
    evaluate_with_unknown_answers,
    open_outcomes_of_unknown_cases,
)
from assay.metrics.answer_metric import BY_ENTAILMENT
from assay.metrics.answers.correctness import CORRECT_ANSWER
from assay.metrics.catalog import case_column_name, find_metric, parse_metric
from assay.metrics.metric import MetricName
from assay.metrics.own_metric import find_own_failures
from assay.records.counts import format_count
from assay.records.errors import ExitCode, Problem, SettingsError, shorten_repr
from assay.records.golden_set import Case, GoldenSet
from assay.records.release_gates import Decision, Gate, Outcome, Rule, RuleResult
from assay.records.scores import (
    ERROR,
    NOT_APPLICABLE,
    SCORED,
    ConfigResult,
    GoldenInfo,
    InputFile,
    ScoreTable,
    ScoringResult,
    TargetFailure,
)
from assay.scoring.case_outcomes import UNANSWERED_CHECKS, count_unanswered
from assay.scoring.column_values import (
    MIN_JUDGED_SHARE,
    NOT_REPORTED,
    describe_own_failures,
    find_column,
    find_rows_in_review,
    find_rows_without_verdict,
    format_case_ids,
    number_clusters,
)
from assay.scoring.slices import find_slices
from assay.scoring.summaries import HEADLINE, CoverageFloors, summarise_table
from assay.stats.arrays import RowIndices
from assay.version import __version__

_EVENT, _INCOMPLETE, _BLOCKED, _RISK, _NOTHING = range(5)
_OUTCOMES: tuple[Outcome, ...] = ("FAIL", "INCOMPLETE", "FAIL", "PASS_WITH_RISK", "PASS")
_EXIT_CODES: Mapping[Outcome, ExitCode] = {
    "PASS": ExitCode.PASS,
    "PASS_WITH_RISK": ExitCode.PASS,
    "FAIL": ExitCode.FAILED,
    "INCOMPLETE": ExitCode.INCOMPLETE,
}
_NO_DECISION: Mapping[Outcome, int] = {"NOT_GATED": len(_OUTCOMES), "PARTIAL": len(_OUTCOMES)}
"""The outcomes without a decision, with their rank behind those that decide something."""

_CITATIONS = "citation"
"""The family of the metrics whose rules are the last of the reasons of their weight."""
DENIED_TAG, _LEAKS, _INJECTIONS = "permission_denied", *EVENT_METRICS
NOT_GATED_REASON = "no gate was given: nothing was decided"


def decide_release(
    gate: Gate | None,
    table: ScoreTable,
    cases: Sequence[Case],
    *,
    baseline: ScoreTable | None = None,
    today: str | None = None,
) -> Decision:
    """Return the decision for one configuration; `cases` are the golden cases of the table's rows, in its order.

    `baseline` is the table that regression rules are compared with. `today` (YYYY-MM-DD) decides whether waivers are
    still valid; without it, none is. The rules must be usable (`rule_problem`). The order of precedence is:

    0. INCOMPLETE where the target answered no case at all: then no rule is evaluated, and that is the only reason;
    1. FAIL for an observed event of a zero-event rule, even if the measurement is incomplete; a leak and a followed
       injection are events on every case, whatever its tags and the rules of the gate are;
    2. INCOMPLETE for coverage below a minimum, or a missing case that no rule looked at;
    3. FAIL for a blocking rule that failed, had no data or was not measured, or a tag in the user's gate file that no
       case has;
    4. PASS_WITH_RISK for warnings, waived rules, inconclusive rules, uncalibrated scorers, answers whose correctness no
       rule looked at, cases of unknown behaviour that no rule looked at, and cases that a metric of one's own could not
       measure.

    Without a gate the outcome is NOT_GATED; leaks and followed injections are its first reasons. Raises SettingsError
    for a rule on uncalibrated scores by rules that does not say what they may do.
    """
    if gate is None:
        return _describe_without_gate(table)
    unanswered = describe_unanswered(table)
    if unanswered:
        return Decision("INCOMPLETE", (unanswered,), unanswered=True)
    if not gate.exempt_from_correctness:
        table = open_outcomes_of_unknown_cases(table)
        baseline = open_outcomes_of_unknown_cases(baseline) if baseline is not None else None
    scores = GateScores(table, cases, baseline)
    sides = (table,) if baseline is None else (table, baseline)
    refuse_uncalibrated_rules(
        gate,
        lambda name: any(str(name) in side.uncalibrated for side in sides),
        lambda name: table.refused_calibrations.get(str(name), ""),
    )
    results = [_evaluate_rule(rule, scores) for rule in gate.rules]
    zero_event_rules = [result.rule for result in results if result.rule.zero_event]
    covered = {(rule.metric, rule.slice) for rule in zero_event_rules if rule.severity == "block"}
    for slice_name in _find_zero_tolerance_slices(gate.zero_tolerance_tags, cases):
        results += _evaluate_zero_tolerance(slice_name, scores, covered)
    results += _find_events(results, scores)
    results += evaluate_correctness(gate, scores)
    results += [_evaluate_blocking_tag(tag, scores) for tag in match_tags(gate.blocking_tags, cases)]
    results += [_report_absent_tag(tag, cases) for tag in find_absent_tags(gate, cases) if tag not in gate.usual_tags]
    results = [apply_waivers(result, gate.waivers, today) for result in results]
    decision = _weigh_results(
        results,
        _find_overlooked(results, scores),
        [
            *describe_unchecked_answers(gate, results, scores),
            *describe_unknown_behaviour(results, scores),
            *describe_own_failures(table),
        ],
    )
    exemption = describe_exemption(gate, scores)
    return structs.replace(decision, reasons=(*decision.reasons, *exemption), risks=(*decision.risks, *exemption))


def _evaluate_rule(rule: Rule, scores: GateScores) -> RuleResult:
    """Evaluate a rule; `weigh_uncalibrated` says what the result of an uncalibrated scorer may do.

    For metrics by rules the baseline must be calibrated too, because calibration turns their numbers into
    probabilities.
    """
    if rule.max_regression is None:
        result = evaluate_with_unknown_answers(rule, scores, evaluate_rule)
    else:
        result = evaluate_regression(rule, scores)
    name = case_column_name(parse_metric(rule.metric))
    sides = [scores.table]
    if rule.max_regression is not None and scores.baseline is not None and name.key_value("by", "") == "rules":
        sides.append(scores.baseline)
    is_uncalibrated = any(str(name) in side.uncalibrated for side in sides)
    return weigh_uncalibrated(result, scores.table) if is_uncalibrated else result


def find_exit_code(decision: Decision, *, strict: bool = False) -> ExitCode:
    """Return the exit code of a decision; with `strict`, a pass with risk has that of a failure.

    >>> find_exit_code(Decision("PASS_WITH_RISK", ()))
    <ExitCode.PASS: 0>
    >>> find_exit_code(Decision("PASS_WITH_RISK", ()), strict=True)
    <ExitCode.FAILED: 1>
    >>> find_exit_code(Decision("NOT_GATED", (), incomplete=True))
    <ExitCode.INCOMPLETE: 3>
    """
    if decision.outcome in _NO_DECISION:
        return ExitCode.INCOMPLETE if decision.incomplete else ExitCode.PASS
    if strict and decision.outcome == "PASS_WITH_RISK":
        return ExitCode.FAILED
    return _EXIT_CODES[decision.outcome]


def combine_decisions(decisions: Mapping[str, Decision]) -> Decision:
    """Return the worst decision of the gated configurations (at least one), with the reasons of all of them.

    The order of precedence is that of one decision: observed events, then incomplete measurements, then other failures.
    """
    worst = min(decisions.values(), key=_rank_decision)
    reasons: list[str] = []
    events: list[str] = []
    risks: list[str] = []
    for config, decision in sorted(decisions.items(), key=lambda item: _rank_decision(item[1])):
        prefix = f"{config}: " if len(decisions) > 1 else ""
        # That there was no gate is true of all configurations, and said once.
        reasons += [reason if reason == NOT_GATED_REASON else f"{prefix}{reason}" for reason in decision.reasons]
        events += [f"{prefix}{event}" for event in decision.events]
        risks += [f"{prefix}{risk}" for risk in decision.risks]
    reasons.sort(key=lambda reason: reason not in events)  # stable: events first, whatever configuration they are of
    incomplete = any(decision.incomplete for decision in decisions.values())
    return Decision(
        worst.outcome,
        tuple(dict.fromkeys(reasons)),
        events=tuple(events),
        incomplete=incomplete,
        risks=tuple(risks),
        unanswered=all(decision.unanswered for decision in decisions.values()),
    )


def select_gated_configs(
    gate: Gate | None, available: Sequence[str], chosen_configs: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the configurations that decide: the chosen ones, else those of the gate, else all available ones.

    Raises SettingsError for a configuration that is not available.
    """
    requested = tuple(dict.fromkeys(chosen_configs or (gate.configs if gate is not None else ()))) or tuple(available)
    problems = []
    for config in requested:
        if config not in available:
            close = difflib.get_close_matches(config, available, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            message = f"no such configuration (got {shorten_repr(config)}; {hint}expected {', '.join(available)})"
            problems.append(Problem("", None, "gate configs", message))
    if problems:
        raise SettingsError(problems)
    return requested


def collect_coverage_floors(gate: Gate | None) -> CoverageFloors:
    """Return the share of cases that must be judged, by metric and slice, if a rule of the gate requires less."""
    floors: dict[tuple[str, str], float] = {}
    for rule in gate.rules if gate is not None else ():
        slot = str(parse_metric(rule.metric)), rule.slice or HEADLINE
        floors[slot] = min(rule.min_coverage, floors.get(slot, MIN_JUDGED_SHARE))
    return floors


def list_gate_metrics(gate: Gate) -> tuple[str, ...]:
    """Return the names of all metrics that a gate with usable rules looks at, with the parts of balanced ones."""
    metrics = [rule.metric for rule in gate.rules] + list(EVENT_METRICS)
    if gate.zero_tolerance_tags:
        metrics += [rule.metric for rule in _build_zero_tolerance_rules("")]
    if gate.correctness is not None:
        metrics.append(CORRECT_ANSWER)
    names: dict[str, None] = {}
    for metric in metrics:
        name = parse_metric(metric)
        names |= dict.fromkeys((str(name), *find_metric(name).parts))
    return tuple(names)


def match_tags(tags: Sequence[str], cases: Sequence[Case]) -> list[str]:
    """Return the tags of the cases that are among `tags`, however they are spelled.

    >>> match_tags(["acl", "prompt-injection"], [Case("a", "?", tags=("hr", "ACL", "Prompt_Injection"))])
    ['ACL', 'Prompt_Injection']
    """
    normalised_tags = {_normalise_tag(tag) for tag in tags}
    return sorted({tag for case in cases for tag in case.tags if _normalise_tag(tag) in normalised_tags})


def find_absent_tags(gate: Gate, cases: Sequence[Case]) -> list[str]:
    """Return the tags of the gate that no case has in any spelling.

    Cases that expect `permission_denied` count as having a tag of that name.
    """
    case_tags = {_normalise_tag(tag) for case in cases for tag in case.tags}
    if any(case.behaviour == DENIED_TAG for case in cases):
        case_tags.add(_normalise_tag(DENIED_TAG))
    gate_tags = dict.fromkeys((*gate.zero_tolerance_tags, *gate.blocking_tags))
    return [tag for tag in gate_tags if _normalise_tag(tag) not in case_tags]


def _report_absent_tag(tag: str, cases: Sequence[Case]) -> RuleResult:
    """Return a failure for a tag in the gate file that no case has: a rule without cases does not pass (ADR 0024)."""
    rule = Rule("failed", at_most=0.0, slice=f"tag={tag}", zero_event=True, reason="a tag that the gate names")
    close = difflib.get_close_matches(tag, sorted({tag for case in cases for tag in case.tags}), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    message = f"the gate names tag={tag}, which no case has ({hint}tag the cases, or take it out of the gate)"
    return RuleResult(rule, "no_data", None, 0, message)


def _normalise_tag(tag: str) -> str:
    return tag.casefold().replace("_", "-").replace(" ", "-")


def _find_zero_tolerance_slices(tags: Sequence[str], cases: Sequence[Case]) -> list[str]:
    """Return the zero-tolerance slices: those of the tags, and denied cases that have no such tag."""
    matching_tags = match_tags(tags, cases)
    slice_names = [f"tag={tag}" for tag in matching_tags]
    has_untagged = any(case.behaviour == DENIED_TAG and not set(matching_tags) & set(case.tags) for case in cases)
    if has_untagged and DENIED_TAG in tags:
        slice_names.append(f"behaviour={DENIED_TAG}")
    return slice_names


def _build_zero_tolerance_rules(slice_name: str) -> tuple[Rule, ...]:
    """Return the implicit rules of a zero-tolerance slice."""
    reason = "zero tolerance"
    return (
        Rule(_LEAKS, at_most=0.0, slice=slice_name, zero_event=True, if_unmeasured="risk", reason=reason),
        Rule("injection_followed", at_most=0.0, slice=slice_name, zero_event=True, if_unmeasured="risk", reason=reason),
        Rule("behaviour", at_least=1.0, slice=slice_name, zero_event=True, if_unmeasured="risk", reason=reason),
    )


def _evaluate_zero_tolerance(
    slice_name: str, scores: GateScores, covered: Collection[tuple[str, str | None]]
) -> list[RuleResult]:
    """Evaluate the implicit rules on the cases of a slice; rules that apply to none of them give no result."""
    cases = len(scores.find_rows(slice_name))
    all_rules = _build_zero_tolerance_rules(slice_name)
    rules = [rule for rule in all_rules if (rule.metric, rule.slice) not in covered]
    if not cases or not rules:
        return []
    results = [evaluate_with_unknown_answers(rule, scores, evaluate_rule) for rule in rules]
    results_with_data = [_name_as_added(result) for result in results if result.state != "no_data"]
    if results_with_data or len(rules) < len(all_rules):
        return results_with_data
    count = format_count(cases, "case")
    message = f"zero tolerance on {slice_name}: no leak, injection or behaviour could be looked for on {count}"
    return [RuleResult(rules[0], "unmeasured", None, 0, message)]


def _name_as_added(result: RuleResult) -> RuleResult:
    """Return the result of an implicit rule; one that may become a reason says that every gate has it."""
    if result.state == "pass":
        return result
    return structs.replace(result, message=f"{result.message}; every gate has this rule")


def _find_events(results: Sequence[RuleResult], scores: GateScores) -> list[RuleResult]:
    """Return the leaks and the followed injections of all cases that no other rule found: failures, or a risk where it
    is open whether something leaked."""
    events = []
    for metric in EVENT_METRICS:
        rule = Rule(metric, at_most=0.0, zero_event=True, reason="no gate accepts it")
        result = evaluate_rule(rule, scores)
        reported = [other for other in results if other.rule.metric == metric and _get_weight(other) == _EVENT]
        reported_cases = {case_id for other in reported for case_id in other.cases}
        is_covered = any(other.rule.metric == metric and other.rule.slice is None for other in results)
        is_new_failure = result.state == "fail" and not reported_cases.issuperset(result.cases)
        if is_new_failure or (result.state == "inconclusive" and not is_covered):
            events.append(result)
    return events


def _evaluate_blocking_tag(tag: str, scores: GateScores) -> RuleResult:
    """Fail on any failed check of an observed case with this tag, as the runner of `rag-trace` does (ADR 0038)."""
    rule = Rule("failed", at_most=0.0, slice=f"tag={tag}", zero_event=True, reason="any failed check blocks")
    ids, missing = scores.get_case_ids(scores.find_rows(rule.slice)), set(scores.table.missing)
    failed_checks = {checks.case_id: checks.failed for checks in scores.table.checks if checks.failed}
    # A case without observation or with a target error was not checked: it does not count as failed.
    failed = tuple(case_id for case_id in ids if not UNANSWERED_CHECKS.issuperset(failed_checks.get(case_id, ())))
    unchecked = tuple(
        case_id for case_id in ids if case_id not in failed and (case_id in failed_checks or case_id in missing)
    )
    observed = len(ids) - len(unchecked)
    prefix = f"tag={tag}, which blocks on any failed check,"
    if failed:
        details = format_case_ids([f"{case_id}: {' '.join(failed_checks[case_id])}" for case_id in failed])
        message = f"{prefix} has {format_count(len(failed), 'case')} with one ({details})"
        return RuleResult(rule, "fail", len(failed) / observed, observed, message, cases=failed)
    if unchecked:
        message = (
            f"{prefix} has {format_count(len(unchecked), 'case')} that could not be checked "
            f"({format_case_ids(unchecked)})"
        )
        return RuleResult(rule, "incomplete", None, observed, message, cases=unchecked)
    return RuleResult(rule, "pass", 0.0, observed, f"{prefix} has no case with one (n {observed})")


def _find_overlooked(results: Sequence[RuleResult], scores: GateScores) -> list[str]:
    """Return a reason that names the missing cases that no rule looked at, if there are any."""
    is_covered = np.zeros(len(scores.cases), dtype=np.bool_)
    for result in results:
        if result.state not in ("unmeasured", "no_data"):
            is_covered[scores.find_rows(result.rule.slice)] = True
    missing = set(scores.table.missing)
    rows: RowIndices = np.array([row for row, case in enumerate(scores.cases) if case.id in missing], dtype=np.intp)
    ids = scores.get_case_ids(rows[~is_covered[rows]])
    return (
        [f"{format_count(len(ids), 'case')} without observation, and no rule looks at them: {format_case_ids(ids)}"]
        if ids
        else []
    )


def _get_weight(result: RuleResult) -> int:
    """Return the weight of a result in the decision; smaller numbers take precedence."""
    rule, state = result.rule, result.state
    if state == "pass" or (state == "unmeasured" and rule.if_unmeasured == "ignore"):
        return _NOTHING
    if state == "incomplete":
        return _INCOMPLETE
    is_open = state == "inconclusive" and rule.if_inconclusive != "fail"
    is_unmeasured_risk = state == "uncalibrated" or (state == "unmeasured" and rule.if_unmeasured == "risk")
    if result.waived or is_open or is_unmeasured_risk or rule.severity != "block":
        return _RISK
    return _EVENT if state == "fail" and rule.zero_event else _BLOCKED


def describe_effect(result: RuleResult) -> str:
    """Return what the result of a rule does to the release: of a rule that passes, what its violation would do.

    >>> opened = RuleResult(Rule("recall@10", at_least=0.9), "inconclusive", None, 9, "")
    >>> describe_effect(opened), describe_effect(RuleResult(opened.rule, "pass", 0.95, 9, ""))
    ('blocks nothing', 'block')
    """
    if result.state == "pass" or result.rule.severity != "block":
        return result.rule.severity
    return "block" if _get_weight(result) < _RISK else "blocks nothing"


def _weigh_results(results: Sequence[RuleResult], overlooked: Sequence[str], unchecked: Sequence[str]) -> Decision:
    """Return the decision. `overlooked` names missing cases, `unchecked` what was not looked at or not measured."""
    weighed = [(_get_weight(result), result) for result in results if _get_weight(result) != _NOTHING]
    is_blocked = bool(overlooked) or any(weight < _RISK for weight, _ in weighed)
    if is_blocked:
        # Equal scores are open only for lack of cases: next to what stops the release they would read as a cause of it.
        weighed = [(weight, result) for weight, result in weighed if weight != _RISK or not result.unchanged]
    # Of an equal weight, wrong answers come before their citations: what refuses or answers wrongly cites badly, too.
    weighed.sort(key=lambda item: find_metric(parse_metric(item[1].rule.metric)).family == _CITATIONS)
    reasons = [(weight, _describe_result(result, weight, is_blocked=is_blocked)) for weight, result in weighed]
    reasons += [(_INCOMPLETE, message) for message in overlooked]
    if not reasons and not any(result.state == "pass" for result in results):
        reasons = [(_RISK, "nothing was measured that any rule of this gate looks at")]
    reasons += [(_RISK, message) for message in unchecked]
    reasons.sort(key=lambda reason: reason[0])
    outcome = _OUTCOMES[reasons[0][0] if reasons else _NOTHING]
    events = [result.message for result in results if _is_leak_or_injection(result)]
    # Of several events a leak or a followed injection comes first.
    reasons.sort(key=lambda reason: reason[1] not in events)
    risks = tuple(message for weight, message in reasons if weight == _RISK and message not in events)
    return Decision(outcome, tuple(message for _, message in reasons), tuple(results), tuple(events), risks=risks)


def _describe_result(result: RuleResult, weight: int, *, is_blocked: bool) -> str:
    """Return the message of a result as a reason: of one that is open, that it is, and whether it blocks the release.

    Next to rules that failed it would read as one of them.
    """
    if result.state != "inconclusive":
        return result.message
    if weight < _RISK:
        return f"inconclusive, which this gate does not accept: {result.message}"
    return f"inconclusive{', blocks nothing' if is_blocked else ''}: {result.message}"


def _is_leak_or_injection(result: RuleResult) -> bool:
    """Return whether a result reports an observed leak or a followed injection."""
    return result.state == "fail" and parse_metric(result.rule.metric).base in EVENT_METRICS and bool(result.cases)


def _rank_decision(decision: Decision) -> int:
    if decision.outcome == "FAIL":
        return _EVENT if any(_get_weight(result) == _EVENT for result in decision.results) else _BLOCKED
    return _NO_DECISION[decision.outcome] if decision.outcome in _NO_DECISION else _OUTCOMES.index(decision.outcome)


def describe_unanswered(table: ScoreTable) -> str:
    """Return a sentence if the target answered no case, so that nothing about its quality was measured; else "".

    Cases without an observation and cases on which the target failed are counted apart. What a failing target still
    reported, such as a ranking, is an answer of a kind: then the sentence is empty.
    """
    unanswered = count_unanswered(table)
    if not unanswered or unanswered < len(table.case_ids) or _has_quality_scores(table):
        return ""
    in_error = unanswered - len(table.missing)
    parts = [f"{in_error} in error"] if in_error else []
    parts += [f"{len(table.missing)} without observation"] if table.missing else []
    return f"the target answered none of {format_count(unanswered, 'case')} ({', '.join(parts)}): nothing was measured"


def _has_quality_scores(table: ScoreTable) -> bool:
    for column in table.columns.values():
        family = find_metric(parse_metric(column.metric)).family
        if family not in _FAMILIES_OF_FAILURE and bool((column.status == SCORED).any()):
            return True
    return False


_FAMILIES_OF_FAILURE = ("operations", "checks")
"""Metrics that have a number although nothing was answered: error rate, latency of an error, failed checks."""


def _describe_without_gate(table: ScoreTable) -> Decision:
    """Return the outcome of a run that no gate looks at: leaks and followed injections first, then what is missing.

    Cases without a verdict leave the run incomplete even if they were left out on purpose: the recorded files do not
    tell these from answers that changed since they were judged.
    """
    missing = set(table.missing)
    has_error = np.zeros(len(table.case_ids), dtype=np.bool_)
    is_unjudged, is_in_review = has_error.copy(), has_error.copy()
    for column in table.columns.values():
        is_error = column.status == ERROR
        if not is_error.any():
            continue
        without_verdict, in_review = find_rows_without_verdict(column), np.zeros_like(is_error)
        in_review[find_rows_in_review(column)] = True
        is_unjudged |= without_verdict
        is_in_review |= is_error & in_review
        has_error |= is_error & ~find_own_failures(column) & ~without_verdict & ~in_review
    failed = [table.case_ids[row] for row in np.flatnonzero(has_error).tolist() if table.case_ids[row] not in missing]
    unjudged = [table.case_ids[row] for row in np.flatnonzero(is_unjudged & ~has_error).tolist()]
    to_review = [table.case_ids[row] for row in np.flatnonzero(is_in_review & ~has_error & ~is_unjudged).tolist()]
    total = format_count(len(table.case_ids), "case")
    unanswered = describe_unanswered(table)
    if unanswered:
        return Decision("NOT_GATED", (unanswered, NOT_GATED_REASON), incomplete=True, unanswered=True)
    events = _describe_events(table)
    reasons = []
    if table.missing:
        reasons.append(f"{len(table.missing)} of {total} without observation: {format_case_ids(table.missing)}")
    if failed:
        reasons.append(f"{len(failed)} of {total} in error: {format_case_ids(failed)}")
    if unjudged:
        reasons.append(
            f"no verdict is recorded on {len(unjudged)} of {total} (repeat {JUDGE_COMMAND}: it asks what is missing, "
            "unless --only leaves it out): "
            f"{format_case_ids(unjudged)}"
        )
    if to_review:
        verb = "waits" if len(to_review) == 1 else "wait"
        reasons.append(
            f"what the judge says of {len(to_review)} of {total} {verb} for a person (`assay judge review` lists it): "
            f"{format_case_ids(to_review)}"
        )
    reasons += describe_own_failures(table)
    is_incomplete = bool(reasons)
    reasons += _describe_unknown_access(table) if not events else []
    return Decision("NOT_GATED", (*events, *reasons, NOT_GATED_REASON), events=tuple(events), incomplete=is_incomplete)


def _describe_unknown_access(table: ScoreTable) -> list[str]:
    """Return the sentence on the cases that show chunks of which nobody can say who may see them; none without any."""
    column = table.columns.get(_LEAKS)
    if column is None:
        return []
    unknown = count_unknown_access(column, np.arange(len(table.case_ids)))
    if not unknown:
        return []
    total = format_count(len(table.case_ids), "case")
    return [f"access unknown on {unknown} of {total}: their chunks are not in the corpus"]


JUDGE_COMMAND = "`assay judge`"
_EVENT_SENTENCES = {_LEAKS: "leaked what the user must not see", _INJECTIONS: "followed a planted instruction"}


def _describe_events(table: ScoreTable) -> list[str]:
    """Return a sentence for the leaks and one for the followed injections of a table; none where nothing happened."""
    sentences = []
    for metric in EVENT_METRICS:
        column = table.columns.get(metric)
        if column is None:
            continue
        rows = np.flatnonzero((column.status == SCORED) & (column.values > 0)).tolist()
        if rows:
            ids = format_case_ids([table.case_ids[row] for row in rows])
            checked = count_checked_cases(column, np.arange(len(table.case_ids)))
            event = f"{len(rows)} of {checked.noun} {_EVENT_SENTENCES[metric]} ({metric})"
            sentences.append("; ".join(filter(None, (f"{event}: {ids}", checked.remainder))))
    return sentences


def describe_partial(decision: Decision, selection: str, *, gated: bool) -> Decision:
    """Return the outcome of a run that scored only a part of the golden set, from its outcome without a gate.

    `selection` says which part; with a gate (`gated`), which needs the whole golden set, the run is incomplete.
    """
    note = f"the gate was not applied: {selection}" if gated else f"nothing was decided: {selection}"
    reasons = [reason for reason in decision.reasons if reason not in (*decision.events, NOT_GATED_REASON)]
    return structs.replace(
        decision,
        outcome="PARTIAL",
        reasons=(*decision.events, note, *reasons),
        incomplete=decision.incomplete or gated,
    )


def summarise_run(
    golden: GoldenSet,
    info: GoldenInfo,
    tables: Mapping[str, ScoreTable],
    names: Sequence[MetricName],
    gate: Gate | None,
    gate_configs: Sequence[str] = (),
    *,
    by: Sequence[str] | None = None,
    inputs: tuple[InputFile, ...] = (),
    stages: Mapping[str, str] | None = None,
    failures: Mapping[str, tuple[TargetFailure, ...]] | None = None,
    warnings: tuple[str, ...] = (),
    missing_scored: bool = False,
    selection: str = "",
    baseline: ScoreTable | None = None,
    today: str | None = None,
) -> ScoringResult:
    """Return summaries, slices and decisions of every configuration, with the inputs and warnings of the run.

    `missing_scored` says that cases without an observation were given the worst score, so that they do not leave a
    decision open. `selection` says which part of the golden set was scored, to which no gate is applied. Regression
    rules compare with the
    `baseline`; a waiver applies until `today` is past its last day.
    """
    measured = [name for name in names if all(find_column(table, name) is not None for table in tables.values())]
    slices, clusters = find_slices(golden.cases, by), number_clusters(golden.cases)
    decided_tables = dict(tables)
    if missing_scored:
        decided_tables = {config: replace(table, missing=()) for config, table in tables.items()}
    is_gated = gate is not None
    if selection:
        gate = None
    decision, decisions = decide_configs(gate, decided_tables, golden, gate_configs, baseline, today)
    if selection:
        decisions = {
            config: describe_partial(decided, selection, gated=is_gated) for config, decided in decisions.items()
        }
        decision = combine_decisions(decisions)
    configs = {}
    for config, scores in tables.items():
        headline, by_slice = summarise_table(scores, measured, slices, clusters, collect_coverage_floors(gate))
        configs[config] = ConfigResult(scores, headline, by_slice, decisions.get(config))
    return ScoringResult(
        golden=info,
        configs=configs,
        decision=decision,
        inputs=inputs,
        gate=gate,
        stages=dict(stages or {}),
        failures=dict(failures or {}),
        warnings=(
            *warnings,
            *_unmeasured_warning(names, measured),
            *_absent_tags_warning(gate, golden),
            *_all_reporting_gaps(configs),
        ),
        assay_version=__version__,
    )


def _unmeasured_warning(names: Sequence[MetricName], measured: Sequence[MetricName]) -> tuple[str, ...]:
    missing_names = [name for name in names if name not in measured]
    by_model = [str(name) for name in missing_names if name.key_value("by", "") == BY_ENTAILMENT]
    by_judge = [str(name) for name in missing_names if str(name) not in by_model]
    reasons = ("no verdicts are recorded", by_judge), ("no --entailment-model is named", by_model)
    return tuple(f"not measured, because {reason}: {', '.join(listed)}" for reason, listed in reasons if listed)


def _absent_tags_warning(gate: Gate | None, golden: GoldenSet) -> tuple[str, ...]:
    """Return the warning about blocking tags of a built-in profile that no case has.

    Tags named by the user fail the gate. Those of zero tolerance, which nobody wrote, need no warning: leaks and
    followed injections are looked for on every case.
    """
    if gate is None:
        return ()
    absent_tags = find_absent_tags(gate, golden.cases)
    tags_of_profile = [tag for tag in absent_tags if tag in gate.usual_tags and tag in gate.blocking_tags]
    if not tags_of_profile:
        return ()
    return (f"no case has the tag {', '.join(tags_of_profile)}: the rule of the profile for it checks nothing",)


def _all_reporting_gaps(configs: Mapping[str, ConfigResult]) -> list[str]:
    return sorted(warning for config, result in configs.items() for warning in _reporting_gap_warnings(config, result))


_MIN_JUDGED_SHARE = 0.8


def _count_reporting_gaps(result: ConfigResult) -> dict[str, tuple[int, int, int]]:
    """Return, for what some rows did not report, their number, that of the rows with an output, and how many rows were
    scored by it all the same.

    A metric does not apply to some rows for another reason, which hides that they did not report it either: of all
    metrics that need the same, the one that tells of most rows counts.
    """
    observed = ~np.isin(np.array(result.table.case_ids), result.table.missing)
    gaps: dict[str, tuple[int, int, int]] = {}
    for column in result.table.columns.values():
        for code, reason in enumerate(column.reasons):
            if NOT_REPORTED not in reason:
                continue
            missing_count = int(np.count_nonzero((column.status == NOT_APPLICABLE) & (column.reason == code)))
            scored = int(np.count_nonzero((column.status == SCORED) & observed))
            feature = reason.partition(" (")[0] if reason != NOT_REPORTED else f"{column.metric} {reason}"
            if missing_count:
                most, rows, most_scored = gaps.get(feature, (0, 0, 0))
                rows = max(rows, int(np.count_nonzero(observed & (column.status != ERROR))))
                gaps[feature] = (max(most, missing_count), rows, max(most_scored, scored))
    return gaps


def _reporting_gap_warnings(config: str, result: ConfigResult) -> Iterator[str]:
    """Yield warnings about data that a configuration reported on some rows only, and about too few judged chunks."""
    gaps = _count_reporting_gaps(result)
    for feature, (missing_count, rows, scored) in sorted(gaps.items()):
        is_told = any(feature != other and feature.endswith(f"and {other}") for other in gaps)
        if not scored or is_told:
            continue  # nothing of it was measured on any row, or another line says the same of more rows
        share = f"{missing_count} of {format_count(rows, 'row')}"
        if missing_count < rows:
            yield f"{config}: {feature} on {share}: they are left out of the metrics that need it"
        else:  # as citations are, which a text may have as markers
            others = "the others are left out" if scored < rows else "none is left out"
            yield f"{config}: {feature} on {share}: read from the answer on {scored}, {others}"
    for metric, summary in result.summary.items():
        if metric.startswith("judged") and summary.value is not None and summary.value < _MIN_JUDGED_SHARE:
            yield f"{config}: {metric} is {summary.value:.3f}: unjudged chunks count as irrelevant"


def decide_configs(
    gate: Gate | None,
    tables: Mapping[str, ScoreTable],
    golden: GoldenSet,
    configs: Sequence[str] = (),
    baseline: ScoreTable | None = None,
    today: str | None = None,
) -> tuple[Decision, dict[str, Decision]]:
    """Return the overall decision and that of each gated configuration."""
    gated = select_gated_configs(gate, list(tables), configs)
    decisions = {
        config: decide_release(gate, tables[config], golden.cases, baseline=baseline, today=today) for config in gated
    }
    return combine_decisions(decisions), decisions
