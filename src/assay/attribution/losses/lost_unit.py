"""A unit of evidence that did not reach the generator, with the ranks that it had in the steps of a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from assay.attribution.evidence_trace import DEFAULT_PRODUCTION_K, SEARCH_KINDS, StepKind, TraceStep, list_received
from assay.attribution.index.index_view import IndexView
from assay.records.findings import RootCause

NEAR = 5
"""The last rank at which a retriever counts as having found the evidence near the top."""


class LostEvidence(Struct, frozen=True):
    """A unit of evidence that did not reach the generator, with what is known about it.

    `text_of` returns the text of a chunk by its id, or None if it is unknown; `texts` are the texts of the unit and
    `chunk_ids` the chunks of the corpus that cover it. `question` is what the user asked and `query` what was searched.
    `production_k` is the number of chunks that the generator is usually shown, 0 if unknown. `view` is what the run
    shows of the index. `is_query_known` is whether the trace states the query that was searched, and `is_answered`
    whether there is an answer that is not known to be wrong, although the unit did not reach the generator.
    `is_answered_otherwise` is whether it states other values than the case wants, and cites what it was shown, and
    `is_hidden` whether the run shows the unit to users with other rights only. `rank_apart` is the rank of the unit in
    a separate search call that is no step of the answer. `has_untold_chunks` is whether a quote alone names the unit
    and a step lists chunks of which no text is known, so that it may be one of them.
    """

    unit: int
    name: str
    steps: tuple[TraceStep, ...]
    query: str
    texts: tuple[str, ...]
    text_of: Callable[[str], str | None]
    production_k: int = 0
    question: str = ""
    chunk_ids: tuple[str, ...] = ()
    view: IndexView | None = None
    is_query_known: bool = True
    is_answered: bool = False
    is_answered_otherwise: bool = False
    is_hidden: bool = False
    rank_apart: int | None = None
    has_untold_chunks: bool = False

    @property
    def retrievers(self) -> list[TraceStep]:
        """The steps that search the index."""
        return [step for step in self.steps if step.kind in SEARCH_KINDS]

    @property
    def unindexed_cause(self) -> RootCause:
        """What comes first where a chunk may not be in the index: the vectors, unless no search goes by vectors."""
        return "embedding" if may_search_by_vectors(self.steps) else "stale_index"

    @property
    def is_ranked(self) -> bool:
        """Whether any stage has the unit, so that the index has it as well."""
        return any(step.find_rank(self.unit) is not None for step in self.steps)

    def has_from(self, step: TraceStep) -> bool:
        """Whether a step or one after it has the unit, so that the step has not lost it."""
        return any(later.find_rank(self.unit) is not None for later in self.steps[self.steps.index(step) :])

    def find_received(self, step: TraceStep) -> TraceStep | None:
        """Return the list with the best rank of the unit among those that a step received, None if none has it."""
        received = [
            before
            for before in list_received(self.steps, self.steps.index(step))
            if before.find_rank(self.unit) is not None
        ]
        return min(received, key=lambda before: before.find_rank(self.unit) or 0, default=None)

    @property
    def unlifted(self) -> TraceStep | None:
        """The list in which a reranker received the unit that it dropped or left below what is shown, else None."""
        reranked = self.find_last_step("rerank")
        if reranked is None or 0 < (self.find_rank(reranked) or 0) <= self.last_shown_rank:
            return None
        return self.find_received(reranked)

    @property
    def is_shown_in_run(self) -> bool:
        """Whether any stage of any trace has a chunk of the unit."""
        return self.is_ranked or (self.view is not None and any(map(self.view.is_shown, self.chunk_ids)))

    def find_last_step(self, *kinds: StepKind) -> TraceStep | None:
        """Return the last step of these kinds."""
        return next((step for step in reversed(self.steps) if step.kind in kinds), None)

    @property
    def shown_count(self) -> int:
        """The number of chunks that the generator was shown; without a context stage, an assumed number."""
        context = self.find_last_step("context")
        return len(context.stage.chunks) if context is not None else self.last_shown_rank

    @property
    def last_shown_rank(self) -> int:
        """The last rank that should have been shown to the generator."""
        context = self.find_last_step("context")
        return max(self.production_k, len(context.stage.chunks) if context is not None else 0) or DEFAULT_PRODUCTION_K

    def find_rank(self, step: TraceStep | None) -> int | None:
        """Return the rank of the unit in a step, None if there is no such step or rank."""
        return step.find_rank(self.unit) if step is not None else None

    def describe_rank(self, step: TraceStep | None) -> str:
        """Return the rank of the unit in a step, in words."""
        rank = self.find_rank(step)
        return f"{self.name} has rank {rank}" if rank is not None else f"{self.name} is absent"


def may_search_by_vectors(steps: Sequence[TraceStep]) -> bool:
    """Return whether stages show a search by vectors, or leave open how some search works.

    A list that was merged from others leaves it open too, since not all of them need be reported.
    """
    kinds = {step.kind for step in steps}
    return not kinds.isdisjoint(("dense", "retriever", "merge")) or "lexical" not in kinds
