"""Chooses from human labels where a probability becomes a verdict: supported, unsupported, or unknown between two cuts.

A fixed cut of 0.5 calls everything supported where people did so in most cases. The middle cut is therefore the base
rate of the labels, at which errors of both kinds weigh the same, or follows from stated costs. Around it lie two cuts:
beyond each, the labels confirm the verdict at the wanted precision. ADR 0058 gives the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.records.errors import InputError, Problem
from assay.records.verdicts import LabelledRate, VerdictCuts
from assay.stats.intervals import wilson_interval

DEFAULT_PRECISION = 0.9
LEAST_DECIDED = 10
"""Labelled items beyond a cut that its precision is computed from."""
FOLDS = 5


class ErrorCosts(NamedTuple):
    """What errors cost: `passing` a claim that people fail, and `failing` one that they pass."""

    passing: float
    failing: float


def parse_costs(text: str) -> ErrorCosts:
    """Return the costs of both errors. Raises InputError for anything but two positive numbers around a colon.

    >>> parse_costs("5:1")
    ErrorCosts(passing=5.0, failing=1.0)
    """
    match = _COSTS.fullmatch(text)
    costs = ErrorCosts(float(match[1]), float(match[2])) if match is not None else None
    if costs is None or min(costs) <= 0:
        message = f"no costs (got {text!r}; expected passing a wrong item : failing a right one, such as 5:1)"
        raise InputError([Problem("", None, "--costs", message)])
    return costs


_COSTS = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*:\s*(\d{1,9}(?:\.\d{1,9})?)\s*")


class CutQuality(NamedTuple):
    """How often verdicts were right on labelled items that had no part in choosing the cuts.

    `supported` and `unsupported` are None where no item was decided so. `decided`: the share of labelled items with a
    verdict other than unknown.
    """

    supported: LabelledRate | None
    unsupported: LabelledRate | None
    decided: float


def choose_cuts(
    probabilities: Sequence[float],
    labels: Sequence[bool],
    precision: float = DEFAULT_PRECISION,
    costs: ErrorCosts | None = None,
) -> VerdictCuts:
    """Return the cuts for probabilities that an item is supported, from aligned human labels.

    `precision`: the wanted share of right verdicts beyond either cut. Without `costs` the middle cut is the base rate
    of the labels (balanced accuracy); with them, passing / (passing + failing), which expects the lowest cost. A cut
    is None where no ten labels or more beyond it reach the precision: then that verdict is never given. Raises
    ValueError for lists of different length, for no label, and for a precision outside 0.5 to 1.

    >>> cuts = choose_cuts([i / 100 for i in range(100)], [i >= 40 for i in range(100)])
    >>> cuts.middle, cuts.accept, cuts.reject
    (0.6, 0.82, 0.19)
    """
    if len(probabilities) != len(labels) or not probabilities:
        raise ValueError(f"every probability needs a label (got {len(probabilities)} and {len(labels)})")
    if not 0.5 <= precision <= 1:
        raise ValueError(f"no precision (got {precision}; expected 0.5 to 1)")
    middle = sum(labels) / len(labels) if costs is None else costs.passing / (costs.passing + costs.failing)
    accept = _find_cut(probabilities, labels, precision)
    reject = _find_cut([1 - value for value in probabilities], [not label for label in labels], precision)
    return VerdictCuts(
        middle=middle,
        precision=precision,
        reject=None if reject is None else min(middle, probabilities[reject]),
        accept=None if accept is None else max(middle, probabilities[accept]),
    )


def _find_cut(probabilities: Sequence[float], labels: Sequence[bool], precision: float) -> int | None:
    """Return the index of the lowest probability from which on labels and probabilities both reach the precision; None
    if there is none with enough labels.

    Labels alone choose a cut that was lucky on few of them.
    """
    order = sorted(range(len(probabilities)), key=lambda index: -probabilities[index])
    cut, hits, expected = None, 0, 0.0
    for count, index in enumerate(order, 1):
        hits += labels[index]
        expected += probabilities[index]
        ends_tie = count == len(order) or probabilities[order[count]] != probabilities[index]
        if ends_tie and count >= LEAST_DECIDED and min(hits, expected) >= precision * count:
            cut = index
    return cut


def assign_folds(clusters: Collection[Hashable], seed: int) -> dict[Hashable, int]:
    """Return the fold of each cluster, seeded and independent of their order."""
    names = sorted(set(clusters), key=repr)
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(names)).tolist()
    return {names[position]: number % FOLDS for number, position in enumerate(order)}


def choose_held_out_cuts(
    probabilities: Sequence[float],
    labels: Sequence[bool],
    clusters: Sequence[Hashable],
    precision: float = DEFAULT_PRECISION,
    costs: ErrorCosts | None = None,
    seed: int = 0,
) -> list[VerdictCuts]:
    """Return for each item the cuts chosen from the items of other folds, where whole clusters are in one fold."""
    fold_of = assign_folds(clusters, seed)
    folds = [fold_of[cluster] for cluster in clusters]
    whole = choose_cuts(probabilities, labels, precision, costs)
    cuts_by_fold: Mapping[int, VerdictCuts] = {
        fold: _choose_without(fold, folds, probabilities, labels, precision, costs) or whole for fold in set(folds)
    }
    return [cuts_by_fold[fold] for fold in folds]


def _choose_without(
    fold: int,
    folds: Sequence[int],
    probabilities: Sequence[float],
    labels: Sequence[bool],
    precision: float,
    costs: ErrorCosts | None,
) -> VerdictCuts | None:
    others = [index for index, other_fold in enumerate(folds) if other_fold != fold]
    if not others:
        return None
    return choose_cuts([probabilities[i] for i in others], [labels[i] for i in others], precision, costs)


def measure_cuts(probabilities: Sequence[float], labels: Sequence[bool], cuts: Sequence[VerdictCuts]) -> CutQuality:
    """Return how often the verdicts by the cuts of each item agree with its label."""
    verdicts = [item_cuts.decide(value) for value, item_cuts in zip(probabilities, cuts, strict=True)]
    by_label = list(zip(verdicts, labels, strict=True))
    supported = [label for verdict, label in by_label if verdict is True]
    unsupported = [not label for verdict, label in by_label if verdict is False]
    decided = (len(supported) + len(unsupported)) / max(1, len(labels))
    return CutQuality(_measure_share(supported), _measure_share(unsupported), decided)


def _measure_share(hits: Sequence[bool]) -> LabelledRate | None:
    if not hits:
        return None
    bounds = wilson_interval(sum(hits), len(hits))
    return LabelledRate(sum(hits) / len(hits), bounds.low, bounds.high, len(hits))
