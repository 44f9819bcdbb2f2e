"""`assay.monitor`: what production answers were like in a period, and whether something has changed."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import msgspec
from msgspec import structs

from assay.audit.commands import explain_missing_extra
from assay.audit.corpus_files import CorpusPaths, load_corpora, split_corpus_paths
from assay.formats.convert_files import encode_output_lines
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import load_golden, write_golden
from assay.formats.run_files.overwriting import refuse_overwriting
from assay.judging.load_verdicts import leave_out_unbound_calibrations, load_requested_verdicts
from assay.metrics.metric import split_metric_names
from assay.records.errors import InputError, SettingsError, shorten_repr
from assay.records.golden_set import GoldenSet
from assay.records.requests import VerdictOptions
from assay.records.series import SeriesMark
from assay.records.settings import MonitorSettings, QuietHours, WebhookSettings
from assay.trends.alert_log_file import AlertEvent, append_alert_events, find_acknowledged, load_alert_events
from assay.trends.answer_sample import LEAST_BUDGET
from assay.trends.metric_bounds import parse_bounds
from assay.trends.monitor_alerts import OPEN, QUIET, apply_states
from assay.trends.monitor_results import MonitorAlert, MonitorReport, MonitorSeries, SampledAnswer
from assay.trends.monitor_tables import describe_monitor, render_chat_lines
from assay.trends.webhook_client import send_webhook

PathLike = str | Path
PERIODS = ("day", "week", "month")
LEAST_SECRET_BYTES = 16


@dataclass(frozen=True, slots=True)
class AlertNotice:
    """How alerts leave: acknowledged by whom and why, sent where; `log` is the file that remembers both."""

    log: PathLike | None = None
    acknowledge: str | None = None
    person: str = ""
    note: str = ""
    webhook: str | None = None
    secret_env: str | None = None
    allowed_hosts: Sequence[str] = ()


def monitor(
    store: PathLike,
    *,
    by: str | None = None,
    first: str | None = None,
    last: str | None = None,
    slices: Sequence[str] | None = None,
    metrics: str | Sequence[str] | None = None,
    corpus: CorpusPaths = None,
    golden: PathLike | None = None,
    verdicts: PathLike | None = None,
    judge: str | None = None,
    calibration: PathLike | None = None,
    entailment_model: PathLike | None = None,
    budget: int | None = None,
    seed: int | None = None,
    false_alarms: float | None = None,
    bounds: Sequence[str] | None = None,
    settings: MonitorSettings | None = None,
    notice: AlertNotice | None = None,
    sample_folder: PathLike | None = None,
    now: datetime | None = None,
) -> MonitorReport:
    """Return what production answers were like by day, week or month, with alerts, leaks and drift.

    `store` is the path of an audit store or the address of a PostgreSQL database. `first` and `last` are days
    (2026-03-02), inclusive, in UTC; without them the last twelve periods with answers are meant. `slices` are `key` or
    `key=value`, `metrics` a list, or one text with commas. `corpus` is a corpus file or several, of which those that
    are named `VERSION=FILE` are for answers of that index version. `budget` is the number of answers of a week that are
    scored by reading them (0: all). `verdicts` is a verdict store: then a judge scores, else rules do.
    `entailment_model` is the folder of a local model for metrics with `by=entailment`. `false_alarms` is the most
    alerts that are expected in a quarter for each metric and slice while nothing changes. `bounds`, such as
    `hallucination_risk<=0.05`, are watched from the first day on. What is None comes from `settings`. `notice` says how
    alerts are acknowledged and sent; `sample_folder` is a folder to which the sample is written as a golden set and
    outputs, for a judge. `now` is the present, for quiet hours. Raises InputError for what cannot be read, and
    IncompleteError if an alert cannot be sent or acknowledged.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.trends.build_monitor import MonitorInputs, build_monitor
    chosen = settings or MonitorSettings()
    period = by or chosen.by
    if period not in PERIODS:
        raise InputError(f"--by: not a period (got {shorten_repr(period)}; expected day, week or month)")
    corpus_files = [path for _, path in split_corpus_paths(corpus)]
    for path in (sample_folder, notice.log if notice is not None else None):
        refuse_overwriting([_text(path)], [_name_file(store), *corpus_files, *_texts(golden, verdicts, calibration)])
    options = VerdictOptions(_text(verdicts), judge, _text(calibration), entailment_model=_text(entailment_model))
    recorded, notices = load_requested_verdicts(options)
    judging, unbound = leave_out_unbound_calibrations(recorded)
    moment = now or datetime.now(UTC)
    inputs = MonitorInputs(
        by=period,
        first=_parse_day("--from", first),
        last=_parse_day("--to", last),
        slices=chosen.slices if slices is None else slices,
        metrics=_list_metrics(metrics, chosen),
        budget=_choose_budget(budget, chosen),
        seed=chosen.seed if seed is None else seed,
        false_alarms=chosen.false_alarms if false_alarms is None else false_alarms,
        corpora=load_corpora(corpus),
        golden=None if golden is None else load_golden(golden).golden,
        judging=judging,
        keep_sample=sample_folder is not None,
        today=moment.astimezone(UTC).date(),
        bounds=parse_bounds(chosen.bounds if bounds is None else bounds),
    )
    with open_audit_store(str(store)) as opened:
        report, sample = build_monitor(opened, inputs)
    report = structs.replace(report, notes=(*notices, *unbound, *report.notes))
    if sample_folder is not None:
        _write_sample(Path(sample_folder), sample)
    return _handle_alerts(report, notice or AlertNotice(), chosen, moment)


def _choose_budget(budget: int | None, settings: MonitorSettings) -> int | None:
    if budget is None:
        return settings.budget
    if budget and budget < LEAST_BUDGET:
        raise InputError(f"--budget: too small for three strata (got {budget}; expected {LEAST_BUDGET}, or 0 for all)")
    return budget or None


def _list_metrics(metrics: str | Sequence[str] | None, settings: MonitorSettings) -> Sequence[str] | None:
    return split_metric_names(metrics) if isinstance(metrics, str) else settings.metrics if metrics is None else metrics


def _parse_day(option: str, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        if len(text) != len("2026-03-02"):
            raise ValueError(text)
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{option}: not a day (got {shorten_repr(text)}; expected one such as 2026-03-02)") from None


def _name_file(store: PathLike) -> str | None:
    return None if "://" in str(store) else str(store)


def _text(value: PathLike | None) -> str | None:
    return None if value is None else str(value)


def _texts(*values: PathLike | None) -> list[str | None]:
    return [_text(value) for value in values]


def _write_sample(folder: Path, sample: Sequence[SampledAnswer]) -> None:
    """Write the sample as a golden set and outputs, which `assay judge` reads; only the owner may read the folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    cases = tuple(answer.case for answer in sample)
    write_golden(GoldenSet(cases, judgments="partial"), folder / "golden.jsonl")
    write_atomically(folder / "outputs.jsonl", encode_output_lines(answer.observation for answer in sample))


# ── alerts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _handle_alerts(
    report: MonitorReport, notice: AlertNotice, settings: MonitorSettings, moment: datetime
) -> MonitorReport:
    """Return the report with the states of its alerts, after acknowledging and sending what is to be."""
    path = None if notice.log is None else Path(notice.log)
    events = load_alert_events(path) if path is not None else []
    at = moment.astimezone(UTC).isoformat(timespec="seconds")
    if notice.acknowledge is not None:
        event = _acknowledge(report, notice, at)
        assert path is not None
        append_alert_events(path, [event])
        events.append(event)
    is_quiet = settings.quiet is not None and is_within(settings.quiet, moment)
    acknowledged = find_acknowledged(report.alerts, events)
    alerts = apply_states(report.alerts, acknowledged, is_quiet)
    report = structs.replace(report, alerts=alerts, series=_mark_acknowledged(report.series, events))
    address = _choose_webhook(notice, settings.webhook)
    if address is not None:
        _send_news(report, address, notice, path, events, moment)
    return report


def _mark_acknowledged(series: Sequence[MonitorSeries], events: Sequence[AlertEvent]) -> tuple[MonitorSeries, ...]:
    """Return the series with a mark where somebody took on an alert of theirs."""
    marked = []
    for row in series:
        own = [event for event in events if event.kind == "acknowledged" and _is_of(event, row)]
        marks = [SeriesMark(event.day, "acknowledged", f"{event.person}: {event.note}".rstrip(": ")) for event in own]
        first = row.points[0].at if row.points else ""
        kept = [mark for mark in marks if mark.at >= first]
        marked.append(structs.replace(row, marks=tuple(sorted((*row.marks, *kept), key=lambda mark: mark.at))))
    return tuple(marked)


def _is_of(event: AlertEvent, series: MonitorSeries) -> bool:
    return (event.metric, event.slice) == (series.key, series.slice)


def _acknowledge(report: MonitorReport, notice: AlertNotice, at: str) -> AlertEvent:
    if notice.log is None:
        raise InputError("--acknowledge: nowhere to keep it (expected a file with --alert-log)")
    if not notice.person.strip():
        raise InputError("--acknowledge: by nobody (expected a name with --person)")
    alert = next((alert for alert in report.alerts if alert.id == notice.acknowledge), None)
    if alert is None:
        names = ", ".join(alert.id for alert in report.alerts[:5]) or "none"
        message = f"no such alert (got {shorten_repr(notice.acknowledge)}; expected one of this period: {names})"
        raise InputError(f"--acknowledge: {message}")
    return AlertEvent(
        "acknowledged", alert.id, at, alert.at, alert.metric, alert.slice, notice.person.strip(), notice.note
    )


def is_within(quiet: QuietHours, moment: datetime) -> bool:
    """Return whether a time lies in the quiet hours; those that end before they start go over midnight.

    >>> is_within(QuietHours("22:00", "07:00", "+07:00"), datetime(2026, 3, 2, 16, 30, tzinfo=UTC))
    True
    """
    hours, minutes = int(quiet.utc_offset[1:3]), int(quiet.utc_offset[4:])
    offset = timedelta(hours=hours, minutes=minutes) * (-1 if quiet.utc_offset.startswith("-") else 1)
    local = moment.astimezone(timezone(offset)).strftime("%H:%M")
    if quiet.start <= quiet.end:
        return quiet.start <= local < quiet.end
    return local >= quiet.start or local < quiet.end


def _choose_webhook(notice: AlertNotice, settings: WebhookSettings | None) -> tuple[str, str, bool] | None:
    """Return the address, the variable of the secret, and whether the address was typed by the user."""
    if notice.webhook is not None:
        if notice.secret_env is None:
            raise InputError("--webhook: no secret (expected the name of a variable with --webhook-secret-env)")
        return notice.webhook, notice.secret_env, True
    return None if settings is None else (settings.url, settings.secret_env, False)


def _send_news(
    report: MonitorReport,
    address: tuple[str, str, bool],
    notice: AlertNotice,
    path: Path | None,
    events: Sequence[AlertEvent],
    moment: datetime,
) -> None:
    """Send what was not sent before: alerts outside of quiet hours, leaks at any time; then note what was sent."""
    url, secret_env, typed = address
    secret = os.environ.get(secret_env, "").encode()
    if len(secret) < LEAST_SECRET_BYTES:
        expected = f"expected at least {LEAST_SECRET_BYTES} bytes in the variable {secret_env}"
        raise SettingsError(f"webhook: no secret, or a short one ({expected})")
    if path is None:
        raise InputError("webhook: nowhere to keep what was sent (expected a file with --alert-log)")
    sent = {event.alert for event in events if event.kind == "sent"}
    alerts = [alert for alert in report.alerts if _is_news(alert, sent)]
    leaks = [leak for leak in report.leaks if f"leak:{leak.record_id}" not in sent]
    if not alerts and not leaks:
        return
    news = structs.replace(report, alerts=tuple(alerts), leaks=tuple(leaks), leak_count=len(leaks), series=(), drift=())
    body = msgspec.json.encode({"text": "\n".join(render_chat_lines(news)), "report": describe_monitor(news)})
    send_webhook(url, body, secret, str(int(moment.timestamp())), typed=typed, allowed=notice.allowed_hosts)
    at = moment.astimezone(UTC).isoformat(timespec="seconds")
    names = [*(alert.id for alert in alerts if alert.id not in sent), *(f"leak:{leak.record_id}" for leak in leaks)]
    names += [_name_end(alert) for alert in alerts if alert.ended is not None]
    append_alert_events(path, [AlertEvent("sent", name, at) for name in names])


def _is_news(alert: MonitorAlert, sent: Collection[str]) -> bool:
    """Return whether an alert was not sent yet, or is over since it was sent."""
    if alert.state == OPEN and alert.id not in sent:
        return True
    is_over = alert.ended is not None and alert.id in sent
    return is_over and alert.state != QUIET and _name_end(alert) not in sent


def _name_end(alert: MonitorAlert) -> str:
    return f"{alert.id}:ended"
