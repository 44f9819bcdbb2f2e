"""Whether two sides are one recording under two names.

A system that answers alike twice still takes other times. Where a second run reports the times of the first, digit for
digit, on every case, and the same scores, nothing was run a second time (ADR 0228).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from assay.metrics.catalog import parse_metric
from assay.records.counts import format_count
from assay.records.scores import SCORED, ScoreColumn, ScoreTable
from assay.scoring.paired_scores import align_table, is_judge_metric
from assay.stats.arrays import FloatArray

SameScores = Literal["", "same times", "no times"]
"""Whether every score and recorded time of two sides is the same, and whether times tell that nothing was run again."""

_TIME = "latency_ms"
_FEWEST_TIMES, _FEWEST_DIGITS = 3, 3
"""Times that two runs do not share by chance: so many different ones, each of at least so many significant digits. A
run repeats a time of 2 ms; it repeats 813 ms on one case in a hundred or so, and three such cases never in practice."""


def find_same_recording(baseline: ScoreTable, candidate: ScoreTable) -> SameScores:
    """Return whether two sides have the same scores on every case and in every metric that no judge decides, and the
    same times; "" where any differs, or where the times are too few or too coarse to tell."""
    pairs = list(_iter_shared_columns(align_table(baseline, candidate.case_ids), candidate))
    if not pairs or not all(_is_same_column(before, after) for before, after in pairs):
        return ""
    times = [_list_times(after) for _, after in pairs if parse_metric(after.metric).base == _TIME]
    if not any(len(values) for values in times):
        return "no times"
    return "same times" if any(map(_has_precise_times, times)) else ""


OWN_BASELINE = (
    "the baseline is the recording that is scored: name a run of the release before as the baseline, or a file of "
    "`assay baseline save` made from that run"
)
"""What is said of a candidate that is its own baseline."""


def describe_same_recording(cases: int) -> str:
    """Return the risk of a decision that compares a recording with itself.

    >>> describe_same_recording(97)[:74]
    'the baseline has the same scores and the same times, to the digit, on each'
    """
    return (
        "the baseline has the same scores and the same times, to the digit, on each of "
        f"{format_count(cases, 'case')}: it is this recording under another name, so nothing was compared "
        "(name a run of the release before, or a baseline saved from it)"
    )


def _iter_shared_columns(baseline: ScoreTable, candidate: ScoreTable) -> Iterator[tuple[ScoreColumn, ScoreColumn]]:
    for name, column in candidate.columns.items():
        if name in baseline.columns and not is_judge_metric(name):
            yield baseline.columns[name], column


def _is_same_column(before: ScoreColumn, after: ScoreColumn) -> bool:
    if not np.array_equal(before.status, after.status):
        return False
    scored = after.status == SCORED
    return bool(np.array_equal(before.values[scored], after.values[scored]))


def _list_times(column: ScoreColumn) -> FloatArray:
    times: FloatArray = column.values[column.status == SCORED]
    return times


def _has_precise_times(times: FloatArray) -> bool:
    precise = {time for time in times.tolist() if _count_digits(time) >= _FEWEST_DIGITS}
    return len(precise) >= _FEWEST_TIMES


def _count_digits(time: float) -> int:
    """Return the significant digits of a number, zeros at its end left out.

    >>> _count_digits(1200.0), _count_digits(0.813)
    (2, 3)
    """
    return len(f"{time:.15g}".replace(".", "").split("e")[0].strip("0"))
