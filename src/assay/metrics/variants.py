"""Metrics of variants: whether a system treats them as it treats their case where it should, and otherwise where not.

The score of a case is made from its own row and those of its variants (ADR 82, 92, 115), so that these are metrics of
whole tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from assay.metrics.metric import Metric, MetricKey, MetricName, make_score_column, rows_not_applicable
from assay.records.golden_set import ALIKE_KINDS, DIFFERING_KINDS, Case
from assay.records.scores import ScoreColumn, TwinResult, VariantState

CONSISTENCY, TWIN_DISTINCTION = "consistency", "twin_distinction"
NO_ALIKE_VARIANTS = "no variants to be treated alike"
NO_DIFFERING_VARIANTS = "no variants of which another answer is right"
VARIANTS_ARE_CASES = "variants count as cases"
LEAKED_VARIANT = "leak (variant)"
"""What happened where the variant of a case shows its user what this user must not see."""
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


def make_variant_column(
    cases: Sequence[Case], variants: Sequence[Case], twins: TwinResult | None, name: MetricName
) -> ScoreColumn:
    """Return a metric of variants for each of some cases: whether all variants that it looks at are as expected.

    `variants` are those of the golden set, observed or not; no `twins` means that none was observed.
    """
    kinds, no_variants, unknown_reason = _list_kinds(name)
    varied = {variant.variant_of for variant in variants if variant.variant in kinds}
    states: dict[str, set[VariantState]] = {}
    for pair in twins.pairs if twins is not None else ():
        if pair.kind in kinds:
            states.setdefault(pair.case_id, set()).add(pair.state)
    unexpected = np.array(["not as expected" in states.get(case.id, ()) for case in cases], dtype=np.bool_)
    unknown = np.array([twins is None or "unknown" in states.get(case.id, ()) for case in cases], dtype=np.bool_)
    return make_score_column(
        name,
        1.0 - unexpected.astype(np.float64),
        rows_not_applicable([case.id not in varied for case in cases], no_variants),
        rows_not_applicable(unknown & ~unexpected, unknown_reason),
    )


def _list_kinds(name: MetricName) -> tuple[Collection[str], str, str]:
    """Return the kinds of variants that a metric looks at, why a case without any has no score, and an open one."""
    if name.base == CONSISTENCY:
        return ALIKE_KINDS, NO_ALIKE_VARIANTS, UNKNOWN_REASON
    kind = name.key_value("kind", ALL_KINDS)
    kinds = DIFFERING_KINDS if kind == ALL_KINDS else (kind,)
    return kinds, NO_DIFFERING_VARIANTS, UNKNOWN_DISTINCTION_REASON
