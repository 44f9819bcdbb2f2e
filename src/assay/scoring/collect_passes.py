"""Draws the answers that rules passed and that people should read, to learn how often a pass is wrong (ADR 188)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assay.metrics.answers.answer_behaviour import AnswerFacts
from assay.metrics.cases.settled_answers import SETTLED_METRICS, SettledMetric
from assay.metrics.catalog import compute_column, parse_metric
from assay.metrics.metric import Batch, JoinedRows
from assay.scoring.passed_answers import NOT_PASSED, UNREAD, find_passes, number_draw
from assay.scoring.scored_run import ScoredRun

_BLOCK_ROWS = 1024
_FIRST_ROWS = 64
"""How many answers are examined at first: of most runs, more than half pass."""


class DrawnPass(NamedTuple):
    """An answer that rules passed: its case, and whether people should say that it is right, or what it does.

    `draw` is its place in the order in which passes are drawn, lowest first. `is_unread`: nobody labelled it.
    """

    draw: int
    case_id: str
    metric: SettledMetric
    is_unread: bool


class _Candidate(NamedTuple):
    """An answer in the order of the draw, as it would be if rules passed it by this metric."""

    draw: int
    case_id: str
    metric: SettledMetric
    position: int


def draw_passes(run: ScoredRun, config: str, size: int) -> list[DrawnPass]:
    """Return the first so many passes of a configuration, in the order of the draw; of repeats, the first counts.

    All passes if there are fewer. The place of an answer in the order does not depend on whether it passed, so that the
    rules look at few answers more than are drawn.
    """
    candidates = _list_candidates(run, config)
    passed: dict[int, tuple[str, bool]] = {}
    drawn: list[DrawnPass] = []
    for place, candidate in enumerate(candidates):
        if candidate.position not in passed:
            block = [later.position for later in candidates[place : place + _choose_rows(place)]]
            passed |= _find_passes(run, config, [row for row in dict.fromkeys(block) if row not in passed])
        metric, is_unread = passed[candidate.position]
        if metric == candidate.metric:
            drawn.append(DrawnPass(candidate.draw, candidate.case_id, candidate.metric, is_unread))
        if len(drawn) == size:
            break
    return drawn


def _choose_rows(place: int) -> int:
    """Return how many answers to examine at once: as many again as were looked at so far, within bounds."""
    return min(max(place, _FIRST_ROWS), _BLOCK_ROWS)


def _list_candidates(run: ScoredRun, config: str) -> list[_Candidate]:
    """Return every answer with a text, once for each metric by which it may have passed, in the order of the draw."""
    candidates = []
    for position, case in enumerate(run.golden.cases):
        observation = run.read_observation(config, case.id)
        if observation is None or not isinstance(observation.answer, str) or not observation.answer.strip():
            continue
        for metric in SETTLED_METRICS:
            draw = number_draw(run.joins.case_index(position), metric, observation.answer)
            candidates.append(_Candidate(draw, case.id, metric, position))
    return sorted(candidates)


def _find_passes(run: ScoredRun, config: str, positions: Sequence[int]) -> dict[int, tuple[str, bool]]:
    """Return of the answers to some cases by which metric each passed, "" for none, and whether nobody labelled it."""
    cases, observations = [], []
    for position in positions:
        observation = run.read_observation(config, run.golden.cases[position].id)
        assert observation is not None  # it is a candidate
        cases.append(run.joins.case_index(position))
        observations.append(observation)
    batch = Batch([(AnswerFacts, ())])
    batch.add_rows(JoinedRows(cases, observations))
    passes = find_passes(batch, {name: compute_column(batch, parse_metric(name)) for name in SETTLED_METRICS})
    readings: dict[int, tuple[str, bool]] = {}
    for row, position in enumerate(positions):
        is_passed = passes.metrics[row] != NOT_PASSED
        metric = SETTLED_METRICS[passes.metrics[row]] if is_passed else ""
        readings[position] = metric, bool(passes.readings[row] == UNREAD)
    return readings
