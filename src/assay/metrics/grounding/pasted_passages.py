"""Answers that are a passage of the context as it stands: they may contain the answer, and do not give it.

An answer of one or two sentences that quotes its source is none: what is asked for is seldom spread over more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct

from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.metric import Batch, FactKey, JoinedRows, Metric, MetricName, make_score_column, rows_not_applicable
from assay.records.observations import CONTEXT_STAGE, Observation, describe_unreported_stage
from assay.records.scores import ScoreColumn
from assay.text.citation_markers import remove_citation_markers
from assay.text.safety.copied_text import COPIED_RUN_LENGTH
from assay.text.segmentation import segment_sentences
from assay.text.tokens import tokenise_text
from assay.text.word_runs import list_word_runs

PASTED_PASSAGE = "pasted_passage"
FEWEST_SENTENCES = 3
"""Sentences from which a copied answer is a passage."""
LEAST_COPIED = 0.8
"""The share of the answer's words that one chunk must have, in runs of eight."""
_SHORTEST = 100  # characters of an answer of so many sentences
_PROBES, _PROBE_LENGTH = 6, 20
"""Pieces of an answer of which a chunk must have one before its words are compared."""


class PastedPassage(Struct, frozen=True):
    """The share of an answer's words that a chunk of the context has in the same order, and the chunk."""

    share: float
    chunk_id: str


def find_pasted_passage(case: CaseIndex, observation: Observation) -> PastedPassage | None:
    """Return the chunk of the context of which an answer is a copy; None if it is none."""
    answer = observation.answer
    context = next((stage for stage in observation.stages or () if stage.name == CONTEXT_STAGE), None)
    if context is None or not isinstance(answer, str) or len(answer) < _SHORTEST:
        return None
    corpus = case.corpus.chunks if case.corpus is not None else {}
    texts = [
        chunk.text or (corpus[chunk.chunk_id].text if chunk.chunk_id in corpus else None) for chunk in context.chunks
    ]
    copied = _find_copied(answer, tuple([text or "" for text in texts]))
    return None if copied is None else PastedPassage(copied[0], context.chunks[copied[1]].chunk_id)


@lru_cache(maxsize=512)  # several metrics, and attribution, ask about the same answer
def _find_copied(answer: str, texts: Sequence[str]) -> tuple[float, int] | None:
    """Return the first text of which an answer is a copy, by its place, with the share of the answer's words."""
    step = (len(answer) - _PROBE_LENGTH) // (_PROBES - 1)
    probes = [answer[start : start + _PROBE_LENGTH] for start in range(0, step * _PROBES, step)]
    for place, text in enumerate(texts):
        if any(probe in text for probe in probes):
            share = _measure_copied(remove_citation_markers(answer), text)
            if share >= LEAST_COPIED and len(segment_sentences(answer)) >= FEWEST_SENTENCES:
                return share, place
    return None


def _measure_copied(answer: str, text: str) -> float:
    """Return the share of the words of an answer that stand in runs that a text has too."""
    words, text_words = tokenise_text(answer), tokenise_text(text)
    if f" {' '.join(words)} " in f" {' '.join(text_words)} ":
        return 1.0
    runs_of_text = set(list_word_runs(text_words, COPIED_RUN_LENGTH))
    copied: set[int] = set()
    for start, run in enumerate(list_word_runs(words, COPIED_RUN_LENGTH)):
        if run in runs_of_text:
            copied.update(range(start, start + COPIED_RUN_LENGTH))
    return len(copied) / len(words) if words else 0.0


class PastedFacts:
    """The share of each row's answer that is copied, 0 where it is no passage; None where no context is reported."""

    def __init__(self) -> None:
        self.shares: list[float | None] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        for case, observation in zip(rows.cases, rows.observations, strict=True):
            passage = find_pasted_passage(case, observation)
            has_context = any(stage.name == CONTEXT_STAGE for stage in observation.stages or ())
            self.shares.append(passage.share if passage is not None else 0.0 if has_context else None)


def _compute_pasted(batch: Batch, name: MetricName) -> ScoreColumn:
    shares = batch.get_facts(PastedFacts).shares
    return make_score_column(
        name,
        np.array([share or 0.0 for share in shares], dtype=np.float64),
        *batch.target_errors,
        rows_not_applicable([share is None for share in shares], describe_unreported_stage(CONTEXT_STAGE)),
    )


def _need_shares(_: MetricName) -> tuple[FactKey, ...]:
    return ((PastedFacts, ()),)


def _explain_pasted(rows: JoinedRows, _: MetricName) -> str:
    passage = find_pasted_passage(rows.cases[0], rows.observations[0])
    return f"{passage.share:.0%} of the answer is {passage.chunk_id}, word for word" if passage is not None else ""


PASTED_METRICS: tuple[Metric, ...] = (
    Metric(
        name=PASTED_PASSAGE,
        family="answer",
        summary="Share of the answer copied from one chunk of the context, where that is nearly all of it; else 0.",
        source="ADR 228: who copies a passage has not chosen what answers",
        direction="lower",
        undefined="no context reported",
        needs=_need_shares,
        compute=_compute_pasted,
        explain=_explain_pasted,
    ),
)
