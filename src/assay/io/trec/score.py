"""Scores a TREC run with qrels: ranking metrics for every query. The number of processes does not change a bit."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from assay.graders.base import Verdict, column, error, not_applicable
from assay.graders.names import MetricName
from assay.io.lines import opened, read_lines
from assay.io.trec.batch import DEFAULT_REL, check_names, relevance
from assay.io.trec.parts import Job, Part, score_shared, score_whole
from assay.io.trec.qrels import Qrels
from assay.io.trec.tokens import Bools
from assay.model import ScoreColumn
from assay.scoring.fold import NO_OBSERVATION

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run's scores, one row per query of the qrels and in their order.

    config_id: the tag of the run. columns: scores by canonical name of the metric. missing: queries that are not in the
    run. unknown: queries of the run that are not in the qrels; their lines are checked but not scored. lines: number of
    lines. normalised: number of lines that were not in NFC.
    """

    config_id: str
    query_ids: tuple[str, ...]
    columns: dict[str, ScoreColumn]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    lines: int
    normalised: int


def score_run(
    qrels: Qrels,
    path: Path,
    names: Sequence[MetricName],
    *,
    workers: int = 1,
    missing: Literal["error", "zero"] = "error",
    block: int = BLOCK,
) -> RunScores:
    """Score a run file (`.gz` too) by ranking metrics; a query without a relevant document is not applicable.

    A query that is not in the run is an error, or with `missing="zero"` an empty ranking, as with trec_eval's `-c`.
    `workers` (number of processes) and `block` (bytes read at a time) change speed and memory, but no result.
    Raises InputError with all malformed lines, and MetricNameError for metrics that a run cannot have.
    """
    check_names(names)
    with opened(path) as source:
        job = Job(qrels, tuple(names), source.path, source.name, block)
        parts = (score_shared(job, workers) if workers > 1 else None) or [score_whole(job)]
    return _assemble_scores(qrels, names, parts, missing)


def first_lines(path: Path, query_ids: Collection[str]) -> dict[str, int]:
    """Return the first line of each of these queries in a run file; scoring itself does not keep them."""
    remaining = set(query_ids)
    line_numbers: dict[str, int] = {}
    with opened(path) as source:
        for line in read_lines(source):
            query = line.data.split(None, 1)[:1]
            query_id = unicodedata.normalize("NFC", query[0].decode()) if query else ""
            if query_id in remaining:
                remaining.discard(query_id)
                line_numbers[query_id] = line.number
                if not remaining:
                    break
    return line_numbers


def _assemble_scores(qrels: Qrels, names: Sequence[MetricName], parts: Sequence[Part], missing: str) -> RunScores:
    present = np.zeros(len(qrels), dtype=np.bool_)
    values = np.zeros((len(names), len(qrels)))
    for part in parts:
        present[part.query] = True
        for index, part_values in enumerate(part.values):
            values[index, part.query] = part_values
    absent = np.flatnonzero(~present).tolist()
    columns = {
        str(name): column(name, metric_values, *_unscored_conditions(qrels, name, present, missing))
        for name, metric_values in zip(names, values, strict=True)
    }
    unknown = dict.fromkeys(query_id for part in parts for query_id in part.unknown)
    return RunScores(
        config_id=(parts[0].tag or b"").decode(),
        query_ids=qrels.query_ids,
        columns=columns,
        missing=tuple(qrels.query_ids[index] for index in absent),
        unknown=tuple(query_id.decode() for query_id in unknown),
        lines=sum(part.lines for part in parts),
        normalised=sum(part.normalised for part in parts),
    )


def _unscored_conditions(qrels: Qrels, name: MetricName, present: Bools, missing: str) -> list[Verdict]:
    """Return the conditions under which queries have no score: those of the ranking metrics, applied to qrels."""
    conditions = [error(~present, NO_OBSERVATION)] if missing == "error" else []
    if name.base == "judged":
        return [*conditions, not_applicable(~present, "empty ranking")]
    if name.base == "ndcg":
        return [*conditions, not_applicable(qrels.units(DEFAULT_REL) == 0, "no evidence with a grade above 0")]
    return [*conditions, not_applicable(qrels.units(relevance(name)) == 0, "no evidence to find")]
