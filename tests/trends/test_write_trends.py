"""A monitor and a history as a page, as OTLP metrics and as text for Prometheus, by the commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.html_islands import islands
from tests.report.test_metric_export import read_otlp, read_prometheus
from tests.trends.production import list_traffic, write_traffic
from tests.trends.run_series import score_run

import assay
from assay.cli import main


def check_files(folder: Path, page: str) -> None:
    """Check that the three files of a command exist and agree on the newest values."""
    series = islands((folder / "p.html").read_text(encoding="utf-8"))["page"]
    assert page == series["page"]
    newest = {}
    for row in series["series"]:
        point = row["points"][-1]
        if point["value"] is not None:
            newest[(row["key"], row["slice"], row["configuration"])] = point["value"]
    samples = read_prometheus((folder / "p.prom").read_text(encoding="utf-8"))
    shown = {}
    for sample in samples:
        labels = dict(sample.labels)
        if sample.name in ("assay_leaks", "assay_leaks_not_looked_for", "assay_alerts"):
            continue
        if not sample.name.endswith(("_low", "_high", "_n", "_timestamp_seconds", "_unknown_values")):
            shown[(labels["metric"], labels.get("slice"), labels.get("configuration"))] = sample.value
    assert newest == shown and newest
    metrics = read_otlp((folder / "p.json").read_text(encoding="utf-8"))
    values = [point.as_double for metric in metrics.values() for point in metric.gauge.data_points]
    assert set(newest.values()) <= set(values)


def test_a_monitor_is_written_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
    monkeypatch.chdir(tmp_path)
    assay.audit.ingest("s.sqlite", write_traffic(tmp_path / "a.jsonl", list_traffic(3, 20)))
    files = ["--html", "p.html", "--export-otlp", "p.json", "--export-prometheus", "p.prom"]
    metrics = "refusal_rate,latency_ms,over_refusal"
    assert main(["monitor", "s.sqlite", "--by", "day", "--slice", "tenant", "--metrics", metrics, *files]) in (0, 1)
    check_files(tmp_path, "monitor")
    gaps = islands((tmp_path / "p.html").read_text(encoding="utf-8"))["page"]["series"]
    assert {None} == {point["value"] for row in gaps if row["key"] == "over_refusal" for point in row["points"]}


def test_a_history_is_written_for_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        score_run(tmp_path, f"run-{number}", [True, number > 0, True], day=number + 1)
    files = ["--html", "p.html", "--export-otlp", "p.json", "--export-prometheus", "p.prom"]
    targets = [str(tmp_path / part) if part.startswith("p.") else part for part in files]
    capsys.readouterr()
    assert 0 == main(
        ["history", "--runs", str(tmp_path), *targets, "--format", "json", "--now", "2026-03-09T08:00:00Z"]
    )
    check_files(tmp_path, "trend")
    assert '"page": "trend"' in capsys.readouterr().out
