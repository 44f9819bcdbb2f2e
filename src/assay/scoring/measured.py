"""What a column holds on a slice: the values that were scored, and how many rows have none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.graders.base import Floats, Grader
from assay.graders.catalog import column_name
from assay.graders.judging import NO_VERDICT, TIED_VOTES, UNSCORED
from assay.graders.names import MetricName, read_name
from assay.metrics.samples import exact_sum
from assay.model import NEEDS_REVIEW, NOT_APPLICABLE, SCORED, Case, ScoreColumn, ScoreTable
from assay.scoring.slices import Rows
from assay.scoring.wording import counted

PERCENTILES = {"p50": 50.0, "p95": 95.0}
AVERAGES = ("mean", "rate", "balanced")
LEAST_JUDGED = 0.95
"""The share of the cases to be judged below which the others give no number: they may be the easy ones."""
_UNJUDGED = (NO_VERDICT, TIED_VOTES)
Clusters = npt.NDArray[np.intp]
"""A number per row that rows of one cluster share."""


class Measured(NamedTuple):
    """The scored rows of a slice with their values, in golden order, the rows in error, and the count of the others."""

    rows: Rows
    values: Floats
    error_rows: Rows
    not_applicable: int
    not_finite: int

    @property
    def scored(self) -> int:
        """Rows with a number."""
        return len(self.rows)

    @property
    def errors(self) -> int:
        """Rows that should have a number and have none."""
        return len(self.error_rows)

    @property
    def applicable(self) -> int:
        """Rows that should have a number: scored and errors."""
        return self.scored + self.errors

    def pessimistic(self, worst: float) -> Measured:
        """Return the same with each error scored as `worst`."""
        values = np.concatenate([self.values, np.full(self.errors, worst)])
        return self._replace(rows=np.concatenate([self.rows, self.error_rows]), values=values)


def measure(column: ScoreColumn, rows: Rows | None = None) -> Measured:
    """Return what a column holds on the given rows (all without them); a score that is not finite is an error."""
    if rows is None:
        chosen, values, status = np.arange(len(column.values), dtype=np.intp), column.values, column.status
    else:
        chosen, values, status = rows, column.values[rows], column.status[rows]
    claimed = status == SCORED
    scored = claimed & np.isfinite(values)
    not_applicable = status == NOT_APPLICABLE
    absent = int(np.count_nonzero(not_applicable))
    if absent + np.count_nonzero(scored) == len(chosen):
        errors, not_finite = chosen[:0], 0
    else:
        errors, not_finite = chosen[~(scored | not_applicable)], int(np.count_nonzero(claimed & ~scored))
    return Measured(chosen[scored], values[scored], errors, absent, not_finite)


def column_of(table: ScoreTable, name: MetricName) -> ScoreColumn | None:
    """Return the column behind a metric name, None where it was not measured."""
    return table.columns.get(str(name)) or table.columns.get(str(column_name(name)))


NOT_REPORTED = "not reported"
"""How reasons end if the target left out a field."""


def not_reported(column: ScoreColumn, rows: Rows) -> npt.NDArray[np.bool_]:
    """Return which of the rows have no score because the target did not report what the metric is made from."""
    silent = [code for code, reason in enumerate(column.reasons) if reason.endswith(NOT_REPORTED)]
    is_unreported: npt.NDArray[np.bool_] = column.status[rows] == NOT_APPLICABLE
    return is_unreported & np.isin(column.reason[rows], silent)


def partly_judged(column: ScoreColumn, seen: Measured, floor: float = LEAST_JUDGED) -> str:
    """Say that too few of the rows that a judge was to label have a usable verdict; nothing where enough have."""
    silent = [code for code, why in enumerate(column.reasons) if why in _UNJUDGED or why.startswith(UNSCORED)]
    wanted = seen.scored + int(np.count_nonzero(np.isin(column.reason[seen.error_rows], silent)))
    if seen.scored == wanted or seen.scored >= floor * wanted:
        return ""
    return f"not measured: coverage below {floor:.0%} ({seen.scored} of {counted(wanted, 'case')} judged)"


def in_review(column: ScoreColumn, rows: Rows | None = None) -> Rows:
    """Return which of the rows (by default all) need human review, because votes disagree widely or are tied."""
    doubtful = [code for code, why in enumerate(column.reasons) if why.startswith(NEEDS_REVIEW)]
    chosen = np.arange(len(column.values), dtype=np.intp) if rows is None else rows
    return chosen[np.isin(column.reason[chosen], doubtful)] if doubtful else chosen[:0]


def statistic_of(grader: Grader, metric: str) -> str:
    """Return the statistic that sums up a metric: the one that its name states, else its grader's.

    >>> from assay.graders.catalog import CATALOG
    >>> statistic_of(CATALOG["latency_ms"], "latency_ms(stat=p95)")
    'p95'
    """
    return read_name(metric).key("stat", grader.statistic) if "stat" in grader.keys else grader.statistic


def worst_of(grader: Grader) -> float | None:
    """Return the worst value of a metric's declared range, None where it is open or no direction is better."""
    worst = {"higher": grader.low, "lower": grader.high}.get(grader.direction)
    return worst if worst is not None and math.isfinite(worst) else None


def ends_of(grader: Grader) -> tuple[float | None, float | None]:
    """Return the ends of a metric's declared range, None for an open one."""
    low, high = grader.low, grader.high
    return low if math.isfinite(low) else None, high if math.isfinite(high) else None


def total_of(values: Floats, *, exact: bool) -> float:
    """Return the sum: exactly rounded, or accumulated in the given order, which is much faster."""
    if exact:
        return exact_sum(values)
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def all_binary(values: Floats) -> bool:
    """Return whether every value is 0 or 1."""
    return bool(np.all((values == 0.0) | (values == 1.0)))


def cluster_ids(cases: Sequence[Case]) -> Clusters | None:
    """Return a number per case that cases of one cluster share; None where every case stands alone.

    A case without a cluster is its own, and a cluster may bear the id of one of its cases.

    >>> cluster_ids([Case("a", "?"), Case("b", "?", cluster="a"), Case("c", "?")]).tolist()
    [0, 0, 1]
    """
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(case.cluster or case.id, len(numbers)) for case in cases]
    return np.array(ids, dtype=np.intp) if len(numbers) < len(ids) else None


def shared_clusters(seen: Measured, clusters: Clusters | None) -> Clusters | None:
    """Return the clusters of the scored rows, None where no two rows share one."""
    if clusters is None:
        return None
    own = clusters[seen.rows]
    return own if len(np.unique(own)) < len(own) else None
