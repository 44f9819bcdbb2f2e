"""Several samples of one case: which of them shows what went wrong, and how they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from assay.metrics.answers.correctness import CORRECT_ANSWER
from assay.records.counts import format_count
from assay.records.scores import ERROR, SCORED, ScoreColumn
from assay.stats.arrays import IndexArray

_BEHAVIOUR, _LEAKS = "behaviour", "visibility_leaks"


def find_worst_sample(columns: Mapping[str, ScoreColumn], rows: IndexArray) -> int:
    """Return the place of the worst of some rows: one that leaks, else behaves otherwise, else is the least right.

    The first of several as bad ones is it. A row with an error is no worse than a right one, because it shows nothing.
    """
    badness = np.zeros(len(rows))
    for metric, weight, worst in ((_LEAKS, 4.0, 1.0), (_BEHAVIOUR, 2.0, 0.0), (CORRECT_ANSWER, 1.0, 0.0)):
        column = columns.get(metric)
        if column is not None:
            values = np.clip(column.values[rows], 0.0, 1.0)
            badness += weight * (column.status[rows] == SCORED) * (1.0 - np.abs(values - worst))
    return int(np.argmax(badness))


def describe_samples(columns: Mapping[str, ScoreColumn], rows: IndexArray, shown: int) -> str:
    """Return how many of the samples of a case are right, and which one is shown."""
    words = Counter(_name_sample(columns, row) for row in rows.tolist())
    counts = ", ".join(f"{count} {word}" for word, count in sorted(words.items(), key=lambda item: (-item[1], item[0])))
    number = f"number {shown + 1}{', the worst' if len(words) > 1 else ''}"
    return f"{format_count(len(rows), 'sample')}: {counts}; shown is {number}"


def _name_sample(columns: Mapping[str, ScoreColumn], row: int) -> str:
    """Return a word for what a row shows: of its answer, and where none is measured of its behaviour."""
    answer, behaviour = columns.get(CORRECT_ANSWER), columns.get(_BEHAVIOUR)
    if behaviour is not None and behaviour.status[row] == ERROR:
        return "in error"
    if behaviour is not None and behaviour.status[row] == SCORED and behaviour.values[row] == 0:
        return "of other behaviour"
    if answer is not None and answer.status[row] == SCORED:
        return {1.0: "right", 0.0: "wrong"}.get(float(answer.values[row]), "partly right")
    is_measured = behaviour is not None and behaviour.status[row] == SCORED
    return (
        "unknown"
        if answer is not None and answer.reasons[answer.reason[row]].startswith("unknown")
        else ("as expected" if is_measured else "not measured")
    )
