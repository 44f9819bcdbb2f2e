"""Compares a candidate with a baseline, case by case: the gain of each metric, its uncertainty and its cases.

Nothing is dropped silently: cases scored on one side only are listed, and the cost of errors is stated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from assay.errors import InputError
from assay.finding import CaseChange, Comparison, MetricChange
from assay.graders.catalog import grader_of, parse
from assay.metrics.paired import benjamini_hochberg, holm
from assay.model import Case, Gate
from assay.scoring.changes import label_of, moves_of, transitions_of, what_changed, why_moved
from assay.scoring.gains import Sides, better, change_of, held_back
from assay.scoring.gate import floors_of
from assay.scoring.measured import LEAST_JUDGED
from assay.scoring.pairs import all_cases, pairs_of
from assay.scoring.slices import Rows, rows_of_slice, slice_rows
from assay.scoring.snapshot import Snapshot, refuse_incomparable
from assay.scoring.summary import HEADLINE
from assay.scoring.wording import counted, named

_Slot = tuple[str, str | None]


def compare(
    baseline: Snapshot,
    candidate: Snapshot,
    *,
    gate: Gate | None = None,
    metrics: Sequence[str] = (),
    by: Sequence[str] | None = None,
) -> Comparison:
    """Return what the candidate gained and lost, over the cases scored on both sides.

    `metrics` are canonical names, those measured on both sides without them; `by` are the keys of slices. p-values are
    adjusted by Holm for what the `gate` looks at, by Benjamini and Hochberg for the rest. Raises InputError where the
    sides are not comparable: another golden set, judge, rubric, or definition of a metric.
    """
    asked, common = _metrics(metrics, baseline, candidate)
    refuse_incomparable(baseline, candidate.side, candidate.definitions, common)
    cases = all_cases(candidate.cases, baseline.cases)
    sides = Sides(cases, baseline.table, candidate.table)
    floors = floors_of(gate)
    found = {
        (name, key): change_of(sides, name, key, rows, floors.get((name, key or HEADLINE), LEAST_JUDGED))
        for key, rows in ((None, None), *_slices(cases, gate, by).items())
        for name in common
    }
    found = _adjusted(found, gate)
    changes = _case_changes(sides, common, baseline, candidate)
    trends = {*baseline.table.uncalibrated, *candidate.table.uncalibrated}
    by_slice: dict[str, dict[str, MetricChange]] = {}
    for (name, key), change in found.items():
        if key is not None:
            by_slice.setdefault(key, {})[name] = change
    return Comparison(
        baseline=baseline.side,
        candidate=candidate.side,
        metrics={name: found[name, None] for name in common},
        slices=by_slice,
        moves=moves_of(baseline, candidate, sides.ids),
        cases=changes,
        transitions=transitions_of(baseline.attributions, candidate.attributions),
        changed=what_changed(baseline, candidate),
        moved=why_moved(changes, baseline.attributions, candidate.attributions, trends),
        notes=tuple(_notes(asked, baseline, candidate)),
    )


def _metrics(wanted: Sequence[str], baseline: Snapshot, candidate: Snapshot) -> tuple[list[str], list[str]]:
    """Return the metrics asked for, and those that both sides measured. Raises InputError where there are none."""
    asked = list(wanted) or list(dict.fromkeys((*candidate.metrics, *baseline.metrics)))
    common = [name for name in asked if name in baseline.metrics and name in candidate.metrics]
    if not common:
        names = ", ".join(wanted) or "any metric"
        raise InputError(f"nothing to compare: {names} was not measured on both sides (expected a metric of both)")
    return asked, common


def _slices(cases: Sequence[Case], gate: Gate | None, by: Sequence[str] | None) -> dict[str, Rows]:
    """Return the slices asked for, and those that a rule of the gate looks at."""
    found = slice_rows(cases, by)
    for rule in gate.rules if gate is not None else ():
        if rule.slice is not None and rule.slice not in found:
            found[rule.slice] = rows_of_slice(cases, rule.slice)
    return found


def _adjusted(found: Mapping[_Slot, MetricChange], gate: Gate | None) -> dict[_Slot, MetricChange]:
    """Adjust the p-values of three families: what the gate looks at, the other headlines, the other slices."""
    gated = {(str(parse(rule.metric)), rule.slice) for rule in gate.rules} if gate is not None else set()
    result = dict(found)
    headlines = {slot for slot in found if slot[1] is None} - gated
    slices = set(found) - headlines - gated
    for family, adjust in ((gated, holm), (headlines, benjamini_hochberg), (slices, benjamini_hochberg)):
        values = {slot: p for slot in found if slot in family and (p := found[slot].p) is not None}
        for slot, p in zip(values, adjust(list(values.values())), strict=True):
            result[slot] = replace(found[slot], p_adjusted=p)
    return result


def _case_changes(
    sides: Sides, metrics: Sequence[str], baseline: Snapshot, candidate: Snapshot
) -> tuple[CaseChange, ...]:
    """Return the cases, in order, whose attribution differs or whose quality does: time and money are not quality."""
    improved: dict[str, list[str]] = {}
    regressed: dict[str, list[str]] = {}
    doubtful: dict[str, list[str]] = {}
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    for metric in metrics:
        grader = grader_of(parse(metric))
        if grader.family == "operations":
            continue
        found = pairs_of(*sides.columns(metric))
        moved = better(grader, found.before, found.after)
        held = held_back(sides.columns(metric), found, moved).tolist()
        pairs = zip(found.before.tolist(), found.after.tolist(), strict=True)
        for case_id, sign, in_doubt, pair in zip(sides.named(found.rows), moved.tolist(), held, pairs, strict=True):
            if sign:
                kind = doubtful if in_doubt else improved if sign > 0 else regressed
                kind.setdefault(case_id, []).append(metric)
                scores.setdefault(case_id, {})[metric] = pair
    changes = []
    for case_id in sides.ids:
        before, after = baseline.attributions.get(case_id), candidate.attributions.get(case_id)
        other = before is not None and after is not None and label_of(before) != label_of(after)
        if other or case_id in scores:
            better_, worse, open_ = (tuple(kind.get(case_id, ())) for kind in (improved, regressed, doubtful))
            changes.append(CaseChange(case_id, before, after, better_, worse, scores.get(case_id, {}), open_))
    return tuple(changes)


def _notes(asked: Collection[str], baseline: Snapshot, candidate: Snapshot) -> Iterator[str]:
    nowhere = [name for name in asked if name not in baseline.metrics and name not in candidate.metrics]
    if nowhere:
        yield f"measured on neither side: {', '.join(nowhere)}"
    for mine, other in ((baseline, candidate), (candidate, baseline)):
        yield from (f"{mine.side.name}: {note}" for note in mine.table.notes)
        alone = [name for name in asked if name in mine.metrics and name not in other.metrics]
        if alone:
            yield f"measured on one side only, {mine.side.name}, and not compared: {', '.join(alone)}"
        known = {case.id for case in other.cases}
        cases = [case.id for case in mine.cases if case.id not in known]
        if cases:
            yield f"{counted(len(cases), 'case')} only {mine.side.name} has: {named(cases)}"
        if mine.table.missing:
            count = counted(len(mine.table.missing), "case")
            yield f"{count} without observation on the side of {mine.side.name}: {named(mine.table.missing)}"
