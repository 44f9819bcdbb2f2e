"""Weighs the results of rules into a decision, and decisions into one: the heaviest decides (ADR 0024)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.gates.rules import EVENT_IS_NOT_WAIVED, EVENT_METRICS
from assay.gates.ungated_decision import NOT_GATED_REASON
from assay.metrics.catalog import find_metric, parse_metric
from assay.records.counts import format_count
from assay.records.errors import ExitCode
from assay.records.release_gates import ADDED_RULE_REASONS, VARIANT_EVENT, Decision, Outcome, RuleResult
from assay.scoring.column_values import format_case_ids

EVENT, _INCOMPLETE, _BLOCKED, _RISK, _NOTHING = range(5)
_OUTCOMES: tuple[Outcome, ...] = ("FAIL", "INCOMPLETE", "FAIL", "PASS_WITH_RISK", "PASS")
_EXIT_CODES: Mapping[Outcome, ExitCode] = {
    "PASS": ExitCode.PASS,
    "PASS_WITH_RISK": ExitCode.PASS,
    "FAIL": ExitCode.FAILED,
    "INCOMPLETE": ExitCode.INCOMPLETE,
}
_NO_DECISION: Mapping[Outcome, int] = {"NOT_GATED": len(_OUTCOMES), "PARTIAL": len(_OUTCOMES)}
"""The outcomes without a decision, with their rank behind those that decide something."""

BEHAVIOUR = "behaviour"
_CITATIONS = "citation"
"""The family of the metrics whose rules are the last of the reasons of their weight."""


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
    limits: list[str] = []
    for config, decision in sorted(decisions.items(), key=lambda item: _rank_decision(item[1])):
        prefix = f"{config}: " if len(decisions) > 1 else ""
        # That there was no gate is true of all configurations, and said once.
        reasons += [reason if reason == NOT_GATED_REASON else f"{prefix}{reason}" for reason in decision.reasons]
        events += [f"{prefix}{event}" for event in decision.events]
        risks += [f"{prefix}{risk}" for risk in decision.risks]
        limits += [f"{prefix}{limit}" for limit in decision.limits]
    reasons.sort(key=lambda reason: reason not in events)  # stable: events first, whatever configuration they are of
    incomplete = any(decision.incomplete for decision in decisions.values())
    return Decision(
        worst.outcome,
        tuple(dict.fromkeys(reasons)),
        events=tuple(events),
        incomplete=incomplete,
        risks=tuple(risks),
        unanswered=all(decision.unanswered for decision in decisions.values()),
        limits=tuple(limits),
    )


def get_weight(result: RuleResult) -> int:
    """Return the weight of a result in the decision; smaller numbers take precedence."""
    rule, state = result.rule, result.state
    if state == "pass" or (state == "unmeasured" and rule.if_unmeasured == "ignore"):
        return _NOTHING
    if state == "no_data" and rule.if_no_data == "ignore":
        return _NOTHING
    if state == "incomplete":
        return _INCOMPLETE
    is_open = state == "inconclusive" and rule.if_inconclusive != "fail"
    is_unmeasured_risk = state == "uncalibrated" or (state == "unmeasured" and rule.if_unmeasured == "risk")
    if result.waived or is_open or is_unmeasured_risk or rule.severity != "block":
        return _RISK
    return EVENT if state == "fail" and rule.zero_event else _BLOCKED


def describe_effect(result: RuleResult) -> str:
    """Return what the result of a rule does to the release: of a rule that passes, what its violation would do.

    >>> from assay.records.release_gates import Rule
    >>> opened = RuleResult(Rule("recall@10", at_least=0.9), "inconclusive", None, 9, "")
    >>> describe_effect(opened), describe_effect(RuleResult(opened.rule, "pass", 0.95, 9, ""))
    ('blocks nothing', 'block')
    """
    if result.state == "pass" or result.rule.severity != "block":
        return result.rule.severity
    return "block" if get_weight(result) < _RISK else "blocks nothing"


def weigh_results(
    results: Sequence[RuleResult],
    overlooked: Sequence[str],
    unchecked: Sequence[str],
    event_sentences: Mapping[str, str] | None = None,
) -> Decision:
    """Return the decision. `overlooked` names missing cases, `unchecked` what was not looked at or not measured.

    `event_sentences` say what leaked and which instructions were followed (`describe_events`), by metric: the results
    of all rules that found it are one reason. Each rule keeps its own message.
    """
    shared_messages = {id(result): message for result, message in _iter_shared_messages(results, event_sentences or {})}
    weighed = [(get_weight(result), result) for result in results if get_weight(result) != _NOTHING]
    is_blocked = bool(overlooked) or any(weight < _RISK for weight, _ in weighed)
    if is_blocked:
        # Equal scores are open only for lack of cases: next to what stops the release they would read as a cause of it.
        weighed = [(weight, result) for weight, result in weighed if weight != _RISK or not result.unchanged]
    # Of an equal weight, wrong answers come before their citations: what refuses or answers wrongly cites badly, too.
    weighed.sort(key=lambda item: find_metric(parse_metric(item[1].rule.metric)).family == _CITATIONS)
    shared_messages |= _share_unmeasured(weighed)
    reasons = [
        (weight, shared_messages.get(id(result)) or _describe_result(result, weight, is_blocked=is_blocked))
        for weight, result in weighed
    ]
    reasons += [(_INCOMPLETE, message) for message in overlooked]
    if not reasons and not any(result.state == "pass" for result in results):
        reasons = [(_RISK, "nothing was measured that any rule of this gate looks at")]
    reasons += [(_RISK, message) for message in unchecked]
    reasons.sort(key=lambda reason: reason[0])
    outcome = _OUTCOMES[reasons[0][0] if reasons else _NOTHING]
    event_messages = [
        shared_messages.get(id(result), result.message) for result in results if _is_leak_or_injection(result)
    ]
    events = list(dict.fromkeys(event_messages))
    # Of several events a leak or a followed injection comes first.
    reasons.sort(key=lambda reason: reason[1] not in events)
    risks = tuple(message for weight, message in reasons if weight == _RISK and message not in events)
    messages = tuple(dict.fromkeys(message for _, message in reasons))
    return Decision(outcome, messages, tuple(results), tuple(events), risks=risks)


def _share_unmeasured(weighed: Sequence[tuple[int, RuleResult]]) -> dict[int, str]:
    """Return one sentence for all risks that were not measured, by each of their results: a judge that was not asked
    leaves three rules open, and is one thing to do."""
    results = [result for weight, result in weighed if weight == _RISK and result.message.endswith(_NOT_MEASURED)]
    if len(results) < _SEVERAL:
        return {}
    *subjects, last = [result.message.removesuffix(_NOT_MEASURED) for result in results]
    is_blocked = any(weight < _RISK for weight, _ in weighed)
    sentence = f"{'blocks nothing: ' if is_blocked else ''}{', '.join(subjects)} and {last} were not measured"
    return {id(result): sentence for result in results}


_NOT_MEASURED, _SEVERAL = " was not measured", 2


def _iter_shared_messages(
    results: Sequence[RuleResult], event_sentences: Mapping[str, str]
) -> Iterator[tuple[RuleResult, str]]:
    """Yield the results that are one reason together, each with it: leaks, followed injections, and what the rules that
    every gate has on several tags found of one metric.

    A case often has several of these tags, and a leak of it breaks the rule of each.
    """
    violated: dict[str, list[RuleResult]] = {}
    for result in results:
        if result.state == "fail" and result.rule.zero_event and result.cases and not result.waived:
            violated.setdefault(result.rule.metric, []).append(result)
    for metric, of_metric in violated.items():
        added = [result for result in of_metric if result.rule.reason in ADDED_RULE_REASONS]
        if metric in event_sentences:
            of_cases = [result for result in of_metric if result.rule.reason != VARIANT_EVENT]
            notes = [event_sentences[metric]]
            notes += ["every gate has this rule"] if len(added) == len(of_metric) else []
            notes += [EVENT_IS_NOT_WAIVED] if any(EVENT_IS_NOT_WAIVED in result.message for result in of_cases) else []
            yield from ((result, "; ".join(notes)) for result in of_cases)
        elif metric == BEHAVIOUR and added:
            message = _describe_wrong_behaviour(added)
            yield from ((result, message) for result in added)


def _describe_wrong_behaviour(results: Sequence[RuleResult]) -> str:
    """Return one sentence on what the rule on behaviour, which every gate has on each of several tags, found."""
    case_ids = tuple(dict.fromkeys(case_id for result in results for case_id in result.cases))
    slices = ", ".join(result.rule.slice or "all cases" for result in results)
    rule = "this rule" if len(results) == 1 else "these rules"
    count = format_count(len(case_ids), "case")
    return (
        f"{count} of {slices} behaved otherwise than expected ({BEHAVIOUR}): {format_case_ids(case_ids)}; "
        f"every gate has {rule}"
    )


def _describe_result(result: RuleResult, weight: int, *, is_blocked: bool) -> str:
    """Return the message of a result as a reason: of one that is open, that it is, and whether it blocks the release.

    Next to rules that failed it would read as one of them, and so would a rule on an uncalibrated scorer that is kept.
    """
    if result.state != "inconclusive":
        is_read_as_failed = is_blocked and weight == _RISK and result.state in ("uncalibrated", "unmeasured")
        return f"blocks nothing: {result.message}" if is_read_as_failed else result.message
    if weight < _RISK:
        return f"inconclusive, which this gate does not accept: {result.message}"
    return f"inconclusive{', blocks nothing' if is_blocked else ''}: {result.message}"


def _is_leak_or_injection(result: RuleResult) -> bool:
    """Return whether a result reports an observed leak or a followed injection."""
    return result.state == "fail" and parse_metric(result.rule.metric).base in EVENT_METRICS and bool(result.cases)


def _rank_decision(decision: Decision) -> int:
    if decision.outcome == "FAIL":
        return EVENT if any(get_weight(result) == EVENT for result in decision.results) else _BLOCKED
    return _NO_DECISION[decision.outcome] if decision.outcome in _NO_DECISION else _OUTCOMES.index(decision.outcome)
