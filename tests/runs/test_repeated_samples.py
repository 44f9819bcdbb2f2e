"""Several samples of one question: what is shown of a case is what failed, and nothing is lost on the way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import assay

GOLDEN = [
    {"id": "fare", "question": "What does the ferry cost?", "must_have": ["7 euros"]},
    {"id": "pier", "question": "Which pier?", "must_have": ["pier 4"]},
]
RIGHT, WRONG, PART = "It costs 7 euros.", "It costs 9 euros.", "It costs some money, ask at the harbour office."


def make_rows(answers: Sequence[str]) -> list[dict[str, Any]]:
    rows = [{"case_id": "fare", "repeat": number, "answer": answer} for number, answer in enumerate(answers)]
    return [*rows, *({"case_id": "pier", "repeat": number, "answer": "At pier 4."} for number in range(len(answers)))]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row | {"config_id": "boat"}) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("as_file", [False, True])
def test_a_wrong_sample_is_shown_with_how_many_differ(tmp_path: Path, as_file: bool) -> None:
    rows = make_rows([RIGHT, RIGHT, WRONG, RIGHT, WRONG])
    outputs: Any = write_rows(tmp_path / "o.jsonl", rows) if as_file else rows
    fare, pier = assay.score(GOLDEN, outputs, config="boat").cases
    assert ("failed", WRONG) == (fare.outcome, fare.answer)
    assert "missing: 7 euros" in fare.reasons["correct_answer"]
    for verbose in (False, True):
        text = fare.explain(verbose=verbose)
        assert "5 samples: 3 right, 2 wrong; shown is number 3, the worst" in text and WRONG in text
        assert "good answer: yes" not in text and "nothing in the trace explains it" not in text
    assert ("passed", "At pier 4.") == (pier.outcome, pier.answer)
    assert "5 samples: 5 right; shown is number 1" in pier.explain()


def test_one_sample_says_nothing_of_samples() -> None:
    assert "Samples" not in assay.score(GOLDEN, make_rows([WRONG])).cases[0].explain(verbose=True)


@pytest.mark.parametrize("as_file", [False, True])
def test_a_result_hands_on_all_samples(tmp_path: Path, as_file: bool) -> None:
    rows = make_rows([WRONG, RIGHT, RIGHT, RIGHT])
    result = assay.score(GOLDEN, write_rows(tmp_path / "o.jsonl", rows) if as_file else rows, config="boat")
    again = assay.score(GOLDEN, result)
    assert 0.75 == again.cases[0].scores["correct_answer"] == result.cases[0].scores["correct_answer"]
    assert str(again) == str(result)
