"""Finds the chunks of a corpus that a reported chunk is: by its id or, where the target gave it none, by its text.

Texts are compared as evidence is, folded by `fold_text`. A text that stands within one chunk of the corpus or more is
a part of them: it may be seen where all of them may. That it may not is never concluded from a part, because short
parts say too little; the search for restricted text decides it (ADR 0165).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b

import numpy as np

from assay.metrics.cases.access_rules import Access, is_visible, may_see_chunk, read_corpus_access
from assay.metrics.cases.restricted_text import RestrictedCorpus
from assay.records.golden_set import Corpus, CorpusChunk, User
from assay.records.observations import Chunk, is_text_id
from assay.text.normalisation import fold_text
from assay.text.safety.copied_text import COPIED_RUN_LENGTH
from assay.text.tokens import tokenise_text

_MOST_KEPT = 4096  # cached answers about texts
_MOST_COMPARED = 200
"""The most chunks of the corpus in which a part is searched: more of them share nothing but a phrase."""


class CorpusTexts:
    """The texts of a corpus, by which chunks without ids are told; indexed when the first such chunk is met."""

    def __init__(self, corpus: Corpus, read_restricted: Callable[[], RestrictedCorpus | None]) -> None:
        """`read_restricted` returns the texts of the corpus with the runs of words in them, made when needed."""
        self._chunks = corpus.chunks
        self._read_restricted = read_restricted
        self._find_wholes_once = lru_cache(maxsize=_MOST_KEPT)(self._find_wholes)
        self._collect_accesses_once = lru_cache(maxsize=_MOST_KEPT)(self._collect_accesses)

    def find_chunks(self, chunk: Chunk) -> Sequence[CorpusChunk]:
        """Return the chunk of the corpus with the id of a reported one; without an id, all that have its text."""
        if is_text_id(chunk.chunk_id) and chunk.chunk_id not in self._chunks:
            return self._chunks_by_text.get(_digest_text(chunk.text), ()) if chunk.text else ()
        corpus_chunk = self._chunks.get(chunk.chunk_id)
        return () if corpus_chunk is None else (corpus_chunk,)

    def find_wholes(self, chunk: Chunk) -> Sequence[CorpusChunk]:
        """Return the chunks of the corpus that contain a chunk without an id as a part; none if one has its text."""
        if not chunk.text or not is_text_id(chunk.chunk_id) or self.find_chunks(chunk):
            return ()
        return self._find_wholes_once(chunk.text)

    def find_access(self, chunk: Chunk, user: User) -> bool | None:
        """Return whether a user may see a chunk without an id; None if nothing in the corpus tells, or not alike.

        All chunks that have its text must agree. A part may be seen where all chunks that have it may; else None.
        """
        if not chunk.text:
            return None
        verdicts = {is_visible(access, user) for access in self._collect_accesses_once(chunk.text)}
        if verdicts:
            return verdicts.pop() if len(verdicts) == 1 else None
        wholes = self.find_wholes(chunk)
        is_open = all(may_see_chunk(user, whole) for whole in wholes)
        return True if wholes and is_open else None

    def _collect_accesses(self, text: str) -> frozenset[Access]:
        """Return who may see the chunks of the corpus that have a text."""
        return frozenset(map(read_corpus_access, self._chunks_by_text.get(_digest_text(text), ())))

    def _find_wholes(self, text: str) -> tuple[CorpusChunk, ...]:
        """Return the chunks of the corpus within whose text another text of eight words or more stands."""
        restricted = self._read_restricted()
        words = tokenise_text(text)
        if len(words) > COPIED_RUN_LENGTH + 1:
            words = words[1:-1]  # the first and the last may have been cut
        if restricted is None or len(words) < COPIED_RUN_LENGTH:
            return ()
        last = len(words) - COPIED_RUN_LENGTH
        numbers: list[int] | None = None
        for start in {0, last // 2, last}:
            run = words[start : start + COPIED_RUN_LENGTH]
            owners = restricted.runs.find_hidden_runs(run, lambda texts: np.zeros(texts.shape, np.bool_))
            if not owners:
                return ()
            if numbers is None or len(owners[0][1]) < len(numbers):
                numbers = owners[0][1]
        if numbers is None or len(numbers) > _MOST_COMPARED:
            return ()
        folded = fold_text(text)
        return tuple(
            self._chunks[restricted.ids[number]]
            for number in dict.fromkeys(numbers)
            if folded in fold_text(restricted.texts[number])
        )

    def has_passage(self, passage: str) -> bool:
        """Return whether a passage stands in the text of some chunk of the corpus."""
        return fold_text(passage) in self._folded_corpus

    @cached_property
    def _folded_corpus(self) -> str:
        """All texts of the corpus, folded, with a sign between them that no folded text has."""
        return "\x00".join(fold_text(chunk.text) for chunk in self._chunks.values() if chunk.text)

    @property
    def lacks_texts(self) -> bool:
        """Whether a chunk of the corpus has no text, so that nobody knows whether a passage stands in it."""
        return any(not chunk.text for chunk in self._chunks.values())

    @cached_property
    def _chunks_by_text(self) -> Mapping[bytes, Sequence[CorpusChunk]]:
        """The chunks of the corpus by the digest of their folded text; chunks without a text are left out."""
        chunks: dict[bytes, list[CorpusChunk]] = {}
        for chunk in self._chunks.values():
            if chunk.text and not chunk.text.isspace():
                chunks.setdefault(_digest_text(chunk.text), []).append(chunk)
        return chunks


def _digest_text(text: str) -> bytes:
    """Return a digest of a folded text, so that an index need not keep all texts twice."""
    return blake2b(fold_text(text).encode(errors="surrogatepass"), digest_size=16).digest()
