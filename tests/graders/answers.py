"""An answer about leave over a context of three chunks."""

from __future__ import annotations

from typing import Any

from assay.graders.joins import Joins
from assay.graders.reading import Reading
from assay.model import Case, Chunk, Corpus, GoldenSet, Observation, Stage

TEXTS = {"leave": "Staff get 12 days of leave.", "carry": "Five days carry over.", "it": "Laptops are replaced."}
ANSWER = "Staff get 12 days of leave [leave]. Five days carry over [it]. Unused days are paid out [carry]."


def reading(
    answer: str | None = ANSWER, case: Case | None = None, corpus: Corpus | None = None, **changes: Any
) -> Reading:
    """An answer over a context of three chunks."""
    case = case or Case("q", "How much leave is there?")
    context = Stage("context", tuple(Chunk(name, text=text) for name, text in TEXTS.items()))
    observation = Observation(
        "q", "c", **{"stages": (context,), "answer": answer, "citations": ("leave", "it", "carry"), **changes}
    )
    return Reading(Joins(GoldenSet((case,)), corpus).case(0), observation)
