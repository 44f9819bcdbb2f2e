"""Ranking metrics as array arithmetic over grades in rank order: of any stage, and of the context.

A `RankingTable` holds rankings that are already joined with their evidence: for every slot of every ranking, the grade
it gains and the number of units of evidence it covers for the first time. Each metric is then one or two lines, for one
case or a million. Slot r (from 0) of row i is rank r + 1. Rows are independent, and sums run rank by rank, so that the
value of a row does not depend on block size, padding or memory layout.

References: Järvelin & Kekäläinen, ACM TOIS 20(4), 2002 (DCG); Burges et al., ICML 2005 (gain 2^grade − 1);
the TREC definitions as published with trec_eval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from assay.metrics.cases.case_index import CaseIndex, EvidenceIndex
from assay.metrics.metric import (
    Batch,
    FactKey,
    JoinedRows,
    Metric,
    MetricKey,
    MetricName,
    Unscored,
    make_score_column,
    rows_not_applicable,
    rows_with_target_error,
)
from assay.metrics.retrieval.evidence_fields import (
    NO_TEXTS,
    describe_unreported_field,
    find_unreported_field,
    lacks_texts,
)
from assay.records.observations import (
    CONTEXT_STAGE,
    FINAL_STAGE,
    Chunk,
    StageRanking,
    describe_unreported_stage,
)
from assay.records.scores import ScoreColumn
from assay.stats.arrays import BoolArray, CountArray, FloatArray, GradeArray


class RankingTable(Struct, frozen=True):
    """Rankings of n cases joined with their evidence; arrays of shape (n, depth) are 0 beyond the end of a list.

    `length`: (n,) number of chunks returned. `units`: (n,) number of units of evidence to find. `grade`: (n, depth)
    highest grade among the units first covered in that slot, else 0. `covered`: (n, depth) number of units that the
    slot covers for the first time. `judged`: (n, depth) whether the chunk in the slot was judged. `ideal`: (n, width)
    grades of the units, descending.
    """

    length: CountArray
    units: CountArray
    grade: GradeArray
    covered: CountArray
    judged: BoolArray
    ideal: GradeArray

    @property
    def depth(self) -> int:
        """Number of slots of the longest ranking."""
        return int(self.grade.shape[1])


def compute_exponential_gain(grade: GradeArray) -> FloatArray:
    """Return 2^grade − 1 for each grade."""
    return np.asarray(np.exp2(grade) - 1.0, dtype=np.float64)


def compute_linear_gain(grade: GradeArray) -> FloatArray:
    """Return the grade itself, as trec_eval does."""
    return grade.astype(np.float64)


GAIN_FUNCTIONS: dict[str, Callable[[GradeArray], FloatArray]] = {
    "exp2": compute_exponential_gain,
    "linear": compute_linear_gain,
}


def _cut_depth(table: RankingTable, k: int | None) -> int:
    return table.depth if k is None else min(k, table.depth)


def _sum_by_rank(columns: npt.NDArray[Any], k: int, weight: Callable[[int], float] | None = None) -> FloatArray:
    """Add the first k columns from left to right, so that padding never changes the sum (ADR 0029)."""
    total = np.zeros(columns.shape[0], dtype=np.float64)
    for rank in range(k):
        total += columns[:, rank] if weight is None else columns[:, rank] * weight(rank)
    return total


def _discount(rank: int) -> float:
    return 1.0 / math.log2(rank + 2)


def _divide(numerator: FloatArray, denominator: npt.NDArray[Any] | float) -> FloatArray:
    """Return numerator / denominator, 0 where the denominator is 0; callers decide where that is undefined."""
    denominators = np.broadcast_to(np.asarray(denominator, dtype=np.float64), numerator.shape)
    return np.divide(numerator, denominators, out=np.zeros_like(numerator), where=denominators > 0)


def find_relevant_slots(table: RankingTable) -> BoolArray:
    """Return which slots, shape (n, depth), cover evidence for the first time; repeats are not relevant again."""
    return np.asarray(table.covered > 0)


def compute_hit_rate(table: RankingTable, k: int | None = None) -> FloatArray:
    """Return 1 if any of the first k chunks covers evidence, else 0; shape (n,)."""
    return np.asarray(find_relevant_slots(table)[:, : _cut_depth(table, k)].any(axis=1), dtype=np.float64)


def compute_recall(table: RankingTable, k: int | None = None, *, capped: bool = False) -> FloatArray:
    """Return the share of the units of evidence that the first k chunks cover. Range [0, 1]; 0 without units.

    `capped` divides by min(units, k) instead, so that 1 can be reached with more units than ranks.
    """
    covered_units = _sum_by_rank(table.covered, _cut_depth(table, k))
    if capped and k is not None:
        return np.minimum(_divide(covered_units, np.minimum(table.units, k)), 1.0)
    return _divide(covered_units, table.units)


def compute_precision(table: RankingTable, k: int | None = None, *, of_returned: bool = False) -> FloatArray:
    """Return the share of the first k ranks that cover new evidence. Range [0, 1].

    Divides by k, so that a short list does not look precise; with `of_returned` by min(k, length); without k by length.
    """
    relevant_slots = _sum_by_rank(find_relevant_slots(table), _cut_depth(table, k))
    if k is None:
        return _divide(relevant_slots, table.length)
    return _divide(relevant_slots, np.minimum(table.length, k) if of_returned else float(k))


def compute_reciprocal_rank(table: RankingTable, k: int | None = None) -> FloatArray:
    """Return 1 / rank of the first chunk that covers evidence, 0 if none of the first k does. Range [0, 1]."""
    relevant_slots = find_relevant_slots(table)[:, : _cut_depth(table, k)]
    if relevant_slots.shape[1] == 0:
        return np.zeros(relevant_slots.shape[0])
    return np.where(relevant_slots.any(axis=1), 1.0 / (relevant_slots.argmax(axis=1) + 1.0), 0.0)


def compute_average_precision(table: RankingTable, k: int | None = None) -> FloatArray:
    """Return the mean, over the units of evidence, of the precision at the rank that first covers each, 0 if none does.

    Range [0, 1]; 0 without units. A slot that covers several units counts once for each of them.
    """
    precision_sum = np.zeros(len(table.length))
    relevant_so_far = np.zeros(len(table.length))
    relevant_slots = find_relevant_slots(table)
    for rank in range(_cut_depth(table, k)):
        relevant_so_far += relevant_slots[:, rank]
        precision_sum += np.where(relevant_slots[:, rank], relevant_so_far / (rank + 1) * table.covered[:, rank], 0.0)
    return _divide(precision_sum, table.units)


def compute_ndcg(table: RankingTable, k: int | None = None, *, gain: str = "exp2") -> FloatArray:
    """Return the discounted cumulative gain over that of the best possible ranking of all judged units.

    Range [0, 1]; 0 where the ideal gain is 0. `gain`: "exp2" (2^grade − 1) or "linear" (the grade, as in trec_eval).
    The ideal ranking contains every judged unit, found or not, cut at k.
    """
    gains = GAIN_FUNCTIONS[gain]
    ideal_depth = table.ideal.shape[1] if k is None else min(k, table.ideal.shape[1])
    best = _sum_by_rank(gains(table.ideal[:, :ideal_depth]), ideal_depth, _discount)
    depth = _cut_depth(table, k)
    return _divide(_sum_by_rank(gains(table.grade[:, :depth]), depth, _discount), best)


def compute_judged_share(table: RankingTable, k: int | None = None) -> FloatArray:
    """Return the share of the first min(k, length) chunks that were judged. Range [0, 1]; 0 for an empty list."""
    returned = table.length if k is None else np.minimum(table.length, k)
    return _divide(_sum_by_rank(table.judged, _cut_depth(table, k)), returned)


def compute_r_precision(table: RankingTable) -> FloatArray:
    """Return the precision at rank R, the number of units of evidence. Range [0, 1]; 0 without units."""
    ranks = np.arange(table.depth, dtype=np.int32)
    relevant_within_r = find_relevant_slots(table) & (ranks[np.newaxis, :] < table.units[:, np.newaxis])
    return _divide(_sum_by_rank(relevant_within_r, table.depth), table.units)


def compute_ranking_overlap(first: list[str], second: list[str], k: int | None = None) -> float | None:
    """Return the share of ids that two rankings have in common among their first k, relative to the longer list.

    Range [0, 1]; None if both are empty. Repeats count once.

    >>> compute_ranking_overlap(["a", "b", "c"], ["b", "a", "d"], k=2)
    1.0
    """
    first_ids, second_ids = set(first[:k]), set(second[:k])
    larger_size = max(len(first_ids), len(second_ids))
    return len(first_ids & second_ids) / larger_size if larger_size else None


class RankingInput(Protocol):
    """Rankings of one stage for n rows, and what decides whether they have a score; arrays have shape (n,).

    Joined cases (`RankingFacts`) and blocks of TREC runs implement it, so that `score_ranking` scores both.
    """

    @property
    def stage(self) -> str:
        """Name of the stage, for messages."""

    @property
    def is_stage_reported(self) -> BoolArray:
        """Rows whose stage the target reported."""

    @property
    def unmatchable(self) -> Sequence[Unscored]:
        """Rows with chunks that lack the id or the field by which the evidence is told, one entry for each reason."""

    @property
    def has_grades(self) -> BoolArray:
        """Rows whose case has a unit with a grade above 0."""

    @property
    def is_denied(self) -> BoolArray:
        """Rows whose evidence is forbidden to the user."""

    @property
    def is_partial(self) -> BoolArray:
        """Rows of a golden set in which not every chunk was judged."""

    @property
    def target_errors(self) -> Sequence[Unscored]:
        """One error condition for each way in which the target failed."""

    def ranking_table(self, rel: int | None) -> RankingTable:
        """Return the rankings as arrays, counting the required units or those of at least grade `rel`."""


NOT_REPORTED = -1
NO_IDS = "chunks without ids, and evidence that is named by ids only (ids in the reply, or quotes in the golden set)"


class RankingFacts:
    """The joined ranking of one stage, a `RankingInput`: each row's length, and the slots that hold a judged chunk."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.cases: list[CaseIndex] = []
        self.error_codes: list[str] = []
        self.length: list[int] = []
        self.row: list[int] = []
        self.slot: list[int] = []
        self.first: list[int] = []
        self.grade: list[int] = []
        self.unmatchable_rows: dict[str, list[int]] = {}
        self._tables: dict[int | None, RankingTable] = {}

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order: which units each slot covers that no earlier slot covered."""
        ranked = rows.ranked_stages(self.stage)
        self.length += [NOT_REPORTED if ranked_stage is None else len(ranked_stage.ids) for ranked_stage in ranked]
        joined = zip(rows.cases, ranked, rows.observations, strict=True)
        for row_number, (case, ranked_stage, observation) in enumerate(joined, len(self.cases)):
            evidence = case.evidence
            if ranked_stage is None:
                continue
            if ranked_stage.has_text_ids and evidence.needs_ids:
                self.unmatchable_rows.setdefault(NO_IDS, []).append(row_number)
                continue
            is_foreign = ranked_stage.has_text_ids or evidence.has_foreign(ranked_stage.distinct)
            if evidence.by_id_alone and not is_foreign and ranked_stage.distinct.isdisjoint(evidence.by_id):
                continue
            chunks = evidence.complete_texts(ranked_stage.stage.chunks, observation, is_foreign=is_foreign)
            covered = 0
            for slot, mask in _judged_slots(evidence, ranked_stage, chunks):
                new_units = mask & ~covered
                covered |= mask
                self.row.append(row_number)
                self.slot.append(slot)
                self.first.append(new_units)
                self.grade.append(evidence.best_grade(new_units))
            if not evidence.by_id_alone:
                self._note_unreported_field(case, chunks, covered, row_number)
        self.cases += rows.cases
        self.error_codes += rows.error_codes

    def _note_unreported_field(self, case: CaseIndex, chunks: Sequence[Chunk], covered: int, row_number: int) -> None:
        name = find_unreported_field(case, chunks, covered)
        if name is not None:
            self.unmatchable_rows.setdefault(describe_unreported_field(name), []).append(row_number)
        elif lacks_texts(case, chunks, covered):
            self.unmatchable_rows.setdefault(NO_TEXTS, []).append(row_number)

    @cached_property
    def is_stage_reported(self) -> BoolArray:
        """Rows whose stage the target reported."""
        return np.asarray(np.asarray(self.length) != NOT_REPORTED, dtype=np.bool_)

    @cached_property
    def unmatchable(self) -> list[Unscored]:
        """Rows with chunks that lack the id or the field by which the evidence is told, one entry for each reason."""
        unscored = []
        for reason, row_numbers in sorted(self.unmatchable_rows.items()):
            rows = np.zeros(len(self.cases), dtype=np.bool_)
            rows[row_numbers] = True
            unscored.append(rows_not_applicable(rows, reason))
        return unscored

    @cached_property
    def has_grades(self) -> BoolArray:
        """Rows whose case has a unit with a grade above 0."""
        return np.array([bool(case.ideal) for case in self.cases], dtype=np.bool_)

    @cached_property
    def is_denied(self) -> BoolArray:
        """Rows whose evidence is forbidden to the user."""
        return np.array([case.denied for case in self.cases], dtype=np.bool_)

    @cached_property
    def is_partial(self) -> BoolArray:
        """Rows of a golden set in which not every chunk was judged."""
        return np.array([case.partial for case in self.cases], dtype=np.bool_)

    @cached_property
    def target_errors(self) -> list[Unscored]:
        """One error condition for each code with which the target failed."""
        return rows_with_target_error(self.error_codes)

    def ranking_table(self, rel: int | None) -> RankingTable:
        """Return the rankings as arrays, counting the required units or those of at least grade `rel`."""
        if rel not in self._tables:
            self._tables[rel] = self._build_table(rel)
        return self._tables[rel]

    def _build_table(self, rel: int | None) -> RankingTable:
        n = len(self.cases)
        length = np.maximum(np.asarray(self.length, dtype=np.int32), 0)
        shape = (n, int(length.max(initial=0)))
        row, slot = np.asarray(self.row, dtype=np.intp), np.asarray(self.slot, dtype=np.intp)
        levels = [case.required if rel is None else case.mask_of_grade(rel) for case in self.cases]
        grade = np.zeros(shape, dtype=np.int8)
        covered = np.zeros(shape, dtype=np.int32)
        judged = np.zeros(shape, dtype=np.bool_)
        grade[row, slot] = self.grade
        covered[row, slot] = [(mask & levels[r]).bit_count() for r, mask in zip(self.row, self.first, strict=True)]
        judged[row, slot] = True
        units = np.fromiter((level.bit_count() for level in levels), dtype=np.int32, count=n)
        return RankingTable(length, units, grade, covered, judged, self._ideal)

    @cached_property
    def _ideal(self) -> GradeArray:
        sizes = np.fromiter((len(case.ideal) for case in self.cases), dtype=np.intp, count=len(self.cases))
        ideal = np.zeros((len(self.cases), int(sizes.max(initial=0))), dtype=np.int8)
        filled = np.arange(ideal.shape[1])[np.newaxis, :] < sizes[:, np.newaxis]
        ideal[filled] = list(chain.from_iterable(case.ideal for case in self.cases))
        return ideal


def _judged_slots(
    evidence: EvidenceIndex, ranked_stage: StageRanking, chunks: Sequence[Chunk]
) -> list[tuple[int, int]]:
    """Return (slot, units) of the chunks of a ranking that somebody judged, in rank order.

    Looking for the few judged ids in the list is much faster than looking up every chunk of it, and is the same where
    ids alone decide and none is repeated.
    """
    by_id = evidence.by_id
    distinct_ids, ids = ranked_stage.distinct, ranked_stage.ids
    is_matched_by_id = evidence.by_id_alone and not ranked_stage.has_text_ids and not evidence.has_foreign(distinct_ids)
    if is_matched_by_id and len(distinct_ids) == len(ids) and len(by_id) <= len(ids):
        slots = [(ids.index(chunk_id), mask) for chunk_id, mask in by_id.items() if chunk_id in distinct_ids]
        if len(slots) > 1:
            slots.sort()
        return slots
    masks = evidence.unit_masks(chunks)
    return [(slot, mask) for slot, mask in enumerate(masks) if mask is not None]


class OverlapFacts:
    """How much the first k chunks of two stages have in common."""

    def __init__(self, stage: str, other: str, k: int | None) -> None:
        self.stage, self.other, self.k = stage, other, k
        self.values: list[float] = []
        self.missing: list[bool] = []
        self.empty: list[bool] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        for first_stage, second_stage in zip(
            rows.ranked_stages(self.stage), rows.ranked_stages(self.other), strict=True
        ):
            value = None
            absent = first_stage is None or second_stage is None or first_stage.stage is second_stage.stage
            if first_stage is not None and second_stage is not None and not absent:
                value = compute_ranking_overlap(first_stage.ids, second_stage.ids, self.k)
            self.missing.append(absent)
            self.empty.append(value is None)
            self.values.append(value or 0.0)


_REL = MetricKey("required", doc="count units of at least this grade; default: the required units")
_ALL_GRADES = ("judged", "ndcg")  # they look at every grade: no level to count from
_STAGE = MetricKey("retrieved", doc="the stage whose ranking is scored; `final` is the last before the context")


def _relevance_level(name: MetricName) -> int | None:
    rel = name.key_value("rel", "required")
    return None if rel == "required" else int(rel)


def _stage_name(name: MetricName) -> str:
    return CONTEXT_STAGE if name.base.startswith("context_") else name.key_value("stage", "retrieved")


def _need_ranking(name: MetricName) -> tuple[FactKey, ...]:
    return ((RankingFacts, (_stage_name(name),)),)


def compute_ranking_values(table: RankingTable, name: MetricName) -> FloatArray:
    """The formula of each ranking metric: one line each."""
    k = name.k
    match name.base:
        case "hit":
            return compute_hit_rate(table, k)
        case "recall" | "context_recall":
            return compute_recall(table, k, capped=name.key_value("cap", "false") == "true")
        case "precision":
            return compute_precision(table, k, of_returned=name.key_value("of", "k") == "returned")
        case "context_precision":
            return compute_precision(table)
        case "rr" | "context_rr":
            return compute_reciprocal_rank(table, k)
        case "ap" | "context_ap":
            return compute_average_precision(table, k)
        case "ndcg":
            return compute_ndcg(table, k, gain=name.key_value("gain", "exp2"))
        case "judged":
            return compute_judged_share(table, k)
        case "r_precision":
            return compute_r_precision(table)
    raise AssertionError(name.base)


def score_ranking(rankings: RankingInput, name: MetricName) -> ScoreColumn:
    """Score one ranking metric. This is the one place that decides where a ranking has no score.

    Not applicable where the evidence is forbidden, where there is nothing to find, and where the stage was not
    reported; an error where the target failed before it reported the stage. A stage that was reported before the
    failure is scored.
    """
    table = rankings.ranking_table(_relevance_level(name))
    empty = table.length == 0
    unless = [rows_not_applicable(rankings.is_denied, "evidence is forbidden to this user")]
    if name.base == "judged":
        unless.append(rows_not_applicable(~rankings.is_partial, "the golden set is judged completely"))
    elif name.base == "ndcg":
        unless.append(rows_not_applicable(~rankings.has_grades, "no evidence with a grade above 0"))
    else:
        unless.append(rows_not_applicable(table.units == 0, "no evidence to find"))
    unreported = ~rankings.is_stage_reported
    unless += [(rows & unreported, status, reason) for rows, status, reason in rankings.target_errors]
    unless.append(rows_not_applicable(unreported, describe_unreported_stage(rankings.stage)))
    unless += rankings.unmatchable
    if name.base == "judged":
        unless.append(rows_not_applicable(empty, "empty ranking"))
    if name.base == "context_precision":
        unless.append(rows_not_applicable(empty, "empty context"))
    return make_score_column(name, compute_ranking_values(table, name), *unless)


def _compute_ranking_column(batch: Batch, name: MetricName) -> ScoreColumn:
    return score_ranking(batch.get_facts(RankingFacts, _stage_name(name)), name)


def needs_only_ranking_of(metric: Metric, name: MetricName, stage: str) -> bool:
    """Return whether `score_ranking` can score a metric from the rankings of one stage alone.

    >>> recall = next(metric for metric in RANKING_METRICS if metric.name == "recall")
    >>> needs_only_ranking_of(recall, MetricName("recall", k=5), "retrieved")
    True
    >>> needs_only_ranking_of(recall, MetricName("recall", (("stage", "final"),), 5), "retrieved")
    False
    """
    return metric.compute is _compute_ranking_column and metric.needs(name) == ((RankingFacts, (stage,)),)


def _overlap_facts(name: MetricName) -> tuple[str, str, int | None]:
    return name.key_value("stage", "retrieved"), name.key_value("with", FINAL_STAGE), name.k


def compute_overlap_column(batch: Batch, name: MetricName) -> ScoreColumn:
    """Score how much of one stage's first k another stage shares."""
    facts = batch.get_facts(OverlapFacts, *_overlap_facts(name))
    return make_score_column(
        name,
        np.asarray(facts.values, dtype=np.float64),
        *batch.target_errors,
        rows_not_applicable(facts.missing, "fewer than two stages to compare"),
        rows_not_applicable(facts.empty, "both rankings are empty"),
    )


def _ranking_row(
    name: str, summary: str, source: str, *, cut: str = "optional", keys: dict[str, MetricKey] | None = None
) -> Metric:
    context = name.startswith("context_")
    all_keys: dict[str, MetricKey] = {}
    if name not in _ALL_GRADES:
        all_keys["rel"] = _REL
    if not context:
        all_keys["stage"] = _STAGE
    all_keys |= keys or {}
    return Metric(
        name=name,
        family="context" if context else "retrieval",
        summary=summary,
        source=source,
        cut="no" if context else cut,  # type: ignore[arg-type]  # the literal is checked by the catalogue's tests
        keys=all_keys,
        undefined="no evidence to find, evidence forbidden, or the stage was not reported",
        needs=_need_ranking,
        compute=_compute_ranking_column,
    )


_TREC = "as trec_eval defines it"
RANKING_METRICS: tuple[Metric, ...] = (
    _ranking_row("hit", "Whether any of the first k chunks covers evidence.", "success_k, " + _TREC),
    _ranking_row(
        "recall",
        "Share of the units of evidence that the first k chunks cover.",
        f"{_TREC}; cap=true divides by min(units, k), as BEIR's capped recall",
        keys={"cap": MetricKey("false", ("true", "false"), "divide by min(units, k)")},
    ),
    _ranking_row(
        "precision",
        "Share of the first k ranks that cover new evidence.",
        f"{_TREC}: divided by k; of=returned divides by min(k, returned)",
        cut="required",
        keys={"of": MetricKey("k", ("k", "returned"), "what the relevant ranks are a share of")},
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
        keys={"gain": MetricKey("exp2", ("exp2", "linear"), "what a grade is worth")},
    ),
    structs.replace(
        _ranking_row(
            "judged", "Share of the first k chunks that somebody judged.", "judged@k; defined for partial judgments"
        ),
        direction="neutral",
    ),
    _ranking_row(
        "r_precision", "Precision at rank R, R being the number of units of evidence.", f"Rprec, {_TREC}", cut="no"
    ),
    Metric(
        name="overlap",
        family="retrieval",
        summary="Share of the first k chunks that two stages have in common.",
        source="set overlap at k, divided by the longer cut list",
        direction="neutral",
        cut="optional",
        keys={"stage": _STAGE, "with": MetricKey(FINAL_STAGE, doc="the stage to compare with")},
        undefined="fewer than two stages, or both rankings empty",
        needs=lambda name: ((OverlapFacts, _overlap_facts(name)),),
        compute=compute_overlap_column,
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
