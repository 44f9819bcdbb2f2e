"""What an answer does with a fact, and what follows for several of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

FactState = Literal["stated", "denied", "missing", "unknown"]
"""What an answer does with a fact. Only `stated` counts for it, `denied` and `missing` count against it."""


ValueMistake = Literal["", "other value", "other side", "swapped"]
"""What is wrong with a value: another one is in its place, it bounds the other side, or it is another thing's."""


class FactJudgment(Struct, frozen=True):
    """What an answer does with one fact, why in words ("" if it is stated), and the mistake with its value, if that is
    one of those by which other rules decide."""

    fact: str
    state: FactState
    reason: str = ""
    mistake: ValueMistake = ""


def combine_states(states: Iterable[FactState]) -> bool | None:
    """Return whether all facts are stated: False if any is denied or missing, else None if any is unknown.

    >>> [combine_states(states) for states in (["stated"], ["stated", "unknown"], ["unknown", "missing"])]
    [True, None, False]
    """
    distinct = set(states)
    if distinct & {"denied", "missing"}:
        return False
    return None if "unknown" in distinct else True
