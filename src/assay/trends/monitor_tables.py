"""What `assay monitor` prints: tables for people, Markdown for a chat, and plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from assay.records.counts import format_count, join_first
from assay.report.findings.table import Table
from assay.report.wording.metric_titles import format_metric_title
from assay.report.wording.number_format import NOT_AVAILABLE, format_number
from assay.text.escaping import escape_markdown
from assay.trends.monitor_alerts import ACKNOWLEDGED, describe_groups
from assay.trends.monitor_results import CORRECTED, LeakGroup, MonitorPoint, MonitorReport, MonitorSeries, group_leaks
from assay.trends.version_changes import describe_deployments
from assay.trends.watch import list_unmeasured_lines, list_watch_lines, list_week_lines

MAX_LEAKS_SHOWN, MAX_PERIODS_SHOWN, MAX_LINES_IN_CHAT, MAX_ANSWERS_NAMED = 10, 4, 12, 3


def describe_monitor(report: MonitorReport) -> dict[str, Any]:
    """Return the report as plain values: the data of the monitor's page."""
    values: dict[str, Any] = {"page": "monitor", **msgspec.to_builtins(report)}
    values["period"] = {"from": report.period.first, "to": report.period.last}
    values["watch"], values["leak_gaps"] = [*list_week_lines(report), *list_watch_lines(report)], list_leak_gaps(report)
    values["unmeasured_bounds"] = list_unmeasured_lines(report)
    for drift in values["drift"]:
        drift["from"], drift["to"] = drift.pop("from_period"), drift.pop("to_period")
    return values


def build_monitor_tables(report: MonitorReport) -> list[Table]:
    """Return the tables of a report: leaks and alerts first, then the last periods of every metric."""
    tables = []
    if report.leak_count:
        groups = group_leaks(report.leaks)[:MAX_LEAKS_SHOWN]
        rows = [(_format_times(group), *_count_members(group), group.text) for group in groups]
        more = report.leak_count - sum(len(group.leaks) for group in groups)
        notes = (f"… and {more} more leaking answers",) if more else ()
        tables.append(
            Table(f"Leaks ({report.leak_count})", ("asked at", "answers", "users", "leak"), tuple(rows), notes)
        )
    if report.alerts:
        alerts = [(alert.id, alert.state, alert.at, alert.text) for alert in report.alerts]
        tables.append(Table("Alerts", ("id", "state", "day", "what changed"), tuple(alerts)))
    slices = dict.fromkeys(series.slice for series in report.series)
    tables += [_build_series_table(report, slice_name) for slice_name in slices]
    if report.drift:
        drifts = [(row.what, f"{row.from_period} → {row.to_period}", f"{row.p:.3g}", row.text) for row in report.drift]
        tables.append(Table("Drift", ("what", "when", "p", "how"), tuple(drifts)))
    return tables


def _format_times(group: LeakGroup) -> str:
    """Return when the answers of a group were asked for: the first time, and the last where there are several."""
    first, last = min(leak.at for leak in group.leaks), max(leak.at for leak in group.leaks)
    return first if len(group.leaks) == 1 else f"{group.day}, {first[11:16]} to {last[11:16]}"


def _count_members(group: LeakGroup) -> tuple[str, str]:
    """Return the answers of a group, counted where there are several, and its users."""
    ids = [leak.record_id for leak in group.leaks]
    users = list(dict.fromkeys(leak.user for leak in group.leaks if leak.user is not None))
    answers = ids[0] if len(ids) == 1 else f"{len(ids)}: {join_first(ids, MAX_ANSWERS_NAMED)}"
    return answers, users[0] if len(users) == 1 else str(len(users) or "")


def _list_interval_notes(report: MonitorReport) -> Iterator[str]:
    """Yield why intervals of the newest period are wide: few users, or one with a large share of the answers."""
    names: dict[tuple[str, str], list[str]] = {}
    for series in report.series:
        point = series.points[-1] if series.points else None
        if series.slice is None and point is not None and point.value is not None and point.note:
            names.setdefault((point.label, point.note), []).append(format_metric_title(series.key))
    for (label, note), metrics in sorted(names.items()):
        yield f"{label}: {note}, which widens the interval of {', '.join(metrics)}"


def list_closing_notes(report: MonitorReport) -> Iterator[str]:
    """Yield what is to be said below the tables: refusals, the sample, versions, and what could not be measured."""
    if not report.alerts:
        yield "no alert in this period"
    yield from list_week_lines(report)
    yield from list_watch_lines(report)
    yield from list_leak_gaps(report)
    yield from list_unknown_lines(report)
    yield f"refusals: {report.refusal_band.text}"
    sampling = report.sampling
    if sampling.judged or sampling.unjudged:
        missing = f", {sampling.unjudged} more have no verdict" if sampling.unjudged else ""
        yield (
            f"read for scores: {sampling.judged} of {format_count(sampling.answers, 'answer')} "
            f"({sampling.design}{missing})"
        )
    for day, changed in describe_deployments(report.versions)[-5:]:
        yield f"{day}: {changed}"
    yield from _list_interval_notes(report)
    yield from report.notes


def list_unknown_lines(report: MonitorReport) -> Iterator[str]:
    """Yield what the newest values would be if the answers that the rules cannot tell counted, at worst and at best."""
    for series in report.series:
        point = series.points[-1] if series.points else None
        if series.slice is not None or point is None or point.value is None or not point.unknown:
            continue
        whole = point.n + point.unknown
        least, most = point.value * point.n / whole, (point.value * point.n + point.unknown) / whole
        answers = format_count(point.unknown, "answer")
        yield (
            f"{format_metric_title(series.key)} of {point.label} leaves out {answers} of which the rules cannot tell: "
            f"with all of them, it is between {format_number(least, series.key)} and {format_number(most, series.key)}"
        )


def list_leak_gaps(report: MonitorReport) -> list[str]:
    """Return in how many answers no leak could be looked for, and what it takes, most of them first."""
    gaps = []
    for why, number in sorted(report.unsearched_reasons.items(), key=lambda row: (-row[1], row[0])):
        share = "any answer" if number == report.answers else f"{number} of {format_count(report.answers, 'answer')}"
        gaps.append(f"leaks: not looked for in {share} ({why})")
    return gaps


def _build_series_table(report: MonitorReport, slice_name: str | None) -> Table:
    """Return the last periods of every metric that has a value in them; the notes name the others with the reason."""
    series = [row for row in report.series if row.slice == slice_name]
    labels = [point.label for point in series[0].points][-MAX_PERIODS_SHOWN:] if series else []
    rows: list[tuple[str, ...]] = []
    absent: dict[str, list[str]] = {}
    for row in series:
        shown = row.points[-MAX_PERIODS_SHOWN:]
        if any(point.value is not None for point in shown):
            rows.append((_name_row(row), *(_format_point(row, point) for point in shown)))
        elif slice_name is None:
            absent.setdefault(shown[-1].reason if shown else "no answers", []).append(format_metric_title(row.key))
    notes = [f"not measured: {', '.join(names)} ({reason})" for reason, names in sorted(absent.items())]
    earlier = len(series[0].points) - len(labels) if series else 0
    if earlier > 0:
        periods = format_count(earlier, f"earlier {report.by} is", f"earlier {report.by}s are")
        notes.append(f"{periods} not shown here: --html and --format json have all")
    title = f"Production answers by {report.by}" + ("" if slice_name is None else f", {slice_name}")
    return Table(title, ("metric", *labels), tuple(rows), tuple(notes))


def _name_row(series: MonitorSeries) -> str:
    """Return the name of a metric as people know it and, once, as it is typed in options."""
    title = f"{format_metric_title(series.key)} ({series.key})"
    return f"{title}: {series.caveat}" if series.caveat else title


def _format_point(series: MonitorSeries, point: MonitorPoint) -> str:
    if point.value is None:
        return NOT_AVAILABLE
    digits = 2 if series.caveat else 3 if series.unit == "share" else 4
    text = f"{point.value:.{digits}g}"
    number = f"n {point.n}, {point.unknown} unknown" if point.unknown else f"n {point.n}"
    if point.low is None or point.high is None:
        return f"{text}, {number}"
    return f"{text} [{point.low:.{digits}g}, {point.high:.{digits}g}], {number}"


def render_chat_lines(report: MonitorReport) -> list[str]:
    """Return the report as a few lines of Markdown for a chat: what needs attention, or that nothing does."""
    groups = group_leaks(report.leaks)[:MAX_LEAKS_SHOWN]
    lines = [f"**Production, {report.period.first} to {report.period.last}**: {format_count(report.answers, 'answer')}"]
    lines += [
        f"- 🔴 leak: {escape_markdown(_count_members(group)[0])}: {escape_markdown(group.text)}" for group in groups
    ]
    left = report.leak_count - sum(len(group.leaks) for group in groups)
    if left > 0:
        lines.append(f"- … and {left} more leaking answers")
    lines += [f"- 🟠 {escape_markdown(text)}" for text in describe_groups(report.alerts)[:MAX_LINES_IN_CHAT]]
    acknowledged = sum(alert.state == ACKNOWLEDGED for alert in report.alerts)
    if acknowledged:
        lines.append(f"- {acknowledged} acknowledged")
    if len(lines) == 1:
        lines.append("- no alert" if report.unsearched else "- no alert, no leak")
    lines[1:1] = [f"- 🔴 not measured: {escape_markdown(line)}" for line in list_unmeasured_lines(report)]
    watched = (*list_week_lines(report), *list_leak_gaps(report), *list_watch_lines(report))
    lines += [f"- {escape_markdown(line)}" for line in watched]
    lines += [f"- {escape_markdown(line)}" for line in list_unknown_lines(report)]
    lines.append(f"- refusals: {escape_markdown(report.refusal_band.text)}")
    lines += _render_headlines(report.series)
    return lines


def _render_headlines(series: Sequence[MonitorSeries]) -> Iterator[str]:
    corrected = {row.key.removesuffix(CORRECTED) for row in series if row.key.endswith(CORRECTED)}
    for row in series:
        if row.slice is None and row.key.startswith(("hallucination_risk", "faithfulness")) and row.points:
            doubt = f", {row.caveat}: look at the trend" if row.caveat and row.key not in corrected else ""
            yield f"- {row.name}: {_format_point(row, row.points[-1])} ({row.points[-1].label}{doubt})"
