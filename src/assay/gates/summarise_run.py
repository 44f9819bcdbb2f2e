"""The result of a run: summaries, slices and decisions of every configuration, with inputs and warnings.

The summaries and slices that the rules of a gate need are computed here from the score tables of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.gates.decision_weight import combine_decisions
from assay.gates.release_decision import collect_coverage_floors, decide_configs
from assay.gates.run_warnings import absent_tags_warning, all_reporting_gaps, same_scores_warning, unmeasured_warning
from assay.gates.set_changes import collect_set_changes
from assay.gates.ungated_decision import describe_partial
from assay.metrics.metric import MetricName
from assay.records.golden_set import GoldenSet
from assay.records.release_gates import Gate
from assay.records.scores import ConfigResult, GoldenInfo, InputFile, ScoreTable, ScoringResult, TargetFailure
from assay.scoring.case_clusters import number_clusters
from assay.scoring.column_values import find_column
from assay.scoring.language_differences import describe_language_differences
from assay.scoring.slices import find_slices
from assay.scoring.summaries import summarise_table
from assay.scoring.version_match import VersionMatch
from assay.scoring.ways_out import describe_ways_out
from assay.version import __version__


def summarise_run(
    golden: GoldenSet,
    info: GoldenInfo,
    tables: Mapping[str, ScoreTable],
    names: Sequence[MetricName],
    gate: Gate | None,
    gate_configs: Sequence[str] = (),
    *,
    by: Sequence[str] | None = None,
    inputs: tuple[InputFile, ...] = (),
    stages: Mapping[str, str] | None = None,
    failures: Mapping[str, tuple[TargetFailure, ...]] | None = None,
    repeated: Mapping[str, tuple[TargetFailure, ...]] | None = None,
    warnings: tuple[str, ...] = (),
    missing_scored: bool = False,
    selection: str = "",
    baseline: ScoreTable | None = None,
    own_config: str = "",
    today: str | None = None,
    match: VersionMatch | None = None,
) -> ScoringResult:
    """Return summaries, slices and decisions of every configuration, with the inputs and warnings of the run.

    `missing_scored` says that cases without an observation were given the worst score, so that they do not leave a
    decision open. `selection` says which part of the golden set was scored, to which no gate is applied. Regression
    rules compare with the
    `baseline`, which `own_config` of this run may itself be; a waiver applies until `today` is past its last day.
    `match` says what a baseline of another version of the golden set shares with it.
    """
    measured = [name for name in names if all(find_column(table, name) is not None for table in tables.values())]
    slices, clusters = find_slices(golden.cases, by), number_clusters(golden.cases)
    decided_tables = dict(tables)
    if missing_scored:
        decided_tables = {config: replace(table, missing=()) for config, table in tables.items()}
    is_gated = gate is not None
    if selection:
        gate = None
    decision, decisions = decide_configs(
        gate,
        decided_tables,
        golden,
        gate_configs,
        baseline,
        today,
        changes=collect_set_changes(info, match, has_baseline=baseline is not None),
        own_config=own_config,
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
        inputs=inputs,
        gate=gate,
        stages=dict(stages or {}),
        failures=dict(failures or {}),
        repeated=dict(repeated or {}),
        warnings=(
            *warnings,
            *unmeasured_warning(names, measured),
            *absent_tags_warning(gate, golden),
            *same_scores_warning(gate, tables, baseline, own_config),
            *all_reporting_gaps(configs),
            *describe_language_differences(golden.cases, tables),
            *describe_ways_out(golden.cases, tables),
        ),
        assay_version=__version__,
    )
