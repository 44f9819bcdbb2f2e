"""Compares a candidate with a baseline, case by case: the gain of each metric, its uncertainty and its cases.

Nothing is dropped silently: cases scored on one side only are listed, and the cost of errors is stated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from assay.comparison.case_changes import (
    collect_rank_moves,
    count_transitions,
    describe_changes,
    explain_metric_changes,
    get_attribution_label,
)
from assay.gates.release_decision import collect_coverage_floors
from assay.metrics.catalog import find_metric, parse_metric
from assay.records.errors import InputError
from assay.records.findings import CaseChange, Comparison, MetricChange
from assay.records.golden_set import Case
from assay.records.release_gates import Gate
from assay.scoring.column_values import MIN_JUDGED_SHARE, format_case_ids, format_count
from assay.scoring.paired_scores import (
    AlignedSides,
    ScoreSnapshot,
    check_comparable,
    compare_metric,
    compute_change_signs,
    find_doubtful_gains,
    merge_cases,
    pair_columns,
)
from assay.scoring.slices import find_slice_rows, find_slices
from assay.scoring.summaries import HEADLINE
from assay.stats.arrays import RowIndices
from assay.stats.paired_tests import adjust_benjamini_hochberg, adjust_holm

_Slot = tuple[str, str | None]


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
    p-values are adjusted by Holm for what the `gate` looks at, by Benjamini and Hochberg for the rest. Raises
    InputError where the sides are not comparable: another golden set, judge, rubric, or definition of a metric.
    """
    requested, common = _metrics(metrics, baseline, candidate)
    check_comparable(baseline, candidate.side, candidate.definitions, common)
    cases = merge_cases(candidate.cases, baseline.cases)
    sides = AlignedSides(cases, baseline.table, candidate.table)
    floors = collect_coverage_floors(gate)
    change_by_slot = {
        (name, key): compare_metric(sides, name, key, rows, floors.get((name, key or HEADLINE), MIN_JUDGED_SHARE))
        for key, rows in ((None, None), *_slices(cases, gate, slice_keys).items())
        for name in common
    }
    change_by_slot = _adjusted(change_by_slot, gate)
    changes = _case_changes(sides, common, baseline, candidate)
    trends = {*baseline.table.uncalibrated, *candidate.table.uncalibrated}
    by_slice: dict[str, dict[str, MetricChange]] = {}
    for (name, key), change in change_by_slot.items():
        if key is not None:
            by_slice.setdefault(key, {})[name] = change
    return Comparison(
        baseline=baseline.side,
        candidate=candidate.side,
        metrics={name: change_by_slot[name, None] for name in common},
        slices=by_slice,
        moves=collect_rank_moves(baseline, candidate, sides.ids),
        cases=changes,
        transitions=count_transitions(baseline.attributions, candidate.attributions),
        changed=describe_changes(baseline, candidate),
        moved=explain_metric_changes(changes, baseline.attributions, candidate.attributions, trends),
        notes=tuple(_notes(requested, baseline, candidate)),
    )


def _metrics(metrics: Sequence[str], baseline: ScoreSnapshot, candidate: ScoreSnapshot) -> tuple[list[str], list[str]]:
    """Return the metrics asked for, and those that both sides measured. Raises InputError where there are none."""
    requested = list(metrics) or list(dict.fromkeys((*candidate.metrics, *baseline.metrics)))
    common = [name for name in requested if name in baseline.metrics and name in candidate.metrics]
    if not common:
        names = ", ".join(metrics) or "any metric"
        raise InputError(f"nothing to compare: {names} was not measured on both sides (expected a metric of both)")
    return requested, common


def _slices(cases: Sequence[Case], gate: Gate | None, by: Sequence[str] | None) -> dict[str, RowIndices]:
    """Return the slices asked for, and those that a rule of the gate looks at."""
    rows_by_slice = find_slices(cases, by)
    for rule in gate.rules if gate is not None else ():
        if rule.slice is not None and rule.slice not in rows_by_slice:
            rows_by_slice[rule.slice] = find_slice_rows(cases, rule.slice)
    return rows_by_slice


def _adjusted(change_by_slot: Mapping[_Slot, MetricChange], gate: Gate | None) -> dict[_Slot, MetricChange]:
    """Adjust the p-values of three families: what the gate looks at, the other headlines, the other slices."""
    gated = {(str(parse_metric(rule.metric)), rule.slice) for rule in gate.rules} if gate is not None else set()
    adjusted = dict(change_by_slot)
    headlines = {slot for slot in change_by_slot if slot[1] is None} - gated
    slices = set(change_by_slot) - headlines - gated
    for family, adjust in (
        (gated, adjust_holm),
        (headlines, adjust_benjamini_hochberg),
        (slices, adjust_benjamini_hochberg),
    ):
        values = {slot: p for slot in change_by_slot if slot in family and (p := change_by_slot[slot].p) is not None}
        for slot, p in zip(values, adjust(list(values.values())), strict=True):
            adjusted[slot] = replace(change_by_slot[slot], p_adjusted=p)
    return adjusted


def _case_changes(
    sides: AlignedSides, metrics: Sequence[str], baseline: ScoreSnapshot, candidate: ScoreSnapshot
) -> tuple[CaseChange, ...]:
    """Return the cases, in order, whose attribution differs or whose quality does: time and money are not quality."""
    improved: dict[str, list[str]] = {}
    regressed: dict[str, list[str]] = {}
    doubtful: dict[str, list[str]] = {}
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    for metric in metrics:
        grader = find_metric(parse_metric(metric))
        if grader.family == "operations":
            continue
        paired = pair_columns(*sides.get_columns(metric))
        signs = compute_change_signs(grader, paired.before, paired.after)
        doubtful_rows = find_doubtful_gains(sides.get_columns(metric), paired, signs).tolist()
        pairs = zip(paired.before.tolist(), paired.after.tolist(), strict=True)
        for case_id, sign, in_doubt, pair in zip(
            sides.get_case_ids(paired.rows), signs.tolist(), doubtful_rows, pairs, strict=True
        ):
            if sign:
                kind = doubtful if in_doubt else improved if sign > 0 else regressed
                kind.setdefault(case_id, []).append(metric)
                scores.setdefault(case_id, {})[metric] = pair
    changes = []
    for case_id in sides.ids:
        before, after = baseline.attributions.get(case_id), candidate.attributions.get(case_id)
        other = (
            before is not None and after is not None and get_attribution_label(before) != get_attribution_label(after)
        )
        if other or case_id in scores:
            better_, worse, open_ = (tuple(kind.get(case_id, ())) for kind in (improved, regressed, doubtful))
            changes.append(CaseChange(case_id, before, after, better_, worse, scores.get(case_id, {}), open_))
    return tuple(changes)


def _notes(requested: Collection[str], baseline: ScoreSnapshot, candidate: ScoreSnapshot) -> Iterator[str]:
    nowhere = [name for name in requested if name not in baseline.metrics and name not in candidate.metrics]
    if nowhere:
        yield f"measured on neither side: {', '.join(nowhere)}"
    for mine, other in ((baseline, candidate), (candidate, baseline)):
        yield from (f"{mine.side.name}: {note}" for note in mine.table.notes)
        alone = [name for name in requested if name in mine.metrics and name not in other.metrics]
        if alone:
            yield f"measured on one side only, {mine.side.name}, and not compared: {', '.join(alone)}"
        other_ids = {case.id for case in other.cases}
        cases = [case.id for case in mine.cases if case.id not in other_ids]
        if cases:
            yield f"{format_count(len(cases), 'case')} only {mine.side.name} has: {format_case_ids(cases)}"
        if mine.table.missing:
            count = format_count(len(mine.table.missing), "case")
            yield f"{count} without observation on the side of {mine.side.name}: {format_case_ids(mine.table.missing)}"
