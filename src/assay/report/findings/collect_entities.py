"""Collects which entities of the questions the evidence of a run mentions; reads observations that lack some again."""

from __future__ import annotations

from collections.abc import Sequence

from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.metric import parse_metric_name
from assay.metrics.parsed_answer import ParsedAnswer
from assay.metrics.retrieval.entity_recall import find_entities
from assay.records.observations import CONTEXT_STAGE, Observation
from assay.records.scores import SCORED
from assay.report.findings.entity_tables import EntityRecall, EntityRecalls
from assay.scoring.scored_run import ScoredRun
from assay.text.escaping import withhold_secrets
from assay.text.question_entities import find_question_entities

ENTITY_METRIC = "entity_recall"


def tabulate_entities(run: ScoredRun) -> EntityRecalls:
    """Return the recall of each entity for every configuration and every `entity_recall` that was scored.

    Only observations of cases with a missing entity are read again.
    """
    recalls: dict[str, dict[str, Sequence[EntityRecall]]] = {}
    for config, result in run.scoring.configs.items():
        for metric in sorted(result.table.columns):
            if parse_metric_name(metric).base == ENTITY_METRIC:
                rows = _tabulate_metric(run, config, metric)
                if rows:
                    recalls.setdefault(config, {})[metric] = rows
    return recalls


def _tabulate_metric(run: ScoredRun, config: str, metric: str) -> list[EntityRecall]:
    table = run.scoring.configs[config].table
    column = table.columns[metric]
    stage = parse_metric_name(metric).key_value("stage", CONTEXT_STAGE)
    counts: dict[str, int] = {}
    missing: dict[str, list[str]] = {}
    for row, case_id in enumerate(table.case_ids):
        if column.status[row] != SCORED:
            continue
        absent: Sequence[str] = ()
        case = run.joins.case_index(run.joins.position[case_id])
        if column.values[row] < 1:
            observation = run.read_observation(config, case_id)
            if observation is None:
                continue
            looked_for = find_entities(ParsedAnswer(case, observation), stage)
            absent = () if isinstance(looked_for, str) else looked_for[1]
        for entity in find_question_entities(case.case.question, case.language):
            shown = withhold_secrets(entity, case.case.forbidden_text)
            counts[shown] = counts.get(shown, 0) + 1
            if entity in absent:
                missing.setdefault(shown, []).append(case_id)
    recalls = [EntityRecall(entity, count, tuple(missing.get(entity, ()))) for entity, count in counts.items()]
    return sorted(recalls, key=lambda row: (row.recall, -row.cases, row.entity))


def mark_entities(case: CaseIndex, observation: Observation) -> tuple[tuple[str, bool], ...]:
    """Return the entities of a question, each with whether the context mentions it; none where that is undefined."""
    looked_for = find_entities(ParsedAnswer(case, observation), CONTEXT_STAGE)
    if isinstance(looked_for, str):
        return ()
    entities, missing = looked_for
    return tuple((entity, entity not in missing) for entity in entities)
