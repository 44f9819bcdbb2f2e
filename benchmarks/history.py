"""How often the history of runs finds a change, and where none is: `python -m benchmarks.history [HISTORIES]`.

A history is simulated: runs over the same cases, each case with a difficulty of its own, several series. In some series
the rate of passed cases falls after the sixth of ten runs. The tests are those of `assay history`: permutation within
cases, all series of a history one family.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from assay.stats.arrays import FloatArray
from assay.stats.change_points import ChangePoint, scan_for_change
from assay.stats.intervals import wilson_interval
from assay.stats.multiple_testing import adjust_benjamini_hochberg

RUNS, CHANGE_AT, SERIES, CHANGED = 10, 6, 12, 3
FALSE_DISCOVERY_RATE = 0.05
CASES, FALLS = (41, 200), (0.0, 0.1, 0.25)
HISTORIES, MORE_WITHOUT_CHANGE = 200, 5
"""Histories of each kind; of those without a change there are more, because their few alarms are what is promised."""


class DetectionRates(NamedTuple):
    """What was found in some histories: shares of series, and of changes that were found."""

    histories: int
    false_discoveries: float
    with_false_alarm: int
    found: int
    changes: int
    at_the_run: int
    within_one_run: int


def draw_series(generator: np.random.Generator, cases: int, fall: float) -> FloatArray:
    """Return outcomes 0 and 1, shape (runs, cases), of which the rate falls by `fall` after the sixth run."""
    base = generator.uniform(0.2, 0.9, cases)
    rates = [0.0] * CHANGE_AT + [-fall] * (RUNS - CHANGE_AT)
    return np.array([generator.random(cases) < np.clip(base + rate, 0.0, 1.0) for rate in rates], dtype=np.float64)


def measure_detection(cases: int, fall: float, histories: int, seed: int = 0) -> DetectionRates:
    """Return the rates over simulated histories; without a fall, every change that is found is false."""
    generator = np.random.default_rng(seed)
    shares: list[float] = []
    alarms = found = changes = at_the_run = within_one = 0
    for history in range(histories):
        changed = [fall > 0 and number < CHANGED for number in range(SERIES)]
        places = []
        for number, has_changed in enumerate(changed):
            scores = draw_series(generator, cases, fall if has_changed else 0.0)
            change = scan_for_change(scores, np.arange(cases), seed=history * SERIES + number)
            places.append(change or ChangePoint(0, 0.0, 0.0, 1.0))
        adjusted = adjust_benjamini_hochberg([place.p for place in places])
        rejected = [p <= FALSE_DISCOVERY_RATE for p in adjusted]
        wrong = sum(is_found and not real for is_found, real in zip(rejected, changed, strict=True))
        shares.append(wrong / max(1, sum(rejected)))
        alarms += wrong > 0
        for is_found, real, place in zip(rejected, changed, places, strict=True):
            if real:
                changes += 1
                found += is_found
                at_the_run += is_found and place.at == CHANGE_AT
                within_one += is_found and abs(place.at - CHANGE_AT) <= 1
    return DetectionRates(histories, float(np.mean(shares)), alarms, found, changes, at_the_run, within_one)


def main(arguments: list[str]) -> int:
    """Print a line for each size and fall; exit with 1 if more false discoveries than promised are certain."""
    histories = int(arguments[0]) if arguments else HISTORIES
    is_kept = True
    for cases in CASES:
        for fall in FALLS:
            rates = measure_detection(cases, fall, histories if fall else MORE_WITHOUT_CHANGE * histories)
            alarms = wilson_interval(rates.with_false_alarm, rates.histories)
            line = f"{cases} cases, {RUNS} runs, {SERIES} series, fall {fall:g}: "
            line += f"false discoveries {rates.false_discoveries:.3f} (promised {FALSE_DISCOVERY_RATE})"
            if rates.changes:
                line += (
                    f", found {rates.found / rates.changes:.3f} of {rates.changes} changes, of these "
                    f"{rates.at_the_run / max(1, rates.found):.3f} at their run, "
                    f"{rates.within_one_run / max(1, rates.found):.3f} within one run"
                )
            else:
                line += f"; histories with any alarm {alarms.low:.3f} … {alarms.high:.3f}"
                is_kept &= alarms.low <= FALSE_DISCOVERY_RATE
            print(line)
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
