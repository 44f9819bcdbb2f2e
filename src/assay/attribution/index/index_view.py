"""What the traces of a run show of the index: the chunks that it holds, who is shown them, and what finds them.

One trace shows only a few chunks, often without text; all traces of a run together show how the index was built. They
are compared with the corpus, so a corpus is required.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct, field

from assay.attribution.index.chunk_words import is_piece_name, split_words
from assay.attribution.index.index_defects import IndexDefects
from assay.attribution.index.indexed_texts import IndexedTexts
from assay.attribution.index.shown_access import ShownAccess
from assay.attribution.index.text_differences import IndexDefect
from assay.records.golden_set import Corpus, User
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation
from assay.text.tokens import is_stop_word, tokenise_text

_FREQUENT = 0.25
"""From which share of the chunks on a word does not tell them apart."""
_MIN_FREQUENT = 3
"""In how many chunks a word must at least be not to tell them apart."""


class SearchedWords(Struct):
    """The words of queries and of what the first search of each returned.

    `matches` are the words that a query shared with a chunk which a first search returned for it; `queried` counts the
    queries that have a word. `asked_by_words` are the queries that share a distinctive word with the corpus,
    `found_by_words` those for which the first search returned a chunk with the rarest of them.
    """

    corpus: Corpus
    matches: set[frozenset[str]] = field(default_factory=set)
    queried: Counter[str] = field(default_factory=Counter)
    asked_by_words: int = 0
    found_by_words: int = 0
    _frequent_words: frozenset[str] | None = None
    _word_counts: Counter[str] | None = None

    def add_search(self, query: str, chunks: Sequence[Chunk]) -> None:
        """Add a query and what the first search returned for it."""
        query_words = self._keep_distinctive_words(tokenise_text(query))
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
            limit = max(_MIN_FREQUENT, len(self.corpus.chunks) * _FREQUENT)
            self._frequent_words = frozenset(word for word, count in self._count_words().items() if count > limit)
        return self._frequent_words

    def _count_words(self) -> Counter[str]:
        """Return in how many chunks of the corpus each word is; counted once."""
        if self._word_counts is None:
            texts = map(split_words, self.corpus.chunks.values())
            self._word_counts = Counter(word for words in texts for word in set(words))
        return self._word_counts

    @property
    def finds_by_words(self) -> bool:
        """Whether the first search of most queries returns a chunk with the rarest word that query and corpus share."""
        return 2 * self.found_by_words >= self.asked_by_words

    def find_distinctive_words(self, query: str, texts: Sequence[str]) -> frozenset[str]:
        """Return the words that a query shares with texts, without those of grammar and those that much of the corpus
        has."""
        words = {word for text in texts for word in tokenise_text(text)}
        return self._keep_distinctive_words(words.intersection(tokenise_text(query)))

    def _keep_distinctive_words(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(word for word in words if not is_stop_word(word)) - self._list_frequent_words()

    def find_matched_words(self, words: frozenset[str]) -> frozenset[str]:
        """Return those of these words by which a first search of the run returned a chunk that shares nothing else with
        its query; none if no search did."""
        return frozenset().union(*(shared for shared in self.matches if shared <= words))

    def is_matched(self, words: frozenset[str]) -> bool:
        """Whether a first search of the run returned a chunk that shares nothing with its query but these words."""
        return any(shared <= words for shared in self.matches)

    def is_tried_again(self, words: frozenset[str]) -> bool:
        """Whether more than one query of the run has one of these words."""
        return any(self.queried[word] > 1 for word in words)


@lru_cache(maxsize=4096)  # the same chunks are found again and again
def _collect_words(text: str) -> frozenset[str]:
    return frozenset(tokenise_text(text))


_MIN_CITED_CONTEXTS = 10
"""From how many cited contexts on it tells something that nearly all are cited as a whole."""
_MIN_WHOLLY_CITED = 0.9


class IndexView:
    """The index as the traces of a run show it.

    `indexed` are its chunks and their texts, `words` those by which it is searched, and `access` who was shown what.
    `returned` is whether any stage of any trace returned a chunk. `shown` are all chunks of the traces; `texts` are
    their texts, kept only where there is no corpus to compare them with. `largest_stages` are the most chunks that a
    stage of each name had. `cited_contexts` are contexts of several chunks of which the answer cites any,
    `wholly_cited_contexts` those of which it cites every chunk. `case_ids` are the cases of the traces, fewer than
    `observations` where cases are repeated.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.indexed = IndexedTexts(corpus)
        self.words = SearchedWords(corpus)
        self.access = ShownAccess(corpus)
        self.observations = 0
        self.case_ids: set[str] = set()
        self.context_sizes: list[int] = []
        self.largest_stages: dict[str, int] = {}
        self.cited_contexts = 0
        self.wholly_cited_contexts = 0
        self.returned = False
        self.shown: set[str] = set()
        self.texts: dict[str, str] = {}
        self._defects = IndexDefects(self.indexed)
        self._pieces: dict[str, list[str]] | None = None
        self._shown_by_word: dict[str, list[str]] | None = None

    def add_observation(
        self, observation: Observation, user: User | None = None, needed_ids: Iterable[str] = (), question: str = ""
    ) -> None:
        """Add the trace of one observation, who asked, and the chunks that the case needs by their ids.

        `question` is that of the golden set, which was searched by where the trace does not repeat it.
        """
        self.observations += 1
        self.case_ids.add(observation.case_id)
        stages = observation.stages or ()
        self.access.add_trace(stages, user, needed_ids)
        if stages:
            query = observation.query_rewrite or observation.question or question
            self.words.add_search(query, stages[0].chunks)
        self._defects.forget()
        self._pieces = None
        self._shown_by_word = None
        for stage in stages:
            self.largest_stages[stage.name] = max(self.largest_stages.get(stage.name, 0), len(stage.chunks))
            if stage.name == CONTEXT_STAGE:
                self.context_sizes.append(len(stage.chunks))
                self._count_citations(stage.chunks, observation.citations or ())
            self.returned = self.returned or bool(stage.chunks)
            for chunk in stage.chunks:
                self.shown.add(chunk.chunk_id)
                if not self.corpus.chunks and chunk.text is not None:
                    self.texts.setdefault(chunk.chunk_id, chunk.text)
                self.indexed.add(chunk)

    def _count_citations(self, context: Sequence[Chunk], citations: Sequence[str]) -> None:
        names = {chunk.chunk_id for chunk in context}
        if len(names) > 1 and not names.isdisjoint(citations):
            self.cited_contexts += 1
            self.wholly_cited_contexts += names <= set(citations)

    @property
    def is_cited_wholesale(self) -> bool:
        """Whether the answers of the run cite their whole contexts, so that a citation says nothing of its claim."""
        has_enough_contexts = self.cited_contexts >= _MIN_CITED_CONTEXTS
        return has_enough_contexts and self.wholly_cited_contexts >= _MIN_WHOLLY_CITED * self.cited_contexts

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
                for shown_word in set(split_words(self.corpus.chunks[chunk_id])):
                    self._shown_by_word.setdefault(shown_word, []).append(chunk_id)
        return self._shown_by_word.get(word, [])

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
        return any(chunk.chunk_id in self.shown for document in documents for chunk in self.indexed.documents[document])

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

    @property
    def production_k(self) -> int:
        """The usual number of chunks that the generator is shown: the median context size; 0 if none was reported."""
        sizes = sorted(self.context_sizes)
        return sizes[(len(sizes) - 1) // 2] if sizes else 0

    def find_defect(self, chunk_id: str) -> IndexDefect | None:
        """Return what is wrong with the indexed text of a chunk of the corpus, None if no defect is known."""
        return self._defects.find_defect(chunk_id)
