"""The replaceable parts of the pipeline. The parts as they should be are the defaults; a fault replaces one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from examples.handbook.app import access, answering, bm25, corpus, ranking
from examples.handbook.app.embedding import Embedder, HashedTrigrams
from examples.handbook.app.index import Index
from examples.handbook.app.query import Question
from examples.handbook.app.ranking import Weighted
from examples.handbook.app.records import Answer, Chunk, Document, Ranking, Statement, User

Generator = Callable[[Question, Weighted, Sequence[Chunk], Index], Answer]


def keep(documents: list[Document]) -> list[Document]:
    """Index every document."""
    return documents


def cite(statements: Sequence[Statement], context: Sequence[Chunk], found: Ranking) -> list[Statement]:
    """Let each statement name the chunks that it was taken from, nothing else."""
    return list(statements)


@dataclass(frozen=True)
class Parts:
    """One function or value for each step; `select` decides which documents the index holds."""

    parse: Callable[[str], Document] = corpus.parse
    select: Callable[[list[Document]], list[Document]] = keep
    chunk: Callable[[Document], list[Chunk]] = corpus.chunk
    embedder: Embedder = field(default_factory=HashedTrigrams)
    analyze: bm25.Analyzer = bm25.analyze
    visible: Callable[[Chunk, User], bool] = access.visible
    current: Callable[[Chunk, str], bool] = access.current
    merge: Callable[[Mapping[str, Ranking], int], Ranking] = ranking.merge
    rerank: Callable[[Question, Weighted, Ranking, Index], Ranking] = ranking.rerank
    pack: Callable[[Ranking, int, int], Ranking] = ranking.pack
    threshold: float = answering.THRESHOLD
    denial_margin: float = answering.DENIAL_MARGIN
    generate: Generator = answering.compose
    cite: Callable[[Sequence[Statement], Sequence[Chunk], Ranking], list[Statement]] = cite
