"""Find the two thresholds of the answerer on `dev/questions.jsonl`, which shares no question with a golden set.

Run `python -m examples.handbook.calibrate` after changing anything that moves the support of an answer, and copy what
it prints to `THRESHOLD` and `DENIAL_MARGIN` in `app/answering.py`; a test compares them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from examples.handbook import handbook

QUESTIONS = Path(__file__).resolve().parent / "dev" / "questions.jsonl"


class Measured(NamedTuple):
    """One development question: what should happen, and the support that was found in sight and out of sight."""

    behaviour: str
    visible: float
    hidden: float


def measure() -> list[Measured]:
    """Return the support of every development question in the configuration `hybrid-rerank`."""
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    application = handbook("hybrid-rerank")
    return [Measured(row["behaviour"], *application.support(row["question"], row)) for row in rows]


def best_cut(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the cut with the best balanced accuracy: in the middle between two values, of the widest gap among equals.

    >>> best_cut([0.5, 0.75, 1.0], [0.0, 0.25])
    0.375
    """
    values = sorted({*positive, *negative})
    gaps = [((low + high) / 2, high - low) for low, high in pairwise(values)]

    def quality(gap: tuple[float, float]) -> tuple[float, float]:
        kept = sum(value >= gap[0] for value in positive) / len(positive)
        refused = sum(value < gap[0] for value in negative) / len(negative)
        return round(kept + refused, 9), gap[1]

    return round(max(gaps, key=quality)[0], 3)


def calibrate(measured: Sequence[Measured]) -> tuple[float, float]:
    """Return the threshold, from what should be answered and what not, and the margin, from what should be denied."""
    threshold = best_cut(
        [each.visible for each in measured if each.behaviour == "answer"],
        [each.visible for each in measured if each.behaviour == "abstain"],
    )
    denied = [each.hidden - each.visible for each in measured if each.behaviour == "permission_denied"]
    answered = [each.hidden - each.visible for each in measured if each.behaviour == "answer"]
    return threshold, best_cut(denied, answered)


if __name__ == "__main__":
    threshold, margin = calibrate(measure())
    sys.stdout.write(f"THRESHOLD = {threshold}\nDENIAL_MARGIN = {margin}\n")
