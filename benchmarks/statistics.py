"""Coverage of the intervals of Assay over a fixed grid of which every point is printed.

`python -m benchmarks.statistics [--reps N] [--comparisons N]` exits with 1 if a promise is missed: rates cover 94–97%
on average and at least 91% at every point from n = 20 on; balanced means at least 89%; bounded scores at least 90% at
every point from n = 41 on, with 90% and more of them 1; what is stated of latencies with outliers at least 90%;
clustered scores are covered or carry a note in at least 90% of samples at every point; paired tests reject a true null
in at most 5% of samples, with clusters too; regression rules fail an equal candidate or one that lost exactly the
margin, and pass the latter, in at most 5%. Simulated points are allowed three standard errors of their own noise;
rates, balanced means and the regression rule for rates are computed exactly. Then follow the simulated comparisons of
`benchmarks.comparisons`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import comb, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.metrics.catalog import CATALOG
from assay.records.scores import ScoreColumn
from assay.scoring.summaries import summarise_column
from assay.stats import intervals
from benchmarks import comparisons, correction, regression
from benchmarks.populations import Scores, populations

SEED = 20_240_611
RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
RATE_SIZES = (10, 15, 20, 41, 100, 200, 500)
RATES_PROMISED_FROM = 20
SCORE_SIZES = (20, 41, 100, 300)
CLUSTERS = ((8, 6), (14, 3), (20, 3), (41, 2), (41, 4), (100, 3))  # clusters × cases in each
SCORES_PROMISED_FROM = 41
SIMULATED = (
    "bounded scores",
    "clustered binary",
    "clustered bounded scores",
    "percentiles",
    "open amounts",
    regression.TESTS,
    regression.RULES,
    correction.SECTION,
)
SLACK = 1e-9  # a limit equal to the true mean covers it


class Point(NamedTuple):
    """One point of the grid: what was measured, and the promise it must keep (None: printed, nothing promised)."""

    section: str
    name: str
    share: float
    at_least: float | None = None
    at_most: float | None = None

    def kept(self, noise: float) -> bool:
        enough = self.at_least is None or self.share >= self.at_least - noise
        return enough and (self.at_most is None or self.share <= self.at_most + noise)


# ── rates: exact sums over the binomial, no simulation ───────────────────────────────────────────────────────────


def binomial(n: int, p: float) -> Scores:
    """Return the probability of 0 … n successes."""
    return np.array([comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


def binary(n: int) -> list[list[float]]:
    """Return the n + 1 samples of zeros and ones that differ by more than their order."""
    return [[1.0] * k + [0.0] * (n - k) for k in range(n + 1)]


def covering(bounds: list[intervals.Bounds], p: float) -> npt.NDArray[np.bool_]:
    return np.array([b.low - SLACK <= p <= b.high + SLACK for b in bounds])


def rates() -> Iterator[Point]:
    for n in RATE_SIZES:
        bounds = [found for sample in binary(n) if (found := intervals.estimate_mean_interval(sample, low=0, high=1))]
        promised = n >= RATES_PROMISED_FROM
        section = "rates" if promised else f"rates, below the promise: n < {RATES_PROMISED_FROM}"
        for p in RATES:
            share = float(binomial(n, p) @ covering(bounds, p))
            yield Point(section, f"n={n} p={p}", share, at_least=0.91 if promised else None)
        fine = np.linspace(0.5, 0.9999, 1000)
        worst = min((float(binomial(n, p) @ covering(bounds, p)), p) for p in fine)
        yield Point("rates, lowest of 1,000 p: the dips between the points", f"n={n}, at p={worst[1]:.4f}", worst[0])


def one_sided_rates() -> Iterator[Point]:
    for n in RATE_SIZES:
        lower = [
            bound.value
            for sample in binary(n)
            if (bound := intervals.estimate_one_sided_bound(sample, "lower", low=0, high=1))
        ]
        for p in RATES:
            right = float(binomial(n, p) @ (np.array(lower) <= p + SLACK))
            yield Point("rates, one-sided lower bound", f"n={n} p={p}", right, at_least=0.95)


def balanced_rates() -> Iterator[Point]:
    for n_a, n_b in ((10, 10), (10, 31), (20, 20), (20, 80), (60, 140)):
        pairs = [[intervals.average_two_rates((a, n_a), (b, n_b)) for b in range(n_b + 1)] for a in range(n_a + 1)]
        low = np.array([[pair.bounds.low if pair else 0.0 for pair in row] for row in pairs])
        high = np.array([[pair.bounds.high if pair else 1.0 for pair in row] for row in pairs])
        for p_a, p_b in ((0.5, 0.5), (0.7, 0.9), (0.9, 0.7), (0.9, 0.9), (0.95, 0.8), (0.95, 0.99), (0.99, 0.99)):
            middle = (p_a + p_b) / 2
            inside = (low - SLACK <= middle) & (middle <= high + SLACK)
            share = float(binomial(n_a, p_a) @ inside @ binomial(n_b, p_b))
            yield Point("balanced", f"n={n_a}+{n_b} p={p_a},{p_b}", share, at_least=0.89)


# ── bounded scores ───────────────────────────────────────────────────────────────────────────────────────────────


def bounded_scores(reps: int) -> Iterator[Point]:
    for n in SCORE_SIZES:
        promise = 0.90 if n >= SCORES_PROMISED_FROM else None
        for name, (draw, mean) in populations(n).items():
            generator = np.random.Generator(np.random.PCG64([SEED, n]))
            samples = [draw(generator, n) for _ in range(reps)]
            inside = [interval_covers(sample, mean) for sample in samples]
            yield Point("bounded scores", f"n={n} {name}", float(np.mean(inside)), at_least=promise)
            right = [lower_bound_holds(sample, mean) for sample in samples]
            yield Point("bounded scores, one-sided lower bound", f"n={n} {name}", float(np.mean(right)), promise)


def interval_covers(sample: Scores, mean: float) -> bool:
    bounds = intervals.estimate_mean_interval(sample, low=0, high=1)
    return bounds is not None and bounds.low - SLACK <= mean <= bounds.high + SLACK


def lower_bound_holds(sample: Scores, mean: float) -> bool:
    bound = intervals.estimate_one_sided_bound(sample, "lower", low=0, high=1)
    return bound is not None and bound.value <= mean + SLACK


def clustered_rates(reps: int) -> Iterator[Point]:
    """Near 1, where few clusters hold a failure, CR1-t covers too little: there the note must be printed."""
    for count, size in CLUSTERS:
        for p in (0.5, 0.8, 0.9, 0.95, 0.98, 0.99):
            for icc in (0.1, 0.5):
                generator = np.random.Generator(np.random.PCG64([SEED, count, size, int(100 * p)]))
                a, b = p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc
                samples = []
                for _ in range(reps):
                    chance = np.repeat(generator.beta(a, b, count), size)
                    samples.append((generator.random(count * size) < chance).astype(float))
                yield from clustered("clustered binary", f"{count} × {size} p={p} icc={icc}", samples, p, size)


def clustered_scores(reps: int) -> Iterator[Point]:
    """Half of the cases repeat their cluster's score, the others have their own."""
    for count, size in CLUSTERS:
        for name, (draw, mean) in populations(count).items():
            generator = np.random.Generator(np.random.PCG64([SEED, count, size]))
            samples = []
            for _ in range(reps):
                shared, own = np.repeat(draw(generator, count), size), draw(generator, count * size)
                samples.append(np.where(generator.random(count * size) < 0.5, shared, own))
            yield from clustered("clustered bounded scores", f"{count} × {size} {name}", samples, mean, size)


def clustered(section: str, name: str, samples: list[Scores], mean: float, size: int) -> Iterator[Point]:
    """Yield the share of samples covered, of which nothing is promised, and of those covered or with a note."""
    clusters = np.arange(len(samples[0])) // size
    mean_intervals = [intervals.estimate_mean_interval(sample, clusters=clusters, low=0, high=1) for sample in samples]
    bounds = [interval for interval in mean_intervals if interval is not None]
    inside, noted = covering(bounds, mean), np.array([bool(interval.note) for interval in bounds])
    share = float(np.mean(inside))
    short = "  below 90%" if share < 0.90 else ""
    yield Point(f"{section}, covered", f"{name}, {np.mean(noted):.0%} with a note{short}", share)
    yield Point(f"{section}, covered or with a note", name, float(np.mean(inside | noted)), at_least=0.90)


# ── percentiles ──────────────────────────────────────────────────────────────────────────────────────────────────


def percentiles(reps: int) -> Iterator[Point]:
    """Latencies (log-normal, and rounded so that many tie); small samples promise only the share their note names."""
    for p, z in ((50, 0.0), (90, 1.2815515655446004), (95, 1.6448536269514722), (99, 2.3263478740408408)):
        for n in (20, 41, 100, 300, 1000):
            if n * (100 - p) < 100:
                continue  # fewer than one value beyond the percentile: reported as "insufficient n", no interval
            for kind, grain in (("smooth", 0.0), ("ties", 0.25)):
                generator = np.random.Generator(np.random.PCG64([SEED, p, n]))
                truth, hits, note = float(np.exp(z)), 0, ""
                truth = np.ceil(truth / grain) * grain if grain else truth
                for _ in range(reps):
                    sample = np.exp(generator.standard_normal(n))
                    sample = np.ceil(sample / grain) * grain if grain else sample
                    bounds = intervals.estimate_percentile_interval(sample, p)
                    assert bounds is not None
                    hits, note = hits + (bounds.low - SLACK <= truth <= bounds.high + SLACK), bounds.note
                promise = float(note.split("covers ")[1].rstrip("%")) / 100 - 0.005 if note else 0.94
                yield Point("percentiles", f"p{p} n={n} {kind}" + (f" [{note}]" if note else ""), hits / reps, promise)


# ── amounts without an upper end ─────────────────────────────────────────────────────────────────────────────────


def open_amounts(reps: int) -> Iterator[Point]:
    """What is stated of latencies, 4% of which are many times as long: the median below 300 cases, else the mean."""
    for n in (20, 41, 100, 200, 300, 1000):
        for factor in (5.0, 20.0, 100.0):
            generator = np.random.Generator(np.random.PCG64([SEED, n, int(factor)]))
            many = draw_amounts(generator, 400_000, factor)
            truth = {"p50": float(np.median(many)), "mean": float(np.exp(0.125) * (0.96 + 0.04 * factor))}
            hits = 0
            for _ in range(reps):
                values = draw_amounts(generator, n, factor)
                column = ScoreColumn("latency_ms", values, np.zeros(n, np.uint8), np.zeros(n, np.uint16), ("",))
                summary = summarise_column(CATALOG["latency_ms"], column)
                assert summary.interval is not None
                hits += summary.interval.low <= truth[summary.statistic] <= summary.interval.high
            yield Point("open amounts", f"n={n}, outliers × {factor:g}, {summary.statistic}", hits / reps, 0.90)


def draw_amounts(generator: np.random.Generator, n: int, factor: float) -> Scores:
    """Draw log-normal latencies of which 4% are `factor` times as long."""
    return np.exp(0.5 * generator.standard_normal(n)) * np.where(generator.random(n) < 0.04, factor, 1.0)


# ── printing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def report(points: list[Point], reps: int) -> int:
    """Print every point and each section's mean and worst; return the number of broken promises."""
    broken = 0
    for section in dict.fromkeys(point.section for point in points):
        section_points = [point for point in points if point.section == section]
        simulated = section.split(",")[0] in SIMULATED
        print(f"\n{section}")
        for point in section_points:
            limit = point.at_least if point.at_least is not None else point.at_most
            noise = 3 * sqrt(limit * (1 - limit) / reps) if simulated and limit is not None else 0.0
            is_kept = point.kept(noise)
            broken += not is_kept
            promise = (
                "" if limit is None else f"  {'at least' if point.at_least is not None else 'at most'} {limit:.3f}"
            )
            print(f"  {point.share:.4f}  {point.name}{promise}{'' if is_kept else '  MISSED'}")
        shares = [point.share for point in section_points]
        mean = sum(shares) / len(shares)
        print(
            f"  = mean {mean:.4f}, lowest {min(shares):.4f}, highest {max(shares):.4f} of {len(section_points)} points"
        )
        if section == "rates" and not 0.94 <= mean <= 0.97:
            print("  MISSED: the mean must lie in 0.94 to 0.97")
            broken += 1
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=800, help="samples per simulated point (default 800)")
    parser.add_argument(
        "--comparisons", type=int, default=2000, help="simulated comparisons per cell, 0 for none (default 2000)"
    )
    arguments = parser.parse_args()
    reps = arguments.reps
    points = [
        *rates(),
        *one_sided_rates(),
        *balanced_rates(),
        *bounded_scores(reps),
        *clustered_rates(reps),
        *clustered_scores(reps),
        *percentiles(reps),
        *open_amounts(reps),
        *(Point(*fields) for fields in regression.errors(reps)),
        *(Point(*fields) for fields in correction.coverage(reps)),
    ]
    broken = report(points, reps)
    print(f"\n{len(points)} points, {reps} samples each where simulated, {broken} promises missed")
    if arguments.comparisons:
        broken += comparisons.report(comparisons.iter_cells(arguments.comparisons, comparisons.SIZES))
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
