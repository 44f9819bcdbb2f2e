"""The rules of a gate in a table: the state of each, what decided it, and what so many cases can show."""

from __future__ import annotations

from collections.abc import Mapping

from assay.gates.decision_weight import describe_effect
from assay.records.release_gates import ADDED_RULE_REASONS, Decision, RuleResult
from assay.records.scores import ScoringResult
from assay.report.findings.table import Table
from assay.report.wording.number_format import NOT_AVAILABLE, find_metric_row, format_number
from assay.scoring.column_values import format_compared


def build_gate_table(scoring: ScoringResult) -> Table:
    """Return every rule of the gate with its state, the number that decided and the bound it was compared with."""
    decisions = {config: result.decision for config, result in scoring.configs.items() if result.decision is not None}
    return build_checklist_table(decisions)


def build_checklist_table(decisions: Mapping[str, Decision]) -> Table:
    """Return every rule of the decisions by configuration, with the smallest difference that it can detect."""
    rows = [
        (config, *_format_rule_cells(rule_result))
        for config, decision in sorted(decisions.items())
        for rule_result in decision.results
    ]
    numbers = ("Number", "Bound", "Scored", "Detects")
    columns = ("Config", "State", "Metric", "Slice", *numbers, "Severity", "What was found")
    notes = ["Detects: the smallest difference that this many cases show with a power of 80%."] if rows else []
    notes += _describe_added_rules(decisions)
    return Table("Release Gate Checklist", columns, tuple(rows), tuple(notes))


def _describe_added_rules(decisions: Mapping[str, Decision]) -> list[str]:
    """Return which of the rules that were checked are in no gate file, and why each was checked."""
    subjects_by_reason: dict[str, dict[str, None]] = {}
    for decision in decisions.values():
        for rule in (result.rule for result in decision.results if result.rule.reason in ADDED_RULE_REASONS):
            subject = f"{rule.metric} on {rule.slice or 'all cases'}"
            subjects_by_reason.setdefault(rule.reason, {}).setdefault(subject)
    return [
        f"Not from the gate's file, but in every gate: {', '.join(subjects)} ({ADDED_RULE_REASONS[reason]})."
        for reason, subjects in subjects_by_reason.items()
    ]


def _format_rule_cells(rule_result: RuleResult) -> tuple[str, ...]:
    rule = rule_result.rule
    sign, threshold = ("≥", rule.at_least) if rule.at_least is not None else ("≤", rule.at_most or 0.0)
    if rule.max_regression is not None:
        sign, threshold = "gain ≥", -rule.max_regression
    metric_row = find_metric_row(rule.metric)
    unit = metric_row.unit if metric_row is not None else ""
    value, bound = format_compared(rule_result.value if rule_result.value is not None else threshold, threshold, unit)
    return (
        f"{rule_result.state}, waived" if rule_result.waived else rule_result.state,
        rule.metric,
        rule.slice or "all cases",
        value if rule_result.value is not None else NOT_AVAILABLE,
        f"{sign} {bound}",
        str(rule_result.scored),
        format_number(rule_result.detectable, rule.metric),
        describe_effect(rule_result),
        rule_result.message,
    )
