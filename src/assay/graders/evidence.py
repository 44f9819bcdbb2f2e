"""Which units of evidence a chunk covers: selectors turned into look-ups, once per case.

A unit is a bit of an integer mask, so that overlap, repeats and several units per chunk are one rule. `None` means that
nobody judged the chunk, 0 that it was judged and found irrelevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.metrics.text import fold
from assay.model import Chunk, Corpus, CorpusChunk, Selector

CHUNK_ID = "chunk_id"
QUOTE = "quote"

CORPUS_FIELDS = ("document", "version", "section", "path", "kind", "tenant", "index_version", "chunking_strategy")


def chunk_fields(chunk: Chunk, corpus_chunk: CorpusChunk | None) -> dict[str, Any]:
    """Return a chunk's stable key fields: what it reports of itself, overruled by what the corpus knows."""
    fields: dict[str, Any] = dict(chunk.metadata or {})
    if corpus_chunk is not None:
        fields.update(corpus_chunk.metadata)
        for name in CORPUS_FIELDS:
            value = getattr(corpus_chunk, name)
            if value is not None:
                fields[name] = value
        if corpus_chunk.pages:
            fields["page"] = corpus_chunk.pages
    fields[CHUNK_ID] = chunk.chunk_id
    return fields


def holds(fields: Mapping[str, Any], name: str, wanted: str | int) -> bool:
    """Return whether a chunk's field has the wanted value; a field that lists several (pages) has each of them."""
    value = fields.get(name)
    if isinstance(value, (list, tuple)):
        return wanted in value
    return bool(value == wanted) and not isinstance(value, bool)


class EvidenceIndex:
    """Look-ups from chunks to the units of evidence that they cover; `by_id_alone`: every selector is a chunk id."""

    __slots__ = ("_known", "_quotes", "_selectors", "by_id", "by_id_alone", "grades")

    def __init__(self, units: Sequence[tuple[tuple[Selector, ...], int]], corpus: Corpus | None) -> None:
        """`units` are (selectors, grade); a unit of grade 0 was judged and is not evidence."""
        self.grades: list[int] = []
        self.by_id: dict[str, int] = {}
        self._selectors: list[tuple[Selector, int]] = []
        self._quotes: list[tuple[str, Selector, int]] = []
        self._known = corpus.chunks if corpus is not None else {}
        for selectors, grade in units:
            mask = 0
            if grade > 0:
                mask = 1 << len(self.grades)
                self.grades.append(grade)
            for selector in selectors:
                self._add_selector(selector, mask)
        self.by_id_alone = not self._selectors and not self._quotes

    def _add_selector(self, selector: Selector, mask: int) -> None:
        if len(selector) == 1 and CHUNK_ID in selector:
            chunk_id = str(selector[CHUNK_ID])
            self.by_id[chunk_id] = self.by_id.get(chunk_id, 0) | mask
        elif QUOTE in selector:
            other_fields = {key: value for key, value in selector.items() if key != QUOTE}
            self._quotes.append((fold(str(selector[QUOTE])), other_fields, mask))
        else:
            self._selectors.append((selector, mask))

    def masks(self, chunks: Iterable[Chunk]) -> list[int | None]:
        """Return for each chunk the units that it covers, None where nobody judged it."""
        if self.by_id_alone:
            get = self.by_id.get
            return [get(chunk.chunk_id) for chunk in chunks]
        return [self._mask(chunk) for chunk in chunks]

    def _mask(self, chunk: Chunk) -> int | None:
        covered_units = self.by_id.get(chunk.chunk_id)
        corpus_chunk = self._known.get(chunk.chunk_id)
        fields = chunk_fields(chunk, corpus_chunk)
        for selector, mask in self._selectors:
            if all(holds(fields, name, wanted) for name, wanted in selector.items()):
                covered_units = (covered_units or 0) | mask
        if self._quotes:
            text = chunk.text if chunk.text is not None else (corpus_chunk.text if corpus_chunk is not None else None)
            folded = fold(text) if text is not None else None
            for quote, other_fields, mask in self._quotes:
                if folded is not None and quote in folded and all(holds(fields, n, w) for n, w in other_fields.items()):
                    covered_units = (covered_units or 0) | mask
        return covered_units

    def best_grade(self, mask: int) -> int:
        """Return the highest grade among the units of a mask; 0 for none."""
        if not mask & (mask - 1):
            return self.grades[mask.bit_length() - 1] if mask else 0
        highest = 0
        while mask:
            lowest_bit = mask & -mask
            highest = max(highest, self.grades[lowest_bit.bit_length() - 1])
            mask ^= lowest_bit
        return highest
