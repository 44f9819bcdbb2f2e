"""The pipeline of the help desk: two searches over what the user may see, fused, then an answer that chats.

Each step is a function in `Steps`, so that a fault replaces one. Rights and editions are applied before the searches,
no step reranks, and the answer quotes sentences with numbered marks.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assay.records.golden_set import User
from benchmarks.lending.passages import PASSAGES, TODAY, Passage

POOL, SHOWN = 8, 4
THRESHOLD = 0.45
"""The least share of a question's weighted words that a sentence and its heading must have to answer it."""
ABSTAINED = "Sorry, I could not find anything about that in our pages."
DENIED = "Sorry, you do not have permission to see that."
_RRF = 60
_STOP = frozenset(
    "a an and are as at be by can do does for from has have how i in is it its may much many must of on or the there "
    "to up was we what when where which who will with within per after long our you your one".split()
)

Ranking = list[Passage]


class Sentence(NamedTuple):
    """A sentence of a passage with its heading."""

    chunk_id: str
    heading: str
    text: str


class Answer(NamedTuple):
    """What is said, the sentences that it quotes, and whether a fault made it say something else."""

    text: str
    sentences: tuple[Sentence, ...] = ()
    distorted: bool = False


def split_words(text: str) -> list[str]:
    """Return the stems of a text's words, without stop words."""
    words = re.findall(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:-[^\W\d_]+)*", text.lower())
    return [_stem(word) for word in words if word not in _STOP]


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: -len(ending)]
    return word


def embed(text: str) -> Mapping[str, float]:
    """Return a text as a vector of its trigrams, of length 1: a stand-in for a model that sees parts of words."""
    words = re.findall(r"[^\W_]+", text.lower())
    folded = f" {' '.join(words)} "
    counts = Counter(folded[start : start + 3] for start in range(len(folded) - 2))
    norm = math.sqrt(sum(count * count for count in counts.values())) or 1.0
    return {gram: count / norm for gram, count in counts.items()}


def is_visible(passage: Passage, user: User) -> bool:
    """Return whether a user may see a passage."""
    return (not passage.roles or bool(set(passage.roles) & set(user.roles))) and passage.branch in (None, user.tenant)


def is_in_force(passage: Passage) -> bool:
    """Return whether an edition has not expired."""
    return passage.valid_to is None or passage.valid_to > TODAY


def fuse(lists: Sequence[Ranking], limit: int = POOL) -> Ranking:
    """Return the passages of both rankings by reciprocal ranks; those of the vector search, the second, count twice."""
    scores: dict[str, float] = {}
    passages: dict[str, Passage] = {}
    for ranking in (*lists, lists[1]):
        for rank, passage in enumerate(ranking, 1):
            scores[passage.chunk_id] = scores.get(passage.chunk_id, 0.0) + 1 / (_RRF + rank)
            passages[passage.chunk_id] = passage
    return [passages[name] for name in sorted(scores, key=lambda name: (-scores[name], name))][:limit]


def show_best(ranking: Ranking) -> Ranking:
    """Return what the model is shown."""
    return ranking[:SHOWN]


def split_sentences(passage: Passage) -> list[Sentence]:
    """Return the sentences of a passage."""
    pieces = re.split(r"(?<=[.!?])\s+(?=[A-Z])", passage.body)
    return [Sentence(passage.chunk_id, passage.heading, piece) for piece in pieces if piece]


def split_question(question: str) -> list[str]:
    """Return the parts of a question that asks for two things."""
    return re.split(r", and (?=how|what|when|who|where|which)", question)


def compose(question: str, context: Ranking, desk: Desk) -> Answer:
    """Quote the best sentence of the context for each part of the question, or abstain."""
    sentences = desk.choose_sentences(question, context)
    if sentences is None:
        return Answer(ABSTAINED)
    ids = [passage.chunk_id for passage in context]
    quotes = [f"{sentence.text[:-1]} [{ids.index(sentence.chunk_id) + 1}]." for sentence in dict.fromkeys(sentences)]
    return Answer("Happy to help! " + " And: ".join(quotes), tuple(sentences))


def list_citations(answer: Answer, context: Ranking) -> list[str]:
    """Return the ids of the passages that are quoted."""
    return list(dict.fromkeys(sentence.chunk_id for sentence in answer.sentences))


@dataclass(frozen=True)
class Steps:
    """The steps of the pipeline; `prepare` makes what is indexed from the passages of the pages."""

    prepare: Callable[[Sequence[Passage]], Sequence[Passage]] = list
    rewrite: Callable[[str], str] = str.lower
    visible: Callable[[Passage, User], bool] = is_visible
    keyword_visible: Callable[[Passage, User], bool] | None = None
    vector_visible: Callable[[Passage, User], bool] | None = None
    in_force: Callable[[Passage], bool] = is_in_force
    embed_passage: Callable[[str], Mapping[str, float]] = embed
    search: Callable[[str, Ranking], Ranking] = lambda _, ranking: ranking
    fuse: Callable[[Sequence[Ranking]], Ranking] = fuse
    show: Callable[[Ranking], Ranking] = show_best
    compose: Callable[[str, Ranking, Desk], Answer] = compose
    cite: Callable[[Answer, Ranking], list[str]] = list_citations


@dataclass
class Desk:
    """Question answering over the pages of the library."""

    steps: Steps = field(default_factory=Steps)

    def __post_init__(self) -> None:
        self.passages = [passage for passage in self.steps.prepare(PASSAGES) if self.steps.in_force(passage)]
        self.words = {passage.chunk_id: Counter(split_words(passage.text)) for passage in self.passages}
        self.vectors = {passage.chunk_id: self.steps.embed_passage(passage.text) for passage in self.passages}
        self.counts = Counter(word for passage in PASSAGES for word in set(split_words(passage.text)))

    def ask(self, question: str, user: User) -> tuple[dict[str, Any], bool]:
        """Return the observation without its case, and whether a fault distorted the answer."""
        query = self.steps.rewrite(question)
        lists = [self.steps.search(query, ranking) for ranking in self._search(query, user)]
        fused = self.steps.fuse(lists)
        context = self.steps.show(fused)
        answer = self.steps.compose(question, context, self)
        if answer.text == ABSTAINED and self._is_denied(question, user):
            answer = Answer(DENIED)
        stages = {"keyword": lists[0], "vector": lists[1], "fused": fused, "context": context}
        observation = {
            "question": question,
            "query_rewrite": query,
            "stages": [
                {
                    "name": name,
                    "chunks": [{"chunk_id": passage.chunk_id, "text": passage.text} for passage in ranking],
                }
                for name, ranking in stages.items()
            ],
            "answer": answer.text,
            "citations": self.steps.cite(answer, context),
        }
        return observation, answer.distorted

    def weigh(self, word: str) -> float:
        """Return the inverse document frequency of a word."""
        return math.log(1 + len(PASSAGES) / (1 + self.counts[word]))

    def score_words(self, words: Sequence[str], passage: Passage) -> float:
        """Return the score of a passage by the words of a query."""
        counts = self.words[passage.chunk_id]
        return sum(self.weigh(word) * counts[word] / (counts[word] + 1.2) for word in dict.fromkeys(words))

    def score_vector(self, query: Mapping[str, float], passage: Passage) -> float:
        """Return the cosine of a query and a passage."""
        vector = self.vectors[passage.chunk_id]
        return sum(value * vector.get(gram, 0.0) for gram, value in query.items())

    def _search(self, query: str, user: User) -> list[Ranking]:
        is_visible = self.steps.keyword_visible or self.steps.visible
        visible = [passage for passage in self.passages if is_visible(passage, user)]
        is_near = self.steps.vector_visible or self.steps.visible
        near = [passage for passage in self.passages if is_near(passage, user)]
        words, vector = split_words(query), embed(query)
        by_words = {passage.chunk_id: self.score_words(words, passage) for passage in visible}
        by_vector = {passage.chunk_id: self.score_vector(vector, passage) for passage in near}
        matched = [passage for passage in visible if by_words[passage.chunk_id] > 0]
        return [
            sorted(matched, key=lambda passage: -by_words[passage.chunk_id])[:POOL],
            sorted(near, key=lambda passage: -by_vector[passage.chunk_id])[:POOL],
        ]

    def _is_denied(self, question: str, user: User) -> bool:
        hidden = [passage for passage in self.passages if not self.steps.visible(passage, user)]
        return self.choose_sentences(question, hidden) is not None

    def score_sentence(self, part: str, sentence: Sentence) -> float:
        """Return the share (0 to 1) of a question's weighted words that a sentence and its heading have."""
        words = dict.fromkeys(split_words(part))
        own, heading = set(split_words(sentence.text)), set(split_words(sentence.heading))
        weights = {word: self.weigh(word) for word in words}
        hits = sum(
            weight if word in own else 0.5 * weight
            for word, weight in weights.items()
            if word in own or word in heading
        )
        return hits / (sum(weights.values()) or 1.0) if own & set(words) else 0.0

    def choose_sentences(self, question: str, context: Sequence[Passage]) -> list[Sentence] | None:
        """Return the best sentence for each part of a question, None if a part has none."""
        sentences = [sentence for passage in context for sentence in split_sentences(passage)]
        chosen = []
        for part in split_question(question):
            scores = [self.score_sentence(part, sentence) for sentence in sentences]
            if not scores or max(scores) < THRESHOLD:
                return None
            chosen.append(sentences[scores.index(max(scores))])
        return chosen
