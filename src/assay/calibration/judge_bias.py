"""Bias and consistency of a scorer, and the items on which it disagrees most with human labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import fsum

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from assay.calibration.human_labels import MajorityLabel, ScorerLabel
from assay.calibration.rater_agreement import ItemKey, ReportedEstimate, is_pass
from assay.stats.bootstrap import bootstrap_interval
from assay.stats.intervals import estimate_mean_interval
from assay.stats.paired_tests import compare_paired_scores

MAX_LISTED = 20
MIN_DISAGREEMENT = 0.25
"""The smallest difference from human labels that counts as a disagreement: half a step of a scale of three labels."""
MAX_SCORER_DIFFERENCE = 0.4
"""Items on which two scorers differ by more than this need human review, as in the tool-side evaluator (ADR 0038)."""
LENIENT, STRICT, EVEN = "too lenient", "too strict", "no significant direction"


class JudgeBias(Struct, frozen=True):
    """The bias of a scorer: `leniency` is the mean difference scorer minus human label, above 0 if it is too lenient.

    `too_lenient` counts items that people failed and the scorer passed, `too_strict` the opposite. `people` and
    `scorer` are the means on the same items (their difference is the grade inflation). `length` is Spearman's rank
    correlation of the difference with the length of the answer, None if either does not vary.
    """

    direction: str
    leniency: ReportedEstimate
    too_lenient: int
    too_strict: int
    people: float
    scorer: float
    length: ReportedEstimate | None


class VoteConsistency(Struct, frozen=True):
    """How often a scorer contradicts itself on items judged several times.

    `flips` is the share of pairs of votes that differ, `unsteady` the share of items whose votes are not all the same.
    """

    items: int
    votes: int
    flips: float
    unsteady: float


class Disagreement(Struct, frozen=True):
    """One item on which scorer and human labels disagree, with the reasons of both."""

    case_id: str
    config_id: str
    item: str
    text: str
    people: float
    scorer: float
    people_reasons: tuple[str, ...]
    scorer_reason: str


class ScorerDifference(Struct, frozen=True):
    """Two judges or rubrics compared on the same labels.

    The record holds the share of items on which each is right, the `gain` of the second over the first, and the share
    on which both agree (`same`).
    """

    first: str
    second: str
    n: int
    first_right: float
    second_right: float
    gain: ReportedEstimate
    p: float | None
    p_method: str
    same: float


def measure_bias(
    pairs: Sequence[tuple[ItemKey, float, float]], lengths: Mapping[tuple[str, str], int], seed: int = 0
) -> JudgeBias:
    """Return the bias over tuples (item, human value, scorer's value), at least one.

    `lengths` are those of the answers by case and configuration.
    """
    gaps = [scorer_value - human_value for _, human_value, scorer_value in pairs]
    cases = [key[0] for key, _, _ in pairs]
    mean = fsum(gaps) / len(gaps)
    bounds = estimate_mean_interval(gaps, clusters=cases, low=-1.0, high=1.0)
    direction = EVEN
    if bounds is not None and (bounds.low > 0 or bounds.high < 0):
        direction = LENIENT if mean > 0 else STRICT
    with_length = [(key, gap) for (key, _, _), gap in zip(pairs, gaps, strict=True) if key[:2] in lengths]
    return JudgeBias(
        direction=direction,
        leniency=ReportedEstimate.from_bounds(mean, bounds) or ReportedEstimate(mean),
        too_lenient=sum(is_pass(scorer_value) and not is_pass(human_value) for _, human_value, scorer_value in pairs),
        too_strict=sum(is_pass(human_value) and not is_pass(scorer_value) for _, human_value, scorer_value in pairs),
        people=fsum(human_value for _, human_value, _ in pairs) / len(pairs),
        scorer=fsum(scorer_value for _, _, scorer_value in pairs) / len(pairs),
        length=_compute_rank_correlation(
            [gap for _, gap in with_length],
            [lengths[key[:2]] for key, _ in with_length],
            [key[0] for key, _ in with_length],
            seed,
        ),
    )


def measure_consistency(votes: Mapping[ItemKey, Sequence[str]]) -> VoteConsistency | None:
    """Return the consistency of repeated votes; None if nothing was judged more than once."""
    repeated = [item_votes for item_votes in votes.values() if len(item_votes) > 1]
    if not repeated:
        return None
    shares = []
    for item_votes in repeated:
        pairs = list(combinations(item_votes, 2))
        shares.append(sum(first != second for first, second in pairs) / len(pairs))
    unsteady = sum(len(set(item_votes)) > 1 for item_votes in repeated) / len(repeated)
    return VoteConsistency(len(repeated), sum(map(len, repeated)), float(np.mean(sorted(shares))), unsteady)


def find_worst_disagreements(
    keys: Sequence[ItemKey],
    majority: Mapping[ItemKey, MajorityLabel],
    values: Mapping[ItemKey, float],
    scorer_labels: Mapping[ItemKey, ScorerLabel],
) -> tuple[Disagreement, ...]:
    """Return the items on which scorer and human labels differ most, at most 20, the largest difference first.

    Differences below 0.25 are left out.
    """
    by_distance = sorted((-abs(values[key] - majority[key].value), key) for key in keys)
    return tuple(
        Disagreement(
            *key,
            majority[key].text,
            majority[key].value,
            values[key],
            majority[key].notes,
            scorer_labels[key].reasoning,
        )
        for negative_distance, key in by_distance[:MAX_LISTED]
        if -negative_distance >= MIN_DISAGREEMENT
    )


def find_distant_items(
    first: Mapping[ItemKey, ScorerLabel],
    second: Mapping[ItemKey, ScorerLabel],
    first_values: Mapping[ItemKey, float],
    second_values: Mapping[ItemKey, float],
) -> tuple[Disagreement, ...]:
    """Return the items on which two scorers differ by more than 0.4, at most 20, the largest difference first.

    `first_values` and `second_values` are their values; the first scorer takes the place of people in the record.
    """
    by_distance = sorted(
        (-abs(first_values[key] - second_values[key]), key) for key in first_values.keys() & second_values.keys()
    )
    return tuple(
        Disagreement(*key, "", first_values[key], second_values[key], (first[key].reasoning,), second[key].reasoning)
        for negative_distance, key in by_distance[:MAX_LISTED]
        if -negative_distance > MAX_SCORER_DIFFERENCE
    )


def compare_scorers(
    names: tuple[str, str],
    passed_by_item: Mapping[ItemKey, bool],
    first: Mapping[ItemKey, float],
    second: Mapping[ItemKey, float],
    seed: int = 0,
) -> ScorerDifference | None:
    """Compare two scorers on the items that people and both of them judged; None if there is none."""
    keys = sorted(passed_by_item.keys() & first.keys() & second.keys())
    first_right = [float(is_pass(first[key]) == passed_by_item[key]) for key in keys]
    second_right = [float(is_pass(second[key]) == passed_by_item[key]) for key in keys]
    cases = [key[0] for key in keys]
    paired = compare_paired_scores(first_right, second_right, clusters=cases, low=0.0, high=1.0, seed=seed)
    if paired is None:
        return None
    n = len(keys)
    return ScorerDifference(
        *names,
        n=n,
        first_right=sum(first_right) / n,
        second_right=sum(second_right) / n,
        gain=ReportedEstimate.from_bounds(paired.mean, paired.bounds) or ReportedEstimate(paired.mean),
        p=paired.p_value,
        p_method=paired.p_method,
        same=sum(is_pass(first[key]) == is_pass(second[key]) for key in keys) / n,
    )


def _compute_rank_correlation(
    gaps: Sequence[float], lengths: Sequence[int], cases: Sequence[str], seed: int
) -> ReportedEstimate | None:
    """Return Spearman's rank correlation, with an interval from drawing whole cases."""
    first, second = _number_values(gaps), _number_values(lengths)

    def correlate_rows(rows: npt.NDArray[np.intp]) -> float | None:
        return _compute_correlation(_compute_ranks(first[rows]), _compute_ranks(second[rows]))

    value = correlate_rows(np.arange(len(gaps)))
    return ReportedEstimate.from_bounds(
        value, bootstrap_interval(correlate_rows, cases, seed=seed) if value is not None else None
    )


def _number_values(values: Sequence[float]) -> npt.NDArray[np.intp]:
    """Return for each value which it is of the different ones in rising order: draws need not be sorted again."""
    return np.unique(np.array(values, dtype=np.float64), return_inverse=True)[1]


def _compute_ranks(numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return the ranks of numbered values; equal ones share their mean rank."""
    counts = np.bincount(numbers)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[numbers], dtype=np.float64)


def _compute_correlation(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float | None:
    if len(first) < 3:
        return None
    a, b = first - first.mean(), second - second.mean()
    spread = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return max(-1.0, min(1.0, float((a * b).sum()) / spread)) if spread > 1e-12 else None
