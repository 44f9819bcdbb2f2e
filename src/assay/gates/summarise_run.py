"""The result of a run: summaries, slices and decisions of every configuration, and the warnings about them.

The summaries and slices that the rules of a gate need are computed here from the score tables of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.gates.decision_weight import combine_decisions
from assay.gates.release_decision import collect_coverage_floors, decide_configs
from assay.gates.set_changes import collect_set_changes
from assay.gates.tag_rules import find_absent_tags
from assay.gates.ungated_decision import describe_partial
from assay.metrics.answer_metric import BY_ENTAILMENT
from assay.metrics.metric import MetricName
from assay.records.counts import format_count
from assay.records.golden_set import GoldenSet
from assay.records.release_gates import Gate
from assay.records.requests import ScoreRequest
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ConfigResult, GoldenInfo, ScoreTable, ScoringResult
from assay.scoring.case_clusters import number_clusters
from assay.scoring.column_values import NOT_REPORTED, find_column
from assay.scoring.language_differences import describe_language_differences
from assay.scoring.paired_scores import list_regression_metrics
from assay.scoring.same_recording import find_same_recording
from assay.scoring.slices import describe_selection, find_slices
from assay.scoring.summaries import summarise_table
from assay.scoring.version_match import VersionMatch
from assay.scoring.ways_out import describe_ways_out
from assay.version import __version__


def unmeasured_warning(names: Sequence[MetricName], measured: Sequence[MetricName]) -> tuple[str, ...]:
    missing_names = [name for name in names if name not in measured]
    by_model = [str(name) for name in missing_names if name.key_value("by", "") == BY_ENTAILMENT]
    by_judge = [str(name) for name in missing_names if str(name) not in by_model]
    reasons = ("no verdicts are recorded", by_judge), ("no --entailment-model is named", by_model)
    return tuple(f"not measured, because {reason}: {', '.join(listed)}" for reason, listed in reasons if listed)


def absent_tags_warning(gate: Gate | None, golden: GoldenSet) -> tuple[str, ...]:
    """Return the warning about blocking tags of a built-in profile that no case has.

    Tags named by the user fail the gate. Those of zero tolerance, which nobody wrote, need no warning: leaks and
    followed injections are looked for on every case.
    """
    if gate is None:
        return ()
    absent_tags = find_absent_tags(gate, golden.cases)
    tags_of_profile = [tag for tag in absent_tags if tag in gate.usual_tags and tag in gate.blocking_tags]
    if not tags_of_profile:
        return ()
    return (f"no case has the tag {', '.join(tags_of_profile)}: the rule of the profile for it checks nothing",)


def same_scores_warning(
    gate: Gate | None, tables: Mapping[str, ScoreTable], baseline: ScoreTable | None, own_config: str
) -> list[str]:
    """Return the warning that nothing tells a second run from the answers of the baseline: equal scores, no times."""
    if gate is None or baseline is None or not list_regression_metrics(gate):
        return []
    same = [
        config
        for config, table in tables.items()
        if config != own_config and find_same_recording(baseline, table) == "no times"
    ]
    if not same:
        return []
    return [
        f"the baseline has the same scores as {', '.join(same)} on every case, and no times are recorded: nothing "
        "tells whether the system was run a second time (report latency_ms)"
    ]


def all_reporting_gaps(configs: Mapping[str, ConfigResult]) -> list[str]:
    return sorted(warning for config, result in configs.items() for warning in _reporting_gap_warnings(config, result))


_MIN_JUDGED_SHARE = 0.8


def _count_reporting_gaps(result: ConfigResult) -> dict[str, tuple[int, int, int]]:
    """Return, for what some rows did not report, their number, that of the rows with an output, and how many rows were
    scored by it all the same.

    A metric does not apply to some rows for another reason, which hides that they did not report it either: of all
    metrics that need the same, the one that tells of most rows counts.
    """
    observed = ~np.isin(np.array(result.table.case_ids), result.table.missing)
    gaps: dict[str, tuple[int, int, int]] = {}
    for column in result.table.columns.values():
        for code, reason in enumerate(column.reasons):
            if NOT_REPORTED not in reason:
                continue
            missing_count = int(np.count_nonzero((column.status == NOT_APPLICABLE) & (column.reason == code)))
            scored = int(np.count_nonzero((column.status == SCORED) & observed))
            feature = reason.partition(" (")[0] if reason != NOT_REPORTED else f"{column.metric} {reason}"
            if missing_count:
                most, rows, most_scored = gaps.get(feature, (0, 0, 0))
                rows = max(rows, int(np.count_nonzero(observed & (column.status != ERROR))))
                gaps[feature] = (max(most, missing_count), rows, max(most_scored, scored))
    return gaps


def _reporting_gap_warnings(config: str, result: ConfigResult) -> Iterator[str]:
    """Yield warnings about data that a configuration reported on some rows only, and about too few judged chunks."""
    gaps = _count_reporting_gaps(result)
    for feature, (missing_count, rows, scored) in sorted(gaps.items()):
        is_told = any(feature != other and feature.endswith(f"and {other}") for other in gaps)
        if not scored or is_told:
            continue  # nothing of it was measured on any row, or another line says the same of more rows
        share = f"{missing_count} of {format_count(rows, 'row')}"
        if missing_count < rows:
            yield f"{config}: {feature} on {share}: they are left out of the metrics that need it"
        else:  # as citations are, which a text may have as markers
            others = "the others are left out" if scored < rows else "none is left out"
            yield f"{config}: {feature} on {share}: read from the answer on {scored}, {others}"
    for metric, summary in result.summary.items():
        if metric.startswith("judged") and summary.value is not None and summary.value < _MIN_JUDGED_SHARE:
            yield f"{config}: {metric} is {summary.value:.3f}: unjudged chunks count as irrelevant"


class GateBaseline(Struct, frozen=True):
    """The baseline of regression rules: its scores, which configuration of the run is the baseline itself, and what a
    baseline of another version of the golden set shares with it."""

    table: ScoreTable | None = None
    own_config: str = ""
    match: VersionMatch | None = None


NO_BASELINE = GateBaseline()


def summarise_run(
    golden: GoldenSet,
    info: GoldenInfo,
    tables: Mapping[str, ScoreTable],
    names: Sequence[MetricName],
    request: ScoreRequest,
    gate: Gate | None,
    baseline: GateBaseline = NO_BASELINE,
) -> ScoringResult:
    """Return summaries, slices and decisions of every configuration, with the warnings that follow from them.

    Where cases without an observation were given the worst score, they do not leave a decision open. No gate is applied
    to a part of the golden set.
    """
    measured = [name for name in names if all(find_column(table, name) is not None for table in tables.values())]
    slices, clusters = find_slices(golden.cases, request.scoring.by), number_clusters(golden.cases)
    decided_tables = dict(tables)
    if request.scoring.missing_as_zero:
        decided_tables = {config: replace(table, missing=()) for config, table in tables.items()}
    selection = describe_selection(request.inputs.limit, request.inputs.only)
    is_gated = gate is not None
    if selection:
        gate = None
    decision, decisions = decide_configs(
        gate,
        decided_tables,
        golden,
        request.gate.configs,
        baseline.table,
        request.gate.today,
        changes=collect_set_changes(info, baseline.match, has_baseline=baseline.table is not None),
        own_config=baseline.own_config,
        unverified=request.scoring.unverified,
    )
    if selection:
        decisions = {
            config: describe_partial(decided, selection, gated=is_gated) for config, decided in decisions.items()
        }
        decision = combine_decisions(decisions)
    configs = {}
    for config, scores in tables.items():
        headline, by_slice = summarise_table(scores, measured, slices, clusters, collect_coverage_floors(gate))
        configs[config] = ConfigResult(scores, headline, by_slice, decisions.get(config))
    return ScoringResult(
        golden=info,
        configs=configs,
        decision=decision,
        gate=gate,
        warnings=(
            *unmeasured_warning(names, measured),
            *absent_tags_warning(gate, golden),
            *same_scores_warning(gate, tables, baseline.table, baseline.own_config),
            *all_reporting_gaps(configs),
            *describe_language_differences(golden.cases, tables),
            *describe_ways_out(golden.cases, tables),
        ),
        assay_version=__version__,
    )
