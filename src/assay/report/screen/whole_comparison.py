"""What `assay compare --verbose` prints: the decision, what changed and why, and the tables."""

from __future__ import annotations

from assay.records.findings import Comparison, describe_leaks, list_leaking_cases
from assay.records.release_gates import Decision
from assay.report.findings.comparison_tables import build_metric_changes_table, describe_unexplained
from assay.report.findings.gate_tables import build_checklist_table
from assay.report.findings.regression_table import build_regressions_table
from assay.report.screen.terminal import Screen, build_decision_lines, escape_table
from assay.text.escaping import escape_terminal


def render_comparison_screen(comparison: Comparison, decision: Decision) -> Screen:
    """Return what `assay compare` prints: the decision, what changed, the tables; escaped for a terminal."""
    title = f"{comparison.candidate.name} compared with {comparison.baseline.name}"
    decided = build_decision_lines(title, decision)
    leaks = describe_leaks(comparison)
    head, *reasons = decided.lines
    lines = [leaks] if leaks and not list_leaking_cases(comparison).is_worse else []
    lines += ["What changed:", *(f" - {sentence}" for sentence in comparison.changed)]
    new_leaks = [escape_terminal(leaks)] if leaks and list_leaking_cases(comparison).is_worse else []
    if comparison.moved:
        lines += ["Why the metrics moved:", *(f" - {sentence}" for sentence in comparison.moved)]
    else:
        lines.append(describe_unexplained(comparison))
    tables = [build_metric_changes_table(comparison), build_regressions_table(comparison)]
    if comparison.decision is not None:
        tables.append(build_checklist_table({comparison.candidate.config_id: comparison.decision}))
    return Screen(
        (head, *new_leaks, *reasons, *(escape_terminal(line) for line in lines)),
        tuple(escape_table(table) for table in tables if table.rows),
        tuple(escape_terminal(note) for note in comparison.notes),
        (*decided.alerts, *new_leaks),
        decided.muted,
    )
