"""Tables that the terminal and the Markdown report share: raw text in rows, escaped only where it is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from assay.model import ConfigResult, Decision, RuleResult, Scoring, Summary
from assay.report.figures import (
    NA,
    Graders,
    column_of,
    common_reason,
    grader_of,
    instrument,
    interval,
    notes_of,
    number,
    plural,
    with_count,
    with_interval,
)
from assay.report.names import P95_LATENCY, RUNNER_COLUMNS, Names, first_present
from assay.scoring.measured import in_review
from assay.scoring.wording import compared

FEW_CASES = 10
"""A slice with fewer cases describes them and proves nothing."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of raw text under a title; every row has as many cells as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.title}: a row does not have {len(self.columns)} cells")


def failed_ids(result: ConfigResult) -> list[str]:
    """Return the cases that failed a check, in golden order."""
    failed = {checks.case_id for checks in result.table.checks if checks.failed}
    return [case_id for case_id in result.table.case_ids if case_id in failed]


def slice_size(metrics: Mapping[str, Summary]) -> int:
    """Return the number of cases in a slice: every metric accounts for each of them, so that one is enough to ask."""
    return next((s.scored + s.not_applicable + s.errors for s in metrics.values()), 0)


def slices_by_size(result: ConfigResult) -> list[tuple[int, str]]:
    """Return (cases, `key=value`) of the slices, smallest first."""
    return sorted((slice_size(metrics), key) for key, metrics in result.slices.items())


def measured(names: Names, summaries: Mapping[str, Summary]) -> Summary | None:
    """Return the summary of the first of `names` that was measured."""
    name = first_present(names, summaries)
    return summaries[name] if name is not None else None


def aggregate(scoring: Scoring, graders: Graders) -> Table:
    """One row per configuration with the numbers people look at first; each with its count."""
    rows = []
    for config, result in sorted(scoring.configs.items()):
        cases = len(result.table.case_ids)
        rate = number(len(failed_ids(result)) / cases) if cases else NA
        cells = [with_count(measured(names, result.summary), graders) for _, names in RUNNER_COLUMNS]
        latency = with_count(measured(P95_LATENCY, result.summary), graders)
        rows.append((config, str(cases), *cells, rate, latency))
    titles = tuple(title for title, _ in RUNNER_COLUMNS)
    columns = ("Config", "Cases", *titles, "Failed case rate", "p95 latency ms")
    return Table("Aggregate", columns, tuple(rows))


def all_metrics(config: str, result: ConfigResult, graders: Graders) -> Table:
    """Every metric of one configuration with its interval, its counts and what must be said beside it."""
    rows = []
    for metric, summary in result.summary.items():
        bounds = summary.interval
        notes = list(notes_of(summary))
        if not summary.scored and (why := common_reason(column_of(metric, result.table))):
            notes.insert(0, why)
        if summary.errors and summary.mean_worst is not None:
            notes.append(f"{number(summary.mean_worst, metric, graders)} if every error counts as the worst value")
        rows.append(
            (
                metric,
                instrument(metric, graders),
                summary.statistic,
                number(summary.value, metric, graders),
                interval(bounds, metric, graders),
                bounds.method if bounds is not None else NA,
                str(summary.scored),
                str(summary.not_applicable),
                str(summary.errors),
                "; ".join(notes),
            )
        )
    columns = ("Metric", "Class", "Statistic", "Value", "95% interval", "Method", "Scored", NA, "Errors", "Notes")
    return Table(f"All metrics: {config}", columns, tuple(rows))


def gate_rules(scoring: Scoring, graders: Graders) -> Table:
    """Every rule of the gate with its state, the number that decided and the bound it was held against."""
    decisions = {config: result.decision for config, result in scoring.configs.items() if result.decision is not None}
    return checklist(decisions, graders)


def checklist(decisions: Mapping[str, Decision], graders: Graders) -> Table:
    """Every rule of the decisions by configuration, with the smallest difference that its cases are likely to show."""
    rows = [
        (config, *_rule_cells(found, graders))
        for config, decision in sorted(decisions.items())
        for found in decision.results
    ]
    numbers = ("Number", "Bound", "Scored", "Detects")
    columns = ("Config", "State", "Metric", "Slice", *numbers, "Severity", "What was found")
    note = "Detects: a smaller difference than this is unlikely to show on so many cases (power 80%)."
    return Table("Release Gate Checklist", columns, tuple(rows), (note,) if rows else ())


def _rule_cells(found: RuleResult, graders: Graders) -> tuple[str, ...]:
    rule = found.rule
    sign, threshold = ("≥", rule.at_least) if rule.at_least is not None else ("≤", rule.at_most or 0.0)
    if rule.max_regression is not None:
        sign, threshold = "gain ≥", -rule.max_regression
    grader = grader_of(rule.metric, graders)
    unit = grader.unit if grader is not None else ""
    value, bound = compared(found.value if found.value is not None else threshold, threshold, unit)
    return (
        f"{found.state}, waived" if found.waived else found.state,
        rule.metric,
        rule.slice or "all cases",
        value if found.value is not None else NA,
        f"{sign} {bound}",
        str(found.scored),
        number(found.detectable, rule.metric, graders),
        rule.severity,
        found.message,
    )


def slices(scoring: Scoring, graders: Graders, *, only: Container[str] = (), without: Container[str] = ()) -> Table:
    """One row per configuration and slice: of the keys in `only`, or of all but those in `without`."""
    chosen = _slice_columns(scoring)
    rows = []
    for config, result in sorted(scoring.configs.items()):
        for name in sorted(result.slices):
            key = name.partition("=")[0]
            if key in only or (not only and key not in without):
                found = result.slices[name]
                cells = [with_interval(measured(names, found), graders) for _, names in chosen]
                rows.append((config, name, str(slice_size(found)), *cells))
    columns = ("Config", "Slice", "Cases", *(title for title, _ in chosen))
    notes = (f"A slice of fewer than {FEW_CASES} cases describes them and proves nothing.",) if rows else ()
    return Table("Slices", columns, tuple(rows), notes)


def _slice_columns(scoring: Scoring) -> list[tuple[str, Names]]:
    """The runner's columns, as far as they were asked for; their places go to other metrics that were."""
    asked = dict.fromkeys(metric for _, result in sorted(scoring.configs.items()) for metric in result.summary)
    chosen = [(title, names) for title, names in RUNNER_COLUMNS if first_present(names, asked) is not None]
    standing = {name for _, names in chosen for name in names}
    others = [(metric, (metric,)) for metric in asked if metric not in standing]
    return [*chosen, *others[: len(RUNNER_COLUMNS) - len(chosen)]]


def config_notes(config: str, result: ConfigResult, scoring: Scoring, limit: int = 20) -> Iterator[str]:
    """Yield what must be known of one configuration beside its numbers: missing cases, stage, warnings, notes."""
    missing = result.table.missing
    if missing:
        more = f" … and {len(missing) - limit} more" if len(missing) > limit else ""
        yield f"{config}: {plural(len(missing), 'case')} without output: {', '.join(missing[:limit])}{more}"
    if config in scoring.stages:
        yield f"{config}: ranking metrics score the stage {scoring.stages[config]!r}"
    warned = Counter(name for checks in result.table.checks for name in checks.warnings)
    if warned:
        listed = ", ".join(f"{name} × {count}" for name, count in sorted(warned.items()))
        yield f"{config}: warnings that fail no case: {listed}"
    yield from _in_review(config, result, limit)
    yield from (f"{config}: {note}" for note in result.table.notes)


def _in_review(config: str, result: ConfigResult, limit: int) -> Iterator[str]:
    """Name the cases of which a person should look at a score, with the metrics."""
    found: dict[str, list[str]] = {}
    for metric, column in sorted(result.table.columns.items()):
        for row in in_review(column).tolist():
            found.setdefault(result.table.case_ids[row], []).append(metric)
    if found:
        listed = "; ".join(f"{case_id}: {', '.join(found[case_id])}" for case_id in list(found)[:limit])
        more = f" … and {len(found) - limit} more" if len(found) > limit else ""
        yield f"{config}: {plural(len(found), 'case')} in review, the judge's votes far apart or tied: {listed}{more}"
