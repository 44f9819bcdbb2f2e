"""What the chunks of a case say: in the stages of the trace, and in the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from assay.attribution.index.shown_access import is_kept_for_some
from assay.attribution.one_case.traced_evidence import TracedEvidence
from assay.metrics.cases.access_rules import read_corpus_access
from assay.metrics.cases.case_index import QUOTE
from assay.records.golden_set import CorpusChunk
from assay.records.observations import TEXT_ID_PREFIX, Chunk
from assay.text.normalisation import fold_text


class KnownTexts(TracedEvidence, frozen=True, dict=True):
    """The texts of evidence and context: those that the trace shows, and those of the corpus."""

    def get_expected_texts(self, unit: int) -> tuple[str, ...]:
        """Return the texts that a unit should have: those of the corpus, else its quote."""
        texts = [self.corpus_chunks[chunk_id].text for chunk_id in self.get_covering_chunk_ids(unit)]
        known_texts = tuple(text for text in texts if text)
        quote = self.units[unit].quote
        return known_texts or ((quote,) if quote else ())

    def is_shown_under_other_id(self, unit: int) -> bool:
        """Whether a stage has the quote of a unit, or the text of a chunk that covers it, in a chunk that the corpus
        does not have: then it is indexed, cut in another way than the corpus."""
        passages = [*self.list_quotes(unit), *self.get_expected_texts(unit)]
        foreign = [text for chunk_id, text in self.trace_texts.items() if chunk_id not in self.corpus_chunks]
        folded_passages = [folded for folded in map(fold_text, passages) if folded]
        return any(passage in text for text in map(fold_text, foreign) for passage in folded_passages)

    def list_quotes(self, unit: int) -> list[str]:
        """Return the passages by which a unit is named."""
        return [str(selector[QUOTE]) for selector in self.units[unit].any_of if QUOTE in selector]

    @property
    def is_index_unknown(self) -> bool:
        """Whether no corpus says what the evidence should contain."""
        return not any(self.get_expected_texts(unit) for unit in self.required_units)

    def get_chunk_text(self, chunk_id: str) -> str | None:
        """Return the text of a chunk from the trace, else from the corpus; None if neither has it."""
        if chunk_id in self.trace_texts:
            return self.trace_texts[chunk_id]
        corpus_chunk = self.corpus_chunks.get(chunk_id)
        return corpus_chunk.text if corpus_chunk is not None else None

    @cached_property
    def trace_texts(self) -> dict[str, str]:
        """The texts of the chunks of all stages by id."""
        return {
            chunk.chunk_id: chunk.text for step in self.steps for chunk in step.stage.chunks if chunk.text is not None
        }

    @cached_property
    def has_shown_texts(self) -> bool:
        """Whether the trace itself has the text of a chunk that reached the generator."""
        return any(chunk.text for chunk in self.arrived_chunks)

    @cached_property
    def context_texts(self) -> list[str]:
        """The known texts of the chunks that the generator was shown."""
        return [text for _, text in self.list_known_texts(self.arrived_chunks)]

    def list_known_texts(self, chunks: Iterable[Chunk]) -> list[tuple[str, str]]:
        """Return id and text of the chunks whose text is known and not empty."""
        texts = [(chunk.chunk_id, self.get_chunk_text(chunk.chunk_id)) for chunk in chunks]
        return [(chunk_id, text) for chunk_id, text in texts if text]

    def get_answer_sources(self) -> list[tuple[str, str]]:
        """Return id and text of the chunks of the context that are evidence or are cited."""
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        cited = set(self.observation.citations or ())
        pairs = zip(self.arrived_chunks, masks, strict=True)
        return self.list_known_texts(chunk for chunk, mask in pairs if mask or chunk.chunk_id in cited)

    def get_whole_text(self, chunk_id: str) -> str | None:
        """Return the longest text of a chunk in the stages before the context, or that of the corpus if the run shows
        it to be indexed; None if neither is known."""
        texts = [
            chunk.text
            for step in self.steps
            if step is not self.last_step
            for chunk in step.stage.chunks
            if chunk.chunk_id == chunk_id and chunk.text is not None
        ]
        if texts:
            return max(texts, key=len)
        if self.index_view is not None and chunk_id in self.index_view.indexed.intact:
            return self.corpus_chunks[chunk_id].text
        return None

    def list_ranked_texts(self, unit: int) -> list[str]:
        """Return the texts that the chunks of a unit have in the stages before the context."""
        return [
            chunk.text
            for step in self.steps
            for chunk, mask in zip(step.stage.chunks, step.unit_masks, strict=True)
            if mask >> unit & 1 and chunk.text
        ]

    @cached_property
    def unlabelled_texts(self) -> dict[str, str]:
        """The texts of the shown chunks that are in the corpus and that no unit of evidence names."""
        chunks = [chunk for chunk in self.unlabelled_chunks if chunk.chunk_id in self.corpus_chunks]
        return dict(self.list_known_texts(chunks))

    def get_shown_texts(self, unit: int) -> list[str]:
        """Return the texts of a unit as the generator was shown them."""
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        chunks = [chunk for chunk, mask in zip(self.arrived_chunks, masks, strict=True) if (mask or 0) >> unit & 1]
        return [text for _, text in self.list_known_texts(chunks)]

    def list_evidence_texts(self) -> list[tuple[str, str]]:
        """Return id and text of the required evidence as the generator was shown it."""
        masks = self.case.evidence.unit_masks(self.arrived_chunks)
        pairs = zip(self.arrived_chunks, masks, strict=True)
        return self.list_known_texts(chunk for chunk, mask in pairs if (mask or 0) & self.case.required)

    def list_corpus_chunks(self, chunk: Chunk) -> Sequence[CorpusChunk]:
        """Return the chunks of the corpus that a reported chunk is: by its id, or without one by its text."""
        texts = self.case.golden_index.corpus_texts
        return texts.find_chunks(chunk) if texts is not None else ()

    def list_chunks_with_text(self, text: str) -> Sequence[CorpusChunk]:
        """Return the chunks of the corpus that have a text."""
        return self.list_corpus_chunks(Chunk(TEXT_ID_PREFIX, text=text))

    @property
    def is_access_unknown(self) -> bool:
        """Whether no corpus tells of some chunk of the context who may see it."""
        return any(not self.list_corpus_chunks(chunk) for chunk in self.arrived_chunks)

    def is_kept(self, chunk_id: str) -> bool:
        """Whether the corpus keeps a chunk for users of a tenant or with a role."""
        chunk = self.corpus_chunks.get(chunk_id)
        return chunk is not None and is_kept_for_some(read_corpus_access(chunk))
