"""Alerts that leave: signed, tried again, once, and never to an address that a settings file may not name."""

from __future__ import annotations

import hmac
import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from msgspec import structs
from tests.trends.test_alert_log import make_alert

from assay.calls.retry import Clock
from assay.records.errors import IncompleteError, InputError, SettingsError
from assay.records.settings import MonitorSettings, WebhookSettings
from assay.trends.check_production import AlertNotice, _handle_alerts
from assay.trends.monitor_results import MonitorLeak, MonitorPeriod, MonitorReport, RefusalBand, SamplingSummary
from assay.trends.webhook_client import send_webhook

SECRET = "a secret of the webhook"
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
pytest.importorskip("aiohttp", reason="needs the extra judge")


class Receiver(HTTPServer):
    """Answers with the statuses that it is given, then with 200, and keeps what it got."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses: list[int] = []
        self.bodies: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.bodies.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


async def _wait_not(_: float) -> None:
    pass


def test_an_address_that_nobody_answers_at_is_called_that_of_the_webhook() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/hook"
        with pytest.raises(IncompleteError) as raised:
            send_webhook(url, b"{}", SECRET.encode(), "1767225600", typed=True, clock=Clock(sleep=_wait_not))
    assert "webhook: not delivered: unreachable: no connection to the webhook's address: Connection refused" == str(
        raised.value
    )


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def wait_not(_: float) -> None:
    """Sleep no time at all."""


def make_report() -> MonitorReport:
    leak = MonitorLeak("2026-03-01T08:00:00+00:00", "req-<b>7", "user:1f", "plan-1", "shown: plan-1 (context)")
    return MonitorReport(
        "Monitor",
        None,
        MonitorPeriod("2026-02-01", "2026-03-01"),
        "week",
        100,
        (),
        (make_alert("2026-03-01", "alert-1"),),
        (leak,),
        1,
        0,
        SamplingSummary(0, 100, 400, None, None, ""),
        RefusalBand(0.1, 0.3, None, "unknown", "not measured"),
        (),
        (),
        (),
    )


def test_news_are_sent_once_and_signed(receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    notice = AlertNotice(tmp_path / "log.jsonl", webhook=receiver.url, secret_env="HOOK_SECRET")
    for _ in range(2):
        assert _handle_alerts(make_report(), notice, MonitorSettings(), NOW).needs_attention
    ((headers, body),) = receiver.bodies
    expected = hmac.digest(SECRET.encode(), headers["x-assay-timestamp"].encode() + b"." + body, "sha256").hex()
    assert headers["x-assay-signature"] == f"sha256={expected}"
    values = json.loads(body)
    assert values["report"]["alerts"][0]["id"] == "alert-1"
    assert "req-7" not in values["text"] and "<b>" not in values["text"]
    assert SECRET not in (tmp_path / "log.jsonl").read_text()


def test_an_alert_that_is_over_is_sent_once_more(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    notice = AlertNotice(tmp_path / "log.jsonl", webhook=receiver.url, secret_env="HOOK_SECRET")
    report = make_report()
    over = structs.replace(report, alerts=(structs.replace(report.alerts[0], ended="2026-03-20", ended_value=0.1),))
    for each in (report, over, over):
        assert _handle_alerts(each, notice, MonitorSettings(), NOW).needs_attention, "nobody took it on"
    sent = [json.loads(body)["report"]["alerts"][0]["ended"] for _, body in receiver.bodies]
    assert sent == [None, "2026-03-20"]


def test_a_new_leak_is_sent_in_quiet_hours_and_an_alert_is_not(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.records.settings import QuietHours

    monkeypatch.setenv("HOOK_SECRET", SECRET)
    notice = AlertNotice(tmp_path / "log.jsonl", webhook=receiver.url, secret_env="HOOK_SECRET")
    settings = MonitorSettings(quiet=QuietHours("00:00", "12:00"))
    _handle_alerts(make_report(), notice, settings, NOW)
    _handle_alerts(make_report(), notice, settings, NOW.replace(hour=13))
    sent = [json.loads(body)["report"] for _, body in receiver.bodies]
    assert [(len(report["leaks"]), len(report["alerts"])) for report in sent] == [(1, 0), (0, 1)]


def test_an_address_that_is_busy_is_tried_again(receiver: Receiver) -> None:
    receiver.statuses = [503, 429]
    send_webhook(receiver.url, b"{}", SECRET.encode(), "1", typed=True, clock=Clock(sleep=wait_not))
    assert len(receiver.bodies) == 3


def test_what_was_refused_is_not_noted_as_sent(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    receiver.statuses = [403]
    notice = AlertNotice(tmp_path / "log.jsonl", webhook=receiver.url, secret_env="HOOK_SECRET")
    with pytest.raises(IncompleteError, match="http_403"):
        _handle_alerts(make_report(), notice, MonitorSettings(), NOW)
    assert not (tmp_path / "log.jsonl").exists()
    _handle_alerts(make_report(), notice, MonitorSettings(), NOW)
    assert len(receiver.bodies) == 2


@pytest.mark.parametrize(
    "url", ["http://hooks.example/x", "http://169.254.169.254/x", "file:///etc/passwd", "https://u:p@h/"]
)
def test_a_settings_file_cannot_name_any_address(url: str) -> None:
    with pytest.raises(SettingsError, match="webhook"):
        send_webhook(url, b"{}", SECRET.encode(), "1", typed=False)


@pytest.mark.parametrize(
    ("notice", "secret", "words"),
    [
        (AlertNotice("log.jsonl", webhook="http://127.0.0.1:9/"), SECRET, "--webhook-secret-env"),
        (AlertNotice("log.jsonl", webhook="http://127.0.0.1:9/", secret_env="HOOK_SECRET"), "short", "HOOK_SECRET"),
        (AlertNotice(None, webhook="http://127.0.0.1:9/", secret_env="HOOK_SECRET"), SECRET, "--alert-log"),
    ],
)
def test_a_webhook_needs_a_secret_and_a_file(
    notice: AlertNotice, secret: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOOK_SECRET", secret)
    with pytest.raises(InputError, match=words):
        _handle_alerts(make_report(), notice, MonitorSettings(), NOW)


def test_nothing_new_is_not_sent(receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    settings = MonitorSettings(webhook=WebhookSettings(receiver.url, "HOOK_SECRET"))
    calm = structs.replace(make_report(), alerts=(), leaks=(), leak_count=0)
    _handle_alerts(calm, AlertNotice(tmp_path / "log.jsonl"), settings, NOW)
    assert receiver.bodies == []
