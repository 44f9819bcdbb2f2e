"""What the traces of a run show of the index: which chunks it holds, and defects of their indexed texts.

One trace shows only a few chunks, often without text; all traces of a run together show how the index was built. They
are compared with the corpus, so a corpus is required.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

from assay.metrics.cases.access_rules import Access, parse_day, read_corpus_access
from assay.records.counts import format_count
from assay.records.digest import compute_text_digest
from assay.records.golden_set import Corpus, CorpusChunk, User
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation
from assay.text.claims.passages import quote_difference
from assay.text.tokens import is_stop_word, tokenise_text

_MIN_COUNT = 3
"""The minimum number of chunks to judge a kind of chunk by, and of words to recognise the text of another chunk by."""
_MIN_SHARED_WORDS = 0.5
"""The minimum share of a chunk's words that a changed text must keep to count as another wording of it."""
_MIN_DOCUMENTS_SHOWN = 0.8
"""The minimum share of the other documents that a run must show before a document counts as missing."""
_GRAM = 5
"""The length in words of the runs by which a piece of a chunk is recognised."""
_FREQUENT = 0.25
"""From which share of the chunks on a word does not tell them apart."""
_MIN_CITED_CONTEXTS = 10
"""From how many cited contexts on it tells something that nearly all are cited as a whole."""
_MIN_WHOLLY_CITED = 0.9
_MIN_TRACES = 10
"""From how many traces of a user on it tells something that none of them shows a chunk."""
_MIN_REPEATED = 0.5
"""The share of a text's words in runs that other texts of the index have too, from which on it is none of its own."""
_MAX_COMPARED = 2000
"""How many changed chunks are compared with each other."""
_AccessKey = tuple[str | None, tuple[str, ...]]
"""A tenant, and roles in order."""
IndexDefectKind = Literal["parser", "chunking", "stale_index", "unclear"]


class IndexDefect(NamedTuple):
    """What is wrong with the indexed text of a chunk: the part that caused it, the fact that shows it, and the other
    parts that would explain this fact."""

    kind: IndexDefectKind
    evidence: str
    also: tuple[Literal["parser", "chunking", "stale_index"], ...] = ()


class IndexView(Struct):
    """The index as the traces of a run show it.

    `intact` and `changed` are chunks whose text equals or differs from that of the corpus; `unknown_chunks` are
    chunks that the corpus does not contain, by document. `returned` is whether any stage of any trace returned a
    chunk, and `served_users` are the users (tenant and roles) for whom one did. `shown` are all chunks of the traces,
    `shown_to` the users for whom each was, `asked_by` the traces of each user, and `matches` the words that a query
    shared with a chunk which a first search returned for it; `queried` counts the queries that have a word.
    `asked_by_words` are the queries that share a telling word with the corpus, `found_by_words` those for which the
    first search returned a chunk with the rarest of them. `texts` are the texts of the shown chunks, kept only where
    there is no corpus to compare them with. `largest_stages` are the most chunks that a stage of each name had.
    `cited_contexts` are contexts of several chunks of which the answer cites any, `wholly_cited_contexts` those of
    which it cites every chunk. `kept_shown_to` are the users for whom chunks of each kind of restricted access were
    shown, `kept_expected` the chunks of that kind that the cases of each user need. `case_ids` are the cases of the
    traces, fewer than `observations` where cases are repeated.
    """

    corpus: Corpus
    observations: int = 0
    case_ids: set[str] = field(default_factory=set)
    intact: set[str] = field(default_factory=set)
    changed: dict[str, Chunk] = field(default_factory=dict)
    unknown_chunks: dict[str, dict[str, Chunk]] = field(default_factory=dict)
    versions: set[tuple[str | None, str | None]] = field(default_factory=set)
    newest: date = date.min
    context_sizes: list[int] = field(default_factory=list)
    largest_stages: dict[str, int] = field(default_factory=dict)
    cited_contexts: int = 0
    wholly_cited_contexts: int = 0
    hashes_agree: bool = False
    returned: bool = False
    shown: set[str] = field(default_factory=set)
    matches: set[frozenset[str]] = field(default_factory=set)
    queried: Counter[str] = field(default_factory=Counter)
    asked_by_words: int = 0
    found_by_words: int = 0
    served_users: set[tuple[str | None, tuple[str, ...]]] = field(default_factory=set)
    shown_to: dict[str, set[tuple[str | None, tuple[str, ...]]]] = field(default_factory=dict)
    asked_by: Counter[tuple[str | None, tuple[str, ...]]] = field(default_factory=Counter)
    kept_shown_to: dict[_AccessKey, set[_AccessKey]] = field(default_factory=dict)
    kept_expected: dict[tuple[_AccessKey, _AccessKey], set[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    _access_keys: dict[str, _AccessKey | None] = field(default_factory=dict)
    _pieces: dict[str, list[str]] | None = None
    _owners: dict[tuple[str, ...], str] | None = None
    _frequent_words: frozenset[str] | None = None
    _documents: dict[str | None, list[CorpusChunk]] = field(default_factory=dict)
    _damage: dict[str, IndexDefect | None] = field(default_factory=dict)
    _repeated_runs: Counter[tuple[str, ...]] | None = None
    _shown_by_word: dict[str, list[str]] | None = None
    _word_counts: Counter[str] | None = None
    _kinds: set[IndexDefectKind] | None = None

    def __post_init__(self) -> None:
        for chunk in self.corpus.chunks.values():
            self._documents.setdefault(chunk.document, []).append(chunk)

    def add_observation(
        self, observation: Observation, user: User | None = None, needed_ids: Iterable[str] = ()
    ) -> None:
        """Add the trace of one observation, who asked, and the chunks that the case needs by their ids."""
        self.observations += 1
        self.case_ids.add(observation.case_id)
        stages = observation.stages or ()
        user_key = _make_user_key(user)
        self.asked_by[user_key] += 1
        if any(stage.chunks for stage in stages):
            self.served_users.add(user_key)
        for chunk_id in needed_ids:
            access_key = self._get_access_key(chunk_id)
            if access_key is not None:
                self.kept_expected.setdefault((access_key, user_key), set()).add(chunk_id)
        if stages:
            self._add_matched_words(observation.query_rewrite or observation.question or "", stages[0].chunks)
        self._damage.clear()
        self._kinds = None
        self._pieces = None
        self._repeated_runs = None
        self._shown_by_word = None
        for stage in observation.stages or ():
            self.largest_stages[stage.name] = max(self.largest_stages.get(stage.name, 0), len(stage.chunks))
            if stage.name == CONTEXT_STAGE:
                self.context_sizes.append(len(stage.chunks))
                self._count_citations(stage.chunks, observation.citations or ())
            self.returned = self.returned or bool(stage.chunks)
            for chunk in stage.chunks:
                self.shown.add(chunk.chunk_id)
                self.shown_to.setdefault(chunk.chunk_id, set()).add(user_key)
                access_key = self._get_access_key(chunk.chunk_id)
                if access_key is not None:
                    self.kept_shown_to.setdefault(access_key, set()).add(user_key)
                if not self.corpus.chunks and chunk.text is not None:
                    self.texts.setdefault(chunk.chunk_id, chunk.text)
                self._add(chunk)

    def _count_citations(self, context: Sequence[Chunk], citations: Sequence[str]) -> None:
        names = {chunk.chunk_id for chunk in context}
        if len(names) > 1 and not names.isdisjoint(citations):
            self.cited_contexts += 1
            self.wholly_cited_contexts += names <= set(citations)

    @property
    def is_cited_wholesale(self) -> bool:
        """Whether the answers of the run cite their whole contexts, so that a citation says nothing of its claim."""
        is_telling = self.cited_contexts >= _MIN_CITED_CONTEXTS
        return is_telling and self.wholly_cited_contexts >= _MIN_WHOLLY_CITED * self.cited_contexts

    def _add_matched_words(self, query: str, chunks: Sequence[Chunk]) -> None:
        query_words = self._keep_telling_words(tokenise_text(query))
        self.queried.update(query_words)
        shared_words: set[str] = set()
        for chunk in chunks:
            corpus_chunk = self.corpus.chunks.get(chunk.chunk_id)
            text = chunk.text if chunk.text is not None or corpus_chunk is None else corpus_chunk.text
            shared = query_words & _collect_words(text or "")
            if shared:
                self.matches.add(shared)
                shared_words |= shared
        counts = {word: self._count_words()[word] for word in query_words if word in self._count_words()}
        rarest = {word for word, count in counts.items() if count == min(counts.values())}
        self.asked_by_words += bool(rarest)
        self.found_by_words += not rarest.isdisjoint(shared_words)

    def _list_frequent_words(self) -> frozenset[str]:
        """Return the words of more than a quarter of the corpus; a search hardly counts them."""
        if self._frequent_words is None:
            limit = max(_MIN_COUNT, len(self.corpus.chunks) * _FREQUENT)
            self._frequent_words = frozenset(word for word, count in self._count_words().items() if count > limit)
        return self._frequent_words

    def _count_words(self) -> Counter[str]:
        """Return in how many chunks of the corpus each word is; counted once."""
        if self._word_counts is None:
            texts = map(_split_words, self.corpus.chunks.values())
            self._word_counts = Counter(word for words in texts for word in set(words))
        return self._word_counts

    @property
    def finds_by_words(self) -> bool:
        """Whether the first search of most queries returns a chunk with the rarest word that query and corpus share."""
        return 2 * self.found_by_words >= self.asked_by_words

    def find_telling_words(self, query: str, texts: Sequence[str]) -> frozenset[str]:
        """Return the words that a query shares with texts, without those of grammar and those that much of the corpus
        has."""
        words = {word for text in texts for word in tokenise_text(text)}
        return self._keep_telling_words(words.intersection(tokenise_text(query)))

    def _keep_telling_words(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(word for word in words if not is_stop_word(word)) - self._list_frequent_words()

    def find_matched_words(self, words: frozenset[str]) -> frozenset[str]:
        """Return those of these words by which a first search of the run returned a chunk that shares nothing else with
        its query; none if no search did."""
        return frozenset().union(*(shared for shared in self.matches if shared <= words))

    def is_matched(self, words: frozenset[str]) -> bool:
        """Whether a first search of the run returned a chunk that shares nothing with its query but these words."""
        return any(shared <= words for shared in self.matches)

    def find_indexed_with(self, words: frozenset[str], chunk_ids: Sequence[str]) -> str | None:
        """Return a chunk with one of these words that some list of the run has, so that the index has it as well; None
        if these chunks alone have them."""
        others = {chunk_id for word in words for chunk_id in self._list_shown_with(word)} - set(chunk_ids)
        return min(others, default=None)

    def _list_shown_with(self, word: str) -> list[str]:
        """Return the chunks of the corpus with a word that the traces show; the words are indexed when first asked."""
        if self._shown_by_word is None:
            self._shown_by_word = {}
            for chunk_id in sorted(self.shown & self.corpus.chunks.keys()):
                for shown_word in set(_split_words(self.corpus.chunks[chunk_id])):
                    self._shown_by_word.setdefault(shown_word, []).append(chunk_id)
        return self._shown_by_word.get(word, [])

    def is_tried_again(self, words: frozenset[str]) -> bool:
        """Whether more than one query of the run has one of these words."""
        return any(self.queried[word] > 1 for word in words)

    def is_shown(self, chunk_id: str) -> bool:
        """Whether any stage of any trace has a chunk."""
        return chunk_id in self.shown

    def count_shown_chunks(self) -> int:
        """Return how many chunks of the corpus any stage of any trace has."""
        return len(self.shown & self.corpus.chunks.keys())

    def shows_document_of(self, chunk_ids: Sequence[str]) -> bool:
        """Whether any stage of any trace has a chunk of a document that one of these chunks is of."""
        owners = [self.corpus.chunks[chunk_id] for chunk_id in chunk_ids if chunk_id in self.corpus.chunks]
        documents = {owner.document for owner in owners} - {None}  # chunks of no known document have none in common
        return any(chunk.chunk_id in self.shown for document in documents for chunk in self._documents[document])

    def list_documents(self, chunk_ids: Sequence[str]) -> list[str]:
        """Return the documents of more than one chunk that these chunks are of."""
        owners = [self.corpus.chunks[chunk_id] for chunk_id in chunk_ids if chunk_id in self.corpus.chunks]
        names = dict.fromkeys(owner.document for owner in owners if owner.document is not None)
        return [name for name in names if len(self._documents[name]) > 1]

    def has_read(self, chunk_id: str) -> bool:
        """Whether a trace shows the text of a chunk that is not the corpus's."""
        chunk = self.changed.get(chunk_id)
        return chunk is not None and chunk.text is not None

    @property
    def has_texts(self) -> bool:
        """Whether any trace shows how a chunk of the corpus is indexed, by its text or hash."""
        return bool(self.intact or self.changed)

    def list_shown_pieces(self, chunk_id: str) -> list[str]:
        """Return the chunks of the traces that are named as pieces of a chunk."""
        return self._group_pieces().get(chunk_id, [])

    @property
    def has_pieces(self) -> bool:
        """Whether any chunk of the traces is named as a piece of another."""
        return bool(self._group_pieces())

    def _group_pieces(self) -> dict[str, list[str]]:
        if self._pieces is None:
            self._pieces = {}
            for name in sorted(self.shown):
                for length in range(1, len(name)):
                    if name[:length] in self.shown and is_piece_name(name, name[:length]):
                        self._pieces.setdefault(name[:length], []).append(name)
        return self._pieces

    def is_served(self, user: User | None) -> bool:
        """Whether any trace of a user with the same tenant and roles has a chunk."""
        return _make_user_key(user) in self.served_users

    def is_hidden_from(self, user: User | None, chunk_ids: Sequence[str]) -> bool:
        """Whether the run shows chunks to users with another tenant or other roles, and in none of many traces of users
        with these."""
        viewers = {viewer for chunk_id in chunk_ids for viewer in self.shown_to.get(chunk_id, ())}
        own = _make_user_key(user)
        return bool(viewers) and own not in viewers and self.asked_by[own] >= _MIN_TRACES

    def _get_access_key(self, chunk_id: str) -> _AccessKey | None:
        """Return the kind of access to a chunk, None if the corpus keeps it for nobody."""
        if chunk_id not in self._access_keys:
            corpus_chunk = self.corpus.chunks.get(chunk_id)
            access = read_corpus_access(corpus_chunk) if corpus_chunk is not None else None
            is_kept = access is not None and is_kept_for_some(access)
            self._access_keys[chunk_id] = _make_access_key(access) if access is not None and is_kept else None
        return self._access_keys[chunk_id]

    def shows_kept(self, access: Access, user: User | None) -> bool:
        """Whether any trace of a user with the same tenant and roles shows a chunk with this access; without a user,
        any trace."""
        viewers = self.kept_shown_to.get(_make_access_key(access), set())
        return bool(viewers) if user is None else _make_user_key(user) in viewers

    def count_expected(self, access: Access, user: User | None) -> int:
        """Return how many chunks with this access the cases of users with the same tenant and roles need."""
        return len(self.kept_expected.get((_make_access_key(access), _make_user_key(user)), ()))

    def _add(self, chunk: Chunk) -> None:
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
            return document if document in self._documents else None
        for length in range(len(chunk.chunk_id) - 1, 0, -1):
            owner = self.corpus.chunks.get(chunk.chunk_id[:length])
            if owner is not None and is_piece_name(chunk.chunk_id, owner.chunk_id):
                return owner.document
        words = tokenise_text(chunk.text or "")
        for run in _list_runs(words):
            name = self._list_owners().get(run)
            if name is not None:
                return self.corpus.chunks[name].document
        return None

    def _list_owners(self) -> dict[tuple[str, ...], str]:
        """Return the first chunk of the corpus that has each run of words; made when it is needed first."""
        if self._owners is None:
            self._owners = {}
            for chunk in self.corpus.chunks.values():
                for run in _list_runs(_split_words(chunk)):
                    self._owners.setdefault(run, chunk.chunk_id)
        return self._owners

    @property
    def production_k(self) -> int:
        """The usual number of chunks that the generator is shown: the median context size; 0 if none was reported."""
        sizes = sorted(self.context_sizes)
        return sizes[(len(sizes) - 1) // 2] if sizes else 0

    def is_unknown_chunk(self, chunk_id: str) -> bool:
        """Whether a trace showed this chunk of a known document although the corpus does not contain it."""
        return any(chunk_id in chunks for chunks in self.unknown_chunks.values())

    def find_defect(self, chunk_id: str) -> IndexDefect | None:
        """Return what is wrong with the indexed text of a chunk of the corpus, None if no defect is known."""
        if chunk_id not in self._damage:
            self._damage[chunk_id] = self._detect(chunk_id)
        return self._damage[chunk_id]

    def _detect(self, chunk_id: str) -> IndexDefect | None:
        corpus_chunk = self.corpus.chunks.get(chunk_id)
        if corpus_chunk is None or chunk_id in self.intact:
            return None
        chunk = self.changed.get(chunk_id)
        if chunk is None:
            return (
                self._detect_pieces(corpus_chunk)
                or self._detect_merged(corpus_chunk)
                or self._detect_by_kind(corpus_chunk)
            )
        has_texts = chunk.text is not None and corpus_chunk.text is not None
        defect = self._detect_by_text(chunk, corpus_chunk) if has_texts else None
        if defect is None or defect.kind == "unclear":
            defect = _detect_by_metadata(chunk, corpus_chunk) or defect
        if defect is None and self._list_pieces(corpus_chunk):
            piece = self._list_pieces(corpus_chunk)[0]
            return IndexDefect("chunking", f"{chunk_id} is indexed with another text, next to {piece}")
        return defect or self._detect_by_hash(chunk_id)

    def _detect_by_text(self, chunk: Chunk, corpus_chunk: CorpusChunk) -> IndexDefect | None:
        """Compare the words: cut off, merged, partly lost or reworded. Line breaks may differ."""
        expected_lines, indexed = _split_lines(corpus_chunk.text), tokenise_text(chunk.text or "")
        expected = [word for line in expected_lines for word in line]
        lost, added = Counter(expected) - Counter(indexed), Counter(indexed) - Counter(expected)
        texts = (chunk.text or "", corpus_chunk.text or "") if added else (corpus_chunk.text or "", chunk.text or "")
        name, words = chunk.chunk_id, quote_difference(*texts)
        if not lost and not added:
            return _detect_by_order(name, expected_lines, indexed)
        if added:
            neighbour_words: set[str] = set()
            for neighbour in self._documents[corpus_chunk.document]:
                if neighbour is not corpus_chunk:
                    neighbour_words.update(_split_words(neighbour))
            if added.keys() <= neighbour_words and len(added) >= _MIN_COUNT:
                return IndexDefect("chunking", f"{name} also contains text of other chunks: “{words}”")
            foreign = self._detect_foreign_words(corpus_chunk, added, lost, indexed, words)
            if foreign is not None:
                return foreign
            shared = 1 - lost.total() / len(expected) if expected else 0.0
            return self._detect_rewording(corpus_chunk, shared, indexed, words)
        # Only lost words are left. A text that starts or ends inside a line was cut; one without whole lines was parsed
        # wrongly, unless the lines are in another chunk.
        start = _find_at_ends(indexed, expected)
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
        if all(_is_cut_word(word, lost) for word in added):
            return IndexDefect("parser", f"{name} has words that break off: “{quoted}”", ("chunking",))
        owner = self._find_owner_of_added(corpus_chunk, added, indexed)
        if owner is not None:
            return IndexDefect("chunking", f"{name} also contains text of {owner}: “{quoted}”", ("parser",))
        return None

    def _find_owner_of_added(self, corpus_chunk: CorpusChunk, added: Counter[str], indexed: list[str]) -> str | None:
        """Return a chunk of another document of which the indexed text has a run of words that its own text lacks.

        Sheets of one kind share their lines, so that most words of the run must be added ones.
        """
        for run in _list_runs(indexed):
            if sum(word in added for word in run) < _MIN_COUNT:
                continue
            owner = self._list_owners().get(run)
            if owner is not None and self.corpus.chunks[owner].document != corpus_chunk.document:
                return owner
        return None

    def _count_repetitions(self, indexed: list[str]) -> int:
        """Return how many other chunks that are indexed with another text have most of these words in the same runs,
        which no chunk of the corpus has: 0 if fewer than two."""
        if self._repeated_runs is None:
            owners = self._list_owners()
            self._repeated_runs = Counter()
            for chunk in islice(self.changed.values(), _MAX_COMPARED):
                runs = set(_list_runs(tokenise_text(chunk.text or "")))
                self._repeated_runs.update(run for run in runs if run not in owners)
        counts = [self._repeated_runs[run] for run in set(_list_runs(indexed))]
        shared = [count for count in counts if count >= _MIN_COUNT]
        return min(shared) - 1 if len(shared) >= _MIN_REPEATED * len(counts) and shared else 0

    def _find_version_with_text(self, corpus_chunk: CorpusChunk, words: list[str]) -> str | None:
        """Return another version of a chunk's document of which a chunk has these words, in this order."""
        for other in self._documents[corpus_chunk.document]:
            if other.version != corpus_chunk.version and _split_words(other) == words:
                return other.version
        return None

    def _list_pieces(self, corpus_chunk: CorpusChunk) -> list[str]:
        """Return the chunks of the same section of the same document that the corpus does not contain."""
        pieces = []
        for name, chunk in self.unknown_chunks.get(corpus_chunk.document or "", {}).items():
            section = (chunk.metadata or {}).get("section")
            if corpus_chunk.section is None or section in (None, corpus_chunk.section):
                pieces.append(name)
        return pieces

    def _detect_pieces(self, corpus_chunk: CorpusChunk) -> IndexDefect | None:
        """Whether the index has pieces of a chunk, which splitters name after it."""
        for name in self.unknown_chunks.get(corpus_chunk.document or "", {}):
            if is_piece_name(name, corpus_chunk.chunk_id):
                return IndexDefect("chunking", f"{corpus_chunk.chunk_id} is indexed in pieces, such as {name}")
        return None

    def _detect_merged(self, corpus_chunk: CorpusChunk) -> IndexDefect | None:
        """Whether a chunk that no trace shows is part of another chunk of its document, by text or section."""
        words = f" {' '.join(_split_words(corpus_chunk))} "
        for name, chunk in (self.changed | self.unknown_chunks.get(corpus_chunk.document or "", {})).items():
            fields = chunk.metadata or {}
            other = self.corpus.chunks.get(name)
            if (other.document if other is not None else fields.get("document")) != corpus_chunk.document:
                continue
            if other is not None and (other.version != corpus_chunk.version or other.section == fields.get("section")):
                continue
            is_inside = corpus_chunk.text and chunk.text and words in f" {' '.join(tokenise_text(chunk.text))} "
            if is_inside or _contains_section(fields.get("section"), corpus_chunk.section):
                return IndexDefect("chunking", f"{corpus_chunk.chunk_id} is not indexed; its text is part of {name}")
        return None

    def _detect_by_kind(self, corpus_chunk: CorpusChunk) -> IndexDefect | None:
        """Infer the defect of a chunk that no trace shows if all shown chunks of its kind have the same defect."""
        kind = corpus_chunk.kind
        same_kind = [name for name in (*self.intact, *self.changed) if self.corpus.chunks[name].kind == kind]
        if kind is None or len(same_kind) < _MIN_COUNT or any(name in self.intact for name in same_kind):
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
            changed = [chunk for chunk in self.changed.values() if chunk.text is not None]
            defects = [self._detect_by_text(chunk, self.corpus.chunks[chunk.chunk_id]) for chunk in changed]
            self._kinds = {defect.kind for defect in defects if defect is not None}
        if len(self._kinds) == 1:
            (kind,) = self._kinds
            return IndexDefect(kind, f"{chunk_id} is indexed with another text, as other chunks are")
        if not self._kinds and not self.hashes_agree:
            return None
        return IndexDefect("unclear", f"{chunk_id} is indexed with another text, which the trace does not show")

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


def is_kept_for_some(access: Access) -> bool:
    """Return whether a chunk is for users of a tenant or with a role only."""
    return access.tenant is not None or bool(access.roles)


def _make_access_key(access: Access) -> _AccessKey:
    return access.tenant, tuple(sorted(access.roles))


def _make_user_key(user: User | None) -> tuple[str | None, tuple[str, ...]]:
    return (None, ()) if user is None else (user.tenant, tuple(sorted(user.roles)))


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


def _split_words(chunk: CorpusChunk) -> list[str]:
    return tokenise_text(chunk.text or "")


def _is_cut_word(word: str, lost: Counter[str]) -> bool:
    """Whether a word is the beginning of a longer one that is lost."""
    return any(len(word) < len(whole) and whole.startswith(word) for whole in lost)


def _list_runs(words: list[str]) -> list[tuple[str, ...]]:
    """Return the runs of `_GRAM` words, in order."""
    return [tuple(words[start : start + _GRAM]) for start in range(len(words) - _GRAM + 1)]


def _split_lines(text: str | None) -> list[list[str]]:
    """Return the words of each line that has any."""
    lines = [tokenise_text(line) for line in (text or "").splitlines()]
    return [words for words in lines if words]


def _detect_by_order(name: str, expected_lines: list[list[str]], indexed: list[str]) -> IndexDefect | None:
    """Compare the order of words: a line of the corpus whose words stand apart was read wrongly, as by column."""
    text = f" {' '.join(indexed)} "
    for line in expected_lines:
        if f" {' '.join(line)} " not in text:
            return IndexDefect("parser", f"{name} has its words in another order: “{' '.join(line[:12])}” stand apart")
    return None


def is_piece_name(name: str, whole: str) -> bool:
    """Whether an id names a piece of a chunk, as splitters do: the id of the whole, and a mark that does not extend it.

    >>> [is_piece_name(name, "a:01") for name in ("a:01#2", "a:01b", "a:012", "a:01")]
    [True, True, False, False]
    """
    mark = name[len(whole) :]
    if not mark or not whole or not name.startswith(whole):
        return False
    return not mark[0].isalnum() or (whole[-1].isdigit() and mark[0].isalpha())


def _find_at_ends(part: list[str], words: list[str]) -> int | None:
    """Return the index at which `part` starts if it is the beginning or the end of `words`, else None."""
    if part == words[: len(part)]:
        return 0
    return len(words) - len(part) if part == words[len(words) - len(part) :] else None


def _detect_by_metadata(chunk: Chunk, corpus_chunk: CorpusChunk) -> IndexDefect | None:
    """Compare the reported metadata: more pages or sections, another kind, a lost section heading."""
    fields = chunk.metadata or {}
    section, pages, kind = fields.get("section"), fields.get("pages"), fields.get("kind")
    has_more_pages = isinstance(pages, (list, tuple)) and corpus_chunk.pages and set(pages) > set(corpus_chunk.pages)
    if has_more_pages or (section != corpus_chunk.section and _contains_section(section, corpus_chunk.section)):
        return IndexDefect("chunking", f"{chunk.chunk_id} is indexed with more than its own section")
    if corpus_chunk.kind == "table" and isinstance(kind, str) and kind != "table":
        return IndexDefect("parser", f"{chunk.chunk_id} is a table and is indexed as {kind}")
    heading = corpus_chunk.section
    if heading and isinstance(section, str) and not set(tokenise_text(section)) & set(tokenise_text(heading)):
        return IndexDefect("parser", f"{chunk.chunk_id} has lost its heading {heading!r}")
    return None


def _contains_section(section: Any, name: str | None) -> bool:
    return isinstance(section, str) and bool(name) and str(name) in section


@lru_cache(maxsize=4096)  # the same chunks are found again and again
def _collect_words(text: str) -> frozenset[str]:
    return frozenset(tokenise_text(text))
