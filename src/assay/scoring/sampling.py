"""A seeded, stratified sample for people to label, the same for the same seed whatever the order of the items."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

K = TypeVar("K", bound=Hashable)


def stratified(strata: Mapping[K, tuple[str, ...]], size: int, seed: int = 0) -> list[K]:
    """Return `size` of the keys (all, where there are fewer), every stratum with its share, in a shuffled order.

    Shares are proportional (largest remainder), so that rates in the sample are those of the whole: a sample with more
    of what a judge failed would need weights. Keys must be sortable.

    >>> strata = {f"q{n}": ("hr",) if n < 8 else ("acl",) for n in range(10)}
    >>> sorted(stratified(strata, 5, seed=1))
    ['q0', 'q1', 'q4', 'q5', 'q8']
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    members: dict[tuple[str, ...], list[K]] = {}
    for key in sorted(strata):  # type: ignore[type-var]  # no type says "sortable"
        members.setdefault(strata[key], []).append(key)
    shares = _shares({stratum: len(members[stratum]) for stratum in sorted(members)}, min(size, len(strata)))
    chosen = [
        members[stratum][place]
        for stratum, share in shares.items()
        for place in generator.permutation(len(members[stratum]))[:share].tolist()
    ]
    return [chosen[place] for place in generator.permutation(len(chosen)).tolist()]


def _shares(sizes: Mapping[tuple[str, ...], int], total: int) -> dict[tuple[str, ...], int]:
    """Return how many of each stratum to take, `total` together."""
    everything = sum(sizes.values())
    exact = {stratum: total * size / everything for stratum, size in sizes.items()}
    shares = {stratum: int(share) for stratum, share in exact.items()}
    by_remainder = sorted(exact, key=lambda stratum: (shares[stratum] - exact[stratum], stratum))
    for stratum in by_remainder[: total - sum(shares.values())]:
        shares[stratum] += 1
    return shares
