"""Scores by rules: as they are, or as probabilities where they are calibrated against human labels (ADR 0031)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from assay.graders.judging import RULES_VERSION
from assay.graders.reading import CITED, Reading
from assay.graders.stages import CONTEXT
from assay.metrics.support import Support, Verdict

FAITHFULNESS = {CONTEXT: "faithfulness(by=rules)", CITED: "faithfulness(against=cited,by=rules)"}
"""The metrics of claims, by the sources that they are compared with."""
CITATION_SUPPORT = "citation_support(by=rules)"
_MAX_LOGIT = 50.0
"""Logits are clipped here: beyond it a probability is 0 or 1, and the exponential overflows."""
_SUPPORT_THRESHOLD = 0.5


class Held(NamedTuple):
    """One metric by rules, with its calibration curve; None if it is not calibrated or has too few labels."""

    curve: Mapping[str, float] | None

    def score(self, support: Support) -> float:
        """Return the claim's score in [0, 1]; with a curve, the probability that a person would call it supported."""
        if self.curve is None:
            return support.score
        logit = self.curve["slope"] * support.z + self.curve["intercept"]
        return 1 / (1 + math.exp(-min(max(logit, -_MAX_LOGIT), _MAX_LOGIT)))

    def verdict(self, support: Support) -> Verdict:
        """Return the claim's verdict; with a curve, the more likely of supported and not found."""
        if self.curve is None or support.contradictions:
            return support.verdict
        return "supported" if self.score(support) > _SUPPORT_THRESHOLD else "not_found"


def held(reading: Reading, metric: str) -> Held:
    """Return the calibration of a metric by rules, which is the identity if there is none that applies."""
    judging = reading.case.joins.judging
    calibration = judging.calibrations.get(metric) if judging is not None else None
    is_usable = calibration is not None and calibration.counts_for(RULES_VERSION, "")
    return Held(calibration.platt if calibration is not None and is_usable else None)
