"""The legacy report has the runner's shape, key for key."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace
from tests.report.sample import BAD, CASES, GOOD, observation, table
from tests.report.schema_check import load_schema, violations

from assay.report.exports.json_report import build_legacy_rows, render_legacy_json

SEEN = [(case.id, observation(case.id)) for case in CASES[:3]]
ROW_KEYS = [
    "query_id",
    "config_id",
    "difficulty",
    "tags",
    "expected_behavior",
    "metrics",
    "failed_checks",
    "retrieved_ids",
    "context_ids",
    "citations",
]
METRIC_KEYS = [f"{name}@{k}" for k in (5, 10) for name in ("hit", "recall", "precision", "mrr", "ndcg")] + [
    "context_recall",
    "citation_correctness",
    "behavior_score",
    "latency_end_to_end_ms",
    "cost_usd",
]


def _rows() -> list[dict[str, Any]]:
    return build_legacy_rows(CASES, table(BAD), SEEN)


def test_rows_have_the_runners_keys_in_its_order() -> None:
    assert [ROW_KEYS] * 3 == [list(row) for row in _rows()]
    assert METRIC_KEYS == list(_rows()[0]["metrics"])


def test_report_follows_its_schema() -> None:
    schema, report = load_schema("legacy"), json.loads(render_legacy_json({BAD: _rows()}))
    assert [] == violations(report, schema, schema)
    assert METRIC_KEYS == schema["additionalProperties"]["items"]["properties"]["metrics"]["required"]


def test_values_come_from_our_metrics_under_the_runners_names() -> None:
    metrics = _rows()[1]["metrics"]
    expected = {"recall@10": 0.5, "mrr@10": 0.25, "ndcg@10": 0.4, "hit@5": 1.0, "context_recall": 0.5}
    more = {"citation_correctness": 1.0, "behavior_score": 1.0, "latency_end_to_end_ms": 650.0, "cost_usd": None}
    assert expected | more == {key: metrics[key] for key in (*expected, *more)}
    assert metrics["precision@5"] is None  # not asked for


def test_only_the_runners_four_checks_are_named() -> None:
    checks = [["retrieval_miss", "context_miss", "bad_citation"], [], ["bad_citation", "wrong_behavior"]]
    assert checks == [row["failed_checks"] for row in _rows()]


def test_ids_follow_rank_and_a_case_without_output_has_no_row() -> None:
    rows = _rows()
    assert ["leave_001", "leave_002", "pay_001"] == [row["query_id"] for row in rows]
    assert ["travel:v1:001", "leave:v1:009", "leave:v1:004", "travel:v1:002"] == rows[0]["retrieved_ids"]
    assert (["travel:v1:001", "leave:v1:009"], ["travel:v1:001"]) == (rows[0]["context_ids"], rows[0]["citations"])


def test_order_of_observations_and_later_repeats_change_nothing() -> None:
    later = [(case_id, replace(observation, repeat=1, citations=("other",))) for case_id, observation in SEEN]
    assert _rows() == build_legacy_rows(CASES, table(BAD), [*later, *reversed(SEEN)])


def test_unreported_lists_are_empty_as_the_runner_has_them() -> None:
    bare = replace(observation("leave_001"), stages=None, citations=None)
    row = build_legacy_rows(CASES, table(BAD), [("leave_001", bare)])[0]
    assert ([], [], []) == (row["retrieved_ids"], row["context_ids"], row["citations"])


def test_text_is_utf8_with_two_spaces_and_configurations_sorted() -> None:
    rows = [{"query_id": "Nghỉ"}]
    expected = '{\n  "hybrid-rerank": [],\n  "vector-only": [\n    {\n      "query_id": "Nghỉ"\n    }\n  ]\n}\n'
    assert expected == render_legacy_json({BAD: rows, GOOD: []})
