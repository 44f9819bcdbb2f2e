"""The majority label of people and the label of a scorer on each item.

Items on which raters split evenly between pass and fail have no majority label and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from assay.calibration.rater_agreement import ItemKey, LabelScale, is_pass
from assay.records.verdicts import Label


class LabelCost(NamedTuple):
    """What the votes on one item cost; `cost_usd` is None if that of a vote is unknown."""

    calls: float
    prompt_tokens: float
    completion_tokens: float
    cost_usd: float | None


class ScorerLabel(NamedTuple):
    """The label of a scorer on one item: a label, a number or, in `unscored`, why there is neither.

    `votes` are the labels of its samples, `cost` is what they cost; `signal` is the raw number of the rules scorer.
    """

    label: str | None = None
    value: float | None = None
    reasoning: str = ""
    votes: tuple[str, ...] = ()
    unscored: str | None = None
    signal: float | None = None
    cost: LabelCost | None = None


class MajorityLabel(NamedTuple):
    """The combined human labels of one item: median value, most frequent label (None if tied), and pass or fail."""

    value: float
    label: str | None
    passed: bool
    notes: tuple[str, ...]
    text: str


def get_label_value(label: str | None, value: float | None, scale: LabelScale) -> float | None:
    """Return the number of a label on the scale, else the number stated with it; None if there is neither."""
    number = scale.get(label) if label is not None else None
    return number if number is not None else value


def majority_labels(labels: Sequence[Label], scale: LabelScale) -> tuple[dict[ItemKey, MajorityLabel], int]:
    """Return the combined label of each item, and the number of items on which raters split evenly.

    Labels without a number (such as `unclear`) do not count.
    """
    labels_by_item: dict[ItemKey, list[tuple[Label, float]]] = {}
    for label in sorted(labels, key=lambda label: label.rater):
        value = get_label_value(label.label, label.value, scale)
        if value is not None:
            labels_by_item.setdefault(get_item_key(label), []).append((label, value))
    majority: dict[ItemKey, MajorityLabel] = {}
    undecided = 0
    for key, item_labels in labels_by_item.items():
        values = [value for _, value in item_labels]
        passed = sum(map(is_pass, values))
        if 2 * passed == len(values):
            undecided += 1
            continue
        majority[key] = MajorityLabel(
            value=median(values),
            label=_find_most_frequent([label.label for label, _ in item_labels]),
            passed=2 * passed > len(values),
            notes=tuple(f"{label.rater}: {label.note}" for label, _ in item_labels if label.note),
            text=next((label.text for label, _ in item_labels if label.text), ""),
        )
    return majority, undecided


def get_item_key(label: Label) -> ItemKey:
    """Return the key of the item that a label belongs to."""
    return label.case_id, label.config_id or "", label.item or ""


def group_by_rater(labels: Sequence[Label]) -> dict[str, dict[ItemKey, str]]:
    """Return the labels by rater and item; labels that are only a number are left out."""
    labels_by_rater: dict[str, dict[ItemKey, str]] = {}
    for label in labels:
        rater_labels = labels_by_rater.setdefault(label.rater, {})
        if label.label is not None:
            rater_labels[get_item_key(label)] = label.label
    return labels_by_rater


def _find_most_frequent(labels: Sequence[str | None]) -> str | None:
    counts = {label: labels.count(label) for label in labels if label is not None}
    best = max(counts.values(), default=0)
    winners = [label for label, count in counts.items() if count == best]
    return winners[0] if len(winners) == 1 else None


def get_scorer_values(scorer_labels: Mapping[ItemKey, ScorerLabel], scale: LabelScale) -> dict[ItemKey, float]:
    """Return the number of every scorer label that has one."""
    values = {
        key: get_label_value(scorer_label.label, scorer_label.value, scale)
        for key, scorer_label in scorer_labels.items()
    }
    return {key: value for key, value in values.items() if value is not None}
