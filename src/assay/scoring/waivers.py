"""Waivers: a named owner accepts that one rule stays unmet until the end of a day; reports show it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.errors import MetricNameError
from assay.graders.catalog import parse
from assay.model import Rule, RuleResult, Waiver

_WAIVABLE_STATES = ("fail", "inconclusive", "unmeasured")


def waiver_problem(waiver: Waiver, rules: Sequence[Rule]) -> str | None:
    """Return what is wrong with a waiver of a gate with usable rules, None if it is valid.

    >>> waiver_problem(Waiver("recall@5", "Lan", "2026-04-01", "new index"), [Rule("recall@10", at_least=0.9)])
    'no rule is for recall@5 on all cases (expected the metric and slice of a rule)'
    """
    try:
        name = str(parse(waiver.metric))
    except MetricNameError as error:
        return error.problems[0].message
    if not waiver.owner.strip() or not waiver.reason.strip():
        return "a waiver needs an owner and a reason (got an empty one)"
    if (name, waiver.slice) not in {(str(parse(rule.metric)), rule.slice) for rule in rules}:
        return f"no rule is for {name} on {waiver.slice or 'all cases'} (expected the metric and slice of a rule)"
    return None


def waived(result: RuleResult, waivers: Sequence[Waiver], today: str | None) -> RuleResult:
    """Return the result of a rule, marked as waived if one of the waivers applies on `today` (YYYY-MM-DD).

    An observed event of a zero-event rule cannot be waived, nor can an incomplete measurement. Without `today` no
    waiver applies, because its expiry cannot be checked. The message says why a waiver does not apply.
    """
    slot = result.rule.metric, result.rule.slice
    matching = [waiver for waiver in waivers if (str(parse(waiver.metric)), waiver.slice) == slot]
    if not matching or result.state == "pass":
        return result
    if result.state not in _WAIVABLE_STATES or (result.state == "fail" and result.rule.zero_event):
        reason = "an observed event cannot be waived" if result.rule.zero_event else f"{result.state} cannot be waived"
        return replace(result, message=f"{result.message}; {reason}")
    last = max(matching, key=lambda waiver: waiver.expires)
    if today is None:
        reason = "is not applied, because no time was given (--now or SOURCE_DATE_EPOCH)"
    elif today > last.expires:
        reason = "has expired"
    else:
        acceptance = f"{last.owner} until {last.expires}: {last.reason}"
        return replace(result, message=f"{result.message}; waived by {acceptance}", waived=acceptance)
    return replace(result, message=f"{result.message}; the waiver by {last.owner} until {last.expires} {reason}")
