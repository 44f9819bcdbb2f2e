"""What each label of a judge costs, and how often people agree with it."""

from __future__ import annotations

import pytest

from assay.calibration.human_labels import ScorerLabel
from assay.calibration.label_costs import UNSCORED_LABEL, share_cost, tabulate_label_costs
from assay.records.verdicts import JudgeUsage, Label, Verdict

SCALE = {"supported": 1.0, "not_found": 0.0}


def vote(cost: float | None) -> Verdict:
    usage = JudgeUsage(prompt_tokens=600, completion_tokens=90, cost_usd=cost, attempts=2)
    return Verdict(request="r", judge="j", sample=0, rubric="support", usage=usage)


def person(case: str, label: str) -> Label:
    return Label(
        case_id=case, metric="faithfulness", source="person", rater="an", label=label, config_id="a", item="c1"
    )


def opinion(label: str | None, samples: list[Verdict], items: int = 1) -> ScorerLabel:
    return ScorerLabel(label, SCALE.get(label or ""), cost=share_cost(samples, items))


def test_items_of_one_request_share_its_cost() -> None:
    cost = share_cost([vote(0.03), vote(0.03)], 3)
    assert [4 / 3, 400, 60, 0.02] == pytest.approx(list(cost))
    assert share_cost([vote(0.03), vote(None)], 3).cost_usd is None, "a part of the cost is no cost"


def test_each_label_has_its_cost_and_its_agreement_with_people() -> None:
    opinions = {
        ("1", "a", "c1"): opinion("supported", [vote(0.01)]),
        ("2", "a", "c1"): opinion("supported", [vote(0.01)]),
        ("3", "a", "c1"): opinion("supported", [vote(0.01)]),
        ("4", "a", "c1"): opinion("not_found", [vote(0.01), vote(0.01)]),
        ("5", "a", "c1"): opinion(None, [vote(0.01)]),
        ("6", "a", "c1"): ScorerLabel("supported", 1.0),
    }
    labels = [person("1", "supported"), person("2", "not_found"), person("4", "not_found"), person("5", "supported")]
    rows = {row.label: row for row in tabulate_label_costs(labels, opinions, SCALE)}
    assert ["not_found", "supported", UNSCORED_LABEL] == list(rows)
    supported, unscored = rows["supported"], rows[UNSCORED_LABEL]
    assert supported.agreement is not None and (0.5, 2) == (supported.agreement.value, supported.agreement.n)
    assert 3 == supported.items and pytest.approx(0.03) == supported.cost_usd and 6 == supported.calls
    assert rows["not_found"].cost_usd == pytest.approx(0.02) and unscored.agreement is None and 2 == unscored.calls
