"""Consistency: whether a system treats all variants of a case as it treats the case that they vary (ADR 82, 92).

The score of a case is made from its own row and those of its variants, so that it is a metric of whole tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from assay.metrics.metric import Metric, MetricName, make_score_column, rows_not_applicable
from assay.records.golden_set import ALIKE_KINDS, Case
from assay.records.scores import ScoreColumn, TwinResult, VariantState

CONSISTENCY = "consistency"
NO_ALIKE_VARIANTS = "no variants to be treated alike"
VARIANTS_ARE_CASES = "variants count as cases"
UNKNOWN_REASON = "unknown: nothing tells whether variants were treated alike"
"""Why a case is neither consistent nor inconsistent; it is counted as an unknown answer is (ADR 53)."""

CONSISTENCY_METRICS: tuple[Metric, ...] = (
    Metric(
        name=CONSISTENCY,
        family="variants",
        summary="Whether all variants of the case that should be treated alike have its verdict, behaviour and answer.",
        source="ADR 82; share of consistent groups as in CheckList invariance tests (Ribeiro et al. 2020)",
        statistic="rate",
        undefined="no variants to be treated alike, variants that count as cases, or nothing tells",
    ),
)
"""Consistency over variants of a case."""


def make_consistency_column(cases: Sequence[Case], alike: Collection[str], twins: TwinResult | None) -> ScoreColumn:
    """Return whether each of some cases was treated as its variants were.

    `alike` are the ids of the cases that have variants to be treated alike; no `twins` means that none was observed.
    """
    states: dict[str, set[VariantState]] = {}
    for pair in twins.pairs if twins is not None else ():
        if pair.kind in ALIKE_KINDS:
            states.setdefault(pair.case_id, set()).add(pair.state)
    inconsistent = np.array(["not as expected" in states.get(case.id, ()) for case in cases], dtype=np.bool_)
    unknown = np.array([twins is None or "unknown" in states.get(case.id, ()) for case in cases], dtype=np.bool_)
    return make_score_column(
        MetricName(CONSISTENCY),
        1.0 - inconsistent.astype(np.float64),
        rows_not_applicable([case.id not in alike for case in cases], NO_ALIKE_VARIANTS),
        rows_not_applicable(unknown & ~inconsistent, UNKNOWN_REASON),
    )
