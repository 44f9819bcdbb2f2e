"""The label of a case's change follows its outcome; scores count only where the outcome is the same."""

from __future__ import annotations

import pytest
from tests.comparison.sides import side

from assay.comparison.paired_comparison import compare_snapshots
from assay.records.findings import Attribution, FaultParty
from assay.records.golden_set import Case
from assay.report.page.case_data import CHANGE_STATES, list_case_changes


@pytest.mark.parametrize(
    ("before", "after", "scores", "label"),
    [
        ("pass", "unknown", (0.2, 0.9), "unclear"),  # a metric rose, and nothing tells whether the answer is right
        ("unknown", "pass", (0.9, 0.2), "cleared"),
        ("pass", "generation_fault", (0.2, 0.9), "regressed"),
        ("unknown", "generation_fault", (0.2, 0.9), "regressed"),
        ("generation_fault", "pass", (0.9, 0.2), "improved"),
        ("pass", "pass", (0.2, 0.9), "better"),
        ("unknown", "unknown", (0.9, 0.2), "worse"),
        ("retrieval_fault", "generation_fault", (0.9, 0.2), "worse"),
        ("pass", "pass", (0.9, 0.9), "unchanged"),
    ],
)
@pytest.mark.parametrize("has_metric", [True, False])
def test_the_outcome_comes_before_the_scores(
    before: FaultParty, after: FaultParty, scores: tuple[float, float], label: str, has_metric: bool
) -> None:
    cases = [Case("q", "?"), Case("other", "?")]
    sides = []
    for verdict, score in zip((before, after), scores, strict=True):
        metrics = {"recall@10": [score, 1.0], "rr@10": [1 - score / 2, 1.0]}
        if has_metric:
            metrics["failed"] = [float(verdict not in ("pass", "unknown")), 0.0]
        attributions = {"q": Attribution("q", verdict), "other": Attribution("other", "pass")}
        sides.append(side(metrics, cases=cases, attributions=attributions))
    moved = "mixed" if label in ("better", "worse") else label  # the two metrics moved in opposite directions
    labels = list_case_changes(compare_snapshots(*sides), cases)
    assert [moved, "unchanged"] == labels
    assert set(labels) <= set(CHANGE_STATES)
