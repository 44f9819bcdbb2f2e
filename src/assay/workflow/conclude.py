"""From score tables to the findings that reports and exit codes are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.graders.catalog import column_name, is_measurable
from assay.graders.names import MetricName
from assay.model import ConfigResult, Decision, Gate, GoldenInfo, GoldenSet, InputFile, ScoreTable, Scoring
from assay.scoring.gate import decide, gated_configs, overall
from assay.scoring.measured import cluster_ids
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
) -> Scoring:
    """Return summaries, slices and decisions of every configuration, with what was read and noticed.

    `missing_scored`: cases without an observation were given the worst score, so they do not leave a decision open.
    """
    measured = [name for name in names if is_measurable(name)]
    slices = slice_rows(golden.cases, by)
    clusters = cluster_ids(golden.cases)
    judged = {config: replace(each, missing=()) if missing_scored else each for config, each in tables.items()}
    decision, decisions = decisions_of(gate, judged, golden, gate_configs)
    configs = {}
    for config, scores in tables.items():
        headline, by_slice = summaries(scores, measured, slices, clusters)
        configs[config] = ConfigResult(scores, headline, by_slice, decisions.get(config))
    return Scoring(
        golden=info,
        configs=configs,
        decision=decision,
        inputs=inputs,
        gate=gate,
        stages=dict(stages or {}),
        warnings=warnings,
        assay_version=__version__,
    )


def decisions_of(
    gate: Gate | None, tables: Mapping[str, ScoreTable], golden: GoldenSet, configs: Sequence[str] = ()
) -> tuple[Decision, dict[str, Decision]]:
    """Return the overall decision and that of each gated configuration."""
    gated = gated_configs(gate, list(tables), configs)
    found = {config: decide(gate, tables[config], golden.cases) for config in gated}
    return overall(found), found


def per_case_names(names: Sequence[MetricName]) -> list[str]:
    """Return the per-case columns behind the metrics asked for, in their order."""
    return list(dict.fromkeys(str(column_name(name)) for name in names if is_measurable(name)))
