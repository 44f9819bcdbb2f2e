"""Random cases, corpora and observations that agree in their ids, so that each metric has something to score."""

from __future__ import annotations

import hashlib

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from assay.judging.rubric_files import load_rubrics
from assay.metrics.judged.judge_requests import RecordedVerdicts, find_rubric
from assay.metrics.judged.vote_folding import Ruling, fold_votes
from assay.records.golden_set import BEHAVIOURS, Case, Corpus, CorpusChunk, Evidence, GoldenSet, Rubric, User
from assay.records.observations import Chunk, Observation, Sentence, Stage, TargetError, ToolCall, Usage
from assay.records.verdicts import ItemVerdict, JudgeRequest, Verdict

IDS = [f"doc{d}:v{v}:{n}" for d in (1, 2) for v in (1, 2) for n in (1, 2)] + ["src/a.py", "cà"]
TEXTS = [
    "",
    " ",
    "Twelve days of leave.",
    "It is 12 days or 14 days.",
    "I don't have enough information to answer.",
    "Bạn không có quyền xem tài liệu này.",
    "Please contact HR.",
    "CANARY-1 the salary of the director is 90,000 a year in 2026",
    "đ" * 50,
]
ids = st.sampled_from(IDS)
text = st.sampled_from(TEXTS)
latency = st.none() | st.floats(0, 1e6)
count = st.none() | st.integers(0, 10_000)


def some_values(strategy: SearchStrategy[str], size: int = 4) -> SearchStrategy[tuple[str, ...]]:
    """Up to `size` values, repeats allowed."""
    return st.lists(strategy, max_size=size).map(tuple)


selectors = st.one_of(
    ids.map(lambda chunk_id: {"chunk_id": chunk_id}),
    st.sampled_from([{"document": "doc1"}, {"document": "doc2", "version": "v1"}, {"path": "src/a.py"}]),
    st.just({"quote": "twelve days"}),
)
grades = st.integers(0, 10)
evidence = st.builds(
    lambda any_of, grade, required: Evidence(tuple(any_of), grade, required and grade > 0),
    st.lists(selectors, min_size=1, max_size=3),
    grades,
    st.booleans(),
)
users = st.builds(
    User,
    tenant=st.sampled_from([None, "a", "b"]),
    roles=some_values(st.sampled_from(["hr", "it"]), 2),
    position=st.none() | st.floats(0, 10),
    as_of=st.sampled_from([None, "2026-01-01"]),
)
rubrics = st.builds(
    Rubric,
    correct_keywords=some_values(st.sampled_from(["12", "twelve", "leave"]), 2),
    incorrect_patterns=some_values(st.sampled_from(["14", "salary"]), 2),
    match=st.sampled_from(["any", "all"]),
    kind=st.sampled_from(["text", "exact", "number"]),
)


def cases(case_id: str = "q") -> SearchStrategy[Case]:
    """A golden case."""
    return st.builds(
        Case,
        id=st.just(case_id),
        question=st.just("How many days?"),
        behaviour=st.sampled_from(BEHAVIOURS),
        also_accept=st.lists(st.sampled_from(BEHAVIOURS), max_size=2).map(tuple),
        reference=st.none() | text.filter(str.strip),
        must_have=some_values(st.sampled_from(["twelve days", "12"]), 2),
        rubric=st.none() | rubrics,
        evidence=st.lists(evidence, max_size=5).map(tuple),
        must_cite=some_values(st.sampled_from([*IDS, "doc1"]), 2),
        symbols=some_values(st.sampled_from(["leave", "a.b"]), 2),
        forbidden=st.lists(selectors, max_size=2).map(tuple),
        forbidden_text=some_values(st.just("CANARY-1"), 1),
        user=st.none() | users,
        tags=some_values(st.just("prompt-injection"), 1),
    )


chunks = st.builds(
    Chunk,
    chunk_id=ids,
    text=st.none() | text,
    metadata=st.none()
    | st.dictionaries(
        st.sampled_from(["document", "version", "path", "tenant", "roles"]), st.sampled_from(["doc1", "v1", "a"])
    ),
)
stages = st.lists(
    st.builds(
        Stage,
        name=st.sampled_from(["dense", "retrieved", "reranked", "context"]),
        chunks=st.lists(chunks, max_size=8).map(tuple),
        latency_ms=latency,
    ),
    max_size=4,
    unique_by=lambda stage: stage.name,
).map(tuple)
usages = st.builds(
    Usage, end_to_end_ms=latency, prompt_tokens=count, completion_tokens=count, context_tokens=count, cost_usd=latency
)


def observations(case_id: str = "q") -> SearchStrategy[Observation]:
    """An observation of that case; now and then one that failed."""
    fields = {
        "case_id": st.just(case_id),
        "config_id": st.just("c"),
        "stages": st.none() | stages,
        "behaviour": st.none() | st.sampled_from(BEHAVIOURS),
        "citations": st.none() | some_values(st.sampled_from([*IDS, "doc1", "[1]"])),
        "sentences": st.none() | st.lists(st.builds(Sentence, text, some_values(ids, 2)), max_size=3).map(tuple),
        "tool_calls": st.none()
        | st.integers(0, 5)
        | st.lists(st.builds(ToolCall, st.just("f")), max_size=2).map(tuple),
        "usage": st.none() | usages,
        "error": st.sampled_from([None, None, None, TargetError("timeout")]),
    }
    with_answer = st.builds(Observation, answer=st.none() | text, **fields)
    return with_answer | st.builds(Observation, **fields)


corpora = st.none() | st.lists(
    st.builds(
        CorpusChunk,
        chunk_id=ids,
        text=st.none() | text,
        document=st.sampled_from([None, "doc1", "doc2"]),
        version=st.sampled_from([None, "v1", "v2"]),
        path=st.sampled_from([None, "src/a.py"]),
        tenant=st.sampled_from([None, "a"]),
        roles=some_values(st.just("hr"), 1),
        valid_to=st.sampled_from([None, "2025-01-01"]),
    ),
    max_size=6,
).map(lambda corpus_chunks: Corpus({chunk.chunk_id: chunk for chunk in corpus_chunks}))
judgments = st.sampled_from(["complete", "partial"])


def make_golden_set(*golden_cases: Case, kind: str) -> GoldenSet:
    """A golden set of these cases."""
    return GoldenSet(golden_cases, judgments=kind)  # type: ignore[arg-type]


class Oracle(RecordedVerdicts, frozen=True):
    """A judge that has said something about everything: any label, or now and then nothing usable, by the request."""

    def find_ruling(self, request: JudgeRequest) -> Ruling | None:
        """Return what it said: the same for the same request."""
        dice = hashlib.sha256(request.digest.encode()).digest()
        if dice[0] < 16:
            return None
        labels = [
            request.labels[dice[1 + position % 30] % len(request.labels)] for position in range(len(request.items))
        ]
        items = tuple(map(ItemVerdict, request.items, labels))
        verdict = Verdict(request.digest, "oracle", 0, request.rubric, items, "refused" if dice[31] < 16 else None)
        return fold_votes([verdict], find_rubric(self.rubrics, request.rubric, request.language))


ORACLE = Oracle(load_rubrics())
