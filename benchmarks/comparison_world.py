"""Pairs of systems whose true difference is known, as the score tables that `assay compare` reads.

Two exchangeable systems score each case by the same law: a common difficulty of the case, and for each system its own
luck on the case and on the cluster of the case, so that differences are correlated within clusters, between metrics and
between a case's slices. Every default metric is measured: rates, scores in steps, smooth scores, rare events, latencies
and costs with outliers; some of them apply to a part of the cases only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.metrics.catalog import DEFAULT_METRICS, case_column_name, find_metric, parse_metric
from assay.records.findings import ComparisonSide
from assay.records.golden_set import Case
from assay.records.scores import NOT_APPLICABLE, SCORED, ScoreColumn, ScoreTable
from assay.scoring.paired_scores import ScoreSnapshot, compute_definition_digest

Scores = npt.NDArray[np.float64]
METRICS = tuple(metric for metric in DEFAULT_METRICS if find_metric(parse_metric(metric)).statistic != "balanced")
COLUMNS = tuple(dict.fromkeys(str(case_column_name(parse_metric(metric))) for metric in METRICS))
DEFINITIONS = {metric: compute_definition_digest(metric) for metric in METRICS}
CLUSTER_SIZES = (1, 1, 2, 3, 3, 5, 9)
OUTLIERS = 0.04
TAGS = ("hr", "it", "legal", "travel", "acl")


class World(NamedTuple):
    """Cases with their clusters: the index of the cluster of each case, shape (n,), or None without clusters."""

    cases: tuple[Case, ...]
    clusters: npt.NDArray[np.intp] | None


def make_world(n: int, *, clustered: bool, seed: int) -> World:
    """Return `n` cases with tags, difficulty, behaviour and language; clusters have 1 to 9 cases."""
    generator = np.random.Generator(np.random.PCG64([seed, n]))
    codes = None
    if clustered:
        sizes = np.resize(CLUSTER_SIZES, n)
        codes = np.repeat(np.arange(n), sizes)[:n]
    cases = []
    for row in range(n):
        tags = tuple(tag for tag in TAGS if generator.random() < 0.3)
        cases.append(
            Case(
                f"c{row}",
                "?",
                behaviour="abstain" if generator.random() < 0.15 else "answer",
                tags=tags,
                difficulty=("easy", "medium", "hard")[int(generator.integers(3))],
                language=("en", "vi")[int(generator.random() < 0.3)],
                cluster=f"k{codes[row]}" if codes is not None else None,
            )
        )
    return World(tuple(cases), codes)


def draw_latents(generator: np.random.Generator, world: World, repeats: int) -> Scores:
    """Return the luck of one system on each case, metric and repeat, shape (repeats, n, columns)."""
    n = len(world.cases)
    luck = 0.6 * generator.standard_normal((1, n, 1)) + 0.8 * generator.standard_normal((repeats, n, len(COLUMNS)))
    if world.clusters is None:
        return luck
    shared = generator.standard_normal(int(world.clusters[-1]) + 1)[world.clusters]
    return np.asarray(0.7 * luck + 0.7 * shared[None, :, None])


def score_latents(latents: Scores, difficulty: Scores, spikes: Scores) -> dict[str, Scores]:
    """Return the scores of every column, shape (n,), as means of the repeats: each column has its own kind of score."""
    scores = {}
    for index, column in enumerate(COLUMNS):
        metric_row = find_metric(parse_metric(column))
        levels = latents[:, :, index] - difficulty
        kind = index % 5
        if metric_row.family == "operations" and not np.isfinite(metric_row.high):
            values = np.exp(6 + 0.5 * levels) * np.where(spikes[:, :, index] < OUTLIERS, 20.0, 1.0)
        elif not np.isfinite(metric_row.high):
            values = (levels > 2.2).astype(float) + (levels > 3.0)
        elif metric_row.statistic == "rate" or kind in (0, 1):
            values = (levels > (-1.2, -0.3, -2.2)[index % 3]).astype(float)
        elif kind == 2:
            values = np.clip(np.floor(levels + 3), 0, 4) / 4
        elif kind == 3:
            values = np.where(levels < -2.5, 0.0, 1.0 - 0.1 * (levels > 1.5))
        else:
            values = 1 / (1 + np.exp(-levels))
        scores[column] = values.mean(axis=0)
    return scores


def draw_sides(
    generator: np.random.Generator, world: World, count: int, *, repeats: int = 1
) -> list[dict[str, Scores]]:
    """Return the scores of `count` exchangeable systems on the same cases."""
    difficulty = generator.standard_normal(len(world.cases))
    shape = (repeats, len(world.cases), len(COLUMNS))
    return [
        score_latents(draw_latents(generator, world, repeats), difficulty, generator.random(shape))
        for _ in range(count)
    ]


def make_snapshot(
    world: World, scores: Mapping[str, Scores], name: str, metrics: Sequence[str] = METRICS
) -> ScoreSnapshot:
    """Return the scores of one system as a side; every seventh column applies to a third of the cases only."""
    n = len(world.cases)
    columns, reason = {}, np.zeros(n, np.uint16)
    partly = np.where(np.arange(n) % 3 == 0, SCORED, NOT_APPLICABLE).astype(np.uint8)
    fully = np.full(n, SCORED, np.uint8)
    for index, (column, values) in enumerate(scores.items()):
        columns[column] = ScoreColumn(column, values, partly if index % 7 == 5 else fully, reason, ("",))
    table = ScoreTable(name, tuple(case.id for case in world.cases), columns, (), ())
    side = ComparisonSide(name, name, "sha256:golden", n, stage="retrieved")
    return ScoreSnapshot(side, table, world.cases, tuple(metrics), DEFINITIONS)
