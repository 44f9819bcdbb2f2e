"""Which golden case says what is expected of a production answer, by who asks, and which answers a share is of."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.trends.production import FIRST_DAY, QUESTIONS, make_answer
from tests.trends.test_monitor import ingest

import assay
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, User
from assay.stats.detectable_changes import find_detectable_change
from assay.trends.golden_labels import NO_LABEL, find_label, find_limits
from assay.trends.monitor_alerts import WatchedSums
from assay.trends.monitor_measures import choose_measures
from assay.trends.monitor_results import ChangedVersion
from assay.trends.monitor_tables import build_monitor_tables
from assay.trends.near_golden import GoldenQuestions
from assay.trends.traffic_sums import Calendar, DayBins
from assay.trends.version_changes import describe_deployments
from assay.trends.watch import _count_most_in_reference, explain_undetectable, find_watched_since

OPEN = Corpus({"a": CorpusChunk("a", roles=("staff",))})
OF_TENANTS = Corpus({"a": CorpusChunk("a", tenant="north")})
OF_PLACES = Corpus({"a": CorpusChunk("a", position=3)})
STAFF = User(roles=("staff",))


@pytest.mark.parametrize(
    ("expected", "behaviour", "asking", "corpus", "reason"),
    [
        (None, "answer", None, None, ""),
        (STAFF, "answer", None, OPEN, "name a user, and the records none"),
        (STAFF, "answer", STAFF, OPEN, ""),
        (STAFF, "answer", User(roles=("guest",)), OPEN, "another role of their user"),
        (STAFF, "answer", User(tenant="north"), OPEN, "another role of their user"),
        # The record says of which tenant its user is, and the case does not.
        (STAFF, "answer", User(tenant="north", roles=("staff",)), OF_TENANTS, ""),
        (STAFF, "abstain", User(tenant="north", roles=("staff",)), OPEN, ""),
        (STAFF, "abstain", User(tenant="north", roles=("staff",)), OF_TENANTS, "has chunks of a single tenant"),
        (STAFF, "abstain", User(tenant="north", roles=("staff",)), None, "(--corpus)"),
        (User(tenant="south"), "answer", User(tenant="north"), OPEN, "another tenant of their user"),
        # Further roles take no answer away, and may give one where none is expected.
        (User(tenant="north"), "answer", User(tenant="north", roles=("staff",)), OPEN, ""),
        (User(tenant="north"), "permission_denied", User(tenant="north", roles=("staff",)), OPEN, "of a single role"),
        # A position takes answers away.
        (STAFF, "answer", User(roles=("staff",), position=2.0), OF_PLACES, "of a single position"),
        (STAFF, "answer", User(roles=("staff",), position=2.0), OPEN, ""),
    ],
)
def test_a_case_tells_of_a_record_where_what_both_state_of_the_user_agrees(
    expected: User | None, behaviour: Any, asking: User | None, corpus: Corpus | None, reason: str
) -> None:
    golden = GoldenQuestions(GoldenSet((Case("c1", "Who pays?", behaviour=behaviour, user=expected),)))
    case, why = find_label(golden, "who PAYS?", asking, find_limits(corpus))
    assert (case is not None) == (reason == "")
    assert reason in why
    assert (None, NO_LABEL) == find_label(golden, "Who is paid?", asking, find_limits(corpus))


def test_of_cases_that_ask_the_same_that_of_the_same_user_tells() -> None:
    users = (User(roles=("guest",)), STAFF)
    cases = tuple(Case(f"c{number}", "Who pays?", user=user) for number, user in enumerate(users))
    for questions in (cases, cases[::-1]):
        case, _ = find_label(GoldenQuestions(GoldenSet(questions)), "Who pays?", STAFF, None)
        assert case is not None and case.id == "c1"


def test_a_tenant_of_the_records_alone_leaves_a_refusal_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=number % 2 == 0, index="v1")
        for number in range(8)
    ]
    roles = lines[0]["user"]["roles"]
    assert lines[0]["user"]["tenant"]
    store = ingest(tmp_path, monkeypatch, lines)
    values = {}
    for name, user in (("same", {"roles": roles}), ("other", {"roles": ["nobody"]})):
        golden = tmp_path / f"{name}.jsonl"
        rows = [
            {"id": f"c{number}", "question": question, "user": user, "expected_chunk_ids": ["x"]}
            for number, question in enumerate(QUESTIONS.values())
        ]
        golden.write_text("".join(json.dumps(row) + "\n" for row in rows))
        report = assay.monitor(store, golden=golden, metrics=["over_refusal"])
        values[name] = report.series[0].points[-1]
    assert values["same"].value == 0.5
    assert values["other"].value is None
    assert "another role of their user" in values["other"].reason


def test_the_share_of_answers_with_a_stale_chunk_is_of_all_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One topic of several has an expired page; an answer from another page has no stale chunk."""
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index="v1")
        for number in range(12)
    ]
    shown = [{chunk["chunk_id"] for chunk in line["stages"][-1]["chunks"]} for line in lines]
    (expired,) = shown[0]
    ids = sorted(set().union(*shown))
    stale = np.mean([expired in ids_of_answer for ids_of_answer in shown])
    assert 0 < stale < 1
    corpus = tmp_path / "corpus.jsonl"

    def write(known: list[str], valid_to: str | None) -> None:
        rows = [{"chunk_id": name, "text": f"Text of {name}.", "document": name} for name in known]
        for row in rows:
            if row["chunk_id"] == expired and valid_to is not None:
                row["valid_to"] = valid_to
        corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))

    store = ingest(tmp_path, monkeypatch, lines)
    write(ids, "2024-01-01")
    point = assay.monitor(store, corpus=corpus, metrics=["stale_chunks"]).series[0].points[-1]
    assert point.value == pytest.approx(stale)
    assert point.n == 12
    write(ids, None)
    undated = assay.monitor(store, corpus=corpus, metrics=["stale_chunks"]).series[0].points[-1]
    assert undated.value is None, "a corpus without dates says nothing of any answer"
    write([expired], "2024-01-01")
    unknown = assay.monitor(store, corpus=corpus, metrics=["stale_chunks"]).series[0].points[-1]
    assert unknown.n < 12, "of a chunk that the corpus does not have nothing is known"


def test_what_changed_on_one_day_is_one_deployment() -> None:
    changes = [
        ChangedVersion("model", "m1", "m2", "2026-03-01"),
        ChangedVersion("prompt", "p1", "p2", "2026-03-04"),
        ChangedVersion("version.index", "i1", "i2", "2026-03-04"),
        ChangedVersion("version.prompt", "p1", "p2", "2026-03-04"),
    ]
    assert [
        ("2026-03-01", "model changed from m1 to m2"),
        ("2026-03-04", "prompt and version.prompt changed from p1 to p2, version.index from i1 to i2"),
    ] == describe_deployments(changes)


@pytest.mark.parametrize(("days", "gap", "most"), [(35, 0, 35), (35, 2, 19), (20, 0, 20), (90, 0, 56)])
def test_days_with_values_are_counted_as_a_comparison_looks_back(days: int, gap: int, most: int) -> None:
    """35 days in 15 weeks are enough days, and never enough at once."""
    sizes = np.zeros(days * (1 + gap))
    sizes[:: 1 + gap] = 3.0
    assert _count_most_in_reference(sizes) == most
    calendar = Calendar(FIRST_DAY.date(), FIRST_DAY.date() + timedelta(days=len(sizes) - 1), "day")
    (measure,) = choose_measures(["refusal_rate"], "rules", None)
    since, unwatched = find_watched_since(WatchedSums(measure, None, sizes, sizes), calendar, 0)
    assert (since is None) == (most < 28)
    if (days, most) == (35, 19):
        assert unwatched.startswith("has values on 35 days, and on 19 at most of any 56 in a row, needs 28")


@pytest.mark.parametrize(
    ("metric", "sizes", "reason"),
    [
        ("refusal_rate", [50.0, 50.0, 0.0] * 24, "values on 37 of the last 56 days, so that a week may have too few"),
        ("refusal_rate", [50.0, 0.0, 0.0] * 24, "values on 18 of the last 56 days, needs 28"),
        ("latency_ms", [50.0] * 70, "the same value every day"),
        ("latency_ms(stat=p95)", [50.0] * 70, "not stated for a percentile"),
        ("refusal_rate", [50.0] * 70, ""),
    ],
)
def test_where_no_detectable_change_is_stated_a_reason_is(metric: str, sizes: list[float], reason: str) -> None:
    (measure,) = choose_measures([metric], "rules", None)
    size = np.array(sizes)
    bins = DayBins(len(size)) if measure.percentile is not None else None
    change = find_detectable_change(0.1 * size, size, measure.direction, measure.low, measure.high)
    assert (change is None) == bool(reason)
    assert reason in explain_undetectable(WatchedSums(measure, None, 0.1 * size, size, bins))


def test_series_without_a_scale_come_last_and_every_value_has_its_number_of_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        make_answer(number, FIRST_DAY, user=f"u{number}", wrong=False, refuses=False, index="v1") for number in range(9)
    ]
    report = assay.monitor(ingest(tmp_path, monkeypatch, lines))
    has_scale = [not row.caveat for row in report.series]
    assert True in has_scale and False in has_scale
    assert has_scale == sorted(has_scale, reverse=True)
    (table,) = build_monitor_tables(report)
    assert all(cell.endswith(("n 9", "n/a")) for row in table.rows for cell in row[1:])
    named = assay.monitor(ingest(tmp_path, monkeypatch, lines), metrics=["faithfulness(by=rules)", "refusal_rate"])
    assert ["faithfulness(by=rules)", "refusal_rate"] == [row.key for row in named.series], "the order that was named"
