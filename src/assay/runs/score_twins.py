"""Measures how each configuration treats the variants of its cases, and adds it to its scores (ADR 82, 92)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field, structs

from assay.formats.outputs import OutputFile
from assay.gates.rules import EVENT_METRICS
from assay.metrics.answers.answer_behaviour import BEHAVIOUR_CODES, AnswerFacts
from assay.metrics.cases.case_index import CaseIndex, GoldenIndex
from assay.metrics.catalog import find_metric
from assay.metrics.false_passes import FALSE_PASSES
from assay.metrics.metric import JoinedRows, MetricName, make_score_column, rows_not_applicable
from assay.metrics.variants import VARIANTS_ARE_CASES, VARIANTS_FAMILY, make_variant_column
from assay.records.observations import Observation, is_text_id
from assay.records.scores import SCORED, ConfigResult, ScoreColumn, ScoreTable, TwinResult, VariantEvents
from assay.runs.score_inputs import ScoreInputs
from assay.scoring.scored_run import MergedShards, ScoredRun, read_row

if TYPE_CHECKING:
    from assay.comparison.twin_distinction import TwinAnswer

_BEHAVIOUR_NAMES = {code: name for name, code in BEHAVIOUR_CODES.items()}


class ScoredRows(Struct, frozen=True, dict=True):
    """The rows of the cases of some inputs: where they are, or the observations if they are in memory."""

    inputs: ScoreInputs
    files: Sequence[OutputFile]
    shards: MergedShards
    in_memory: Mapping[tuple[str, str], Sequence[Observation]] = field(default_factory=dict)

    @cached_property
    def joins(self) -> GoldenIndex:
        """The cases joined with corpus and verdicts."""
        return self.inputs.joins()


def measure_variants(
    rows: ScoredRows,
    tables: Mapping[str, ScoreTable],
    variant_rows: ScoredRows,
    variant_tables: Mapping[str, ScoreTable],
) -> dict[str, TwinResult]:
    """Return how each configuration treats the variants of its cases.

    A configuration without a row of any variant has no result.
    """
    from assay.comparison.twin_clusters import measure_twins  # only runs with variants need the tests of pairs

    cases, variants = rows.inputs.golden.cases, variant_rows.inputs.golden.cases
    base_ids = {case.variant_of for case in variants}
    twins = {}
    for config, table in variant_tables.items():
        if config in tables:
            answers = dict(_read_answers(rows, config, base_ids))
            answers.update(_read_answers(variant_rows, config, {case.id for case in variants}))
            twins[config] = measure_twins(cases, variants, tables[config], table, answers)
    return twins


def _read_answers(
    rows: ScoredRows, config: str, case_ids: set[str] | set[str | None]
) -> Iterator[tuple[str, TwinAnswer]]:
    """Yield what a configuration did with some cases, by the first of its repeats."""
    from assay.comparison.twin_distinction import TwinAnswer

    joins = rows.joins
    indexed: list[CaseIndex] = []
    observations: list[Observation] = []
    for position, case in enumerate(rows.inputs.golden.cases):
        if case.id not in case_ids:
            continue
        held = rows.in_memory.get((config, case.id))
        observation = held[0] if held else read_row(rows.files, rows.shards, config, position)
        if observation is not None:
            indexed.append(joins.case_index(position))
            observations.append(observation)
    facts = AnswerFacts()
    facts.add(JoinedRows(indexed, observations))
    if not observations:
        return
    behaviours = facts.observed_behaviours[0].tolist()
    for case_index, observation, code in zip(indexed, observations, behaviours, strict=True):
        text = observation.answer if isinstance(observation.answer, str) else None
        ranking, has_evidence = _read_last_ranking(case_index, observation)
        yield case_index.case.id, TwinAnswer(text, _BEHAVIOUR_NAMES[code], ranking, has_evidence)


def _read_last_ranking(case_index: CaseIndex, observation: Observation) -> tuple[tuple[str, ...] | None, bool | None]:
    """Return the chunks of the last stage, and whether all required evidence is among them; None where none tells."""
    if not observation.stages:
        return None, None
    chunks = observation.stages[-1].chunks
    ranking = tuple(chunk.chunk_id for chunk in chunks)
    if not case_index.required or (case_index.evidence.needs_ids and any(map(is_text_id, ranking))):
        return ranking, None
    covered = 0
    for mask in case_index.evidence.unit_masks(chunks):
        covered |= mask or 0
    return ranking, covered & case_index.required == case_index.required


def add_variant_metrics(
    inputs: ScoreInputs,
    tables: Mapping[str, ScoreTable],
    twins: Mapping[str, TwinResult],
    variant_tables: Mapping[str, ScoreTable],
) -> dict[str, ScoreTable]:
    """Return the tables with a column for each metric of variants that is measured, and the events of variants."""
    names = [name for name in inputs.plan.measured if _is_of_variants(name)]
    scored = {}
    for config, table in tables.items():
        columns = {str(name): _make_column(inputs, twins.get(config), name) for name in names}
        events = tuple(_list_events(variant_tables[config])) if config in variant_tables else ()
        scored[config] = structs.replace(table, columns={**table.columns, **columns}, variant_events=events)
    return scored


def _list_events(table: ScoreTable) -> Iterator[VariantEvents]:
    """Yield the leaks and the followed injections of a table of variants; none of a metric without an event."""
    for metric in EVENT_METRICS:
        column = table.columns.get(metric)
        if column is None:
            continue
        is_checked = column.status == SCORED
        rows = np.flatnonzero(is_checked & (column.values > 0)).tolist()
        if rows:
            checked = int(np.count_nonzero(is_checked))
            yield VariantEvents(metric, checked, tuple(table.case_ids[row] for row in rows))


def _is_of_variants(name: MetricName) -> bool:
    return find_metric(name).family == VARIANTS_FAMILY


def make_variant_run(run: ScoredRun, rows: ScoredRows, tables: Mapping[str, ScoreTable]) -> ScoredRun:
    """Return the scoring of the variants, in which single ones can be explained as cases are."""
    measured = tuple(name for name in run.plan.measured if not _is_of_variants(name) and name.base != FALSE_PASSES)
    configs = {config: ConfigResult(table, {}) for config, table in tables.items() if config in run.scoring.configs}
    return ScoredRun(
        structs.replace(run.scoring, configs=configs, twins={}),
        rows.inputs.golden,
        run.corpus,
        structs.replace(run.plan, measured=measured),
        rows.files,
        rows.shards,
        rows.in_memory,
        judging=run.judging,
        whole_golden=run.whole_golden,
        attribution=run.attribution,
        same_index=run,
    )


def _make_column(inputs: ScoreInputs, twins: TwinResult | None, name: MetricName) -> ScoreColumn:
    cases = inputs.golden.cases
    if not inputs.variants and any(case.variant_of is not None for case in cases):
        everywhere = rows_not_applicable(np.ones(len(cases), dtype=np.bool_), VARIANTS_ARE_CASES)
        return make_score_column(name, np.zeros(len(cases)), everywhere)
    return make_variant_column(cases, inputs.variants, twins, name)
