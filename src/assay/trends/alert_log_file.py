"""The file in which alerts are acknowledged, and which says what was sent: one event a line, only ever added to.

Events are written under a lock and flushed to the disk, so that two processes, or one that is killed, lose none; an
event that was not written to its end is removed by the next writer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assay.formats.file_io import MAX_LINE_BYTES
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json_object
from assay.records.errors import IncompleteError, InputError, Problem
from assay.trends.monitor_alerts import EPISODE_DAYS
from assay.trends.monitor_results import MonitorAlert

MAX_LOG_BYTES = 64 * 2**20


class AlertEvent(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One event of an alert: somebody acknowledged it, or it was sent to a webhook.

    `day` is that of the alarm; late records may move it, so that an acknowledgement covers the nearest alert of the
    same metric and slice within four weeks of it. That an alert is over is sent as `ALERT:ended`.
    """

    kind: Literal["acknowledged", "sent"]
    alert: str
    at: str
    day: str = ""
    metric: str = ""
    slice: str | None = None
    person: str = ""
    note: str = ""


def load_alert_events(path: Path) -> list[AlertEvent]:
    """Return the events of a file in order; none for a file that does not exist.

    A last line that was not written to its end is left out. Raises InputError listing every line that is no event.
    """
    try:
        if path.stat().st_size > MAX_LOG_BYTES:
            raise InputError(f"{path}: too large (expected {MAX_LOG_BYTES} bytes at most)")
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    whole = content[: content.rfind(b"\n") + 1]
    events: list[AlertEvent] = []
    problems: list[Problem] = []
    for number, line in enumerate(whole.splitlines(), 1):
        if line.strip():
            _read_event(str(path), number, line, events, problems)
    if problems:
        raise InputError(problems)
    return events


def _read_event(path: str, number: int, line: bytes, events: list[AlertEvent], problems: list[Problem]) -> None:
    try:
        if len(line) > MAX_LINE_BYTES:
            raise InputError("line too long")
        events.append(convert_strictly(decode_json_object(line.decode(), ""), AlertEvent))
    except MisfitError as error:
        problems += [Problem(path, number, *misfit) for misfit in error.misfits]
    except (InputError, UnicodeDecodeError):
        message = "not an event of an alert (expected what assay monitor writes; remove the line)"
        problems.append(Problem(path, number, "", message, "E_JSON"))


def append_alert_events(path: Path, events: Sequence[AlertEvent]) -> None:
    """Add events to a file; when this returns they are on disk. Raises IncompleteError if they cannot be written."""
    if not events:
        return
    try:
        with _locked(path) as descriptor:
            _write_events(descriptor, events)
    except OSError as error:
        raise IncompleteError(f"{path}: cannot be written: {error.strerror or error}") from error


def _write_events(descriptor: int, events: Iterable[AlertEvent]) -> None:
    """Add lines at the end, after removing what a killed writer left of its last one."""
    size = os.fstat(descriptor).st_size
    if size:
        content = os.pread(descriptor, size, 0)
        os.ftruncate(descriptor, content.rfind(b"\n") + 1)
    lines = b"".join(msgspec.json.encode(event) + b"\n" for event in events)
    os.lseek(descriptor, 0, os.SEEK_END)
    while lines:
        lines = lines[os.write(descriptor, lines) :]
    os.fsync(descriptor)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def find_acknowledged(alerts: Sequence[MonitorAlert], events: Sequence[AlertEvent]) -> dict[str, str]:
    """Return who acknowledged which of the alerts, by the id of the alert."""
    acknowledged: dict[str, str] = {}
    for event in events:
        if event.kind == "acknowledged":
            alert = _find_covered(event, alerts)
            if alert is not None:
                acknowledged[alert.id] = event.person
    return acknowledged


def _find_covered(event: AlertEvent, alerts: Sequence[MonitorAlert]) -> MonitorAlert | None:
    """Return the one alert that an acknowledgement is about: its own, or where that has moved, the nearest in time."""
    same = next((alert for alert in alerts if alert.id == event.alert), None)
    if same is not None:
        return same
    near = [(distance, alert.id, alert) for alert in alerts if (distance := _count_days(event, alert)) is not None]
    return min(near)[2] if near else None


def _count_days(event: AlertEvent, alert: MonitorAlert) -> int | None:
    """Return how many days an alert is from an acknowledged one of its metric and slice; None if it is another."""
    if (event.metric, event.slice) != (alert.metric, alert.slice) or not event.day:
        return None
    try:
        distance = abs((date.fromisoformat(alert.at) - date.fromisoformat(event.day)).days)
    except ValueError:
        return None
    return distance if distance <= EPISODE_DAYS else None
