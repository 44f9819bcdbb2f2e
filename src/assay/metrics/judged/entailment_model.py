"""What scoring needs of a local entailment model: probabilities for a premise and a claim, and nothing else."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class EntailmentScores(Struct, frozen=True):
    """The probabilities in [0, 1], to four decimals, that a premise entails and that it contradicts a claim."""

    entailment: float
    contradiction: float


NO_SUPPORT = EntailmentScores(0.0, 0.0)
"""What is known of a claim without any source."""


class EntailmentError(ValueError):
    """The model cannot say anything about a pair: the text is too long for it, or its numbers are none."""


class EntailmentModel(Protocol):
    """A classifier of pairs. What it says of a pair depends on nothing but the pair."""

    name: str
    digest: str

    def compare(self, premise: str, claim: str) -> EntailmentScores:
        """Return the probabilities for one pair. Raises EntailmentError where there are none."""
        ...
