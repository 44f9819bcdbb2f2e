"""What the labels of a judge cost, and how often people agree with each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from assay.calibration.human_labels import LabelCost, MajorityLabel, ScorerLabel, get_label_value, majority_labels
from assay.calibration.rater_agreement import ItemKey, LabelScale, is_pass
from assay.records.verdicts import Label, LabelledRate, Verdict
from assay.stats.intervals import wilson_interval

UNSCORED_LABEL = "no label"


class LabelCostRow(Struct, frozen=True):
    """One label of a judge: how many items got it, and what their votes cost.

    `agreement`: of those with a human label, the share that people put on the same side of one half; None without any.
    `calls` and tokens: a request about several items counts for each of them by an equal share. `cost_usd` is None if
    the cost of a vote is unknown.
    """

    label: str
    items: int
    agreement: LabelledRate | None
    calls: float
    prompt_tokens: float
    completion_tokens: float
    cost_usd: float | None


def share_cost(samples: Sequence[Verdict], items: int) -> LabelCost:
    """Return the cost of one of `items` items that these votes were about.

    >>> share_cost([], 2)
    LabelCost(calls=0.0, prompt_tokens=0.0, completion_tokens=0.0, cost_usd=0.0)
    """
    costs = [sample.usage.cost_usd for sample in samples]
    paid = None if None in costs else math.fsum(cost for cost in costs if cost is not None) / items
    return LabelCost(
        sum(sample.usage.attempts for sample in samples) / items,
        sum(sample.usage.prompt_tokens for sample in samples) / items,
        sum(sample.usage.completion_tokens for sample in samples) / items,
        paid,
    )


def tabulate_label_costs(
    labels: Sequence[Label], opinions: Mapping[ItemKey, ScorerLabel], scale: LabelScale
) -> tuple[LabelCostRow, ...]:
    """Return a row for each label that a judge gave, by name; items without one come last."""
    people, _ = majority_labels(labels, scale)
    keys_by_label: dict[str, list[ItemKey]] = {}
    for key, opinion in sorted(opinions.items()):
        if opinion.cost is not None:
            keys_by_label.setdefault(UNSCORED_LABEL if opinion.label is None else opinion.label, []).append(key)
    names = sorted(keys_by_label, key=lambda name: (name == UNSCORED_LABEL, name))
    rows = []
    for name in names:
        items = [(opinions[key], people.get(key)) for key in keys_by_label[name]]
        rows.append(_sum_row(name, items, scale))
    return tuple(rows)


def _sum_row(name: str, items: Sequence[tuple[ScorerLabel, MajorityLabel | None]], scale: LabelScale) -> LabelCostRow:
    costs = [opinion.cost for opinion, _ in items if opinion.cost is not None]
    paid = [cost.cost_usd for cost in costs]
    labelled = agreed = 0
    for opinion, label in items:
        value = get_label_value(opinion.label, opinion.value, scale)
        if label is not None and value is not None:
            labelled += 1
            agreed += is_pass(value) == label.passed
    return LabelCostRow(
        name,
        len(items),
        _rate(agreed, labelled),
        math.fsum(cost.calls for cost in costs),
        math.fsum(cost.prompt_tokens for cost in costs),
        math.fsum(cost.completion_tokens for cost in costs),
        None if None in paid else math.fsum(cost for cost in paid if cost is not None),
    )


def _rate(agreed: int, labelled: int) -> LabelledRate | None:
    if not labelled:
        return None
    bounds = wilson_interval(agreed, labelled)
    return LabelledRate(agreed / labelled, bounds.low, bounds.high, labelled)
