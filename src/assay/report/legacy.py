"""The JSON of the legacy runner, key for key, for scripts that read it.

It has no keys for missing cases, statuses, intervals or the decision: those are in the JSON report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.graders.checks import RUNNER_CHECKS
from assay.graders.stages import CONTEXT, RETRIEVED, find_stage
from assay.model import Case, Observation, ScoreTable
from assay.report.figures import score_of
from assay.report.names import RUNNER_METRICS, first_present

Row = dict[str, Any]


def legacy_rows(
    cases: Iterable[Case], table: ScoreTable, observations: Iterable[tuple[str, Observation]], stage: str = RETRIEVED
) -> list[Row]:
    """Return one row per case that has an observation, in golden order.

    `observations` are (case id, observation) pairs of one configuration; of repeats the first is shown, while scores
    combine all. A metric without a number, or that was not measured, is null.
    """
    observation_by_case: dict[str, Observation] = {}
    for case_id, observation in observations:
        if case_id not in observation_by_case or observation.repeat < observation_by_case[case_id].repeat:
            observation_by_case[case_id] = observation
    row_by_case = {case_id: row for row, case_id in enumerate(table.case_ids)}
    failed_by_case = {checks.case_id: checks.failed for checks in table.checks}
    encoded_rows = []
    for case in cases:
        if case.id not in observation_by_case or case.id not in row_by_case:
            continue
        observation = observation_by_case[case.id]
        failed = failed_by_case.get(case.id, ())
        encoded_rows.append(
            {
                "query_id": case.id,
                "config_id": table.config_id,
                "difficulty": case.difficulty,
                "tags": list(case.tags),
                "expected_behavior": case.behaviour,
                "metrics": _read_runner_metrics(table, row_by_case[case.id]),
                "failed_checks": [check for check in RUNNER_CHECKS if check in failed],
                "retrieved_ids": _list_chunk_ids(observation, stage),
                "context_ids": _list_chunk_ids(observation, CONTEXT),
                "citations": list(observation.citations or ()),
            }
        )
    return encoded_rows


def legacy_json(rows: Mapping[str, Sequence[Row]]) -> str:
    """Return the rows of each configuration as the legacy runner writes them: indent 2, UTF-8, keys in its order."""
    ordered = {config: list(rows[config]) for config in sorted(rows)}
    return json.dumps(ordered, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _list_chunk_ids(observation: Observation, stage: str) -> list[str]:
    ranked_stage = find_stage(observation, stage)
    return [chunk.chunk_id for chunk in ranked_stage.chunks] if ranked_stage is not None else []


def _read_runner_metrics(table: ScoreTable, row: int) -> dict[str, float | None]:
    measured = {key: first_present(names, table.columns) for key, names in RUNNER_METRICS.items()}
    return {key: score_of(table.columns[name], row) if name else None for key, name in measured.items()}
