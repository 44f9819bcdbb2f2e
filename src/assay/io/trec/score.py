"""Scores a TREC run against qrels: ranking metrics for every query, on one process or several, with the same bits."""

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

    config_id: the run's tag. columns: by the metric's canonical name. missing: queries that the run does not hold.
    unknown: queries of the run that the qrels do not hold; their lines are checked, not scored. lines: all of them.
    normalised: how many lines were not in NFC.
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

    A query that the run does not hold is an error, or with `missing="zero"` an empty ranking, as with trec_eval's `-c`.
    `workers` processes share the work; they and `block` (bytes read at a time) change speed and memory, never a bit.
    Raises InputError with the lines that are wrong, and MetricNameError for metrics that a run cannot have.
    """
    check_names(names)
    with opened(path) as source:
        job = Job(qrels, tuple(names), source.path, source.name, block)
        parts = (score_shared(job, workers) if workers > 1 else None) or [score_whole(job)]
    return _assembled(qrels, names, parts, missing)


def first_lines(path: Path, query_ids: Collection[str]) -> dict[str, int]:
    """Return the line on which each of these queries first stands in a run; scoring itself keeps none."""
    wanted, found = set(query_ids), dict[str, int]()
    with opened(path) as source:
        for line in read_lines(source):
            query = line.data.split(None, 1)[:1]
            query_id = unicodedata.normalize("NFC", query[0].decode()) if query else ""
            if query_id in wanted:
                wanted.discard(query_id)
                found[query_id] = line.number
                if not wanted:
                    break
    return found


def _assembled(qrels: Qrels, names: Sequence[MetricName], parts: Sequence[Part], missing: str) -> RunScores:
    present = np.zeros(len(qrels), dtype=np.bool_)
    values = np.zeros((len(names), len(qrels)))
    for part in parts:
        present[part.query] = True
        for place, found in enumerate(part.values):
            values[place, part.query] = found
    absent = np.flatnonzero(~present).tolist()
    columns = {
        str(name): column(name, found, *_unless(qrels, name, present, missing))
        for name, found in zip(names, values, strict=True)
    }
    unknown = dict.fromkeys(query_id for part in parts for query_id in part.unknown)
    return RunScores(
        config_id=(parts[0].tag or b"").decode(),
        query_ids=qrels.query_ids,
        columns=columns,
        missing=tuple(qrels.query_ids[place] for place in absent),
        unknown=tuple(query_id.decode() for query_id in unknown),
        lines=sum(part.lines for part in parts),
        normalised=sum(part.normalised for part in parts),
    )


def _unless(qrels: Qrels, name: MetricName, present: Bools, missing: str) -> list[Verdict]:
    """Return why queries have no score: the conditions of the ranking graders, for judgments without a question."""
    unless = [error(~present, NO_OBSERVATION)] if missing == "error" else []
    if name.base == "judged":
        return [*unless, not_applicable(~present, "empty ranking")]
    if name.base == "ndcg":
        return [*unless, not_applicable(qrels.units(DEFAULT_REL) == 0, "no evidence with a grade above 0")]
    return [*unless, not_applicable(qrels.units(relevance(name)) == 0, "no evidence to find")]
