"""The values of a run in tables: a row for each configuration, and every metric of one configuration."""

from __future__ import annotations

from assay.metrics.catalog import CATALOG
from assay.metrics.metric import parse_metric_name
from assay.metrics.template_columns import P95_LATENCY, RUNNER_COLUMNS
from assay.records.counts import format_count
from assay.records.scores import ConfigResult, ScoringResult
from assay.report.findings.measured_headlines import find_measured_summary
from assay.report.findings.table import Table
from assay.report.wording.number_format import (
    JUDGED,
    NOT_AVAILABLE,
    collect_summary_notes,
    count_out_of_scope,
    find_common_reason,
    find_source_column,
    format_interval,
    format_number,
    format_unknown,
    format_value,
    format_with_count,
    get_metric_class,
)
from assay.scoring.case_outcomes import list_failed_cases


def build_aggregate_table(scoring: ScoringResult) -> Table:
    """Return one row per configuration with the legacy runner's metrics, each with its count."""
    rows = []
    for config, result in sorted(scoring.configs.items()):
        cases = len(result.table.case_ids)
        failed = len(list_failed_cases(result))
        # Unlike the metric `failed`, which has no number where nothing was answered, this is a share of all cases.
        rate = f"{format_number(failed / cases)} ({failed} of {cases})" if cases else NOT_AVAILABLE
        cells = [format_with_count(find_measured_summary(names, result.summary)) for _, names in RUNNER_COLUMNS]
        latency = format_with_count(find_measured_summary(P95_LATENCY, result.summary))
        rows.append((config, str(cases), *cells, rate, latency))
    titles = tuple(title for title, _ in RUNNER_COLUMNS)
    columns = ("Config", "Cases", *titles, "Failed case rate", "p95 latency ms")
    return Table("Aggregate", columns, tuple(rows))


def build_all_metrics_table(config: str, result: ConfigResult, *, most_rows: int | None = None) -> Table:
    """Return every metric of one configuration with its interval, counts and notes.

    With more than `most_rows` metrics, only those have a row that a rule of the gate reads, that a judge or a plugin
    measured, or that failed on a case; the others are counted.
    """
    rows = []
    shown = result.summary
    if most_rows is not None and len(shown) > most_rows:
        gated = {rule_result.rule.metric for rule_result in result.decision.results} if result.decision else set()
        shown = {
            metric: summary
            for metric, summary in result.summary.items()
            if metric in gated or summary.errors or (summary.scored and _is_special(metric))
        }
    hidden = len(result.summary) - len(shown)
    for metric, summary in shown.items():
        bounds = summary.interval
        notes = list(collect_summary_notes(summary))
        reason = "" if summary.scored else find_common_reason(find_source_column(metric, result.table))
        if reason:
            notes.insert(0, reason)
        if summary.unknown is not None:
            notes.append(format_unknown(summary))
        if summary.unchecked:
            notes.append(f"{format_count(summary.unchecked, 'unknown case')} unchecked: nothing to compare with")
        if summary.errors and summary.mean_worst is not None:
            counted = "every error counts" if summary.unknown is None else "all errors and unknown answers count"
            worst = format_number(summary.mean_worst, metric)
            notes.append(f"{worst} if {counted} as the worst value")
        rows.append(
            (
                metric,
                get_metric_class(metric),
                summary.statistic,
                format_value(summary),
                format_interval(bounds, metric),
                bounds.method if bounds is not None else NOT_AVAILABLE,
                str(summary.scored),
                str(count_out_of_scope(summary)),
                str(summary.errors),
                "; ".join(notes),
            )
        )
    columns = (
        "Metric",
        "Class",
        "Statistic",
        "Value",
        "95% interval",
        "Method",
        "Scored",
        NOT_AVAILABLE,
        "Errors",
        "Notes",
    )
    title = "Metrics of gates, judges and plugins" if hidden else "All metrics"
    hidden_note = f"{format_count(hidden, 'more metric')} in the JSON and in the HTML report."
    return Table(f"{title}: {config}", columns, tuple(rows), (hidden_note,) if hidden else ())


def _is_special(metric: str) -> bool:
    """Return whether a judge or a plugin measured a metric."""
    is_plugin = CATALOG.get_plugin(parse_metric_name(metric).base) is not None
    return is_plugin or get_metric_class(metric) == JUDGED
