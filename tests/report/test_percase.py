"""Per-case lines: one strict JSON object for each golden case, with or without scores."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.report.sample import BAD, GOOD, column, table
from tests.report.schema_check import load_schema, violations

from assay.records.scores import ScoreColumn, ScoreTable
from assay.report.exports.case_scores import iter_case_lines


def _lines(score_table: ScoreTable) -> list[dict[str, Any]]:
    return [json.loads(line) for line in iter_case_lines(score_table)]


def test_each_line_follows_the_schema_and_ends_the_line() -> None:
    schema = load_schema("case-line")
    for config in (GOOD, BAD):
        assert all(line.endswith(b"}\n") and line.count(b"\n") == 1 for line in iter_case_lines(table(config)))
        assert [] == [wrong for line in _lines(table(config)) for wrong in violations(line, schema, schema)]


def test_status_is_present_only_without_a_number() -> None:
    for line in _lines(table(BAD)):
        assert {name for name, score in line["scores"].items() if score is None} == set(line["status"])
    answered, _, denied, missing = _lines(table(BAD))
    assert (0.0, {}) == (answered["scores"]["recall@10"], {k: v for k, v in answered["status"].items() if "@" in k})
    reason = "evidence is forbidden to this user"
    assert {"status": "not_applicable", "reason": reason} == denied["status"]["recall@10"]
    assert {"status": "error", "reason": "no observation"} == missing["status"]["recall@10"]


def test_warnings_are_present_only_if_there_are_any() -> None:
    lines = _lines(table(BAD))
    assert [False, True, False, False] == ["warnings" in line for line in lines]
    assert ([], ["partial_retrieval", "partial_context"]) == (lines[1]["failed_checks"], lines[1]["warnings"])


def test_lines_follow_golden_order_across_blocks() -> None:
    ids = [f"case {i}" for i in range(10_000)]
    half = column("rr@10", ["no observation", 0.5] * 5_000)
    lines = _lines(ScoreTable("c", ids, {"rr@10": half}, (), ()))
    assert ids == [line["case_id"] for line in lines]
    assert [None, 0.5] * 5_000 == [line["scores"]["rr@10"] for line in lines]
    assert ["rr@10" in line["status"] for line in lines] == [True, False] * 5_000


def test_order_of_the_columns_changes_no_byte() -> None:
    score_table = table(BAD)
    turned = replace(score_table, columns=dict(reversed(score_table.columns.items())))
    assert list(iter_case_lines(score_table)) == list(iter_case_lines(turned))


def test_table_without_metrics_or_cases_gives_lines_or_none() -> None:
    bare = ScoreTable("c", ("a",), {}, (), ())
    assert [b'{"config_id":"c","case_id":"a","scores":{},"status":{},"failed_checks":[]}\n'] == list(
        iter_case_lines(bare)
    )
    assert [] == list(iter_case_lines(replace(bare, case_ids=())))


def test_score_that_is_not_finite_is_stopped_rather_than_written_as_null() -> None:
    broken = ScoreColumn("rr@10", np.array([np.nan]), np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.uint16))
    with pytest.raises(ArithmeticError, match="rr@10"):
        list(iter_case_lines(ScoreTable("c", ("a",), {"rr@10": broken}, (), ())))


def test_float_is_written_as_its_shortest_exact_form() -> None:
    lines = list(iter_case_lines(ScoreTable("c", ("a",), {"m": column("m", [0.1 + 0.2])}, (), ())))
    assert b'"m":0.30000000000000004' in lines[0]
