"""Where nobody is named who asks and the corpus restricts access, the first note says so, whole and with the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import assay
from assay.records.golden_set import Case, User
from assay.records.scores import SCORED
from assay.report.cases.full_case import format_user
from assay.report.screen.run_summary import render_run_summary


@pytest.mark.parametrize("width", [80, 100])
def test_the_first_note_counts_the_cases_and_keeps_its_remedy(tmp_path: Path, width: int) -> None:
    golden = [{"id": f"c{row}", "question": "What does band 7 pay?", "must_have": ["40"]} for row in range(12)]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"chunk_id": "pay", "text": "Band 7 pays 40.", "roles": ["hr"]}\n', encoding="utf-8")
    outputs = [{"case_id": row["id"], "answer": "It pays 40.", "contexts": [{"id": "pay"}]} for row in golden]
    outputs[0]["answer"] = ""
    scoring = assay.score(golden, outputs, corpus=corpus).scoring
    assert len(scoring.warnings) > 0
    lines = render_run_summary(scoring, {}, {}, width).lines
    start = next(number for number, line in enumerate(lines) if line.startswith("note: "))
    first = " ".join(line.strip() for line in lines[start : start + 2])
    assert first.startswith("note: access is not checked on 12 of 12 cases: no user is named there")
    assert '(add "user": {} to check such a case as a stranger)' in first


@pytest.mark.parametrize(
    ("forbidding", "asking", "expected"),
    [
        (3, 2, "access is not checked on 7 of 12 cases, and on 3 only for what they forbid: no user is named there"),
        (12, 0, "access is not checked on 12 of 12 cases, except for what they forbid: no user is named there"),
        (0, 2, "access is not checked on 10 of 12 cases: no user is named there"),
    ],
)
def test_cases_that_forbid_something_are_counted_with_the_checked_ones(
    tmp_path: Path, forbidding: int, asking: int, expected: str
) -> None:
    golden: list[dict[str, Any]] = [
        {"id": f"c{row}", "question": "Which berths are free?", "must_have": ["nine"]} for row in range(12)
    ]
    for row in golden[:forbidding]:
        row["forbidden_text"] = ["KEEL-55"]
    for row in golden[12 - asking :]:
        row["user"] = {"roles": ["harbour"]}
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"chunk_id": "b", "text": "Nine berths are free.", "roles": ["harbour"]}\n', encoding="utf-8")
    outputs = [{"case_id": row["id"], "answer": "Nine. KEEL-55", "contexts": [{"id": "b"}]} for row in golden]
    scoring = assay.score(golden, outputs, corpus=corpus).scoring
    assert expected == next(iter(scoring.warnings)).removesuffix(
        ', and 1 chunk is restricted (add "user": {} to check such a case as a stranger)'
    )
    column = next(iter(scoring.configs.values())).table.columns["visibility_leaks"]
    checked = sum(column.status == SCORED)
    assert forbidding + asking == checked
    if forbidding:
        assert any(f"{forbidding} of " in reason for reason in scoring.decision.reasons)


def test_who_asks_is_told_apart_from_nobody() -> None:
    assert "none named (access not checked)" == format_user(Case("a", "?"))
    assert "a stranger (no tenant, no roles)" == format_user(Case("a", "?", user=User()))
    assert "tenant=north" == format_user(Case("a", "?", user=User(tenant="north")))
    forbidden = Case("a", "?", forbidden=({"chunk_id": "x"},))
    assert "none named (of access, only what the case forbids is checked)" == format_user(forbidden)
