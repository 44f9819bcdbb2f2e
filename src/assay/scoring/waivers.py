"""Waivers: somebody with a name accepts that one rule stays unmet, until the end of a day, and it is printed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.errors import MetricNameError
from assay.graders.catalog import parse
from assay.model import Rule, RuleResult, Waiver

_LIFTED = ("fail", "inconclusive", "unmeasured")


def waiver_problem(waiver: Waiver, rules: Sequence[Rule]) -> str | None:
    """Return what is wrong with a waiver of a gate with usable rules, None where nothing is.

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
    """Return what a rule found, as waived where one of the waivers is for it and holds on `today` (YYYY-MM-DD).

    An observed event of a zero-event rule is never lifted, nor is what could not be measured whole. Without a day no
    waiver holds: an expiry that nobody checks is none. What keeps a waiver from holding is said.
    """
    mine = [
        each for each in waivers if (str(parse(each.metric)), each.slice) == (result.rule.metric, result.rule.slice)
    ]
    if not mine or result.state == "pass":
        return result
    if result.state not in _LIFTED or (result.state == "fail" and result.rule.zero_event):
        why = "an observed event cannot be waived" if result.rule.zero_event else f"{result.state} cannot be waived"
        return replace(result, message=f"{result.message}; {why}")
    last = max(mine, key=lambda each: each.expires)
    if today is None:
        why = "is not applied, because no time was given (--now or SOURCE_DATE_EPOCH)"
    elif today > last.expires:
        why = "has expired"
    else:
        said = f"{last.owner} until {last.expires}: {last.reason}"
        return replace(result, message=f"{result.message}; waived by {said}", waived=said)
    return replace(result, message=f"{result.message}; the waiver by {last.owner} until {last.expires} {why}")
