"""The change of a metric where answers are unknown: bounded by the changes with these answers at worst and at best.

A direction is claimed only where it holds whatever the unknown answers are (ADR 0158).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.records.case_ids import CaseIds
from assay.records.counts import format_count
from assay.records.findings import ChangeVerdict, MetricChange, UnknownChange
from assay.scoring.change_tests import ChangeMatrix, ChangeTest, ClaimLevel
from assay.scoring.completed_scores import Columns, complete_columns, find_unknown_cells
from assay.scoring.paired_scores import AlignedSides, pair_columns
from assay.stats.arrays import BoolArray, RowIndices

_PAIRED_UNKNOWN = 1


class UnknownChanges:
    """The metrics with unknown answers on either side, and their scores at worst and at best for the candidate."""

    def __init__(self, sides: AlignedSides, metrics: Sequence[str]) -> None:
        self.sides = sides
        self.answers: dict[str, tuple[BoolArray, BoolArray]] = {}
        worst: dict[str, Columns] = {}
        best: dict[str, Columns] = {}
        for metric in metrics:
            columns = sides.get_columns(metric)
            completed = complete_columns(find_metric(parse_metric(metric)), metric, columns)
            if completed is None:
                continue
            worst[metric], best[metric] = completed
            is_paired = np.zeros(len(sides.ids), dtype=np.bool_)
            is_paired[pair_columns(*completed.worst).rows] = True
            before, after = (find_unknown_cells(column) & is_paired for column in columns)
            self.answers[metric] = before, after
        self.worst = ChangeMatrix(sides.with_columns(worst), list(worst))
        self.best = ChangeMatrix(sides.with_columns(best), list(best))

    def test_slice(
        self, slice_name: str | None, rows: RowIndices | None, floors: Mapping[str, float]
    ) -> dict[str, UnknownChangeTest]:
        """Return the test of each metric that has unknown answers among the pairs of the slice, by its name."""
        if not self.answers:
            return {}
        chosen = np.arange(len(self.sides.ids), dtype=np.intp) if rows is None else rows
        tests = {}
        worst, best = (matrix.test_slice(slice_name, rows, floors) for matrix in (self.worst, self.best))
        for (metric, worst_test), (_, best_test) in zip(worst, best, strict=True):
            before, after = self.answers[metric]
            answers = int(np.count_nonzero(before[chosen])) + int(np.count_nonzero(after[chosen]))
            if not answers or worst_test.change.gain is None or best_test.change.gain is None:
                continue
            codes = np.where(before | after, _PAIRED_UNKNOWN, 0).astype(np.int8)
            cases = CaseIds(self.sides.ids, codes, _PAIRED_UNKNOWN, chosen)
            merged = _merge_ends(worst_test.change, best_test.change, answers, cases)
            tests[metric] = UnknownChangeTest(merged, worst=worst_test, best=best_test)
        return tests


class UnknownChangeTest(ChangeTest, frozen=True, kw_only=True):
    """A change with unknown answers, and its tests with these at worst and at best for the candidate."""

    worst: ChangeTest
    best: ChangeTest

    def conclude(self, level: ClaimLevel, p_adjusted: float) -> MetricChange:
        """Return the change with the interval that holds at both ends, and a verdict only if it holds at both."""
        unknown = self.change.unknown
        assert unknown is not None
        worst, best = self.worst.conclude(level, p_adjusted), self.best.conclude(level, p_adjusted)
        return _merge_ends(worst, best, unknown.answers, unknown.cases)

    def with_cases_of(self, known: MetricChange) -> UnknownChangeTest:
        """Return the test with the cases that got better or worse for certain: those scored on both sides."""
        ends = []
        for end in (self.worst, self.best):
            change = replace(
                end.change,
                improved=known.improved,
                regressed=known.regressed,
                unchanged=known.unchanged,
                needs_review=known.needs_review,
            )
            ends.append(replace(end, change=change))
        unknown = self.change.unknown
        assert unknown is not None
        merged = _merge_ends(ends[0].change, ends[1].change, unknown.answers, unknown.cases)
        return UnknownChangeTest(merged, worst=ends[0], best=ends[1])


def _merge_ends(worst: MetricChange, best: MetricChange, answers: int, cases: Sequence[str]) -> MetricChange:
    """Return one change from its two ends: ranges in the place of numbers, and the more cautious of each claim."""
    assert worst.gain is not None and best.gain is not None
    baseline, candidate = _bound(worst.baseline, best.baseline), _bound(worst.candidate, best.candidate)
    unknown = UnknownChange(answers, baseline, candidate, (worst.gain, best.gain), cases)
    deciding = best if unknown.direction == "worse" else worst
    p = _pick_largest(worst.p, best.p)
    if unknown.direction == "not known" and p is not None:
        p = 1.0  # the unknown answers may turn out so that nothing changed
    return replace(
        deciding,
        baseline=_get_single(baseline),
        candidate=_get_single(candidate),
        gain=None,
        low=worst.low if best.low is not None else None,
        high=best.high if worst.high is not None else None,
        p=p,
        method=deciding.method if unknown.direction != "not known" or worst.method == best.method else "",
        smallest_detectable=_pick_largest(worst.smallest_detectable, best.smallest_detectable),
        note="; ".join(filter(None, (_describe(unknown), _pick_note(worst, best, unknown)))),
        verdict=_conclude(worst, best, unknown),
        unknown=unknown,
    )


def _bound(first: float | None, second: float | None) -> tuple[float, float]:
    assert first is not None and second is not None
    return min(first, second), max(first, second)


def _get_single(bounds: tuple[float, float]) -> float | None:
    return bounds[0] if bounds[0] == bounds[1] else None


def _pick_largest(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else max(first, second)


def _conclude(worst: MetricChange, best: MetricChange, unknown: UnknownChange) -> ChangeVerdict:
    if unknown.direction == "better" and worst.verdict == "improved":
        return "improved"
    if unknown.direction == "worse" and best.verdict == "regressed":
        return "regressed"
    return "n/a" if "n/a" in (worst.verdict, best.verdict) else "not shown"


def _pick_note(worst: MetricChange, best: MetricChange, unknown: UnknownChange) -> str:
    """Return the note of the end that decides; without a direction, only what is said of both."""
    if unknown.direction == "not known":
        return worst.note if worst.note == best.note else ""
    return best.note if unknown.direction == "worse" else worst.note


def _describe(unknown: UnknownChange) -> str:
    low, high = unknown.gain
    count = format_count(unknown.answers, "answer")
    if unknown.direction == "not known":
        return f"direction not known: {count} unknown, with which the gain is between {low:+.3f} and {high:+.3f}"
    return f"{unknown.direction} whatever the {count} are that nobody can tell: the gain is {low:+.3f} to {high:+.3f}"
