"""From score tables to the findings that reports and exit codes are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.graders.catalog import column_name, is_measurable
from assay.graders.names import MetricName
from assay.model import ConfigResult, Decision, Gate, GoldenInfo, GoldenSet, InputFile, ScoreTable, Scoring
from assay.scoring.gate import decide, gated_configs, overall
from assay.scoring.measured import Clusters
from assay.scoring.slices import slice_rows
from assay.scoring.summary import summaries
from assay.version import __version__


def cluster_codes(golden: GoldenSet) -> Clusters | None:
    """Return the cluster of each case as a number, None where every case stands alone."""
    if all(case.cluster is None for case in golden.cases):
        return None
    names = [case.cluster if case.cluster is not None else f"\0{case.id}" for case in golden.cases]
    code = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([code[name] for name in names], dtype=np.intp)


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
) -> Scoring:
    """Return summaries, slices and decisions of every configuration, with what was read and noticed."""
    measured = [name for name in names if is_measurable(name)]
    slices = slice_rows(golden.cases, by)
    clusters = cluster_codes(golden)
    decision, decisions = decisions_of(gate, tables, golden, gate_configs)
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
