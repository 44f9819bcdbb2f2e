"""Coverage of the intervals of corrected judge rates: a judge rates 400 answers, and people label some of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.stats.intervals import Estimate, wilson_interval
from assay.stats.rate_correction import correct_rate, estimate_prediction_powered_mean, explain_unreliable_ppi

SECTION = "judge correction"
SEED = 20260301
JUDGED = 400
LABELS = (40, 100, 200)
JUDGES = ((0.95, 0.8), (0.97, 0.7), (0.9, 0.9))  # sensitivity, specificity
RATES = (0.3, 0.6, 0.9)
ROGAN_GLADEN_COVERS, PPI_COVERS = 0.93, 0.91


def coverage(reps: int) -> Iterator[tuple[str, str, float, float | None]]:
    """Yield (section, point, share covered, promise). Covered is a share of the samples in which a correction is given,
    how many these are is said, and nothing is promised where they are fewer than half."""
    for number in LABELS:
        for judge in JUDGES:
            for rate in RATES:
                yield from _point(number, judge, rate, reps)


def _point(
    number: int, judge: tuple[float, float], rate: float, reps: int
) -> Iterator[tuple[str, str, float, float | None]]:
    generator = np.random.Generator(np.random.PCG64([SEED, number, int(100 * rate), int(100 * judge[0])]))
    coverage: dict[str, list[bool]] = {"as judged, Wilson": [], "Rogan-Gladen": [], "PPI++": []}
    for _ in range(reps):
        truth = generator.random(JUDGED) < rate
        judged = generator.random(JUDGED) < np.where(truth, judge[0], 1 - judge[1])
        people, paired = truth[:number].astype(float), judged[:number].astype(float)
        passed, share = int(people.sum()), float(judged.mean())
        coverage["as judged, Wilson"].append(_covers(Estimate(share, wilson_interval(int(judged.sum()), JUDGED)), rate))
        sensitivity = float(paired[people == 1].mean()) if passed else 0.0
        specificity = 1 - float(paired[people == 0].mean()) if passed < number else 0.0
        corrected = correct_rate(share, JUDGED, specificity, number - passed, sensitivity, passed)
        if corrected is not None:
            coverage["Rogan-Gladen"].append(_covers(corrected, rate))
        powered = (
            estimate_prediction_powered_mean(people, paired, judged[number:].astype(float))
            if not explain_unreliable_ppi(people)
            else None
        )
        if powered is not None:
            coverage["PPI++"].append(_covers(powered, rate))
    promises = {"Rogan-Gladen": ROGAN_GLADEN_COVERS, "PPI++": PPI_COVERS}
    for method, inside in coverage.items():
        if inside:
            name = f"labels={number} sens={judge[0]} spec={judge[1]} p={rate}, given in {len(inside) / reps:.0%}"
            promise = promises.get(method) if 2 * len(inside) >= reps else None
            yield f"{SECTION}, {method}", name, float(np.mean(inside)), promise


def _covers(estimate: Estimate, rate: float) -> bool:
    return estimate.bounds.low <= rate <= estimate.bounds.high
