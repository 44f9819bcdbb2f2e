"""What `assay compare` prints of several candidates: a table of their headline metrics, and what decides on each.

A cell says "improved" or "regressed" only where test and interval agree; the tests of all candidates are one family.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.metrics.template_columns import FAILED, find_first_present
from assay.records.counts import format_count
from assay.records.findings import (
    SIGNIFICANT_CLAIMS,
    Comparison,
    MetricChange,
    describe_leaks,
    list_leaking_cases,
)
from assay.records.release_gates import Decision
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.screen.comparison_screen import describe_change, is_regressed, list_significant_changes
from assay.report.screen.run_summary import DEFAULT_WIDTH
from assay.report.screen.terminal import Screen
from assay.report.wording.answer_metrics import list_headlines
from assay.report.wording.change_values import format_sides
from assay.report.wording.metric_titles import format_metric_title
from assay.report.wording.short_names import shorten_names
from assay.text.escaping import escape_terminal, shorten_at_word

_MOST_CANDIDATES = 10
"""Each takes a line of the table and one below it."""
_SHORTEST_NAME = 12
_GAP = "  "
_NOT_GATED = "NOT_GATED"


class JudgedCandidate(NamedTuple):
    """A candidate compared with the baseline, and the decision on it."""

    comparison: Comparison
    decision: Decision


def render_candidates(candidates: Sequence[JudgedCandidate], width: int = DEFAULT_WIDTH) -> Screen:
    """Return a table of candidates and what is shown of each in at most 25 lines of `width` columns.

    Rows are candidates, the baseline first; columns are the metrics that there is room for, headlines first, and how
    many cases fail now and no longer. Below are new leaks, the reason of a decision, or the most important change.
    """
    listed = candidates[:_MOST_CANDIDATES]
    baseline = candidates[0].comparison.baseline.name
    names = [baseline, *(item.comparison.candidate.name for item in listed)]
    short = dict(zip(names, _name_shortly(names, max(width // 4, _SHORTEST_NAME)), strict=True))
    title = f"{format_count(len(candidates), 'candidate')} compared with {short[baseline]}, tested as one family"
    lines = [escape_terminal(title), *_build_table(listed, short, width)]
    alerts = []
    for item in listed:
        name = short[item.comparison.candidate.name]
        for text, is_alert in _describe_candidate(item):
            line = shorten_at_word(escape_terminal(f" - {name}: {text}"), width)
            lines.append(line)
            alerts += [line] if is_alert else []
    left_out = len(candidates) - len(listed)
    details = f"and {format_count(left_out, 'more candidate')}, " if left_out else ""
    lines.append(f"{details}each in full: --verbose, or --report".capitalize())
    return Screen(tuple(shorten_at_word(line, width) for line in lines), (), (), tuple(alerts))


def _name_shortly(names: Sequence[str], most: int) -> list[str]:
    """Return the ends of paths where these differ, cut to a length."""
    ends = [name.rstrip("/").rpartition("/")[2] for name in names]
    chosen = ends if len(set(ends)) == len(names) else list(names)
    shortened = shorten_names(chosen, most)
    return [shortened[name] for name in chosen]


def _build_table(candidates: Sequence[JudgedCandidate], short: dict[str, str], width: int) -> list[str]:
    """Return the lines of the table, with the columns that fit."""
    first = candidates[0].comparison
    is_gated = any(item.decision.outcome != _NOT_GATED for item in candidates)
    columns = [["", short[first.baseline.name], *(short[item.comparison.candidate.name] for item in candidates)]]
    if is_gated:
        columns.append(["Decision", "", *(item.decision.outcome for item in candidates)])
    last = ["Fail now/no longer", "", *(_count_flipped(item.comparison) for item in candidates)]
    used = sum(map(_measure, columns)) + _measure(last)
    for title, name in _list_columns(candidates):
        changes = [item.comparison.metrics.get(name) for item in candidates]
        before = next((format_sides(change)[0] for change in changes if change is not None), "")
        column = [title, before, *(_describe_side(change) for change in changes)]
        used += _measure(column)
        if used > width:
            break
        columns.append(column)
    columns.append(last)
    rows = []
    for cells in zip(*columns, strict=True):
        padded = [cell.ljust(max(map(len, column))) for cell, column in zip(cells, columns, strict=True)]
        rows.append(escape_terminal(_GAP.join(padded).rstrip()))
    return rows


def _measure(column: Sequence[str]) -> int:
    return max(map(len, column)) + len(_GAP)


def _list_columns(candidates: Sequence[JudgedCandidate]) -> Iterator[tuple[str, str]]:
    """Yield title and name of the metrics that are compared for any candidate, the headlines first."""
    compared = list(dict.fromkeys(name for item in candidates for name in item.comparison.metrics))
    left = [name for name in compared if name not in FAILED]
    for title, names in list_headlines(compared):
        name = find_first_present(names, left)
        if name is not None:
            left.remove(name)
            yield title, name
    for name in left:
        yield format_metric_title(name), name


def _describe_side(change: MetricChange | None) -> str:
    if change is None:
        return "n/a"
    value = format_sides(change)[1]
    return f"{value} {change.claim}" if change.claim in SIGNIFICANT_CLAIMS else value


def _count_flipped(comparison: Comparison) -> str:
    flipped = list_flipped_cases(comparison)
    return f"{len(flipped.fail_now)}/{len(flipped.fail_no_longer)}"


def _describe_candidate(item: JudgedCandidate) -> Iterator[tuple[str, bool]]:
    """Yield what is most important of a candidate, and whether it is an alert: new leaks, why it is decided, or what
    changed significantly."""
    comparison, decision = item
    if list_leaking_cases(comparison).is_worse:
        yield describe_leaks(comparison), True
        return
    if decision.outcome not in (_NOT_GATED, "PASS") and decision.reasons:
        yield f"{decision.outcome}: {decision.reasons[0]}", bool(decision.events)
        return
    significant = list_significant_changes(comparison)
    if not significant:
        yield "no significant change", False
        return
    more = f" (and {len(significant) - 1} more)" if len(significant) > 1 else ""
    first = next(filter(is_regressed, significant), significant[0])
    yield describe_change(first) + more, False
