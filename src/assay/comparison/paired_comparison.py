"""Compares a candidate with a baseline, case by case: the gain of each metric, its uncertainty and its cases.

Nothing is dropped silently: cases scored on one side only are listed, and the cost of errors is stated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from assay.comparison.case_changes import (
    collect_rank_moves,
    count_transitions,
    describe_changes,
    describe_one_sided,
    explain_metric_changes,
    get_attribution_label,
)
from assay.comparison.claims import ChangeSlot, conclude_changes
from assay.gates.release_decision import collect_coverage_floors
from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.template_columns import FAILED
from assay.records.counts import format_count
from assay.records.errors import InputError
from assay.records.findings import CaseChange, Comparison, MetricChange
from assay.records.golden_set import Case
from assay.records.release_gates import Gate
from assay.records.scores import SCORED, ScoreTable
from assay.scoring.change_tests import ChangeMatrix, ChangeTest
from assay.scoring.column_values import describe_leaked_scores, format_case_ids, list_settled_cases
from assay.scoring.failed_changes import FailedChanges
from assay.scoring.metric_errors import (
    describe_label_failures,
    describe_metric_errors,
    forgive_label_failures,
    forgive_metric_errors,
)
from assay.scoring.paired_scores import (
    AlignedSides,
    ScoreSnapshot,
    check_comparable,
    compute_change_signs,
    find_doubtful_gains,
    is_missing_scored,
    merge_cases,
    pair_columns,
)
from assay.scoring.slices import find_slice_rows, find_slices
from assay.scoring.summaries import HEADLINE
from assay.scoring.unknown_changes import UnknownChanges
from assay.scoring.version_match import match_versions, select_shared_cases
from assay.stats.arrays import RowIndices


def compare_snapshots(
    baseline: ScoreSnapshot,
    candidate: ScoreSnapshot,
    *,
    gate: Gate | None = None,
    metrics: Sequence[str] = (),
    slice_keys: Sequence[str] | None = None,
) -> Comparison:
    """Return what the candidate gained and lost, over the cases scored on both sides.

    `metrics` are canonical names, those measured on both sides without them; `slice_keys` are the keys of slices.
    A change is significant only if it survives the tests of all metrics and slices (`comparison/claims.py`). Raises
    InputError where the sides are not comparable: another golden set that is no version of the same, another judge,
    rubric, or definition of a metric.
    """
    return compare_candidates(baseline, [candidate], gate=gate, metrics=metrics, slice_keys=slice_keys)[0]


def compare_candidates(
    baseline: ScoreSnapshot,
    candidates: Sequence[ScoreSnapshot],
    *,
    gate: Gate | None = None,
    metrics: Sequence[str] = (),
    slice_keys: Sequence[str] | None = None,
) -> list[Comparison]:
    """Return the comparison of each candidate with the same baseline; the tests of all candidates are one family.

    Raises InputError as `compare_snapshots` does.
    """
    pairs = [MatchedSides(baseline, candidate, gate, metrics, slice_keys) for candidate in candidates]
    changes = conclude_claims(pairs)
    return [
        pair.build_comparison({slot: change for slot, change in changes.items() if slot.candidate == index})
        for index, pair in enumerate(pairs)
    ]


def conclude_claims(pairs: Sequence[MatchedSides]) -> dict[ChangeSlot, MetricChange]:
    """Return every change of every candidate with its verdict, with the tests of all candidates in one family."""
    tests = {slot: test for index, pair in enumerate(pairs) for slot, test in pair.test_metrics(index)}
    return conclude_changes(tests, {name for pair in pairs for name in pair.gate_slices})


class MatchedSides:
    """A candidate and the baseline with the same case in the same row, and what is compared of them."""

    def __init__(
        self,
        baseline: ScoreSnapshot,
        candidate: ScoreSnapshot,
        gate: Gate | None = None,
        metrics: Sequence[str] = (),
        slice_keys: Sequence[str] | None = None,
    ) -> None:
        self.match = match_versions(baseline, candidate)
        baseline, candidate = (select_shared_cases(side, self.match) for side in (baseline, candidate))
        tables = [forgive_metric_errors(side.table) for side in (baseline, candidate)]
        sides = baseline.side.name, candidate.side.name
        forgiven = forgive_label_failures(*tables)
        self.errors = [
            line
            for name, table, without in zip(sides, tables, forgiven, strict=True)
            for line in (*describe_label_failures(name, table, without), *describe_metric_errors(name, table))
        ]
        baseline, candidate = replace(baseline, table=forgiven[0]), replace(candidate, table=forgiven[1])
        self.baseline, self.candidate = baseline, candidate
        self.requested, self.metrics = _metrics(metrics, baseline, candidate)
        check_comparable(baseline, candidate.side, candidate.definitions, self.metrics)
        cases = merge_cases(candidate.cases, baseline.cases)
        self.sides = AlignedSides(cases, baseline.table, candidate.table)
        self.floors = collect_coverage_floors(gate)
        self.rows_by_slice = _slices(cases, slice_keys)
        self.gate_slices = _list_gate_slices(gate, self.rows_by_slice)
        for name in self.gate_slices:
            self.rows_by_slice[name] = find_slice_rows(cases, name)

    def test_metrics(self, index: int) -> Iterator[tuple[ChangeSlot, ChangeTest]]:
        """Yield the test of every metric on all cases, then on every slice."""
        matrix = ChangeMatrix(self.sides, self.metrics)
        unknown_changes = UnknownChanges(self.sides, self.metrics)
        failed_changes = FailedChanges(self.sides) if not set(FAILED).isdisjoint(self.metrics) else None
        for key, rows in ((None, None), *self.rows_by_slice.items()):
            floors = {
                name: floor for (name, slice_name), floor in self.floors.items() if slice_name == (key or HEADLINE)
            }
            bounded = unknown_changes.test_slice(key, rows, floors)
            for name, test in matrix.test_slice(key, rows, floors):
                if key is not None and name not in self.gate_slices.get(key, self.requested):
                    continue
                if failed_changes is not None and name in FAILED:
                    test = failed_changes.bound_test(test, key, rows, floors)
                of_ends = bounded.get(name)
                yield ChangeSlot(index, name, key), test if of_ends is None else of_ends.with_cases_of(test.change)

    def build_comparison(self, change_by_slot: Mapping[ChangeSlot, MetricChange]) -> Comparison:
        """Return the comparison with its cases and sentences, from the concluded changes of this candidate."""
        baseline, candidate = self.baseline, self.candidate
        overall = {slot.metric: change for slot, change in change_by_slot.items() if slot.slice is None}
        by_slice: dict[str, dict[str, MetricChange]] = {}
        for slot, change in change_by_slot.items():
            if slot.slice is not None:
                by_slice.setdefault(slot.slice, {})[slot.metric] = change
        cases = _case_changes(self.sides, self.metrics, baseline, candidate)
        notes = [*self.errors, *([self.match.describe()] if self.match is not None else [])]
        trends = {*baseline.table.uncalibrated, *candidate.table.uncalibrated}
        return Comparison(
            baseline=baseline.side,
            candidate=candidate.side,
            metrics={name: overall[name] for name in self.metrics},
            slices=by_slice,
            moves=collect_rank_moves(baseline, candidate, self.sides.ids),
            cases=cases,
            transitions=count_transitions(baseline.attributions, candidate.attributions),
            changed=describe_changes(baseline, candidate),
            moved=explain_metric_changes(
                cases, change_by_slot.values(), baseline.attributions, candidate.attributions, trends
            ),
            notes=(
                *notes,
                *_notes(self.requested, baseline, candidate),
                *describe_one_sided(baseline, candidate),
            ),
        )


def _metrics(metrics: Sequence[str], baseline: ScoreSnapshot, candidate: ScoreSnapshot) -> tuple[list[str], list[str]]:
    """Return the metrics asked for, and those that both sides measured. Raises InputError where there are none."""
    requested = list(metrics) or list(dict.fromkeys((*candidate.metrics, *baseline.metrics)))
    common = [name for name in requested if name in baseline.metrics and name in candidate.metrics]
    if not common:
        names = ", ".join(metrics) or "any metric"
        raise InputError(f"nothing to compare: {names} was not measured on both sides (expected a metric of both)")
    # Whether cases failed and leaked is what a comparison is about, whatever was asked for besides.
    tables = baseline.table, candidate.table
    common += [
        name for name in _ALWAYS_COMPARED if name not in common and all(_is_scored(name, side) for side in tables)
    ]
    return requested, common


_ALWAYS_COMPARED = (*FAILED, "visibility_leaks")


def _is_scored(metric: str, table: ScoreTable) -> bool:
    column = table.columns.get(metric)
    return column is not None and bool(np.any(column.status == SCORED))


def _slices(cases: Sequence[Case], by: Sequence[str] | None) -> dict[str, RowIndices]:
    """Return the slices asked for that leave out a case: one of all cases says what the metric says, and would be one
    test more."""
    return {name: rows for name, rows in find_slices(cases, by).items() if len(rows) < len(cases)}


def _list_gate_slices(gate: Gate | None, asked_for: Collection[str]) -> dict[str, set[str]]:
    """Return the slices that only the rules of a gate name, each with their metrics."""
    metrics_by_slice: dict[str, set[str]] = {}
    for rule in gate.rules if gate is not None else ():
        if rule.slice is not None and rule.slice not in asked_for:
            metrics_by_slice.setdefault(rule.slice, set()).add(str(parse_metric(rule.metric)))
    return metrics_by_slice


_NO_CASE_CHANGES = ("operations", "variants")
"""The families of metrics that no case is said to have changed by."""


def _case_changes(
    sides: AlignedSides, metrics: Sequence[str], baseline: ScoreSnapshot, candidate: ScoreSnapshot
) -> tuple[CaseChange, ...]:
    """Return the cases, in order, whose attribution differs or whose quality does: time and money are not quality."""
    improved: dict[str, list[str]] = {}
    regressed: dict[str, list[str]] = {}
    doubtful: dict[str, list[str]] = {}
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    for metric in metrics:
        metric_row = find_metric(parse_metric(metric))
        if metric_row.family in _NO_CASE_CHANGES:
            continue
        paired = pair_columns(*sides.get_columns(metric))
        signs = compute_change_signs(metric_row, paired.before, paired.after)
        moved = np.flatnonzero(signs)
        doubtful_rows = find_doubtful_gains(sides.get_columns(metric), paired, signs)[moved].tolist()
        pairs = zip(paired.before[moved].tolist(), paired.after[moved].tolist(), strict=True)
        for case_id, sign, in_doubt, pair in zip(
            sides.get_case_ids(paired.rows[moved]), signs[moved].tolist(), doubtful_rows, pairs, strict=True
        ):
            kind = doubtful if in_doubt else improved if sign > 0 else regressed
            kind.setdefault(case_id, []).append(metric)
            scores.setdefault(case_id, {})[metric] = pair
    changes = []
    fails_too = _list_further_failures(baseline.table, candidate.table)
    for case_id in sides.ids:
        before, after = baseline.attributions.get(case_id), candidate.attributions.get(case_id)
        other = (
            before is not None and after is not None and get_attribution_label(before) != get_attribution_label(after)
        )
        if other or case_id in scores or case_id in fails_too:
            better_, worse, open_ = (tuple(kind.get(case_id, ())) for kind in (improved, regressed, doubtful))
            too = fails_too.get(case_id, ())
            changes.append(CaseChange(case_id, before, after, better_, worse, scores.get(case_id, {}), open_, too))
    return tuple(changes)


def _list_further_failures(baseline: ScoreTable, candidate: ScoreTable) -> dict[str, tuple[str, ...]]:
    """Return, for each case that fails on both sides, the checks that it fails now and did not fail before."""
    before = {checks.case_id: checks.failed for checks in baseline.checks if checks.failed}
    further = {}
    for checks in candidate.checks:
        new = [check for check in checks.failed if check not in before.get(checks.case_id, checks.failed)]
        if new:
            further[checks.case_id] = tuple(new)
    return further


def _notes(requested: Collection[str], baseline: ScoreSnapshot, candidate: ScoreSnapshot) -> Iterator[str]:
    nowhere = [name for name in requested if name not in baseline.metrics and name not in candidate.metrics]
    if nowhere:
        yield f"measured on neither side: {', '.join(nowhere)}"
    looked = []
    for looks in dict.fromkeys((baseline.looks, candidate.looks)):
        if looks is not None:
            sides = [side.side.name for side in (baseline, candidate) if side.looks == looks]
            looked.append(f"{', '.join(sides)}: {looks.describe()}")
    if looked:
        yield "; ".join(looked)
    one_sided = list_settled_cases(baseline.table) ^ list_settled_cases(candidate.table)
    if one_sided:
        ids = format_case_ids([case.id for case in candidate.cases if case.id in one_sided])
        yield f"people settled {ids} on one side only: a change of these cases may be one of reading, not of answers"
    for mine, other in ((baseline, candidate), (candidate, baseline)):
        notes = (*mine.table.notes, *describe_leaked_scores(mine.table))
        yield from (f"{mine.side.name}: {note}" for note in notes)
        alone = [name for name in requested if name in mine.metrics and name not in other.metrics]
        if alone:
            yield f"measured on one side only, {mine.side.name}, and not compared: {', '.join(alone)}"
        other_ids = {case.id for case in other.cases}
        cases = [case.id for case in mine.cases if case.id not in other_ids]
        if cases:
            yield f"{format_count(len(cases), 'case')} only {mine.side.name} has: {format_case_ids(cases)}"
        if mine.table.missing:
            missing = f"{format_count(len(mine.table.missing), 'case')} ({format_case_ids(mine.table.missing)})"
            scored = is_missing_scored(mine.table)
            meaning = "counted as failed" if scored else "in no test (--missing zero counts them as failed)"
            yield f"{mine.side.name} has no observation of {missing}: {meaning}"
