"""What a monitor says that it watched: that nothing alerted is only news where something was looked at."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.trends.production import FIRST_DAY, SENTENCES, list_traffic, make_answer, write_traffic

import assay
from assay.cli import main
from assay.trends.monitor_tables import build_monitor_tables, list_closing_notes, render_chat_lines
from assay.trends.watch import list_watch_lines, list_week_lines

pytestmark = pytest.mark.slow
LAST_WEEK = tuple(f"2026-01-{day}" for day in range(19, 26))


def make_store(folder: Path, lines: list[dict[str, Any]]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
        store = folder / "audit.sqlite"
        assay.audit.ingest(store, write_traffic(folder / "answers.jsonl", iter(lines)))
    return str(store)


@pytest.fixture(scope="module")
def young(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fourteen days of few answers: too few to tell a change, or to show that a bound is exceeded."""
    return make_store(tmp_path_factory.mktemp("young"), list(list_traffic(14, 3)))


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_store(tmp_path_factory.mktemp("grown"), list(list_traffic(40, 6)))


def test_a_young_store_says_that_nothing_was_watched_and_what_it_takes(young: str) -> None:
    report = assay.monitor(young, metrics=["refusal_rate", "negative_feedback"])
    lines = list_watch_lines(report)
    assert lines[0] == "nothing was watched for changes in this period"
    (line,) = [line for line in lines if "Refusal rate" in line]
    assert "has values on 14 days, needs 28" in line and "--bound" in line
    chat = "\n".join(render_chat_lines(report))
    assert "nothing was watched for changes" in chat and "needs 28" in chat
    assert "no alert in this period" in list(list_closing_notes(report))[:1]


def test_a_grown_store_says_since_when_changes_are_watched(grown: str) -> None:
    report = assay.monitor(grown, metrics=["refusal_rate", "over_refusal"], slices=["tenant"])
    lines = list_watch_lines(report)
    assert lines[0] == "watched for changes: Refusal rate since 2026-02-01"  # the 28th day
    assert lines[1] == "before 2026-02-01 no change could be found: a comparison needs 28 days with values"
    assert lines[2] == "not watched for changes: Over refusal (no values)"
    assert lines[3] == "in slices: 2 of 4 series watched for changes"
    by_key = {row.key: row for row in report.series if row.slice is None}
    assert by_key["refusal_rate"].watched_since == "2026-02-01" and by_key["refusal_rate"].unwatched == ""
    later = assay.monitor(grown, metrics=["refusal_rate"], first="2026-02-02")
    assert "Refusal rate since 2026-02-02" in list_watch_lines(later)[0]
    assert not any("could be found" in line for line in list_watch_lines(later))


def test_a_metric_without_values_any_more_is_not_called_watched(tmp_path: Path) -> None:
    lines = list(list_traffic(40, 6))
    for line in lines:
        if line["at"] >= "2026-02-05":
            del line["latency_ms"]
    report = assay.monitor(make_store(tmp_path, lines), metrics=["refusal_rate", "latency_ms"], slices=["tenant=acme"])
    texts = list_watch_lines(report)
    assert (
        texts[0]
        == "no values since 2026-02-05 (not reported), so that no change could be found since then: Latency in ms"
    )
    assert texts[1] == "watched for changes: Refusal rate since 2026-02-01"
    assert texts[-1] == "in slices: 1 of 2 series watched for changes"
    by_key = {row.key: row for row in report.series if row.slice is None}
    assert ("2026-02-05", None) == (by_key["latency_ms"].silent_since, by_key["refusal_rate"].silent_since)


def test_the_answers_that_rules_cannot_tell_are_counted_and_change_what_the_value_may_be(tmp_path: Path) -> None:
    question = "How long is parking free?"
    lines = [
        line | {"question": question, "answer": "Parking is free for 90" + (" minutes." if number % 5 else "")}
        for number, line in enumerate(list_traffic(7, 12))
    ]
    case = {"id": "parking", "question": question, "behaviour": "answer", "must_have": ["90 minutes"]}
    golden = tmp_path / "golden.jsonl"
    golden.write_text(json.dumps(case) + "\n", encoding="utf-8")
    report = assay.monitor(make_store(tmp_path, lines), metrics=["correct_answer"], golden=golden)
    (point,) = report.series[0].points
    assert (1.0, len(lines)) == (point.value, point.n + point.unknown) and point.unknown > 0
    least = point.n / len(lines)
    (line,) = [text for text in list_closing_notes(report) if "cannot tell" in text]
    assert f"leaves out {point.unknown} answers of which the rules cannot tell" in line
    assert line.endswith(f"between {least:.3f} and 1.000")
    assert f"n {point.n}, {point.unknown} unknown" in str(build_monitor_tables(report))
    hint = "was not looked at: --metrics correct_answer"
    assert not any(hint in note for note in report.notes)
    assert any(hint in note for note in assay.monitor(tmp_path / "audit.sqlite", golden=golden).notes)


def test_errors_of_the_target_are_counted_by_code_and_the_worst_day_is_named(tmp_path: Path) -> None:
    lines = list(list_traffic(14, 10))
    wednesday = [line for line in lines if line["at"].startswith("2026-01-14")]
    for line in wednesday[:4]:
        line |= {"error": {"code": "timeout"}, "answer": None}
    lines[0]["error"] = {"code": "quota"}
    notes = list(list_closing_notes(assay.monitor(make_store(tmp_path, lines), metrics=["error_rate"])))
    assert (
        f"errors of the target: 5 of {len(lines)} answers (timeout 4, quota 1), on 2 days; most on 2026-01-14: "
        f"4 of {len(wednesday)}"
    ) in notes


def test_the_last_week_is_compared_with_the_one_before(tmp_path: Path) -> None:
    lines = list(list_traffic(21, 30))
    for number, line in enumerate(lines):
        if line["at"] >= "2026-01-19" and number % 3:
            line |= {"answer": "I could not find this in the documents.", "citations": []}
            line["latency_ms"] = 400.0
    store = make_store(tmp_path, lines)
    metrics = ["refusal_rate", "error_rate", "latency_ms"]
    report = assay.monitor(store, metrics=metrics)
    by_metric = {change.metric: change for change in report.last_weeks}
    refusals = by_metric["refusal_rate"]
    assert refusals.before < 0.25 and refusals.value > 0.5 and refusals.p < 0.02
    week = [line for line in lines if line["at"] >= "2026-01-19"]
    assert len(week) == refusals.n
    assert refusals.value == pytest.approx(sum("could not find" in line["answer"] for line in week) / len(week))
    better, rose, rest = list_week_lines(report)
    assert rose.startswith("the 7 days to 2026-01-25 compared with the 7 before, significantly rose: Refusal rate 0.")
    assert "significantly better: Latency in ms" in better
    assert rest.endswith(
        "not significant (a difference may be too small to show, or on fewer than 6 of the days): Error rate"
    )
    chat = "\n".join(render_chat_lines(report))
    assert "significantly rose: Refusal rate" in chat and rest in list(list_closing_notes(report))
    assert not assay.monitor(store, metrics=metrics, last="2026-01-11").last_weeks, "there is no week before"
    assert not report.alerts and not report.needs_attention


@pytest.mark.parametrize(("failing", "is_significant"), [(("2026-01-21",), False), (LAST_WEEK, True)])
def test_one_day_on_which_the_target_failed_makes_no_week_worse(
    tmp_path: Path, failing: Sequence[str], is_significant: bool
) -> None:
    lines = list(list_traffic(21, 30))
    for number, line in enumerate(lines):
        if line["at"][:10] in failing and number % 3 == 0:
            line |= {"answer": None, "error": {"code": "timeout", "message": "no reply"}}
    report = assay.monitor(make_store(tmp_path, lines), metrics=["error_rate"])
    (change,) = report.last_weeks
    assert change.before == 0 and change.value > 0.03
    assert (change.p <= 0.05) == is_significant
    (line_of_weeks,) = list_week_lines(report)
    assert ("significantly worse: Error rate" in line_of_weeks) == is_significant


def test_a_week_of_five_days_is_not_said_to_have_no_significant_difference(tmp_path: Path) -> None:
    lines = [line for line in list_traffic(21, 30) if datetime.fromisoformat(line["at"]).weekday() < 5]
    for line in lines:
        if line["at"][:10] in LAST_WEEK:
            line |= {"answer": None, "error": {"code": "timeout", "message": "no reply"}}
    report = assay.monitor(make_store(tmp_path, lines), metrics=["error_rate"], last="2026-01-25")
    (change,) = report.last_weeks
    assert (0.0, 1.0) == (change.before, change.value) and change.p >= change.least_p == 2 / 2**5
    (line_of_weeks,) = list_week_lines(report)
    assert line_of_weeks.endswith("with fewer than 6 users or weekdays with values: Error rate")


@pytest.mark.parametrize(("days", "is_compared"), [(13, False), (14, True)])
def test_two_weeks_are_compared_once_both_are_there(tmp_path: Path, days: int, is_compared: bool) -> None:
    report = assay.monitor(make_store(tmp_path, list(list_traffic(days, 5))), metrics=["refusal_rate"])
    assert bool(report.last_weeks) == is_compared


def test_bounds_are_offered_for_what_should_never_be_while_changes_cannot_be_told(tmp_path: Path) -> None:
    lines = list(list_traffic(20, 20))
    for line in lines[::5]:
        line["error"] = {"code": "timeout", "message": ""}
    store = make_store(tmp_path, lines)
    metrics = ["error_rate", "citation_exists", "refusal_rate"]
    (offer,) = [text for text in list_watch_lines(assay.monitor(store, metrics=metrics)) if "a bound finds" in text]
    assert "--bound 'error_rate<=0.02' (its worst 0.2" in offer
    assert offer.endswith("--bound 'citation_exists>=0.98'"), "nothing is offered for refusals, which may be right"
    bounds = ["error_rate<=0.02"]
    bounded = list_watch_lines(assay.monitor(store, metrics=metrics, bounds=bounds))
    assert not any("--bound 'error_rate" in text for text in bounded)


def test_no_bound_is_offered_where_changes_were_watched_on_all_days(grown: str) -> None:
    late = assay.monitor(grown, metrics=["citation_exists"], first="2026-02-05")
    assert not any("a bound finds" in text for text in list_watch_lines(late))


def test_a_change_is_found_on_no_day_before_the_one_that_is_named(tmp_path: Path) -> None:
    for days, is_found in ((27, False), (28, True)):
        folder = tmp_path / str(days)
        folder.mkdir()
        lines = list(list_traffic(days, 60))
        for line in lines:
            if line["at"] >= (FIRST_DAY + timedelta(days=days - 14)).isoformat():
                line["error"] = {"code": "timeout", "message": ""}
        report = assay.monitor(make_store(folder, lines), metrics=["error_rate"])
        (series,) = report.series
        assert (series.watched_since is not None) == is_found
        assert bool(report.alerts) == is_found


@pytest.mark.parametrize(
    ("bound", "state", "words"),
    [
        ("refusal_rate<=0.05", "not_significant", "watched, exceeded but not significantly yet: 0."),
        ("refusal_rate<=0.9", "kept", "watched, kept so far: 0."),
        ("refusal_rate>=0.99", "exceeded", "exceeded significantly: 0."),
        ("stale_chunks<=0.05", "unmeasured", "not watched: no corpus"),
    ],
)
def test_what_became_of_a_bound_is_said(bound: str, state: str, words: str, young: str) -> None:
    report = assay.monitor(young, metrics=["refusal_rate", "stale_chunks"], bounds=[bound])
    (watch,) = (item for row in report.series for item in row.bounds)
    assert watch.state == state
    line = next(line for line in list_watch_lines(report) if line.startswith(f"bound {bound}"))
    assert words in line, line
    assert state == "unmeasured" or "over 14 days, bound" in line


@pytest.mark.parametrize(
    ("words", "code", "first"),
    [
        (["--bound", "stale_chunks<=0.05", "--metrics", "stale_chunks"], 3, "stale_chunks<=0.05 cannot be checked: no"),
        (["--bound", "refusal_rate<=0.9", "--metrics", "refusal_rate"], 0, ""),
        (
            ["--bound", "refusal_rate<=0.9", "--metrics", "refusal_rate", "--from", "2026-05-01", "--to", "2026-05-08"],
            3,
            "refusal_rate<=0.9 cannot be checked: no answers",
        ),
        (["--metrics", "refusal_rate", "--from", "2026-05-01", "--to", "2026-05-08"], 0, ""),
    ],
)
def test_a_bound_that_cannot_be_checked_is_incomplete_and_says_so_first(
    words: list[str], code: int, first: str, young: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["monitor", young, *words]) == code
    printed = capsys.readouterr().out
    if first:
        assert printed.startswith(f"INCOMPLETE: bound {first}")
    assert main(["monitor", young, *words, "--format", "markdown"]) == code
    chat = capsys.readouterr().out.splitlines()
    assert ("cannot be checked" in chat[1]) == bool(first), "what was not measured comes first"
    assert main(["monitor", young, *words, "--format", "json"]) == code
    assert len(json.loads(capsys.readouterr().out)["unmeasured_bounds"]) == bool(first)


def test_periods_that_are_not_shown_are_counted(young: str) -> None:
    table = build_monitor_tables(assay.monitor(young, by="day", metrics=["refusal_rate"], first="2026-01-05"))[-1]
    assert len(table.columns) == 5
    assert any("10 earlier days are not shown here" in note for note in table.notes)


def test_answers_without_rights_of_the_user_are_the_reason_and_stand_beside_the_leaks(tmp_path: Path) -> None:
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index="v1") for number in range(8)
    ]
    for line in lines[:3]:
        del line["user"]
    store = make_store(tmp_path, lines)
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"chunk_id": f"{name}-1", "text": text, "tenant": "acme"} for name, text in SENTENCES]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = assay.monitor(store, corpus=corpus, metrics=["refusal_rate"])
    (gap,) = [line for line in render_chat_lines(report) if "not looked for" in line]
    assert "in 3 of 8 answers" in gap and "assay.user.tenant" in gap and "--corpus" not in gap
    page = tmp_path / "m.html"
    main(["monitor", store, "--corpus", str(corpus), "--metrics", "refusal_rate", "--html", str(page)])
    assert report.unsearched == 3 and report.leak_count > 0


def test_leaks_and_alerts_are_series_of_the_metrics_and_others_may_read_their_files(
    grown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {name: tmp_path / name for name in ("a.prom", "a.json", "a.html")}
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"chunk_id": f"{name}-1", "text": text, "tenant": "acme"} for name, text in SENTENCES]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    before = os.umask(0o022)
    try:
        words = ["--metrics", "refusal_rate,over_refusal", "--corpus", str(corpus), "--bound", "refusal_rate>=0.99"]
        exports = ["--export-prometheus", str(files["a.prom"]), "--export-otlp", str(files["a.json"])]
        assert main(["monitor", grown, *words, *exports, "--html", str(files["a.html"])]) == 1
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o644}
    lines = files["a.prom"].read_text().splitlines()
    assert 'assay_alerts{metric="refusal_rate"} 1' in lines
    assert not any("over_refusal" in line and line.startswith("assay_alerts") for line in lines), "it is not watched"
    leaks = next(int(line.split()[1]) for line in lines if line.startswith("assay_leaks "))
    assert leaks > 0
    otlp = msgspec.json.decode(files["a.json"].read_bytes())
    metrics = {row["name"]: row for row in otlp["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}
    assert metrics["assay.leaks"]["gauge"]["dataPoints"][0]["asInt"] == str(leaks)
    (point,) = metrics["assay.alerts"]["gauge"]["dataPoints"]
    assert point["attributes"] == [{"key": "assay.metric", "value": {"stringValue": "refusal_rate"}}]


def test_where_no_answer_was_searched_there_is_no_number_of_leaks(grown: str, tmp_path: Path) -> None:
    target = tmp_path / "a.prom"
    main(["monitor", grown, "--metrics", "refusal_rate", "--export-prometheus", str(target)])
    lines = target.read_text().splitlines()
    assert not any(line.startswith("assay_leaks ") for line in lines)
    assert any(line.startswith("assay_leaks_not_looked_for ") for line in lines)


def test_the_sample_says_whether_rules_or_a_judge_read_it(young: str) -> None:
    assert assay.monitor(young, metrics=["refusal_rate"]).sampling.by == ""
    assert assay.monitor(young, metrics=["faithfulness(by=rules)"]).sampling.by == "rules"


@pytest.mark.parametrize("value", ["'x'", "x'00'"])
def test_a_time_of_another_type_does_not_stop_the_monitor(value: str, tmp_path: Path) -> None:
    store = make_store(tmp_path, list(list_traffic(3, 3)))
    before = assay.monitor(store, metrics=["refusal_rate"])
    with sqlite3.connect(store) as db:
        db.execute(f"UPDATE records SET at = {value} WHERE sequence = 2")
    db.close()
    after = assay.monitor(store, metrics=["refusal_rate"])
    assert after.answers == before.answers - 1
    assert after.period == before.period
