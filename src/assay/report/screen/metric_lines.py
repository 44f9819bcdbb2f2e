"""Metrics of a run in columns: value and count, and the change since the baseline or the interval where it fits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.metrics.template_columns import MetricNames
from assay.records.counts import format_count
from assay.records.findings import Comparison, MetricChange
from assay.records.scores import ScoringResult, Summary
from assay.report.findings.measured_headlines import find_measured_summary
from assay.report.wording.change_values import format_sides, format_signed
from assay.report.wording.number_format import NOT_AVAILABLE, format_number, format_open_counts, format_value
from assay.report.wording.short_names import shorten_names
from assay.text.escaping import escape_terminal

_LABEL_WIDTH = 22


def build_metric_lines(
    scoring: ScoringResult,
    configs: Sequence[str],
    comparisons: Mapping[str, Comparison],
    width: int,
    labelled: Sequence[tuple[str, MetricNames]],
) -> list[str]:
    label_width = max(_LABEL_WIDTH, *(len(label) + 2 for label, _ in labelled))
    widest = _WIDEST_RANGES if _has_unknown_changes(comparisons) else _WIDEST
    column_width = min((width - label_width) // max(len(configs), 1), widest)
    rows: list[tuple[str, list[str]]] = []
    for label, names in labelled:
        summaries = [find_measured_summary(names, scoring.configs[config].summary) for config in configs]
        if not any(summary is not None and summary.value is not None for summary in summaries):
            continue
        cells = []
        for config, summary in zip(configs, summaries, strict=True):
            cells.append(_format_cell(summary, comparisons.get(config), column_width))
        rows.append((label, cells))
    if not rows:
        return []
    short_names = shorten_names(configs, max(column_width - 1, _SHORTEST_TITLE))
    lines = [_align_row("", label_width, [short_names[config] for config in configs], column_width)]
    for label, cells in rows:
        lines.append(_align_row(label, label_width, cells, column_width))
    return lines


def _format_cell(
    summary: Summary | None,
    comparison: Comparison | None,
    column_width: int,
) -> str:
    """Return value and count, with the change since the baseline or else the interval where the column has room."""
    if summary is None or summary.value is None:
        return NOT_AVAILABLE
    value = format_value(summary)
    parts = [f"n {summary.scored}{format_open_counts(summary)}"]
    fewer = f"n {summary.scored}{format_open_counts(replace(summary, unchecked=0))}"
    change = comparison.metrics.get(summary.metric) if comparison is not None else None
    longest: list[str] = []
    if change is not None and change.unknown is not None:
        # Next to a range, the change says more than how many cases are unchecked.
        for since in _list_bounded_changes(change):
            longest += [f"{value} ({counts}, {since})" for counts in dict.fromkeys((parts[0], fewer))]
    elif change is not None and change.baseline is not None and change.candidate is not None:
        difference = format_number(abs(change.candidate - change.baseline), summary.metric)
        difference = ("+" if change.candidate >= change.baseline else "−") + difference
        if change.n < summary.scored or change.unpaired:  # the values of all scored cases differ by something else
            pairs = format_count(change.n, "pair")
            longest = [f"{value} ({counts}, {difference} on {pairs})" for counts in dict.fromkeys((parts[0], fewer))]
        parts.append(difference)
    elif summary.unknown is None and summary.interval is not None and summary.interval.low != summary.interval.high:
        low = format_number(summary.interval.low, summary.metric)
        high = format_number(summary.interval.high, summary.metric)
        parts.append(f"{low}–{high}")
    for text in (*longest, f"{value} ({', '.join(parts)})", f"{value} ({parts[0]})"):
        if len(text) < column_width:
            return text
    return value if len(value) < column_width else _round_numbers(value)


def _round_numbers(value: str) -> str:
    """Return a value for a column that would cut it: a number of fewer digits is true, and half of one is not.

    >>> _round_numbers("0.686–0.800")
    '0.69–0.80'
    """
    return re.sub(r"(?<!\d)\d++\.\d{3,}", lambda number: f"{float(number[0]):.2f}", value)


def _list_bounded_changes(change: MetricChange) -> list[str]:
    """Return the change since the baseline where answers are unknown, longest first: the one with room is shown."""
    unknown = change.unknown
    assert unknown is not None
    since = f"from {format_sides(change)[0]}"
    if unknown.direction == "not known":
        return [f"{since}: direction not known", "direction not known", since]
    if unknown.is_gain_known:
        gain = f"gain {format_signed(unknown.gain[0], change.metric)}"
        return [f"{since}, {gain}", gain, since]
    low, high = (format_signed(gain, change.metric) for gain in unknown.gain)
    return [f"{since}, gain {low} to {high}", f"gain {low} to {high}", since]


_SHORTEST_TITLE = 6
_WIDEST, _WIDEST_RANGES = 52, 64
"""The widest column of numbers, and that with ranges of changes."""


def _has_unknown_changes(comparisons: Mapping[str, Comparison]) -> bool:
    return any(change.unknown for comparison in comparisons.values() for change in comparison.metrics.values())


def _align_row(label: str, label_width: int, cells: Sequence[str], column_width: int) -> str:
    columns = []
    for cell in cells:
        text = escape_terminal(cell)
        if len(text) >= column_width:
            text = text[: max(column_width - 2, 1)] + "…"
        columns.append(text.ljust(column_width))
    return (label.ljust(label_width) + "".join(columns)).rstrip()
