"""Required evidence whose label is not in the corpus: nothing could find it, so what depends on it is not measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from assay.metrics.cases.case_index import CHUNK_ID, QUOTE, CaseIndex
from assay.records.golden_set import Evidence
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn
from assay.stats.arrays import BoolArray

_NAMES = "the golden set names "


def find_absent_label(case: CaseIndex) -> str | None:
    """Return the first required label that is not in the corpus, None if all are, or without a corpus."""
    if case.corpus is None or case.denied:
        return None
    for unit in case.case.evidence:
        if unit.grade > 0 and unit.required:
            label = describe_absent_unit(unit, case)
            if label is not None:
                return label
    return None


def describe_absent_unit(unit: Evidence, case: CaseIndex) -> str | None:
    """Return the ids of a unit of evidence that is not in the corpus, None if it may be.

    Only units that are named by chunk ids are looked at, alone or with quotes: of these, the corpus has no chunk with
    one of the ids, and no text with one of the quotes.
    """
    labels = split_label(unit)
    if case.corpus is None or labels is None or any(chunk_id in case.corpus.chunks for chunk_id in labels.chunk_ids):
        return None
    return None if stands_elsewhere(labels.quotes, case) else " or ".join(labels.chunk_ids)


class UnitLabel(Struct, frozen=True):
    """What names a unit of evidence: ids of chunks, and quotes that may stand in any chunk."""

    chunk_ids: list[str]
    quotes: list[str]


def split_label(unit: Evidence) -> UnitLabel | None:
    """Return the ids and the quotes that name a unit; None if it has no id, or is named by anything else."""
    chunk_ids = [str(selector[CHUNK_ID]) for selector in unit.any_of if selector.keys() == {CHUNK_ID}]
    quotes = [str(selector[QUOTE]) for selector in unit.any_of if selector.keys() == {QUOTE}]
    is_all = len(chunk_ids) + len(quotes) == len(unit.any_of)
    return UnitLabel(chunk_ids, quotes) if chunk_ids and is_all else None


def stands_elsewhere(quotes: Sequence[str], case: CaseIndex) -> bool:
    """Return whether one of some quotes stands in a text of the corpus, or may, because texts are missing there."""
    texts = case.golden_index.corpus_texts
    return bool(quotes) and (texts is None or texts.lacks_texts or any(map(texts.has_passage, quotes)))


def list_absent_labels(cases: Sequence[CaseIndex]) -> dict[int, str]:
    """Return the absent label by row; a case is looked at once, however often it was observed."""
    label_by_case: dict[int, str | None] = {}
    labels = {}
    for row, case in enumerate(cases):
        if id(case) not in label_by_case:
            label_by_case[id(case)] = find_absent_label(case)
        label = label_by_case[id(case)]
        if label is not None:
            labels[row] = label
    return labels


def mark_absent_labels(column: ScoreColumn, labels: dict[int, str]) -> ScoreColumn:
    """Return a column in which the scored rows of absent labels are errors that name them."""
    rows = [row for row in labels if column.status[row] == SCORED]
    if not rows:
        return column
    reasons = list(column.reasons)
    values, status, reason = column.values.copy(), column.status.copy(), column.reason.copy()
    for row in rows:
        text = f"{_NAMES}{labels[row]}, which is not in the corpus"
        if text not in reasons:
            reasons.append(text)
        values[row], status[row], reason[row] = 0.0, ERROR, np.uint16(reasons.index(text))
    return ScoreColumn(column.metric, values, status, reason, tuple(reasons))


def find_rows_of_absent_labels(column: ScoreColumn) -> BoolArray:
    """Return which rows of a column are errors because their label is not in the corpus."""
    codes = [code for code, reason in enumerate(column.reasons) if reason.startswith(_NAMES)]
    rows: BoolArray = (column.status == ERROR) & np.isin(column.reason, codes)
    return rows


def leave_out_rows(column: ScoreColumn, rows: Sequence[int], reason: str) -> ScoreColumn:
    """Return a column in which the scored ones of some rows are not applicable, for a reason."""
    scored = [row for row in rows if column.status[row] == SCORED]
    if not scored:
        return column
    values, status, codes = column.values.copy(), column.status.copy(), column.reason.copy()
    reasons = column.reasons if reason in column.reasons else (*column.reasons, reason)
    values[scored], status[scored], codes[scored] = 0.0, NOT_APPLICABLE, np.uint16(reasons.index(reason))
    return ScoreColumn(column.metric, values, status, codes, reasons, column.answers)
