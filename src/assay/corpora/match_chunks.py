"""Matches the chunks of a target with those of a corpus by their text, so that its ids get to mean something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from assay.records.golden_set import CorpusChunk
from assay.text.aligned_text import PassageFinder
from assay.text.tokens import tokenise_text

SURE_SHARE = 0.8
"""The share of the words of either text, in common runs, from which two chunks are of one passage."""


class TargetChunk(NamedTuple):
    """A chunk as a target reports it."""

    chunk_id: str
    text: str


class ChunkMatch(Struct, frozen=True, omit_defaults=True):
    """A target's chunk and the chunks of the corpus of which it is a part, the same, or which it contains.

    `share`: the largest share of the words of one text that the other has; 0 where nothing was found or it has no text.
    """

    target_chunk: str
    chunks: tuple[str, ...] = ()
    share: float = 0.0


class BuiltCorpus(Struct, frozen=True):
    """What `corpus build` made: counts, files that it did not read, and the chunks of a run matched by text.

    `empty` are files without any text, which are no documents.
    """

    documents: int
    chunks: int
    skipped: tuple[str, ...] = ()
    matches: tuple[ChunkMatch, ...] | None = None
    empty: tuple[str, ...] = ()

    @property
    def unmatched(self) -> list[ChunkMatch]:
        """The target's chunks whose text is not in the documents, or which it reports without text."""
        return [match for match in self.matches or () if not match.chunks]


def match_chunks(target_chunks: Sequence[TargetChunk], chunks: Sequence[CorpusChunk]) -> Iterator[ChunkMatch]:
    """Yield for each chunk of a target the chunks of the corpus that share most of its words or of their own.

    >>> corpus = [CorpusChunk("a", text="Staff get twelve days of leave. Ask HR first.")]
    >>> list(match_chunks([TargetChunk("7f", "Staff get twelve days of leave.")], corpus))
    [ChunkMatch(target_chunk='7f', chunks=('a',), share=1.0)]
    """
    texts = {chunk.chunk_id: chunk.text for chunk in chunks if chunk.text}
    lengths = {chunk_id: max(1, len(tokenise_text(text))) for chunk_id, text in texts.items()}
    finder = PassageFinder(texts)
    for target_chunk in target_chunks:
        words = max(1, len(tokenise_text(target_chunk.text)))
        shares = {}
        for passage in finder.find(target_chunk.text):
            of_corpus_chunk = min(1.0, passage.share * words / lengths[passage.text_id])
            shares[passage.text_id] = max(passage.share, of_corpus_chunk)
        sure = tuple(chunk_id for chunk_id, share in shares.items() if share >= SURE_SHARE)
        yield ChunkMatch(target_chunk.chunk_id, sure, round(max(shares.values(), default=0.0), 4))
