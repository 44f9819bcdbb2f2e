"""Adds to a scored run how each configuration treats the variants of its cases (ADR 82)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import structs

from assay.comparison.twin_clusters import TwinAnswer, measure_twins
from assay.metrics.answer_behaviour import BEHAVIOUR_CODES, AnswerFacts
from assay.metrics.case_index import CaseIndex
from assay.metrics.metric import JoinedRows
from assay.records.observations import Observation
from assay.records.scores import ScoreTable
from assay.runs.score_inputs import ScoreInputs
from assay.scoring.scored_run import MergedShards, ScoredRun

_BEHAVIOUR_NAMES = {code: name for name, code in BEHAVIOUR_CODES.items()}


def add_twins(
    run: ScoredRun,
    inputs: ScoreInputs,
    gathered: MergedShards,
    tables: Mapping[str, ScoreTable],
    held: Mapping[tuple[str, str], Observation] | None = None,
) -> None:
    """Put the results of variants into a scored run, by configuration.

    `gathered` are the shards of the variants' rows and `tables` their scores; `held` are their observations if they are
    in memory. A configuration without a row of any variant has no result.
    """
    variant_inputs = inputs.for_variants()
    variant_run = ScoredRun(
        run.scoring,
        variant_inputs.golden,
        run.corpus,
        run.plan,
        run.files,
        gathered,
        observations_in_memory=held or {},
        judging=run.judging,
        whole_golden=run.whole_golden,
        attribution=run.attribution,
    )
    twins = {}
    for config, table in tables.items():
        if config not in run.scoring.configs:
            continue
        base_ids = {case.variant_of for case in inputs.variants}
        answers = dict(_read_answers(run, config, base_ids))
        answers.update(_read_answers(variant_run, config, {case.id for case in inputs.variants}))
        base_table = run.scoring.configs[config].table
        twins[config] = measure_twins(run.golden.cases, inputs.variants, base_table, table, answers)
    run.scoring = structs.replace(run.scoring, twins=twins)


def _read_answers(
    run: ScoredRun, config: str, case_ids: set[str] | set[str | None]
) -> Iterator[tuple[str, TwinAnswer]]:
    """Yield what a configuration did with some cases, by the first of its repeats."""
    indexed: list[CaseIndex] = []
    observations: list[Observation] = []
    for position, case in enumerate(run.golden.cases):
        observation = run.read_observation(config, case.id) if case.id in case_ids else None
        if observation is not None:
            indexed.append(run.joins.case_index(position))
            observations.append(observation)
    facts = AnswerFacts()
    facts.add(JoinedRows(indexed, observations))
    if not observations:
        return
    behaviours = facts.observed_behaviours[0].tolist()
    for case_index, observation, code in zip(indexed, observations, behaviours, strict=True):
        text = observation.answer if isinstance(observation.answer, str) else None
        yield case_index.case.id, TwinAnswer(text, _BEHAVIOUR_NAMES[code])
