"""Finds the chunks of a corpus that a reported chunk is: by its id or, where the corpus does not have it, by its text.

Texts are compared by their words, so that marks of a format that one side has lost, such as Markdown, are no
difference. A text that stands within one chunk of the corpus or more, or that is made of several, may be seen where all
of them may. That it may not is never concluded from a part, because short parts say too little; the search for
restricted text decides it (ADR 0165, ADR 0272).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import accumulate

import numpy as np
from msgspec import structs

from assay.metrics.cases.access_rules import Access, is_visible, may_see_chunk, read_corpus_access
from assay.metrics.cases.restricted_text import RestrictedCorpus
from assay.records.golden_set import Corpus, CorpusChunk, User
from assay.records.observations import Chunk, Observation, Stage, is_text_id
from assay.text.normalisation import fold_text
from assay.text.safety.copied_text import COPIED_RUN_LENGTH
from assay.text.tokens import tokenise_text

_MOST_KEPT = 4096  # cached answers about texts
_MOST_COMPARED = 200
"""The most chunks of the corpus in which a part is searched: more of them share nothing but a phrase."""
_MOST_JOINED = 64  # cached texts of documents
_MOST_ADDED_LINES = 3
_MOST_ADDED_WORDS = 80
"""The most lines before and after the text of a chunk that an index may add, such as a sentence of context, and the
most words in them."""
_CUT = "\x00"  # stands in no word
_Version = tuple[str | None, str | None]
"""A document and its version."""


class CorpusTexts:
    """The texts of a corpus, by which chunks are told whose ids it does not have; indexed when the first is met."""

    def __init__(self, corpus: Corpus, read_restricted: Callable[[], RestrictedCorpus | None]) -> None:
        """`read_restricted` returns the texts of the corpus with the runs of words in them, made when needed."""
        self._chunks = corpus.chunks
        self._read_restricted = read_restricted
        self._find_wholes_once = lru_cache(maxsize=_MOST_KEPT)(self._find_wholes)
        self._find_framed_once = lru_cache(maxsize=_MOST_KEPT)(self._find_framed)
        self._collect_accesses_once = lru_cache(maxsize=_MOST_KEPT)(self._collect_accesses)
        self._join_document_once = lru_cache(maxsize=_MOST_JOINED)(self._join_document)

    def is_told_by_text(self, chunk: Chunk) -> bool:
        """Return whether only the text of a chunk can tell what it is: the corpus has another id, or it has none."""
        return chunk.chunk_id not in self._chunks and (bool(chunk.text) or is_text_id(chunk.chunk_id))

    def find_chunks(self, chunk: Chunk) -> Sequence[CorpusChunk]:
        """Return the chunk of the corpus with the id of a reported one; where it has no such id, all that have its
        text, or of which it is the text with a few lines more."""
        corpus_chunk = self._chunks.get(chunk.chunk_id)
        if corpus_chunk is not None:
            return (corpus_chunk,)
        return self._find_by_text(chunk.text) or self.find_framed(chunk) if chunk.text else ()

    def _find_by_text(self, text: str) -> Sequence[CorpusChunk]:
        return self._chunks_by_text.get(_digest_text(text), ())

    def find_framed(self, chunk: Chunk) -> Sequence[CorpusChunk]:
        """Return the chunks of the corpus whose text a chunk has between a few lines of its own, such as a sentence of
        context; none if the corpus has its id or its text, or if it is made of several of its texts."""
        if not chunk.text or chunk.chunk_id in self._chunks or self._find_by_text(chunk.text):
            return ()
        return self._find_framed_once(chunk.text)

    def _find_framed(self, text: str) -> Sequence[CorpusChunk]:
        """Return the chunks that have most of the lines of a text, all but up to three at each end.

        The lines at the ends may not have eight words in a row of a text of the corpus, whose chunk would be in it too.
        """
        if self._find_wholes_once(text):
            return ()
        lines = [line for line in text.splitlines() if tokenise_text(line)]
        most = min(_MOST_ADDED_LINES, len(lines) - 1)
        frames = [(head, tail) for head in range(most + 1) for tail in range(most + 1) if 0 < head + tail < len(lines)]
        for head, tail in sorted(frames, key=sum):
            inner, last = "\n".join(lines[head : len(lines) - tail]), len(lines) - tail
            added = "\n".join(lines[:head]), "\n".join(lines[last:])
            count = sum(len(tokenise_text(part)) for part in added)
            if count > _MOST_ADDED_WORDS or count > len(tokenise_text(inner)):
                continue
            chunks = self._find_by_text(inner)
            if chunks:
                return () if any(map(self._find_sharing, added)) else chunks
        return ()

    def use_known_ids(self, observation: Observation) -> Observation:
        """Return an observation in which a chunk whose id the corpus does not have is named as the one chunk of the
        corpus that has its text, in every stage and citation; as it is where the answer's text names such an id.

        Lines that were added to the text are left out: they are no difference of what is indexed.
        """
        names: dict[str, str] = {}
        texts: dict[str, str | None] = {}
        for stage in observation.stages or ():
            for chunk in stage.chunks:
                twins = () if chunk.chunk_id in self._chunks else self.find_chunks(chunk)
                if len(twins) == 1:
                    names[chunk.chunk_id] = twins[0].chunk_id
                    texts |= {chunk.chunk_id: twins[0].text} if self.find_framed(chunk) else {}
        answer = observation.answer if isinstance(observation.answer, str) else ""
        if not names or any(name in answer for name in names):
            return observation
        return structs.replace(
            observation,
            stages=tuple(_rename_chunks(stage, names, texts) for stage in observation.stages or ()),
            citations=_rename(observation.citations, names),
            sentences=observation.sentences
            and tuple(
                structs.replace(sentence, citations=_rename(sentence.citations, names) or ())
                for sentence in observation.sentences
            ),
        )

    def find_wholes(self, chunk: Chunk) -> Sequence[CorpusChunk]:
        """Return the chunks of the corpus that contain a chunk as a part, or of which it is made; none if the corpus
        has its id or its text."""
        if not chunk.text or self.find_chunks(chunk):
            return ()
        return self._find_wholes_once(chunk.text)

    def find_contained(self, chunk: Chunk) -> Sequence[CorpusChunk]:
        """Return the chunk of the corpus with the id of a reported one; where it has no such id, all that it contains
        as a whole, whatever else it has."""
        words = _join_words(chunk.text)
        wholes = self.find_wholes(chunk)
        return self.find_chunks(chunk) or [
            whole for whole in wholes or self._find_sharing(chunk.text) if _join_words(whole.text) in words
        ]

    def _find_sharing(self, text: str | None) -> list[CorpusChunk]:
        """Return the chunks of the corpus that have eight words in a row of a text; none if these are too many."""
        restricted = self._read_restricted()
        words = tokenise_text(text or "")
        if restricted is None or len(words) < COPIED_RUN_LENGTH:
            return []
        owners = restricted.runs.find_hidden_runs(words, lambda texts: np.zeros(texts.shape, np.bool_))
        runs = Counter(number for _, numbers in owners for number in set(numbers))
        return [self._chunks[restricted.ids[number]] for number in sorted(runs)] if len(runs) <= _MOST_COMPARED else []

    def find_access(self, chunk: Chunk, user: User) -> bool | None:
        """Return whether a user may see a chunk by its text; None if nothing in the corpus tells, or not alike.

        All chunks that have its text must agree. A part may be seen where all chunks that have it may; else None. Of
        lines of its own beside a text of the corpus nothing tells who may see them; that text may be denied.
        """
        if not chunk.text:
            return None
        framed = self.find_framed(chunk)
        if framed:
            return None if any(may_see_chunk(user, inner) for inner in framed) else False
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
        """Return the chunks of the corpus that have all of another text of eight words or more: each by itself, else
        together in one document, else one after the other."""
        joined = " ".join(tokenise_text(text))
        candidates = self._find_sharing(text)
        if not candidates:
            return ()
        wholes = tuple(chunk for chunk in candidates if joined in _join_words(chunk.text))
        return wholes or self._find_in_documents(joined, candidates) or _find_parts(joined, candidates)

    def _find_in_documents(self, words: str, candidates: Sequence[CorpusChunk]) -> tuple[CorpusChunk, ...]:
        """Return the chunks over which the words of a text run in a version of a document, of each that has them."""
        crossed: list[CorpusChunk] = []
        for key in dict.fromkeys((chunk.document, chunk.version) for chunk in candidates if chunk.document is not None):
            joined, ends = self._join_document_once(key)
            begin = joined.find(words)
            if begin >= 0:
                crossed += self._documents[key][bisect_right(ends, begin) : bisect_left(ends, begin + len(words)) + 1]
        return tuple(crossed)

    def _join_document(self, key: _Version) -> tuple[str, list[int]]:
        """Return the words of a version of a document as one text, and where each of its chunks ends in it."""
        texts = [_join_words(chunk.text) for chunk in self._documents[key]]
        return " ".join(texts), list(accumulate(len(text) + 1 for text in texts))

    @cached_property
    def _documents(self) -> Mapping[_Version, Sequence[CorpusChunk]]:
        """The chunks of the corpus by document and version, in its order."""
        documents: dict[_Version, list[CorpusChunk]] = {}
        for chunk in self._chunks.values():
            documents.setdefault((chunk.document, chunk.version), []).append(chunk)
        return documents

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
        """The chunks of the corpus by the digest of their words; chunks without a text are left out."""
        chunks: dict[bytes, list[CorpusChunk]] = {}
        for chunk in self._chunks.values():
            if chunk.text and not chunk.text.isspace():
                chunks.setdefault(_digest_text(chunk.text), []).append(chunk)
        return chunks


@lru_cache(maxsize=_MOST_KEPT)
def _join_words(text: str | None) -> str:
    """Return the folded words of a text, with a space between them; of one without words what it has instead."""
    return " ".join(tokenise_text(text or "")) or fold_text(text or "")


def _digest_text(text: str) -> bytes:
    """Return a digest of the words of a text, so that an index need not keep all texts twice."""
    return blake2b(_join_words(text).encode(errors="surrogatepass"), digest_size=16).digest()


def _rename_chunks(stage: Stage, names: Mapping[str, str], texts: Mapping[str, str | None]) -> Stage:
    """Return a stage with other names of its chunks, and where there are any with other texts, without their hashes."""
    chunks = [
        structs.replace(chunk, text=texts[chunk.chunk_id], text_hash=None)
        if chunk.text is not None and chunk.chunk_id in texts
        else chunk
        for chunk in stage.chunks
    ]
    renamed = (structs.replace(chunk, chunk_id=names.get(chunk.chunk_id, chunk.chunk_id)) for chunk in chunks)
    return structs.replace(stage, chunks=tuple(renamed))


def _rename(citations: tuple[str, ...] | None, names: Mapping[str, str]) -> tuple[str, ...] | None:
    return citations and tuple(names.get(name, name) for name in citations)


def _find_parts(words: str, candidates: Sequence[CorpusChunk]) -> tuple[CorpusChunk, ...]:
    """Return the chunks of which the words of a text are made, with nothing else in it; none if a word is left over."""
    parts, rest = [], words
    for chunk in sorted(candidates, key=lambda chunk: -len(chunk.text or "")):
        part = _join_words(chunk.text)
        if part in rest:
            parts.append(chunk)
            rest = rest.replace(part, _CUT)
        elif part in words:
            parts.append(chunk)  # a part of another part, or its twin: it has to be open as well
    return () if any(map(str.isalnum, rest)) else tuple(parts)
