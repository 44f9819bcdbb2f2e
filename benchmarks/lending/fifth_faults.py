"""Five more faults of the help desk, the *fifth later* ones, written before the rules learned from the fourth.

Earlier faults replace a step by a wrong one. These happen to a service whose steps are right: a cache that answers too
much, a shard that does not answer, a migration that stopped half-way, a field that is too short, a table of labels that
slipped by a row. Their causes were written first. Three of the five have more than one, at some level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec.structs import replace as replace_fields

from assay.records.golden_set import Case, User
from benchmarks.depot.faults import Fault, declare_fault
from benchmarks.depot.labels import LabelFault
from benchmarks.lending.passages import Passage
from benchmarks.lending.pipeline import Answer, Desk, Ranking, Steps
from benchmarks.lending.questions import build_golden

_CACHED = frozenset(("what does", "what do", "how many", "how much", "when does"))
_MIGRATED = frozenset(("borrowing", "branches", "digital"))
_FIELD = 12
"""How many characters of a query are sent."""
_SLIPPED = ("l01", "l04", "f01", "b01", "r01", "d01", "e01")
"""Rows of the table of labels that have the evidence of the next one of them."""


def _cache_answers(steps: Steps) -> Steps:
    """Give the answer of the first question that began with the same two words."""
    answers: dict[str, Answer] = {}

    def compose(question: str, context: Ranking, desk: Desk) -> Answer:
        key = " ".join(question.lower().split()[:2])
        answer = steps.compose(question, context, desk)
        if key not in _CACHED or not answer.sentences:
            return answer
        cached = answers.setdefault(key, answer)
        return cached if cached == answer else cached._replace(distorted=True)

    return replace(steps, compose=compose)


def _lose_shard(steps: Steps) -> Steps:
    """Search the vectors of half of the passages, as an index whose second shard does not answer."""

    def is_near(passage: Passage, user: User) -> bool:
        return sum(passage.chunk_id.encode()) % 2 == 0 and steps.visible(passage, user)

    return replace(steps, vector_visible=is_near)


def _migrate_half(steps: Steps) -> Steps:
    """Index three pages under the ids of another scheme, after which the migration stopped."""

    def prepare(passages: Sequence[Passage]) -> list[Passage]:
        return [
            replace(passage, chunk_id=f"{passage.page}/{passage.chunk_id[1:]}")
            if passage.page in _MIGRATED
            else passage
            for passage in steps.prepare(passages)
        ]

    return replace(steps, prepare=prepare)


def _cut_query(steps: Steps) -> Steps:
    """Send the first characters of the query, as a field of a fixed length does."""
    rewrite: Callable[[str], str] = steps.rewrite
    return replace(steps, rewrite=lambda question: rewrite(question)[:_FIELD])


def _slip_row(case: Case) -> Case:
    """Label a case with the evidence of another row of the table."""
    if case.id not in _SLIPPED:
        return case
    following = _SLIPPED[(_SLIPPED.index(case.id) + 1) % len(_SLIPPED)]
    evidence = next(other.evidence for other in build_golden().cases if other.id == following)
    return replace_fields(case, evidence=evidence)


FIFTH_LATER_FAULTS: dict[str, Fault[Steps]] = {
    # The context has the evidence, and the answer is that of another question, with its citations.
    "fifth:cached-answer": declare_fault("a cache answers by the first two words", _cache_answers, "generator"),
    # The vector search never has these chunks: it cannot find them, or they are not in its index.
    "fifth:lost-shard": declare_fault("half of the vectors is not searched", _lose_shard, "embedding stale_index"),
    # The texts are there under ids that the corpus does not have. Without a corpus the labels may be the outdated side.
    "fifth:half-migrated": declare_fault(
        "three pages have ids of another scheme",
        _migrate_half,
        "chunking stale_index",
        s="chunking stale_index golden_label_issue",
        m="chunking stale_index golden_label_issue",
    ),
    # The query lacks its end; where the trace does not have it, one of the searches may be at fault.
    "fifth:cut-query": declare_fault(
        "queries are cut after 12 characters",
        _cut_query,
        "bm25_analyzer",
        c="bm25_analyzer embedding",
        s="bm25_analyzer embedding",
        m="bm25_analyzer embedding",
    ),
}
"""Faults of the pipeline."""

FIFTH_LATER_LABEL_FAULTS: dict[str, LabelFault] = {
    # The answer is right and cites what says so, and the label names a chunk of another subject.
    "fifth:slipped-row": LabelFault("labels are those of another row", _slip_row),
}
"""Faults of the labels."""
