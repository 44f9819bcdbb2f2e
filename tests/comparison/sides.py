"""Sides of a comparison made by hand: scores by metric, attributions, ways of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from assay.records.findings import Attribution, ComparisonSide, EvidenceTrace
from assay.records.golden_set import Case
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn, ScoreTable
from assay.scoring.paired_scores import ScoreSnapshot, compute_definition_digest

E, N = "timeout", "no evidence"
Scores = Sequence[float | str]


def column(metric: str, scores: Scores) -> ScoreColumn:
    """A column from numbers, `E` (an error) and `N` (not applicable)."""
    reasons = ("", E, N)
    status = [SCORED if not isinstance(each, str) else ERROR if each == E else NOT_APPLICABLE for each in scores]
    codes = [reasons.index(each) if isinstance(each, str) else 0 for each in scores]
    values = np.array([0.0 if isinstance(each, str) else each for each in scores])
    return ScoreColumn(metric, values, np.array(status, np.uint8), np.array(codes, np.uint16), reasons)


def side(
    scores: Mapping[str, Scores],
    name: str = "c",
    *,
    cases: Sequence[Case] | None = None,
    attributions: Mapping[str, Attribution] | None = None,
    made_with: Mapping[str, str] | None = None,
    metrics: Sequence[str] = (),
    **fields: Any,
) -> ScoreSnapshot:
    """One side with the cases c0, c1 … unless others are given; `fields` are those of its `ComparisonSide`."""
    size = len(next(iter(scores.values())))
    cases = cases or [Case(f"c{row}", "?") for row in range(size)]
    ids = [case.id for case in cases]
    table = ScoreTable("x", ids, {metric: column(metric, each) for metric, each in scores.items()}, (), ())
    names = tuple(metrics or scores)
    made = replace(ComparisonSide(name, name, "sha256:golden", size, stage="retrieved"), **fields)
    definitions = {metric: compute_definition_digest(metric) for metric in names}
    return ScoreSnapshot(made, table, cases, names, definitions, attributions or {}, made_with or {})


def make_trace(unit: int = 0, *, required: bool = True, **ranks: int | None) -> EvidenceTrace:
    """The way of one unit of evidence, called u0, u1 …; stages are the keywords, in order."""
    return EvidenceTrace(unit, f"u{unit}", 3, required, dict(ranks))
