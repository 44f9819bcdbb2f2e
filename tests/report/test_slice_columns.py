"""The tables of slices begin with whether the answers were right, in the words of the other tables."""

from __future__ import annotations

import assay
from assay.metrics.catalog import CATALOG
from assay.report.findings.slice_tables import build_slices_table

ROWS = [
    {"id": "a", "question": "Who mends sails?", "must_have": ["Ove"], "attributes": {"desk": "yard"}},
    {"id": "b", "question": "Who paints hulls?", "must_have": ["Mina"], "attributes": {"desk": "hall"}},
]


def test_slices_show_the_correctness_of_answers_first() -> None:
    outputs = [{"case_id": "a", "answer": "Ove does."}, {"case_id": "b", "answer": "Per, and not Mina."}]
    table = build_slices_table(assay.score(ROWS, outputs, by=["desk"]).scoring, CATALOG, only=("desk",))
    assert ("Config", "Slice", "Cases", "Answer correctness", "Behaviour") == table.columns[:5]
    assert "Behavior score" not in table.columns
    right = {row[1]: row[3].partition(" ")[0] for row in table.rows}
    assert {"desk=yard": "1.000", "desk=hall": "0.000"} == right


def test_a_case_that_accepts_handing_over_is_not_said_to_expect_an_answer() -> None:
    case = {"id": "c", "question": "Who?", "expected_behavior": "abstain", "also_accept": ["escalate"]}
    (scored,) = assay.score([case], [{"case_id": "c", "answer": "I do not know that."}])
    reason = scored.reasons["under_refusal"]
    assert reason.startswith("something else than a refusal is expected or accepted") and "handing over" in reason
