"""The change of a metric where answers are unknown: bounded by the changes with these answers at worst and at best.

A direction is claimed only where it holds whatever the unknown answers are (ADR 0158).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.records.case_ids import CaseIds
from assay.records.counts import format_count
from assay.records.findings import ChangeVerdict, MetricChange, UnknownChange
from assay.scoring.change_tests import ChangeMatrix, ChangeTest, ClaimLevel
from assay.scoring.completed_scores import (
    Columns,
    CompletedColumns,
    bound_side,
    complete_columns,
    find_unknown_cells,
)
from assay.scoring.paired_scores import AlignedSides, pair_columns
from assay.scoring.same_answers import find_same_answers
from assay.stats.arrays import BoolArray, RowIndices

_PAIRED_UNKNOWN = 1


class UnknownChanges:
    """The metrics with unknown answers on either side, and their scores at worst and at best for the candidate."""

    def __init__(self, sides: AlignedSides, metrics: Sequence[str]) -> None:
        self.sides = sides
        self.answers: dict[str, _UnknownAnswers] = {}
        worst: dict[str, Columns] = {}
        best: dict[str, Columns] = {}
        for metric in metrics:
            columns = sides.get_columns(metric)
            completed = complete_columns(find_metric(parse_metric(metric)), metric, columns)
            if completed is None:
                continue
            worst[metric], best[metric] = completed.worst, completed.best
            is_paired = np.zeros(len(sides.ids), dtype=np.bool_)
            is_paired[pair_columns(*completed.worst).rows] = True
            before, after = (find_unknown_cells(column) & is_paired for column in columns)
            same = find_same_answers(*columns) & before & after
            self.answers[metric] = _UnknownAnswers(completed, is_paired, before, after, same)
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
            gains = worst_test.change.gain, best_test.change.gain
            if gains[0] is None or gains[1] is None:
                continue
            unknown = self.answers[metric].describe(self.sides.ids, chosen, (gains[0], gains[1]))
            if unknown is None:
                continue
            merged = _merge_ends(worst_test.change, best_test.change, unknown)
            tests[metric] = UnknownChangeTest(merged, worst=worst_test, best=best_test)
        return tests


class _UnknownAnswers(NamedTuple):
    """The answers to one metric of which nobody can tell the score: which rows are paired once these are scored, in
    which it is an answer of the baseline or the candidate, and in which both gave the same."""

    completed: CompletedColumns
    is_paired: BoolArray
    before: BoolArray
    after: BoolArray
    same: BoolArray

    def describe(self, ids: Sequence[str], chosen: RowIndices, gains: tuple[float, float]) -> UnknownChange | None:
        """Return what these answers leave open on some rows, with the gains of both ends; None if none is there."""
        before, after, same = (int(np.count_nonzero(rows[chosen])) for rows in (self.before, self.after, self.same))
        if not before and not after:
            return None
        rows = chosen[self.is_paired[chosen]]
        codes, codes_now = (
            np.where(unknown, _PAIRED_UNKNOWN, 0).astype(np.int8) for unknown in (self.before | self.after, self.after)
        )
        return UnknownChange(
            before + after - same,
            bound_side(self.completed, 0, rows),
            bound_side(self.completed, 1, rows),
            gains,
            CaseIds(ids, codes, _PAIRED_UNKNOWN, chosen),
            same,
            CaseIds(ids, codes_now, _PAIRED_UNKNOWN, chosen),
        )


class UnknownChangeTest(ChangeTest, frozen=True, kw_only=True):
    """A change with unknown answers, and its tests with these at worst and at best for the candidate."""

    worst: ChangeTest
    best: ChangeTest

    def find_least_p(self) -> float:
        return min(self.worst.find_least_p(), self.best.find_least_p())

    def conclude(self, level: ClaimLevel, p_adjusted: float) -> MetricChange:
        """Return the change with the interval that holds at both ends, and a verdict only if it holds at both."""
        unknown = self.change.unknown
        assert unknown is not None
        worst, best = self.worst.conclude(level, p_adjusted), self.best.conclude(level, p_adjusted)
        return _merge_ends(worst, best, unknown)

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
        merged = _merge_ends(ends[0].change, ends[1].change, unknown)
        return UnknownChangeTest(merged, worst=ends[0], best=ends[1])


def _merge_ends(worst: MetricChange, best: MetricChange, unknown: UnknownChange) -> MetricChange:
    """Return one change from its two ends: ranges in the place of numbers, and the more cautious of each claim."""
    deciding = best if unknown.direction == "worse" else worst
    p = _pick_largest(worst.p, best.p)
    verdict = _conclude(worst, best, unknown)
    if unknown.direction == "not known" and p is not None:
        p = 1.0  # the unknown answers may turn out so that nothing changed
    return replace(
        deciding,
        baseline=_get_single(unknown.baseline),
        candidate=_get_single(unknown.candidate),
        gain=worst.gain if unknown.is_gain_known else None,
        low=worst.low if best.low is not None else None,
        high=best.high if worst.high is not None else None,
        p=p,
        method=deciding.method if unknown.direction != "not known" or worst.method == best.method else "",
        smallest_detectable=_pick_largest(worst.smallest_detectable, best.smallest_detectable),
        note="; ".join(filter(None, (_describe(unknown, verdict), _pick_note(worst, best, unknown)))),
        verdict=verdict,
        unknown=unknown,
    )


def _get_single(bounds: tuple[float, float]) -> float | None:
    return bounds[0] if bounds[0] == bounds[1] else None


def _pick_largest(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else max(first, second)


def _conclude(worst: MetricChange, best: MetricChange, unknown: UnknownChange) -> ChangeVerdict:
    if unknown.is_gain_known:
        return worst.verdict
    if unknown.direction == "better" and worst.verdict == "improved":
        return "improved"
    if unknown.direction == "worse" and best.verdict == "regressed":
        return "regressed"
    return "n/a" if "n/a" in (worst.verdict, best.verdict) else "not significant"


def _pick_note(worst: MetricChange, best: MetricChange, unknown: UnknownChange) -> str:
    """Return the note of the end that decides; without a direction, only what is said of both."""
    if unknown.direction == "not known":
        return worst.note if worst.note == best.note else ""
    return best.note if unknown.direction == "worse" else worst.note


def _describe(unknown: UnknownChange, verdict: ChangeVerdict) -> str:
    """Return what the unknown answers leave of the change; a direction is claimed only where the verdict claims it."""
    low, high = unknown.gain
    count = format_count(unknown.answers, "answer")
    if unknown.is_gain_known:
        return f"{count} unknown, but the same on both sides"
    if unknown.direction == "not known":
        return f"direction not known: {count} unknown, with which the gain is between {low:+.3f} and {high:+.3f}"
    if verdict not in ("improved", "regressed"):
        return (
            f"not significant: {count} unknown, with which the gain is between {low:+.3f} and {high:+.3f} on these "
            "cases, too few to tell it from chance"
        )
    open_answers = format_count(unknown.answers, "unknown answer")
    return f"{unknown.direction} with any score of the {open_answers}: the gain is {low:+.3f} to {high:+.3f}"
