"""The file of acknowledgements: killed writers, two at once, and lines that are no events."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.records.errors import IncompleteError, InputError
from assay.trends.alert_log_file import AlertEvent, append_alert_events, find_acknowledged, load_alert_events
from assay.trends.monitor_results import MonitorAlert

EVENTS = [
    AlertEvent("acknowledged", f"alert-{number}", "2026-03-02T08:00:00+00:00", person="Lan") for number in range(3)
]


def make_alert(
    day: str, alert_id: str = "alert-x", metric: str = "refusal_rate", slice_name: str | None = None
) -> MonitorAlert:
    return MonitorAlert(
        alert_id, day, metric, slice_name, 0.3, 0.1, 0.2, 0.001, 7, day, (), alert_id, "it rose", "open"
    )


def append_many(path: Path, name: str) -> None:
    for number in range(25):
        append_alert_events(path, [AlertEvent("sent", f"{name}-{number}", "2026-03-02T08:00:00+00:00")])


def test_what_was_appended_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "log.jsonl"
    assert load_alert_events(path) == []
    append_alert_events(path, EVENTS[:1])
    append_alert_events(path, EVENTS[1:])
    assert load_alert_events(path) == EVENTS
    assert path.stat().st_mode & 0o077 == 0


@given(cut=st.integers(0, 200))
def test_a_writer_killed_within_a_line_loses_that_line_alone(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    append_alert_events(path, EVENTS)
    content = path.read_bytes()
    kept = content[: min(cut, len(content))]
    path.write_bytes(kept)
    whole = kept.count(b"\n")
    assert load_alert_events(path) == EVENTS[:whole]
    append_alert_events(path, EVENTS[:1])
    assert load_alert_events(path) == [*EVENTS[:whole], EVENTS[0]]


@pytest.mark.slow
def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=append_many, args=(path, name)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    names = [event.alert for event in load_alert_events(path)]
    assert sorted(names) == sorted(f"{name}-{number}" for name in "ab" for number in range(25))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{}", "kind"),
        ("not json", "not an event of an alert"),
        ('{"kind": "opened", "alert": "a", "at": "now"}', "kind"),
        ('{"kind": "sent", "alert": 3, "at": "now"}', "alert"),
        ('{"kind": "sent", "alert": "a", "at": "now", "who": "x"}', "who"),
        ("[" * 5000, "not an event of an alert"),
    ],
)
def test_a_line_that_is_no_event_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "log.jsonl"
    append_alert_events(path, EVENTS[:1])
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=words) as caught:
        load_alert_events(path)
    assert str(caught.value).startswith(f"{path}:2: ")


def test_a_folder_in_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_alert_events(tmp_path)
    with pytest.raises(IncompleteError, match="cannot be written"):
        append_alert_events(tmp_path, EVENTS)


def test_an_acknowledgement_covers_the_alert_although_late_records_move_its_day() -> None:
    event = AlertEvent(
        "acknowledged", "alert-1", "2026-03-02T08:00:00+00:00", "2026-03-01", "refusal_rate", None, "Lan"
    )
    assert find_acknowledged([make_alert("2026-03-05")], [event]) == {"alert-x": "Lan"}
    assert find_acknowledged([make_alert("2026-05-05")], [event]) == {}
    assert find_acknowledged([make_alert("2026-03-05", slice_name="tenant=acme")], [event]) == {}
    assert find_acknowledged([make_alert("2026-03-05", metric="latency_ms")], [event]) == {}


def test_an_acknowledgement_covers_one_of_two_alerts_within_four_weeks() -> None:
    event = AlertEvent("acknowledged", "alert-a", "2026-03-09T08:00:00+00:00", "2026-03-08", "refusal_rate", None, "An")
    both = [make_alert("2026-03-08", "alert-a"), make_alert("2026-03-19", "alert-b")]
    assert find_acknowledged(both, [event]) == {"alert-a": "An"}
    moved = [make_alert("2026-03-07", "alert-c"), make_alert("2026-03-19", "alert-b")]
    assert find_acknowledged(moved, [event]) == {"alert-c": "An"}
