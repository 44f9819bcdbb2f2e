"""Summaries, slices, warnings and decisions of a run, computed from its score tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from assay.graders.catalog import column_name
from assay.graders.names import MetricName
from assay.model import (
    NOT_APPLICABLE,
    SCORED,
    ConfigResult,
    Decision,
    Gate,
    GoldenInfo,
    GoldenSet,
    InputFile,
    ScoreTable,
    Scoring,
)
from assay.scoring.engine import Plan
from assay.scoring.gate import absent_tags, decide, floors_of, gated_configs, overall
from assay.scoring.measured import NOT_REPORTED, cluster_ids, column_of
from assay.scoring.slices import slice_rows
from assay.scoring.summary import summaries
from assay.version import __version__


def conclude(
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
    warnings: tuple[str, ...] = (),
    missing_scored: bool = False,
    not_gated: str = "",
    baseline: ScoreTable | None = None,
    today: str | None = None,
) -> Scoring:
    """Return summaries, slices and decisions of every configuration, with the inputs and warnings of the run.

    `missing_scored` says that cases without an observation were given the worst score, so that they do not leave a
    decision open. `not_gated` is the reason why a requested gate was not applied. Regression rules compare with the
    `baseline`; a waiver applies until `today` is past its last day.
    """
    measured = [name for name in names if all(column_of(table, name) is not None for table in tables.values())]
    slices, clusters = slice_rows(golden.cases, by), cluster_ids(golden.cases)
    decided_tables = dict(tables)
    if missing_scored:
        decided_tables = {config: replace(table, missing=()) for config, table in tables.items()}
    decision, decisions = decisions_of(gate, decided_tables, golden, gate_configs, baseline, today)
    if not_gated and decision.outcome == "PASS":
        decision = Decision("PASS", (not_gated,))
        decisions = dict.fromkeys(decisions, decision)
    configs = {}
    for config, scores in tables.items():
        headline, by_slice = summaries(scores, measured, slices, clusters, floors_of(gate))
        configs[config] = ConfigResult(scores, headline, by_slice, decisions.get(config))
    return Scoring(
        golden=info,
        configs=configs,
        decision=decision,
        inputs=inputs,
        gate=gate,
        stages=dict(stages or {}),
        warnings=(
            *warnings,
            *_unmeasured_warning(names, measured),
            *_absent_tags_warning(gate, golden),
            *_all_reporting_gaps(configs),
        ),
        assay_version=__version__,
    )


def _unmeasured_warning(names: Sequence[MetricName], measured: Sequence[MetricName]) -> tuple[str, ...]:
    missing_names = [str(name) for name in names if name not in measured]
    return (f"not measured, because no verdicts are recorded: {', '.join(missing_names)}",) if missing_names else ()


def _absent_tags_warning(gate: Gate | None, golden: GoldenSet) -> tuple[str, ...]:
    """Return the warning about tags of a built-in profile that no case has; tags named by the user fail the gate."""
    absent_tags_of_profile = (
        [] if gate is None else [tag for tag in absent_tags(gate, golden.cases) if tag in gate.usual_tags]
    )
    return (
        (f"no case has the tag {', '.join(absent_tags_of_profile)}: the gate's rules for it check nothing",)
        if absent_tags_of_profile
        else ()
    )


def _all_reporting_gaps(configs: Mapping[str, ConfigResult]) -> list[str]:
    return sorted(warning for config, result in configs.items() for warning in _reporting_gap_warnings(config, result))


_MIN_JUDGED_SHARE = 0.8


def _reporting_gap_warnings(config: str, result: ConfigResult) -> Iterator[str]:
    """Yield warnings about data that a configuration reported on some rows only, and about too few judged chunks."""
    counts_by_feature: dict[str, tuple[int, int]] = {}
    observed = ~np.isin(np.array(result.table.case_ids), result.table.missing)
    for column in result.table.columns.values():
        for code, reason in enumerate(column.reasons):
            if reason.endswith(NOT_REPORTED):
                missing_count = int(np.count_nonzero((column.status == NOT_APPLICABLE) & (column.reason == code)))
                scored = int(np.count_nonzero((column.status == SCORED) & observed))
                if missing_count and scored:
                    feature = reason if reason != NOT_REPORTED else f"{column.metric} {reason}"
                    counts_by_feature[feature] = max(counts_by_feature.get(feature, (0, 0)), (missing_count, scored))
    for feature, (missing_count, scored) in sorted(counts_by_feature.items()):
        rows = f"{missing_count} of {missing_count + scored} rows"
        yield f"{config}: {feature} on {rows}: they are left out of the metrics that need it"
    for metric, summary in result.summary.items():
        if metric.startswith("judged") and summary.value is not None and summary.value < _MIN_JUDGED_SHARE:
            yield f"{config}: {metric} is {summary.value:.3f}: unjudged chunks count as irrelevant"


def decisions_of(
    gate: Gate | None,
    tables: Mapping[str, ScoreTable],
    golden: GoldenSet,
    configs: Sequence[str] = (),
    baseline: ScoreTable | None = None,
    today: str | None = None,
) -> tuple[Decision, dict[str, Decision]]:
    """Return the overall decision and that of each gated configuration."""
    gated = gated_configs(gate, list(tables), configs)
    decisions = {config: decide(gate, tables[config], golden.cases, baseline=baseline, today=today) for config in gated}
    return overall(decisions), decisions


def per_case_names(the_plan: Plan) -> list[str]:
    """Return the per-case columns behind the metrics that were requested and measured, in their order."""
    return list(dict.fromkeys(str(column_name(name)) for name in the_plan.measured))
