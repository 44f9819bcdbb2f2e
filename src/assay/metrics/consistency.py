"""Consistency: whether a system treats all variants of a case as it treats the case that they vary (ADR 82, 92).

The score of a case is made from its own row and those of its variants, so that it is a metric of whole tables.
"""

from __future__ import annotations

from assay.metrics.metric import Metric

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
