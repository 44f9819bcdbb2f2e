"""Required evidence whose label is not in the corpus: nothing could find it, so what depends on it is not measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.metrics.cases.case_index import CHUNK_ID, CaseIndex
from assay.records.golden_set import Evidence
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, ScoreColumn


def find_absent_label(case: CaseIndex) -> str | None:
    """Return the first required label that is not in the corpus, None if all are, or without a corpus.

    Only units that are named by chunk ids alone are looked at.
    """
    if case.corpus is None or case.denied:
        return None
    for unit in case.case.evidence:
        ids = _list_chunk_ids(unit) if unit.grade > 0 and unit.required else []
        if ids and not any(chunk_id in case.corpus.chunks for chunk_id in ids):
            return " or ".join(ids)
    return None


def _list_chunk_ids(unit: Evidence) -> list[str]:
    ids = [str(selector[CHUNK_ID]) for selector in unit.any_of if selector.keys() == {CHUNK_ID}]
    return ids if len(ids) == len(unit.any_of) else []


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
        text = f"the golden set names {labels[row]}, which is not in the corpus"
        if text not in reasons:
            reasons.append(text)
        values[row], status[row], reason[row] = 0.0, ERROR, np.uint16(reasons.index(text))
    return ScoreColumn(column.metric, values, status, reason, tuple(reasons))


def leave_out_rows(column: ScoreColumn, rows: Sequence[int], reason: str) -> ScoreColumn:
    """Return a column in which the scored ones of some rows are not applicable, for a reason."""
    scored = [row for row in rows if column.status[row] == SCORED]
    if not scored:
        return column
    values, status, codes = column.values.copy(), column.status.copy(), column.reason.copy()
    reasons = column.reasons if reason in column.reasons else (*column.reasons, reason)
    values[scored], status[scored], codes[scored] = 0.0, NOT_APPLICABLE, np.uint16(reasons.index(reason))
    return ScoreColumn(column.metric, values, status, codes, reasons, column.answers)
