"""A short row for every case, column by column: what the page's case list searches, filters, sorts and shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from assay.finding import Attribution, Comparison
from assay.model import SCORED, STATUS_NAMES, Case, ConfigResult, ScoreColumn
from assay.report.figures import grader_of
from assay.report.html_data import HtmlData
from assay.report.safe import one_line, without

Json = dict[str, Any]
PASSED, FAILED, LEAKED, MISSING = "passed", "failed", "leaked", "missing"
STATES = (PASSED, FAILED, LEAKED, MISSING)
CHANGES = ("unchanged", "improved", "regressed", "mixed", "unpaired")
LEAK = "leak"
QUESTION = 160
LISTED = 1000
"""The largest number of improved or of regressed cases that are listed for one metric."""
_STATUS_FACTOR = 65_536
_DECIMALS = {"ms": 1, "tokens": 0, "USD": 6}


def rows_of(data: HtmlData, islands: Mapping[int, int]) -> Json:
    """Return the columns of the case list; `islands` maps case indices to the island that holds the case in full."""
    cases = data.cases
    rows: Json = {
        "ids": [case.id for case in cases],
        "questions": [_shorten_question(case, data.show_forbidden) for case in cases],
        "behaviours": coded(case.behaviour for case in cases),
        "tags": _encode_name_lists(case.tags for case in cases),
        "islands": [islands.get(case_index, -1) for case_index in range(len(cases))],
        "states": STATES,
        "configs": {
            config: _build_config_rows(result, data.attributions.get(config, {}))
            for config, result in sorted(data.scoring.configs.items())
        },
    }
    if data.comparison is not None:
        rows["changes"] = _build_change_columns(data.comparison, cases)
    return rows


def coded(values: Iterable[str]) -> Json:
    """Return the distinct values in order of first appearance (`names`), and each value's index in them (`codes`).

    >>> coded(["a", "b", "a"])
    {'names': ['a', 'b'], 'codes': [0, 1, 0]}
    """
    names: dict[str, int] = {}
    codes = [names.setdefault(value, len(names)) for value in values]
    return {"names": list(names), "codes": codes}


def _encode_name_lists(values: Iterable[Iterable[str]]) -> Json:
    names: dict[str, int] = {}
    codes = [[names.setdefault(name, len(names)) for name in value] for value in values]
    return {"names": list(names), "codes": codes}


def _shorten_question(case: Case, show_forbidden: bool) -> str:
    return one_line(case.question if show_forbidden else without(case.question, case.forbidden_text), QUESTION)


def states_of(result: ConfigResult) -> list[str]:
    """Return passed, failed, leaked or missing for every case, in golden order."""
    failed = {checks.case_id: checks.failed for checks in result.table.checks}
    missing = set(result.table.missing)
    return [
        MISSING if case_id in missing else _classify_case(failed.get(case_id, ())) for case_id in result.table.case_ids
    ]


def _classify_case(failed: tuple[str, ...]) -> str:
    if LEAK in failed:
        return LEAKED
    return FAILED if failed else PASSED


def scores_of(result: ConfigResult, data: HtmlData) -> list[Json]:
    """Return the scores of every case under one configuration, metric by metric."""
    return [_build_score_column(column, data) for _, column in sorted(result.table.columns.items())]


def _build_config_rows(result: ConfigResult, attributions: Mapping[str, Attribution]) -> Json:
    table = result.table
    failed = {case_checks.case_id: case_checks.failed for case_checks in table.checks}
    warned = {case_checks.case_id: case_checks.warnings for case_checks in table.checks}
    config_rows: Json = {
        "states": [STATES.index(state) for state in states_of(result)],
        "checks": _encode_name_lists(failed.get(case_id, ()) for case_id in table.case_ids),
        "warned": _encode_name_lists(warned.get(case_id, ()) for case_id in table.case_ids),
        "metrics": sorted(table.columns),
    }
    if attributions:
        causes, verdicts = [], []
        for case_id in table.case_ids:
            attribution = attributions.get(case_id)
            causes.append((attribution.cause or "") if attribution is not None else "")
            verdicts.append(attribution.verdict if attribution is not None else "")
        config_rows["causes"] = coded(causes)
        config_rows["verdicts"] = coded(verdicts)
    return config_rows


def _build_score_column(column: ScoreColumn, data: HtmlData) -> Json:
    """Return a metric's scores, and the reasons for missing ones as runs of (rows, reason): most rows share one."""
    grader = grader_of(column.metric, data.graders)
    decimals = _DECIMALS.get(grader.unit, 4) if grader is not None else 4
    values: list[float | None] = np.round(column.values, decimals).tolist()
    unscored = column.status != SCORED
    for row in np.flatnonzero(unscored).tolist():
        values[row] = None
    # One number for status and reason; consecutive rows with the same number become one run.
    kinds = np.where(unscored, column.status.astype(np.int64) * _STATUS_FACTOR + column.reason, 0)
    starts = np.flatnonzero(np.diff(kinds, prepend=-1))
    lengths = np.diff(starts, append=len(kinds)).tolist()
    runs = coded(map(str, kinds[starts].tolist()))
    return {
        "name": column.metric,
        "values": values,
        "why": [number for run in zip(lengths, runs["codes"], strict=True) for number in run],
        "reasons": [_decode_reason(column, int(kind)) for kind in runs["names"]],
    }


def _decode_reason(column: ScoreColumn, kind: int) -> list[str]:
    status, reason = divmod(kind, _STATUS_FACTOR)
    return [STATUS_NAMES[status], column.reasons[reason] if status != SCORED else ""]


def _build_change_columns(comparison: Comparison, cases: Iterable[Case]) -> Json:
    index_by_case = {case.id: number for number, case in enumerate(cases)}
    change_by_case = {
        change.case_id: _classify_change(change.improved, change.regressed) for change in comparison.cases
    }
    paired = {
        case_id
        for change in comparison.metrics.values()
        for case_id in (*change.improved, *change.regressed, *change.unchanged, *change.needs_review)
    }
    words = [change_by_case.get(case_id, "unchanged" if case_id in paired else "unpaired") for case_id in index_by_case]
    lists = {
        metric: {
            "improved": [index_by_case[name] for name in change.improved if name in index_by_case][:LISTED],
            "regressed": [index_by_case[name] for name in change.regressed if name in index_by_case][:LISTED],
        }
        for metric, change in comparison.metrics.items()
    }
    return {"names": CHANGES, "codes": [CHANGES.index(word) for word in words], "metrics": lists}


def _classify_change(improved: tuple[str, ...], regressed: tuple[str, ...]) -> str:
    if improved and regressed:
        return "mixed"
    if improved:
        return "improved"
    return "regressed" if regressed else "unchanged"
