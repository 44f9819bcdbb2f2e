"""How the numbers of the rules instrument are read: as they come, or as probabilities where people's labels say how."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from assay.graders.judging import RULES_VERSION
from assay.graders.reading import CITED, Reading
from assay.graders.stages import CONTEXT
from assay.metrics.support import Support, Verdict

FAITHFULNESS = {CONTEXT: "faithfulness(by=rules)", CITED: "faithfulness(against=cited,by=rules)"}
"""The metrics of claims, by the sources that they are held against."""
CITATION_SUPPORT = "citation_support(by=rules)"
_FAR = 50.0
"""Beyond it a probability is 0 or 1, and an exponential too large."""
_LIKELY = 0.5


class Held(NamedTuple):
    """One metric by rules, with the curve that labels gave it; None where it was held against none, or too few."""

    curve: Mapping[str, float] | None

    def score(self, found: Support) -> float:
        """Return the claim's score; with a curve the probability that a person would call it supported."""
        if self.curve is None:
            return found.score
        logit = self.curve["slope"] * found.z + self.curve["intercept"]
        return 1 / (1 + math.exp(-min(max(logit, -_FAR), _FAR)))

    def verdict(self, found: Support) -> Verdict:
        """Return the claim's verdict; with a curve the more likely one, and none is unknown."""
        if self.curve is None or found.contradictions:
            return found.verdict
        return "supported" if self.score(found) > _LIKELY else "not_found"


def held(reading: Reading, metric: str) -> Held:
    """Return how a metric by rules is to be read, by its name."""
    judging = reading.case.joins.judging
    calibration = judging.calibrations.get(metric) if judging is not None else None
    usable = calibration is not None and calibration.counts_for(RULES_VERSION, "")
    return Held(calibration.platt if calibration is not None and usable else None)
