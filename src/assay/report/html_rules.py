"""The rules of a gate as data for the HTML report, worded as in the other reports, with the cases that decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model import Decision
from assay.report.figures import Graders, instrument
from assay.report.tables import checklist

CASES = 200
"""The largest number of cases that are listed for one rule; the others are counted."""
_CHECKLIST_KEYS = ("config", "state", "metric", "slice", "number", "bound", "scored", "detects", "severity", "message")


def rules_of(
    decisions: Mapping[str, Decision], index_by_case: Mapping[str, int], graders: Graders
) -> Iterator[dict[str, Any]]:
    """Yield every rule of the decisions; `index_by_case` maps case ids to indices in the golden set."""
    rule_results = [rule_result for _, decision in sorted(decisions.items()) for rule_result in decision.results]
    for row, rule_result in zip(checklist(decisions, graders).rows, rule_results, strict=True):
        cases = [index_by_case[case_id] for case_id in rule_result.cases if case_id in index_by_case]
        yield dict(zip(_CHECKLIST_KEYS, row, strict=True)) | {
            "state": rule_result.state,
            "waived": rule_result.waived,
            "class": instrument(rule_result.rule.metric, graders),
            "reason": rule_result.rule.reason,
            "cases": cases[:CASES],
            "more": max(0, len(cases) - CASES),
        }
