"""Citations of what is no longer in force: on a superseded version the answer itself rests, not only its context."""

from __future__ import annotations

import numpy as np

from assay.metrics.cases.access_rules import SupersededVersions
from assay.metrics.cases.case_index import CaseIndex, find_cited_positions, list_reported_documents
from assay.metrics.grounding.inline_markers import InlineMarkers, read_inline_markers
from assay.metrics.metric import Batch, JoinedRows, Metric, MetricName, make_score_column, rows_not_applicable
from assay.metrics.parsed_answer import parse_answers
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation
from assay.records.scores import ScoreColumn


class StaleCitationFacts:
    """How many citations of each row name a superseded version; None where nothing dates what is cited."""

    def __init__(self) -> None:
        self.values: list[int | None] = []
        self.dated: list[bool] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        for case, observation, reading in zip(rows.cases, rows.observations, parse_answers(rows), strict=True):
            superseded = case.golden_index.superseded_versions(case.as_of)
            self.dated.append(superseded is not None)
            self.values.append(
                count_stale_citations(case, observation, read_inline_markers(reading), superseded)
                if superseded is not None
                else None
            )


def count_stale_citations(
    case: CaseIndex, observation: Observation, markers: InlineMarkers, superseded: SupersededVersions
) -> int | None:
    """Return how many of the cited names mean nothing but superseded chunks: of the context, else of any stage, else of
    the corpus. None where the corpus dates none of what is cited.

    A document of which a version that is in force was shown too is not cited as superseded.
    """
    names = set(markers.named if observation.citations is None else observation.citations)
    if not names:
        return 0 if observation.citations is not None else None
    meant_by_name: dict[str, list[Chunk]] = {}
    shown = [(stage.name, chunk) for stage in observation.stages or () for chunk in stage.chunks]
    context = [chunk for name, chunk in shown if name == CONTEXT_STAGE]
    for chunk in context:  # the id of a chunk means this chunk, and no document of that name
        if chunk.chunk_id in names:
            meant_by_name.setdefault(chunk.chunk_id, []).append(chunk)
    if len(meant_by_name) < len(names):
        documents = list_reported_documents(observation, case.golden_index)
        for chunks in (context, [chunk for _, chunk in shown]):
            ids = [chunk.chunk_id for chunk in chunks]
            positions_by_name = find_cited_positions(names - meant_by_name.keys(), ids, case.corpus, documents)
            for name, positions in positions_by_name.items():
                meant_by_name[name] = [chunks[position] for position in positions]
    counts = []
    for name in names:
        meant = meant_by_name.get(name, [Chunk(name)])
        stale = superseded.count_superseded(meant)
        if stale is not None:
            counts.append(stale == len(meant))
    return sum(counts) if counts else None


def _stale_citations_column(batch: Batch, name: MetricName) -> ScoreColumn:
    facts = batch.get_facts(StaleCitationFacts)
    return make_score_column(
        name,
        np.array([value or 0.0 for value in facts.values], dtype=np.float64),
        rows_not_applicable([not dated for dated in facts.dated], "no corpus"),
        *batch.target_errors,
        rows_not_applicable([value is None for value in facts.values], "citations not reported, or of nothing dated"),
    )


STALE_CITATION_METRICS: tuple[Metric, ...] = (
    Metric(
        name="stale_citations",
        family="citation",
        summary="Citations of a superseded version of a document.",
        source="ADR 0026: outdated chunks are a metric of their own",
        unit="count",
        direction="lower",
        high=float("inf"),
        undefined="no corpus that dates the versions of what is cited, or citations not reported",
        needs=lambda _: ((StaleCitationFacts, ()),),
        compute=_stale_citations_column,
    ),
)
