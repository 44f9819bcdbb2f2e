"""Labels that are out of date: evidence that the corpus does not hold, or no longer with the text that was labelled.

Such a miss is an error of the golden set, not of the system, so it is a check of its own.
"""

from __future__ import annotations

import numpy as np

from assay.graders.base import Batch, CaseIndex, Grader, column, not_applicable
from assay.graders.evidence import CHUNK_ID
from assay.graders.names import MetricName
from assay.graders.rows import Rows
from assay.metrics.text import fold
from assay.model import Corpus, CorpusChunk, Evidence, ScoreColumn


def outdated(case: CaseIndex) -> tuple[str, ...]:
    """Return one sentence for each required unit that the corpus contradicts; nothing without a corpus.

    Only units that are named by chunk ids alone are looked at: none of the ids is in the corpus, or what is there has
    another hash, or does not hold the quote.
    """
    if case.corpus is None or case.denied:
        return ()
    problems = []
    for unit in case.case.evidence:
        problem = _find_label_problem(unit, case.corpus) if unit.grade > 0 and unit.required else None
        if problem is not None:
            problems.append(problem)
    return tuple(problems)


def _find_label_problem(unit: Evidence, corpus: Corpus) -> str | None:
    ids = [str(selector[CHUNK_ID]) for selector in unit.any_of if selector.keys() == {CHUNK_ID}]
    if not ids or len(ids) < len(unit.any_of):
        return None
    corpus_chunks = [corpus.chunks[chunk_id] for chunk_id in ids if chunk_id in corpus.chunks]
    if not corpus_chunks:
        return f"{' or '.join(ids)} is not in the corpus"
    if unit.text_hash is not None and not any(_has_same_hash(chunk, unit.text_hash) for chunk in corpus_chunks):
        return f"{' or '.join(ids)} has another text than the one that was labelled"
    if unit.quote is not None and not any(_has_quote(chunk, unit.quote) for chunk in corpus_chunks):
        return f"{' or '.join(ids)} does not hold the quote that was labelled"
    return None


def _has_same_hash(chunk: CorpusChunk, text_hash: str) -> bool:
    return chunk.text_hash is None or chunk.text_hash == text_hash


def _has_quote(chunk: CorpusChunk, quote: str) -> bool:
    return chunk.text is None or fold(quote) in fold(chunk.text)


class LabelFacts:
    """Whether each row's case has labels that are out of date; None where the corpus cannot tell."""

    def __init__(self) -> None:
        self.values: list[bool | None] = []
        self._known: dict[int, bool | None] = {}

    def add(self, rows: Rows) -> None:
        """Take some rows, in order; a case is looked at once, however often it was observed."""
        for case in rows.cases:
            key = id(case)
            if key not in self._known:
                self._known[key] = bool(outdated(case)) if case.corpus is not None and case.required else None
            self.values.append(self._known[key])


def _outdated_column(batch: Batch, name: MetricName) -> ScoreColumn:
    values = batch.of(LabelFacts).values
    return column(
        name,
        np.array([bool(value) for value in values], dtype=np.float64),
        not_applicable([case.corpus is None for case in batch.cases], "no corpus"),
        not_applicable([value is None for value in values], "no evidence required"),
    )


GRADERS: tuple[Grader, ...] = (
    Grader(
        name="gold_outdated",
        family="checks",
        summary="Whether required evidence is not in the corpus, or not with the text that was labelled.",
        source="`rag-trace` contract: golden_label_issue",
        direction="lower",
        statistic="rate",
        undefined="no corpus, or no evidence required",
        needs=lambda _: ((LabelFacts, ()),),
        compute=_outdated_column,
    ),
)
