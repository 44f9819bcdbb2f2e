"""Outdated chunks: a metric of their own, because a superseded version of a document is not forbidden."""

from __future__ import annotations

import numpy as np

from assay.graders.base import Batch, FactKey, Grader, Key, column, not_applicable
from assay.graders.names import MetricName
from assay.graders.rows import Rows
from assay.graders.stages import CONTEXT
from assay.model import ScoreColumn


class StaleFacts:
    """How many chunks of a stage belong to a superseded version; None where the corpus does not say."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.values: list[int | None] = []
        self.dated: list[bool] = []

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""
        for case, ranked_stage in zip(rows.cases, rows.ranked(self.stage), strict=True):
            superseded = case.joins.superseded(case.as_of)
            self.dated.append(superseded is not None)
            self.values.append(
                superseded.count(ranked_stage.stage.chunks)
                if ranked_stage is not None and superseded is not None
                else None
            )


def _stale_column(batch: Batch, name: MetricName) -> ScoreColumn:
    facts = batch.of(StaleFacts, _stale_stage(name))
    return column(
        name,
        np.array([value or 0.0 for value in facts.values], dtype=np.float64),
        not_applicable([not dated for dated in facts.dated], "no corpus"),
        *batch.target_errors,
        not_applicable([value is None for value in facts.values], "no dated versions to compare"),
    )


def _stale_stage(name: MetricName) -> str:
    return name.key("stage", CONTEXT)


def _need_stale(name: MetricName) -> tuple[FactKey, ...]:
    return ((StaleFacts, (_stale_stage(name),)),)


GRADERS: tuple[Grader, ...] = (
    Grader(
        name="stale_chunks",
        family="visibility",
        summary="Chunks of a superseded version of their document.",
        source="ADR 0026: outdated chunks are a metric of their own",
        unit="count",
        direction="lower",
        high=float("inf"),
        keys={"stage": Key(CONTEXT, doc="the stage whose chunks are counted")},
        undefined="no corpus that dates the versions, or the stage was not reported",
        needs=_need_stale,
        compute=_stale_column,
    ),
)
