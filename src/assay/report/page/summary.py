"""The first screen of the HTML report as data: decision, facts, metrics, slices, gate, causes, times, limitations.

The rules of a gate are worded as in the other reports, with the cases that decided. A comparison of candidate and
baseline is data too; its lists of cases are in the `rows` island.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.metrics.template_columns import (
    BEHAVIOUR,
    CITATION,
    CONTEXT_RECALL,
    LAST_RANKINGS,
    MRR_10,
    NDCG_10,
    RECALL_10,
    MetricNames,
)
from assay.records.findings import (
    MAX_CASES_PRINTED,
    Comparison,
    ComparisonSide,
    MetricChange,
    RankMove,
    describe_leaks,
    list_leaking_cases,
    list_unknown_now,
)
from assay.records.golden_set import Case
from assay.records.release_gates import Decision
from assay.records.scores import ConfigResult, Summary
from assay.report.findings.comparison_tables import format_confidence
from assay.report.findings.config_notes import iter_config_notes
from assay.report.findings.doubts import list_doubts, list_regressed
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.findings.gate_tables import build_checklist_table
from assay.report.findings.limitations import describe_limitations
from assay.report.findings.measured_headlines import find_measured_summary, name_rankings
from assay.report.findings.slice_tables import FEW_CASES, count_slice_cases
from assay.report.findings.symptoms import find_symptoms
from assay.report.findings.table import Table
from assay.report.findings.target_errors import describe_all_failures, order_reasons
from assay.report.findings.twin_tables import build_twin_tables
from assay.report.page.case_data import CASE_STATES, HtmlData, classify_cases
from assay.report.page.overview import build_failures, build_outcomes, count_judged_unknowns
from assay.report.wording.answer_metrics import list_answer_metrics, list_headlines, list_measured_metrics
from assay.report.wording.change_order import describe_claim_limit, rank_importance
from assay.report.wording.change_values import (
    describe_unknown,
    format_gain,
    format_gain_alone,
    format_sides,
    format_signed,
)
from assay.report.wording.metric_titles import format_metric_title
from assay.report.wording.number_format import (
    NOT_AVAILABLE,
    collect_summary_notes,
    find_common_reason,
    find_metric_row,
    find_source_column,
    format_interval,
    format_number,
    format_value,
    get_metric_class,
)
from assay.scoring.column_values import count_cases_without_verdict
from assay.text.escaping import escape_surrogates

MAX_RULE_CASES = 200
"""The largest number of cases that are listed for one rule; the others are counted."""
_CHECKLIST_KEYS = ("config", "state", "metric", "slice", "number", "bound", "scored", "detects", "severity", "message")


def iter_rule_data(decisions: Mapping[str, Decision], index_by_case: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield every rule of the decisions; `index_by_case` maps case ids to indices in the golden set."""
    rule_results = [rule_result for _, decision in sorted(decisions.items()) for rule_result in decision.results]
    for row, rule_result in zip(build_checklist_table(decisions).rows, rule_results, strict=True):
        cases = [index_by_case[case_id] for case_id in rule_result.cases if case_id in index_by_case]
        yield dict(zip(_CHECKLIST_KEYS, row, strict=True)) | {
            "title": format_metric_title(rule_result.rule.metric),
            "state": rule_result.state,
            "waived": rule_result.waived,
            "class": get_metric_class(rule_result.rule.metric),
            "reason": rule_result.rule.reason,
            "cases": cases[:MAX_RULE_CASES],
            "more": max(0, len(cases) - MAX_RULE_CASES),
        }


MAX_MOVES, MAX_SLICE_ROWS = 300, 3000


def build_comparison_data(comparison: Comparison, index_by_case: Mapping[str, int]) -> Json:
    """Return a comparison for the page; `index_by_case` maps case ids to indices in the golden set."""
    slice_count = sum(map(len, comparison.slices.values()))
    ordered_moves = sorted((move for move in comparison.moves if move.before != move.after), key=_get_move_weight)
    decisions = {comparison.candidate.config_id: comparison.decision} if comparison.decision is not None else {}
    lanes = Counter((move.stage, move.before, move.after) for move in comparison.moves)
    flipped, leaking = list_flipped_cases(comparison), list_leaking_cases(comparison)
    return {
        "baseline": _build_side(comparison.baseline),
        "regressed": [change.metric for change in list_regressed(comparison)],
        "candidate": _build_side(comparison.candidate),
        "metrics": [_build_change(change) for change in comparison.metrics.values()],
        "slices": min(slice_count, MAX_SLICE_ROWS),
        "slices_left_out": max(0, slice_count - MAX_SLICE_ROWS),
        "lanes": [
            {"stage": stage, "before": before, "after": after, "count": count}
            for (stage, before, after), count in sorted(lanes.items(), key=lambda item: (item[0][0], str(item[0])))
        ],
        "moves": [
            {
                "case": index_by_case.get(move.case_id, -1),
                "id": move.case_id,
                "name": move.name,
                "stage": move.stage,
                "before": move.before,
                "after": move.after,
            }
            for move in ordered_moves[:MAX_MOVES]
        ],
        "moves_left_out": max(0, len(ordered_moves) - MAX_MOVES),
        "flipped": {
            "fail_now": _list_flips(flipped.fail_now, index_by_case),
            "fail_no_longer": _list_flips(flipped.fail_no_longer, index_by_case),
            "unknown_now": len(list_unknown_now(comparison, flipped.fail_no_longer)),
        },
        "leaks": describe_leaks(comparison),
        "leaking": {
            "now_alone": _count_cases(leaking.now_alone),
            "before_alone": _count_cases(leaking.before_alone),
            "on_both": leaking.on_both,
        },
        "transitions": comparison.transitions,
        "changed": comparison.changed,
        "moved": comparison.moved,
        "notes": comparison.notes,
        "decision": comparison.decision
        and {
            "outcome": comparison.decision.outcome,
            "reasons": comparison.decision.reasons,
            "events": comparison.decision.events,
        },
        "rules": list(iter_rule_data(decisions, index_by_case)),
    }


MAX_FLIPS = 8
"""The largest number of cases on the first screen that fail on one side only; the others are counted."""


def _count_cases(case_ids: Sequence[str]) -> Json:
    return {"total": len(case_ids), "cases": [escape_surrogates(name) for name in case_ids[:MAX_CASES_PRINTED]]}


def _list_flips(case_ids: Sequence[str], index_by_case: Mapping[str, int]) -> Json:
    listed_ids = [case_id for case_id in case_ids if case_id in index_by_case]
    return {"total": len(case_ids), "cases": listed_ids[:MAX_FLIPS]}


def build_slice_changes(comparison: Comparison) -> list[Json]:
    """Return the change of each metric on each slice, at most `MAX_SLICE_ROWS` of them."""
    slices = [(name, change) for name, metrics in sorted(comparison.slices.items()) for change in metrics.values()]
    return [{"slice": name, **_build_change(change)} for name, change in slices[:MAX_SLICE_ROWS]]


def _get_move_weight(move: RankMove) -> tuple[bool, int, str, str, int]:
    """Return the sort key of a rank change: lost evidence first, then the largest changes."""
    if move.after is None:
        return False, move.before or 0, move.case_id, move.stage, move.unit
    return True, -abs((move.before or 100) - move.after), move.case_id, move.stage, move.unit


def _build_side(side: ComparisonSide) -> Json:
    return {
        "name": side.name,
        "config": side.config_id,
        "golden": side.golden_digest,
        "cases": side.cases,
        "versions": side.versions,
        "judge": side.judge,
    }


def _build_change(change: MetricChange) -> Json:
    metric_row = find_metric_row(change.metric)
    is_noted = describe_unknown(change) in (change.note or "")
    gain_text = format_gain_alone(change) if is_noted else format_gain(change)
    texts = (*format_sides(change), gain_text)
    before, after, gain = (None if text == NOT_AVAILABLE else text for text in texts)
    return {
        "name": change.metric,
        "title": format_metric_title(change.metric),
        "class": get_metric_class(change.metric),
        "unit": metric_row.unit if metric_row is not None else "",
        "baseline": before,
        "candidate": after,
        "gain": change.gain,
        "gain_text": gain,
        "low": change.low,
        "high": change.high,
        "interval": _format_gain_interval(change),
        "p": change.p,
        "p_adjusted": change.p_adjusted,
        "verdict": change.claim,
        "method": change.method,
        "n": change.n,
        "improved": len(change.improved),
        "regressed": len(change.regressed),
        "unchanged": len(change.unchanged),
        "unpaired": len(change.unpaired),
        "detectable": _format_optional(change.smallest_detectable, change.metric),
        "note": "; ".join(filter(None, (change.note, describe_claim_limit(change)))),
        "importance": rank_importance(change),
    }


def _format_gain_interval(change: MetricChange) -> str | None:
    if change.low is None or change.high is None:
        return None
    low = _format_signed_optional(change.low, change.metric)
    high = _format_signed_optional(change.high, change.metric)
    return f"{low} to {high}{format_confidence(change)}"


def _format_optional(value: float | None, metric: str) -> str | None:
    return format_number(value, metric) if value is not None else None


def _format_signed_optional(value: float | None, metric: str) -> str | None:
    return format_signed(value, metric) if value is not None else None


Json = dict[str, Any]
KEY_METRICS = (
    "correctness(by=judge)", "correct_answer", "faithfulness(by=judge)", "context_recall", "rr(stage=final)@10",
    "rr@10", "citation_correctness(by=judge)", "citation_correctness(by=rules)", "behaviour", "visibility_leaks",
    "answer_similarity", "recall@10",
)  # fmt: skip
"""The metrics that a case shows first, as far as they were scored for it: the answer, its evidence, its sources."""
_OF_LAST_RANKINGS = frozenset(name for names in LAST_RANKINGS.values() for name in names)
"""Metrics that a case shows first only if the headlines name them: where a last ranking scores otherwise than the
retrieved one. Else both are the same, and have one name."""
MAX_SLICES, MAX_TAGS = 300, 24
"""The largest number of slices of one configuration, and of tags in the chart of causes, on the first screen."""


def build_summary_data(data: HtmlData, short_cases: Mapping[int, Json] | None = None) -> Json:
    """Return everything that the page shows before a case is opened.

    `short_cases` has the answers that the list of failed cases shows (`shorten_case`), by case index.
    """
    scoring = data.scoring
    golden = scoring.golden
    index_by_case = {case.id: number for number, case in enumerate(data.cases)}
    configs = sorted(scoring.configs.items())
    decisions = {config: result.decision for config, result in configs if result.decision is not None}
    notes = [note for config, result in configs for note in iter_config_notes(config, result, scoring)]
    notes += [f"symptom: {hint}" for hint in find_symptoms(scoring)]
    if scoring.gate is not None:
        notes.append(f"reviewer: {scoring.gate.approver or 'not named'}")
    looks = [scoring.looks.describe()] if scoring.looks is not None else []
    titles = _title_headlines(data)
    return {
        "outcome": scoring.decision.outcome,
        "reasons": order_reasons(describe_all_failures(scoring), scoring.decision.reasons, scoring.decision),
        "events": scoring.decision.events,
        "doubts": [escape_surrogates(line) for line in _list_doubts(data)],
        "golden": {part: getattr(golden, part) for part in ("name", "version", "digest", "cases", "judgments")},
        "gate": (scoring.gate.name or "unnamed") if scoring.gate is not None else None,
        "date": data.date,
        "owner": data.owner,
        "assay": scoring.assay_version,
        "explain": data.explain_arguments,
        "show_forbidden": data.show_forbidden,
        "configs": [_build_config(config, result, data) for config, result in configs],
        "inputs": [
            {
                "path": escape_surrogates(source.path),
                "format": source.format,
                "rows": source.rows,
                "configs": source.configs,
            }
            for source in scoring.inputs
        ],
        "warnings": [escape_surrogates(warning) for warning in (*looks, *scoring.warnings)],
        "notes": notes,
        "limits": list(describe_limitations(scoring)),
        "variants": [_encode_table(table) for table in build_twin_tables(scoring)],
        "failures": build_failures(data, short_cases or {}),
        "outcomes": build_outcomes(data),
        "key_metrics": [name for name in KEY_METRICS if name not in _OF_LAST_RANKINGS or name in titles],
        "headlines": list(titles),
        "metrics": list(_iter_metrics(data, titles)),
        "rules": list(iter_rule_data(decisions, index_by_case)),
        "slices": _build_slices(data),
        "causes": {config: _build_causes(config, result, data) for config, result in configs},
        "times": [
            {"config": timing.config, "step": timing.step, "p50": timing.p50, "p95": timing.p95, "n": timing.n}
            for timing in data.timings
        ],
        "comparison": build_comparison_data(data.comparison, index_by_case) if data.comparison is not None else None,
    }


def _list_doubts(data: HtmlData) -> list[str]:
    """Return what to doubt although nothing failed. What regressed is said under what changed, on the same screen."""
    return list_doubts(data.scoring, None)


def _encode_table(table: Table) -> Json:
    return {
        "title": table.title,
        "columns": table.columns,
        "rows": [[escape_surrogates(cell) for cell in row] for row in table.rows],
        "notes": [escape_surrogates(note) for note in table.notes],
    }


def _build_config(config: str, result: ConfigResult, data: HtmlData) -> Json:
    states = Counter(classify_cases(result))
    table = result.table
    return {
        "id": config,
        "outcome": result.decision.outcome if result.decision is not None else None,
        "reasons": result.decision.reasons if result.decision is not None else (),
        "cases": len(table.case_ids),
        "states": {state: states[state] for state in CASE_STATES},
        "judged_unknowns": count_judged_unknowns(result),
        "unjudged": count_cases_without_verdict(table),
        "repeats": table.repeats,
        "stage": data.scoring.stages.get(config),
        "versions": table.versions,
    }


def _title_headlines(data: HtmlData) -> dict[str, str]:
    """Return the titles of the metrics that are shown first, by name, in the order in which they are shown: those that
    were measured before those that were not."""
    results = [result for _, result in sorted(data.scoring.configs.items())]
    titles: dict[str, str] = {}
    for title, names in name_rankings(list_headlines(list_measured_metrics(results)), results):
        for result in results:
            summary = find_measured_summary(names, result.summary)
            if summary is not None:
                titles.setdefault(summary.metric, title)
    measured = list_measured_metrics(results)
    return dict(sorted(titles.items(), key=lambda item: item[0] not in measured))


def _iter_metrics(data: HtmlData, titles: Mapping[str, str]) -> Iterator[Json]:
    """Yield every metric with its summary in each configuration; `titles` are those of the headlines."""
    results = [result for _, result in sorted(data.scoring.configs.items())]
    for metric in dict.fromkeys(metric for result in results for metric in result.summary):
        metric_row = find_metric_row(metric)
        yield {
            "name": metric,
            "class": get_metric_class(metric),
            "title": titles.get(metric) or format_metric_title(metric),
            "family": metric_row.family if metric_row is not None else "",
            "unit": metric_row.unit if metric_row is not None else "",
            "direction": metric_row.direction if metric_row is not None else "neutral",
            "meaning": metric_row.summary if metric_row is not None else "",
            "by": [_build_measure(metric, result, data) for result in results],
        }


def _build_measure(metric: str, result: ConfigResult, data: HtmlData) -> Json | None:
    summary = result.summary.get(metric)
    if summary is None:
        return None
    figure = _build_figure(summary, data)
    unscored_reason = find_common_reason(find_source_column(metric, result.table)) if not summary.scored else ""
    worst = format_number(summary.mean_worst, metric) if summary.mean_worst is not None else None
    return figure | {
        "statistic": summary.statistic,
        "not_applicable": summary.not_applicable,
        "errors": summary.errors,
        "unknown": summary.unknown.count if summary.unknown is not None else 0,
        "unchecked": summary.unchecked,
        "known_alone": format_number(summary.value, metric) if summary.unknown is not None else None,
        "worst": worst if summary.errors else None,
        "why": unscored_reason,
        "notes": list(collect_summary_notes(summary)),
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
        "text": format_value(summary) if summary.value is not None else None,
        "low": interval_bounds.low if interval_bounds is not None and has_width else None,
        "high": interval_bounds.high if interval_bounds is not None and has_width else None,
        "interval": format_interval(interval_bounds, summary.metric) if interval_bounds is not None else None,
        "n": summary.scored,
    }


_SLICE_COLUMNS: tuple[tuple[str, MetricNames], ...] = (
    ("Recall@10", RECALL_10),
    ("MRR@10", MRR_10),
    ("nDCG@10", NDCG_10),
    ("Context recall", CONTEXT_RECALL),
    ("Citation correctness", CITATION),
    ("Behaviour", BEHAVIOUR),
)
"""What is shown of each slice after whether its answers are right."""


def _build_slices(data: HtmlData) -> Json:
    """Return the first metrics on every slice, those that were measured on any; beyond the limit the smallest slices
    are only counted."""
    rows, left_out = [], 0
    columns = _choose_slice_columns([result for _, result in sorted(data.scoring.configs.items())])
    for config, result in sorted(data.scoring.configs.items()):
        slice_sizes = {key: count_slice_cases(summaries) for key, summaries in result.slices.items()}
        largest = sorted((-size, key) for key, size in slice_sizes.items())[:MAX_SLICES]
        left_out += len(slice_sizes) - len(largest)
        rows += [
            {
                "config": config,
                "slice": key,
                "cases": slice_sizes[key],
                "small": slice_sizes[key] < FEW_CASES,
                "cells": [
                    _build_figure(find_measured_summary(names, result.slices[key]), data) for _, names in columns
                ],
            }
            for key in sorted(key for _, key in largest)
        ]
    return {"columns": [title for title, _ in columns], "rows": rows, "left_out": left_out}


def _choose_slice_columns(results: Sequence[ConfigResult]) -> list[tuple[str, MetricNames]]:
    """Return titles and metrics of the columns that have a value in any configuration."""
    measured = list_measured_metrics(results)
    answers = [(title, (name,)) for title, name in list_answer_metrics(results)[:1]]
    return [(title, names) for title, names in (*answers, *_SLICE_COLUMNS) if not measured.isdisjoint(names)]


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
    columns = [tag for tag, _ in sorted(tags.items(), key=lambda item: (-item[1], item[0]))[:MAX_TAGS]]
    rows = [
        {"name": name, "total": total, "counts": [counts[name][tag] for tag in columns]}
        for name, total in sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    ]
    return {"tags": columns, "rows": rows, "left_out": len(tags) - len(columns)}
