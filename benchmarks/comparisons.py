"""What `assay compare` claims about systems whose true difference is known, and how often it is wrong.

`python -m benchmarks.comparisons [--reps N] [--sizes 60,200,1000]` runs the code behind `assay compare` on simulated
score tables (all default metrics, all slices) and exits with 1 if a promise is missed: two exchangeable systems get any
claim at all in at most 5% of comparisons; a true loss of .15 on one headline metric is shown in at least 85%; a system
that gains a little on 10% of the cases and loses everything on 2% is called improved in at most 5%. Each share is
printed with its Monte Carlo error; a promise is missed if it lies two of these errors below or above the share.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import sqrt
from typing import NamedTuple

import numpy as np

from assay.comparison.claims import ChangeSlot
from assay.comparison.paired_comparison import MatchedSides, conclude_claims
from assay.records.findings import MetricChange
from assay.records.release_gates import Gate, Rule
from assay.scoring.paired_scores import ScoreSnapshot
from benchmarks.comparison_world import METRICS, Scores, draw_sides, make_snapshot, make_world

SEED = 20_240_707
CLAIMS = ("improved", "regressed")
SIZES = (60, 200, 1000)
GATE = Gate(
    (
        Rule("recall@10", max_regression=0.05),
        Rule("behaviour", max_regression=0.05),
        Rule("visibility_leaks", at_most=0),
    )
)
HEADLINE = "recall@10"
LOSS = 0.15
LOSSES = ("rate", "steps", "smooth")


class Cell(NamedTuple):
    """One cell: how many of `reps` simulated comparisons made the claim, and the share that is promised."""

    section: str
    name: str
    events: int
    reps: int
    at_least: float | None = None
    at_most: float | None = None

    @property
    def share(self) -> float:
        """The share of the comparisons."""
        return self.events / self.reps

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of the share."""
        return sqrt(max(self.share * (1 - self.share), 1 / self.reps / 4) / self.reps)

    @property
    def is_kept(self) -> bool:
        """Whether the promise holds within two Monte Carlo errors."""
        if self.at_least is not None and self.share < self.at_least - 2 * self.error:
            return False
        return self.at_most is None or self.share <= self.at_most + 2 * self.error


def list_claims(changes: Iterable[MetricChange]) -> list[tuple[str, str | None]]:
    """Return the metric and the slice (None for all cases) of everything that is called improved or regressed."""
    return [(change.metric, change.slice) for change in changes if change.verdict in CLAIMS]


# ── two exchangeable systems ─────────────────────────────────────────────────────────────────────────────────────


def exchangeable(
    n: int, reps: int, *, clustered: bool, gate: Gate | None = None, repeats: int = 1, candidates: int = 1
) -> Cell:
    """How often systems of equal quality are said to differ anywhere: one baseline, one or more candidates."""
    world = make_world(n, clustered=clustered, seed=SEED)
    generator = np.random.Generator(np.random.PCG64([SEED, n, clustered, repeats, candidates, gate is not None]))
    wrong, claims, headlines = 0, Counter[str](), 0
    for _ in range(reps):
        baseline, *others = (
            make_snapshot(world, scores, f"system {index}")
            for index, scores in enumerate(draw_sides(generator, world, candidates + 1, repeats=repeats))
        )
        changes = conclude_claims([MatchedSides(baseline, other, gate) for other in others])
        made = list_claims(changes.values())
        wrong += bool(made)
        headlines += any(key is None for _, key in made)
        claims.update(name for name, _ in made)
    parts = [f"n = {n}", "unequal clusters" if clustered else "independent"]
    parts += ["gated"] if gate is not None else []
    parts += [f"{repeats} repeats"] if repeats > 1 else []
    parts += [f"{candidates} candidates"] if candidates > 1 else []
    detail = f"; {sum(claims.values()) / reps:.2f} claims each, on all cases in {headlines / reps:.1%}"
    return Cell("any claim about exchangeable systems", ", ".join(parts) + detail, wrong, reps, at_most=0.05)


def find_verdict(before: ScoreSnapshot, after: ScoreSnapshot) -> str:
    """Return what is said of the headline metric over all cases, beside all other metrics and a few slices."""
    return conclude_claims([MatchedSides(before, after, slice_keys=["difficulty"])])[
        ChangeSlot(0, HEADLINE, None)
    ].verdict


# ── one true difference ──────────────────────────────────────────────────────────────────────────────────────────


def draw_loss(generator: np.random.Generator, n: int, kind: str) -> tuple[Scores, Scores]:
    """Return scores in [0, 1] of both sides with a mean loss of .15 and differences of sd .37 to .40."""
    if kind == "rate":
        moved = generator.choice([-1.0, 1.0, 0.0], p=[0.16, 0.01, 0.83], size=n)
        return np.where(moved < 0, 1.0, 0.0), np.where(moved > 0, 1.0, 0.0)
    if kind == "steps":
        moved = generator.choice([-0.75, -0.5, 0.25, 0.5, 0.0], p=[0.18, 0.15, 0.12, 0.06, 0.49], size=n)
    else:
        moved = generator.uniform(-LOSS - 0.69, -LOSS + 0.69, n)
    return 0.5 - moved / 2, 0.5 + moved / 2


def true_loss(kind: str, reps: int, n: int = 200) -> Cell:
    """How often a true loss of .15 on one headline metric is shown, among all metrics and slices."""
    world = make_world(n, clustered=False, seed=SEED)
    generator = np.random.Generator(np.random.PCG64([SEED, n, len(kind)]))
    shown = 0
    for _ in range(reps):
        sides = draw_sides(generator, world, 2)
        sides[0][HEADLINE], sides[1][HEADLINE] = draw_loss(generator, n, kind)
        before, after = (make_snapshot(world, scores, name) for name, scores in zip("ab", sides, strict=True))
        shown += find_verdict(before, after) == "regressed"
    return Cell("a true loss of .15 is shown", f"n = {n}, {kind}", shown, reps, at_least=0.85)


def catastrophes(n: int, reps: int, *, alone: bool) -> Cell:
    """How often a system that loses 1 on 2% of the cases and gains .2 on 10% is called improved: its mean is equal."""
    world = make_world(n, clustered=False, seed=SEED)
    generator = np.random.Generator(np.random.PCG64([SEED, n, alone, 3]))
    improved = 0
    for _ in range(reps):
        sides = [{HEADLINE: np.zeros(0)}] * 2 if alone else draw_sides(generator, world, 2)
        moved = generator.choice([-1.0, 0.2, 0.0], p=[0.02, 0.1, 0.88], size=n)
        before_scores = np.where(moved < 0, 1.0, np.where(moved > 0, 0.8, generator.choice([0.8, 1.0], size=n)))
        before, after = (
            make_snapshot(world, {**scores, HEADLINE: values}, name, [HEADLINE] if alone else METRICS)
            for name, scores, values in zip("ab", sides, (before_scores, before_scores + moved), strict=True)
        )
        improved += find_verdict(before, after) == "improved"
    name = f"n = {n}, {'the only metric' if alone else 'among all metrics'}"
    return Cell("rare catastrophes called improved", name, improved, reps, at_most=0.05)


# ── printing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def iter_cells(reps: int, sizes: tuple[int, ...]) -> Iterator[Callable[[], Cell]]:
    """Yield every cell, to be computed when it is printed."""
    for n in sizes:
        for clustered in (False, True):
            yield partial(exchangeable, n, reps, clustered=clustered)
    yield partial(exchangeable, 200, reps, clustered=True, gate=GATE)
    yield partial(exchangeable, 200, reps, clustered=False, repeats=3)
    yield partial(exchangeable, 200, reps, clustered=True, candidates=3)
    for kind in LOSSES:
        yield partial(true_loss, kind, reps)
    for n in (41, *sizes):
        for alone in (False, True):
            yield partial(catastrophes, n, reps, alone=alone)


def report(cells: Iterator[Callable[[], Cell]]) -> int:
    """Print each cell when it is done; return the number of missed promises."""
    missed, section = 0, ""
    for compute in cells:
        cell = compute()
        if cell.section != section:
            section = cell.section
            print(f"\n{section}")
        limit = f"at least {cell.at_least:.0%}" if cell.at_least is not None else f"at most {cell.at_most or 0:.0%}"
        missed += not cell.is_kept
        mark = "" if cell.is_kept else "  MISSED"
        print(
            f"  {cell.share:6.1%} ± {cell.error:.1%}  {cell.name} ({cell.reps} comparisons; {limit}){mark}", flush=True
        )
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=2000, help="comparisons per cell (default 2000)")
    parser.add_argument("--sizes", default="60,200,1000", help="numbers of cases (default 60,200,1000)")
    arguments = parser.parse_args()
    sizes = tuple(int(size) for size in arguments.sizes.split(","))
    missed = report(iter_cells(arguments.reps, sizes))
    print(f"\n{missed} promises missed")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
