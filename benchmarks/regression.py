"""Error rates of paired tests and regression rules: true nulls rejected, losses passed, candidates failed wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
import numpy.typing as npt

from assay.stats.paired_tests import bound_mean_gain, compare_paired_scores
from benchmarks.populations import Scores

TESTS, RATES, RULES = "paired", "regression rule", "regression rule for scores"
SEED = 20_240_611
LEVEL = 0.05
MARGINS = (0.02, 0.05, 0.1)
GATED = ((20, 1), (41, 1), (100, 1), (200, 1), (8, 5), (14, 3), (41, 2), (100, 2))  # clusters × cases in each
KINDS = ("rare halves", "rare tenths", "rare both ways", "rates", "smooth", "rare gains")

Found = tuple[str, str, float, None, float]
"""Section, point, share of wrong answers, and the most that is promised."""


def errors(reps: int) -> Iterator[Found]:
    """Yield how often every test and rule is wrong."""
    yield from paired_test_errors(reps)
    yield from non_inferiority()
    for count, size in GATED:
        for kind in KINDS:
            for margin in MARGINS:
                yield from rule_for_scores(count, size, kind, margin, margin, reps)
            yield from rule_for_scores(count, size, kind, 0.0, 0.05, reps)


def paired_test_errors(reps: int) -> Iterator[Found]:
    """How often a true null is rejected at 5%: scores with heavy-tailed cluster effects, rates whose clusters flip."""
    for count, size in ((8, 5), (14, 3), (41, 2)):
        clusters = [index // size for index in range(count * size)]
        rejected = dict.fromkeys(("CR1-t", "sign flip", "rates, CR1-t", "rates, sign flip"), 0)
        generator = np.random.Generator(np.random.PCG64([SEED, count]))
        for _ in range(reps):
            effect = np.repeat(generator.standard_t(3, count), size) + generator.standard_normal(count * size)
            pairs = {"": (np.zeros(count * size), effect), "rates, ": flipping_rates(generator, count, size)}
            for name, (before, after) in pairs.items():
                result = compare_paired_scores(before, after, clusters=clusters)
                assert result is not None and result.p_value is not None
                rejected[f"{name}CR1-t"] += result.bounds is not None and not (
                    result.bounds.low <= 0 <= result.bounds.high
                )
                rejected[f"{name}sign flip"] += result.p_value <= LEVEL
        for name, times in rejected.items():
            yield f"{TESTS}, true null rejected", f"{count} × {size} {name}", times / reps, None, LEVEL


def flipping_rates(generator: np.random.Generator, count: int, size: int) -> tuple[Scores, Scores]:
    """Draw pairs of 0 and 1: the whole cluster flips in three of ten, to either side as likely."""
    before = (generator.random(count * size) < np.repeat(generator.random(count), size)).astype(float)
    flips = np.repeat(generator.random(count) < 0.3, size)
    up = np.repeat(generator.random(count) < 0.5, size).astype(float)
    return np.where(flips, 1 - up, before), np.where(flips, up, before)


def non_inferiority() -> Iterator[Found]:
    """The rule for independent pairs of 0 and 1: exact sums, nothing simulated."""
    for n in (20, 41, 100):
        for margin in MARGINS:
            for wins in (0.0, 0.02, 0.1):
                name = f"n={n} margin={margin} improved={wins}"
                passed, failed = verdicts(n, margin, wins, wins + margin)
                yield f"{RATES}, passes a loss of its margin", name, passed, None, LEVEL
                yield f"{RATES}, fails a loss of its margin", name, failed, None, LEVEL
                yield f"{RATES}, fails an equal candidate", name, verdicts(n, margin, wins, wins)[1], None, LEVEL


def verdicts(n: int, margin: float, improved: float, worsened: float) -> tuple[float, float]:
    """Return the probabilities that the one-sided bounds show no loss of `margin`, and that they show one."""
    passed = failed = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            chance = comb(n, b) * comb(n - b, c) * improved**b * worsened**c * (1 - improved - worsened) ** (n - b - c)
            if chance > 1e-9:
                before, after = [0.0] * b + [1.0] * (n - b), [1.0] * b + [0.0] * c + [1.0] * (n - b - c)
                bounds = bound_mean_gain(before, after)
                assert bounds is not None
                passed += chance * (bounds.low > -margin)
                failed += chance * (bounds.high < -margin)
    return passed, failed


def rule_for_scores(count: int, size: int, kind: str, loss: float, margin: float, reps: int) -> Iterator[Found]:
    """The rule for scores in steps and smooth ones; in clusters, half of the cases do what their cluster does."""
    n = count * size
    clusters: npt.NDArray[np.intp] | None = None if size == 1 else np.arange(n) // size
    generator = np.random.Generator(np.random.PCG64([SEED, count, size, KINDS.index(kind), int(100 * loss)]))
    passed = failed = 0
    for _ in range(reps):
        moved = differences(generator, kind, n, loss)
        if size > 1:
            shared = np.repeat(differences(generator, kind, count, loss), size)
            moved = np.where(generator.random(n) < 0.5, shared, moved)
        bounds = bound_mean_gain(np.full(n, 0.5), 0.5 + moved, clusters=clusters, low=0.0, high=1.0)
        assert bounds is not None
        passed, failed = passed + (bounds.low > -margin), failed + (bounds.high < -margin)
    name = f"{count} × {size} {kind}, margin {margin}"
    if loss:
        yield f"{RULES}, passes a loss of its margin", name, passed / reps, None, LEVEL
    yield f"{RULES}, fails {'a loss of its margin' if loss else 'an equal one'}", name, failed / reps, None, LEVEL


def differences(generator: np.random.Generator, kind: str, n: int, loss: float) -> Scores:
    """Draw differences of the given mean loss."""
    if kind == "rare halves":
        return np.where(generator.random(n) < 2 * loss, -0.5, 0.0)
    if kind == "rare tenths":
        return np.where(generator.random(n) < 10 * loss, -0.1, 0.0)
    if kind == "rare both ways":
        return generator.choice([-0.5, 0.5, 0.0], p=[0.05 + 2 * loss, 0.05, 0.9 - 2 * loss], size=n)
    if kind == "rates":
        return generator.choice([-1.0, 1.0, 0.0], p=[0.05 + loss, 0.05, 0.9 - loss], size=n)
    if kind == "smooth":
        return generator.normal(-loss, 0.2, n)
    return np.where(generator.random(n) < 0.1, 0.5, -(loss + 0.05) / 0.9)
