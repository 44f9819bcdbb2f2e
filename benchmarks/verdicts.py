"""From score to verdict: what cuts chosen from labels do for a scorer of known quality, by simulation.

`python -m benchmarks.verdicts [--runs 100]` prints, for a scorer with AUROC 0.9 (and a weak one with 0.7), 200 labels
of 1,000 items and several base rates: how often the scorer may gate, how often the corrected interval holds the true
pass rate, the balanced accuracy at the fixed cut of 0.5 and at the chosen one, how often verdicts are right, and the
share that is decided. Exit 1 if the good scorer may gate in fewer than 0.85 of the runs, or the weak one in more than
0.1 at a base rate of one half.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np

from assay.calibration.human_labels import ScorerLabel
from assay.calibration.probability_curve import apply_probability_curve
from assay.calibration.rater_agreement import ItemKey
from assay.calibration.scorer_quality import CalibrationQuestion, choose_scorer_cuts, find_passes, measure_scorer
from assay.records.verdicts import Calibration, Label, LabelledRate

ITEMS, LABELS = 1000, 200
BASE_RATES = (0.5, 0.7, 0.83)
GOOD, WEAK = 0.9, 0.7
SCALE = {"supported": 1.0, "not_found": 0.0}
LEAST_GOOD, MOST_WEAK = 0.85, 0.1


class Simulated(NamedTuple):
    """One simulated calibration: its record, the true pass rate, and held-out balanced accuracies of both cuts."""

    record: Calibration
    true_rate: float
    at_half: float
    at_middle: float


def simulate_calibration(auroc: float, base_rate: float, seed: int, labels: int = LABELS) -> Simulated:
    """Calibrate a scorer whose scores are normal in both classes, as far apart as the AUROC says."""
    generator = np.random.Generator(np.random.PCG64(seed))
    distance = 2**0.5 * NormalDist().inv_cdf(auroc)
    truths = generator.random(ITEMS) < base_rate
    scores = generator.normal(size=ITEMS) + distance * truths
    keys: list[ItemKey] = [(f"case{number:04}", "c", "") for number in range(ITEMS)]
    truth = dict(zip(keys, truths.tolist(), strict=True))
    signals = {key: ScorerLabel(value=0.5, signal=z) for key, z in zip(keys, scores.tolist(), strict=True)}
    passed = {key: truth[key] for key in keys[:labels]}
    people = [
        Label(key[0], "faithfulness", "ann", "supported" if passes else "not_found", config_id="c")
        for key, passes in passed.items()
    ]
    values, curve = apply_probability_curve(signals, passed, seed)
    assert curve is not None
    cuts = choose_scorer_cuts(values, passed, seed=seed)
    name = "faithfulness(by=rules)"
    question = CalibrationQuestion("faithfulness", name, "rules", "", "", SCALE, "", "")
    platt = {"slope": curve.slope, "intercept": curve.intercept}
    measured = measure_scorer(question, people, values, {}, {}, platt, seed, cuts)
    assert measured is not None
    probabilities = {key: label.value for key, label in values.items() if label.value is not None}
    unseen = {key: probabilities[key] for key in keys[labels:]}
    return Simulated(
        measured.calibration,
        fmean(truths.tolist()),
        _balanced_accuracy(find_passes(unseen), truth),
        _balanced_accuracy(find_passes(unseen, cuts), truth),
    )


def _balanced_accuracy(passes: dict[ItemKey, bool], truth: dict[ItemKey, bool]) -> float:
    passed = [float(passes[key]) for key in passes if truth[key]]
    failed = [float(not passes[key]) for key in passes if not truth[key]]
    return (fmean(passed) + fmean(failed)) / 2


def summarise(auroc: float, base_rate: float, runs: int) -> float:
    """Print the figures of one scorer and base rate; return how often it may gate."""
    simulated = [simulate_calibration(auroc, base_rate, seed) for seed in range(runs)]
    records = [run.record for run in simulated]
    gates = fmean(float(record.may_gate) for record in records)
    held = [
        float(run.record.corrected.low <= run.true_rate <= run.record.corrected.high)
        for run in simulated
        if run.record.corrected is not None
    ]
    supported = _pool([record.supported_precision for record in records])
    unsupported = _pool([record.unsupported_precision for record in records])
    decided = fmean(record.decided or 0.0 for record in records)
    print(
        f"AUROC {auroc} base rate {base_rate}: may gate {gates:.2f}, corrected interval holds {_mean(held)}, balanced "
        f"accuracy {fmean(run.at_half for run in simulated):.3f} at 0.5 and "
        f"{fmean(run.at_middle for run in simulated):.3f} at the chosen cut, right: supported {supported}, "
        f"unsupported {unsupported}, decided {decided:.2f}"
    )
    return gates


def _pool(rates: Sequence[LabelledRate | None]) -> str:
    """Return the share over the items of all runs."""
    counted = [rate for rate in rates if rate is not None]
    total = sum(rate.n for rate in counted)
    return f"{sum(rate.value * rate.n for rate in counted) / total:.3f} (n={total})" if total else "–"


def _mean(shares: list[float]) -> str:
    return f"{fmean(shares):.3f}" if shares else "–"


def main() -> int:
    """Print the figures; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    good = [summarise(GOOD, base_rate, runs) for base_rate in BASE_RATES]
    weak = [summarise(WEAK, base_rate, runs) for base_rate in BASE_RATES]
    return 1 if min(good) < LEAST_GOOD or weak[0] > MOST_WEAK else 0


if __name__ == "__main__":
    sys.exit(main())
