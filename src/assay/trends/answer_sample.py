"""Chooses which answers are judged: a stratified sample with a budget a week, the same one every time.

Strata of a week are flagged answers (all judged, as far as a tenth of the budget goes), doubtful ones and the others.
Within a stratum, those with the smallest keyed digests of their ids are chosen: a simple random sample that does not
depend on the order in which answers arrive, and keeps most of its members while the week goes on.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from typing import NamedTuple

FLAGGED, DOUBTFUL, OTHER = 0, 1, 2
STRATUM_NAMES = ("flagged", "doubtful", "other")
LEAST_BUDGET = 12
FLAGGED_WEIGHT = DOUBTFUL_WEIGHT = 2.0
"""How many times as often a flagged or doubtful answer is chosen as another one, if there are enough of both."""
FLAGGED_SHARE = 0.1
"""The part of the budget within which every flagged answer is judged."""
LEAST_OF_STRATUM = 4


class WeekSample(NamedTuple):
    """The numbers of the chosen answers of each stratum of a week, and how many answers each stratum has."""

    week: int
    chosen: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    sizes: tuple[int, int, int]


class AnswerSampler:
    """Takes the answers of a stream and keeps candidates, at most three times the budget of a week."""

    def __init__(self, budget: int | None, seed: int) -> None:
        """`budget` is the number of answers judged a week, None for all of them."""
        self._budget, self._key = budget, f"sample:{seed}".encode()
        self._heaps: tuple[list[tuple[int, int]], ...] = ([], [], [])
        self._sizes: Counter[int] = Counter()

    def add_answer(self, record_id: str, sequence: int, stratum: int) -> None:
        """Consider one answer."""
        self._sizes[stratum] += 1
        digest = hashlib.blake2b(record_id.encode("utf-8", "surrogatepass"), digest_size=8, key=self._key).digest()
        entry = -int.from_bytes(digest, "big"), sequence
        heap = self._heaps[stratum]
        if self._budget is None or len(heap) < self._budget:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)

    def close_week(self, week: int) -> WeekSample:
        """Return the sample of the week and begin the next."""
        sizes = self._sizes[FLAGGED], self._sizes[DOUBTFUL], self._sizes[OTHER]
        numbers = sizes if self._budget is None else allocate_budget(self._budget, sizes)
        chosen = tuple(
            tuple(sequence for _, sequence in sorted(heap, reverse=True)[:number])
            for heap, number in zip(self._heaps, numbers, strict=True)
        )
        self._heaps, self._sizes = ([], [], []), Counter()
        return WeekSample(week, (chosen[0], chosen[1], chosen[2]), sizes)


def allocate_budget(budget: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return how many answers of each stratum are judged.

    Flagged answers are all judged as far as a tenth of the budget goes; where there are more of them, each is chosen
    twice as often as an answer of no doubt, which costs no precision of the whole.

    >>> allocate_budget(100, (10, 300, 5000))
    (10, 9, 81)
    >>> allocate_budget(100, (80, 0, 5000)), allocate_budget(100, (500, 500, 4000)), allocate_budget(100, (1, 2, 3))
    ((10, 0, 90), (16, 16, 68), (1, 2, 3))
    """
    if sum(sizes) <= budget:
        return sizes
    weights = FLAGGED_WEIGHT * sizes[FLAGGED], DOUBTFUL_WEIGHT * sizes[DOUBTFUL], float(sizes[OTHER])
    flagged = min(sizes[FLAGGED], max(int(budget * FLAGGED_SHARE), int(budget * weights[FLAGGED] / sum(weights))))
    flagged = min(flagged, budget - min(LEAST_OF_STRATUM, sizes[DOUBTFUL]) - min(LEAST_OF_STRATUM, sizes[OTHER]))
    rest = budget - flagged
    unflagged = weights[DOUBTFUL] + weights[OTHER]
    share = weights[DOUBTFUL] / unflagged if unflagged else 0.0
    doubtful = min(sizes[DOUBTFUL], max(min(LEAST_OF_STRATUM, rest // 2), int(rest * share)))
    other = min(sizes[OTHER], rest - doubtful)
    doubtful = min(sizes[DOUBTFUL], rest - other)
    return flagged + min(sizes[FLAGGED] - flagged, rest - doubtful - other), doubtful, other
