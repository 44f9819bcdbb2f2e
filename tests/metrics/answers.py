"""An answer about leave over a context of three chunks."""

from __future__ import annotations

from typing import Any

from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.records.observations import Chunk, Observation, Stage

TEXTS = {"leave": "Staff get 12 days of leave.", "carry": "Five days carry over.", "it": "Laptops are replaced."}
ANSWER = "Staff get 12 days of leave [leave]. Five days carry over [it]. Unused days are paid out [carry]."


def make_parsed_answer(
    answer: str | None = ANSWER, case: Case | None = None, corpus: Corpus | None = None, **changes: Any
) -> ParsedAnswer:
    """An answer over a context of three chunks."""
    case = case or Case("q", "How much leave is there?")
    context = Stage("context", tuple(Chunk(name, text=text) for name, text in TEXTS.items()))
    observation = Observation(
        "q", "c", **{"stages": (context,), "answer": answer, "citations": ("leave", "it", "carry"), **changes}
    )
    return ParsedAnswer(GoldenIndex(GoldenSet((case,)), corpus).case_index(0), observation)
