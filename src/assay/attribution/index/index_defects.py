"""Defects of indexed texts: what is wrong with a chunk of the index, told by its own text and by those of others."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, islice
from typing import Literal

from msgspec import Struct, field

from assay.attribution.index.chunk_words import is_piece_name, list_runs, split_words
from assay.attribution.index.indexed_texts import IndexedTexts
from assay.attribution.index.text_differences import (
    IndexDefect,
    IndexDefectKind,
    contains_section,
    detect_by_metadata,
    detect_by_order,
    find_at_ends,
    is_cut_word,
    split_lines,
)
from assay.records.counts import format_count
from assay.records.golden_set import CorpusChunk
from assay.records.observations import Chunk
from assay.text.claims.passages import quote_difference
from assay.text.tokens import tokenise_text

_MIN_COUNT = 3
"""The minimum number of chunks to judge a kind of chunk by, and of words to recognise the text of another chunk by."""
_MIN_SHARED_WORDS = 0.5
"""The minimum share of a chunk's words that a changed text must keep to count as another wording of it."""
_MIN_REPEATED = 0.5
"""The share of a text's words in runs that other texts of the index have too, from which on it is none of its own."""
_MAX_COMPARED = 2000
"""How many changed chunks are compared with each other."""


class IndexDefects(Struct):
    """The defects of the texts of an index, each looked for when it is asked for first."""

    texts: IndexedTexts
    _damage: dict[str, IndexDefect | None] = field(default_factory=dict)
    _repeated_runs: Counter[tuple[str, ...]] | None = None
    _kinds: set[IndexDefectKind] | None = None

    def forget(self) -> None:
        """Forget what was found, because the texts have changed."""
        self._damage.clear()
        self._kinds = None
        self._repeated_runs = None

    def find_defect(self, chunk_id: str) -> IndexDefect | None:
        """Return what is wrong with the indexed text of a chunk of the corpus, None if no defect is known."""
        if chunk_id not in self._damage:
            self._damage[chunk_id] = self._detect(chunk_id)
        return self._damage[chunk_id]

    def _detect(self, chunk_id: str) -> IndexDefect | None:
        corpus_chunk = self.texts.corpus.chunks.get(chunk_id)
        if corpus_chunk is None or chunk_id in self.texts.intact:
            return None
        chunk = self.texts.changed.get(chunk_id)
        if chunk is None:
            return (
                self._detect_pieces(corpus_chunk)
                or self._detect_merged(corpus_chunk)
                or self._detect_by_kind(corpus_chunk)
            )
        has_texts = chunk.text is not None and corpus_chunk.text is not None
        defect = self._detect_by_text(chunk, corpus_chunk) if has_texts else None
        if defect is None or defect.kind == "unclear":
            defect = detect_by_metadata(chunk, corpus_chunk) or defect
        if defect is None and self._list_pieces(corpus_chunk):
            piece = self._list_pieces(corpus_chunk)[0]
            return IndexDefect("chunking", f"{chunk_id} is indexed with another text, next to {piece}")
        return defect or self._detect_by_hash(chunk_id)

    def _detect_by_text(self, chunk: Chunk, corpus_chunk: CorpusChunk) -> IndexDefect | None:
        """Compare the words: cut off, merged, partly lost or reworded. Line breaks may differ."""
        expected_lines, indexed = split_lines(corpus_chunk.text), tokenise_text(chunk.text or "")
        expected = [word for line in expected_lines for word in line]
        lost, added = Counter(expected) - Counter(indexed), Counter(indexed) - Counter(expected)
        texts = (chunk.text or "", corpus_chunk.text or "") if added else (corpus_chunk.text or "", chunk.text or "")
        name, words = chunk.chunk_id, quote_difference(*texts)
        if not lost and not added:
            return detect_by_order(name, expected_lines, indexed)
        if added:
            neighbour_words: set[str] = set()
            for neighbour in self.texts.documents[corpus_chunk.document]:
                if neighbour is not corpus_chunk:
                    neighbour_words.update(split_words(neighbour))
            if added.keys() <= neighbour_words and len(added) >= _MIN_COUNT:
                return IndexDefect("chunking", f"{name} also contains text of other chunks: “{words}”")
            foreign = self._detect_foreign_words(corpus_chunk, added, lost, indexed, words)
            if foreign is not None:
                return foreign
            shared = 1 - lost.total() / len(expected) if expected else 0.0
            return self._detect_rewording(corpus_chunk, shared, indexed, words)
        # Only lost words are left. A text that starts or ends inside a line was cut; one without whole lines was parsed
        # wrongly, unless the lines are in another chunk.
        start = find_at_ends(indexed, expected)
        line_ends = set(accumulate(map(len, expected_lines), initial=0))
        pieces = self._list_pieces(corpus_chunk)
        if start is not None and not {start, start + len(indexed)} <= line_ends:
            if start == 0 and chunk.text_hash is None and not pieces:
                return IndexDefect("unclear", f"{name} is shown as an excerpt or was cut off: “{words}” is missing")
            return IndexDefect("chunking", f"{name} is cut off inside a line: it lacks “{words}”")
        if pieces:
            return IndexDefect("chunking", f"{name} lacks a part, next to {pieces[0]}: “{words}”")
        # Whole lines at an end may be in a chunk that no trace shows.
        also: tuple[Literal["chunking"], ...] = ("chunking",) if start is not None else ()
        return IndexDefect("parser", f"{name} is indexed without “{words}”", also)

    def _detect_rewording(
        self, corpus_chunk: CorpusChunk, shared: float, indexed: list[str], quoted: str
    ) -> IndexDefect:
        """Tell what a text with other words is, of which a chunk keeps this share of its own."""
        name = corpus_chunk.chunk_id
        repeated = self._count_repetitions(indexed) if shared < _MIN_SHARED_WORDS else 0
        if repeated:
            fact = f"{name} and {repeated} other chunks are indexed with the same text, which no document has"
            return IndexDefect("parser", f"{fact}: “{quoted}”", ("stale_index",))
        if shared < _MIN_SHARED_WORDS:
            return IndexDefect("unclear", f"{name} has another wording: “{quoted}”")
        version = self._find_version_with_text(corpus_chunk, indexed)
        if version is not None:
            return IndexDefect("stale_index", f"{name} has the text of version {version}")
        # A page that is read wrongly has other words too.
        return IndexDefect("stale_index", f"{name} has another wording: “{quoted}”", ("parser",))

    def _detect_foreign_words(
        self, corpus_chunk: CorpusChunk, added: Counter[str], lost: Counter[str], indexed: list[str], quoted: str
    ) -> IndexDefect | None:
        """Tell words that break off, as at a margin, and those of a chunk of another document from another wording."""
        name = corpus_chunk.chunk_id
        if all(is_cut_word(word, lost) for word in added):
            return IndexDefect("parser", f"{name} has words that break off: “{quoted}”", ("chunking",))
        owner = self._find_owner_of_added(corpus_chunk, added, indexed)
        if owner is not None:
            return IndexDefect("chunking", f"{name} also contains text of {owner}: “{quoted}”", ("parser",))
        return None

    def _find_owner_of_added(self, corpus_chunk: CorpusChunk, added: Counter[str], indexed: list[str]) -> str | None:
        """Return a chunk of another document of which the indexed text has a run of words that its own text lacks.

        Sheets of one kind share their lines, so that most words of the run must be added ones.
        """
        for run in list_runs(indexed):
            if sum(word in added for word in run) < _MIN_COUNT:
                continue
            owner = self.texts.list_owners().get(run)
            if owner is not None and self.texts.corpus.chunks[owner].document != corpus_chunk.document:
                return owner
        return None

    def _count_repetitions(self, indexed: list[str]) -> int:
        """Return how many other chunks that are indexed with another text have most of these words in the same runs,
        which no chunk of the corpus has: 0 if fewer than two."""
        if self._repeated_runs is None:
            owners = self.texts.list_owners()
            self._repeated_runs = Counter()
            for chunk in islice(self.texts.changed.values(), _MAX_COMPARED):
                runs = set(list_runs(tokenise_text(chunk.text or "")))
                self._repeated_runs.update(run for run in runs if run not in owners)
        counts = [self._repeated_runs[run] for run in set(list_runs(indexed))]
        shared = [count for count in counts if count >= _MIN_COUNT]
        return min(shared) - 1 if len(shared) >= _MIN_REPEATED * len(counts) and shared else 0

    def _find_version_with_text(self, corpus_chunk: CorpusChunk, words: list[str]) -> str | None:
        """Return another version of a chunk's document of which a chunk has these words, in this order."""
        for other in self.texts.documents[corpus_chunk.document]:
            if other.version != corpus_chunk.version and split_words(other) == words:
                return other.version
        return None

    def _list_pieces(self, corpus_chunk: CorpusChunk) -> list[str]:
        """Return the chunks of the same section of the same document that the corpus does not contain."""
        pieces = []
        for name, chunk in self.texts.unknown_chunks.get(corpus_chunk.document or "", {}).items():
            section = (chunk.metadata or {}).get("section")
            if corpus_chunk.section is None or section in (None, corpus_chunk.section):
                pieces.append(name)
        return pieces

    def _detect_pieces(self, corpus_chunk: CorpusChunk) -> IndexDefect | None:
        """Whether the index has pieces of a chunk, which splitters name after it."""
        for name in self.texts.unknown_chunks.get(corpus_chunk.document or "", {}):
            if is_piece_name(name, corpus_chunk.chunk_id):
                return IndexDefect("chunking", f"{corpus_chunk.chunk_id} is indexed in pieces, such as {name}")
        return None

    def _detect_merged(self, corpus_chunk: CorpusChunk) -> IndexDefect | None:
        """Whether a chunk that no trace shows is part of another chunk of its document, by text or section."""
        words = f" {' '.join(split_words(corpus_chunk))} "
        for name, chunk in (
            self.texts.changed | self.texts.unknown_chunks.get(corpus_chunk.document or "", {})
        ).items():
            fields = chunk.metadata or {}
            other = self.texts.corpus.chunks.get(name)
            if (other.document if other is not None else fields.get("document")) != corpus_chunk.document:
                continue
            if other is not None and (other.version != corpus_chunk.version or other.section == fields.get("section")):
                continue
            is_inside = corpus_chunk.text and chunk.text and words in f" {' '.join(tokenise_text(chunk.text))} "
            if is_inside or contains_section(fields.get("section"), corpus_chunk.section):
                return IndexDefect("chunking", f"{corpus_chunk.chunk_id} is not indexed; its text is part of {name}")
        return None

    def _detect_by_kind(self, corpus_chunk: CorpusChunk) -> IndexDefect | None:
        """Infer the defect of a chunk that no trace shows if all shown chunks of its kind have the same defect."""
        kind = corpus_chunk.kind
        same_kind = [
            name for name in (*self.texts.intact, *self.texts.changed) if self.texts.corpus.chunks[name].kind == kind
        ]
        if kind is None or len(same_kind) < _MIN_COUNT or any(name in self.texts.intact for name in same_kind):
            return None
        defects = [self.find_defect(name) for name in same_kind]
        defect_kinds = {defect.kind for defect in defects if defect is not None}
        if len(defect_kinds) != 1 or "unclear" in defect_kinds:
            return None
        damaged = format_count(len(same_kind), "chunk")
        fact = f"no list of the run has {corpus_chunk.chunk_id}; they have {damaged} of its kind ({kind}), all damaged"
        return IndexDefect(defect_kinds.pop(), fact)

    def _detect_by_hash(self, chunk_id: str) -> IndexDefect | None:
        """Infer the defect of a chunk of which only the hash has changed, if all other changed chunks have the same.

        If no hash of the run equals that of the corpus, the target hashes something else, and hashes show nothing.
        """
        if self._kinds is None:
            changed = [chunk for chunk in self.texts.changed.values() if chunk.text is not None]
            defects = [self._detect_by_text(chunk, self.texts.corpus.chunks[chunk.chunk_id]) for chunk in changed]
            self._kinds = {defect.kind for defect in defects if defect is not None}
        if len(self._kinds) == 1:
            (kind,) = self._kinds
            return IndexDefect(kind, f"{chunk_id} is indexed with another text, as other chunks are")
        if not self._kinds and not self.texts.hashes_agree:
            return None
        return IndexDefect("unclear", f"{chunk_id} is indexed with another text, which the trace does not show")
