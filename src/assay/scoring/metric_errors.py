"""What a comparison makes of cases that could not be measured: a metric of one's own failed, or a label is outdated.

A run counts such a case as failed, so that nobody takes it for measured (ADR 173). A comparison says what became of the
system: there such a case failed only if it failed another check, and is unknown otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

import numpy as np
from msgspec.structs import replace

from assay.metrics.case_checks import METRIC_ERROR, OUTDATED_LABEL, UNKNOWN_ANSWER
from assay.metrics.own_metric import find_own_failures
from assay.metrics.template_columns import FAILED
from assay.records.counts import format_count
from assay.records.findings import LABEL_FAILURES, METRIC_ERRORS
from assay.records.scores import CaseChecks, ScoreTable
from assay.scoring.column_values import format_case_ids

(_FAILED,) = FAILED


def forgive_metric_errors(table: ScoreTable) -> ScoreTable:
    """Return the table without the failures that are errors of a metric; the same table if it has none."""
    return _forgive(table, METRIC_ERROR, {checks.case_id for checks in table.checks if METRIC_ERROR in checks.failed})


def forgive_label_failures(baseline: ScoreTable, candidate: ScoreTable) -> tuple[ScoreTable, ScoreTable]:
    """Return the tables without the failures of labels that are outdated on one side only.

    Where the corpus of one side was cut differently, it does not have the evidence under the ids of the labels. That
    says nothing of what its system found. A label that is outdated on both sides is the same failure on both.
    """
    before, after = (_find_label_failures(table) for table in (baseline, candidate))
    return _forgive(baseline, OUTDATED_LABEL, before - after), _forgive(candidate, OUTDATED_LABEL, after - before)


def _find_label_failures(table: ScoreTable) -> set[str]:
    return {checks.case_id for checks in table.checks if OUTDATED_LABEL in checks.failed}


def _forgive(table: ScoreTable, check: str, case_ids: Set[str]) -> ScoreTable:
    """Return the table without a failed check of some cases; those that failed nothing else have not failed."""
    if not case_ids:
        return table
    forgiven = {row.case_id for row in table.checks if row.failed == (check,) and row.case_id in case_ids}
    columns = dict(table.columns)
    failed = columns.get(_FAILED)
    if failed is not None:
        rows = np.array([case_id in forgiven for case_id in table.case_ids], dtype=np.bool_)
        columns[_FAILED] = replace(failed, values=np.where(rows, 0.0, failed.values))
    dropped = [_drop_check(row, check) if row.case_id in case_ids else row for row in table.checks]
    return replace(table, columns=columns, checks=tuple(dropped))


def _drop_check(checks: CaseChecks, check: str) -> CaseChecks:
    failed = tuple(name for name in checks.failed if name != check)
    if failed == checks.failed or failed:
        return replace(checks, failed=failed)
    return replace(checks, failed=(), warnings=tuple(dict.fromkeys((*checks.warnings, UNKNOWN_ANSWER))))


def describe_label_failures(side: str, table: ScoreTable, forgiven: ScoreTable) -> Iterator[str]:
    """Yield on how many cases of a side labels are outdated that are not so on the other: those that were forgiven."""
    left = _find_label_failures(forgiven)
    ids = [case_id for case_id in table.case_ids if case_id in _find_label_failures(table) - left]
    if ids:
        named = f"{format_count(len(ids), 'case')} ({format_case_ids(ids)})"
        yield f"{side}: the evidence of {named} is not in its corpus as it was labelled: {LABEL_FAILURES}"


def describe_metric_errors(side: str, table: ScoreTable) -> Iterator[str]:
    """Yield, for each metric of one's own that failed on cases of a side, on how many, and what went wrong first."""
    for name, column in table.columns.items():
        rows = np.flatnonzero(find_own_failures(column))
        if len(rows):
            cases = format_count(len(rows), "case")
            yield f"{side}: {name} failed on {cases} ({column.reasons[column.reason[rows[0]]]}): {METRIC_ERRORS}"
