"""The pipeline: filter, retrieve, merge, rerank, pack the context, answer or refuse, and report every step."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from examples.handbook.app import access, answering, entities, query
from examples.handbook.app.corpus import read_texts
from examples.handbook.app.faults import apply
from examples.handbook.app.index import Index
from examples.handbook.app.parts import Parts
from examples.handbook.app.query import Question
from examples.handbook.app.ranking import Weighted, weigh
from examples.handbook.app.records import Answer, Chunk, Ranking, User
from examples.handbook.app.trace import Trace, results, shown
from examples.handbook.build_corpus import CHUNKING_STRATEGY, INDEX_VERSION

VECTOR_ONLY, HYBRID_RERANK, ENTITY_LINKED = "vector-only", "hybrid-rerank", "entity-linked"
CONFIGS = (VECTOR_ONLY, HYBRID_RERANK, ENTITY_LINKED)
POOL = 10
"""How many chunks each retriever returns, and how many the merge keeps."""
RERANKED = 8
"""How many of the merged chunks are worth the reranker's time."""
CONTEXT_TOKENS, CONTEXT_CHUNKS = 800, 3
MORE_TO_FOLLOW = 2
"""An answer that follows ids rests on more chunks than one that states a fact."""


@dataclass(frozen=True)
class Found:
    """What retrieval hands to the answerer."""

    question: Question
    asked: Weighted
    ranking: Ranking
    context: list[Chunk]
    hidden: list[Chunk]


class Handbook:
    """Question answering over the handbook in one configuration; safe to use from several threads."""

    def __init__(
        self,
        config: str,
        faults: Sequence[str] = (),
        *,
        parts: Parts | None = None,
        generator: str = "extractive-1",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if config not in CONFIGS:
            raise ValueError(f"unknown configuration {config!r} (expected one of {', '.join(CONFIGS)})")
        self.config = config
        self._clock = clock
        self._parts = apply(faults, parts or Parts())
        documents = self._parts.select([self._parts.parse(text) for text in read_texts()])
        chunks = [chunk for document in documents for chunk in self._parts.chunk(document)]
        self._index = Index(chunks, self._parts.embedder, self._parts.analyze)
        self.versions = {
            "corpus": INDEX_VERSION,
            "index": INDEX_VERSION,
            "chunking": CHUNKING_STRATEGY,
            "embedding": self._parts.embedder.name,
            "generator": generator,
        }
        if config != VECTOR_ONLY:
            self.versions["reranker"] = "lexical-1"

    def search(self, query: str, k: int = 10, user: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the `k` best chunks as `results`, with the trace of how they were found; nothing is answered.

        Raises ValueError for a k below 1 and for an identity with fields of the wrong type.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1 (got {k})")
        trace = Trace(self._clock)
        found = self._retrieve(query, User.of(user), trace)
        return self._report(found, trace) | {"results": results(found.ranking[:k])}

    def ask(self, question: str, user: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer with its citations and the whole trace, in the shape of Assay's observation.

        Raises ValueError for an identity with fields of the wrong type.
        """
        trace = Trace(self._clock)
        found = self._retrieve(question, User.of(user), trace)
        with trace.step("generate"):
            answer = self._answer(found)
        statements = answer.statements
        with trace.step("cite"):
            if answer.behaviour == "answer":
                statements = tuple(self._parts.cite(statements, found.context, found.ranking))
        return self._report(found, trace, answer) | shown(answer, statements)

    def _retrieve(self, text: str, user: User, trace: Trace) -> Found:
        with trace.step("rewrite"):
            question = query.read(text)
        with trace.step("filter"):
            as_of = user.as_of or access.TODAY
            entries = [each for each in self._index.entries.values() if self._parts.current(each.chunk, as_of)]
            allowed = [each for each in entries if self._parts.visible(each.chunk, user)]
            seen = {each.chunk.chunk_id for each in allowed}
            hidden = [each.chunk for each in entries if each.chunk.chunk_id not in seen]
        asked = concepts = weigh(question, self._index)
        lists: dict[str, Ranking] = {}
        if self.config == ENTITY_LINKED and question.entities:
            with trace.stage("entity") as stage:
                weights = entities.link(question, allowed)
                stage += entities.search(weights, allowed, POOL)
            lists["entity"] = stage
            further = {entity: weight for entity, weight in weights.items() if weight < 1}
            question = replace(question, linked=tuple(further) if entities.wanted_kinds(question) else ())
            # An id that is asked for counts once more as a word; those that it leads to only place the chunks.
            asked = [*asked, *entities.concepts(dict.fromkeys(question.entities, 1.0), self._index)]
            concepts = [*asked, *entities.concepts(further, self._index)]
        ranking = self._rank(question, concepts, [each.chunk for each in allowed], lists, trace)
        with trace.stage("context") as stage:
            most = CONTEXT_CHUNKS + (MORE_TO_FOLLOW if question.linked else 0)
            stage += self._parts.pack(ranking, CONTEXT_TOKENS, most)
        context = [hit.chunk for hit in stage]
        told = [chunk for chunk in hidden if access.may_be_told(chunk, user, text)]
        return Found(question, asked, ranking, context, told)

    def _rank(
        self, question: Question, concepts: Weighted, allowed: list[Chunk], lists: dict[str, Ranking], trace: Trace
    ) -> Ranking:
        with trace.step("embed"):
            vector = self._index.embed(self._searched(question))
        with trace.stage("dense") as dense:
            dense += self._index.dense(vector, allowed, POOL)
        if self.config == VECTOR_ONLY:
            return dense
        with trace.stage("bm25") as lexical:
            lexical += self._index.bm25(self._searched(question), allowed, POOL)
        with trace.stage("merge") as merged:
            merged += self._parts.merge(lists | {"dense": dense, "bm25": lexical}, POOL)
        with trace.stage("rerank") as reranked:
            reranked += self._parts.rerank(question, concepts, merged[:RERANKED], self._index)
        return reranked

    def _searched(self, question: Question) -> str:
        return question.text if self.config == VECTOR_ONLY else question.rewrite

    def support(self, question: str, user: Mapping[str, Any] | None = None) -> tuple[float, float]:
        """Return how well the context supports an answer, and how well the best hidden chunk would: for calibration."""
        return self._support(self._retrieve(question, User.of(user), Trace(self._clock)))

    def _support(self, found: Found) -> tuple[float, float]:
        visible = answering.support(found.question, found.asked, found.context, self._index)
        return visible, max(
            (answering.support(found.question, found.asked, [chunk], self._index) for chunk in found.hidden),
            default=0.0,
        )

    def _answer(self, found: Found) -> Answer:
        """Answer where the context supports it; deny where only something hidden does; otherwise say so."""
        visible, hidden = self._support(found)
        if hidden >= self._parts.threshold and hidden >= visible + self._parts.denial_margin:
            return answering.refuse(found.question, denied=True)
        if found.context and visible >= self._parts.threshold:
            answer = self._parts.generate(found.question, found.asked, found.context, self._index)
            if answer.statements:
                return answer
        return answering.refuse(found.question, denied=False)

    def _report(self, found: Found, trace: Trace, answer: Answer | None = None) -> dict[str, Any]:
        return {
            "config_id": self.config,
            "question": found.question.text,
            "query_rewrite": self._searched(found.question),
            "stages": trace.stages,
            "usage": trace.usage(found.context, answer),
            "versions": dict(self.versions),
        }
