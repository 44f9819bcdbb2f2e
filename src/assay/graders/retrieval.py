"""Ranking metrics of any stage against the case's evidence, and the context metrics, which are the same arithmetic."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from assay.graders.base import (
    Batch,
    Bools,
    CaseIndex,
    FactKey,
    Floats,
    Grader,
    Key,
    Verdict,
    column,
    not_applicable,
)
from assay.graders.evidence import EvidenceIndex
from assay.graders.names import MetricName
from assay.graders.rows import Ranked, Rows
from assay.graders.stages import CONTEXT, FINAL
from assay.metrics import ranking
from assay.metrics.ranking import RankingTable
from assay.model import ScoreColumn

NOT_REPORTED = -1


class RankingFacts:
    """The joined ranking of one stage: for each row its length, and the slots that hold a judged chunk."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.cases: list[CaseIndex] = []
        self.length: list[int] = []
        self.row: list[int] = []
        self.slot: list[int] = []
        self.first: list[int] = []
        self.grade: list[int] = []
        self._tables: dict[int | None, RankingTable] = {}

    def add(self, rows: Rows) -> None:
        """Take some rows, in order: which units each slot covers that no earlier slot covered."""
        ranked = rows.ranked(self.stage)
        self.length += [NOT_REPORTED if ranked_stage is None else len(ranked_stage.ids) for ranked_stage in ranked]
        for row_number, (case, ranked_stage) in enumerate(zip(rows.cases, ranked, strict=True), len(self.cases)):
            evidence = case.evidence
            if ranked_stage is None or (evidence.by_id_alone and ranked_stage.distinct.isdisjoint(evidence.by_id)):
                continue
            covered = 0
            for slot, mask in _judged_slots(evidence, ranked_stage):
                new_units = mask & ~covered
                covered |= mask
                self.row.append(row_number)
                self.slot.append(slot)
                self.first.append(new_units)
                self.grade.append(evidence.best_grade(new_units))
        self.cases += rows.cases

    @cached_property
    def reported(self) -> Bools:
        """Rows whose stage the target reported."""
        return np.asarray(np.asarray(self.length) != NOT_REPORTED, dtype=np.bool_)

    @cached_property
    def graded(self) -> Bools:
        """Rows whose case has a unit with a grade above 0."""
        return np.array([bool(case.ideal) for case in self.cases], dtype=np.bool_)

    def table(self, rel: int | None) -> RankingTable:
        """Return the rankings as arrays, counting the required units or those of at least grade `rel`."""
        if rel not in self._tables:
            self._tables[rel] = self._build_table(rel)
        return self._tables[rel]

    def _build_table(self, rel: int | None) -> RankingTable:
        n = len(self.cases)
        length = np.maximum(np.asarray(self.length, dtype=np.int32), 0)
        shape = (n, int(length.max(initial=0)))
        row, slot = np.asarray(self.row, dtype=np.intp), np.asarray(self.slot, dtype=np.intp)
        levels = [case.required if rel is None else case.level(rel) for case in self.cases]
        grade = np.zeros(shape, dtype=np.int8)
        covered = np.zeros(shape, dtype=np.int32)
        judged = np.zeros(shape, dtype=np.bool_)
        grade[row, slot] = self.grade
        covered[row, slot] = [(mask & levels[r]).bit_count() for r, mask in zip(self.row, self.first, strict=True)]
        judged[row, slot] = True
        units = np.fromiter((level.bit_count() for level in levels), dtype=np.int32, count=n)
        return RankingTable(length, units, grade, covered, judged, self._ideal)

    @cached_property
    def _ideal(self) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
        sizes = np.fromiter((len(case.ideal) for case in self.cases), dtype=np.intp, count=len(self.cases))
        ideal = np.zeros((len(self.cases), int(sizes.max(initial=0))), dtype=np.int8)
        filled = np.arange(ideal.shape[1])[np.newaxis, :] < sizes[:, np.newaxis]
        ideal[filled] = list(chain.from_iterable(case.ideal for case in self.cases))
        return ideal


def _judged_slots(evidence: EvidenceIndex, ranked_stage: Ranked) -> list[tuple[int, int]]:
    """Return (slot, units) of the chunks that somebody judged, in rank order.

    Looking for the few judged ids in the list is much faster than looking up every chunk of it, and is the same where
    ids alone decide and none is repeated.
    """
    by_id = evidence.by_id
    distinct_ids, ids = ranked_stage.distinct, ranked_stage.ids
    if evidence.by_id_alone and len(distinct_ids) == len(ids) and len(by_id) <= len(ids):
        slots = [(ids.index(chunk_id), mask) for chunk_id, mask in by_id.items() if chunk_id in distinct_ids]
        if len(slots) > 1:
            slots.sort()
        return slots
    masks = evidence.masks(ranked_stage.stage.chunks)
    return [(slot, mask) for slot, mask in enumerate(masks) if mask is not None]


class OverlapFacts:
    """How much the first k chunks of two stages have in common."""

    def __init__(self, stage: str, other: str, k: int | None) -> None:
        self.stage, self.other, self.k = stage, other, k
        self.values: list[float] = []
        self.missing: list[bool] = []
        self.empty: list[bool] = []

    def add(self, rows: Rows) -> None:
        """Take some rows, in order."""
        for first_stage, second_stage in zip(rows.ranked(self.stage), rows.ranked(self.other), strict=True):
            value = None
            absent = first_stage is None or second_stage is None or first_stage.stage is second_stage.stage
            if first_stage is not None and second_stage is not None and not absent:
                value = ranking.overlap(first_stage.ids, second_stage.ids, self.k)
            self.missing.append(absent)
            self.empty.append(value is None)
            self.values.append(value or 0.0)


_REL = Key("required", doc="count units of at least this grade; default: the required units")
_ALL_GRADES = ("judged", "ndcg")  # they look at every grade: no level to count from
_STAGE = Key("retrieved", doc="the stage whose ranking is scored; `final` is the last before the context")


def _relevance_level(name: MetricName) -> int | None:
    rel = name.key("rel", "required")
    return None if rel == "required" else int(rel)


def _stage_name(name: MetricName) -> str:
    return CONTEXT if name.base.startswith("context_") else name.key("stage", "retrieved")


def _need_ranking(name: MetricName) -> tuple[FactKey, ...]:
    return ((RankingFacts, (_stage_name(name),)),)


def _values(table: RankingTable, name: MetricName) -> Floats:
    """The formula of each ranking metric: one line each."""
    k = name.k
    match name.base:
        case "hit":
            return ranking.hit(table, k)
        case "recall" | "context_recall":
            return ranking.recall(table, k, capped=name.key("cap", "false") == "true")
        case "precision":
            return ranking.precision(table, k, of_returned=name.key("of", "k") == "returned")
        case "context_precision":
            return ranking.precision(table)
        case "rr" | "context_rr":
            return ranking.reciprocal_rank(table, k)
        case "ap" | "context_ap":
            return ranking.average_precision(table, k)
        case "ndcg":
            return ranking.ndcg(table, k, gain=name.key("gain", "exp2"))
        case "judged":
            return ranking.judged(table, k)
        case "r_precision":
            return ranking.r_precision(table)
    raise AssertionError(name.base)


def ranking_column(batch: Batch, name: MetricName) -> ScoreColumn:
    """Score one ranking metric: not applicable without evidence or where the stage was not reported."""
    facts = batch.of(RankingFacts, _stage_name(name))
    table = facts.table(_relevance_level(name))
    empty = table.length == 0
    unless = [not_applicable(batch.denied, "evidence is forbidden to this user")]
    if name.base == "judged":
        unless.append(not_applicable(~batch.partial, "the golden set is judged completely"))
    elif name.base == "ndcg":
        unless.append(not_applicable(~facts.graded, "no evidence with a grade above 0"))
    else:
        unless.append(not_applicable(table.units == 0, "no evidence to find"))
    unless += _errors_before(facts, batch)
    unless.append(not_applicable(~facts.reported, f"stage {facts.stage} not reported"))
    if name.base == "judged":
        unless.append(not_applicable(empty, "empty ranking"))
    if name.base == "context_precision":
        unless.append(not_applicable(empty, "empty context"))
    return column(name, _values(table, name), *unless)


def _errors_before(facts: RankingFacts, batch: Batch) -> list[Verdict]:
    """Errors of the target that left this stage unreported; a stage reported before the failure is still scored."""
    return [(rows & ~facts.reported, status, reason) for rows, status, reason in batch.target_errors]


def _overlap_facts(name: MetricName) -> tuple[str, str, int | None]:
    return name.key("stage", "retrieved"), name.key("with", FINAL), name.k


def overlap_column(batch: Batch, name: MetricName) -> ScoreColumn:
    """Score how much of one stage's first k another stage shares."""
    facts = batch.of(OverlapFacts, *_overlap_facts(name))
    return column(
        name,
        np.asarray(facts.values, dtype=np.float64),
        *batch.target_errors,
        not_applicable(facts.missing, "fewer than two stages to compare"),
        not_applicable(facts.empty, "both rankings are empty"),
    )


def _ranking_row(
    name: str, summary: str, source: str, *, cut: str = "optional", keys: dict[str, Key] | None = None
) -> Grader:
    context = name.startswith("context_")
    all_keys: dict[str, Key] = {}
    if name not in _ALL_GRADES:
        all_keys["rel"] = _REL
    if not context:
        all_keys["stage"] = _STAGE
    all_keys |= keys or {}
    return Grader(
        name=name,
        family="context" if context else "retrieval",
        summary=summary,
        source=source,
        cut="no" if context else cut,  # type: ignore[arg-type]  # the literal is checked by the catalogue's tests
        keys=all_keys,
        undefined="no evidence to find, evidence forbidden, or the stage was not reported",
        needs=_need_ranking,
        compute=ranking_column,
    )


_TREC = "as trec_eval defines it"
GRADERS: tuple[Grader, ...] = (
    _ranking_row("hit", "Whether any of the first k chunks covers evidence.", "success_k, " + _TREC),
    _ranking_row(
        "recall",
        "Share of the units of evidence that the first k chunks cover.",
        f"{_TREC}; cap=true divides by min(units, k), as BEIR's capped recall",
        keys={"cap": Key("false", ("true", "false"), "divide by min(units, k)")},
    ),
    _ranking_row(
        "precision",
        "Share of the first k ranks that cover new evidence.",
        f"{_TREC}: divided by k; of=returned divides by min(k, returned)",
        cut="required",
        keys={"of": Key("k", ("k", "returned"), "what the relevant ranks are a share of")},
    ),
    _ranking_row(
        "rr", "1 / rank of the first chunk that covers evidence, 0 after k.", "reciprocal rank; its mean is MRR"
    ),
    _ranking_row(
        "ap", "Mean over the units of evidence of the precision at the rank that covers each.", f"map, {_TREC}"
    ),
    _ranking_row(
        "ndcg",
        "Discounted gain of the ranking over that of the best possible one.",
        "Järvelin & Kekäläinen 2002 with Burges' gain 2^grade − 1; gain=linear is trec_eval's",
        keys={"gain": Key("exp2", ("exp2", "linear"), "what a grade is worth")},
    ),
    replace(
        _ranking_row(
            "judged", "Share of the first k chunks that somebody judged.", "judged@k; defined for partial judgments"
        ),
        direction="neutral",
    ),
    _ranking_row(
        "r_precision", "Precision at rank R, R being the number of units of evidence.", f"Rprec, {_TREC}", cut="no"
    ),
    Grader(
        name="overlap",
        family="retrieval",
        summary="Share of the first k chunks that two stages have in common.",
        source="set overlap at k, divided by the longer cut list",
        direction="neutral",
        cut="optional",
        keys={"stage": _STAGE, "with": Key(FINAL, doc="the stage to compare with")},
        undefined="fewer than two stages, or both rankings empty",
        needs=lambda name: ((OverlapFacts, _overlap_facts(name)),),
        compute=overlap_column,
    ),
    _ranking_row(
        "context_recall",
        "Share of the units of evidence that the model was shown.",
        "`rag-trace` contract; after trimming",
    ),
    _ranking_row(
        "context_precision",
        "Share of the context's chunks that cover new evidence.",
        "`rag-trace` contract; a ratio, not an AP",
    ),
    _ranking_row(
        "context_rr", "1 / place of the first context chunk that covers evidence: is it first?", "rank-awareness"
    ),
    _ranking_row(
        "context_ap", "Average precision of the context, over all units of evidence.", "normalised by all units"
    ),
)
