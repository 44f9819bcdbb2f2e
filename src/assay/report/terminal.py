"""What `assay score` shows: the decisions first, then tables as plain rows that the command line draws.

Every string is already safe for a terminal and holds no markup: it is to be drawn as text, never parsed.
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

_FAILED_SHOWN = 10
_SILENT_NAMED = 5


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
    tables += [gate_rules(scoring, graders), _failed(scoring)]
    unshown = (note for table in tables if not table.rows for note in table.notes)
    return Screen(
        tuple(terminal(line) for line in _decisions(scoring)),
        tuple(safe_table(table) for table in tables if table.rows),
        tuple(terminal(note) for note in (*unshown, *_notes(scoring))),
    )


def _decisions(scoring: Scoring) -> Iterator[str]:
    for config, result in sorted(scoring.configs.items()):
        yield f"{config}: {result.decision.outcome if result.decision is not None else 'not gated'}"
        for reason in result.decision.reasons if result.decision is not None else ():
            yield f" - {reason}"


def side_by_side(scoring: Scoring, graders: Graders) -> Table:
    """Every metric that was scored, one configuration beside the other: value, 95% interval, cases scored."""
    configs = sorted(scoring.configs.items())
    rows: list[tuple[str, ...]] = []
    silent: list[str] = []
    said: dict[str, list[str]] = {}
    for metric in dict.fromkeys(metric for _, result in configs for metric in result.summary):
        found = [result.summary.get(metric) for _, result in configs]
        if not any(summary is not None and summary.scored for summary in found):
            silent.append(metric)
            continue
        cells = [_cell(metric, result, graders) for _, result in configs]
        rows.append((metric, instrument(metric, graders), *cells))
        for (config, _), summary in zip(configs, found, strict=True):
            for note in notes_of(summary) if summary is not None else ():
                said.setdefault(f"{config}: {note}", []).append(metric)
    notes = [f"{note}: {', '.join(metrics)}" for note, metrics in said.items()]
    if silent:
        listed = f": {', '.join(silent)}" if len(silent) <= _SILENT_NAMED else ""
        notes.append(f"{plural(len(silent), 'metric')} not applicable to any case{listed}")
    columns = ("Metric", "Class", *(config for config, _ in configs))
    return Table("Metrics (value, 95% interval, cases scored)", columns, tuple(rows), tuple(notes))


def _cell(metric: str, result: ConfigResult, graders: Graders) -> str:
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


def _failed(scoring: Scoring) -> Table:
    rows, notes = [], []
    for config, result in sorted(scoring.configs.items()):
        checks = {found.case_id: found.failed for found in result.table.checks}
        failed = failed_ids(result)
        rows += [(config, case_id, ", ".join(checks[case_id])) for case_id in failed[:_FAILED_SHOWN]]
        if len(failed) > _FAILED_SHOWN:
            notes.append(f"{config}: {len(failed) - _FAILED_SHOWN} more failed cases")
    return Table("Failed cases", ("Config", "Case", "Failed checks"), tuple(rows), tuple(notes))


def _notes(scoring: Scoring) -> Iterator[str]:
    for config, result in sorted(scoring.configs.items()):
        yield from config_notes(config, result, scoring)
    yield from scoring.warnings


def safe_table(table: Table) -> Table:
    """Return the table with every text safe for a terminal."""
    return Table(
        terminal(table.title),
        tuple(terminal(column) for column in table.columns),
        tuple(tuple(terminal(cell) for cell in row) for row in table.rows),
        tuple(terminal(note) for note in table.notes),
    )
