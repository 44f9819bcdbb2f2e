"""The words by which the searches of a run find chunks, and those by which they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct, field

from assay.attribution.index.chunk_words import split_words
from assay.records.golden_set import Corpus
from assay.records.observations import Chunk
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
