"""The rules of a gate as data for the HTML report, in the words of the other reports, with the cases that decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model import Decision
from assay.report.figures import Graders, instrument
from assay.report.tables import checklist

CASES = 200
"""Cases of one rule that the report names; the rest is counted."""
_KEYS = ("config", "state", "metric", "slice", "number", "bound", "scored", "detects", "severity", "message")


def rules_of(decisions: Mapping[str, Decision], place: Mapping[str, int], graders: Graders) -> Iterator[dict[str, Any]]:
    """Yield every rule of the decisions by configuration; `place` is each case's number in the golden set."""
    results = [found for _, decision in sorted(decisions.items()) for found in decision.results]
    for row, found in zip(checklist(decisions, graders).rows, results, strict=True):
        cases = [place[each] for each in found.cases if each in place]
        yield dict(zip(_KEYS, row, strict=True)) | {
            "state": found.state,
            "waived": found.waived,
            "class": instrument(found.rule.metric, graders),
            "reason": found.rule.reason,
            "cases": cases[:CASES],
            "more": max(0, len(cases) - CASES),
        }
