"""What `assay score --verbose` prints: the decisions first, then tables, as plain strings to draw.

Every string is already escaped for a terminal and contains no markup: draw it as text, do not parse it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from assay.records.counts import format_count
from assay.records.findings import Comparison
from assay.records.release_gates import Decision
from assay.records.scores import ConfigResult, ScoringResult
from assay.report.findings.attribution_tables import AttributionsByConfig, build_outcomes_table
from assay.report.findings.case_counts import build_case_counts_table
from assay.report.findings.config_notes import iter_config_notes
from assay.report.findings.doubts import is_listed_as_doubt, list_doubts
from assay.report.findings.gate_tables import build_gate_table
from assay.report.findings.slice_tables import build_slices_table
from assay.report.findings.table import Table
from assay.report.findings.target_errors import describe_failures, order_reasons
from assay.report.findings.twin_tables import build_twin_tables
from assay.report.wording.number_format import (
    NOT_AVAILABLE,
    collect_summary_notes,
    find_common_reason,
    find_source_column,
    format_interval,
    format_number,
    format_open_counts,
    format_value,
    get_metric_class,
)
from assay.report.wording.release_advice import name_outcome
from assay.scoring.case_outcomes import list_failed_cases
from assay.text.escaping import escape_terminal

_MAX_FAILED_CASES = 10
_MAX_UNSCORED_NAMED = 5


class Screen(Struct, frozen=True):
    """Lines to print first, tables to draw, and notes to print last.

    `alerts` are those of the lines that report a leak or a followed injection, drawn red; `muted` those that say that
    nothing was decided, drawn grey.
    """

    lines: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    alerts: tuple[str, ...] = ()
    muted: tuple[str, ...] = ()


class DecisionLines(Struct, frozen=True):
    """A decision as lines of a screen, escaped: a title with the outcome, then its reasons."""

    lines: tuple[str, ...]
    alerts: tuple[str, ...] = ()
    muted: tuple[str, ...] = ()


def build_decision_lines(title: str, decision: Decision) -> DecisionLines:
    """Return the lines of a decision: `<title>: <outcome>`, then a ` - <reason>` line for each reason.

    What follows from the outcome is next to it where its name does not tell.
    """
    head = escape_terminal(f"{title}: {name_outcome(decision.outcome)}")
    reasons = tuple(escape_terminal(f" - {reason}") for reason in decision.reasons)
    alerts = tuple(escape_terminal(f" - {event}") for event in decision.events)
    return DecisionLines((head, *reasons), alerts, (head,) if decision.outcome in ("NOT_GATED", "PARTIAL") else ())


def render_score_screen(
    scoring: ScoringResult,
    by: Sequence[str] = (),
    attributions: AttributionsByConfig | None = None,
    comparisons: Mapping[str, Comparison] | None = None,
) -> Screen:
    """Return the screen of a scoring; `by` names the keys whose slices are shown.

    `attributions` add the counts of reached × good, `comparisons` what is significantly worse than the baseline.

    The first lines are `<config>: <outcome>` (see `Outcome`), each followed by the errors of its target, if there are
    any, and by its ` - <reason>` lines.
    """
    decisions = [build_config_lines(config, scoring) for config in sorted(scoring.configs)]
    tables = [build_side_by_side_table(scoring)]
    if by:
        tables.append(build_slices_table(scoring, only=by))
    tables += [
        build_gate_table(scoring),
        build_case_counts_table(scoring),
        _build_failed_cases_table(scoring),
        *build_twin_tables(scoring),
    ]
    if attributions:
        tables.append(build_outcomes_table(attributions))
    unshown = (note for table in tables if not table.rows for note in table.notes)
    return Screen(
        (
            *(line for decision in decisions for line in decision.lines),
            *(escape_terminal(line) for line in list_doubts(scoring, comparisons)),
        ),
        tuple(escape_table(table) for table in tables if table.rows),
        tuple(escape_terminal(note) for note in (*unshown, *_iter_score_notes(scoring))),
        tuple(line for decision in decisions for line in decision.alerts),
        tuple(line for decision in decisions for line in decision.muted),
    )


def build_config_lines(config: str, scoring: ScoringResult) -> DecisionLines:
    """Return the lines on one configuration: its outcome, the errors of its target, then the reasons."""
    decision, decided = scoring.configs[config].decision, build_decision_head(config, scoring)
    head, *reasons = decided.lines
    failures = [escape_terminal(f" - {line}") for line in describe_failures(config, scoring)]
    return DecisionLines((head, *order_reasons(failures, reasons, decision)), decided.alerts, decided.muted)


def build_decision_head(config: str, scoring: ScoringResult) -> DecisionLines:
    """Return the lines on the decision of one configuration: its outcome, then the reasons."""
    decision = scoring.configs[config].decision
    if decision is None:
        return DecisionLines((escape_terminal(f"{config}: not gated"),))
    return build_decision_lines(config, decision)


def build_side_by_side_table(scoring: ScoringResult) -> Table:
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
        cells = [_format_metric_cell(metric, result) for _, result in configs]
        rows.append((metric, get_metric_class(metric), *cells))
        for (config, _), summary in zip(configs, summaries, strict=True):
            for note in collect_summary_notes(summary) if summary is not None else ():
                metrics_by_note.setdefault(f"{config}: {note}", []).append(metric)
    notes = [f"{note}: {', '.join(metrics)}" for note, metrics in metrics_by_note.items()]
    if unscored_metrics:
        listed = f": {', '.join(unscored_metrics)}" if len(unscored_metrics) <= _MAX_UNSCORED_NAMED else ""
        notes.append(f"{format_count(len(unscored_metrics), 'metric')} not applicable to any case{listed}")
        notes += list_remedies(unscored_metrics, scoring)
    columns = ("Metric", "Class", *(config for config, _ in configs))
    return Table("Metrics (value, 95% interval, cases scored)", columns, tuple(rows), tuple(notes))


def list_remedies(metrics: Sequence[str], scoring: ScoringResult) -> list[str]:
    """Return the reasons that come with a remedy, and how many of these metrics have no score because of each."""
    counts: Counter[str] = Counter()
    for config, result in sorted(scoring.configs.items()):
        prefix = f"{config}: " if len(scoring.configs) > 1 else ""
        reasons = (find_common_reason(find_source_column(metric, result.table)) for metric in metrics)
        counts.update(prefix + reason for reason in reasons if reason.endswith(")"))
    return [f"{format_count(count, 'metric')}: {reason}" for reason, count in counts.most_common()]


def _format_metric_cell(metric: str, result: ConfigResult) -> str:
    summary = result.summary.get(metric)
    if summary is None or summary.value is None:
        why = find_common_reason(find_source_column(metric, result.table))
        return f"{NOT_AVAILABLE}: {why}" if why else NOT_AVAILABLE
    low_high = f"  {format_interval(summary.interval, metric)}" if summary.interval is not None else ""
    if summary.unknown is not None:
        low_high = ""
    text = f"{format_value(summary)}{low_high}  n={summary.scored}"
    text += format_open_counts(summary)
    if summary.errors:
        text += f", {format_count(summary.errors, 'error')}"
        if summary.mean_worst is not None:
            counted = "errors" if summary.unknown is None else "errors and unknown"
            text += f" ({format_number(summary.mean_worst, metric)} if {counted} count as the worst)"
    return text


def _build_failed_cases_table(scoring: ScoringResult) -> Table:
    rows, notes = [], []
    for config, result in sorted(scoring.configs.items()):
        checks = {case_checks.case_id: case_checks.failed for case_checks in result.table.checks}
        failed = list_failed_cases(result)
        rows += [(config, case_id, ", ".join(checks[case_id])) for case_id in failed[:_MAX_FAILED_CASES]]
        if len(failed) > _MAX_FAILED_CASES:
            notes.append(
                f"{config}: {len(failed) - _MAX_FAILED_CASES} more failed cases (the HTML and JSON reports list all)"
            )
    return Table("Failed cases", ("Config", "Case", "Failed checks"), tuple(rows), tuple(notes))


def _iter_score_notes(scoring: ScoringResult) -> Iterator[str]:
    if scoring.looks is not None:
        yield scoring.looks.describe()
    for config, result in sorted(scoring.configs.items()):
        yield from iter_config_notes(config, result, scoring)
    yield from (warning for warning in scoring.warnings if not is_listed_as_doubt(warning))  # said above


def escape_table(table: Table) -> Table:
    """Return the table with every text escaped for a terminal."""
    return Table(
        escape_terminal(table.title),
        tuple(escape_terminal(column) for column in table.columns),
        tuple(tuple(escape_terminal(cell) for cell in row) for row in table.rows),
        tuple(escape_terminal(note) for note in table.notes),
    )
