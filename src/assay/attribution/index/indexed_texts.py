"""The chunks that the traces of a run show of an index, compared with those of the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from msgspec import Struct, field

from assay.attribution.index.chunk_words import is_piece_name, list_runs, split_words
from assay.metrics.cases.access_rules import parse_day
from assay.records.digest import compute_text_digest
from assay.records.golden_set import Corpus, CorpusChunk
from assay.records.observations import Chunk
from assay.text.tokens import tokenise_text

_MIN_DOCUMENTS_SHOWN = 0.8
"""The minimum share of the other documents that a run must show before a document counts as missing."""


class IndexedTexts(Struct):
    """The chunks of an index as the traces of a run show them.

    `intact` and `changed` are chunks whose text equals or differs from that of the corpus; `unknown_chunks` are
    chunks that the corpus does not contain, by document. `versions` are the documents and versions that were shown,
    and `newest` the day on which the newest of their chunks came into force. `documents` are the chunks of the corpus
    by document.
    """

    corpus: Corpus
    intact: set[str] = field(default_factory=set)
    changed: dict[str, Chunk] = field(default_factory=dict)
    unknown_chunks: dict[str, dict[str, Chunk]] = field(default_factory=dict)
    versions: set[tuple[str | None, str | None]] = field(default_factory=set)
    newest: date = date.min
    hashes_agree: bool = False
    documents: dict[str | None, list[CorpusChunk]] = field(default_factory=dict)
    _owners: dict[tuple[str, ...], str] | None = None

    def __post_init__(self) -> None:
        for chunk in self.corpus.chunks.values():
            self.documents.setdefault(chunk.document, []).append(chunk)

    def add(self, chunk: Chunk) -> None:
        """Add a chunk of a trace."""
        corpus_chunk = self.corpus.chunks.get(chunk.chunk_id)
        if corpus_chunk is None:
            document = self._find_document(chunk)
            if document is not None:
                _add_first_with_text(self.unknown_chunks.setdefault(document, {}), chunk)
            return
        self.versions.add((corpus_chunk.document, corpus_chunk.version))
        self.newest = max(self.newest, _parse_start(corpus_chunk) or date.min)
        is_same = _has_same_text(chunk, corpus_chunk)
        self.hashes_agree |= is_same is True and chunk.text_hash is not None
        if is_same:
            self.intact.add(chunk.chunk_id)
        elif is_same is False:
            # The context may be cut after the search, so the text of an earlier stage stays.
            _add_first_with_text(self.changed, chunk)

    def _find_document(self, chunk: Chunk) -> str | None:
        """Return the document of a chunk that the corpus does not have: as reported, by its id, or by its words.

        Splitters name a piece after the chunk that it comes from, and a piece has runs of words of its document.
        """
        document = (chunk.metadata or {}).get("document")
        if isinstance(document, str):
            return document if document in self.documents else None
        for length in range(len(chunk.chunk_id) - 1, 0, -1):
            owner = self.corpus.chunks.get(chunk.chunk_id[:length])
            if owner is not None and is_piece_name(chunk.chunk_id, owner.chunk_id):
                return owner.document
        words = tokenise_text(chunk.text or "")
        for run in list_runs(words):
            name = self.list_owners().get(run)
            if name is not None:
                return self.corpus.chunks[name].document
        return None

    def list_owners(self) -> dict[tuple[str, ...], str]:
        """Return the first chunk of the corpus that has each run of words; made when it is needed first."""
        if self._owners is None:
            self._owners = {}
            for chunk in self.corpus.chunks.values():
                for run in list_runs(split_words(chunk)):
                    self._owners.setdefault(run, chunk.chunk_id)
        return self._owners

    def has_read(self, chunk_id: str) -> bool:
        """Whether a trace shows the text of a chunk that is not the corpus's."""
        chunk = self.changed.get(chunk_id)
        return chunk is not None and chunk.text is not None

    @property
    def has_texts(self) -> bool:
        """Whether any trace shows how a chunk of the corpus is indexed, by its text or hash."""
        return bool(self.intact or self.changed)

    def is_unknown_chunk(self, chunk_id: str) -> bool:
        """Whether a trace showed this chunk of a known document although the corpus does not contain it."""
        return any(chunk_id in chunks for chunks in self.unknown_chunks.values())

    def list_documents(self, chunk_ids: Sequence[str]) -> list[str]:
        """Return the documents of more than one chunk that these chunks are of."""
        owners = [self.corpus.chunks[chunk_id] for chunk_id in chunk_ids if chunk_id in self.corpus.chunks]
        names = dict.fromkeys(owner.document for owner in owners if owner.document is not None)
        return [name for name in names if len(self.documents[name]) > 1]

    def is_version_missing(self, corpus_chunk: CorpusChunk) -> bool:
        """Whether the version of this chunk's document seems to be missing from the index.

        No trace shows any of it, while the traces show most of the documents that were in force with the newest chunk
        shown. A run that shows few documents shows nothing about missing ones.
        """
        if (corpus_chunk.document, corpus_chunk.version) in self.versions:
            return False
        others = {
            (chunk.document, chunk.version)
            for chunk in self.corpus.chunks.values()
            if (_parse_start(chunk) or date.min) <= self.newest
        } - {(corpus_chunk.document, corpus_chunk.version)}
        return bool(others) and len(self.versions & others) >= _MIN_DOCUMENTS_SHOWN * len(others)

    def is_newer_than_index(self, corpus_chunk: CorpusChunk) -> bool:
        """Whether this chunk came into force after everything that any trace shows."""
        start = _parse_start(corpus_chunk)
        return start is not None and start > self.newest

    def count_newer_documents(self) -> int:
        """Return the documents of the corpus that came into force after everything that any trace shows."""
        newer = {chunk.document for chunk in self.corpus.chunks.values() if self.is_newer_than_index(chunk)}
        return len(newer)

    def has_other_version(self, corpus_chunk: CorpusChunk) -> bool:
        """Whether a trace shows another version of this chunk's document."""
        return any(
            document == corpus_chunk.document and version != corpus_chunk.version for document, version in self.versions
        )


def _add_first_with_text(chunks: dict[str, Chunk], chunk: Chunk) -> None:
    """Add a chunk unless it is there already; an occurrence with text replaces one without."""
    old = chunks.get(chunk.chunk_id)
    if old is None or (old.text is None and chunk.text is not None):
        chunks[chunk.chunk_id] = chunk


def _has_same_text(chunk: Chunk, corpus_chunk: CorpusChunk) -> bool | None:
    """Whether a chunk has the text of the corpus, None if unknown.

    An equal hash is sufficient, because the text that a target shows may be an excerpt.
    """
    corpus_hash = corpus_chunk.text_hash
    if not corpus_hash:
        corpus_hash = compute_text_digest(corpus_chunk.text) if corpus_chunk.text is not None else None
    is_comparable = chunk.text_hash is not None and chunk.text_hash.startswith("sha256:") and corpus_hash is not None
    if is_comparable and chunk.text_hash == corpus_hash:
        return True
    if chunk.text is not None and corpus_chunk.text is not None:
        return tokenise_text(chunk.text) == tokenise_text(corpus_chunk.text)
    return False if is_comparable else None


def _parse_start(chunk: CorpusChunk) -> date | None:
    return parse_day(chunk.valid_from) if chunk.valid_from else None
