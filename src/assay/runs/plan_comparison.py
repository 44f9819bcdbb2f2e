"""A plan of how many cases a comparison needs, and the comparison of all pairs of systems, on sides as people name
them: results in memory, run folders, and saved baselines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay.comparison.all_pairs import PairwiseComparison, compare_all_pairs
from assay.comparison.case_plan import (
    CORRELATION,
    CasePlan,
    PlanAims,
    SpreadEstimate,
    check_aims,
    choose_assumption,
    estimate_from_one,
    estimate_from_pair,
    plan_cases,
)
from assay.comparison.compare_scores import take_snapshot
from assay.metrics.catalog import parse_metric
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem
from assay.runs.compare_runs import list_labels, load_sides
from assay.runs.score_result import ScoreResult
from assay.scoring.paired_scores import ScoreSnapshot

Side = ScoreResult | str | Path
_MOST_PILOTS = 2


class PlanRequest(Struct, frozen=True):
    """What a plan is asked for: its aims, and where the spread of two systems comes from."""

    aims: PlanAims
    rate: float | None = None
    changed: float | None = None
    sd: float | None = None
    correlation: float | None = None


def plan_comparison(request: PlanRequest, pilots: Sequence[Side] = ()) -> CasePlan:
    """Return how many cases a comparison needs, from a pilot of one or two systems or from what is assumed.

    Raises InputError for aims and assumptions out of range, for both a pilot and an assumption, and for a pilot of too
    few cases.
    """
    aims = replace(request.aims, metric=str(parse_metric(request.aims.metric)))
    check_aims(aims)
    return plan_cases(aims, _estimate_spread(replace(request, aims=aims), pilots))


def _estimate_spread(request: PlanRequest, pilots: Sequence[Side]) -> SpreadEstimate:
    correlation = CORRELATION if request.correlation is None else request.correlation
    assumptions = (("rate", request.rate), ("changed", request.changed), ("sd", request.sd))
    sides = list_sides(pilots, [request.aims.metric])
    if not sides:
        return choose_assumption(assumptions, correlation)
    assumed = [name for name, value in assumptions if value is not None]
    if assumed or len(sides) > _MOST_PILOTS:
        got = " and ".join([format_count(len(sides), "system"), *assumed])
        message = f"a pilot of one or two systems alone (got {got}; expected RUN:CONFIG of each)"
        raise InputError([Problem("", None, "pilot", message, "E_PLAN")])
    if len(sides) == 1:
        return estimate_from_one(sides[0], request.aims.metric, correlation)
    return estimate_from_pair(sides[0], sides[1], request.aims.metric)


def compare_systems(
    sides: Sequence[Side], metrics: Sequence[str] = (), names: Sequence[str] = ()
) -> PairwiseComparison:
    """Return the comparison of every pair of systems; a side of several configurations stands for all of them, unless
    each has a name.

    Raises InputError as `compare_all_pairs` does.
    """
    snapshots = list_sides(sides, metrics)
    if not names:
        return compare_all_pairs(snapshots, metrics)
    if len(snapshots) != len(names):
        got = f"{format_count(len(snapshots), 'configuration')} for {format_count(len(names), 'name')}"
        message = f"one system for each name (got {got}; expected RUN:CONFIG, or results of one configuration)"
        raise InputError([Problem("", None, "systems", message, "E_PAIRS")])
    named = [name_side(snapshot, name) for snapshot, name in zip(snapshots, names, strict=True)]
    return compare_all_pairs(named, metrics)


def render_result_json(result: CasePlan | PairwiseComparison) -> str:
    """Return a plan or the comparison of all pairs as one line of JSON; sequences of case ids are lists."""
    return msgspec.json.encode(result, enc_hook=list).decode() + "\n"


def list_sides(sides: Sequence[Side], metrics: Sequence[str] = ()) -> list[ScoreSnapshot]:
    """Return every configuration of the sides, without causes; those of one name are called by
    their place too.

    `metrics` are measured in addition to those of the runs.
    """
    labels = list_labels([str(side) for side in sides if isinstance(side, (str, Path))])
    snapshots: list[ScoreSnapshot] = []
    places: list[str] = []
    for number, side in enumerate(sides, 1):
        if isinstance(side, ScoreResult):
            configurations = [take_snapshot(side.run, config, attributed=False) for config in side.configs]
        else:
            configurations = load_sides(str(side), metrics, labels=labels)
        snapshots += configurations
        places += [str(number) if isinstance(side, ScoreResult) else str(side)] * len(configurations)
    names = [snapshot.side.name for snapshot in snapshots]
    if len(set(names)) == len(names):
        return snapshots
    return [
        name_side(snapshot, f"{snapshot.side.name} ({place})")
        for snapshot, place in zip(snapshots, places, strict=True)
    ]


def name_side(snapshot: ScoreSnapshot, name: str) -> ScoreSnapshot:
    """Return a side under another name."""
    return replace(snapshot, side=replace(snapshot.side, name=name))
