"""What `assay score` prints: the decisions first, then tables, as plain strings that the command line draws.

Every string is already escaped for a terminal and contains no markup: draw it as text, do not parse it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.graders.catalog import CATALOG
from assay.model import ConfigResult, Scoring
from assay.report.figures import (
    NA,
    Graders,
    column_of,
    common_reason,
    instrument,
    interval,
    notes_of,
    number,
    plural,
)
from assay.report.safe import terminal
from assay.report.tables import Table, config_notes, failed_ids, gate_rules, slices

_MAX_FAILED_CASES = 10
_MAX_UNSCORED_NAMED = 5


@dataclass(frozen=True, slots=True)
class Screen:
    """Lines to print first, tables to draw, and notes to print last."""

    lines: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def summary_lines(scoring: Scoring, by: Sequence[str] = (), graders: Graders = CATALOG) -> Screen:
    """Return the screen of a scoring; `by` names the keys whose slices are shown.

    `graders`, the catalogue's rows by base name, give units and class marks.

    The first lines are `<config>: PASS|PASS_WITH_RISK|FAIL|INCOMPLETE`, each followed by its ` - <reason>` lines.
    """
    tables = [side_by_side(scoring, graders)]
    if by:
        tables.append(slices(scoring, graders, only=by))
    tables += [gate_rules(scoring, graders), _build_failed_cases_table(scoring)]
    unshown = (note for table in tables if not table.rows for note in table.notes)
    return Screen(
        tuple(terminal(line) for line in _iter_decision_lines(scoring)),
        tuple(safe_table(table) for table in tables if table.rows),
        tuple(terminal(note) for note in (*unshown, *_iter_score_notes(scoring))),
    )


def _iter_decision_lines(scoring: Scoring) -> Iterator[str]:
    for config, result in sorted(scoring.configs.items()):
        yield f"{config}: {result.decision.outcome if result.decision is not None else 'not gated'}"
        for reason in result.decision.reasons if result.decision is not None else ():
            yield f" - {reason}"


def side_by_side(scoring: Scoring, graders: Graders) -> Table:
    """Return every metric that was scored, configurations side by side: value, 95% interval, cases scored."""
    configs = sorted(scoring.configs.items())
    rows: list[tuple[str, ...]] = []
    unscored_metrics: list[str] = []
    metrics_by_note: dict[str, list[str]] = {}
    for metric in dict.fromkeys(metric for _, result in configs for metric in result.summary):
        summaries = [result.summary.get(metric) for _, result in configs]
        if not any(summary is not None and summary.scored for summary in summaries):
            unscored_metrics.append(metric)
            continue
        cells = [_format_metric_cell(metric, result, graders) for _, result in configs]
        rows.append((metric, instrument(metric, graders), *cells))
        for (config, _), summary in zip(configs, summaries, strict=True):
            for note in notes_of(summary) if summary is not None else ():
                metrics_by_note.setdefault(f"{config}: {note}", []).append(metric)
    notes = [f"{note}: {', '.join(metrics)}" for note, metrics in metrics_by_note.items()]
    if unscored_metrics:
        listed = f": {', '.join(unscored_metrics)}" if len(unscored_metrics) <= _MAX_UNSCORED_NAMED else ""
        notes.append(f"{plural(len(unscored_metrics), 'metric')} not applicable to any case{listed}")
    columns = ("Metric", "Class", *(config for config, _ in configs))
    return Table("Metrics (value, 95% interval, cases scored)", columns, tuple(rows), tuple(notes))


def _format_metric_cell(metric: str, result: ConfigResult, graders: Graders) -> str:
    summary = result.summary.get(metric)
    if summary is None or summary.value is None:
        why = common_reason(column_of(metric, result.table))
        return f"{NA}: {why}" if why else NA
    low_high = f"  {interval(summary.interval, metric, graders)}" if summary.interval is not None else ""
    text = f"{number(summary.value, metric, graders)}{low_high}  n={summary.scored}"
    if summary.errors:
        text += f", {plural(summary.errors, 'error')}"
        if summary.mean_worst is not None:
            text += f" ({number(summary.mean_worst, metric, graders)} if they count as the worst)"
    return text


def _build_failed_cases_table(scoring: Scoring) -> Table:
    rows, notes = [], []
    for config, result in sorted(scoring.configs.items()):
        checks = {case_checks.case_id: case_checks.failed for case_checks in result.table.checks}
        failed = failed_ids(result)
        rows += [(config, case_id, ", ".join(checks[case_id])) for case_id in failed[:_MAX_FAILED_CASES]]
        if len(failed) > _MAX_FAILED_CASES:
            notes.append(f"{config}: {len(failed) - _MAX_FAILED_CASES} more failed cases")
    return Table("Failed cases", ("Config", "Case", "Failed checks"), tuple(rows), tuple(notes))


def _iter_score_notes(scoring: Scoring) -> Iterator[str]:
    for config, result in sorted(scoring.configs.items()):
        yield from config_notes(config, result, scoring)
    yield from scoring.warnings


def safe_table(table: Table) -> Table:
    """Return the table with every text escaped for a terminal."""
    return Table(
        terminal(table.title),
        tuple(terminal(column) for column in table.columns),
        tuple(tuple(terminal(cell) for cell in row) for row in table.rows),
        tuple(terminal(note) for note in table.notes),
    )
