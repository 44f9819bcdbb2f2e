"""The estimate of how well sources support a claim: its score, its label, the evidence and the missing facts."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from assay.text.claims.passages import SupportingSentence

SupportLabel = Literal["supported", "contradicted", "not_found", "unknown"]


class SourceSupport(Struct, frozen=True):
    """How well the sources support a claim.

    `score`: in [0, 1], rises with `z`; uncalibrated, for ranking and trends only.
    `verdict`: "supported" if the sources contain the claim almost verbatim; "contradicted" if the best sentence matches
    the claim except for another fact, a negation or an opposite word, which `contradictions` lists in words;
    "not_found" if the sources contain hardly any of the claim; otherwise "unknown", also where the support is low only
    because claim and sources are in different languages.
    `source`, `start`, `end`: the best sentence, which is the first of `evidence`; None, 0 and 0 without evidence.
    `missing_facts`: numbers with their units, dates, identifiers and names that no source contains, as written.
    `stated_with_other_units`: for those of them that a source near the claim has with another unit, what it has.
    `logp`, `fact`, `c4`, `dig`, `turn`: the features of the score, see `score_support`.
    """

    score: float
    z: float
    verdict: SupportLabel
    source: str | None
    start: int
    end: int
    missing_facts: tuple[str, ...]
    contradictions: tuple[str, ...]
    logp: float
    fact: float
    c4: float
    dig: float
    turn: float
    evidence: tuple[SupportingSentence, ...]
    stated_with_other_units: tuple[tuple[str, str], ...] = ()

    def describe_missing(self) -> list[str]:
        """Return the missing facts, each with what a source has in another unit, unless a contradiction says it."""
        instead = dict(self.stated_with_other_units)
        descriptions = []
        for fact in self.missing_facts:
            is_told = any(text.startswith(f'"{fact}" where ') for text in self.contradictions)
            tells_more = fact in instead and not is_told
            descriptions.append(f'{fact} (a source has "{instead[fact]}")' if tells_more else fact)
        return descriptions


MIDDLE_Z, _SLOPE = 0.7, 4.0  # score = 1 / (1 + exp(−slope · (z − middle)))
_SUPPORTED, _NOT_FOUND = 1.4, -0.5  # "supported" from the first z on, "not_found" below the second
_LOWEST_Z = -100.0  # z below which the score is flat


def scale_support(z: float) -> float:
    """Return the score in [0, 1] of a claim's z; it rises with z.

    >>> scale_support(0.7)
    0.5
    """
    return 1.0 / (1.0 + math.exp(-_SLOPE * (max(z, _LOWEST_Z) - MIDDLE_Z)))


def label_of(z: float) -> SupportLabel:
    """Return the label of a claim from the z behind its score."""
    if z >= _SUPPORTED:
        return "supported"
    if z < _NOT_FOUND:
        return "not_found"
    return "unknown"
