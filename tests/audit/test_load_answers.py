"""Answers in the order of time, page by page, from both kinds of stores."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.audit.traffic import NOON, at_noon, counting_statements, make_line, write_lines

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.load_answers import find_answer_times, iterate_answer_pages, load_answers, load_labelled_sequences
from assay.trends.monitor_results import MonitorReport

DAY = 86_400_000_000
STAGE = {"name": "context", "chunks": [{"chunk_id": "leave-1", "text": "Twenty days."}]}


def test_answers_come_once_in_the_order_of_their_times(address: str, tmp_path: Path) -> None:
    lines = [
        make_line(number, at=(NOON + timedelta(minutes=7 * number % 60)).isoformat(), stages=[STAGE])
        for number in range(30)
    ]
    assay.audit.ingest(address, write_lines(tmp_path / "day.jsonl", lines), now=at_noon)
    with open_audit_store(address) as store:
        times = find_answer_times(store)
        assert times is not None and times[1] - times[0] == 59 * 60_000_000
        for page in (4, 1000):
            rows = [row for rows in iterate_answer_pages(store, 0, times[1] + 1, page=page) for row in rows]
            assert [(row.at, row.sequence) for row in rows] == sorted((row.at, row.sequence) for row in rows)
            assert len({row.record.id for row in rows}) == 30
        assert not [row for rows in iterate_answer_pages(store, times[1] + 1, times[1] + DAY) for row in rows]
        (first,) = load_answers(store, [1])
        assert first.record.stages is not None and first.record.stages[0].chunks[0].text == "Twenty days."
        assert load_labelled_sequences(store, "finding") == frozenset()


def test_a_monitor_reads_both_kinds_of_stores(address: str, tmp_path: Path) -> None:
    assay.audit.ingest(address, write_lines(tmp_path / "day.jsonl", [make_line(number) for number in range(20)]))
    report: MonitorReport = assay.monitor(address, metrics=["latency_ms", "faithfulness(by=rules)"])
    assert report.answers == 20 and report.series[0].points[-1].value == 900.5


def test_texts_of_many_answers_are_asked_for_together(address: str, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "day.jsonl", [make_line(number, stages=[STAGE]) for number in range(300)])
    assay.audit.ingest(address, lines)
    with open_audit_store(address) as store:
        with counting_statements(store) as statements:
            answers = load_answers(store, range(1, 301))
        assert len(answers) == 300 and all(row.record.stages == answers[0].record.stages for row in answers)
        assert answers[0].record.stages is not None and answers[0].record.stages[0].chunks[0].text == "Twenty days."
        assert len(statements) < 10


def test_erased_answers_are_left_out(address: str, tmp_path: Path) -> None:
    assay.audit.ingest(address, write_lines(tmp_path / "day.jsonl", [make_line(number) for number in range(14)]))
    assay.audit.erase(address, user="user-3")
    assert assay.monitor(address, metrics=["latency_ms"]).answers == 12
