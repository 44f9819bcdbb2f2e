"""The sign-flip test: whether paired differences could as well have the other sign, exactly or by sampling.

Sampling stops once enough patterns are extreme, and Hoeffding's inequality tells where it would find none.
"""

from __future__ import annotations

from math import fsum, log, sqrt

import numpy as np

from assay.stats.arrays import FloatArray
from assay.stats.distributions import compute_beta_cdf
from assay.stats.samples import ScoreValues, parse_finite

MOST_ENUMERATED_UNITS = 20  # all 2^20 sign patterns are counted, more are sampled
SIGN_PATTERNS = 9_999
ENOUGH_EXTREMES = 30
"""Extreme patterns after which sampling stops: p is then known to a sixth of itself (Besag and Clifford 1991)."""
_FIRST_PATTERNS = 512
_SIGNS_DRAWN = 512
"""The largest units whose signs are drawn; the sum of the others, each smaller than all of these, is normal."""
_MOST_EXACT_PAIRS = 1_000
SIGN_FLIP_SAMPLED = f"sign flip, up to {SIGN_PATTERNS} patterns"
SIGN_FLIP_EXACT = "sign flip, exact"


def compute_sign_flip_p(sums: ScoreValues, *, seed: int = 0) -> tuple[float, str]:
    """Return the two-sided p-value of the hypothesis that each sum is as likely as its negative, and the method.

    Exact for up to 20 non-zero sums and for sums of one size; otherwise sampled with up to 9,999 seeded patterns, until
    30 are as extreme, and never below 1/10,000. The order of the sums does not matter.

    >>> compute_sign_flip_p([1, 2, 3])
    (0.25, 'sign flip, exact')
    """
    numbers = parse_finite(sums)
    sizes = np.sort(np.abs(numbers[numbers != 0.0]))
    if len(sizes) and sizes[0] == sizes[-1]:
        wins = int(np.count_nonzero(numbers > 0))
        return compute_mcnemar_p(wins, len(sizes) - wins), SIGN_FLIP_EXACT
    # Equal sums must count as reached despite rounding.
    distance = abs(fsum(numbers.tolist())) - 1e-9 * fsum(sizes.tolist())
    if len(sizes) <= MOST_ENUMERATED_UNITS:
        return _count_all_patterns(sizes, distance), SIGN_FLIP_EXACT
    return _sample_patterns(sizes, distance, seed), f"{SIGN_FLIP_SAMPLED}, seed {seed}"


def is_below_sampling(sums: FloatArray) -> bool:
    """Return whether the exact p-value is certainly below 1/10,000, the least that sampling can find.

    By Hoeffding's inequality at most 2·exp(−S²/(2·Σs²)) of the sign patterns reach the sum S of the sums s.
    """
    squares = float(np.cumsum(np.sort(sums * sums))[-1]) if len(sums) else 0.0
    total = fsum(sums.tolist())
    return squares > 0.0 and total * total >= 2 * log(2 * (SIGN_PATTERNS + 1)) * squares


def compute_mcnemar_p(wins: int, losses: int) -> float:
    """Return McNemar's exact two-sided p-value of discordant pairs, in (0, 1].

    >>> round(compute_mcnemar_p(2, 9), 7)
    0.0654297
    """
    n, fewer = wins + losses, min(wins, losses)
    if n > _MOST_EXACT_PAIRS:
        return min(1.0, 2 * compute_beta_cdf(0.5, n - fewer, fewer + 1))
    ways = tail = 1
    for k in range(fewer):  # exact integers; computing each binomial coefficient separately would be slow
        ways = ways * (n - k) // (k + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << n))


def _count_all_patterns(sizes: FloatArray, distance: float) -> float:
    """Return the share of all sign patterns whose sum is at least `distance` from 0.

    The sums of one half of the sizes are sorted, so that those which reach far enough with a sum of the other half are
    counted by bisection.
    """
    halves = []
    for half in (sizes[::2], sizes[1::2]):
        patterns = np.zeros(1)
        for size in half.tolist():
            patterns = np.concatenate((patterns + size, patterns - size))
        halves.append(np.sort(patterns))
    first, second = halves
    above = len(second) * len(first) - int(np.searchsorted(second, distance - first, side="left").sum())
    below = int(np.searchsorted(second, -distance - first, side="right").sum())
    return min(1.0, (above + below) / (len(first) * len(second)))


def _sample_patterns(sizes: FloatArray, distance: float, seed: int) -> float:
    """Return the p-value by patterns drawn until enough of them are extreme, at least 1/10,000."""
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn, others = sizes[::-1][:_SIGNS_DRAWN], sizes[::-1][_SIGNS_DRAWN:]
    noise = sqrt(fsum((others * others).tolist()))
    patterns = extreme = 0
    batch = _FIRST_PATTERNS
    while patterns < SIGN_PATTERNS:
        batch = min(batch, SIGN_PATTERNS - patterns)
        row_bytes = (len(drawn) + 7) // 8
        random_bytes = np.frombuffer(generator.bytes(batch * row_bytes), dtype=np.uint8).reshape(batch, row_bytes)
        signs = np.unpackbits(random_bytes, axis=1, count=len(drawn)).astype(np.float64)
        totals = signs @ (2 * drawn) - float(drawn.sum())
        if noise:
            totals += noise * generator.standard_normal(batch)
        hits = np.flatnonzero(np.abs(totals) >= distance)
        if extreme + len(hits) >= ENOUGH_EXTREMES:
            return ENOUGH_EXTREMES / (patterns + int(hits[ENOUGH_EXTREMES - 1 - extreme]) + 1)
        extreme, patterns, batch = extreme + len(hits), patterns + batch, batch * 3
    return (extreme + 1) / (SIGN_PATTERNS + 1)
