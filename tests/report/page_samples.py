"""Small pages as the history of runs and a monitor make them: gaps with reasons, alerts, changed versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from assay.records.series import Series, SeriesMark, SeriesPoint
from assay.report.page.trend_records import (
    AlertCard,
    CauseRow,
    ChangeRow,
    DriftRow,
    FailingRow,
    FlappingRow,
    IncidentTotals,
    LeakCard,
    MonitorPage,
    PagePeriod,
    RefusalPanel,
    SamplingPanel,
    TrendPage,
    VersionChange,
    VersionRow,
)

MONDAY = date(2026, 3, 2)
INDEX_CHANGE = VersionChange("index", "v11", "v12")


def make_day(number: int) -> str:
    """Return a day of the sample, counted from its first."""
    return (MONDAY + timedelta(days=number)).isoformat()


def make_series(
    values: Sequence[float | None], name: str = "Hallucination risk", slice_: str | None = None, unit: str = "share"
) -> Series:
    """Return a series with one point a day; a value of None is a gap with a reason."""
    points = []
    for number, value in enumerate(values):
        at = make_day(number)
        if value is None:
            points.append(SeriesPoint(at, at, None, None, None, 0, "no answer of this day was judged"))
        else:
            low, high = max(0.0, value * 0.8), value * 1.25
            points.append(SeriesPoint(at, at, value, low, high, 400 + number, run=f"run-{number}"))
    marks = (
        SeriesMark(make_day(3), "version", "index v11 → v12"),
        SeriesMark(make_day(4), "alert", "risk rose from 0.031 to 0.074 since index v12, in lang:hr"),
    )
    return Series(name, "hallucination_risk", unit, False, slice_, "hybrid", tuple(points), marks)


RISK = (0.031, 0.029, 0.033, None, 0.074, 0.071, None, 0.034)


def make_trend_page(title: str = "handbook", text: str = "reranker") -> TrendPage:
    """Return a history; `text` is put into every field that takes a text."""
    accuracy = make_series([0.91, 0.92, 0.9, 0.93, 0.84, 0.85, 0.92, 0.93], f"Answer correctness {text}")
    return TrendPage(
        page="trend",
        title=title,
        made_at=None,
        series=(make_series(RISK), make_series(RISK, slice_=f"team={text}"), accuracy),
        flapping=(FlappingRow(f"leave-carry-over {text}", "PPFPFFPX", "2026-03-08"), FlappingRow(text, "FFF", None)),
        versions=(
            VersionRow(make_day(3), "run-3", (INDEX_CHANGE, VersionChange(text, None, text))),
            VersionRow(make_day(5), text, (VersionChange("prompt", "p4", "p5"),)),
        ),
        incidents=IncidentTotals(1, 4, (CauseRow("stale index", 3), CauseRow(text, 2))),
        notes=(f"2 runs have no versions: {text}",),
        changes=(ChangeRow(text, None, "hybrid", make_day(4), "run-4", 0.93, 0.84, 0.0012, (INDEX_CHANGE,), text),),
        failing=(FailingRow(text, "PPFF", make_day(1), 2, text),),
    )


def make_monitor_page(title: str = "handbook assistant", text: str = "hr") -> MonitorPage:
    """Return a monitor of a week; `text` is put into every field that takes a text."""
    long_text = f"risk rose from 0.031 to 0.074 since index v12, in {text}"
    return MonitorPage(
        page="monitor",
        title=title,
        made_at="2026-03-09T08:00:00Z",
        period=PagePeriod(make_day(0), make_day(7)),
        by="day",
        series=(
            make_series(RISK, slice_=f"team={text}"),
            make_series([900, 910, None, 1250], "Latency p95", unit="ms"),
        ),
        alerts=(
            AlertCard(
                "a1",
                make_day(4),
                "hallucination_risk",
                text,
                0.074,
                0.031,
                0.05,
                (INDEX_CHANGE,),
                long_text,
                "open",
                text,
            ),
            AlertCard(
                text, make_day(1), f"Refusals {text}", None, None, 0.2, None, (), text, "acknowledged", "Refusals"
            ),
            AlertCard(
                "a3",
                make_day(2),
                "Latency p95",
                None,
                1250.0,
                905.0,
                1000.0,
                (),
                "slower at night",
                "quiet",
                "Latency p95",
            ),
        ),
        leaks=(LeakCard(make_day(2), f"req-17 {text}", "user:3f2a", "salary-3", f"context {text}"),),
        sampling=SamplingPanel(412, 5230, 20.0, 4.12, 0.019, f"stratified by team, {text}"),
        refusal_band=RefusalPanel(
            0.1, 0.3, 0.0, "zero", "0% refusals: look for questions that should have been refused"
        ),
        drift=(DriftRow(f"topics {text}", make_day(0), make_day(6), 0.31, 0.0004, text), _UNTESTED),
        notes=(f"3 answers gave no time; {text}",),
    )


_UNTESTED = DriftRow("scores", make_day(0), make_day(6), None, None, "too few answers")
