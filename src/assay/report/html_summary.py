"""The first screen of the HTML report as data: decision, facts, metrics, slices, gate, causes, times, limits."""

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
"""Slices of a configuration and tags of the chart of causes that the first screen holds."""


def report_of(data: HtmlData) -> Json:
    """Return everything that the page shows before a case is looked at."""
    scoring = data.scoring
    golden = scoring.golden
    place = {case.id: number for number, case in enumerate(data.cases)}
    configs = sorted(scoring.configs.items())
    decisions = {config: result.decision for config, result in configs if result.decision is not None}
    notes = [note for config, result in configs for note in config_notes(config, result, scoring)]
    notes += [f"symptom: {hint}" for hint in hints(scoring)]
    if scoring.gate is not None:
        notes.append(f"approver: {scoring.gate.approver or 'nobody named'}")
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
        "configs": [_config(config, result, data) for config, result in configs],
        "inputs": [
            {"path": encodable(each.path), "format": each.format, "rows": each.rows, "configs": each.configs}
            for each in scoring.inputs
        ],
        "warnings": [encodable(each) for each in scoring.warnings],
        "notes": notes,
        "limits": list(honesty(scoring, data.graders)),
        "metrics": list(_metrics(data)),
        "rules": list(rules_of(decisions, place, data.graders)),
        "slices": _slices(data),
        "causes": {config: _causes(config, result, data) for config, result in configs},
        "times": [
            {"config": each.config, "step": each.step, "p50": each.p50, "p95": each.p95, "n": each.n}
            for each in data.timings
        ],
        "comparison": comparison_of(data.comparison, place, data.graders) if data.comparison is not None else None,
    }


def _config(config: str, result: ConfigResult, data: HtmlData) -> Json:
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


def _metrics(data: HtmlData) -> Iterator[Json]:
    """Yield every metric with what each configuration has of it; `headline` is its name in the report template."""
    results = [result for _, result in sorted(data.scoring.configs.items())]
    titles = {
        found.metric: title
        for title, names in reversed(HEADLINES)
        for result in results
        if (found := measured(names, result.summary)) is not None
    }
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
            "by": [_measure(metric, result, data) for result in results],
        }


def _measure(metric: str, result: ConfigResult, data: HtmlData) -> Json | None:
    summary = result.summary.get(metric)
    if summary is None:
        return None
    found = _figure(summary, data)
    why = common_reason(column_of(metric, result.table)) if not summary.scored else ""
    worst = number(summary.mean_worst, metric, data.graders) if summary.mean_worst is not None else None
    return found | {
        "statistic": summary.statistic,
        "not_applicable": summary.not_applicable,
        "errors": summary.errors,
        "worst": worst if summary.errors else None,
        "why": why,
        "notes": notes_of(summary),
        "method": summary.interval.method if summary.interval is not None else None,
    }


def _figure(summary: Summary | None, data: HtmlData) -> Json:
    """Return a value as a number and as text with its interval and the cases it stands on."""
    if summary is None:
        return {"value": None, "text": None, "low": None, "high": None, "interval": None, "n": 0}
    bounds = summary.interval
    drawn = bounds is not None and bounds.low != bounds.high
    return {
        "value": summary.value,
        "text": number(summary.value, summary.metric, data.graders) if summary.value is not None else None,
        "low": bounds.low if bounds is not None and drawn else None,
        "high": bounds.high if bounds is not None and drawn else None,
        "interval": interval(bounds, summary.metric, data.graders) if bounds is not None else None,
        "n": summary.scored,
    }


def _slices(data: HtmlData) -> Json:
    """Return the chosen metrics on every slice; slices beyond the limit, the smallest first, are counted."""
    rows, left_out = [], 0
    for config, result in sorted(data.scoring.configs.items()):
        sizes = {key: slice_size(found) for key, found in result.slices.items()}
        kept = sorted(sorted(sizes, key=lambda key: (-sizes[key], key))[:SLICES])
        left_out += len(sizes) - len(kept)
        rows += [
            {
                "config": config,
                "slice": key,
                "cases": sizes[key],
                "small": sizes[key] < FEW_CASES,
                "cells": [_figure(measured(names, result.slices[key]), data) for _, names in RUNNER_COLUMNS],
            }
            for key in kept
        ]
    return {"columns": [title for title, _ in RUNNER_COLUMNS], "rows": rows, "left_out": left_out}


def _causes(config: str, result: ConfigResult, data: HtmlData) -> Json:
    """Return how often each cause struck in the cases of each tag; failed checks where nothing was attributed."""
    attributed = data.attributions.get(config)
    if attributed:
        struck = {case_id: (each.cause,) for case_id, each in attributed.items() if each.cause is not None}
        return {"kind": "cause", **_by_tag(struck, data.cases)}
    return {"kind": "check", **_by_tag({each.case_id: each.failed for each in result.table.checks}, data.cases)}


def _by_tag(struck: Mapping[str, Sequence[str]], cases: Sequence[Case]) -> Json:
    counts: dict[str, Counter[str]] = {}
    totals: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for case in cases:
        for name in struck.get(case.id, ()):
            totals[name] += 1
            counts.setdefault(name, Counter()).update(set(case.tags))
        tags.update(set(case.tags) if struck.get(case.id) else ())
    columns = [tag for tag, _ in sorted(tags.items(), key=lambda item: (-item[1], item[0]))[:TAGS]]
    rows = [
        {"name": name, "total": total, "counts": [counts[name][tag] for tag in columns]}
        for name, total in sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    ]
    return {"tags": columns, "rows": rows, "left_out": len(tags) - len(columns)}
