"""The first screen of the HTML report as data: decision, facts, metrics, slices, gate, causes, times, limitations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.model import Case, ConfigResult, Summary
from assay.report.faults import hints
from assay.report.figures import (
    column_of,
    common_reason,
    grader_of,
    instrument,
    interval,
    notes_of,
    number,
)
from assay.report.honesty import honesty
from assay.report.html_comparison import comparison_of
from assay.report.html_data import HtmlData
from assay.report.html_rows import FAILED, LEAKED, MISSING, PASSED, states_of
from assay.report.html_rules import rules_of
from assay.report.names import HEADLINES, RUNNER_COLUMNS
from assay.report.safe import encodable
from assay.report.tables import FEW_CASES, config_notes, measured, slice_size

Json = dict[str, Any]
SLICES, TAGS = 300, 24
"""The largest number of slices of one configuration, and of tags in the chart of causes, on the first screen."""


def report_of(data: HtmlData) -> Json:
    """Return everything that the page shows before a case is opened."""
    scoring = data.scoring
    golden = scoring.golden
    index_by_case = {case.id: number for number, case in enumerate(data.cases)}
    configs = sorted(scoring.configs.items())
    decisions = {config: result.decision for config, result in configs if result.decision is not None}
    notes = [note for config, result in configs for note in config_notes(config, result, scoring)]
    notes += [f"symptom: {hint}" for hint in hints(scoring)]
    if scoring.gate is not None:
        notes.append(f"approver: {scoring.gate.approver or 'not named'}")
    return {
        "outcome": scoring.decision.outcome,
        "reasons": scoring.decision.reasons,
        "golden": {part: getattr(golden, part) for part in ("name", "version", "digest", "cases", "judgments")},
        "gate": (scoring.gate.name or "unnamed") if scoring.gate is not None else None,
        "date": data.date,
        "owner": data.owner,
        "assay": scoring.assay_version,
        "explain": data.explain,
        "show_forbidden": data.show_forbidden,
        "configs": [_build_config(config, result, data) for config, result in configs],
        "inputs": [
            {"path": encodable(source.path), "format": source.format, "rows": source.rows, "configs": source.configs}
            for source in scoring.inputs
        ],
        "warnings": [encodable(warning) for warning in scoring.warnings],
        "notes": notes,
        "limits": list(honesty(scoring, data.graders)),
        "metrics": list(_iter_metrics(data)),
        "rules": list(rules_of(decisions, index_by_case, data.graders)),
        "slices": _build_slices(data),
        "causes": {config: _build_causes(config, result, data) for config, result in configs},
        "times": [
            {"config": timing.config, "step": timing.step, "p50": timing.p50, "p95": timing.p95, "n": timing.n}
            for timing in data.timings
        ],
        "comparison": comparison_of(data.comparison, index_by_case, data.graders)
        if data.comparison is not None
        else None,
    }


def _build_config(config: str, result: ConfigResult, data: HtmlData) -> Json:
    states = Counter(states_of(result))
    table = result.table
    return {
        "id": config,
        "outcome": result.decision.outcome if result.decision is not None else None,
        "reasons": result.decision.reasons if result.decision is not None else (),
        "cases": len(table.case_ids),
        "states": {state: states[state] for state in (PASSED, FAILED, LEAKED, MISSING)},
        "repeats": table.repeats,
        "stage": data.scoring.stages.get(config),
        "versions": table.versions,
    }


def _iter_metrics(data: HtmlData) -> Iterator[Json]:
    """Yield every metric with its summary in each configuration; `headline` is its title in the report template."""
    results = [result for _, result in sorted(data.scoring.configs.items())]
    titles: dict[str, str] = {}
    for title, names in HEADLINES:
        for result in results:
            summary = measured(names, result.summary)
            if summary is not None:
                titles.setdefault(summary.metric, title)
    for metric in dict.fromkeys(metric for result in results for metric in result.summary):
        grader = grader_of(metric, data.graders)
        yield {
            "name": metric,
            "class": instrument(metric, data.graders),
            "headline": titles.get(metric),
            "family": grader.family if grader is not None else "",
            "unit": grader.unit if grader is not None else "",
            "direction": grader.direction if grader is not None else "neutral",
            "meaning": grader.summary if grader is not None else "",
            "by": [_build_measure(metric, result, data) for result in results],
        }


def _build_measure(metric: str, result: ConfigResult, data: HtmlData) -> Json | None:
    summary = result.summary.get(metric)
    if summary is None:
        return None
    figure = _build_figure(summary, data)
    unscored_reason = common_reason(column_of(metric, result.table)) if not summary.scored else ""
    worst = number(summary.mean_worst, metric, data.graders) if summary.mean_worst is not None else None
    return figure | {
        "statistic": summary.statistic,
        "not_applicable": summary.not_applicable,
        "errors": summary.errors,
        "worst": worst if summary.errors else None,
        "why": unscored_reason,
        "notes": notes_of(summary),
        "method": summary.interval.method if summary.interval is not None else None,
    }


def _build_figure(summary: Summary | None, data: HtmlData) -> Json:
    """Return a value as a number and as text, with its interval and the number of cases scored."""
    if summary is None:
        return {"value": None, "text": None, "low": None, "high": None, "interval": None, "n": 0}
    interval_bounds = summary.interval
    has_width = interval_bounds is not None and interval_bounds.low != interval_bounds.high
    return {
        "value": summary.value,
        "text": number(summary.value, summary.metric, data.graders) if summary.value is not None else None,
        "low": interval_bounds.low if interval_bounds is not None and has_width else None,
        "high": interval_bounds.high if interval_bounds is not None and has_width else None,
        "interval": interval(interval_bounds, summary.metric, data.graders) if interval_bounds is not None else None,
        "n": summary.scored,
    }


def _build_slices(data: HtmlData) -> Json:
    """Return the legacy runner's metrics on every slice; beyond the limit the smallest slices are only counted."""
    rows, left_out = [], 0
    for config, result in sorted(data.scoring.configs.items()):
        slice_sizes = {key: slice_size(summaries) for key, summaries in result.slices.items()}
        largest = sorted((-size, key) for key, size in slice_sizes.items())[:SLICES]
        left_out += len(slice_sizes) - len(largest)
        rows += [
            {
                "config": config,
                "slice": key,
                "cases": slice_sizes[key],
                "small": slice_sizes[key] < FEW_CASES,
                "cells": [_build_figure(measured(names, result.slices[key]), data) for _, names in RUNNER_COLUMNS],
            }
            for key in sorted(key for _, key in largest)
        ]
    return {"columns": [title for title, _ in RUNNER_COLUMNS], "rows": rows, "left_out": left_out}


def _build_causes(config: str, result: ConfigResult, data: HtmlData) -> Json:
    """Return the number of cases by root cause and tag; by failed check if there are no attributions."""
    attributed = data.attributions.get(config)
    if attributed:
        causes_by_case = {case_id: (item.cause,) for case_id, item in attributed.items() if item.cause is not None}
        return {"kind": "cause", **_count_by_tag(causes_by_case, data.cases)}
    return {"kind": "check", **_count_by_tag({item.case_id: item.failed for item in result.table.checks}, data.cases)}


def _count_by_tag(causes_by_case: Mapping[str, Sequence[str]], cases: Sequence[Case]) -> Json:
    counts: dict[str, Counter[str]] = {}
    totals: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for case in cases:
        for name in causes_by_case.get(case.id, ()):
            totals[name] += 1
            counts.setdefault(name, Counter()).update(set(case.tags))
        tags.update(set(case.tags) if causes_by_case.get(case.id) else ())
    columns = [tag for tag, _ in sorted(tags.items(), key=lambda item: (-item[1], item[0]))[:TAGS]]
    rows = [
        {"name": name, "total": total, "counts": [counts[name][tag] for tag in columns]}
        for name, total in sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    ]
    return {"tags": columns, "rows": rows, "left_out": len(tags) - len(columns)}
