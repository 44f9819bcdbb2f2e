"""Drawing passes: the first of the whole order, although the rules look at few answers more than are drawn."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.metrics.answers.answer_behaviour import AnswerFacts
from assay.metrics.cases.settled_answers import SETTLED_METRICS
from assay.metrics.catalog import compute_column, parse_metric
from assay.metrics.metric import Batch, JoinedRows
from assay.scoring import collect_passes
from assay.scoring.collect_passes import DrawnPass, draw_passes
from assay.scoring.passed_answers import NOT_PASSED, UNREAD, find_passes
from assay.scoring.scored_run import ScoredRun

CONFIG = "outputs"


def make_run(cases: int) -> ScoredRun:
    golden: list[dict[str, Any]] = []
    outputs: list[dict[str, Any]] = []
    for number in range(cases):
        is_known = number % 5 > 0
        behaviour = {"must_have": [f"{number + 20} metres"]} if is_known else {"behaviour": "abstain"}
        golden.append({"id": f"wall-{number}", "question": f"How high is wall {number}?", **behaviour})
        said = f"It is {number + 20} metres high." if number % 3 else "I could not find that." if number % 2 else ""
        outputs.append({"case_id": f"wall-{number}", "answer": said})
    return assay.score(golden, outputs, progress=False).run


def draw_from_all(run: ScoredRun, size: int) -> list[DrawnPass]:
    """Return the draw as it is defined: every answer examined, then sorted."""
    batch = Batch([(AnswerFacts, ())])
    cases = [run.joins.case_index(position) for position in range(len(run.golden.cases))]
    observations = [run.read_observation(CONFIG, case.case.id) for case in cases]
    batch.add_rows(JoinedRows(cases, [row for row in observations if row is not None]))
    passes = find_passes(batch, {name: compute_column(batch, parse_metric(name)) for name in SETTLED_METRICS})
    return sorted(
        DrawnPass(
            int(passes.draws[row]),
            case.case.id,
            SETTLED_METRICS[passes.metrics[row]],
            bool(passes.readings[row] == UNREAD),
        )
        for row, case in enumerate(cases)
        if passes.metrics[row] != NOT_PASSED
    )[:size]


@pytest.mark.parametrize("size", [1, 7, 60, 1000])
def test_the_draw_is_the_beginning_of_the_whole_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(90)
    expected = draw_from_all(run, size)
    assert {"correct_answer", "behaviour"} >= {one.metric for one in expected}
    for rows in (1, 13, 64):
        monkeypatch.setattr(collect_passes, "_FIRST_ROWS", rows)
        assert expected == draw_passes(run, CONFIG, size)


@pytest.mark.slow
def test_few_answers_are_examined_for_a_small_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(900)
    examined: list[int] = []
    find = collect_passes._find_passes

    def count(run: ScoredRun, config: str, positions: list[int]) -> Any:
        examined.extend(positions)
        return find(run, config, positions)

    monkeypatch.setattr(collect_passes, "_find_passes", count)
    assert 20 == len(draw_passes(run, CONFIG, 20))
    assert len(examined) == len(set(examined)) <= 200
