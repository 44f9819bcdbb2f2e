"""The sign-flip test: how often random signs put the sum of differences as far from zero as it is."""

from __future__ import annotations

from math import fsum

import numpy as np
import numpy.typing as npt

from assay.metrics.samples import Values, finite

EXACT_UNITS = 16  # 2^16 sign patterns are enumerated, more are sampled
FLIPS = 9_999
_WORDS_AT_ONCE = 64  # 64-bit words of random bits per throw and step: five megabytes
_FEW_COINS = 12  # below, one bit is drawn for each coin


def sign_flip_p(sums: Values, *, seed: int = 0) -> tuple[float, str]:
    """Return the two-sided p-value of the hypothesis that each sum is as likely as its negative, and the method.

    Enumerates all sign patterns of up to 16 non-zero sums; otherwise samples 9,999 seeded patterns and returns
    (b+1)/(B+1), which is never 0. The order of the sums does not matter.

    >>> sign_flip_p([1, 2, 3])
    (0.25, 'sign flip, exact')
    """
    numbers = finite(sums).tolist()
    sizes = sorted(abs(total) for total in numbers if total)
    observed_distance = abs(fsum(numbers)) - 1e-9 * fsum(
        sizes
    )  # tolerance: equal sums must count as reached despite rounding
    if len(sizes) <= EXACT_UNITS:
        patterns = np.zeros(1)
        for size in sizes:
            patterns = np.concatenate((patterns + size, patterns - size))
        return float(np.mean(np.abs(patterns) >= observed_distance)), "sign flip, exact"
    generator = np.random.Generator(np.random.PCG64(seed))
    positive_sums = np.zeros(FLIPS)
    for size, count in zip(
        *np.unique(sizes, return_counts=True), strict=True
    ):  # ascending: reproducible on every machine
        positive_sums += size * _count_heads(generator, int(count))
    extreme = int(np.count_nonzero(np.abs(2 * positive_sums - fsum(sizes)) >= observed_distance))
    return (extreme + 1) / (FLIPS + 1), f"sign flip, {FLIPS} patterns, seed {seed}"


def _count_heads(generator: np.random.Generator, coins: int) -> npt.NDArray[np.integer]:
    """Return the number of heads among `coins` fair coins in each of `FLIPS` throws, shape (FLIPS,).

    Equal sums share one binomial draw, and 64 coins are drawn at once, because scores often repeat.
    """
    if coins < _FEW_COINS:
        row_bytes = (FLIPS + 7) // 8
        bits = np.frombuffer(generator.bytes(coins * row_bytes), dtype=np.uint8).reshape(coins, row_bytes)
        flips = np.unpackbits(bits, axis=1, count=FLIPS)
        return np.asarray(flips[0] if coins == 1 else flips.sum(axis=0, dtype=np.int64))
    counts: npt.NDArray[np.int64] = np.zeros(FLIPS, dtype=np.int64)
    while coins > 0:
        words = min(-(-coins // 64), _WORDS_AT_ONCE)
        random_words = np.frombuffer(generator.bytes(8 * FLIPS * words), dtype="<u8").reshape(FLIPS, words)
        counts += np.bitwise_count(random_words[:, 0] >> np.uint64(max(0, 64 * words - coins)))
        counts += np.bitwise_count(random_words[:, 1:]).sum(axis=1, dtype=np.int64)
        coins -= 64 * words
    return counts
