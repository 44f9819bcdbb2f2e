"""Which unknown answers are the same on both sides of a comparison: whatever they score, they score it on both.

A column holds a number for each row of which nobody can tell the score. It is made from the answer's text and from what
the target declares that it did, on which alone the rules for answers rest (ADR 162).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from assay.metrics.answers.answer_behaviour import AnswerFacts
from assay.metrics.case_checks import ANSWER_UNKNOWN
from assay.metrics.metric import Batch
from assay.records.answer_numbers import NO_NUMBER, AnswerNumbers, number_answer, number_parts
from assay.records.scores import SCORED, ScoreColumn
from assay.scoring.column_values import find_unknown_code
from assay.stats.arrays import BoolArray, RowIndices


def number_unknown_answers(column: ScoreColumn, batch: Batch) -> ScoreColumn:
    """Return the column of a batch with the numbers of its unknown answers; the same column where there are none.

    `correct_answer_unknown` scores them with 1, also those of cases whose reference no rule can look for. A metric
    whose scores rest on more than the answer has numbers of its own.
    """
    if column.answers is not None or (AnswerFacts, ()) not in batch.facts:
        return column
    rows = _find_unknown_rows(column)
    if not len(rows):
        return column
    facts = batch.get_facts(AnswerFacts)
    answers = np.full(len(column.values), NO_NUMBER)
    for row in rows.tolist():
        answers[row] = number_answer(facts.texts[row], facts.declared[row])
    return replace(column, answers=answers)


def _find_unknown_rows(column: ScoreColumn) -> RowIndices:
    if column.metric == ANSWER_UNKNOWN:
        return np.flatnonzero((column.status == SCORED) & (column.values > 0))
    code = find_unknown_code(column)
    if code is None:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero((column.reason == code) & (column.status != SCORED))


def concatenate_answers(parts: Sequence[ScoreColumn]) -> AnswerNumbers | None:
    """Return the numbers of the answers of several columns in one; None where none has any."""
    if all(part.answers is None for part in parts):
        return None
    numbers = [np.full(len(part.values), NO_NUMBER) if part.answers is None else part.answers for part in parts]
    return np.concatenate(numbers)


def combine_repeated_answers(column: ScoreColumn, case_of_row: RowIndices, case_count: int) -> AnswerNumbers | None:
    """Return one number for each case, from those of its repeats in any order; none where a repeat has none."""
    if column.answers is None:
        return None
    combined = np.full(case_count, NO_NUMBER)
    order = np.lexsort((column.answers, case_of_row))
    numbers, cases = column.answers[order], case_of_row[order]
    starts, ends = (np.searchsorted(cases, np.arange(case_count), side) for side in ("left", "right"))
    for case in np.unique(cases[numbers != NO_NUMBER]).tolist():
        repeats = numbers[starts[case] : ends[case]]
        if len(repeats) == 1:
            combined[case] = repeats[0]
        elif NO_NUMBER not in repeats:
            combined[case] = number_parts([repeats.astype("<u8").tobytes()])
    return combined


def find_same_answers(before: ScoreColumn, after: ScoreColumn) -> BoolArray:
    """Return which rows of two aligned columns hold the same answers of which nobody can tell the score."""
    if before.answers is None or after.answers is None:
        return np.zeros(len(before.values), dtype=np.bool_)
    same: BoolArray = (before.answers == after.answers) & (before.answers != NO_NUMBER)
    same &= (before.status != SCORED) & (after.status != SCORED)
    return same
