"""Which units of evidence the stages of one observation show, and which of them reached the generator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Self

from msgspec import Struct, structs

from assay.attribution.evidence_trace import (
    DEFAULT_PRODUCTION_K,
    TraceStep,
    build_steps,
    format_selector,
    get_searched_units,
)
from assay.attribution.index.index_view import IndexView
from assay.attribution.one_case.answer_quality import CaseScores
from assay.attribution.one_case.contained_facts import quote_beginning
from assay.metrics.cases.absent_labels import describe_absent_unit
from assay.metrics.cases.case_index import QUOTE, CaseIndex
from assay.metrics.retrieval.evidence_fields import find_unreported_field, lacks_texts
from assay.records.golden_set import CorpusChunk, Evidence, Selector
from assay.records.observations import Chunk, Observation, is_text_id
from assay.scoring.attribution_settings import AttributionSettings


class TracedEvidence(Struct, frozen=True, dict=True):
    """A case with its observation: which units of its evidence the stages show, and which reached the generator.

    The name and versions of the configuration are left out (ADR 0034).
    """

    case: CaseIndex
    observation: Observation
    scores: CaseScores
    settings: AttributionSettings
    index_view: IndexView | None = None

    @classmethod
    def from_observation(
        cls,
        case: CaseIndex,
        observation: Observation,
        scores: CaseScores,
        settings: AttributionSettings,
        view: IndexView | None,
    ) -> Self:
        """Return the facts of a case, with the name and versions of the configuration removed."""
        return cls(case, structs.replace(observation, config_id="", versions={}), scores, settings, view)

    @cached_property
    def steps(self) -> tuple[TraceStep, ...]:
        """The stages that led to the answer."""
        return build_steps(self.case, self.observation)

    @cached_property
    def units(self) -> tuple[Evidence, ...]:
        """The units of evidence, in the order of their bits."""
        return get_searched_units(self.case)

    @cached_property
    def required_units(self) -> list[int]:
        """The units that the generator needed."""
        return [number for number in range(len(self.units)) if self.case.required >> number & 1]

    @cached_property
    def last_step(self) -> TraceStep | None:
        """The step whose chunks reached the generator: the context, else the last ranking."""
        for step in reversed(self.steps):
            if step.kind == "context":
                return step
        return self.steps[-1] if self.steps else None

    @cached_property
    def arrived_chunks(self) -> list[Chunk]:
        """The chunks that reached the generator: the context, else the last ranking cut at production k."""
        if self.last_step is None:
            return []
        chunks = self.last_step.stage.chunks
        return list(
            chunks if self.last_step.kind == "context" else chunks[: self.settings.production_k or DEFAULT_PRODUCTION_K]
        )

    @property
    def arrived_ids(self) -> list[str]:
        """The ids of the chunks that reached the generator."""
        return [chunk.chunk_id for chunk in self.arrived_chunks]

    @cached_property
    def lost_units(self) -> list[int]:
        """The required units that did not reach the generator; none if its chunks lack the field that tells them."""
        covered = 0
        for _, mask in zip(
            self.arrived_chunks, self.last_step.unit_masks if self.last_step is not None else (), strict=False
        ):
            covered |= mask
        if self.unreported_field is not None:
            return []
        return [unit for unit in self.required_units if not covered >> unit & 1]

    @cached_property
    def unreported_field(self) -> str | None:
        """The field that the chunks of the context lack, so that nothing tells whether they are the evidence."""
        covered = 0
        for mask in self.case.evidence.unit_masks(self.arrived_chunks):
            covered |= mask or 0
        return find_unreported_field(self.case, self.arrived_chunks, covered)

    @cached_property
    def lacks_arrived_texts(self) -> bool:
        """Whether evidence that no stage shows may be in the context: of a chunk there no text is known, and nothing
        else tells what it is."""
        shown = 0
        for step in self.steps:
            for mask in step.unit_masks:
                shown |= mask
        evidence = self.case.evidence
        arrived = evidence.complete_texts(self.arrived_chunks, self.observation, is_foreign=True)
        return lacks_texts(self.case, arrived, shown)

    @cached_property
    def reached(self) -> bool | None:
        """Whether the evidence reached the generator; None if the case requires none, or nothing tells."""
        if not self.required_units or self.untold_reason:
            return None
        if self.settings.reached == "any":
            return len(self.lost_units) < len(self.required_units)
        return not self.lost_units

    @cached_property
    def untold_reason(self) -> str:
        """Why nothing tells whether the required evidence reached the generator; "" if something does, or none is
        required."""
        if not self.required_units:
            return ""
        if not self.steps:
            return "no stage was reported"
        if not self.arrived_chunks:
            return ""  # where nothing was shown, no evidence was, whatever its label
        if self.unreported_field is not None:
            return f"the chunks of the context do not report `{self.unreported_field}`"
        if self.case.evidence.needs_ids and any(is_text_id(chunk.chunk_id) for chunk in self.arrived_chunks):
            return "the chunks of the context have no ids"
        is_any = self.settings.reached == "any"
        is_open = len(self.lost_units) == len(self.required_units) if is_any else bool(self.lost_units)
        if is_open and self.lacks_arrived_texts and (is_any or not any(map(self._is_shown, self.lost_units))):
            return "chunks of the context have no text, and their ids do not tell"
        # What a corpus that was cut differently does not have under this id may have been shown all the same.
        is_absent = [describe_absent_unit(self.units[unit], self.case) is not None for unit in self.lost_units]
        if is_open and (any(is_absent) if is_any else all(is_absent)):
            return "its label is not in the corpus"
        return ""

    def _is_shown(self, unit: int) -> bool:
        """Whether a step shows a unit, so that its chunk is known and its absence in the context as well."""
        return any(step.find_rank(unit) is not None for step in self.steps)

    @property
    def has_foreign_context(self) -> bool:
        """Whether the context has chunks, and none of them is in the ranking before it."""
        context, *earlier = reversed(self.steps) if self.steps else (None,)
        if context is None or context.kind != "context" or not earlier or not context.chunk_ids:
            return False
        return set(context.chunk_ids).isdisjoint(earlier[0].chunk_ids)

    def is_shown_in_run(self, unit: int) -> bool:
        """Whether any trace of the run shows a chunk of a unit."""
        names = self.get_covering_chunk_ids(unit) or self.list_labelled_ids(unit)
        return self.index_view is not None and any(map(self.index_view.is_shown, names))

    def get_unit_name(self, unit: int) -> str:
        """Return the name of a unit: its selectors as text, of a passage its beginning."""
        return " or ".join(dict.fromkeys(map(_name_selector, self.units[unit].any_of)))

    def get_covering_chunk_ids(self, unit: int) -> list[str]:
        """Return the chunks of the corpus that cover a unit."""
        return self._covering[unit]

    @cached_property
    def _covering(self) -> list[list[str]]:
        """The ids of the chunks of the corpus that cover each unit."""
        covering_ids: list[list[str]] = [[] for _ in self.units]
        if self.case.corpus is None:
            return covering_ids
        index, corpus_chunks = self.case.evidence, self.case.corpus.chunks
        # Where selectors name chunk ids only, the chunks that they name suffice.
        ids = [name for name in index.by_id if name in corpus_chunks] if index.by_id_alone else list(corpus_chunks)
        for chunk_id, mask in zip(ids, index.unit_masks([Chunk(chunk_id) for chunk_id in ids]), strict=True):
            for unit in range(len(covering_ids)):
                if mask and mask >> unit & 1:
                    covering_ids[unit].append(chunk_id)
        return covering_ids

    def list_labelled_ids(self, unit: int) -> list[str]:
        """Return the ids that the selectors of a unit name."""
        return [str(selector["chunk_id"]) for selector in self.units[unit].any_of if "chunk_id" in selector]

    @property
    def corpus_chunks(self) -> Mapping[str, CorpusChunk]:
        """The chunks of the corpus by id; none without a corpus."""
        return self.case.corpus.chunks if self.case.corpus is not None else {}

    @cached_property
    def unlabelled_chunks(self) -> list[Chunk]:
        """The chunks that reached the generator and that no unit of evidence names."""
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        return [chunk for chunk, mask in zip(self.arrived_chunks, masks, strict=True) if not mask]

    @property
    def query(self) -> str:
        """The query of the searches: the rewritten one, else the question."""
        return self.observation.query_rewrite or self.observation.question or self.case.case.question


def _name_selector(selector: Selector) -> str:
    """Return a selector for a sentence: a passage is quoted by its first words, everything else is as in tables."""
    others = {key: value for key, value in selector.items() if key != QUOTE}
    parts = [quote_beginning(str(selector[QUOTE]))] if QUOTE in selector else []
    return " in ".join([*parts, *([format_selector(others)] if others else [])])
