"""How many cases passed, failed or are unknown: the one count behind every output (ADR 0054).

A case failed if it failed a check, and then it has a cause. It is unknown if it did not fail and nothing that was
measured tells whether its answer is right. It passed otherwise.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay.metrics.case_checks import MISSING_OUTPUT, TARGET_ERROR, UNKNOWN_ANSWER
from assay.records.scores import CaseChecks, ConfigResult, ScoreTable

CaseOutcome = Literal["passed", "failed", "unknown"]


UNANSWERED_CHECKS = frozenset({MISSING_OUTPUT, TARGET_ERROR})
"""What a case fails of which there is no answer, and nothing to say about its quality."""


class CaseCounts(Struct, frozen=True):
    """The cases of one configuration; `passed`, `failed` and `unknown` add up to `cases`.

    `unanswered` of the failed ones have no answer, because the target failed or was not asked.
    """

    cases: int
    passed: int
    failed: int
    unknown: int
    unanswered: int = 0


def classify_checks(checks: CaseChecks | None) -> CaseOutcome:
    """Return the outcome of a case by its checks, None if it failed and warned of none."""
    if checks is None:
        return "passed"
    if checks.failed:
        return "failed"
    return "unknown" if UNKNOWN_ANSWER in checks.warnings else "passed"


def list_failed_cases(result: ConfigResult) -> list[str]:
    """Return the cases that failed a check, in golden order."""
    return find_failed_cases(result.table)


def find_failed_cases(table: ScoreTable) -> list[str]:
    """Return the cases of a table that failed a check, in golden order."""
    return _list_cases(table, "failed")


def list_unknown_cases(result: ConfigResult) -> list[str]:
    """Return the cases that failed nothing and whose answer nobody can tell, in golden order."""
    return find_unknown_cases(result.table)


def find_unknown_cases(table: ScoreTable) -> list[str]:
    """Return the cases of a table that failed nothing and whose answer nobody can tell, in golden order."""
    return _list_cases(table, "unknown")


def find_passed_cases(table: ScoreTable) -> list[str]:
    """Return the cases of a table that neither failed nor are unknown, in golden order."""
    others = {checks.case_id for checks in table.checks if classify_checks(checks) != "passed"}
    return [case_id for case_id in table.case_ids if case_id not in others]


def _list_cases(table: ScoreTable, outcome: CaseOutcome) -> list[str]:
    cases = {checks.case_id for checks in table.checks if classify_checks(checks) == outcome}
    return [case_id for case_id in table.case_ids if case_id in cases]


def count_cases(result: ConfigResult) -> CaseCounts:
    """Return how many cases of a configuration passed, failed and are unknown."""
    failed, unknown = len(list_failed_cases(result)), len(list_unknown_cases(result))
    cases = len(result.table.case_ids)
    return CaseCounts(cases, cases - failed - unknown, failed, unknown, count_unanswered(result.table))


def count_unanswered(table: ScoreTable) -> int:
    """Return how many cases failed because there is no answer, and for no other reason."""
    return len(find_unanswered_cases(table))


def find_unanswered_cases(table: ScoreTable) -> list[str]:
    """Return the cases that failed because there is no answer, and for no other reason."""
    return [checks.case_id for checks in table.checks if checks.failed and UNANSWERED_CHECKS.issuperset(checks.failed)]


def format_case_counts(counts: CaseCounts) -> str:
    """Return counts as text; unknown and unanswered cases are left out where there are none.

    >>> format_case_counts(CaseCounts(41, 35, 4, 2)), format_case_counts(CaseCounts(41, 36, 5, 0, 2))
    ('4 of 41 failed, 2 of the others unknown', '5 of 41 failed (2 without an answer)')
    >>> format_case_counts(CaseCounts(41, 35, 4, 2, 4))
    '4 of 41 without an answer, 2 of the others unknown'
    """
    among = " of the others" if counts.failed else ""
    unknown = f", {counts.unknown}{among} unknown" if counts.unknown else ""
    if counts.failed and counts.unanswered == counts.failed:
        return f"{counts.failed} of {counts.cases} without an answer{unknown}"
    unanswered = f" ({counts.unanswered} without an answer)" if counts.unanswered else ""
    return f"{counts.failed} of {counts.cases} failed{unanswered}{unknown}"
