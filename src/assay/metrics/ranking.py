"""Ranking metrics as array arithmetic over grades in rank order.

A `RankingTable` holds rankings that are already joined with their evidence: for every slot of every ranking, the grade
it gains and the number of units of evidence it covers for the first time. Each metric is then one or two lines, for one
case or a million. Slot r (from 0) of row i is rank r + 1. Rows are independent, and sums run rank by rank, so that the
value of a row does not depend on block size, padding or memory layout.

References: Järvelin & Kekäläinen, ACM TOIS 20(4), 2002 (DCG); Burges et al., ICML 2005 (gain 2^grade − 1);
the TREC definitions as published with trec_eval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class RankingTable:
    """Rankings of n cases joined with their evidence; arrays of shape (n, depth) are 0 beyond the end of a list.

    `length`: (n,) number of chunks returned. `units`: (n,) number of units of evidence to find. `grade`: (n, depth)
    highest grade among the units first covered in that slot, else 0. `covered`: (n, depth) number of units that the
    slot covers for the first time. `judged`: (n, depth) whether the chunk in the slot was judged. `ideal`: (n, width)
    grades of the units, descending.
    """

    length: Ints
    units: Ints
    grade: npt.NDArray[np.int8]
    covered: Ints
    judged: npt.NDArray[np.bool_]
    ideal: npt.NDArray[np.int8]

    @property
    def depth(self) -> int:
        """Number of slots of the longest ranking."""
        return int(self.grade.shape[1])


def exponential_gain(grade: npt.NDArray[np.int8]) -> Floats:
    """Return 2^grade − 1 for each grade."""
    return np.asarray(np.exp2(grade) - 1.0, dtype=np.float64)


def linear_gain(grade: npt.NDArray[np.int8]) -> Floats:
    """Return the grade itself, as trec_eval does."""
    return grade.astype(np.float64)


GAINS: dict[str, Callable[[npt.NDArray[np.int8]], Floats]] = {"exp2": exponential_gain, "linear": linear_gain}


def _cut_depth(table: RankingTable, k: int | None) -> int:
    return table.depth if k is None else min(k, table.depth)


def _sum_by_rank(columns: npt.NDArray[Any], k: int, weight: Callable[[int], float] | None = None) -> Floats:
    """Add the first k columns from left to right, so that padding never changes the sum (ADR 0029)."""
    total = np.zeros(columns.shape[0], dtype=np.float64)
    for rank in range(k):
        total += columns[:, rank] if weight is None else columns[:, rank] * weight(rank)
    return total


def _discount(rank: int) -> float:
    return 1.0 / math.log2(rank + 2)


def _divide(numerator: Floats, denominator: npt.NDArray[Any] | float) -> Floats:
    """Return numerator / denominator, 0 where the denominator is 0; callers decide where that is undefined."""
    denominators = np.broadcast_to(np.asarray(denominator, dtype=np.float64), numerator.shape)
    return np.divide(numerator, denominators, out=np.zeros_like(numerator), where=denominators > 0)


def relevant(table: RankingTable) -> npt.NDArray[np.bool_]:
    """Return which slots, shape (n, depth), cover evidence for the first time; repeats are not relevant again."""
    return np.asarray(table.covered > 0)


def hit(table: RankingTable, k: int | None = None) -> Floats:
    """Return 1 if any of the first k chunks covers evidence, else 0; shape (n,)."""
    return np.asarray(relevant(table)[:, : _cut_depth(table, k)].any(axis=1), dtype=np.float64)


def recall(table: RankingTable, k: int | None = None, *, capped: bool = False) -> Floats:
    """Return the share of the units of evidence that the first k chunks cover. Range [0, 1]; 0 without units.

    `capped` divides by min(units, k) instead, so that 1 can be reached with more units than ranks.
    """
    covered_units = _sum_by_rank(table.covered, _cut_depth(table, k))
    if capped and k is not None:
        return np.minimum(_divide(covered_units, np.minimum(table.units, k)), 1.0)
    return _divide(covered_units, table.units)


def precision(table: RankingTable, k: int | None = None, *, of_returned: bool = False) -> Floats:
    """Return the share of the first k ranks that cover new evidence. Range [0, 1].

    Divides by k, so that a short list does not look precise; with `of_returned` by min(k, length); without k by length.
    """
    relevant_slots = _sum_by_rank(relevant(table), _cut_depth(table, k))
    if k is None:
        return _divide(relevant_slots, table.length)
    return _divide(relevant_slots, np.minimum(table.length, k) if of_returned else float(k))


def reciprocal_rank(table: RankingTable, k: int | None = None) -> Floats:
    """Return 1 / rank of the first chunk that covers evidence, 0 if none of the first k does. Range [0, 1]."""
    relevant_slots = relevant(table)[:, : _cut_depth(table, k)]
    if relevant_slots.shape[1] == 0:
        return np.zeros(relevant_slots.shape[0])
    return np.where(relevant_slots.any(axis=1), 1.0 / (relevant_slots.argmax(axis=1) + 1.0), 0.0)


def average_precision(table: RankingTable, k: int | None = None) -> Floats:
    """Return the mean, over the units of evidence, of the precision at the rank that first covers each, 0 if none does.

    Range [0, 1]; 0 without units. A slot that covers several units counts once for each of them.
    """
    precision_sum = np.zeros(len(table.length))
    relevant_so_far = np.zeros(len(table.length))
    relevant_slots = relevant(table)
    for rank in range(_cut_depth(table, k)):
        relevant_so_far += relevant_slots[:, rank]
        precision_sum += np.where(relevant_slots[:, rank], relevant_so_far / (rank + 1) * table.covered[:, rank], 0.0)
    return _divide(precision_sum, table.units)


def ndcg(table: RankingTable, k: int | None = None, *, gain: str = "exp2") -> Floats:
    """Return the discounted cumulative gain over that of the best possible ranking of all judged units.

    Range [0, 1]; 0 where the ideal gain is 0. `gain`: "exp2" (2^grade − 1) or "linear" (the grade, as in trec_eval).
    The ideal ranking contains every judged unit, found or not, cut at k.
    """
    gains = GAINS[gain]
    ideal_depth = table.ideal.shape[1] if k is None else min(k, table.ideal.shape[1])
    best = _sum_by_rank(gains(table.ideal[:, :ideal_depth]), ideal_depth, _discount)
    depth = _cut_depth(table, k)
    return _divide(_sum_by_rank(gains(table.grade[:, :depth]), depth, _discount), best)


def judged(table: RankingTable, k: int | None = None) -> Floats:
    """Return the share of the first min(k, length) chunks that were judged. Range [0, 1]; 0 for an empty list."""
    returned = table.length if k is None else np.minimum(table.length, k)
    return _divide(_sum_by_rank(table.judged, _cut_depth(table, k)), returned)


def r_precision(table: RankingTable) -> Floats:
    """Return the precision at rank R, the number of units of evidence. Range [0, 1]; 0 without units."""
    ranks = np.arange(table.depth, dtype=np.int32)
    relevant_within_r = relevant(table) & (ranks[np.newaxis, :] < table.units[:, np.newaxis])
    return _divide(_sum_by_rank(relevant_within_r, table.depth), table.units)


def overlap(first: list[str], second: list[str], k: int | None = None) -> float | None:
    """Return the share of ids that two rankings have in common among their first k, relative to the longer list.

    Range [0, 1]; None if both are empty. Repeats count once.

    >>> overlap(["a", "b", "c"], ["b", "a", "d"], k=2)
    1.0
    """
    first_ids, second_ids = set(first[:k]), set(second[:k])
    larger_size = max(len(first_ids), len(second_ids))
    return len(first_ids & second_ids) / larger_size if larger_size else None
