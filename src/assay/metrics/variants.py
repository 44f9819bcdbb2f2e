"""Metrics of variants: whether a system treats them as it treats their case where it should, and otherwise where not.

The score of a case is made from its own row and those of its variants (ADR 82, 92, 115), so that these are metrics of
whole tables.
"""

from __future__ import annotations

from assay.metrics.metric import Metric, MetricKey
from assay.records.golden_set import DIFFERING_KINDS

CONSISTENCY, TWIN_DISTINCTION = "consistency", "twin_distinction"
NO_ALIKE_VARIANTS = "no variants to be treated alike"
NO_DIFFERING_VARIANTS = "no variants of which another answer is right"
VARIANTS_ARE_CASES = "variants count as cases"
UNKNOWN_REASON = "unknown: nothing tells whether variants were treated alike"
"""Why a case is neither consistent nor inconsistent; it is counted as an unknown answer is (ADR 53)."""
UNKNOWN_DISTINCTION_REASON = "unknown: nothing tells whether the case and its variants were told apart"
"""Why a case is neither told apart from its variants nor confused with them; counted likewise."""
ALL_KINDS = "all"
VARIANTS_FAMILY = "variants"

VARIANT_METRICS: tuple[Metric, ...] = (
    Metric(
        name=CONSISTENCY,
        family=VARIANTS_FAMILY,
        summary="Whether all variants of the case that should be treated alike have its verdict, behaviour and answer.",
        source="ADR 82; share of consistent groups as in CheckList invariance tests (Ribeiro et al. 2020)",
        statistic="rate",
        undefined="no variants to be treated alike, variants that count as cases, or nothing tells",
    ),
    Metric(
        name=TWIN_DISTINCTION,
        family=VARIANTS_FAMILY,
        summary="Whether the case is told apart from all its variants of which another answer is right.",
        source="ADR 115; contrast consistency over contrast sets (Gardner et al. 2020)",
        statistic="rate",
        undefined="no variants of which another answer is right, variants that count as cases, or nothing tells",
        keys={
            "kind": MetricKey(ALL_KINDS, (ALL_KINDS, *DIFFERING_KINDS), "which variants count: all, or those of a kind")
        },
    ),
)
"""Consistency over the variants to be treated alike, and distinction of those of which another answer is right."""
