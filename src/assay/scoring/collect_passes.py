"""Draws the answers that rules passed and that people should read, to learn how often a pass is wrong (ADR 188)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from assay.metrics.answers.answer_behaviour import AnswerFacts
from assay.metrics.cases.settled_answers import SETTLED_METRICS, SettledMetric
from assay.metrics.catalog import compute_column, parse_metric
from assay.metrics.metric import Batch, JoinedRows
from assay.scoring.passed_answers import NOT_PASSED, UNREAD, find_passes
from assay.scoring.scored_run import ScoredRun

_BLOCK_ROWS = 1024


class DrawnPass(NamedTuple):
    """An answer that rules passed: its case, and whether people should say that it is right, or what it does.

    `draw` is its place in the order in which passes are drawn, lowest first. `is_unread`: nobody labelled it.
    """

    draw: int
    case_id: str
    metric: SettledMetric
    is_unread: bool


def draw_passes(run: ScoredRun, config: str, size: int) -> list[DrawnPass]:
    """Return the first so many passes of a configuration, in the order of the draw; of repeats, the first counts.

    All passes if there are fewer.
    """
    return sorted(_list_passes(run, config))[:size]


def _list_passes(run: ScoredRun, config: str) -> Iterator[DrawnPass]:
    for start in range(0, len(run.golden.cases), _BLOCK_ROWS):
        cases, observations = [], []
        for position in range(start, min(start + _BLOCK_ROWS, len(run.golden.cases))):
            observation = run.read_observation(config, run.golden.cases[position].id)
            if observation is not None:
                cases.append(run.joins.case_index(position))
                observations.append(observation)
        batch = Batch([(AnswerFacts, ())])
        batch.add_rows(JoinedRows(cases, observations))
        passes = find_passes(batch, {name: compute_column(batch, parse_metric(name)) for name in SETTLED_METRICS})
        for row, case in enumerate(cases):
            if passes.metrics[row] != NOT_PASSED:
                metric, is_unread = SETTLED_METRICS[passes.metrics[row]], bool(passes.readings[row] == UNREAD)
                yield DrawnPass(int(passes.draws[row]), case.case.id, metric, is_unread)
