"""Measures how often a pass is wrong, from a sample that people read, and adds it to the scores (ADR 188)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import structs

from assay.metrics.false_passes import FALSE_PASSES, make_false_pass_column
from assay.records.scores import PassSample, ScoreTable
from assay.runs.score_inputs import ScoreInputs
from assay.scoring.passed_answers import find_read_sample, list_outcomes, measure_pass_sample
from assay.scoring.scored_run import MergedShards


def measure_pass_samples(inputs: ScoreInputs, gathered: MergedShards, configs: Iterable[str]) -> dict[str, PassSample]:
    """Return, for each configuration of which people read answers that rules passed, how many of them are wrong."""
    passes = gathered.block.passes
    if passes is None:
        return {}
    sizes, samples = _list_sample_sizes(inputs), {}
    for config in configs:
        sample = measure_pass_sample(passes.take(gathered.list_first_rows(config)), sizes)
        if sample is not None:
            samples[config] = sample
    return samples


def add_false_passes(
    inputs: ScoreInputs, gathered: MergedShards, tables: Mapping[str, ScoreTable]
) -> dict[str, ScoreTable]:
    """Return the tables, if it is asked for, with a column that says which answers of the sample are wrong."""
    if all(name.base != FALSE_PASSES for name in inputs.plan.measured):
        return dict(tables)
    added = {}
    for config, table in tables.items():
        column = make_false_pass_column(len(table.case_ids), _find_outcomes(inputs, gathered, config))
        added[config] = structs.replace(table, columns={**table.columns, column.metric: column})
    return added


def _find_outcomes(inputs: ScoreInputs, gathered: MergedShards, config: str) -> dict[int, bool | None] | None:
    """Return whether each answer of the sample is wrong, by the position of its case; None without a sample."""
    if gathered.block.passes is None:
        return None
    rows = gathered.list_first_rows(config)
    passes = gathered.block.passes.take(rows)
    drawn = find_read_sample(passes, _list_sample_sizes(inputs))
    if drawn is None:
        return None
    return dict(zip(gathered.block.case[rows[drawn]].tolist(), list_outcomes(passes, drawn), strict=True))


def _list_sample_sizes(inputs: ScoreInputs) -> set[int]:
    """Return the sizes of the samples for which people read answers that rules passed."""
    golden = inputs.whole_golden or inputs.golden
    return {label.sample for case in golden.cases for label in case.answer_labels if label.sample is not None}
