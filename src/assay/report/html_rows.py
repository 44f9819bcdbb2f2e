"""A slim row for every case, column by column: what the page's list searches, filters, sorts and shows."""

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
"""Cases that one metric's list of improved or regressed ones holds."""
_KIND = 65_536
_DECIMALS = {"ms": 1, "tokens": 0, "USD": 6}


def rows_of(data: HtmlData, islands: Mapping[int, int]) -> Json:
    """Return the columns of the case list; `islands` tells which island holds a case whole."""
    cases = data.cases
    shape: Json = {
        "ids": [case.id for case in cases],
        "questions": [_question(case, data.show_forbidden) for case in cases],
        "behaviours": coded(case.behaviour for case in cases),
        "tags": _coded_lists(case.tags for case in cases),
        "islands": [islands.get(place, -1) for place in range(len(cases))],
        "states": STATES,
        "configs": {
            config: _config(result, data.attributions.get(config, {}))
            for config, result in sorted(data.scoring.configs.items())
        },
    }
    if data.comparison is not None:
        shape["changes"] = _changes(data.comparison, cases)
    return shape


def coded(values: Iterable[str]) -> Json:
    """Return values as numbers of their names, names in order of first appearance.

    >>> coded(["a", "b", "a"])
    {'names': ['a', 'b'], 'codes': [0, 1, 0]}
    """
    names: dict[str, int] = {}
    codes = [names.setdefault(value, len(names)) for value in values]
    return {"names": list(names), "codes": codes}


def _coded_lists(values: Iterable[Iterable[str]]) -> Json:
    names: dict[str, int] = {}
    codes = [[names.setdefault(each, len(names)) for each in value] for value in values]
    return {"names": list(names), "codes": codes}


def _question(case: Case, show_forbidden: bool) -> str:
    return one_line(case.question if show_forbidden else without(case.question, case.forbidden_text), QUESTION)


def states_of(result: ConfigResult) -> list[str]:
    """Return passed, failed, leaked or missing for every case, in golden order."""
    failed = {checks.case_id: checks.failed for checks in result.table.checks}
    missing = set(result.table.missing)
    return [MISSING if case_id in missing else _state(failed.get(case_id, ())) for case_id in result.table.case_ids]


def _state(failed: tuple[str, ...]) -> str:
    return LEAKED if LEAK in failed else FAILED if failed else PASSED


def scores_of(result: ConfigResult, data: HtmlData) -> list[Json]:
    """Return the scores of every case under one configuration, metric by metric."""
    return [_column(column, data) for _, column in sorted(result.table.columns.items())]


def _config(result: ConfigResult, attributions: Mapping[str, Attribution]) -> Json:
    table = result.table
    checks = {found.case_id: found for found in table.checks}
    shape: Json = {
        "states": [STATES.index(state) for state in states_of(result)],
        "checks": _coded_lists(checks[each].failed if each in checks else () for each in table.case_ids),
        "warned": _coded_lists(checks[each].warnings if each in checks else () for each in table.case_ids),
        "metrics": sorted(table.columns),
    }
    if attributions:
        found = [attributions.get(case_id) for case_id in table.case_ids]
        shape["causes"] = coded((each.cause or "") if each is not None else "" for each in found)
        shape["verdicts"] = coded(each.verdict if each is not None else "" for each in found)
    return shape


def _column(column: ScoreColumn, data: HtmlData) -> Json:
    """Return a metric's scores, and why a row has none as runs of (rows, reason): most rows share one."""
    grader = grader_of(column.metric, data.graders)
    decimals = _DECIMALS.get(grader.unit, 4) if grader is not None else 4
    values: list[float | None] = np.round(column.values, decimals).tolist()
    unscored = column.status != SCORED
    for row in np.flatnonzero(unscored).tolist():
        values[row] = None
    kinds = np.where(unscored, column.status.astype(np.int64) * _KIND + column.reason, 0)
    starts = np.flatnonzero(np.diff(kinds, prepend=-1))
    lengths = np.diff(starts, append=len(kinds)).tolist()
    runs = coded(map(str, kinds[starts].tolist()))
    return {
        "name": column.metric,
        "values": values,
        "why": [number for run in zip(lengths, runs["codes"], strict=True) for number in run],
        "reasons": [_reason(column, int(kind)) for kind in runs["names"]],
    }


def _reason(column: ScoreColumn, kind: int) -> list[str]:
    status, reason = divmod(kind, _KIND)
    return [STATUS_NAMES[status], column.reasons[reason] if status != SCORED else ""]


def _changes(comparison: Comparison, cases: Iterable[Case]) -> Json:
    place = {case.id: number for number, case in enumerate(cases)}
    found = {change.case_id: _change(change.improved, change.regressed) for change in comparison.cases}
    paired = {
        case_id
        for change in comparison.metrics.values()
        for case_id in (*change.improved, *change.regressed, *change.unchanged, *change.needs_review)
    }
    words = [found.get(case_id, "unchanged" if case_id in paired else "unpaired") for case_id in place]
    lists = {
        metric: {
            "improved": [place[each] for each in change.improved if each in place][:LISTED],
            "regressed": [place[each] for each in change.regressed if each in place][:LISTED],
        }
        for metric, change in comparison.metrics.items()
    }
    return {"names": CHANGES, "codes": [CHANGES.index(word) for word in words], "metrics": lists}


def _change(improved: tuple[str, ...], regressed: tuple[str, ...]) -> str:
    if improved and regressed:
        return "mixed"
    return "improved" if improved else "regressed" if regressed else "unchanged"
