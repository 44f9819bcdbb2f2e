"""Which changes of a comparison are significant, although many metrics and slices are tested at once (ADR 49).

Every test belongs to one of two families, each of which may err in a share of the comparisons of equal systems:
headline metrics over all cases (0.04), slices and all other metrics (0.01), both by Benjamini and Hochberg. Without a
test in the second its share goes to the headlines. The metrics of variants are a family of their own beside them, and
so are the rules of a gate on slices that nobody else asked for. A gate changes nothing else: its rules decide by tests
of their own, and what is said of a metric is the same with every gate and without one. The interval of a gain belongs
to its test: that of the false coverage rate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.template_columns import FAILED, HEADLINES, find_first_present
from assay.metrics.variants import VARIANTS_FAMILY
from assay.records.findings import MetricChange
from assay.scoring.change_tests import ChangeTest, ClaimLevel
from assay.stats.multiple_testing import adjust_benjamini_hochberg

Family = Literal["gated", "headline", "other", "variants"]
FAMILY_SHARES: Mapping[Family, float] = {"headline": 0.04, "other": 0.01}
APART_SHARES: Mapping[Family, float] = {"variants": 0.05, "gated": 0.02}
"""Those of the metrics of variants, over all slices, and of what a gate alone asks for: apart from all other tests, so
that neither changes another p-value (ADR 92, 115, 49)."""


class ChangeSlot(NamedTuple):
    """One test of a comparison: the index of the candidate, the metric, and the slice (None: all cases)."""

    candidate: int
    metric: str
    slice: str | None


def conclude_changes(
    tests: Mapping[ChangeSlot, ChangeTest], gate_slices: Collection[str] = ()
) -> dict[ChangeSlot, MetricChange]:
    """Return every change with its adjusted p-value, its interval and its verdict, in the order of `tests`.

    `gate_slices` are those that only a gate names. Several candidates form one family with each other. A test that
    could show nothing even alone, because too few cases differ, is not counted, and keeps its own p-value (ADR 236).
    """
    families = _assign_families(tests, gate_slices)
    shares = share_error_rate({family for family, slots in families.items() if slots})
    changes = {slot: test.change for slot, test in tests.items()}
    for family, slots in families.items():
        if not slots:
            continue
        share = shares[family]
        counted = [slot for slot in slots if tests[slot].find_least_p() <= share]
        p_values = [tests[slot].change.p or 0.0 for slot in counted]
        adjusted = adjust_benjamini_hochberg(p_values)
        level = ClaimLevel(family, share, compute_confidence(share, adjusted))
        for slot, p_adjusted in zip(counted, adjusted, strict=True):
            changes[slot] = tests[slot].conclude(level, p_adjusted)
        for slot in set(slots).difference(counted):
            change = tests[slot].conclude(level, tests[slot].change.p or 0.0)
            changes[slot] = replace(change, counted=False)
    return changes


def share_error_rate(families: Collection[Family]) -> dict[Family, float]:
    """Return the share of each of the families that have a test; that of the others goes to the headlines.

    >>> share_error_rate(["headline", "other"])
    {'headline': 0.04, 'other': 0.01}
    """
    shares = {family: share for family, share in FAMILY_SHARES.items() if family in families}
    if "headline" in shares:
        shares["headline"] = round(sum(FAMILY_SHARES.values()) - sum(shares.values()) + shares["headline"], 9)
    return shares | {family: share for family, share in APART_SHARES.items() if family in families}


def compute_confidence(share: float, adjusted: Sequence[float]) -> float:
    """Return the confidence of the intervals of a family, by its adjusted p-values.

    1 − R·share/m with R changes selected of m (Benjamini and Yekutieli 2005). Without a p-value, that of one test.
    """
    selected = max(1, sum(p <= share for p in adjusted))
    return 1 - selected * share / max(1, len(adjusted))


def _is_of_variants(metric: str) -> bool:
    return find_metric(parse_metric(metric)).family == VARIANTS_FAMILY


def _assign_families(
    tests: Mapping[ChangeSlot, ChangeTest], gate_slices: Collection[str]
) -> dict[Family, list[ChangeSlot]]:
    """Return the tests of each family; without a headline metric the metrics over all cases take their place."""
    tested = [slot for slot, test in tests.items() if test.change.p is not None]
    families: dict[Family, list[ChangeSlot]] = {"gated": [], "headline": [], "other": [], "variants": []}
    families["gated"] = [slot for slot in tested if slot.slice in gate_slices]
    asked_for = [slot for slot in tested if slot.slice not in gate_slices]
    families["variants"] = [slot for slot in asked_for if _is_of_variants(slot.metric)]
    others = [slot for slot in asked_for if not _is_of_variants(slot.metric)]
    measured = {slot.metric for slot in others if slot.slice is None}
    headlines = {find_first_present(names, measured) for _, names in HEADLINES}
    if headlines <= {None, *FAILED}:  # always compared: by itself it takes no other metric's place
        headlines = {*measured}
    for slot in others:
        families["headline" if slot.slice is None and slot.metric in headlines else "other"].append(slot)
    return families
