"""Among the reasons of a decision wrong answers come before the citations that they lack."""

from __future__ import annotations

import assay


def test_wrong_answers_come_before_citations_whatever_the_order_of_the_rules() -> None:
    golden = [
        {"id": name, "question": f"When does the {name} open?", "behaviour": "answer", "must_have": ["at seven"]}
        | {"evidence": [{"chunk_id": name}], "must_cite": [name]}
        for name in ("sluice", "quay")
    ]
    rows = [{"case_id": case["id"], "answer": "It opens at nine.", "citations": ["elsewhere"]} for case in golden]
    rules = [
        {"metric": "citation_correctness(by=rules)", "at_least": 0.9},
        {"metric": "correct_answer", "at_least": 0.9},
    ]
    for ordered in (rules, rules[::-1]):
        reasons = assay.score(golden, rows, gate={"rules": ordered}).decision.reasons
        assert ["correct_answer", "citation_correctness(by=rules)"] == [reason.split(" ")[0] for reason in reasons[:2]]
