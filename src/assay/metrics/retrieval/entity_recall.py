"""Entity recall: whether what was retrieved, or shown to the model, mentions the codes and names of the question."""

from __future__ import annotations

import numpy as np

from assay.metrics.answers.correctness import no_answer_reason
from assay.metrics.metric import (
    Batch,
    FactKey,
    JoinedRows,
    Metric,
    MetricKey,
    MetricName,
    make_score_column,
    rows_not_applicable,
)
from assay.metrics.parsed_answer import NO_TEXT, ParsedAnswer, format_list, parse_answers
from assay.records.observations import (
    CONTEXT_STAGE,
    RETRIEVED_STAGE,
    describe_unreported_stage,
    find_stage,
)
from assay.records.scores import ScoreColumn
from assay.text.question_entities import find_missing_entities, find_question_entities

NO_ENTITIES = "the question names no code and no name"


class EntityFacts:
    """The share of entities found for each row, and why there is none."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.shares: list[float] = []
        self.reasons: list[str] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        for reading in parse_answers(rows):
            found = find_entities(reading, self.stage)
            is_reason = isinstance(found, str)
            self.reasons.append(found if isinstance(found, str) else "")
            self.shares.append(0.0 if is_reason else _share(found))


def find_entities(reading: ParsedAnswer, stage_name: str) -> tuple[tuple[str, ...], list[str]] | str:
    """Return the entities of the question, and those that no chunk of the stage mentions; or why that is undefined."""
    reason = no_answer_reason(reading.case)
    if reason:
        return reason
    entities = find_question_entities(reading.case.case.question, reading.case.language)
    if not entities:
        return NO_ENTITIES
    stage = find_stage(reading.observation, stage_name)
    if stage is None:
        return describe_unreported_stage(stage_name)
    texts = reading.collect_texts(stage.chunks)
    if texts is None:
        return NO_TEXT
    return entities, find_missing_entities(entities, texts.values())


def _share(found: tuple[tuple[str, ...], list[str]] | str) -> float:
    assert not isinstance(found, str)
    entities, missing = found
    return 1 - len(missing) / len(entities)


def _need_entities(name: MetricName) -> tuple[FactKey, ...]:
    return ((EntityFacts, (name.key_value("stage", CONTEXT_STAGE),)),)


def _compute_column(batch: Batch, name: MetricName) -> ScoreColumn:
    facts = batch.get_facts(EntityFacts, name.key_value("stage", CONTEXT_STAGE))
    reasons = np.asarray(facts.reasons, dtype=object)
    unless = [rows_not_applicable(reasons == reason, reason) for reason in sorted(set(facts.reasons)) if reason]
    return make_score_column(name, np.array(facts.shares, dtype=np.float64), *batch.target_errors, *unless)


def explain_entities(rows: JoinedRows, name: MetricName) -> str:
    """Return which entities of the question are missing from the evidence."""
    entities = find_entities(parse_answers(rows)[0], name.key_value("stage", CONTEXT_STAGE))
    return "" if isinstance(entities, str) else format_list("entity missing from the evidence", entities[1])


ENTITY_METRICS: tuple[Metric, ...] = (
    Metric(
        "entity_recall",
        "context",
        "Share of the codes and names of the question that the shown passages mention.",
        "INC-2024-001, CVE-2024-3094, VPN, Delft Medical",
        keys={
            "stage": MetricKey(CONTEXT_STAGE, (CONTEXT_STAGE, RETRIEVED_STAGE), "the stage whose texts are searched")
        },
        undefined=f"no answer expected, {NO_ENTITIES}, stage not reported, or a chunk of it without text",
        needs=_need_entities,
        compute=_compute_column,
        explain=explain_entities,
    ),
)
