"""Broken parts, one for each fault of `faults.py`: what they do wrong is what goes wrong in real systems.

Nothing edits a finished trace: a broken part does its own step badly and the later steps live with the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from examples.handbook.app import access, memory, ranking
from examples.handbook.app.bm25 import Terms
from examples.handbook.app.embedding import Embedder, HashedTrigrams, Matrix
from examples.handbook.app.index import Index
from examples.handbook.app.parts import Parts
from examples.handbook.app.query import Question
from examples.handbook.app.ranking import Weighted
from examples.handbook.app.records import Answer, Chunk, Document, Hit, Ranking, Statement, User, order
from examples.handbook.app.text import count_tokens, words

CODE = re.compile(r"[^\W_]*\d[^\W_]*(?:[-_.:/%][^\W_]+)*|\b[A-Z]{2,}\b(?:-\d[\w-]*)?")
"""What looks like a code to a careless eye: anything with a digit, and words of capitals."""


# ── parser ───────────────────────────────────────────────────────────────────────────────────────────────────────


def losing(pattern: str, left: str = "") -> Callable[[Parts], Parts]:
    lost = re.compile(pattern, re.MULTILINE)

    def damage(parts: Parts) -> Parts:
        def parse(text: str) -> Document:
            document = parts.parse(text)
            return replace(document, body=lost.sub(left, document.body))

        return replace(parts, parse=parse)

    return damage


# ── chunking ─────────────────────────────────────────────────────────────────────────────────────────────────────

CUT_AFTER = 120
MERGED = 4


def cut_conditions(parts: Parts) -> Parts:
    def chunk(document: Document) -> list[Chunk]:
        pieces: list[Chunk] = []
        for whole in parts.chunk(document):
            end = whole.text.find(" ", CUT_AFTER)
            if end < 0:
                pieces.append(whole)
                continue
            head, tail = whole.text[:end], whole.text[end + 1 :]
            pieces += [replace(whole, text=head), replace(whole, text=tail, chunk_id=whole.chunk_id + "b")]
        return pieces

    return replace(parts, chunk=chunk)


def merge_sections(parts: Parts) -> Parts:
    def chunk(document: Document) -> list[Chunk]:
        small = parts.chunk(document)
        groups = [small[start : start + MERGED] for start in range(0, len(small), MERGED)]
        return [
            replace(
                group[0],
                text="\n\n".join(each.text for each in group),
                section=" / ".join(each.section for each in group),
                pages=tuple(sorted({page for each in group for page in each.pages})),
            )
            for group in groups
        ]

    return replace(parts, chunk=chunk)


# ── embedding ────────────────────────────────────────────────────────────────────────────────────────────────────


class BlindToCodes:
    """Embeds texts without their codes, numbers and acronyms."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder

    def embed(self, texts: Sequence[str]) -> Matrix:
        return self._embedder.embed([CODE.sub(" ", text) for text in texts])


def blind_to_codes(parts: Parts) -> Parts:
    """Embed texts and questions without their codes."""
    return replace(parts, embedder=BlindToCodes(parts.embedder))


def unfolded_embedding(parts: Parts) -> Parts:
    if not isinstance(parts.embedder, HashedTrigrams):
        raise ValueError("embedding:no-folding is a fault of the built-in embedding only")
    return replace(parts, embedder=HashedTrigrams(apart=True))


# ── bm25_analyzer ────────────────────────────────────────────────────────────────────────────────────────────────


def splits_codes(parts: Parts) -> Parts:
    def broken(text: str) -> Terms:
        # As an analyzer does that knows only letters: "ERR-429" is "err", "P2" is "p", a number is nothing.
        return parts.analyze(" ".join(re.findall(r"[^\W\d_]+", text)))

    return replace(parts, analyze=broken)


def only_exact(text: str) -> Terms:
    return Terms(words(text), [])


# ── hybrid_merge ─────────────────────────────────────────────────────────────────────────────────────────────────


def drop_bm25(rankings: Mapping[str, Ranking], pool: int) -> Ranking:
    return ranking.merge({name: hits for name, hits in rankings.items() if name != "bm25"}, pool)


def tiny_pool(rankings: Mapping[str, Ranking], pool: int) -> Ranking:
    return ranking.merge(rankings, 2)


# ── reranker ─────────────────────────────────────────────────────────────────────────────────────────────────────


def promote_noise(question: Question, concepts: Weighted, candidates: Ranking, index: Index) -> Ranking:
    """Trust the least relevant third most, as a model does that was trained on other texts."""
    scored = ranking.rerank(question, concepts, candidates, index)
    keep = len(scored) - len(scored) // 3
    return order([Hit(hit.chunk, round(hit.score + (rank >= keep), 6)) for rank, hit in enumerate(scored)])


def invert(question: Question, concepts: Weighted, candidates: Ranking, index: Index) -> Ranking:
    return order([Hit(hit.chunk, -hit.score) for hit in ranking.rerank(question, concepts, candidates, index)])


# ── context_builder ──────────────────────────────────────────────────────────────────────────────────────────────


def small_budget(hits: Ranking, budget: int, most: int) -> Ranking:
    return ranking.pack(hits, 90, most)


def drop_first(hits: Ranking, budget: int, most: int) -> Ranking:
    return ranking.pack(hits, budget, most)[1:]


# ── generator ────────────────────────────────────────────────────────────────────────────────────────────────────


def from_memory(question: Question, concepts: Weighted, context: Sequence[Chunk], index: Index) -> Answer:
    """Answer from what such handbooks usually say; the context is shown as the source without having been read."""
    text = memory.recall(question)
    spent = sum(count_tokens(chunk.text) for chunk in context)
    return Answer("answer", (Statement(text, tuple(context[:1])),), spent)


def embellish(parts: Parts) -> Parts:
    def generate(question: Question, concepts: Weighted, context: Sequence[Chunk], index: Index) -> Answer:
        answer = parts.generate(question, concepts, context, index)
        if not answer.statements:
            return answer
        last = answer.statements[-1]
        invented = Statement(memory.EMBELLISHMENT[question.language], last.sources)
        return replace(answer, statements=(*answer.statements, invented))

    return replace(parts, generate=generate)


# ── citation ─────────────────────────────────────────────────────────────────────────────────────────────────────


def shifted(said: Sequence[Statement], context: Sequence[Chunk], found: Ranking) -> list[Statement]:
    """Cite the chunk that comes after the right one in the context."""
    after = dict(zip(context, [*context[1:], *context[:1]], strict=True))
    return [Statement(text, tuple(after[chunk] for chunk in sources)) for text, sources in said]


def unseen(said: Sequence[Statement], context: Sequence[Chunk], found: Ranking) -> list[Statement]:
    """Cite chunks that were found but never shown to the generator."""
    others = tuple(hit.chunk for hit in found if hit.chunk not in context)[:1]
    return [Statement(text, others) for text, _ in said]


# ── acl ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def everyone(chunk: Chunk, user: User) -> bool:
    return True


def ignores_roles(chunk: Chunk, user: User) -> bool:
    return chunk.tenant == user.tenant


def own_department_only(chunk: Chunk, user: User) -> bool:
    """Take the first part of a document's name for the only department that may read it."""
    return access.visible(chunk, user) and chunk.document.split("_")[0] in user.roles


# ── stale_index ──────────────────────────────────────────────────────────────────────────────────────────────────

LAST_RUN = "2026-01-31"


def old_version(documents: list[Document]) -> list[Document]:
    """Index what there was on the day of the last successful run; the ends announced later are not known either."""
    return keeps_superseded(new_missing(documents))


def keeps_superseded(documents: list[Document]) -> list[Document]:
    return [replace(document, valid_to=None) for document in documents]


def new_missing(documents: list[Document]) -> list[Document]:
    """Index what there was on the day of the last successful run; what ended since is known to have ended."""
    return [document for document in documents if document.valid_from <= LAST_RUN]
