"""Tables that the terminal and the Markdown report share: unescaped text in rows; the writers escape it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from assay.gates.release_decision import describe_effect
from assay.metrics.catalog import CATALOG
from assay.metrics.metric import parse_metric_name
from assay.metrics.template_columns import (
    LAST_RANKINGS,
    P95_LATENCY,
    RUNNER_COLUMNS,
    MetricNames,
    find_first_present,
)
from assay.records.counts import format_count
from assay.records.release_gates import ADDED_RULE_REASONS, Decision, RuleResult
from assay.records.scores import ConfigResult, ScoringResult, Summary
from assay.report.wording.number_format import (
    JUDGED,
    NOT_AVAILABLE,
    MetricsByName,
    collect_summary_notes,
    count_out_of_scope,
    find_common_reason,
    find_metric_row,
    find_source_column,
    format_interval,
    format_number,
    format_unknown,
    format_value,
    format_with_count,
    format_with_interval,
    get_metric_class,
)
from assay.scoring.case_outcomes import count_cases, format_case_counts, list_failed_cases, list_unknown_cases
from assay.scoring.column_values import find_rows_in_review, format_compared
from assay.scoring.judged_answers import describe_judged_unknowns

FEW_CASES = 10
"""A slice with fewer cases is descriptive only."""


class Table(Struct, frozen=True):
    """Rows of unescaped text under a title; every row has as many cells as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.title}: a row does not have {len(self.columns)} cells")


def build_case_counts_table(scoring: ScoringResult) -> Table:
    """Return how many cases of every configuration passed, failed and are unknown."""
    rows, unanswered = [], []
    for config, result in sorted(scoring.configs.items()):
        counts = count_cases(result)
        rows.append((config, str(counts.cases), str(counts.passed), str(counts.failed), str(counts.unknown)))
        if counts.unanswered:
            unanswered.append(f" Without an answer, of the failed cases of {config}: {counts.unanswered}.")
    note = (
        "Failed: a check failed, and the case has a root cause. Unknown: nothing failed, and nothing that was measured "
        f"tells whether the answer is right.{''.join(unanswered)}"
    )
    columns = ("Config", "Cases", "Passed", "Failed", "Unknown")
    return Table("Cases", columns, tuple(rows), (note,) if rows else ())


_MAX_UNKNOWN_NAMED = 5


def list_case_outcomes(scoring: ScoringResult) -> list[str]:
    """Return how many cases of each configuration failed, passed and are unknown, one line each; no name if alone.

    A configuration of which nothing failed is not called good while answers are unknown: their cases are named.
    """
    lines = []
    for config, result in sorted(scoring.configs.items()):
        prefix = f"{config}: " if len(scoring.configs) > 1 else ""
        lines.append(prefix + describe_case_outcomes(result))
    return lines


def describe_case_outcomes(result: ConfigResult) -> str:
    """Return what is known of the cases of a configuration, and what is open, in one sentence."""
    counts = count_cases(result)
    if counts.cases and counts.unanswered == counts.cases:
        return f"{counts.cases} of {format_count(counts.cases, 'case')} without an answer, {counts.passed} passed"
    unanswered = f" ({counts.unanswered} without an answer)" if counts.unanswered else ""
    failed = f"{counts.failed} of {format_count(counts.cases, 'case')} failed{unanswered}"
    if not counts.unknown:
        return f"{failed}, {counts.passed} passed"
    return f"{failed}, {counts.passed} passed, {counts.unknown} {_describe_unknown(result)}"


def _describe_unknown(result: ConfigResult) -> str:
    unknown = list_unknown_cases(result)
    more = f" and {len(unknown) - _MAX_UNKNOWN_NAMED} more" if len(unknown) > _MAX_UNKNOWN_NAMED else ""
    listed = ", ".join(unknown[:_MAX_UNKNOWN_NAMED]) + more
    judged = describe_judged_unknowns(result)
    return f"unknown ({listed}): {judged}" if judged else f"unknown: {NOTHING_TELLS} ({listed})"


NOTHING_TELLS = "nothing that was measured tells whether the answer is right"


def list_unknown_lines(scoring: ScoringResult) -> list[str]:
    """Return the cases of each configuration of which nobody can tell, one line each where there are any."""
    return [
        f"{config}, {_describe_unknown(result)}"
        for config, result in sorted(scoring.configs.items())
        if list_unknown_cases(result)
    ]


def list_case_counts(scoring: ScoringResult) -> list[str]:
    """Return one line for each configuration: `<config>: 4 of 41 failed, 2 unknown`."""
    results = sorted(scoring.configs.items())
    return [f"{config}: {format_case_counts(count_cases(result))}" for config, result in results]


def count_slice_cases(metrics: Mapping[str, Summary]) -> int:
    """Return the number of cases in a slice; each metric's counts add up to it, so the first metric is enough."""
    return next((s.scored + s.not_applicable + s.errors for s in metrics.values()), 0)


def list_slices_by_size(result: ConfigResult) -> list[tuple[int, str]]:
    """Return (cases, `key=value`) of the slices, smallest first."""
    return sorted((count_slice_cases(metrics), key) for key, metrics in result.slices.items())


def find_measured_summary(names: MetricNames, summaries: Mapping[str, Summary]) -> Summary | None:
    """Return the summary of the first of `names` that was measured."""
    name = find_first_present(names, summaries)
    return summaries[name] if name is not None else None


def name_rankings(
    headlines: Sequence[tuple[str, MetricNames]], results: Iterable[ConfigResult]
) -> list[tuple[str, MetricNames]]:
    """Return the headlines with both rankings of those that a configuration reranked, the last ranking first.

    A headline stands for the ranking that was retrieved; where another one follows and scores otherwise in any of the
    configurations, each of the two is named.
    """
    summaries = [result.summary for result in results]
    named: list[tuple[str, MetricNames]] = []
    for title, names in headlines:
        last_names = LAST_RANKINGS.get(names, ())
        if any(_differ(names, last_names, summary) for summary in summaries):
            named += [(f"{title}, last ranking", last_names), (f"{title}, retrieved", names)]
        else:
            named.append((title, names))
    return named


def _differ(names: MetricNames, other_names: MetricNames, summaries: Mapping[str, Summary]) -> bool:
    first, second = find_measured_summary(names, summaries), find_measured_summary(other_names, summaries)
    if first is None or second is None or second.value is None:
        return False
    return (first.value, first.scored) != (second.value, second.scored)


def build_aggregate_table(scoring: ScoringResult, metric_rows: MetricsByName) -> Table:
    """Return one row per configuration with the legacy runner's metrics, each with its count."""
    rows = []
    for config, result in sorted(scoring.configs.items()):
        cases = len(result.table.case_ids)
        failed = len(list_failed_cases(result))
        # Unlike the metric `failed`, which has no number where nothing was answered, this is a share of all cases.
        rate = f"{format_number(failed / cases)} ({failed} of {cases})" if cases else NOT_AVAILABLE
        cells = [
            format_with_count(find_measured_summary(names, result.summary), metric_rows) for _, names in RUNNER_COLUMNS
        ]
        latency = format_with_count(find_measured_summary(P95_LATENCY, result.summary), metric_rows)
        rows.append((config, str(cases), *cells, rate, latency))
    titles = tuple(title for title, _ in RUNNER_COLUMNS)
    columns = ("Config", "Cases", *titles, "Failed case rate", "p95 latency ms")
    return Table("Aggregate", columns, tuple(rows))


def build_all_metrics_table(
    config: str, result: ConfigResult, metric_rows: MetricsByName, *, most_rows: int | None = None
) -> Table:
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
            if metric in gated or summary.errors or (summary.scored and _is_special(metric, metric_rows))
        }
    hidden = len(result.summary) - len(shown)
    for metric, summary in shown.items():
        bounds = summary.interval
        notes = list(collect_summary_notes(summary))
        reason = "" if summary.scored else find_common_reason(find_source_column(metric, result.table))
        if reason:
            notes.insert(0, reason)
        if summary.unknown is not None:
            notes.append(format_unknown(summary, metric_rows))
        if summary.unchecked:
            notes.append(f"{format_count(summary.unchecked, 'unknown case')} unchecked: nothing to compare with")
        if summary.errors and summary.mean_worst is not None:
            counted = "every error counts" if summary.unknown is None else "all errors and unknown answers count"
            worst = format_number(summary.mean_worst, metric, metric_rows)
            notes.append(f"{worst} if {counted} as the worst value")
        rows.append(
            (
                metric,
                get_metric_class(metric, metric_rows),
                summary.statistic,
                format_value(summary, metric_rows),
                format_interval(bounds, metric, metric_rows),
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
    title = "Metrics" if hidden else "All metrics"
    hidden_note = f"{format_count(hidden, 'more metric')} in the JSON and in the HTML report."
    return Table(f"{title}: {config}", columns, tuple(rows), (hidden_note,) if hidden else ())


def _is_special(metric: str, metric_rows: MetricsByName) -> bool:
    """Return whether a judge or a plugin measured a metric."""
    is_plugin = CATALOG.get_plugin(parse_metric_name(metric).base) is not None
    return is_plugin or get_metric_class(metric, metric_rows) == JUDGED


def build_gate_table(scoring: ScoringResult, metric_rows: MetricsByName) -> Table:
    """Return every rule of the gate with its state, the number that decided and the bound it was compared with."""
    decisions = {config: result.decision for config, result in scoring.configs.items() if result.decision is not None}
    return build_checklist_table(decisions, metric_rows)


def build_checklist_table(decisions: Mapping[str, Decision], metric_rows: MetricsByName) -> Table:
    """Return every rule of the decisions by configuration, with the smallest difference that it can detect."""
    rows = [
        (config, *_format_rule_cells(rule_result, metric_rows))
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


def _format_rule_cells(rule_result: RuleResult, metric_rows: MetricsByName) -> tuple[str, ...]:
    rule = rule_result.rule
    sign, threshold = ("≥", rule.at_least) if rule.at_least is not None else ("≤", rule.at_most or 0.0)
    if rule.max_regression is not None:
        sign, threshold = "gain ≥", -rule.max_regression
    metric_row = find_metric_row(rule.metric, metric_rows)
    unit = metric_row.unit if metric_row is not None else ""
    value, bound = format_compared(rule_result.value if rule_result.value is not None else threshold, threshold, unit)
    return (
        f"{rule_result.state}, waived" if rule_result.waived else rule_result.state,
        rule.metric,
        rule.slice or "all cases",
        value if rule_result.value is not None else NOT_AVAILABLE,
        f"{sign} {bound}",
        str(rule_result.scored),
        format_number(rule_result.detectable, rule.metric, metric_rows),
        describe_effect(rule_result),
        rule_result.message,
    )


def build_slices_table(
    scoring: ScoringResult, metric_rows: MetricsByName, *, only: Container[str] = (), without: Container[str] = ()
) -> Table:
    """Return one row per configuration and slice: of the keys in `only`, or of all keys but those in `without`."""
    slice_columns = _choose_slice_columns(scoring)
    rows = []
    for config, result in sorted(scoring.configs.items()):
        for name in sorted(result.slices):
            slice_key = name.partition("=")[0]
            if slice_key in only or (not only and slice_key not in without):
                summaries = result.slices[name]
                cells = [
                    format_with_interval(find_measured_summary(names, summaries), metric_rows)
                    for _, names in slice_columns
                ]
                rows.append((config, name, str(count_slice_cases(summaries)), *cells))
    columns = ("Config", "Slice", "Cases", *(title for title, _ in slice_columns))
    notes = (f"Slices of fewer than {FEW_CASES} cases are descriptive only.",) if rows else ()
    return Table("Slices", columns, tuple(rows), notes)


def _choose_slice_columns(scoring: ScoringResult) -> list[tuple[str, MetricNames]]:
    """Return the legacy runner's columns that were requested, filled up with other metrics that were."""
    requested = dict.fromkeys(metric for _, result in sorted(scoring.configs.items()) for metric in result.summary)
    chosen = [(title, names) for title, names in RUNNER_COLUMNS if find_first_present(names, requested) is not None]
    named_metrics = {name for _, names in chosen for name in names}
    other_columns = [(metric, (metric,)) for metric in requested if metric not in named_metrics]
    return [*chosen, *other_columns[: len(RUNNER_COLUMNS) - len(chosen)]]


def iter_config_notes(config: str, result: ConfigResult, scoring: ScoringResult, limit: int = 20) -> Iterator[str]:
    """Yield notes on one configuration: cases without output, the stage scored, warnings, cases in review."""
    missing = result.table.missing
    if missing:
        more = f" … and {len(missing) - limit} more" if len(missing) > limit else ""
        yield f"{config}: {format_count(len(missing), 'case')} without output: {', '.join(missing[:limit])}{more}"
    if config in scoring.stages:
        yield f"{config}: ranking metrics score the stage {scoring.stages[config]!r}"
    warned = Counter(name for checks in result.table.checks for name in checks.warnings)
    if warned:
        listed = ", ".join(f"{name} × {count}" for name, count in sorted(warned.items()))
        yield f"{config}: warnings that fail no case: {listed}"
    yield from _iter_cases_in_review(config, result, limit)
    yield from (f"{config}: {note}" for note in result.table.notes)


def _iter_cases_in_review(config: str, result: ConfigResult, limit: int) -> Iterator[str]:
    """Yield a note that names the cases with scores that a person should review, and their metrics."""
    metrics_by_case: dict[str, list[str]] = {}
    for metric, column in sorted(result.table.columns.items()):
        for row in find_rows_in_review(column).tolist():
            metrics_by_case.setdefault(result.table.case_ids[row], []).append(metric)
    if metrics_by_case:
        listed = "; ".join(
            f"{case_id}: {', '.join(metrics_by_case[case_id])}" for case_id in list(metrics_by_case)[:limit]
        )
        more = f" … and {len(metrics_by_case) - limit} more" if len(metrics_by_case) > limit else ""
        count = format_count(len(metrics_by_case), "case")
        yield f"{config}: {count} in review, because the judge's votes are far apart or tied: {listed}{more}"
