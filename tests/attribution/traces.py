"""Hand-made cases, traces and corpora for the tests of attribution: a leave policy of four sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.attribution.index.index_view import IndexView
from assay.attribution.root_causes import attribute_case
from assay.metrics.cases.case_index import GoldenIndex
from assay.records.digest import compute_text_digest
from assay.records.findings import Attribution
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, Rubric, User
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import SCORED
from assay.scoring.attribution_settings import AttributionSettings

LEAVE = "## Annual leave\nFull-time staff get 12 days of annual leave."
SICK = "## Sick leave\nA certificate is needed from 3 days of sickness."
CARRY = "## Carry over\nUp to 5 days move to the next year."
OFFICE = "## Office\nThe office opens at eight in the morning."
TEXTS = {"leave": LEAVE, "sick": SICK, "carry": CARRY, "office": OFFICE}
OLD_TEXT = "## Annual leave\nStaff get 20 days."
OLD = CorpusChunk("old", text=OLD_TEXT, document="policy", version="v1", valid_from="2025-01-01")
GOOD = "Full-time staff get 12 days of annual leave."
BAD = "Full-time staff get 20 days of annual leave."


def corpus(**more: CorpusChunk) -> Corpus:
    """The four sections of one document in force, and more chunks."""
    chunks = {
        name: CorpusChunk(
            name,
            text=text,
            text_hash=compute_text_digest(text),
            document="policy",
            version="v2",
            section=text.splitlines()[0].removeprefix("## "),
            tenant="a",
            valid_from="2026-01-01",
            kind="prose",
        )
        for name, text in TEXTS.items()
    }
    return Corpus(chunks | more)


def case(**changes: Any) -> Case:
    """How many days of leave? Chunk `leave` says 12."""
    fields: dict[str, Any] = {
        "id": "q",
        "question": "How many days of annual leave do full-time staff get?",
        "reference": GOOD,
        "rubric": Rubric(correct_keywords=("12 days",), incorrect_patterns=("20 days",)),
        "evidence": (Evidence(({"chunk_id": "leave"},)),),
        "user": User(tenant="a"),
    }
    return Case(**fields | changes)


def stage(name: str, *ids: str, texts: dict[str, str] | None = None) -> Stage:
    """A stage of chunks by id; the context shows their texts, the others the hashes."""
    all_texts = TEXTS | (texts or {})
    chunks = [
        Chunk(
            each,
            text=all_texts.get(each) if name == "context" else None,
            text_hash=compute_text_digest(all_texts[each]) if each in all_texts else None,
        )
        for each in ids
    ]
    return Stage(name, tuple(chunks))


def seen(*stages: Stage, answer: str = GOOD, **changes: Any) -> Observation:
    """An observation of the case."""
    return Observation("q", "c", stages=stages or None, answer=answer, **changes)


def hybrid(dense: str, bm25: str, merge: str, rerank: str, context: str, answer: str = BAD) -> Observation:
    """An observation of a hybrid pipeline; each stage is a text of chunk ids."""
    names = ("dense", "bm25", "merge", "rerank", "context")
    lists = (dense, bm25, merge, rerank, context)
    return seen(*(stage(name, *ids.split()) for name, ids in zip(names, lists, strict=True)), answer=answer)


def blamed(
    the_case: Case,
    observation: Observation | None,
    known: Corpus | None = None,
    scores: dict[str, tuple[int, float, str]] | None = None,
    others: Sequence[Observation] = (),
    settings: AttributionSettings | None = None,
    as_of: str | None = None,
    other_user: User | None = None,
) -> Attribution:
    """Attribute one case; `others` are further observations of the run, by default of the same user."""
    joins = GoldenIndex(GoldenSet((the_case,), as_of=as_of), known)
    view = IndexView(known or Corpus({}))
    if observation is not None:
        view.add_observation(observation, the_case.user)
    for other in others:
        view.add_observation(other, other_user or the_case.user)
    return attribute_case(joins.case_index(0), observation, scores or {}, settings or AttributionSettings(), view)


def score(value: float) -> tuple[int, float, str]:
    """A scored value."""
    return SCORED, value, ""
