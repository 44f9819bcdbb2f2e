"""Whether a system treats the variants of a case alike where it should and differently where it should (ADR 82).

A cluster is a case with its variants. What cannot be told is unknown: it is no agreement, and a range says what it
could change. Losses are paired by case, tested by clusters, and adjusted as one family.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.comparison.claims import compute_confidence
from assay.comparison.twin_distinction import TwinAnswer, TwinSide, check_distinction
from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.metrics.case_checks import CORRECT_ANSWER, JUDGED_CORRECTNESS
from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.template_columns import (
    ANSWER,
    BEHAVIOUR,
    CITATION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    MRR_10,
    RECALL_10,
    find_first_present,
)
from assay.records.golden_set import ALIKE_KINDS, DIFFERING_KINDS, Case
from assay.records.scores import (
    SCORED,
    Interval,
    ScoreTable,
    TwinLossVerdict,
    TwinRate,
    TwinResult,
    UnknownRange,
    VariantLoss,
    VariantPair,
    VariantState,
)
from assay.scoring.case_clusters import name_clusters
from assay.scoring.case_outcomes import classify_checks
from assay.scoring.column_values import find_column, get_range
from assay.scoring.paired_scores import find_scored_rows
from assay.scoring.summaries import MIN_TESTED_CASES
from assay.stats.arrays import BoolArray, FloatArray, RowIndices
from assay.stats.intervals import estimate_mean_interval
from assay.stats.multiple_testing import adjust_benjamini_hochberg
from assay.stats.paired_tests import PairedSample, pair_samples
from assay.stats.samples import encode_clusters
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.normalisation import fold_text
from assay.text.refusals.detected_behaviour import UNKNOWN

ERROR_SHARE = 0.05
"""The share of equal systems in which the losses of all kinds and metrics together may show one (ADR 49)."""
LOSS_METRICS = (("failed",), ANSWER, BEHAVIOUR, RECALL_10, MRR_10, CONTEXT_RECALL, CITATION, FAITHFULNESS)
"""The metrics whose loss is measured: of each group the first that a table has."""


AnswersByCase = Mapping[str, TwinAnswer]


class _Pair(NamedTuple):
    base: Case
    variant: Case
    state: VariantState
    detail: str


def measure_twins(
    bases: Sequence[Case],
    variants: Sequence[Case],
    base_table: ScoreTable,
    variant_table: ScoreTable,
    answers: AnswersByCase,
) -> TwinResult:
    """Return how one configuration treats the variants of its cases.

    `base_table` has a row for each of `bases` and `variant_table` one for each of `variants`, in their order. A variant
    whose case is not among `bases` is compared with nothing.
    """
    base_by_id = {case.id: case for case in bases}
    paired = [variant for variant in variants if variant.variant_of in base_by_id]
    sides = _collect_sides(bases, base_table, answers) | _collect_sides(variants, variant_table, answers)
    pairs = []
    for variant in paired:
        base = base_by_id[variant.variant_of or ""]
        compare = _compare_alike if variant.variant in ALIKE_KINDS else check_distinction
        pairs.append(_Pair(base, variant, *compare(sides[base.id], sides[variant.id])))
    alike = [pair for pair in pairs if pair.variant.variant in ALIKE_KINDS]
    differing = [pair for pair in pairs if pair.variant.variant in DIFFERING_KINDS]
    return TwinResult(
        clusters=len({pair.base.id for pair in pairs}),
        alike=len(alike),
        differing=len(differing),
        unpaired=len(variants) - len(paired),
        consistency=_rate_clusters(alike),
        distinction=_rate_clusters(differing),
        difference=_rate_pairs(differing),
        losses=tuple(_measure_losses(base_by_id, paired, _Tables(base_table, variant_table))),
        pairs=tuple(
            VariantPair(pair.base.id, pair.variant.id, str(pair.variant.variant), pair.state, pair.detail)
            for pair in pairs
            if pair.state != "as expected"
        ),
    )


# ── one variant beside its case ──────────────────────────────────────────────────────────────────────────────────────


def _collect_sides(cases: Sequence[Case], table: ScoreTable, answers: AnswersByCase) -> dict[str, TwinSide]:
    checks = {row.case_id: row for row in table.checks}
    missing = set(table.missing)
    has_correctness = _find_scored_rows(table, (CORRECT_ANSWER, JUDGED_CORRECTNESS))
    has_leak_check = _find_scored_rows(table, ("visibility_leaks",))
    sides = {}
    for row, case in enumerate(cases):
        case_checks = checks.get(case.id)
        outcome = None if case.id in missing else classify_checks(case_checks)
        answer = answers.get(case.id, TwinAnswer(None, ""))
        sides[case.id] = TwinSide(
            case, answer, outcome, case_checks, bool(has_correctness[row]), bool(has_leak_check[row])
        )
    return sides


def _find_scored_rows(table: ScoreTable, metrics: Sequence[str]) -> BoolArray:
    """Return which rows have a score of any of some metrics."""
    is_scored = np.zeros(len(table.case_ids), dtype=np.bool_)
    for metric in metrics:
        if metric in table.columns:
            is_scored |= table.columns[metric].status == SCORED
    return is_scored


def _compare_alike(base: TwinSide, variant: TwinSide) -> tuple[VariantState, str]:
    """Return whether a system did the same with both: verdict, behaviour and answer."""
    if base.outcome is None or variant.outcome is None:
        return "unknown", "no observation"
    if {base.outcome, variant.outcome} == {"passed", "failed"}:
        return "not as expected", f"{base.outcome} → {variant.outcome}"
    behaviours = [side.answer.behaviour for side in (base, variant) if side.answer.behaviour not in ("", UNKNOWN)]
    if len(set(behaviours)) == 2:
        return "not as expected", f"{behaviours[0]} → {behaviours[1]}"
    if base.outcome == variant.outcome == "passed":
        return "as expected", ""
    return _compare_answers(base, variant)


def _compare_answers(base: TwinSide, variant: TwinSide) -> tuple[VariantState, str]:
    """Return whether two answers agree of which neither is known to be right."""
    first, second = base.answer, variant.answer
    if first.text is None and second.text is None:
        is_same = base.failed == variant.failed
        return ("as expected", "") if is_same else ("not as expected", "other checks fail")
    if first.behaviour == second.behaviour not in ("", UNKNOWN, ANSWER_BEHAVIOUR):
        return "as expected", ""
    if fold_text(first.text or "") == fold_text(second.text or ""):
        return "as expected", ""
    if _contradict(first.text or "", second.text or ""):
        return "not as expected", "other quantities"
    return "unknown", "nothing tells whether the answers agree"


def _contradict(first: str, second: str) -> bool:
    judgments = [*judge_quantities(first, second), *judge_quantities(second, first)]
    return any(judgment.state == "denied" for judgment in judgments)


# ── shares ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rate_clusters(pairs: Sequence[_Pair]) -> TwinRate:
    """Return the share of cases all of whose variants were treated alike; one that was not decides."""
    states: dict[str, VariantState] = {}
    bases: dict[str, Case] = {}
    for pair in pairs:
        bases[pair.base.id] = pair.base
        earlier = states.get(pair.base.id, "as expected")
        if "not as expected" in (earlier, pair.state):
            states[pair.base.id] = "not as expected"
        else:
            states[pair.base.id] = "unknown" if "unknown" in (earlier, pair.state) else "as expected"
    return _rate([(bases[name], state) for name, state in states.items()])


def _rate_pairs(pairs: Sequence[_Pair]) -> TwinRate:
    return _rate([(pair.base, pair.state) for pair in pairs])


def _rate(units: Sequence[tuple[Case, VariantState]]) -> TwinRate:
    """Return the share of units that are as expected of those that can be told, by clusters of their cases."""
    names = name_clusters([base for base, _ in units])
    decided = [
        (name, state == "as expected") for name, (_, state) in zip(names, units, strict=True) if state != "unknown"
    ]
    unknown = len(units) - len(decided)
    good = sum(is_good for _, is_good in decided)
    span = UnknownRange(unknown, good / len(units), (good + unknown) / len(units)) if unknown else None
    if not decided:
        return TwinRate(None, None, 0, good, span)
    values = np.array([float(is_good) for _, is_good in decided])
    labels = [label for label, _ in decided]
    clusters = encode_clusters(labels, len(labels)) if len(set(labels)) < len(labels) else None
    bounds = estimate_mean_interval(values, clusters=clusters, low=0.0, high=1.0)
    interval = None if bounds is None else Interval(bounds.low, bounds.high, bounds.method, note=bounds.note)
    return TwinRate(good / len(decided), interval, len(decided), good, span)


# ── losses ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class _LossTest(NamedTuple):
    loss: VariantLoss
    sample: PairedSample | None
    p: float | None


def _measure_losses(base_by_id: Mapping[str, Case], variants: Sequence[Case], tables: _Tables) -> Iterator[VariantLoss]:
    """Yield the loss of each kind of alike variants on each metric; the tests of all of them are one family."""
    tests = list(_test_losses(base_by_id, variants, tables))
    tested = [test for test in tests if test.p is not None]
    adjusted = iter(adjust_benjamini_hochberg([test.p or 0.0 for test in tested]))
    p_values = {id(test): next(adjusted) for test in tested}
    confidence = compute_confidence(ERROR_SHARE, list(p_values.values())) if tested else 0.95
    for test in tests:
        yield _conclude(test, p_values.get(id(test)), confidence)


class _VariantsOfKind:
    """The variants of one kind beside their cases, as rows of the two tables."""

    def __init__(self, kind: str, variants: Sequence[Case], bases: Sequence[Case], tables: _Tables) -> None:
        self._kind, self._tables = kind, tables
        self._base_rows = tables.find_rows(tables.base, [base.id for base in bases])
        self._variant_rows = tables.find_rows(tables.variant, [variant.id for variant in variants])
        labels = name_clusters(bases)
        self._clusters = encode_clusters(labels, len(labels)) if len(set(labels)) < len(labels) else None

    def test_metric(self, metric: str) -> _LossTest | None:
        """Return the loss on one metric with its test; None without a pair that was scored on both sides."""
        metric_row = find_metric(parse_metric(metric))
        before = find_column(self._tables.base, parse_metric(metric))
        after = find_column(self._tables.variant, parse_metric(metric))
        assert before is not None and after is not None
        paired = find_scored_rows(before)[0][self._base_rows] & find_scored_rows(after)[0][self._variant_rows]
        if not paired.any():
            return None
        first, second = before.values[self._base_rows], after.values[self._variant_rows]
        low, high = get_range(metric_row)
        span = None if low is None or high is None else high - low
        subtracted, minuend = (first, second) if metric_row.direction == "lower" else (second, first)
        sides = _as_row(subtracted, paired), _as_row(minuend, paired)
        sample = pair_samples(*sides, paired[None], self._clusters, [span])[0]
        assert sample is not None
        means = float(first[paired].mean()), float(second[paired].mean())
        loss = VariantLoss(self._kind, metric, sample.n, sample.units, *means, sample.mean + 0.0)
        if sample.n < MIN_TESTED_CASES:
            note = f"n < {MIN_TESTED_CASES}: described, not tested"
            return _LossTest(replace(loss, note=note), None, None)
        p_value, method = sample.test()
        note = "" if p_value is not None else "one cluster: not tested"
        return _LossTest(replace(loss, method=method, note=note), sample, p_value)


class _Tables(NamedTuple):
    base: ScoreTable
    variant: ScoreTable

    @staticmethod
    def find_rows(table: ScoreTable, case_ids: Iterable[str]) -> RowIndices:
        """Return the rows of some cases."""
        row_by_case = {case_id: row for row, case_id in enumerate(table.case_ids)}
        return np.array([row_by_case[case_id] for case_id in case_ids], dtype=np.intp)


def _test_losses(base_by_id: Mapping[str, Case], variants: Sequence[Case], tables: _Tables) -> Iterator[_LossTest]:
    metrics = _list_loss_metrics(tables)
    for kind in ALIKE_KINDS:
        chosen = [variant for variant in variants if variant.variant == kind]
        if not chosen:
            continue
        bases = [base_by_id[variant.variant_of or ""] for variant in chosen]
        of_kind = _VariantsOfKind(kind, chosen, bases, tables)
        yield from filter(None, map(of_kind.test_metric, metrics))


def _as_row(values: FloatArray, paired: BoolArray) -> FloatArray:
    return np.where(paired, values, 0.0)[None]


def _conclude(test: _LossTest, p_adjusted: float | None, confidence: float) -> VariantLoss:
    """Return a loss with its interval and verdict: significant where the adjusted p and the interval agree (ADR 49)."""
    loss, sample = test.loss, test.sample
    if sample is None or p_adjusted is None:
        return loss
    bounds = sample.estimate_interval(confidence)
    verdict: TwinLossVerdict = "not significant"
    if bounds is not None and p_adjusted <= ERROR_SHARE:
        verdict = "loses" if bounds.low > 0 else "gains" if bounds.high < 0 else "not significant"
    interval = None if bounds is None else Interval(bounds.low, bounds.high, bounds.method, confidence, bounds.note)
    return replace(loss, interval=interval, p=test.p, p_adjusted=p_adjusted, verdict=verdict)


def _list_loss_metrics(tables: _Tables) -> list[str]:
    """Return the metrics whose loss is measured, those that both tables scored."""
    shared = tables.base.columns.keys() & tables.variant.columns.keys()
    names = (find_first_present(group, shared) for group in LOSS_METRICS)
    return [name for name in names if name is not None]
