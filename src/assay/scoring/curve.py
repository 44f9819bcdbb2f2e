"""Fits the curve that turns the raw number of the rules scorer into a probability (Platt scaling)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from assay.metrics.platt import Platt, fit_platt
from assay.scoring.agreement import Key
from assay.scoring.truth import Opinion

FOLDS = 5


class Curve(NamedTuple):
    """The curve fitted to all labels; `held_out` is whether labelled items have values from cross-validated curves."""

    slope: float
    intercept: float
    held_out: bool


def valued(
    opinions: Mapping[Key, Opinion], truth: Mapping[Key, bool], seed: int = 0
) -> tuple[dict[Key, Opinion], Curve | None]:
    """Return the scorer labels with probabilities as values, and the curve that computes them from the raw number.

    The value of a labelled item comes from a curve fitted without its case (five seeded folds of whole cases), so that
    the calibration is not too optimistic. Other items, and folds with too few labels, use the curve fitted to all
    labels. If `fit_platt` fits no curve, the labels are returned unchanged, with None.
    """
    known = sorted(key for key in truth.keys() & opinions.keys() if opinions[key].signal is not None)
    whole = _fit(known, opinions, truth, seed)
    if whole is None:
        return dict(opinions), None
    cases = sorted({key[0] for key in known})
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(cases)).tolist()
    fold_of = {cases[place]: number % FOLDS for number, place in enumerate(order)}
    folds = [_fit([key for key in known if fold_of[key[0]] != fold], opinions, truth, seed) for fold in range(FOLDS)]
    kept = [fold or whole for fold in folds]
    own = {key: kept[fold_of[key[0]]] for key in known}
    values = {
        key: said if said.signal is None else said._replace(value=own.get(key, whole).probability(said.signal))
        for key, said in opinions.items()
    }
    return values, Curve(whole.slope, whole.intercept, None not in folds)


def _fit(keys: list[Key], opinions: Mapping[Key, Opinion], truth: Mapping[Key, bool], seed: int) -> Platt | None:
    signals = [signal for key in keys if (signal := opinions[key].signal) is not None]
    return fit_platt(signals, [truth[key] for key in keys], seed)
