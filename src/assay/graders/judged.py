"""Metrics that rest on recorded verdicts: named in the catalogue from the start, so that gates can ask for them."""

from __future__ import annotations

import math
from dataclasses import replace

from assay.graders.base import Grader, Key

_BY = {"by": Key("", ("rules", "judge"), "which instrument measured it")}
_AGAINST = {"against": Key("context", ("context", "cited"), "the sources that claims are held against")}


def _row(name: str, summary: str, source: str, keys: dict[str, Key] | None = None, *, lower: bool = False) -> Grader:
    return Grader(
        name=name,
        family="judged",
        summary=summary,
        source=source,
        instrument="judged",
        direction="lower" if lower else "higher",
        keys=_BY | (keys or {}),
        undefined="no verdicts recorded",
    )


GRADERS: tuple[Grader, ...] = (
    _row("faithfulness", "Share of the answer's claims that its sources support.", "[001], [003]", _AGAINST),
    _row("answer_relevance", "How far the answer addresses the question.", "[001]"),
    _row("correctness", "How far the answer agrees with the reference.", "[000], [004]"),
    _row("citation_support", "Share of citations that support the claim they stand beside.", "[003]"),
    _row("hallucination_risk", "1 − faithfulness × citation correctness.", "[003]", lower=True),
    replace(
        _row("critical_hallucinations", "Unsupported claims on a critical case.", "[001]", lower=True),
        unit="count",
        high=math.inf,
    ),
)
