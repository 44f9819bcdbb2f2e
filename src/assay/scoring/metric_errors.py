"""What a comparison makes of cases that a metric of one's own could not measure: the metric failed, not the system.

A run counts such a case as failed, so that nobody takes it for measured (ADR 173). A comparison says what became of the
system: there such a case failed only if it failed another check, and is unknown otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from assay.metrics.case_checks import METRIC_ERROR, UNKNOWN_ANSWER
from assay.metrics.own_metric import find_own_failures
from assay.metrics.template_columns import FAILED
from assay.records.counts import format_count
from assay.records.findings import METRIC_ERRORS
from assay.records.scores import CaseChecks, ScoreTable

(_FAILED,) = FAILED


def forgive_metric_errors(table: ScoreTable) -> ScoreTable:
    """Return the table without the failures that are errors of a metric; the same table if it has none."""
    in_error = [checks for checks in table.checks if METRIC_ERROR in checks.failed]
    if not in_error:
        return table
    forgiven = {checks.case_id for checks in in_error if checks.failed == (METRIC_ERROR,)}
    columns = dict(table.columns)
    failed = columns.get(_FAILED)
    if failed is not None:
        rows = np.array([case_id in forgiven for case_id in table.case_ids], dtype=np.bool_)
        columns[_FAILED] = replace(failed, values=np.where(rows, 0.0, failed.values))
    return replace(table, columns=columns, checks=tuple(map(_drop_metric_error, table.checks)))


def _drop_metric_error(checks: CaseChecks) -> CaseChecks:
    failed = tuple(check for check in checks.failed if check != METRIC_ERROR)
    if failed == checks.failed or failed:
        return replace(checks, failed=failed)
    return replace(checks, failed=(), warnings=tuple(dict.fromkeys((*checks.warnings, UNKNOWN_ANSWER))))


def describe_metric_errors(side: str, table: ScoreTable) -> Iterator[str]:
    """Yield, for each metric of one's own that failed on cases of a side, on how many, and what went wrong first."""
    for name, column in table.columns.items():
        rows = np.flatnonzero(find_own_failures(column))
        if len(rows):
            cases = format_count(len(rows), "case")
            yield f"{side}: {name} failed on {cases} ({column.reasons[column.reason[rows[0]]]}): {METRIC_ERRORS}"
