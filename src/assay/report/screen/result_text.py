"""A result for people at a prompt: eight lines of text, and a table of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.metrics.catalog import CATALOG
from assay.metrics.template_columns import FIRST_METRICS, find_first_present
from assay.records.counts import format_count, join_first
from assay.records.golden_set import GOLDEN_KEYS_TAKEN
from assay.records.scores import ConfigResult, ScoringResult
from assay.report.findings.doubts import list_doubts, list_unread_keys
from assay.report.findings.target_errors import describe_all_failures, fold_first_failures, order_reasons
from assay.report.wording.answer_metrics import list_answer_metrics
from assay.report.wording.number_format import format_interval, format_open_counts, format_value
from assay.scoring.case_outcomes import count_cases, list_failed_cases
from assay.scoring.judged_answers import describe_judged_unknowns, describe_standing
from assay.text.escaping import escape_terminal, shorten_at_word

MAX_METRICS, MAX_CASES, MAX_CHARS, MAX_CONFIGS = 4, 4, 110, 3
MAX_NOTEBOOK_METRICS = 8
_MAX_NOTEBOOK_REASONS = 5
NEXT_STEP = "next: result.failed, result.unknown, result.cases[0].explain(), assay.report(result, html='report.html')"


def render_result_lines(scoring: ScoringResult) -> list[str]:
    """Return at most eight lines: the decision, the target's most frequent errors and the first reason, the first
    doubt, which columns became attributes and which keys were not read, the metrics that there is room for, at most
    four, the failed cases, what to do next."""
    configs = sorted(scoring.configs.items())
    names = join_first(sorted(scoring.configs), MAX_CONFIGS)
    lines = [f"{scoring.decision.outcome}: {names}, {format_count(scoring.golden.cases, 'case')}"]
    reasons = _choose_reasons(scoring)
    doubts = [shorten_at_word(doubt, MAX_CHARS) for doubt in list_doubts(scoring)[:1]]
    taken = [shorten_at_word(note, MAX_CHARS) for note in _find_reading_notes(scoring)]
    lines += [*reasons, *doubts, *taken]
    judged = _describe_judged(configs[:MAX_CONFIGS])
    room = MAX_METRICS + 1 - max(len(reasons), 1) - len(doubts) - len(taken) - len(judged)
    metrics = choose_shown_metrics(scoring)[: max(room, 1)]
    width = max(map(len, metrics), default=0)
    for metric in metrics:
        cells = [_format_cell(metric, result) for _, result in configs[:MAX_CONFIGS]]
        lines.append(f"{metric:<{width}}  {'   '.join(cells)}")
    lines.append(_shorten_failed(configs[:MAX_CONFIGS]))
    lines += judged
    lines.append(NEXT_STEP)
    return [escape_terminal(line) for line in lines]


def _find_reading_notes(scoring: ScoringResult) -> list[str]:
    """Return the notes on columns that are attributes and on keys of outputs that were not read, the first of each that
    no doubt tells."""
    taken = [warning for warning in scoring.warnings if warning.startswith(GOLDEN_KEYS_TAKEN)]
    doubts = list_doubts(scoring)
    unread = [warning for warning in list_unread_keys(scoring) if not any(warning in doubt for doubt in doubts)]
    return [*taken[:1], *unread[:1]]


def _choose_reasons(scoring: ScoringResult) -> list[str]:
    """Return the first reason, and before it the most frequent errors of the targets, at most three."""
    errors, left_out = fold_first_failures(scoring, MAX_CHARS)
    first, *others = [*scoring.decision.reasons, ""]
    counts = [format_count(left_out, "other error")] if left_out else []
    counts += [format_count(len(others) - 1, "more reason")] if len(others) > 1 else []
    more = f" (and {' and '.join(counts)})" if counts else ""
    reason = shorten_at_word(f" - {first}", MAX_CHARS - len(more)) + more
    return [*errors, reason] if first else errors


def choose_shown_metrics(scoring: ScoringResult, most: int = MAX_METRICS) -> list[str]:
    """Return the metrics to show first, at most so many: those that people look at first, and where these are fewer
    than four, others that have a number."""
    measured = [
        metric
        for metric in dict.fromkeys(metric for result in scoring.configs.values() for metric in result.summary)
        if any(_is_measured(metric, result) for result in scoring.configs.values())
    ]
    own = [metric for metric in measured if CATALOG.get_plugin(metric.partition("(")[0].partition("@")[0]) is not None]
    answers = [name for _, name in list_answer_metrics(list(scoring.configs.values()))]
    headline = [find_first_present(names, measured) for _, names in FIRST_METRICS[1:]]
    first = list(dict.fromkeys((*own, *answers, *filter(None, headline))))
    others = [metric for metric in measured if metric not in first]
    return [*first, *others[: max(MAX_METRICS - len(first), 0)]][:most]


def _is_measured(metric: str, result: ConfigResult) -> bool:
    summary = result.summary.get(metric)
    return summary is not None and summary.value is not None


def _format_cell(metric: str, result: ConfigResult) -> str:
    summary = result.summary.get(metric)
    if summary is None or summary.value is None:
        return "n/a"
    interval = (
        f" ({format_interval(summary.interval, metric, in_parentheses=True)})" if summary.interval is not None else ""
    )
    errors = f", {format_count(summary.errors, 'error')}" if summary.errors else ""
    if summary.unknown is not None:
        interval = ""
    standing = describe_standing(result.table) if metric == JUDGED_CORRECTNESS else ""
    counts = f"n={summary.scored}{format_open_counts(summary)}{errors}"
    return f"{format_value(summary)}{interval} {counts}" + (standing and f", {standing}")


def _shorten_failed(configs: Sequence[tuple[str, ConfigResult]]) -> str:
    """Return the failed cases on one line: without room, first what "unknown" means is left out, then cases are."""
    line = _describe_failed(configs)
    for count in range(MAX_CASES, 0, -1):
        if len(line) <= MAX_CHARS:
            break
        line = _describe_failed(configs, count, explained=False)
    return shorten_at_word(line, MAX_CHARS)


def _describe_failed(
    configs: Sequence[tuple[str, ConfigResult]], most: int = MAX_CASES, *, explained: bool = True
) -> str:
    parts = []
    counts = [count_cases(result) for _, result in configs]
    are_unanswered = any(count.unanswered for count in counts) and all(
        count.unanswered == count.failed for count in counts
    )
    for config, result in configs:
        failed, unknown = list_failed_cases(result), count_cases(result).unknown
        more = f" and {len(failed) - most} more: result.failed" if len(failed) > most else ""
        shown = ", ".join(failed[:most]) + more
        prefix = f"{config}: " if len(configs) > 1 else ""
        parts.append(f"{prefix}{len(failed)} of {len(result.table.case_ids)}" + (f" ({shown})" if failed else ""))
        if result.table.missing and not are_unanswered:
            parts[-1] += f", {len(result.table.missing)} without output"
        if unknown:
            is_judged = describe_judged_unknowns(result) != ""
            is_said = is_judged or not explained
            parts[-1] += f", {unknown} unknown" + ("" if is_said else ": nothing tells whether the answer is right")
    return f"{'without an answer' if are_unanswered else 'failed'}: {'; '.join(parts)}"


def _describe_judged(configs: Sequence[tuple[str, ConfigResult]]) -> list[str]:
    """Return what a judge that may not decide says of unknown cases, one line of the first configuration with any."""
    for config, result in configs:
        judged = describe_judged_unknowns(result, _COUNTING_ARGUMENTS)
        if judged:
            prefix = f"{config} " if len(configs) > 1 else ""
            return [shorten_at_word(f"{prefix}unknown: {judged}", MAX_CHARS)]
    return []


_COUNTING_ARGUMENTS = "assay.calibrate with labels"


def render_result_html(scoring: ScoringResult) -> str:
    """Return a fragment of HTML for a notebook: the decision, its reasons, the first metrics, the failed cases, and
    the other metrics folded."""
    configs = sorted(scoring.configs.items())
    reasons = order_reasons(describe_all_failures(scoring), scoring.decision.reasons, scoring.decision)
    more = len(reasons) - _MAX_NOTEBOOK_REASONS
    reasons = [*reasons[:_MAX_NOTEBOOK_REASONS], *([format_count(more, "more reason")] if more > 0 else [])]
    first = choose_shown_metrics(scoring, MAX_NOTEBOOK_METRICS)
    rest = [
        metric
        for metric in dict.fromkeys(metric for _, result in configs for metric in result.summary)
        if metric not in first and any(_is_measured(metric, result) for _, result in configs)
    ]
    notes = (*reasons, *list_doubts(scoring), *_find_reading_notes(scoring))
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f"<div><p><b>{escape(scoring.decision.outcome)}</b>, {format_count(scoring.golden.cases, 'case')}</p>"
        f"<ul>{listed}</ul>{_render_metrics(first, configs)}<p>{escape(_describe_failed(configs))}</p>"
        f"<details><summary>{format_count(len(rest), 'more metric')}</summary>"
        f"{_render_metrics(rest, configs)}</details></div>"
    )


def _render_metrics(metrics: Sequence[str], configs: Sequence[tuple[str, ConfigResult]]) -> str:
    """Return a table of HTML with one row for each metric and one column for each configuration."""
    head = "".join(f"<th>{escape(config)}</th>" for config, _ in configs)
    rows = [
        f"<tr><td>{escape(metric)}</td>"
        + "".join(f"<td>{escape(_format_cell(metric, result))}</td>" for _, result in configs)
        + "</tr>"
        for metric in metrics
    ]
    return f"<table><thead><tr><th>Metric</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
