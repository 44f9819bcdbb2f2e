"""The risk that what answers passed for is in doubt: most of those that passed have numbers from nowhere.

A single doubt is one to read. Where the answers that passed are doubted more often than not, beyond chance, the system
says more than it was shown, or the metric misreads it: what passed has not been shown either way (ADR 0228).
"""

from __future__ import annotations

import numpy as np

from assay.gates.rules import GateScores
from assay.metrics.case_checks import JUDGED_CORRECTNESS
from assay.metrics.grounding.unsourced_numbers import UNSOURCED_NUMBERS
from assay.records.counts import format_count
from assay.records.scores import SCORED, ScoreTable
from assay.scoring.case_outcomes import find_passed_cases
from assay.scoring.column_values import format_case_ids, list_settled_cases
from assay.stats.arrays import BoolArray
from assay.stats.intervals import estimate_one_sided_bound

LEAST_DOUBTED = 0.5
"""The share of the answers that passed which must be in doubt, with its one-sided 95% bound: more than half. Of right
answers 6 in 100 are doubted (10 of 178, QAGS-CNN), so that chance never comes near it; the fewest are 5 of 5."""
DOUBTED_ANSWERS = "that passed have numbers that are in no source"
"""What the sentence on the risk says, by which reports know that it is told."""
_READ_BY_JUDGE = (JUDGED_CORRECTNESS, "faithfulness(by=judge)")


def describe_doubted_answers(scores: GateScores) -> list[str]:
    """Return the risk that most answers which passed are in doubt; none where people or a judge have read them."""
    column = scores.table.columns.get(UNSOURCED_NUMBERS)
    if column is None:
        return []
    passed = set(find_passed_cases(scores.table))
    counted = np.array([case_id in passed for case_id in scores.table.case_ids], dtype=np.bool_)
    counted &= column.status == SCORED
    rows = np.flatnonzero(counted)
    doubted = (column.values > 0) & ~_find_read(scores.table)
    clusters = scores.clusters[rows] if scores.clusters is not None else None
    bound = estimate_one_sided_bound(doubted[rows].astype(float), "lower", clusters=clusters, low=0.0, high=1.0)
    if bound is None or bound.value <= LEAST_DOUBTED:
        return []
    ids = scores.get_case_ids(rows[doubted[rows]])
    return [
        f"{len(ids)} of {format_count(len(rows), 'answer')} {DOUBTED_ANSWERS} "
        f"(of such answers at least {bound.value:.0%}, one-sided 95% bound): what they passed for is in doubt; read "
        f"them, or run `assay judge` ({format_case_ids(ids)})"
    ]


def _find_read(table: ScoreTable) -> BoolArray:
    """Return which answers a judge or a person has read."""
    settled = list_settled_cases(table)
    read: BoolArray = np.array([case_id in settled for case_id in table.case_ids], dtype=np.bool_)
    for name in _READ_BY_JUDGE:
        if name in table.columns:
            read |= table.columns[name].status == SCORED
    return read
