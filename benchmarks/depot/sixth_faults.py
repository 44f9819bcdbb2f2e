"""Five more faults of the depot, the *sixth later* ones, written when the rules of ADR 0149 were frozen.

Like the fifth, of the help desk, they happen to a service whose steps are right, now in the other application: tables
that a crawler puts on the wrong page, a prompt that is sent along with the query, one of two ranking servers that sorts
the wrong way round, an answer that is cut off, citations that are left over. They are scored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.depot import pipeline
from benchmarks.depot.documents import Passage
from benchmarks.depot.faults import Fault, declare_fault
from benchmarks.depot.pipeline import Answer, Depot, Parts, Ranking, with_body

_PROMPT = (
    "You answer for the depot, politely and truly. Example: How long does the Otter 3600 run at half load, and is its "
    "recall over? It runs for so many hours; the recall, the warranty and the delivery are described in our news."
)
_LONGEST = 34
"""After how many characters an answer is cut off."""


def _exchange_tables(passages: Sequence[Passage]) -> list[Passage]:
    """Give each of two tables that follow each other the rows of the other one."""
    tables = [passage for passage in passages if passage.kind == "table"]
    bodies = {passage.chunk_id: passage.body for passage in tables}
    for first, second in zip(tables[::2], tables[1::2], strict=False):
        bodies[first.chunk_id], bodies[second.chunk_id] = second.body, first.body
    return [with_body(passage, bodies.get(passage.chunk_id, passage.body)) for passage in passages]


def _send_prompt(question: str) -> str:
    """Send the prompt of the system together with the query."""
    return f"{_PROMPT} {pipeline.rewrite(question)}"


def _rank_on_two_servers(ranking: Ranking, query: str, depot: Depot) -> Ranking:
    """Rank every other query on a server that takes scores for distances."""
    if sum(query.encode()) % 2:
        return pipeline.rerank(ranking, query, depot)
    scores = {passage.chunk_id: depot.score_passage(query, passage) for passage in ranking}
    return sorted(ranking, key=lambda passage: scores[passage.chunk_id])[: pipeline.RERANKED]


def _cut_answer(question: str, context: Ranking, depot: Depot) -> Answer:
    """Stop in the middle of what there is to say, as at a limit of tokens."""
    answer = pipeline.generate(question, context, depot)
    if not answer.lines or len(answer.text) <= _LONGEST:
        return answer
    return Answer(answer.text[:_LONGEST], answer.lines)


def _keep_citations(parts: Parts) -> Parts:
    """Cite what the answer before cited, besides the source."""
    before: list[list[str]] = [[]]

    def cite(answer: Answer, context: Ranking) -> list[str]:
        before.append(pipeline.cite(answer, context))
        return list(dict.fromkeys((*before[-1], *before[-2])))

    return replace(parts, cite=cite)


SIXTH_LATER_FAULTS: dict[str, Fault[Parts]] = {
    # The text under an id is that of another product's table: whatever reads, cuts or updates pages.
    "sixth:exchanged-tables": declare_fault(
        "tables have the rows of each other",
        lambda parts: replace(parts, prepare=_exchange_tables),
        "parser chunking stale_index",
    ),
    # The query is about something else too, which misleads the search, the filter or the ranking that go by it.
    "sixth:prompt-in-query": declare_fault(
        "the prompt is sent with the query",
        lambda parts: replace(parts, rewrite=_send_prompt),
        "bm25_analyzer",
        c="bm25_analyzer hybrid_merge reranker",
        s="bm25_analyzer hybrid_merge reranker",
        m="bm25_analyzer hybrid_merge reranker",
    ),
    # The filter passes it on near the top, and the reranker ranks it last or drops it.
    "sixth:two-servers": declare_fault(
        "every other ranking is upside down", lambda parts: replace(parts, rerank=_rank_on_two_servers), "reranker"
    ),
    # The context has the value, and the answer stops before it.
    "sixth:cut-answer": declare_fault(
        "answers are cut off", lambda parts: replace(parts, generate=_cut_answer), "generator"
    ),
    # The answer is right and cites its source, and an id that the context does not have.
    "sixth:left-over-citations": declare_fault("citations of the answer before are kept", _keep_citations, "citation"),
}
"""Faults of the pipeline."""
