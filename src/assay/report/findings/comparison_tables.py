"""Tables of a comparison: the gain of each metric, of slices, what moved, and what was compared.

A change is called improved or regressed only where its test and its interval agree (ADR 49).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.metrics.template_columns import MetricNames
from assay.records.counts import format_count
from assay.records.findings import (
    ChangeVerdict,
    Comparison,
    ComparisonSide,
    MetricChange,
    RankMove,
    describe_unknown_now,
    format_p,
)
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.findings.table import Table
from assay.report.wording.change_order import describe_claim_limit, measure_strength, rank_importance
from assay.report.wording.change_values import format_gain, format_sides, format_signed
from assay.report.wording.number_format import NOT_AVAILABLE, find_metric_row, format_number, get_metric_class

_NOTHING_SIGNIFICANT = "No metric changed significantly, so none is explained here."
MAX_MOVES_SHOWN, MAX_SLICES_SHOWN = 50, 40


def build_metric_changes_table(comparison: Comparison) -> Table:
    """Return the metrics that differ on at least one case; the others are listed in a note."""
    rows, unchanged_metrics = [], []
    for name, change in sorted(comparison.metrics.items(), key=lambda item: _get_row_order(item[1])):
        differs = change.improved or change.regressed or change.unpaired or change.needs_review
        is_open = change.unknown is not None and change.unknown.is_one_sided
        if change.baseline == change.candidate and not differs and not is_open:
            unchanged_metrics.append(name)
            continue
        rows.append(
            (
                name,
                get_metric_class(name),
                *_format_change_cells(change),
                "; ".join(filter(None, (change.note, describe_claim_limit(change)))),
            )
        )
    columns = ("Metric", "Class", *_CHANGE_COLUMNS, "Note")
    notes = [_TESTING_NOTE] if rows else []
    notes += [f"no difference on any case: {', '.join(unchanged_metrics)}"] if unchanged_metrics else []
    return Table("Metrics: candidate and baseline", columns, tuple(rows), tuple(notes))


def build_headline_changes_table(comparison: Comparison, headlines: Sequence[tuple[str, MetricNames]]) -> Table:
    """Return how the headline metrics changed since the baseline, and which cases fail now and which no longer do."""
    rows = []
    for title, names in headlines:
        change = next((comparison.metrics[name] for name in names if name in comparison.metrics), None)
        if change is None or (change.unknown is None and (change.baseline is None or change.candidate is None)):
            continue
        cells = _format_change_cells(change)
        rows.append((title, *cells[:2], str(change.n), *cells[2:4], change.claim))
    failed = comparison.metrics.get(_FAILED_METRIC)
    notes = []
    for label, case_ids in (("Fail now", failed.regressed), ("Fail no longer", failed.improved)) if failed else ():
        listed = ", ".join(case_ids[:_MAX_NAMED]) + (", …" if len(case_ids) > _MAX_NAMED else "")
        of_them = describe_unknown_now(comparison, case_ids) if label == "Fail no longer" else ""
        notes.append(f"{label}: {format_count(len(case_ids), 'case')}{f' ({listed})' if case_ids else ''}{of_them}.")
    too = list_flipped_cases(comparison).fail_too
    if too:
        more = ", …" if len(too) > _MAX_NAMED else ""
        notes.append(f"Fail in another way: {format_count(len(too), 'case')} ({', '.join(too[:_MAX_NAMED])}{more}).")
    columns = ("Metric", "Baseline", "Candidate", "Pairs", "Gain", "Interval", "Verdict")
    if any(change.unknown is not None for change in comparison.metrics.values()):
        notes.append(_BOUNDED_NOTE)
    elif rows:
        notes.append("Values are those of the cases that both sides scored (pairs); an unknown answer is in no pair.")
    return Table("Changes since the baseline", columns, tuple(rows), (" ".join(notes),) if notes else ())


_BOUNDED_NOTE = (
    "Values are those of the cases that both sides scored (pairs); unknown answers count at worst and at best, and the "
    "interval holds whatever they are."
)
_FAILED_METRIC = "failed"
_MAX_NAMED = 10


_SIGNIFICANT_FIRST: Mapping[ChangeVerdict, int] = {"regressed": 0, "improved": 1, "not significant": 2, "n/a": 2}


def _get_row_order(change: MetricChange) -> tuple[int, int, float]:
    """Return the place of a row: significant changes in order of importance and strength, and what could be checked
    after them; then headlines and others in the order of the catalogue: the size of what is not significant means
    nothing."""
    if change.verdict not in ("regressed", "improved"):
        return 2, int(rank_importance(change) > 0), 0.0
    return _SIGNIFICANT_FIRST[change.verdict], rank_importance(change), -measure_strength(change)


_TESTING_NOTE = (
    "A positive gain is an improvement. p and interval take account of everything that was tested: a change is "
    "significant where p is at most its limit and the interval excludes 0. The percentage after an interval is its "
    "confidence: it is higher, and the interval wider, the more tests there are and the fewer of them are "
    "significant; headlines and all others are counted apart. Detects: the smallest true difference that so "
    "many cases find at this confidence with a power of 80%."
)


_CHANGE_COLUMNS = (
    "Baseline",
    "Candidate",
    "Gain",
    "Interval",
    "p (limit)",
    "Verdict",
    "Better / worse / same / unpaired",
    "Detects",
)


def _format_change_cells(change: MetricChange) -> tuple[str, ...]:
    counts = (change.improved, change.regressed, change.unchanged, change.unpaired)
    bounds = NOT_AVAILABLE
    if change.low is not None and change.high is not None:
        bounds = (
            f"{format_signed(change.low, change.metric)} to "
            f"{format_signed(change.high, change.metric)}{format_confidence(change)}"
        )
    return (
        *format_sides(change),
        format_gain(change),
        bounds,
        _format_p(change.p_adjusted) + (f" ({change.level:g})" if change.level is not None else ""),
        change.claim,
        " / ".join(str(len(cases)) for cases in counts)
        + (f", {len(change.unknown.cases)} unknown" if change.unknown is not None else ""),
        format_number(change.smallest_detectable, change.metric),
    )


def format_confidence(change: MetricChange) -> str:
    """Return the confidence of the interval of a gain, in parentheses; empty without an interval."""
    if change.confidence is None:
        return ""
    percent = 100 * change.confidence
    decimals = 0
    while abs(round(percent, decimals) - percent) > 0.1 * (100 - percent):
        decimals += 1
    return f" ({percent:.{decimals}f}%)"


def _format_p(p: float | None) -> str:
    return NOT_AVAILABLE if p is None else format_p(p)


def build_rank_moves_table(comparison: Comparison) -> Table:
    """Return the evidence that changed rank: lost evidence first, then the largest changes."""
    moves = sorted(comparison.moves, key=_get_move_sort_key)
    rows = [
        (move.case_id, move.name, move.stage, format_rank(move.before), format_rank(move.after))
        for move in moves[:MAX_MOVES_SHOWN]
    ]
    hidden = len(moves) - MAX_MOVES_SHOWN
    notes = (f"{format_count(hidden, 'more move')}.",) if hidden > 0 else ()
    return Table("Rank movement", ("Query", "Evidence", "Stage", "Baseline", "Candidate"), tuple(rows), notes)


def _get_move_sort_key(move: RankMove) -> tuple[bool, int]:
    if move.after is None:
        return False, move.before or 0
    return True, -abs(move.after - (move.before or 100))


def format_rank(rank: int | None) -> str:
    """Return a rank as text, `absent` for None."""
    return "absent" if rank is None else str(rank)


def build_transitions_table(comparison: Comparison) -> Table:
    """Return how many cases went from one attribution to another."""
    rows = [
        (before.replace("_", " "), after.replace("_", " "), str(count))
        for before, after, count in comparison.transitions
    ]
    return Table("Attribution, before and after", ("Baseline", "Candidate", "Cases"), tuple(rows))


def build_slice_changes_table(comparison: Comparison) -> Table:
    """Return the slices with an improvement or a regression, and those that a rule of the gate names."""
    results = comparison.decision.results if comparison.decision is not None else ()
    gated = {(result.rule.slice, result.rule.metric) for result in results}
    rows = []
    for name, metrics in sorted(comparison.slices.items()):
        for metric, change in metrics.items():
            if change.verdict in ("improved", "regressed") or (name, metric) in gated:
                metric_row = find_metric_row(metric)
                if metric_row is None or metric_row.family != "operations":
                    rows.append((name, metric, *_format_change_cells(change)))
    hidden = len(rows) - MAX_SLICES_SHOWN
    left_out = [f"In the JSON report: {format_count(hidden, 'more row')}."] if hidden > 0 else []
    notes = ("Slices of fewer than 10 pairs are described but not tested.", *left_out) if rows else ()
    return Table(
        "Slices with significant changes",
        ("Slice", "Metric", *_CHANGE_COLUMNS),
        tuple(rows[:MAX_SLICES_SHOWN]),
        notes,
    )


def build_sides_table(comparison: Comparison) -> Table:
    """Return the two sides of the comparison: names, configurations, cases, golden sets, versions and judges."""
    rows = [
        (title, *(get_cell(side) for side in (comparison.baseline, comparison.candidate)))
        for title, get_cell in (
            ("Name", lambda side: side.name),
            ("Config", lambda side: side.config_id),
            ("Cases", lambda side: str(side.cases)),
            ("Golden set", lambda side: side.golden_digest[:19] + "…"),
            ("Versions", _format_versions),
            ("Judge", lambda side: side.judge or "none"),
        )
    ]
    return Table("Compared", ("", "Baseline", "Candidate"), tuple(rows))


def _format_versions(side: ComparisonSide) -> str:
    return ", ".join(f"{part} {' and '.join(values)}" for part, values in sorted(side.versions.items())) or "not stated"


def describe_unexplained(comparison: Comparison) -> str:
    """Return what to say where no sentence explains why the metrics moved: none did, or no case shows why."""
    significant = [name for name, change in comparison.metrics.items() if change.verdict in ("improved", "regressed")]
    if not significant:
        return _NOTHING_SIGNIFICANT
    return f"The traces of the cases do not show why these moved: {', '.join(significant)}."
