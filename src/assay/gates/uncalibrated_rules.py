"""Rules on scorers that are not calibrated against human labels: what they may do, and which of them are refused.

ADR 0043: an uncalibrated judge may stop a release and never allow one; an uncalibrated score by rules has no absolute
scale, so a rule on it must say what it is to mean.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from assay.metrics.catalog import case_column_name, find_metric, parse_metric
from assay.metrics.metric import MetricName
from assay.records.errors import Problem, SettingsError
from assay.records.release_gates import Gate, Rule, RuleResult
from assay.records.scores import ScoreTable

UNCALIBRATED_NOTE = "the scorer is not calibrated against human labels (see assay calibrate)"


def is_scored_by_rules(name: MetricName) -> bool:
    """Return whether the score of a metric comes from rules or a model that need calibration, not from a judge."""
    by = name.key_value("by", "rules")
    return by in ("rules", "entailment") and by in find_metric(name).uncalibrated


def refuse_uncalibrated_rules(
    gate: Gate, is_uncalibrated: Callable[[MetricName], bool], explain: Callable[[MetricName], str]
) -> None:
    """Raise SettingsError for each rule on uncalibrated scores by rules that does not state `uncalibrated`.

    `is_uncalibrated` says it of a metric's column, and `explain` why a calibration that was given lets it not gate, ""
    if none was. A rule that only warns needs no statement: it decides nothing.
    """
    problems = []
    for rule in gate.rules:
        name = case_column_name(parse_metric(rule.metric))
        if rule.uncalibrated is not None or rule.severity == "warn" or not is_scored_by_rules(name):
            continue
        if is_uncalibrated(name):
            is_model = name.key_value("by", "") == "entailment"
            by, others = ("a model", " with --entailment-model DIR") if is_model else ("rules", "")
            message = (
                f"{rule.metric}: an uncalibrated score by {by} has no absolute scale, so a bound on it means nothing "
                f"(got {_format_condition(rule)}; expected --calibration FILE{others}, or uncalibrated: fail or risk)"
            )
            reason = explain(name)
            message += f"; {reason}" if reason else ""
            problems.append(Problem("", None, "gate rules", message, "E_UNCALIBRATED"))
    if problems:
        raise SettingsError(problems)


def _format_condition(rule: Rule) -> str:
    conditions = {
        "at_least": rule.at_least,
        "at_most": rule.at_most,
        "max_regression": rule.max_regression,
    }
    return ", ".join(f"{name}: {value:g}" for name, value in conditions.items() if value is not None)


def weigh_lenient_judge(result: RuleResult, table: ScoreTable) -> RuleResult:
    """Return the result of a rule on a judge: open, if it passes only by what the judge gives more than people.

    The calibration measured that. A comparison with a baseline of the same judge is not affected.
    """
    rule, value = result.rule, result.value
    leniency = table.leniency.get(str(case_column_name(parse_metric(rule.metric))))
    if leniency is None or result.state != "pass" or rule.at_least is None or value is None:
        return result
    if value - leniency.value >= rule.at_least:
        return result
    measured = f"{leniency.value:.3f} more than people in its calibration ({leniency.low:.3f} to {leniency.high:.3f})"
    message = f"{result.message}; the judge gives {measured}: {value - leniency.value:.3f} without that"
    return structs.replace(result, message=message, state="inconclusive")


def weigh_uncalibrated(result: RuleResult, table: ScoreTable) -> RuleResult:
    """Return what the result of a rule on an uncalibrated scorer means: a kept bound is a risk, a violated one fails.

    The message says of a calibration in the `table` why it lets the metric not gate. A rule with `uncalibrated: risk`
    never fails. The message keeps the value and the bound. An event that only an
    uncalibrated scorer saw fails as an ordinary rule does: it outranks no incomplete measurement.
    """
    rule, state = result.rule, result.state
    if state == "no_data" and rule.if_unmeasured != "fail":
        return structs.replace(result, state="unmeasured")
    if state not in ("pass", "fail", "inconclusive"):
        return result
    column_name = str(case_column_name(parse_metric(rule.metric)))
    message = f"{result.message}; {table.refused_calibrations.get(column_name, UNCALIBRATED_NOTE)}"
    if state == "inconclusive" or (state == "fail" and rule.uncalibrated != "risk"):
        return structs.replace(result, message=message, rule=structs.replace(rule, zero_event=False))
    return structs.replace(result, message=message, state="uncalibrated")
