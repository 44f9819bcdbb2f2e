"""Which cases fail on one side of a comparison alone: the outcome of a case comes before any single metric of it."""

from __future__ import annotations

from msgspec import Struct

from assay.records.findings import Attribution, Comparison, list_leaking_cases

_FAILED = "failed"


class FlippedCases(Struct, frozen=True):
    """The cases that fail with the candidate alone, those that fail with the baseline alone, and those that fail with
    both, with the candidate in another way.

    They are in golden order, but those that leak now, or leak more than before, come first.
    """

    fail_now: tuple[str, ...]
    fail_no_longer: tuple[str, ...]
    fail_too: tuple[str, ...] = ()


def list_flipped_cases(comparison: Comparison) -> FlippedCases:
    """Return the cases whose outcome differs, by the metric `failed`, else by their attributions."""
    failed = comparison.metrics.get(_FAILED)
    if failed is not None:
        fail_now, no_longer = tuple(failed.regressed), tuple(failed.improved)
    else:
        fail_now = tuple(case.case_id for case in comparison.cases if _fails(case.after) and not _fails(case.before))
        no_longer = tuple(case.case_id for case in comparison.cases if _fails(case.before) and not _fails(case.after))
    leaking = list_leaking_cases(comparison)
    leaking_now = {*leaking.now_alone, *leaking.more_now}
    flipped = {*fail_now, *no_longer}
    too = tuple(case.case_id for case in comparison.cases if case.fails_too and case.case_id not in flipped)
    return FlippedCases(tuple(sorted(fail_now, key=lambda case_id: case_id not in leaking_now)), no_longer, too)


def _fails(attribution: Attribution | None) -> bool:
    return attribution is not None and attribution.verdict not in ("pass", "unknown")
