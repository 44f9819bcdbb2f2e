"""Chunks that nobody judged and that configurations rank high, and what their grades do to a golden set.

A grade is how far a chunk answers a question: 0 unrelated, 1 background, 2 strong but not enough, 3 contains the fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from assay.metrics.cases.case_index import EvidenceIndex
from assay.records.errors import Problem
from assay.records.golden_set import Case, Corpus, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, find_stage, is_text_id
from assay.text.normalisation import fold_text

FACT_GRADE = 3
BACKGROUND_GRADE = 2
GradeSource = Literal["person", "rubric"]


class PooledChunk(Struct, frozen=True):
    """A chunk that nobody judged for a case: its rank in each configuration that has it within the depth.

    `same` are other ids under which configurations have the same text: they are judged with it.
    """

    case: str
    chunk: str
    ranks: dict[str, int]
    same: tuple[str, ...] = ()


class ChunkGrade(Struct, frozen=True, omit_defaults=True):
    """The grade of a chunk for a case, by whom, and whether a person or a rubric gave it."""

    case: str
    chunk: str
    grade: Annotated[int, Meta(ge=0, le=FACT_GRADE)]
    by: str
    source: GradeSource = "person"
    note: str = ""


class MetricRange(Struct, frozen=True):
    """A mean as the set is labelled, and if every unjudged chunk had the fact or were background; None if unscored.

    `low` and `high` are the means of the smallest and of the largest value of each case under these and four more
    hypotheses: that only the chunks which this configuration ranks have the fact or are background, or only the others.
    """

    metric: str
    none_relevant: float | None
    all_relevant: float | None
    all_background: float | None
    low: float | None
    high: float | None


class UnjudgedShare(Struct, frozen=True):
    """One configuration: how many of the chunks that it ranks within the depth nobody judged, and what they can change.

    `without_id` are chunks that the target gave no id: they cannot be labelled by one.
    """

    config: str
    ranked: int
    unjudged: int
    without_id: int
    metrics: tuple[MetricRange, ...]


class PoolReport(Struct, frozen=True):
    """The pool of some runs: unjudged chunks, those of most configurations and best ranks first, and what they can do.

    `merged` says how many grades were merged, if any.
    """

    digest: str
    depth: int
    stage: str
    configs: tuple[UnjudgedShare, ...]
    chunks: tuple[PooledChunk, ...]
    merged: int = 0


class Pool:
    """Collects the unjudged chunks of observations, configuration by configuration."""

    def __init__(self, golden: GoldenSet, corpus: Corpus | None, depth: int, stage: str) -> None:
        self.depth, self.stage = depth, stage
        self._corpus = corpus
        self._cases = {case.id: case for case in golden.cases if is_pooled(case)}
        self._indexes: dict[str, EvidenceIndex] = {}
        self._ranks: dict[tuple[str, str], dict[str, int]] = {}
        self._first_with: dict[tuple[str, str], str] = {}
        self._same: dict[tuple[str, str], dict[str, None]] = {}

    def add_configuration(self, config: str, observations: Iterable[Observation]) -> tuple[int, int, int]:
        """Take what one configuration ranked; return how many chunks it ranked, how many unjudged and without id."""
        ranked = unjudged = without_id = 0
        for observation in observations:
            case = self._cases.get(observation.case_id)
            stage = find_stage(observation, self.stage)
            if case is None or stage is None:
                continue
            first = stage.chunks[: self.depth]
            masks = self._index_of(case).unit_masks(first)
            for rank, (chunk, mask) in enumerate(zip(first, masks, strict=True), 1):
                ranked += 1
                if mask is not None:
                    continue
                unjudged += 1
                if is_text_id(chunk.chunk_id):
                    without_id += 1
                    continue
                ranks = self._ranks.setdefault((case.id, self._name_chunk(case.id, chunk)), {})
                ranks[config] = min(rank, ranks.get(config, rank))
        return ranked, unjudged, without_id

    def _name_chunk(self, case: str, chunk: Chunk) -> str:
        """Return the id under which a chunk is pooled: that of the first one with the same text."""
        listed = self._corpus.chunks.get(chunk.chunk_id) if self._corpus is not None else None
        text = fold_text(chunk.text or (listed.text if listed is not None else "") or "")
        name = self._first_with.setdefault((case, text), chunk.chunk_id) if text else chunk.chunk_id
        if name != chunk.chunk_id:
            self._same.setdefault((case, name), {})[chunk.chunk_id] = None
        return name

    def _index_of(self, case: Case) -> EvidenceIndex:
        if case.id not in self._indexes:
            self._indexes[case.id] = index_evidence(case, self._corpus)
        return self._indexes[case.id]

    def list_chunks(self) -> list[PooledChunk]:
        """Return the pooled chunks, those that most configurations rank first, then by their best rank."""
        pooled = [
            PooledChunk(case, chunk, dict(sorted(ranks.items())), tuple(sorted(self._same.get((case, chunk), ()))))
            for (case, chunk), ranks in self._ranks.items()
        ]
        return sorted(pooled, key=lambda item: (-len(item.ranks), min(item.ranks.values()), item.case, item.chunk))


def is_pooled(case: Case) -> bool:
    """Return whether the chunks of a case are judged by relevance: its evidence is what the answer needs."""
    return case.behaviour == "answer"


def index_evidence(case: Case, corpus: Corpus | None) -> EvidenceIndex:
    """Return the look-up from chunks to the evidence of a case."""
    units = [(unit.any_of, unit.grade) for unit in case.evidence]
    return EvidenceIndex(units, corpus, [unit.quote for unit in case.evidence])


def merge_grades(
    golden: GoldenSet, grades: Sequence[ChunkGrade], corpus: Corpus | None, path: str = ""
) -> tuple[GoldenSet, list[Problem]]:
    """Return a golden set with grades in its evidence, and the conflicts: a chunk with two grades, old or new.

    A chunk that has the fact is an alternative of the only required unit; where there is none, it is required; where
    there are several, nobody said which of them it covers, and it is evidence of grade 3 that is not required. Each
    case keeps who gave which grade.
    """
    by_case: dict[str, list[ChunkGrade]] = {}
    for grade in grades:
        by_case.setdefault(grade.case, []).append(grade)
    conflicts: list[Problem] = []
    cases = []
    for case in golden.cases:
        if case.id in by_case:
            case, new_conflicts = _merge_case(case, by_case[case.id], corpus, path)
            conflicts += new_conflicts
        cases.append(case)
    return msgspec.structs.replace(golden, cases=tuple(cases)), conflicts


def _merge_case(
    case: Case, grades: Sequence[ChunkGrade], corpus: Corpus | None, path: str
) -> tuple[Case, list[Problem]]:
    conflicts = []
    labelled = index_evidence(case, corpus)
    first: dict[str, ChunkGrade] = {}
    for grade in grades:
        (mask,) = labelled.unit_masks([Chunk(grade.chunk)])
        existing = None if mask is None else labelled.best_grade(mask)
        other = first.setdefault(grade.chunk, grade)
        if existing is not None and existing != grade.grade:
            conflicts.append(_describe_conflict(path, grade, f"the golden set has grade {existing}"))
        elif other.grade != grade.grade:
            conflicts.append(_describe_conflict(path, grade, f"{other.by} gave grade {other.grade}"))
        elif existing is None and other is grade:
            case = _add_grade(case, grade, corpus)
    return _note_grades(case, grades), conflicts


def _describe_conflict(path: str, grade: ChunkGrade, other: str) -> Problem:
    message = f"{grade.chunk}: {grade.by} gave grade {grade.grade}, {other} (expected one grade): settle it, then merge"
    return Problem(path, None, grade.case, message, "E_GRADE")


def _add_grade(case: Case, grade: ChunkGrade, corpus: Corpus | None) -> Case:
    needed = [number for number, unit in enumerate(case.evidence) if unit.required and unit.grade]
    evidence = list(case.evidence)
    if grade.grade == FACT_GRADE and len(needed) == 1:
        unit = evidence[needed[0]]
        evidence[needed[0]] = msgspec.structs.replace(unit, any_of=(*unit.any_of, {"chunk_id": grade.chunk}))
    else:
        text_hash = corpus.chunks[grade.chunk].text_hash if corpus and grade.chunk in corpus.chunks else None
        is_required = grade.grade == FACT_GRADE and not needed
        reason = f"{grade.source}: {grade.by}"
        evidence.append(Evidence(({"chunk_id": grade.chunk},), grade.grade, is_required, reason, text_hash=text_hash))
    return msgspec.structs.replace(case, evidence=tuple(evidence))


def _note_grades(case: Case, grades: Sequence[ChunkGrade]) -> Case:
    provenance = dict(case.metadata.get("provenance", {}))
    earlier = list(provenance.get("grades", ()))
    rows = [{key: value for key, value in msgspec.to_builtins(grade).items() if key != "case"} for grade in grades]
    provenance["grades"] = [*earlier, *(row for row in rows if row not in earlier)]
    return msgspec.structs.replace(case, metadata={**case.metadata, "provenance": provenance})


def assume_grade(golden: GoldenSet, chunks: Sequence[PooledChunk], grade: int, corpus: Corpus | None) -> GoldenSet:
    """Return a golden set in which every chunk of a pool has a grade."""
    assumed = [ChunkGrade(item.case, item.chunk, grade, "assumed") for item in chunks]
    return merge_grades(golden, assumed, corpus)[0]


CaseValues = Mapping[str, float]
"""The values of one metric by case, of the cases that have one."""


def compare_hypotheses(
    metric: str, none: CaseValues, fact: CaseValues, background: CaseValues, *others: CaseValues
) -> MetricRange:
    """Return the means of a metric as labelled and under two hypotheses, and of the extremes of each case under all.

    >>> compare_hypotheses("rr@10", {"a": 0.5}, {"a": 1.0}, {"a": 0.5}).high
    1.0
    """
    hypotheses = (none, fact, background, *others)
    cases = sorted(set.intersection(*(set(values) for values in hypotheses)))
    lowest = {case: min(values[case] for values in hypotheses) for case in cases}
    highest = {case: max(values[case] for values in hypotheses) for case in cases}
    means = [_mean_of(values, cases) for values in (none, fact, background, lowest, highest)]
    return MetricRange(metric, *means)


def _mean_of(values: CaseValues, cases: Sequence[str]) -> float | None:
    if not cases:
        return None
    total = 0.0
    for case in cases:
        total += values[case]
    return total / len(cases)
