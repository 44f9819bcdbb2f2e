"""The monitor of production answers: rates per period, samples, alerts, leaks, acknowledgements, and bad input."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.tiny_entailment import write_model
from tests.trends.production import FIRST_DAY, QUESTIONS, SENTENCES, list_traffic, make_answer, write_traffic

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.incident import find_near_cases
from assay.audit.load_answers import iterate_answer_pages, load_answers
from assay.cli import main
from assay.metrics.judged.judge_requests import RULES_VERSION, RecordedVerdicts
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError
from assay.records.golden_set import Case, GoldenSet
from assay.records.settings import MonitorSettings, QuietHours
from assay.records.verdicts import Calibration
from assay.trends.alert_log_file import find_acknowledged, load_alert_events
from assay.trends.check_production import AlertNotice, is_within
from assay.trends.monitor_measures import choose_measures
from assay.trends.monitor_results import MonitorReport, MonitorSeries
from assay.trends.monitor_tables import build_monitor_tables, describe_monitor, render_chat_lines
from assay.trends.near_golden import GoldenQuestions

pytestmark = pytest.mark.slow
CHANGE_DAY, DAYS = 85, 92
QUICK = ("refusal_rate", "hallucination_risk(by=rules)", "latency_ms", "over_refusal")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of thirteen weeks; from day 85 on, a new index makes more answers wrong."""
    folder = tmp_path_factory.mktemp("monitor")
    lines = write_traffic(folder / "answers.jsonl", list_traffic(DAYS, 16, change_day=CHANGE_DAY))
    path = folder / "audit.sqlite"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
        assert assay.audit.ingest(path, lines).rejected == 0
    return str(path)


@pytest.fixture(scope="module")
def report(store: str) -> MonitorReport:
    return assay.monitor(store, metrics=QUICK, slices=["tenant=acme", "version.index"])


def ingest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[dict[str, Any]]) -> str:
    monkeypatch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
    path = tmp_path / "small.sqlite"
    assay.audit.ingest(path, write_traffic(tmp_path / "small.jsonl", iter(lines)))
    return str(path)


def find_series(report: MonitorReport, key: str, slice_name: str | None = None) -> MonitorSeries:
    return next(row for row in report.series if row.key == key and row.slice == slice_name)


def test_a_rate_by_week_is_that_of_the_answers_with_an_interval_around_it(store: str, report: MonitorReport) -> None:
    series = find_series(report, "refusal_rate")
    refused: dict[str, list[bool]] = {}
    with open_audit_store(store) as opened:
        for page in iterate_answer_pages(opened, 0, 2**62):
            for answer in page:
                week = datetime.fromisoformat(answer.record.at).date()
                monday = (week - timedelta(days=week.weekday())).isoformat()
                refused.setdefault(monday, []).append("could not find" in (answer.record.answer or ""))
    for point in series.points:
        assert point.value == pytest.approx(sum(refused[point.at]) / len(refused[point.at]))
        assert point.n == len(refused[point.at])
        assert None not in (point.low, point.high) and (point.low or 0.0) <= (point.value or 0.0) < (point.high or 0.0)


def test_a_slice_has_its_own_series_and_what_nothing_told_has_a_reason(report: MonitorReport) -> None:
    everything, acme = find_series(report, "refusal_rate"), find_series(report, "refusal_rate", "tenant=acme")
    assert all(0 < part.n < whole.n for part, whole in zip(acme.points, everything.points, strict=True))
    unlabelled = find_series(report, "over_refusal").points[-1]
    assert (unlabelled.value, unlabelled.reason) == (None, "no golden case asks the same question")


def test_a_new_index_that_makes_answers_wrong_raises_an_alert_that_names_it_as_a_coincidence(
    report: MonitorReport,
) -> None:
    alert = next(row for row in report.alerts if row.metric.startswith("hallucination_risk") and row.slice is None)
    change = FIRST_DAY + timedelta(days=CHANGE_DAY)
    assert abs((datetime.fromisoformat(alert.change_point).replace(tzinfo=UTC) - change).days) <= 2
    assert [(row.name, row.before, row.after) for row in alert.since] == [("version.index", "v11", "v12")]
    assert alert.before is not None and alert.value > alert.bound > alert.before
    assert "coincidence" in alert.text and "because" not in alert.text
    assert report.needs_attention
    assert not [row for row in report.alerts if row.metric == "latency_ms"]


def test_a_score_by_rules_says_in_its_row_that_it_is_no_rate(report: MonitorReport) -> None:
    name, caveat = "hallucination_risk(by=rules)", "uncalibrated ranking, no rate"
    series = find_series(report, name)
    assert (caveat, "score") == (series.caveat, series.unit)
    assert ("", "share") == ((refusals := find_series(report, "refusal_rate")).caveat, refusals.unit)
    table = next(table for table in build_monitor_tables(report) if table.title == "Production answers by week")
    title = "Hallucination risk by rules"
    row = next(row for row in table.rows if name in row[0])
    assert f"{title} ({name}): {caveat}" == row[0]
    value = series.points[-1].value
    assert value is not None
    assert row[-1].startswith(f"{value:.2g} [")
    assert [line for line in render_chat_lines(report) if title in line and caveat in line]
    alert = next(row for row in report.alerts if row.metric == name and row.slice is None)
    assert f"{title} ({caveat}) rose from" in alert.text
    assert "neither 0 nor 1" in " ".join(report.notes)


def test_a_score_with_a_scale_has_no_caveat() -> None:
    """A judge's labels mean what they say; rules do once their calibration stands, and only those that it is for."""
    calibration = Calibration("faithfulness(by=rules)", RULES_VERSION, "", "g", "l", 200, 2, may_gate=True)
    judging = RecordedVerdicts(calibrations={calibration.metric: calibration})
    names = ["faithfulness(by=judge)", "faithfulness(by=rules)", "citation_support(by=rules)", "latency_ms"]
    assert ["", "", True, ""] == [row.caveat and True for row in choose_measures(names, "rules", judging)]
    assert ["", True, True, ""] == [row.caveat and True for row in choose_measures(names, "rules")]


def test_the_same_store_gives_the_same_report(store: str, report: MonitorReport) -> None:
    again = assay.monitor(store, metrics=["hallucination_risk(by=rules)"], slices=["tenant=acme", "version.index"])
    names = {row.name: row for row in report.series}
    assert all(names[row.name] == row for row in again.series)
    assert {row.id for row in again.alerts} <= {row.id for row in report.alerts}


def test_the_data_of_the_page_has_the_parts_of_the_contract(report: MonitorReport) -> None:
    values = describe_monitor(report)
    assert values["page"] == "monitor" and set(values["period"]) == {"from", "to"}
    names = {"title", "made_at", "by", "series", "alerts", "leaks", "sampling", "refusal_band", "drift", "notes"}
    assert names <= set(values)
    assert {"at", "label", "value", "low", "high", "n", "reason", "run"} <= set(values["series"][0]["points"][0])
    json.dumps(values, allow_nan=False)


def test_a_budget_is_kept_and_the_weighted_estimate_covers_that_of_all_answers(store: str) -> None:
    metrics = ["hallucination_risk(by=rules)"]
    first: dict[str, Any] = {"metrics": metrics, "first": "2026-02-02", "last": "2026-03-01"}
    whole, part = assay.monitor(store, budget=0, **first), assay.monitor(store, budget=40, **first)
    assert part.sampling.judged == 4 * 40 < whole.sampling.judged
    points = zip(whole.series[0].points, part.series[0].points, strict=True)
    covered = [(sampled.low or 0.0) <= (complete.value or 0.0) <= (sampled.high or 0.0) for complete, sampled in points]
    assert sum(covered) >= len(covered) - 1
    assert part.sampling.width


def test_flagged_answers_are_always_in_the_sample(store: str, tmp_path: Path) -> None:
    period: dict[str, Any] = {"first": "2026-03-30", "last": "2026-04-05", "metrics": ["faithfulness(by=rules)"]}
    assay.monitor(store, budget=30, sample_folder=tmp_path / "sample", **period)
    chosen = {json.loads(line)["case_id"] for line in (tmp_path / "sample" / "outputs.jsonl").read_text().splitlines()}
    with open_audit_store(store) as opened:
        since = int(datetime(2026, 3, 30, tzinfo=UTC).timestamp()) * 1_000_000
        pages = iterate_answer_pages(opened, since, since + 7 * 86_400_000_000)
        flagged = {answer.record.id for page in pages for answer in page if answer.record.feedback == "down"}
    assert len(chosen) == 30 and flagged and flagged <= chosen
    assert assay.load_golden(tmp_path / "sample" / "golden.jsonl").cases


def test_pages_of_any_size_give_every_answer_once_in_the_order_of_time(store: str) -> None:
    with open_audit_store(store) as opened:
        pages = [list(iterate_answer_pages(opened, 0, 2**62, page=page)) for page in (7, 2000)]
        orders = [[(answer.at, answer.sequence) for part in parts for answer in part] for parts in pages]
        chosen = load_answers(opened, [3, 1, 2])
    assert orders[0] == orders[1] == sorted(orders[0])
    assert [answer.sequence for answer in chosen] == [1, 2, 3]
    assert all(chunk.text for answer in chosen for stage in answer.record.stages or () for chunk in stage.chunks)


def test_where_nothing_says_who_may_see_what_no_absence_of_leaks_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        make_answer(number, FIRST_DAY + timedelta(hours=number), user="ann", wrong=False, refuses=False, index="v1")
        for number in (1, 2, 4, 5, 7, 8)  # all of the tenant acme
    ]
    store = ingest(tmp_path, monkeypatch, lines)
    without_corpus = render_chat_lines(assay.monitor(store, metrics=["faithfulness(by=rules)"]))
    assert "- no alert" in without_corpus
    assert any(line.startswith("- leaks: not looked for in any answer") for line in without_corpus)
    assert any("uncalibrated ranking, no rate: look at the trend" in line for line in without_corpus)
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"chunk_id": f"{name}-1", "text": text, "tenant": "acme"} for name, text in SENTENCES]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "- no alert, no leak" in render_chat_lines(assay.monitor(store, corpus=corpus, metrics=["refusal_rate"]))


def test_leaks_are_listed_one_by_one_and_never_with_their_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        make_answer(number, FIRST_DAY + timedelta(hours=number), user="ann", wrong=False, refuses=False, index="v1")
        for number in range(1, 9)
    ]
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"chunk_id": f"{name}-1", "text": text, "tenant": "acme"} for name, text in SENTENCES]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), corpus=corpus, metrics=["citation_reachable"])
    assert report.leak_count == 2 and report.needs_attention
    assert [leak.record_id for leak in report.leaks] == ["req-3", "req-6"]
    assert all(text not in json.dumps(describe_monitor(report)) for _, text in SENTENCES)
    assert report.series[0].points[-1].value == pytest.approx(6 / 8)


def test_leaks_of_one_incident_are_one_row_with_the_rights_of_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {
            "id": f"req-{number}", "at": (FIRST_DAY + timedelta(minutes=number)).isoformat(), "question": "What?",
            "user_uid": f"user-{number % 3}", "user": {"tenant": "north", "roles": ["customer"]}, "answer": "It is.",
            "stages": [{"name": "context", "chunks": [{"chunk_id": "plan"}]}],
        }
        for number in range(12)
    ]  # fmt: skip
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"chunk_id": "plan", "text": "The plan.", "tenant": "south", "roles": ["hr"]}) + "\n")
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), corpus=corpus, metrics=["refusal_rate"])
    table = build_monitor_tables(report)[0]
    ((when, answers, users, leak),) = table.rows
    told = "shown what its user (tenant north, role customer) may not see: plan (tenant south, role hr; context)"
    assert ("12: req-0, req-1, req-2 and 9 more", "3", told) == (answers, users, leak)
    assert re.fullmatch(rf"{FIRST_DAY:%Y-%m-%d}, \d\d:\d\d to \d\d:\d\d", when)
    (line,) = [line for line in render_chat_lines(report) if "leak" in line and "🔴" in line]
    assert "12: req" in line and "tenant south" in line
    assert 12 == report.leak_count == len(report.leaks)


def test_a_restricted_text_in_an_answer_is_counted_and_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "The alarm code of shed A is 7391."
    row = {"id": "req-1", "at": f"{FIRST_DAY.isoformat()}", "question": "Which code?", "user_uid": "ann"}
    line = row | {"user": {"roles": ["member"]}, "answer": secret, "citations": []}
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"chunk_id": "k:1", "text": secret, "roles": ["admin"]}) + "\n")
    report = assay.monitor(ingest(tmp_path, monkeypatch, [line]), corpus=corpus)
    assert ["req-1"] == [leak.record_id for leak in report.leaks]
    shown = json.dumps(describe_monitor(report)) + "".join(render_chat_lines(report))
    assert "restricted text" in shown and "7391" not in shown


def test_labels_of_the_golden_set_tell_over_refusal_and_near_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=number <= 2, index="v1")
        for number in range(1, 9)
    ]
    lines[7]["question"] = "Which colour has the roof?"
    golden = tmp_path / "golden.jsonl"
    case = {"id": "c1", "question": QUESTIONS["parking"].upper(), "expected_chunk_ids": ["parking-1"]}
    golden.write_text(json.dumps(case) + "\n")
    metrics = ["over_refusal", "no_near_case", "refusal_rate"]
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), golden=golden, metrics=metrics)
    points = {row.key: row.points[-1] for row in report.series}
    assert (points["over_refusal"].value, points["over_refusal"].n) == (0.5, 2)
    assert points["refusal_rate"].value == 0.25
    assert points["no_near_case"].value == pytest.approx(6 / 8)


def test_near_cases_are_those_that_an_incident_lists() -> None:
    questions = [
        *QUESTIONS.values(),
        "How many laptops do employees receive?",
        "Who pays?",
        "annual leave",
        "?",
        "Ünïcode",
    ]
    golden = GoldenSet(tuple(Case(f"c{number}", question) for number, question in enumerate(QUESTIONS.values())))
    index = GoldenQuestions(golden)
    for question in questions:
        record = AuditRecord(id="r", at="2026-01-05T00:00:00+00:00", question=question)
        assert index.has_near_case(question) == bool(find_near_cases(record, golden)), question


@pytest.mark.parametrize(("answers", "state"), [(20, "unknown"), (90, "zero")])
def test_no_refusal_asks_for_what_should_have_been_refused_where_the_interval_is_below_the_band(
    answers: int, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index="v1")
        for number in range(answers)
    ]
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), metrics=["refusal_rate"])
    text = report.refusal_band.text
    assert report.refusal_band.state == state
    assert ("should have been refused" in text) == (state == "zero")
    assert ("look for questions that should" in text) == (state == "zero")
    assert ((report.series[0].points[0].high or 0.0) > 0.1) == (state == "unknown"), "few answers are no proof of none"


@pytest.mark.parametrize(("ends", "is_said"), [("2025-12-31", True), ("2026-01-01", False), ("2025-12-30", False)])
def test_a_last_valid_day_before_the_next_version_is_said(
    ends: str, is_said: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [make_answer(1, FIRST_DAY, user="u", wrong=False, refuses=False, index="v1")]
    rows = [
        {"chunk_id": "fees-1", "text": "8 EUR", "document": "fees", "version": "1", "valid_to": ends},
        {"chunk_id": "fees-2", "text": "9 EUR", "document": "fees", "version": "2", "valid_from": "2026-01-01"},
        {"chunk_id": "rules-1", "text": "No dogs.", "document": "rules", "version": "1", "valid_to": "2025-12-31"},
    ]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), corpus=corpus, metrics=["stale_chunks"])
    said = [note for note in report.notes if "no version in force" in note]
    assert len(said) == is_said
    assert not is_said or ("'fees'" in said[0] and "write valid_to 2026-01-01" in said[0])


def test_answers_are_checked_with_the_corpus_of_their_index_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the corpus of v11 a newer edition had replaced every page; that of v12 has none; v13 has no corpus here."""
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index=index)
        for number, index in enumerate(["v11"] * 8 + ["v12"] * 8 + ["v13"] * 4)
    ]
    for name in ("v11", "v12"):
        rows = [
            {"chunk_id": f"{topic}-{edition}", "text": text, "document": topic, "version": edition, "valid_from": day}
            for topic, text in SENTENCES
            for edition, day in (("1", "2024-01-01"), ("2", "2025-01-01"))[: 2 if name == "v11" else 1]
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = ingest(tmp_path, monkeypatch, lines)
    corpora = [f"{name}={tmp_path / name}.jsonl" for name in ("v11", "v12")]
    options: dict[str, Any] = {"metrics": ["stale_chunks"], "slices": ["version.index"]}
    report = assay.monitor(store, corpus=corpora, **options)
    values = {row.slice: row.points[-1].value for row in report.series}
    assert (values["version.index=v11"], values["version.index=v12"]) == (1.0, 0.0)
    assert values["version.index=v13"] is None
    assert any("4 answers of index version v13" in note for note in report.notes)
    alone = assay.monitor(store, corpus=tmp_path / "v11.jsonl", **options)
    assert {row.slice: row.points[-1].value for row in alone.series}["version.index=v12"] == 1.0


# ── bounds and percentiles ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def young_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A system in its third week: from the tenth day on, the slowest answers take five times as long."""
    folder = tmp_path_factory.mktemp("young")
    lines = list(list_traffic(17, 40, wrong=0.25))
    for number, line in enumerate(lines):
        if number % 6 == 0:
            line["latency_ms"] = 5000.0 if line["at"] >= "2026-01-14" else 1000.0
    path = folder / "audit.sqlite"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
        assay.audit.ingest(path, write_traffic(folder / "answers.jsonl", iter(lines)))
    return str(path)


def test_a_bound_is_watched_from_the_first_week_on_where_changes_cannot_be(young_store: str) -> None:
    bounds = ["hallucination_risk<=0.05", "latency_ms(stat=p95)<=2000", "refusal_rate<=0.5"]
    metrics = ["hallucination_risk(by=rules)", "latency_ms(stat=p95)", "refusal_rate"]
    report = assay.monitor(young_store, metrics=metrics, bounds=bounds)
    alerts = {alert.metric: alert for alert in report.alerts}
    assert set(alerts) == {"hallucination_risk(by=rules)", "latency_ms(stat=p95)"}
    risk, latency = alerts["hallucination_risk(by=rules)"], alerts["latency_ms(stat=p95)"]
    assert {alert.kind for alert in alerts.values()} == {"bound"} and report.needs_attention
    assert risk.at <= "2026-01-14" and (risk.before, risk.bound) == (None, 0.05) and risk.value > 0.1
    assert "is above its bound of 0.05" in risk.text and "2026-01-05" in risk.text
    assert latency.at > "2026-01-14" and latency.value > 2000
    assert risk.text.endswith("at the latest"), "the bets of a week tell no earlier day"
    (kept,) = find_series(report, "refusal_rate").bounds
    assert (kept.state, kept.days) == ("kept", 17)
    assert assay.monitor(young_store, metrics=metrics).alerts == ()


def test_an_alert_on_a_bound_is_the_same_whichever_days_are_shown(young_store: str) -> None:
    options: dict[str, Any] = {"metrics": ["hallucination_risk(by=rules)"], "bounds": ["hallucination_risk<=0.05"]}
    whole = assay.monitor(young_store, **options)
    part = assay.monitor(young_store, first="2026-01-05", last="2026-01-18", **options)
    assert [alert.id for alert in whole.alerts] == [alert.id for alert in part.alerts] != []
    assert assay.monitor(young_store, first="2026-01-19", **options).alerts == (), "it was on an earlier day"


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        ("hallucination_risk=0.05", "not a bound"),
        ("hallucination_risk<=much", "not a bound"),
        ("faithfulness>=0.9", "not measured"),
        ("latency_ms<=100", "without an upper end"),
        ("latency_ms(stat=p95)>=100", "only have an upper limit"),
        ("hallucination_risk<=1.5", "not a limit"),
        ("hallucination_risk<=1e999", "not a bound"),
    ],
)
def test_what_is_no_bound_is_refused(young_store: str, bound: str, words: str) -> None:
    metrics = ["hallucination_risk(by=rules)", "latency_ms", "latency_ms(stat=p95)"]
    with pytest.raises(InputError, match=words):
        assay.monitor(young_store, metrics=metrics, bounds=[bound])


def test_a_longer_tail_of_latencies_raises_an_alert_where_the_mean_hardly_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list(list_traffic(84, 30))
    generator = random.Random(4)
    for line in lines:
        line["latency_ms"] = 800.0 * generator.lognormvariate(0, 0.3)
        if line["at"] >= "2026-03-16" and generator.random() < 0.12:
            line["latency_ms"] = 2000.0
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), metrics=["latency_ms(stat=p95)"])
    (alert,) = report.alerts
    assert alert.at <= "2026-03-26" and alert.before is not None and alert.before < alert.bound < alert.value
    assert alert.value == pytest.approx(2000, rel=0.05) and "rose from" in alert.text
    series = find_series(report, "latency_ms(stat=p95)")
    assert series.unwatched == "" and series.points[-1].value == pytest.approx(2000, rel=0.05)


# ── acknowledgements, quiet hours ────────────────────────────────────────────────────────────────────────────────────


def test_a_percentile_lies_between_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line | {"cost_usd": 0.0004} for line in list_traffic(7, 10)]
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), metrics=["cost_usd(stat=p95)"])
    assert [0.0004] == [point.value for point in find_series(report, "cost_usd(stat=p95)").points]


def test_an_acknowledged_alert_is_not_open_any_more(store: str, report: MonitorReport, tmp_path: Path) -> None:
    log = tmp_path / "alerts.jsonl"
    alert = next(row for row in report.alerts if row.metric.startswith("hallucination_risk") and row.slice is None)
    options: dict[str, Any] = {"metrics": ["hallucination_risk(by=rules)"]}
    after = assay.monitor(store, notice=AlertNotice(log, alert.id, "Lan Pham", "index v12"), **options)
    assert find_acknowledged(report.alerts, load_alert_events(log)) == {alert.id: "Lan Pham"}
    assert [(row.id, row.state, row.acknowledged_by) for row in after.alerts] == [
        (alert.id, "acknowledged", "Lan Pham")
    ]
    assert not after.needs_attention
    assert ("acknowledged", "Lan Pham: index v12") in [(mark.kind, mark.text) for mark in after.series[0].marks]


@pytest.mark.parametrize(
    ("notice", "words"),
    [
        (AlertNotice(None, "alert-1", "Lan"), "--alert-log"),
        (AlertNotice("log.jsonl", "alert-1", " "), "--person"),
        (AlertNotice("log.jsonl", "alert-1", "Lan"), "no such alert"),
    ],
)
def test_an_acknowledgement_needs_a_person_a_file_and_an_alert(
    store: str, notice: AlertNotice, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        assay.monitor(store, metrics=["latency_ms"], notice=notice)


def test_alerts_wait_in_quiet_hours(store: str, report: MonitorReport) -> None:
    settings = MonitorSettings(metrics=["hallucination_risk(by=rules)"], quiet=QuietHours("22:00", "07:00", "+07:00"))
    night = assay.monitor(store, settings=settings, now=datetime(2026, 4, 6, 16, 0, tzinfo=UTC))
    assert ({row.state for row in night.alerts}, night.needs_attention) == ({"quiet"}, False)
    assert {row.state for row in report.alerts} == {"open"}


@pytest.mark.parametrize(("time", "quiet"), [("21:59", False), ("22:00", True), ("06:59", True), ("07:00", False)])
def test_quiet_hours_may_go_over_midnight(time: str, quiet: bool) -> None:
    moment = datetime.fromisoformat(f"2026-03-02T{time}:00+00:00")
    assert is_within(QuietHours("22:00", "07:00"), moment) == quiet


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"slices": ["colour=red"]}, "not a slice of answers"),
        ({"slices": ["tenant="]}, "not a slice of answers"),
        ({"metrics": ["visibility_leaks"]}, "leaks are always reported"),
        ({"metrics": ["no_such_metric"]}, "no_such_metric"),
        ({"first": "2026-3-2"}, "--from: not a day"),
        ({"last": "tomorrow"}, "--to: not a day"),
        ({"first": "2026-03-02", "last": "2026-03-01"}, "no days"),
        ({"first": "0001-01-01", "last": "2026-03-01"}, "too early"),
        ({"first": "2026-01-01", "last": "9999-12-31"}, "too long"),
        ({"budget": 5}, "--budget"),
        ({"by": "year"}, "--by"),
    ],
)
def test_what_cannot_be_watched_is_refused(store: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        assay.monitor(store, **options)


def test_an_empty_store_is_an_error(tmp_path: Path) -> None:
    open_audit_store(str(tmp_path / "empty.sqlite"), create=True).close()
    with pytest.raises(InputError, match="no answers to look at"):
        assay.monitor(tmp_path / "empty.sqlite")


@pytest.mark.provokes_bug
def test_a_record_that_meets_a_bug_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.trends.score_answers import AnswerScorer

    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index="v1") for number in range(9)
    ]
    join = AnswerScorer._join

    def fail(self: AnswerScorer, records: Any, day: str) -> Any:
        if any(record.id == "req-4" for record in records):
            raise ZeroDivisionError
        return join(self, records, day)

    monkeypatch.setattr(AnswerScorer, "_join", fail)
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), metrics=["refusal_rate"])
    assert report.series[0].points[0].n == 8
    assert any("met a bug" in note and "req-4" in note for note in report.notes)


def test_a_slice_without_answers_is_said(store: str) -> None:
    report = assay.monitor(store, metrics=["refusal_rate"], slices=["tenant=nobody", "version.index"])
    assert [note for note in report.notes if "no answer of the period" in note] == [
        "slice tenant=nobody: no answer of the period is in it"
    ]


def test_an_answer_with_a_wrong_clock_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index="v1") for number in range(9)
    ]
    lines[0]["at"] = "9999-12-31T00:00:00Z"
    lines[1]["at"] = "1969-01-01T00:00:00Z"
    store = ingest(tmp_path, monkeypatch, lines)
    for days in (1, 300):  # however long after the last of the others somebody looks
        report = assay.monitor(store, metrics=["refusal_rate"], now=FIRST_DAY + timedelta(days=days))
        assert (report.answers, report.period.last) == (7, "2026-01-05")
        day = (FIRST_DAY + timedelta(days=days)).date()
        assert f"1 answer is dated after {day} and left out: is the clock of what writes them wrong?" in report.notes


def test_a_denial_that_a_golden_case_expects_of_one_user_is_not_expected_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index="v1")
        for number in (1, 5, 9)
    ]
    for line in lines[1:]:
        line["user"] = {"tenant": "acme", "roles": ["lawyer"]}
    lines[0]["user"] = {"tenant": "acme", "roles": ["staff"]}
    case = {
        "id": "c1",
        "question": QUESTIONS["parking"],
        "behaviour": "permission_denied",
        "user": {"tenant": "acme", "roles": ["staff"]},
        "evidence": [{"any_of": [{"chunk_id": "parking-1"}]}],
    }
    golden = tmp_path / "golden.jsonl"
    golden.write_text(json.dumps(case) + "\n")
    store = ingest(tmp_path, monkeypatch, lines)
    report = assay.monitor(store, golden=golden, metrics=["under_refusal"], by="day")
    assert [leak.record_id for leak in report.leaks] == ["req-1"]
    assert (report.series[0].points[0].value, report.series[0].points[0].n) == (1.0, 1)


def test_hostile_names_and_numbers_stay_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index="\x1b[31m" + "v" * 5000)
        for number in range(12)
    ]
    for rank, line in enumerate(lines):
        line["model"] = f"</script><b>{rank}"
        line["stages"][0]["chunks"][0]["score"] = 1e307
        line["latency_ms"] = 1e300
        line["feedback"] = {"rating": "👎", "why": "|x|`y`"}
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines), slices=["version.index", "model"])
    text = json.dumps(describe_monitor(report), allow_nan=False)
    assert max(len(row.slice or "") for row in report.series) < 200
    assert "1e+307" not in text
    points = {row.key: row.points[-1] for row in report.series if row.slice is None}
    assert points["latency_ms"].value is None and points["negative_feedback"].value == 1.0


def test_an_entailment_model_of_the_settings_scores_the_sample(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="needs the extra entailment")
    write_model(tmp_path / "nli")
    settings = tmp_path / "assay.yaml"
    settings.write_text("scoring: {entailment_model: nli}\n", encoding="utf-8")
    named = ["monitor", store, "--metrics", "faithfulness(by=entailment)", "--budget", "20", "--format", "json"]
    main([*named, "--settings", str(settings)])
    with_model = json.loads(capsys.readouterr().out)
    main(named)
    without = json.loads(capsys.readouterr().out)
    counts = [
        sum(point["n"] for row in report["series"] for point in row["points"]) for report in (with_model, without)
    ]
    assert counts[0] > 0 == counts[1]
