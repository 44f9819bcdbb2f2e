"""What people came to on each item, and what an instrument said of it.

Most raters decide; where they split evenly between pass and fail there is no truth, and the item is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from assay.scoring.agreement import Key, Scale, passes
from assay.verdict import Label


class Opinion(NamedTuple):
    """What an instrument said of one item: a label, a number, or why neither; `votes` are the labels of its samples.

    `signal` is the raw number of the rules instrument.
    """

    label: str | None = None
    value: float | None = None
    reasoning: str = ""
    votes: tuple[str, ...] = ()
    unscored: str | None = None
    signal: float | None = None


class Truth(NamedTuple):
    """What people came to on one item: the middle value, the label of most (None: none has most), and pass or fail."""

    value: float
    label: str | None
    passed: bool
    notes: tuple[str, ...]
    text: str


def worth(label: str | None, value: float | None, scale: Scale) -> float | None:
    """Return the number of a label, or the number given beside it; None where it has none."""
    return scale.get(label) if label is not None and scale.get(label) is not None else value


def truths(labels: Sequence[Label], scale: Scale) -> tuple[dict[Key, Truth], int]:
    """Return what people came to on each item, and on how many they split evenly between pass and fail.

    Labels without a number (such as `unclear`) have no say.
    """
    said: dict[Key, list[Label]] = {}
    for label in sorted(labels, key=lambda each: each.rater):
        if worth(label.label, label.value, scale) is not None:
            said.setdefault(key_of(label), []).append(label)
    found: dict[Key, Truth] = {}
    undecided = 0
    for key, given in said.items():
        values = [value for each in given if (value := worth(each.label, each.value, scale)) is not None]
        votes = sum(map(passes, values))
        if 2 * votes == len(values):
            undecided += 1
            continue
        notes = tuple(f"{each.rater}: {each.note}" for each in given if each.note)
        text = next((each.text for each in given if each.text), "")
        found[key] = Truth(median(values), _most([each.label for each in given]), 2 * votes > len(values), notes, text)
    return found, undecided


def key_of(label: Label) -> Key:
    """Return which item a label is of."""
    return label.case_id, label.config_id or "", label.item or ""


def ratings(labels: Sequence[Label]) -> dict[str, dict[Key, str]]:
    """Return the labels by rater; what was given as a number alone has none."""
    found: dict[str, dict[Key, str]] = {}
    for label in labels:
        said = found.setdefault(label.rater, {})
        if label.label is not None:
            said[key_of(label)] = label.label
    return found


def _most(labels: Sequence[str | None]) -> str | None:
    counts = {label: labels.count(label) for label in labels if label is not None}
    best = max(counts.values(), default=0)
    winners = [label for label, count in counts.items() if count == best]
    return winners[0] if len(winners) == 1 else None


def values_of(opinions: Mapping[Key, Opinion], scale: Scale) -> dict[Key, float]:
    """Return the number of every opinion that has one."""
    found = {key: worth(said.label, said.value, scale) for key, said in opinions.items()}
    return {key: value for key, value in found.items() if value is not None}
