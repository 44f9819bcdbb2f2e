"""A metric of one's own may say something else about each case: more texts than 16 bits can number."""

from __future__ import annotations

import json

import numpy as np
import pytest

from assay.records.scores import ERROR, ScoreColumn, ScoreTable
from assay.report.exports.case_scores import iter_case_lines
from assay.scoring.score_tables import concatenate_columns, fold_repeats

BLOCK, BLOCKS = 4096, 18


def make_block(number: int) -> ScoreColumn:
    """Return a block of errors, each with a text of its own; the texts are not in the order of the rows."""
    reasons = ("", *(f"the metric raised KeyError: {(number * BLOCK + row) * 7919 % 100_003}" for row in range(BLOCK)))
    status, codes = np.full(BLOCK, ERROR, np.uint8), np.arange(1, BLOCK + 1, dtype=np.uint16)
    return ScoreColumn("tone", np.zeros(BLOCK), status, codes, reasons)


@pytest.mark.parametrize("repeats", [1, 2])
def test_each_of_more_than_65536_reasons_stays_with_its_case(repeats: int) -> None:
    parts = [make_block(number) for number in range(BLOCKS)]
    expected = [part.reasons[code] for part in parts for code in part.reason.tolist()]
    column = concatenate_columns(parts * repeats)
    assert len(set(expected)) > 2**16
    assert expected * repeats == [column.reasons[code] for code in column.reason.tolist()]
    folded = fold_repeats(column, np.tile(np.arange(len(expected)), repeats), len(expected)).column
    assert expected == [folded.reasons[code] for code in folded.reason.tolist()]
    ids = tuple(map(str, range(len(expected))))
    lines = b"".join(iter_case_lines(ScoreTable("one", ids, {"tone": folded}, (), ()))).splitlines()
    last = json.loads(lines[-1])
    assert expected[-1] == last["status"]["tone"]["reason"]


def test_few_reasons_are_numbered_with_16_bits() -> None:
    assert np.uint16 == concatenate_columns([make_block(0), make_block(1)]).reason.dtype
