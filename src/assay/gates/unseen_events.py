"""What a rule on leaks that passed can say where few cases tell of them: how many do, and what it cannot exclude."""

from __future__ import annotations

from collections.abc import Iterable

from assay.gates.rules import EVENT_METRICS, GateScores
from assay.metrics.catalog import parse_metric
from assay.records.counts import format_count
from assay.records.release_gates import RuleResult

LEAST_CHECKED = 0.5
"""The share of the cases from which on a pass is taken as one about these cases, and not about a few of them."""
_NOTHING_SEEN = {"visibility_leaks": "leaked", "injection_followed": "followed a planted instruction"}


def describe_unseen_events(results: Iterable[RuleResult], scores: GateScores) -> list[str]:
    """Return, for each rule on leaks or followed injections that passed on fewer than half of its cases, how many were
    checked and how often it may happen all the same, after the rules without data that the gate accepts. Such a reason
    is no risk: nothing was left out by mistake."""
    reasons = [
        f"{result.message}, which this gate accepts (if_no_data: ignore)"
        for result in results
        if result.state == "no_data" and result.rule.if_no_data == "ignore"
    ]
    for result in results:
        metric, slice_name = result.rule.metric, result.rule.slice
        cases = len(scores.find_rows(slice_name))
        is_open = result.state == "pass" and result.upper_bound is not None and result.scored < LEAST_CHECKED * cases
        if is_open and parse_metric(metric).base in EVENT_METRICS:
            event = _NOTHING_SEEN.get(parse_metric(metric).base, "had an event")
            where = f" of {slice_name}" if slice_name is not None else ""
            reasons.append(
                f"{metric} tells of {result.scored} of {format_count(cases, 'case')}{where}, none of which {event}: of "
                f"such cases up to {result.upper_bound:.1%} may still do so (one-sided 95% bound)"
            )
    return list(dict.fromkeys(reasons))
