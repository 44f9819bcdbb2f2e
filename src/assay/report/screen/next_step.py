"""What to look at after a run: the failed case to explain first, and whether answers are open or were passed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.metrics.case_checks import CORRECT_ANSWER, LEAK
from assay.records.findings import Comparison
from assay.records.scores import SCORED, CaseChecks, ScoringResult
from assay.report.findings.flipped_cases import list_flipped_cases
from assay.report.screen.decision_lines import order_worst_first
from assay.scoring.case_outcomes import UNANSWERED_CHECKS, count_cases
from assay.scoring.column_values import count_cases_without_verdict


def find_case_to_explain(
    scoring: ScoringResult, comparisons: Mapping[str, Comparison] = MappingProxyType({})
) -> tuple[str, str] | None:
    """Return the configuration and the id of the failed case to look at first, which the screen lists first: one that
    leaked, else the first that did not fail in the baseline, else the first one of the worst configuration.

    None if no case failed. Where the target answered nothing, no case explains why.
    """
    new_cases = {config: list_flipped_cases(compared).fail_now for config, compared in comparisons.items()}
    failed = [
        (config, checks)
        for config, result in ((config, scoring.configs[config]) for config in order_worst_first(scoring))
        if result.decision is None or not result.decision.unanswered
        for checks in result.table.checks
        if checks.failed
    ]
    if not failed:
        return None
    config, checks = min(
        failed, key=lambda item: (_rank_checks(item[1]), item[1].case_id not in new_cases.get(item[0], ()))
    )  # the first of the smallest
    return config, checks.case_id


def lacks_verdicts(scoring: ScoringResult) -> bool:
    """Return whether verdicts are all that is missing for a decision: nothing leaked, and every target answered."""
    decision = scoring.decision
    if decision.outcome != "INCOMPLETE" or decision.events or any(scoring.failures.values()):
        return False
    open_results = [result for result in scoring.configs.values() if result.decision is not None]
    return any(count_cases_without_verdict(result.table) for result in open_results)


def has_open_answers(scoring: ScoringResult) -> bool:
    """Return whether there are cases that failed nothing and of whose answer nobody can tell."""
    return any(count_cases(result).unknown for result in scoring.configs.values())


def has_passed_answers(scoring: ScoringResult) -> bool:
    """Return whether rules passed an answer."""
    columns = [result.table.columns.get(CORRECT_ANSWER) for result in scoring.configs.values()]
    return any(
        bool(((column.status == SCORED) & (column.values == 1)).any()) for column in columns if column is not None
    )


def _rank_checks(checks: CaseChecks) -> int:
    if LEAK in checks.failed:
        return 0
    return 2 if UNANSWERED_CHECKS.issuperset(checks.failed) else 1
