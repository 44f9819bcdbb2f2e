"""A result can be pickled, so that process pools can return one, and reads the same in another process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.metrics.catalog import CATALOG

GOLDEN = [
    {"id": "fee", "question": "What is the fee?", "must_have": ["12 euros"], "tags": ["money"]},
    {"id": "door", "question": "Which door is open?", "must_have": ["the north door"], "tags": ["place"]},
]


@pytest.fixture(autouse=True)
def forget_metrics() -> Iterator[None]:
    yield
    CATALOG.forget_plugins()


def score_in_process(answer: str) -> assay.ScoreResult:
    return assay.run(lambda question: answer, GOLDEN, config="desk")


def test_a_result_its_cases_and_its_comparison_read_the_same_when_unpickled() -> None:
    scored = score_in_process("The fee is 12 euros.")
    again = pickle.loads(pickle.dumps(scored))
    assert str(scored) == str(again)
    assert scored.slices() == again.slices()
    assert scored.to_columns() == again.to_columns()
    case = pickle.loads(pickle.dumps(scored.cases[1]))
    assert scored.cases[1].explain(verbose=True) == case.explain(verbose=True)
    assert scored.cases[1].reasons["correct_answer"] == case.reasons["correct_answer"]
    assert str(scored.compare(scored)) == str(again.compare(scored))


def test_a_process_pool_returns_a_result() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        scored = pool.submit(score_in_process, "The fee is 12 euros.").result()
    assert ["door"] == [case.id for case in scored.failed]


def test_a_result_of_recorded_files_is_read_again_after_pickling(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text('{"case_id": "fee", "config_id": "desk", "answer": "It is 12 euros."}\n')
    scored = assay.score(GOLDEN, outputs)
    assert "It is 12 euros." == pickle.loads(pickle.dumps(scored)).cases[0].answer


READ_ELSEWHERE = """
import pickle, sys
import assay
result = pickle.loads(open(sys.argv[1], "rb").read())
print(result.metric("warmth").value)
print(result.cases[0].reasons["warmth"])
result.cases[0].explain(verbose=True)
print(len(assay.report(result, json=sys.argv[1] + ".json", html=sys.argv[1] + ".html")))
try:
    assay.run(lambda question: "b", [{"id": "a", "question": "Why?", "reference": "b"}], metrics="warmth")
except Exception as error:
    print(error)
"""


def test_a_metric_of_ones_own_keeps_its_numbers_where_its_function_is_not(tmp_path: Path) -> None:
    @assay.metric
    def warmth(case: Any, observation: Any) -> float:
        return 0.25

    measured = assay.run(lambda question: "12 euros", GOLDEN, metrics=[warmth, *assay.DEFAULT_METRICS])
    (tmp_path / "result.pickle").write_bytes(pickle.dumps(measured))
    command = [sys.executable, "-c", READ_ELSEWHERE, str(tmp_path / "result.pickle")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert ["0.25", "scored 0.25", "2"] == lines[:3]
    assert "expected its function: metrics=[…]" in lines[3]
