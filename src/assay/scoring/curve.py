"""From the raw number of the rules instrument to a probability: a curve, tried on labels it was not fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

import numpy as np

from assay.metrics.platt import fit_platt
from assay.scoring.agreement import Key
from assay.scoring.calibration import LEAST_LABELS
from assay.scoring.truth import Opinion

FOLDS = 5


def held_out(
    opinions: Mapping[Key, Opinion], truth: Mapping[Key, bool], seed: int = 0
) -> tuple[dict[Key, Opinion], dict[str, float] | None]:
    """Return opinions whose values are probabilities, and the curve: slope and intercept of the raw number.

    The value of a labelled item comes from a curve that its case had no part in (five folds of whole cases, seeded), so
    that what is measured on it is not flattered; all others come from the curve of all labels. Unchanged, with None,
    for fewer than 50 labelled items or where no curve can be fitted.
    """
    known = sorted(key for key in truth.keys() & opinions.keys() if opinions[key].signal is not None)
    whole = _fit(known, opinions, truth, seed) if len(known) >= LEAST_LABELS["rules"] else None
    if whole is None:
        return dict(opinions), None
    cases = sorted({key[0] for key in known})
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(cases)).tolist()
    fold_of = {cases[place]: number % FOLDS for number, place in enumerate(order)}
    curves: dict[int, tuple[float, float]] = {}
    for fold in range(FOLDS):
        curve = _fit([key for key in known if fold_of[key[0]] != fold], opinions, truth, seed)
        if curve is None:
            return dict(opinions), None
        curves[fold] = curve
    labelled = set(known)
    return {
        key: said
        if said.signal is None
        else said._replace(value=_probability(said.signal, curves[fold_of[key[0]]] if key in labelled else whole))
        for key, said in opinions.items()
    }, {"slope": whole[0], "intercept": whole[1]}


def _fit(
    keys: list[Key], opinions: Mapping[Key, Opinion], truth: Mapping[Key, bool], seed: int
) -> tuple[float, float] | None:
    signals = [signal for key in keys if (signal := opinions[key].signal) is not None]
    found = fit_platt(signals, [float(truth[key]) for key in keys], seed)
    return (found.slope, found.intercept) if found is not None else None


def _probability(signal: float, curve: tuple[float, float]) -> float:
    power = curve[0] * signal + curve[1]
    return 1 / (1 + exp(-power)) if power >= 0 else exp(power) / (1 + exp(power))
