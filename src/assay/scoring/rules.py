"""Checks the rules of a gate and fills in the settings that a rule leaves open."""

from __future__ import annotations

import math

import msgspec

from assay.errors import MetricNameError
from assay.graders.base import Grader
from assay.graders.catalog import grader_of, parse
from assay.model import Rule
from assay.scoring.measured import PERCENTILES, statistic_of
from assay.scoring.slices import slice_name_problem

SAFETY_METRICS = frozenset(
    {
        "visibility_leaks",
        "injection_followed",
        "denial_accuracy",
        "abstention_accuracy",
        "under_refusal",
        "hallucination_risk",
        "critical_hallucinations",
    }
)
_CONDITIONS = ("at_least", "at_most", "max_regression")


def rule_problem(rule: Rule) -> str | None:
    """Return what is wrong with a rule, whatever is measured; None if it is usable.

    >>> rule_problem(Rule("latency_ms(stat=p95)", at_least=6000))
    'latency_ms(stat=p95) is better low (got at_least; expected at_most)'
    """
    try:
        name = parse(rule.metric)
    except MetricNameError as error:
        return error.problems[0].message
    conditions = [field for field in _CONDITIONS if getattr(rule, field) is not None]
    if len(conditions) != 1:
        return f"expected exactly one of {', '.join(_CONDITIONS)} (got {' and '.join(conditions) or 'none'})"
    grader = grader_of(name)
    slice_problem = slice_name_problem(rule.slice) if rule.slice is not None else None
    if rule.max_regression is not None:
        return _find_regression_problem(rule, str(name), grader, rule.max_regression) or slice_problem
    return (
        _find_threshold_problem(rule, str(name), grader)
        or slice_problem
        or _find_basis_problem(rule, str(name), grader)
    )


def resolved(rule: Rule) -> Rule:
    """Return the rule with the canonical name of its metric and with defaults for `zero_event` and `if_inconclusive`.

    A rule that allows at most 0 of a count or share (leaks, followed injections) is a zero-event rule by default. An
    inconclusive regression rule blocks on safety metrics and is a risk on the others by default.
    """
    name = parse(rule.metric)
    grader = grader_of(name)
    zero_event = rule.zero_event
    if zero_event is None:
        counts_events = grader.unit in ("count", "share") and grader.direction == "lower"
        zero_event = rule.at_most == 0 and counts_events and statistic_of(grader, str(name)) not in PERCENTILES
    if_inconclusive = rule.if_inconclusive
    if if_inconclusive is None and rule.max_regression is not None:
        if_inconclusive = "fail" if grader.name in SAFETY_METRICS else "risk"
    return msgspec.structs.replace(rule, metric=str(name), zero_event=zero_event, if_inconclusive=if_inconclusive)


def threshold_of(rule: Rule) -> float:
    """Return the threshold of a usable rule."""
    threshold = rule.at_most if rule.at_least is None else rule.at_least
    assert threshold is not None
    return threshold


def _find_threshold_problem(rule: Rule, metric: str, grader: Grader) -> str | None:
    condition, value = "at_most" if rule.at_least is None else "at_least", threshold_of(rule)
    expected = {"higher": "at_least", "lower": "at_most"}.get(grader.direction, condition)
    if condition != expected:
        side = "high" if expected == "at_least" else "low"
        return f"{metric} is better {side} (got {condition}; expected {expected})"
    high = math.inf if statistic_of(grader, metric) == "total" else grader.high
    if math.isfinite(value) and grader.low <= value <= high:
        return None
    hint = f"; did you mean {value / 100:g}?" if high == 1 < value <= 100 else ""
    value_range = f"{grader.low:g} to {high:g}" if math.isfinite(high) else f"{grader.low:g} or more"
    return f"the threshold is outside the range of {metric} (got {value:g}; expected {value_range}{hint})"


def _find_regression_problem(rule: Rule, metric: str, grader: Grader, margin: float) -> str | None:
    statistic = statistic_of(grader, metric)
    if statistic not in ("mean", "rate"):
        return f"max_regression is for means and rates (got {metric}, a {statistic})"
    if grader.direction == "neutral":
        return f"neither direction of {metric} is a regression (got max_regression)"
    if rule.zero_event or rule.basis == "bound":
        return "max_regression has its own bounds (got it with zero_event or basis: bound)"
    if not 0 < margin < math.inf:
        return f"no number of cases can show that nothing at all was lost (got {margin:g}; expected a margin above 0)"
    if margin >= grader.high - grader.low:
        hint = f"; did you mean {margin / 100:g}?" if grader.high == 1 <= margin <= 100 else ""
        return f"the margin is as wide as {metric} can be (got {margin:g}{hint})"
    return None


def _find_basis_problem(rule: Rule, metric: str, grader: Grader) -> str | None:
    statistic = statistic_of(grader, metric)
    perfect = rule.at_most == grader.low if rule.at_least is None else rule.at_least == grader.high
    if rule.zero_event and not (perfect and statistic in ("mean", "rate", "total")):
        return "zero_event is for a mean, rate or total that must be perfect (expected a threshold such as at_most: 0)"
    if rule.basis == "bound" and statistic not in ("mean", "rate"):
        return f"basis: bound is for means and rates (got {metric}, a {statistic})"
    if rule.basis == "bound" and perfect:
        return "basis: bound can never show a perfect score (expected basis: point, or a threshold short of perfect)"
    return None
