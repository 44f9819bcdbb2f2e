"""What an answer does with a fact, and what follows for several of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

FactState = Literal["stated", "denied", "missing", "unknown"]
"""What an answer does with a fact. Only `stated` counts for it, `denied` and `missing` count against it."""


OTHER_SIDE = "it bounds the other side"
SWAPPED = "the values are swapped"
"""Begin the reason of a fact that is denied by a bound or a swap: of such a denial the reference has none."""


class FactJudgment(NamedTuple):
    """What an answer does with one fact, and why in words ("" if it is stated)."""

    fact: str
    state: FactState
    reason: str = ""


def combine_states(states: Iterable[FactState]) -> bool | None:
    """Return whether all facts are stated: False if any is denied or missing, else None if any is unknown.

    >>> [combine_states(states) for states in (["stated"], ["stated", "unknown"], ["unknown", "missing"])]
    [True, None, False]
    """
    distinct = set(states)
    if distinct & {"denied", "missing"}:
        return False
    return None if "unknown" in distinct else True
