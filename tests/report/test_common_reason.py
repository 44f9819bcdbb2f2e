"""Why a metric has no value at all: what most of its cases lack, errors that name their case together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn, Summary
from assay.report.wording.number_format import find_common_reason, format_with_count

ABSENT = tuple(f"the golden set names {name}, which is not in the corpus" for name in ("a:1", "b:2", "c:3"))


def make_column(*rows: tuple[int, str]) -> ScoreColumn:
    reasons = tuple(dict.fromkeys(["", *(reason for _, reason in rows)]))
    status = np.array([state for state, _ in rows], dtype=np.uint8)
    codes = np.array([reasons.index(reason) for _, reason in rows], dtype=np.uint16)
    return ScoreColumn("hit@5", np.zeros(len(rows)), status, codes, reasons)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(SCORED, "")], ""),
        ([(NOT_APPLICABLE, "no evidence to find")] * 2 + [(ERROR, ABSENT[0])], "no evidence to find"),
        (
            [(NOT_APPLICABLE, "no evidence to find")] * 2 + [(ERROR, reason) for reason in ABSENT],
            f"{ABSENT[0]} (and 2 alike)",
        ),
        (
            [(ERROR, "target error: timeout")] * 2 + [(ERROR, reason) for reason in ABSENT],
            f"{ABSENT[0]} (and 2 alike)",
        ),
        ([(ERROR, "target error: timeout")] * 4 + [(ERROR, ABSENT[0])], "target error: timeout"),
    ],
)
def test_the_reason_is_that_of_most_cases(rows: Sequence[tuple[int, str]], reason: str) -> None:
    assert reason == find_common_reason(make_column(*rows))


def test_a_metric_without_value_says_how_many_cases_are_in_error() -> None:
    def make(errors: int) -> Summary:
        return Summary("hit@5", "all", "mean", None, None, None, None, 0, 4, errors)

    assert ("n/a (30 errors)", "n/a") == (format_with_count(make(30)), format_with_count(make(0)))
