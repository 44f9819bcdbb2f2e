"""Recall of each entity of the questions: how many of the cases that name it got evidence that mentions it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.metrics.entity_recall import find_entities
from assay.metrics.metric import parse_metric_name
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.observations import CONTEXT_STAGE
from assay.records.scores import SCORED
from assay.report.number_format import format_number
from assay.report.tables import Table
from assay.scoring.scored_run import ScoredRun
from assay.text.escaping import withhold_secrets
from assay.text.question_entities import find_question_entities

ENTITY_METRIC = "entity_recall"
MAX_ENTITIES_SHOWN = 20
_MAX_CASES_SHOWN = 5


class EntityRecall(NamedTuple):
    """One entity: in how many measured cases the question names it, and in which of them the evidence does not.

    Of several observations of a case the first counts.
    """

    entity: str
    cases: int
    missing: tuple[str, ...]

    @property
    def recall(self) -> float:
        """The share of the cases whose evidence mentions the entity, in [0, 1]."""
        return 1 - len(self.missing) / self.cases


EntityRecalls = Mapping[str, Mapping[str, Sequence[EntityRecall]]]
"""The recall of each entity by configuration and metric, the lowest first."""


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


def build_entities_table(recalls: EntityRecalls) -> Table:
    """Return the entities that evidence lacked, those with the lowest recall first."""
    rows: list[tuple[str, ...]] = []
    left_out = 0
    for config, by_metric in recalls.items():
        for metric, entities in by_metric.items():
            lacking = [row for row in entities if row.missing]
            left_out += max(0, len(lacking) - MAX_ENTITIES_SHOWN)
            for row in lacking[:MAX_ENTITIES_SHOWN]:
                more = " …" if len(row.missing) > _MAX_CASES_SHOWN else ""
                cases = ", ".join(row.missing[:_MAX_CASES_SHOWN]) + more
                rows.append((config, metric, row.entity, format_number(row.recall), str(row.cases), cases))
    notes = (f"{left_out} more entities are in the JSON report.",) if left_out else ()
    columns = ("Config", "Metric", "Entity", "Recall", "Cases", "Missing in")
    return Table("Entities missing from the evidence", columns, tuple(rows), notes)
