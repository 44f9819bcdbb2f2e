"""The change of whether cases fail, where some answers are unknown: such a case failed nothing, and may be wrong.

That fewer cases fail is claimed only if it is shown with the candidate's unknown answers counted as failed, and that
more do only with those of the baseline counted so (ADR 175).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec.structs import replace

from assay.metrics.template_columns import ANSWER, FAILED
from assay.records.counts import format_count
from assay.records.findings import MetricChange
from assay.records.scores import SCORED, ScoreTable
from assay.scoring.case_outcomes import classify_checks
from assay.scoring.change_tests import ChangeMatrix, ChangeTest, ClaimLevel
from assay.scoring.completed_scores import score_cells
from assay.scoring.paired_scores import AlignedSides
from assay.scoring.same_answers import find_same_answers
from assay.stats.arrays import BoolArray, RowIndices

(_METRIC,) = FAILED


class FailedChanges:
    """The tests of whether cases fail, with the unknown cases of either side counted as failed."""

    def __init__(self, sides: AlignedSides) -> None:
        self.before, self.after = (_find_unknown_cases(table) for table in (sides.baseline, sides.candidate))
        same = _find_same_rows(sides) & self.before & self.after
        self.before, self.after = self.before & ~same, self.after & ~same
        first, second = sides.get_columns(_METRIC)
        worst = first, score_cells(second, self.after & (second.status == SCORED), 1.0)
        best = score_cells(first, self.before & (first.status == SCORED), 1.0), second
        self._ends = [ChangeMatrix(sides.with_columns({_METRIC: end}), [_METRIC]) for end in (worst, best)]
        self._is_certain = not (self.before.any() or self.after.any())

    def bound_test(
        self, test: ChangeTest, slice_name: str | None, rows: RowIndices | None, floors: Mapping[str, float]
    ) -> ChangeTest:
        """Return the test of a slice (`rows` None: all cases), bounded where a case of it is unknown on either side."""
        chosen = slice(None) if rows is None else rows
        unknown = int(np.count_nonzero(self.before[chosen])) + int(np.count_nonzero(self.after[chosen]))
        if self._is_certain or not unknown or test.change.p is None:
            return test
        ends = [dict(end.test_slice(slice_name, rows, floors))[_METRIC] for end in self._ends]
        bounded = BoundedFailedTest(
            test.change, test.sample, test.scale, test.least, worst=ends[0], best=ends[1], unknown=unknown
        )
        return replace(bounded, change=replace(test.change, p=bounded.find_cautious_p()))


class BoundedFailedTest(ChangeTest, frozen=True, kw_only=True):
    """The test of whether cases fail, and the same with the unknown cases at worst and at best for the candidate."""

    worst: ChangeTest
    best: ChangeTest
    unknown: int

    def _list_deciding(self) -> Iterator[ChangeTest]:
        """Yield the end on which the direction of the gain depends, if it has any direction."""
        gain = self.change.gain or 0.0
        if gain > 0:
            yield self.worst
        elif gain < 0:
            yield self.best

    def find_least_p(self) -> float:
        return min(super().find_least_p(), *(end.find_least_p() for end in (self.worst, self.best)))

    def find_cautious_p(self) -> float:
        """Return the larger p of the gain and of its end; 1 where the unknown cases leave the direction open."""
        p, gain = self.change.p, self.change.gain or 0.0
        assert p is not None
        for end in self._list_deciding():
            end_gain = end.change.gain or 0.0
            p = max(p, end.change.p or 1.0) if end_gain * gain > 0 else 1.0
        return p

    def conclude(self, level: ClaimLevel, p_adjusted: float) -> MetricChange:
        """Return the change, improved or regressed only if it is with the unknown cases counted as failed, too."""
        change = super().conclude(level, p_adjusted)
        for end in self._list_deciding():
            bounded = end.conclude(level, p_adjusted)
            if change.verdict in ("improved", "regressed") and bounded.verdict != change.verdict:
                change = replace(change, verdict="not significant")
        cases = format_count(self.unknown, "case")
        note = f"{cases} failed nothing and may be wrong (unknown): p and verdict count them against the change"
        return replace(change, note="; ".join(filter(None, (note, change.note))))


def _find_unknown_cases(table: ScoreTable) -> BoolArray:
    """Return of which rows nobody can tell whether the case is right."""
    unknown = {checks.case_id for checks in table.checks if classify_checks(checks) == "unknown"}
    return np.array([case_id in unknown for case_id in table.case_ids], dtype=np.bool_)


def _find_same_rows(sides: AlignedSides) -> BoolArray:
    """Return on which rows both sides are known to have given the same answer of which nothing tells."""
    same = np.zeros(len(sides.ids), dtype=np.bool_)
    for name in ANSWER:
        columns = sides.baseline.columns.get(name), sides.candidate.columns.get(name)
        if columns[0] is not None and columns[1] is not None:
            same |= find_same_answers(columns[0], columns[1])
    return same
