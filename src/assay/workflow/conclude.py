"""From score tables to the findings that reports and exit codes are made of."""

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
    """Return summaries, slices and decisions of every configuration, with what was read and noticed.

    `missing_scored`: cases without an observation were given the worst score, so they do not leave a decision open.
    `not_gated` says why a gate that was asked for was not applied. Regression rules are held against the `baseline`;
    waivers hold until `today` is past their day.
    """
    measured = [name for name in names if all(column_of(table, name) is not None for table in tables.values())]
    slices, clusters = slice_rows(golden.cases, by), cluster_ids(golden.cases)
    judged = {config: replace(each, missing=()) if missing_scored else each for config, each in tables.items()}
    decision, decisions = decisions_of(gate, judged, golden, gate_configs, baseline, today)
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
        warnings=(*warnings, *_unmeasured(names, measured), *_tags_without_cases(gate, golden), *_all_holes(configs)),
        assay_version=__version__,
    )


def _unmeasured(names: Sequence[MetricName], measured: Sequence[MetricName]) -> tuple[str, ...]:
    asked = [str(name) for name in names if name not in measured]
    return (f"not measured, because no verdicts are recorded: {', '.join(asked)}",) if asked else ()


def _tags_without_cases(gate: Gate | None, golden: GoldenSet) -> tuple[str, ...]:
    """Say which tags of a shipped gate no case has; those that its user named fail the gate."""
    absent = [] if gate is None else [tag for tag in absent_tags(gate, golden.cases) if tag in gate.usual_tags]
    return (f"no case has the tag {', '.join(absent)}: the gate holds nothing by it",) if absent else ()


def _all_holes(configs: Mapping[str, ConfigResult]) -> list[str]:
    return sorted(hole for config, each in configs.items() for hole in _holes(config, each))


_FEW_JUDGED = 0.8


def _holes(config: str, result: ConfigResult) -> Iterator[str]:
    """Say what a configuration reported on some rows and not on others, and where too little was judged."""
    holes: dict[str, tuple[int, int]] = {}
    observed = ~np.isin(np.array(result.table.case_ids), result.table.missing)
    for column in result.table.columns.values():
        for code, why in enumerate(column.reasons):
            if why.endswith(NOT_REPORTED):
                gone = int(np.count_nonzero((column.status == NOT_APPLICABLE) & (column.reason == code)))
                scored = int(np.count_nonzero((column.status == SCORED) & observed))
                if gone and scored:
                    what = why if why != NOT_REPORTED else f"{column.metric} {why}"
                    holes[what] = max(holes.get(what, (0, 0)), (gone, scored))
    for what, (gone, scored) in sorted(holes.items()):
        yield f"{config}: {what} on {gone} of {gone + scored} rows: they are left out of the metrics that need it"
    for metric, summary in result.summary.items():
        if metric.startswith("judged") and summary.value is not None and summary.value < _FEW_JUDGED:
            yield f"{config}: {metric} is {summary.value:.3f}: what nobody judged counts as irrelevant"


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
    found = {config: decide(gate, tables[config], golden.cases, baseline=baseline, today=today) for config in gated}
    return overall(found), found


def per_case_names(the_plan: Plan) -> list[str]:
    """Return the per-case columns behind the metrics that were asked for and measured, in their order."""
    return list(dict.fromkeys(str(column_name(name)) for name in the_plan.measured))
