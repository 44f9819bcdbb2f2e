"""How many cases a comparison of two systems needs, before it is made: from a pilot, or from what is assumed.

A pilot of two systems says how far they differ case by case. One of a single system, or an assumed rate or standard
deviation, does not: how closely the scores of two systems go together is assumed then, and said.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from msgspec import Struct

from assay.comparison.paired_comparison import MatchedSides
from assay.metrics.catalog import find_metric, parse_metric
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem
from assay.scoring.case_clusters import number_clusters
from assay.scoring.column_values import collect_values, find_column, get_range, is_open_amount
from assay.scoring.paired_scores import ScoreSnapshot, pair_columns
from assay.stats.intervals import wilson_interval
from assay.stats.paired_tests import PairedSample, pair_samples
from assay.stats.sample_size import PairSpread, find_cases_for, find_difference_for

CORRELATION = 0.5
"""How closely the scores of two systems go together where no pilot of both says so."""
FEWEST_PILOT_CASES = 10
_SHARE_OF_UPPER_END = 1.96


class PlanAims(Struct, frozen=True):
    """What a comparison is to show: a true difference of a metric, with a power, in a two-sided test at a level that
    several tests share."""

    metric: str
    difference: float
    power: float = 0.8
    level: float = 0.05
    tests: int = 1

    @property
    def level_of_each(self) -> float:
        """The level of one of the tests, by Bonferroni, which is the first step of Holm."""
        return self.level / self.tests


class SpreadEstimate(Struct, frozen=True):
    """How far two systems differ, how far they may (the upper end of a pilot, or without correlation), and what was
    assumed for it; `pilot_cases` are those that were paired, 0 without a pilot."""

    spread: PairSpread
    widest: PairSpread
    assumed: str
    widest_is: str
    pilot_cases: int = 0


class CasePlan(Struct, frozen=True):
    """How many cases show the difference (None: more than can be planned for), and at the widest spread.

    `others` has the same for half and twice the difference; `detectable` is what as many cases as in the pilot show.
    """

    aims: PlanAims
    estimate: SpreadEstimate
    cases: int | None
    cases_at_widest: int | None
    others: tuple[tuple[float, int | None], ...]
    detectable: float | None

    def __repr__(self) -> str:
        return "\n".join(describe_plan(self))


def plan_cases(aims: PlanAims, estimate: SpreadEstimate) -> CasePlan:
    """Return the plan for a difference that is to be shown."""
    level, power, spread = aims.level_of_each, aims.power, estimate.spread

    def count(difference: float, of: PairSpread) -> int | None:
        return find_cases_for(difference, of, power=power, level=level)

    others = [aims.difference / 2, aims.difference * 2]
    pilot = estimate.pilot_cases
    return CasePlan(
        aims,
        estimate,
        count(aims.difference, spread),
        count(aims.difference, estimate.widest),
        tuple((difference, count(difference, spread)) for difference in others),
        find_difference_for(pilot, spread, power=power, level=level) if pilot else None,
    )


# ── how far two systems differ ───────────────────────────────────────────────────────────────────────────────────────


def assume_rate(rate: float, correlation: float = CORRELATION) -> SpreadEstimate:
    """Return the spread of two systems that both succeed at about a rate, with outcomes that go together so far.

    >>> assume_rate(0.8).spread.amount
    0.16
    """
    alone = 2 * rate * (1 - rate)
    share = round(alone * (1 - correlation), 9)
    assumed = (
        f"both systems succeed on about {rate:.0%} of the cases, and their outcomes correlate by {correlation:g}, so "
        f"that they differ on {share:.0%}"
    )
    return SpreadEstimate(
        PairSpread(share, is_share=True), PairSpread(alone, is_share=True), assumed, _describe_uncorrelated(alone)
    )


def _describe_uncorrelated(share: float) -> str:
    return f"if their outcomes were independent, so that they differ on {share:.0%}"


def assume_changed(share: float) -> SpreadEstimate:
    """Return the spread of two systems of which exactly one succeeds on a share of the cases."""
    spread = PairSpread(share, is_share=True)
    return SpreadEstimate(spread, spread, f"exactly one of the two systems succeeds on {share:.0%} of the cases", "")


def assume_deviation(deviation: float) -> SpreadEstimate:
    """Return the spread of two systems whose differences, case by case, have a standard deviation."""
    spread = PairSpread(deviation, is_share=False)
    return SpreadEstimate(
        spread, spread, f"the differences of the two systems have a standard deviation of {deviation:.3g}", ""
    )


def estimate_from_pair(before: ScoreSnapshot, after: ScoreSnapshot, metric: str) -> SpreadEstimate:
    """Return how far two systems of a pilot differ on the cases that both scored.

    Answers that are unknown on a side tell nothing of that. Raises InputError for too few cases.
    """
    sides = MatchedSides(before, after, metrics=[metric], slice_keys=()).sides
    paired = pair_columns(*sides.get_columns(metric))
    count = len(paired.rows)
    if count < FEWEST_PILOT_CASES:
        got = f"got {format_count(count, 'case')} that both scored by {metric}"
        raise _refuse("pilot", f"too small ({got}; expected {FEWEST_PILOT_CASES} or more)")
    clusters, span = sides.get_clusters(paired.rows), _get_span(metric)
    scored = np.ones((1, count), dtype=np.bool_)
    (sample,) = pair_samples(paired.before[None], paired.after[None], scored, clusters, [span])
    assert sample is not None
    of_pilot = f"as in the pilot of {format_count(count, 'case')}"
    if sample.is_binary and not sample.is_clustered:
        return _estimate_share(sample, of_pilot)
    return _estimate_deviation(sample, sample.independent_error * sqrt(count), of_pilot, "their differences")


def _estimate_share(sample: PairedSample, of_pilot: str) -> SpreadEstimate:
    differing = sample.wins + sample.losses
    upper = wilson_interval(differing, sample.n).high
    share = differing / sample.n
    assumed = f"the two systems differ on {share:.0%} of the cases, {of_pilot} ({differing} differ)"
    if not differing:
        share, assumed = (
            upper,
            f"the two systems differ on {upper:.0%} of the cases, the most that a pilot without any allows",
        )
    widest = PairSpread(upper, is_share=True)
    return SpreadEstimate(
        PairSpread(share, is_share=True),
        widest,
        assumed,
        f"at {upper:.0%}, the upper end of its 95% interval",
        sample.n,
    )


def _estimate_deviation(sample: PairedSample, deviation: float, of_pilot: str, what: str) -> SpreadEstimate:
    if deviation <= 0:
        raise _refuse("pilot", "no case differs, so that nothing tells how far two systems would (expected sd=)")
    widening = 1.0
    clusters = ""
    if sample.is_clustered and sample.independent_error:
        widening = max(1.0, (sample.error / sample.independent_error) ** 2)
        clusters = (
            f"; its clusters of cases widen the variance by {widening:.2f}, and the plan is for clusters as large"
        )
    upper = deviation * (1 + _SHARE_OF_UPPER_END / sqrt(2 * (sample.units - 1)))
    return SpreadEstimate(
        PairSpread(deviation, False, widening),
        PairSpread(upper, False, widening),
        f"{what} have a standard deviation of {deviation:.3g}, {of_pilot}{clusters}",
        f"at {upper:.3g}, about the upper end of its 95% interval",
        sample.n,
    )


def estimate_from_one(side: ScoreSnapshot, metric: str, correlation: float = CORRELATION) -> SpreadEstimate:
    """Return how far two systems like that of a pilot would differ, if their scores correlate so far.

    Raises InputError for too few scored cases.
    """
    column = find_column(side.table, parse_metric(metric))
    measured = None if column is None else collect_values(column)
    count = 0 if measured is None else len(measured.values)
    if measured is None or count < FEWEST_PILOT_CASES:
        got = f"got {format_count(count, 'case')} scored by {metric}"
        raise _refuse("pilot", f"too small ({got}; expected {FEWEST_PILOT_CASES} or more)")
    values = measured.values[None]
    clusters = number_clusters([side.cases[row] for row in measured.rows.tolist()])
    (sample,) = pair_samples(np.zeros_like(values), values, np.ones_like(values, dtype=np.bool_), clusters, [None])
    assert sample is not None
    if sample.is_binary and not sample.is_clustered:
        estimate = assume_rate(sample.mean, correlation)
        if not 0 < sample.mean < 1:
            raise _refuse("pilot", f"every case scored {sample.mean:g}, so that nothing varies (expected rate=)")
        assumed = f"{estimate.assumed} (the rate is that of the pilot of {format_count(count, 'case')})"
        return SpreadEstimate(estimate.spread, estimate.widest, assumed, estimate.widest_is, count)
    alone = sample.independent_error * sqrt(count) * sqrt(2)
    of_pilot = (
        f"as in the pilot of {format_count(count, 'case')} if the scores of two systems correlate by {correlation:g}"
    )
    estimate = _estimate_deviation(sample, alone * sqrt(1 - correlation), of_pilot, "differences of two systems")
    widest = PairSpread(alone, False, estimate.spread.widening)
    return SpreadEstimate(estimate.spread, widest, estimate.assumed, f"without correlation, at {alone:.3g}", count)


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def describe_plan(plan: CasePlan) -> list[str]:
    """Return the plan as lines: the number of cases first, then what it rests on."""
    aims, estimate = plan.aims, plan.estimate
    test = "McNemar's exact test" if estimate.spread.is_exact else "a paired t or sign-flip test"
    lines = [
        f"{_describe_count(plan.cases)} to show a difference of {aims.difference:g} in {aims.metric} with a power of "
        f"{aims.power:.0%} ({test}, two-sided at {_format_level(aims.level_of_each)})",
        f" - assumed: {estimate.assumed}",
    ]
    if estimate.widest_is and plan.cases_at_widest != plan.cases:
        lines.append(f" - {estimate.widest_is}: {_describe_count(plan.cases_at_widest)}")
    lines += [f" - a difference of {difference:g}: {_describe_count(count)}" for difference, count in plan.others]
    if estimate.pilot_cases:
        can_show = "are too few to show any difference"
        if plan.detectable is not None:
            can_show = f"could show a difference of {plan.detectable:.3g}"
        lines.append(f" - {format_count(estimate.pilot_cases, 'case')} as in the pilot {can_show}")
    lines.append(f" - {_describe_tests(aims)}")
    return lines


def _describe_count(count: int | None) -> str:
    return "more cases than can be planned for" if count is None else f"about {format_count(count, 'case')}"


def _describe_tests(aims: PlanAims) -> str:
    if aims.tests > 1:
        return f"{aims.tests} tests share a level of {_format_level(aims.level)} (Bonferroni, the first step of Holm)"
    return (
        "one test alone: a comparison tests all its headline metrics at once, and one of all pairs all pairs; give "
        "their number as `tests`"
    )


def _format_level(level: float) -> str:
    return f"{100 * level:.2g}%"


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def check_aims(aims: PlanAims) -> None:
    """Raise InputError for aims that no plan can have."""
    if is_open_amount(find_metric(parse_metric(aims.metric))):
        raise _refuse("metric", f"compared by medians (got {aims.metric}; expected one that is compared by means)")
    span = _get_span(aims.metric)
    if not 0 < aims.difference < float("inf") or (span is not None and aims.difference >= span):
        most = f" and below {span:g}" if span is not None else ""
        raise _refuse("difference", f"no difference (got {aims.difference:g}; expected a number above 0{most})")
    for name, share in (("power", aims.power), ("level", aims.level)):
        if not 0 < share < 1:
            raise _refuse(name, f"no share (got {share:g}; expected a number between 0 and 1)")
    if aims.tests < 1:
        raise _refuse("tests", f"too few (got {aims.tests}; expected how many tests share the level, 1 or more)")


def _get_span(metric: str) -> float | None:
    """Return the largest possible difference of two scores, None if it has no end."""
    low, high = get_range(find_metric(parse_metric(metric)))
    return high - low if low is not None and high is not None else None


def choose_assumption(given: Sequence[tuple[str, float | None]], correlation: float = CORRELATION) -> SpreadEstimate:
    """Return the estimate of the one of `rate`, `changed` and `sd` that is given.

    Raises InputError for none, for several, and for one out of its range.
    """
    stated = [(name, value) for name, value in given if value is not None]
    if len(stated) != 1:
        got = " and ".join(name for name, _ in stated) or "none"
        raise _refuse(
            "pilot", f"one source of the spread (got {got}; expected a pilot, or one of rate, changed and sd)"
        )
    ((name, value),) = stated
    most = float("inf") if name == "sd" else 1
    if not 0 < value < most:
        expected = "a number above 0" if name == "sd" else "a share between 0 and 1"
        raise _refuse(name, f"out of range (got {value:g}; expected {expected})")
    if not 0 <= correlation < 1:
        raise _refuse("correlation", f"out of range (got {correlation:g}; expected 0 or more, and below 1)")
    if name == "rate":
        return assume_rate(value, correlation)
    return assume_changed(value) if name == "changed" else assume_deviation(value)


def _refuse(name: str, message: str) -> InputError:
    return InputError([Problem("", None, name, message, "E_PLAN")])
