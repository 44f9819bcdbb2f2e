"""The monitor on simulated traffic whose truth is known: coverage of intervals, false alarms, delays, cost of judging.

    python -m benchmarks.monitor [--reps 500] [--quarters 200]

Users have rates and habits of their own, weekdays differ, users ask in bursts, rates drift, the judge errs. Exit code 1
if a promise is missed by more than two Monte Carlo errors. Two scenarios break what the alarms assume (days of a
weekday are exchangeable while nothing changes); they are printed and promise nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from assay.records.verdicts import Calibration, LabelledRate
from assay.stats.arrays import BoolArray, FloatArray, IndexArray
from assay.stats.bound_alarms import find_bound_alarms
from assay.stats.change_alarms import (
    FALSE_ALARMS,
    QUARTER_DAYS,
    REFERENCE_DAYS,
    WINDOWS,
    DayAlarm,
    compare_window,
    find_day_alarm,
)
from assay.stats.detectable_changes import POWER, WEEK, find_detectable_change
from assay.stats.distributions import compute_beta_quantile
from assay.stats.intervals import Estimate
from assay.stats.level_changes import LevelEpisode, LevelStep, follow_levels
from assay.stats.quantile_alarms import CountArray, QuantileAlarm, find_quantile_alarm
from assay.stats.weighted_estimates import estimate_mean_of_groups, estimate_mean_of_sample
from assay.trends.answer_sample import allocate_budget
from assay.trends.judged_estimates import correct_estimate
from assay.trends.traffic_sums import USER_GROUPS, DayBins

SEED = 20260309
COVERAGE, CONSERVATIVE = 0.93, 0.97
DETECTED_IN_TWO_WEEKS = 0.9
WEEKDAY_VOLUME = np.array([1.2, 1.25, 1.2, 1.15, 1.1, 0.6, 0.5])
WEEKDAY_RISK = np.array([1.0, 0.95, 0.95, 1.0, 1.05, 1.3, 1.3])
COST_ERROR = 0.05
"""How much of the budget the comparison of two widths may be off by chance."""
EPISODE_DAYS = 28
SETTLING_DAYS = REFERENCE_DAYS + 14
SENSITIVITY, SPECIFICITY, LABELS = 0.92, 0.9, 150


@dataclass(frozen=True)
class World:
    """Traffic: answers a week, the mean rate, how users differ (variance of their rates as a share of the most that it
    can be), how much they ask, whether weekdays differ, and what else happens. `is_fixed`: the users of each
    repetition together have exactly that rate. `flagged_alike`: strata tell nothing, and this share is flagged."""

    name: str
    per_week: int = 2000
    rate: float = 0.05
    users: int = 400
    overdispersion: float = 0.0
    activity: float = 0.0
    seasonal: bool = False
    bursts: float = 0.0
    drift: float = 1.0
    autocorrelation: float = 0.0
    change: float = 1.0
    is_promised: bool = True
    is_fixed: bool = False
    flagged_alike: float | None = None


WORLDS = (
    World("plain"),
    World("rare events", rate=0.005),
    World("frequent events", rate=0.3),
    World("little traffic", per_week=250, users=80),
    World("much traffic", per_week=20_000, users=4000),
    World("users differ", overdispersion=0.1, activity=0.5),
    World("few users, very different", users=40, overdispersion=0.1, activity=0.5),
    World("seasonality", seasonal=True, overdispersion=0.03),
    World("bursts", bursts=0.3, overdispersion=0.05, activity=0.5),
    World("drift within the week", drift=1.5, seasonal=True),
    World("all at once", users=200, overdispersion=0.08, activity=0.7, seasonal=True, bursts=0.2, drift=1.3),
)
STATIONARY = (
    World("plain"),
    World("rare events", rate=0.005),
    World("little traffic", per_week=250, users=80),
    World("seasonality", seasonal=True),
    World("users differ", overdispersion=0.1, activity=0.5),
    World("bursts", bursts=0.3, overdispersion=0.05, activity=0.5),
    World("seasonality, users and bursts", overdispersion=0.08, activity=0.7, seasonal=True, bursts=0.2),
    World("rates of days are autocorrelated (0.5)", autocorrelation=0.5, is_promised=False),
    World("slow drift (+50% in a quarter)", drift=1.5, is_promised=False),
)


class Week(NamedTuple):
    """The answers of some days: day, user, whether the answer is wrong, and its stratum of the sample."""

    days: IndexArray
    users: IndexArray
    wrong: FloatArray
    strata: IndexArray


def simulate(world: World, days: int, generator: np.random.Generator, *, change_day: int | None = None) -> Week:
    """Return the answers of some days of a world."""
    activity = generator.lognormal(0.0, world.activity, world.users)
    activity /= activity.sum()
    user_rates = np.full(world.users, world.rate)
    if world.overdispersion:
        size = 1 / world.overdispersion - 1
        user_rates = generator.beta(world.rate * size, (1 - world.rate) * size, world.users)
    if world.is_fixed:
        user_rates *= world.rate / float((activity * user_rates).sum())
    shock, parts = 0.0, []
    for day in range(days):
        volume, risk = world.per_week / 7, 1.0
        if world.seasonal:
            volume, risk = volume * WEEKDAY_VOLUME[day % 7], WEEKDAY_RISK[day % 7]
        risk *= 1 + (world.drift - 1) * (day / max(1, days - 1) - 0.5)
        shock = world.autocorrelation * shock + generator.normal(0, 0.25 if world.autocorrelation else 0.0)
        risk *= float(np.exp(shock))
        if change_day is not None and day >= change_day:
            risk *= world.change
        users = generator.choice(world.users, size=generator.poisson(volume), p=activity)
        if world.bursts and generator.random() < world.bursts:
            one = generator.choice(world.users, p=activity)
            users = np.concatenate((users, np.full(generator.poisson(volume * 0.3), one)))
        wrong = generator.random(len(users)) < np.minimum(1.0, user_rates[users] * risk)
        parts.append((np.full(len(users), day), users, wrong.astype(np.float64)))
    day_of, user_of, wrong_of = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Week(day_of, user_of, wrong_of, choose_strata(wrong_of, generator, world.flagged_alike))


def choose_strata(wrong: FloatArray, generator: np.random.Generator, flagged_alike: float | None) -> IndexArray:
    """Return 0 for flagged, 1 for doubtful and 2 for other answers: wrong ones are flagged and doubtful more often.

    With `flagged_alike`, that share is flagged and a seventh doubtful whether they are wrong or not.
    """
    draw = generator.random(len(wrong))
    if flagged_alike is not None:
        return np.where(draw < flagged_alike, 0, np.where(draw < flagged_alike + 1 / 7, 1, 2)).astype(np.int64)
    flagged, doubtful = np.where(wrong > 0, 0.15, 0.01), np.where(wrong > 0, 0.5, 0.12)
    return np.where(draw < flagged, 0, np.where(draw < flagged + doubtful, 1, 2)).astype(np.int64)


def compute_truth(world: World) -> float:
    """Return the expected rate of a week's answers, bursts being those of average users."""
    if not world.seasonal and world.drift == 1.0:
        return world.rate
    risk = WEEKDAY_RISK if world.seasonal else np.ones(7)
    volume = WEEKDAY_VOLUME if world.seasonal else np.ones(7)
    drift = 1 + (world.drift - 1) * (np.arange(7) / 6 - 0.5)
    return float(world.rate * (volume * risk * drift).sum() / volume.sum())


def draw_sample(week: Week, budget: int | None, generator: np.random.Generator) -> BoolArray:
    """Return which answers are judged with a budget, None for all."""
    judged = np.ones(len(week.wrong), dtype=np.bool_)
    if budget is None:
        return judged
    sizes = np.bincount(week.strata, minlength=3)
    for stratum, number in enumerate(allocate_budget(budget, (int(sizes[0]), int(sizes[1]), int(sizes[2])))):
        rows = np.flatnonzero(week.strata == stratum)
        judged[rows] = False
        judged[generator.choice(rows, size=number, replace=False)] = True
    return judged


def estimate_sample(week: Week, judged: BoolArray, values: FloatArray) -> Estimate | None:
    """Return the weighted estimate from the judged answers."""
    sizes = np.bincount(week.strata, minlength=3).astype(np.float64)
    everything = np.ones(int(judged.sum()), dtype=np.bool_)
    return estimate_mean_of_sample(values[judged], everything, week.strata[judged], sizes, week.users[judged], 0.0, 1.0)


def estimate_census(week: Week) -> Estimate | None:
    """Return the estimate from all answers, as the monitor sums them by groups of users."""
    groups = week.users % USER_GROUPS
    totals: FloatArray = np.bincount(groups, weights=week.wrong, minlength=USER_GROUPS).astype(np.float64)
    return estimate_mean_of_groups(totals, np.bincount(groups, minlength=USER_GROUPS).astype(np.float64), 0.0, 1.0)


class Coverage(NamedTuple):
    """How often intervals held the truth, with the Monte Carlo error, and how wide they were."""

    share: float
    error: float
    width: float
    given: int


def measure_coverage(world: World, budget: int | None, method: str, reps: int) -> Coverage:
    """Return the coverage of one method: census, sample, or corrected (the judge errs and labels correct it)."""
    generator = np.random.default_rng([SEED, reps, abs(hash_name(world.name)), budget or 0, len(method)])
    truth = compute_truth(world)
    inside: list[bool] = []
    widths: list[float] = []
    for _ in range(reps):
        week = simulate(world, 7, generator)
        estimate = estimate_once(week, budget, method, generator)
        if estimate is None:
            continue
        inside.append(estimate.bounds.low - 1e-12 <= truth <= estimate.bounds.high + 1e-12)
        widths.append(estimate.bounds.high - estimate.bounds.low)
    share = float(np.mean(inside))
    return Coverage(
        share, sqrt(max(share * (1 - share), 1 / len(inside)) / len(inside)), float(np.mean(widths)), len(inside)
    )


def hash_name(name: str) -> int:
    """Return a number of a name that is the same on every machine."""
    return sum((position + 1) * ord(character) for position, character in enumerate(name))


def estimate_once(week: Week, budget: int | None, method: str, generator: np.random.Generator) -> Estimate | None:
    if method == "census":
        return estimate_census(week)
    judged = draw_sample(week, budget, generator)
    if method == "sample":
        return estimate_sample(week, judged, week.wrong)
    # People pass what is right: the judge passes right answers and fails wrong ones, now and then the other way round.
    says_right = np.where(
        week.wrong == 0,
        generator.random(len(week.wrong)) < SENSITIVITY,
        generator.random(len(week.wrong)) > SPECIFICITY,
    ).astype(np.float64)
    passed, failed = generator.binomial(LABELS, SENSITIVITY) / LABELS, generator.binomial(LABELS, SPECIFICITY) / LABELS
    calibration = Calibration(
        "faithfulness(by=judge)",
        "judge",
        "",
        "",
        "",
        2 * LABELS,
        1,
        sensitivity=LabelledRate(passed, 0.0, 1.0, LABELS),
        specificity=LabelledRate(failed, 0.0, 1.0, LABELS),
    )
    estimate = estimate_sample(week, judged, says_right)
    corrected = None if estimate is None else correct_estimate(estimate, calibration)[0]
    if corrected is None:
        return None
    bounds = corrected.bounds
    return Estimate(1 - corrected.value, bounds._replace(low=1 - bounds.high, high=1 - bounds.low))


# ── alarms ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def sum_days(week: Week, days: int) -> tuple[FloatArray, FloatArray]:
    """Return the wrong answers and all answers of each day."""
    totals: FloatArray = np.bincount(week.days, weights=week.wrong, minlength=days).astype(np.float64)
    return totals, np.bincount(week.days, minlength=days).astype(np.float64)


def find_day_alarms(
    totals: FloatArray, sizes: FloatArray, first_day: int, last_day: int, direction: int, seed: int = 0
) -> list[DayAlarm]:
    """Return the alarm of each day from `first_day` to `last_day` on which there is one."""
    days = [day for day in range(first_day, last_day + 1) if sizes[day] > 0]
    alarms = [find_day_alarm(totals, sizes, day, direction, FALSE_ALARMS, seed) for day in days]
    return [alarm for alarm in alarms if alarm is not None]


def find_quantile_alarms(
    counts: CountArray, quantile: float, first_day: int, last_day: int, direction: int, seed: int = 0
) -> list[QuantileAlarm]:
    """Return the alarm of each day from `first_day` to `last_day` on which there is one."""
    cumulated = np.cumsum(counts, axis=0, dtype=np.int64)
    alarms = [
        find_quantile_alarm(counts, cumulated, quantile, day, direction, FALSE_ALARMS, seed)
        for day in range(first_day, last_day + 1)
    ]
    return [alarm for alarm in alarms if alarm is not None]


def count_false_alarms(world: World, quarters: int) -> tuple[FloatArray, FloatArray]:
    """Return alerts and days with an alarm in each of some quarters in which nothing changes."""
    generator = np.random.default_rng([SEED, quarters, hash_name(world.name)])
    days = SETTLING_DAYS + QUARTER_DAYS
    alerts, alarm_days = [], []
    for number in range(quarters):
        totals, sizes = sum_days(simulate(world, days, generator), days)
        alarms = [alarm.day for alarm in find_day_alarms(totals, sizes, SETTLING_DAYS, days - 1, 1, number)]
        starts = [
            day for position, day in enumerate(alarms) if not position or day - alarms[position - 1] > EPISODE_DAYS
        ]
        alerts.append(len(starts))
        alarm_days.append(len(alarms))
    return np.array(alerts, dtype=np.float64), np.array(alarm_days, dtype=np.float64)


def measure_delays(world: World, change: float, reps: int, horizon: int = 28) -> list[int | None]:
    """Return for each repetition how many days after a change the alarm came (1: the first day), None for never."""
    generator = np.random.default_rng([SEED, reps, hash_name(world.name), int(change * 100)])
    days = SETTLING_DAYS + horizon
    delays: list[int | None] = []
    for number in range(reps):
        week = simulate(replace(world, change=change), days, generator, change_day=SETTLING_DAYS)
        totals, sizes = sum_days(week, days)
        delay = None
        for day in range(SETTLING_DAYS, days):
            if find_day_alarms(totals, sizes, day, day, 1, number):
                delay = day - SETTLING_DAYS + 1
                break
        delays.append(delay)
    return delays


# ── the change that a week would show ────────────────────────────────────────────────────────────────────────────────


class NamedChange(NamedTuple):
    """How often a change of the size that `detectable` named was found by the end of its week, and its mean size."""

    found: int
    given: int
    unnamed: int
    size: float


def find_named_changes(world: World, reps: int, *, by_user: bool = False) -> NamedChange:
    """Let the rate of a week rise by what `detectable` of the weeks before names, and count the changes found.

    The same for every answer, or `by_user`: in proportion to how often each user's answers are wrong.
    """
    generator = np.random.default_rng([SEED, reps, hash_name(world.name), int(by_user)])
    days = SETTLING_DAYS + WEEK
    sizes_named: list[float] = []
    found = 0
    for number in range(reps):
        week = simulate(world, days, generator)
        totals, sizes = sum_days(week, days)
        change = find_detectable_change(totals[:SETTLING_DAYS], sizes[:SETTLING_DAYS], 1, 0.0, 1.0)
        if change is None:
            continue
        sizes_named.append(change)
        is_later = week.days >= SETTLING_DAYS
        weight = np.ones(len(week.wrong))
        if by_user:
            asked = np.maximum(1, np.bincount(week.users, minlength=world.users))
            weight = (np.bincount(week.users, weights=week.wrong, minlength=world.users) / asked)[week.users]
        # Only a right answer can turn wrong, which those of users with many wrong ones are less often.
        chance = change * weight / max(1e-9, float((weight * (week.wrong == 0))[~is_later].mean()))
        is_hit = is_later & (generator.random(len(chance)) < chance)
        totals, sizes = sum_days(week._replace(wrong=np.where(is_hit, 1.0, week.wrong)), days)
        found += bool(find_day_alarms(totals, sizes, SETTLING_DAYS, days - 1, 1, number))
    return NamedChange(found, len(sizes_named), reps - len(sizes_named), float(np.mean(sizes_named or [0.0])))


def report_named_changes(reps: int) -> Iterator[tuple[str, bool]]:
    """Yield a line for each setting: a change of the size named is found within its week in nine of ten cases."""
    yield (
        f"changes of the size that `detectable` names ({reps} weeks each; promised: {POWER:.0%} found in the week)",
        True,
    )
    alike = World("")
    unlike = replace(alike, overdispersion=0.1, activity=0.5)
    bursts = replace(alike, overdispersion=0.05, activity=0.5, bursts=0.3, seasonal=True)
    settings = (("users alike", alike, False), ("users unlike", unlike, True), ("bursts", bursts, False))
    for per_day in (50, 150, 500):
        for rate in (0.02, 0.1, 0.5):
            for what, base, by_user in settings:
                name = f"{per_day} a day, {rate:.0%}, {what}"
                world = replace(base, name=name, per_week=7 * per_day, rate=rate, users=max(60, per_day))
                row = find_named_changes(world, reps, by_user=by_user)
                low, high = compute_exact_interval(row.found, row.given)
                kept = high >= POWER
                shares = f"{row.found} of {row.given} found [{low:.0%}, {high:.0%}]"
                text = f"  {name:<44} named {row.size:.3f}: {shares}; none named in {row.unnamed}"
                yield text + ("" if kept else "  MISSED"), kept


def compute_exact_interval(events: int, number: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Clopper and Pearson)."""
    low = compute_beta_quantile(0.025, events, number - events + 1) if events else 0.0
    return low, compute_beta_quantile(0.975, events + 1, number - events) if events < number else 1.0


# ── what comes after an alert ─────────────────────────────────────────────────────────────────────────────────────────


class Course(NamedTuple):
    """How many quarters there were, and in how many alerts came, further ones, ends; how many of the steps were dated.

    `dated` counts the further alerts and ends whose interval has the day of the last true step.
    """

    quarters: int
    alerts: int
    further: int
    ended: int
    eased: int
    dated: int


def follow_course(world: World, rates: tuple[tuple[int, float], ...], quarters: int) -> Course:
    """Follow a rate through stretches of days, each with its rate (that of the world at least)."""
    generator = np.random.default_rng([SEED, quarters, hash_name(world.name), len(rates)])
    counts = np.zeros(5, dtype=np.int64)
    last_step = SETTLING_DAYS + sum(days for days, _ in rates[:-1])
    for number in range(quarters):
        totals, sizes = simulate_course(world, rates, generator)
        episodes = follow_rate(totals, sizes, number)
        further = [row.step for row in episodes if row.is_further]
        ended = [row.ended for row in episodes if row.ended is not None]
        eased = sum(row.eased is not None for row in episodes)
        dated = sum(_has_day(step, last_step) for step in (*further, *ended))
        counts += (len(episodes), len(further), len(ended), eased, dated)
    return Course(quarters, *counts.tolist())


def _has_day(step: LevelStep, day: int) -> bool:
    return step.earliest <= day <= step.latest


def simulate_course(
    world: World, rates: tuple[tuple[int, float], ...], generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the daily sums of a rate that takes several levels after the weeks of comparison."""
    days = SETTLING_DAYS + sum(number for number, _ in rates)
    week = simulate(world, days, generator)
    wrong, first = week.wrong, SETTLING_DAYS
    for number, rate in rates:
        is_in = (week.days >= first) & (week.days < first + number)
        chance = max(0.0, rate - world.rate) / (1 - world.rate)
        wrong = np.where(is_in & (generator.random(len(wrong)) < chance), 1.0, wrong)
        first += number
    return sum_days(week._replace(wrong=wrong), days)


def follow_rate(totals: FloatArray, sizes: FloatArray, seed: int) -> list[LevelEpisode]:
    """Return the alerts on a rate and what became of them, as the monitor finds them."""

    def find_alarm(day: int, usable: BoolArray) -> tuple[DayAlarm, FloatArray] | None:
        for window in WINDOWS:
            alarm = compare_window(totals * usable, sizes * usable, day, window, 1, FALSE_ALARMS, seed)
            if alarm is not None:
                return alarm, totals
        return None

    return follow_levels(sizes, SETTLING_DAYS, len(sizes) - 1, 1, FALSE_ALARMS, find_alarm, "share", seed)


def report_courses(quarters: int) -> Iterator[tuple[str, bool]]:
    """Yield lines on what follows an alert: false further ones while a new level lasts, its end, and a further rise."""
    yield (
        f"after an alert ({quarters} courses each; promised: at most {FALSE_ALARMS} false ones, and as many ends)",
        True,
    )
    for per_week in (350, 2000):
        for what, base in (
            ("plain", World("")),
            ("users, bursts", World("", overdispersion=0.05, activity=0.5, bursts=0.3, seasonal=True)),
        ):
            name = f"{per_week} a week, {what}"
            world = replace(base, name=name, per_week=per_week, rate=0.08, users=max(80, per_week // 5))
            row = follow_course(world, ((QUARTER_DAYS, 0.29),), quarters)
            errors = [max(count, 1) ** 0.5 / quarters for count in (row.further, row.ended + row.eased)]
            shares = row.further / quarters, (row.ended + row.eased) / quarters
            kept = all(share - 2 * error <= FALSE_ALARMS for share, error in zip(shares, errors, strict=True))
            text = f"  {name + ', the level lasts':<44} {shares[0]:.3f} further alerts, {shares[1]:.3f} ends"
            yield text + ("" if kept else "  MISSED"), kept
            row = follow_course(world, ((14, 0.29), (28, 0.08)), quarters)
            text = f"back after two weeks: {row.ended} of {row.alerts} ended, {row.dated} dated; {row.further} further"
            kept = row.ended >= 0.9 * row.alerts - 2 * sqrt(row.alerts * 0.09)
            yield f"  {name:<44} {text}" + ("" if kept else "  MISSED"), kept
            row = follow_course(world, ((14, 0.25), (28, 0.5)), quarters)
            kept = row.further >= 0.9 * quarters - 2 * sqrt(quarters * 0.09)
            text = f"a further rise after two weeks: {row.further} found, {row.dated} dated; {row.ended} ends"
            yield f"  {name:<44} {text}" + ("" if kept else "  MISSED"), kept


# ── bounds, from the first day on ────────────────────────────────────────────────────────────────────────────────────


def count_bound_alarms(world: World, bound: float, quarters: int) -> FloatArray:
    """Return the alarms of each of some quarters, the first of a system, in which the bound is kept."""
    generator = np.random.default_rng([SEED, quarters, hash_name(world.name), 1])
    counts = []
    for _ in range(quarters):
        totals, sizes = sum_days(simulate(world, QUARTER_DAYS, generator), QUARTER_DAYS)
        counts.append(len(find_bound_alarms(totals, sizes, bound, 1, [0], FALSE_ALARMS)))
    return np.array(counts, dtype=np.float64)


def measure_bound_delays(world: World, bound: float, first_day: int, reps: int) -> list[int | None]:
    """Return for each repetition on which day from `first_day` on the alarm came (1: the first day), None for never.

    From that day on, the rate is that of the world times its change.
    """
    generator = np.random.default_rng([SEED, reps, hash_name(world.name), first_day, int(world.change * 100)])
    delays: list[int | None] = []
    for _ in range(reps):
        week = simulate(world, QUARTER_DAYS, generator, change_day=first_day)
        totals, sizes = sum_days(week, QUARTER_DAYS)
        days = [alarm.day for alarm in find_bound_alarms(totals, sizes, bound, 1, [0], FALSE_ALARMS)]
        delays.append(days[0] - first_day + 1 if days and days[0] >= first_day else None)
    return delays


# ── percentiles ──────────────────────────────────────────────────────────────────────────────────────────────────────


def simulate_latencies(
    days: int, generator: np.random.Generator, *, per_week: int, change: float = 1.0, tail: float = 1.0, day: int = 0
) -> DayBins:
    """Return latencies: users and weekdays differ, and now and then a day has a burst of one slow user.

    From `day` on, all are `change` times as long, and the slowest tenth `tail` times as long.
    """
    bins = DayBins(days)
    habits = generator.normal(0, 0.3, max(80, per_week // 5))
    for number in range(days):
        size = generator.poisson(per_week / 7 * WEEKDAY_VOLUME[number % 7])
        users = generator.integers(0, len(habits), size)
        if generator.random() < 0.2:
            users = np.concatenate((users, np.full(generator.poisson(per_week / 70), generator.integers(len(habits)))))
        values = 900 * np.exp(generator.normal(0, 0.5, len(users)) + habits[users] + 0.1 * (number % 7 >= 5))
        if number >= day > 0:
            values *= change * np.where(generator.random(len(values)) < 0.1, tail, 1.0)
        bins.add_values(np.full(len(values), number), values)
    return bins


def report_percentiles(quarters: int) -> Iterator[tuple[str, bool]]:
    """Yield lines on alarms of the 95th percentile: false ones, and how soon a change is found."""
    yield f"the 95th percentile of latencies ({quarters} quarters each; promised: at most {FALSE_ALARMS} alerts)", True
    days = SETTLING_DAYS + QUARTER_DAYS
    for per_week in (250, 2000):
        generator = np.random.default_rng([SEED, quarters, per_week])
        alerts = []
        for number in range(quarters):
            bins = simulate_latencies(days, generator, per_week=per_week)
            alarms = find_quantile_alarms(bins.counts, 0.95, SETTLING_DAYS, days - 1, 1, number)
            starts = [row.alarm.day for row in alarms]
            alerts.append(sum(not place or day - starts[place - 1] > EPISODE_DAYS for place, day in enumerate(starts)))
        mean, error = float(np.mean(alerts)), float(np.std(alerts)) / sqrt(quarters)
        kept = mean - 2 * error <= FALSE_ALARMS
        text = f"  {f'{per_week} a week, nothing changes':<44} {mean:.3f} ± {error:.3f} alerts"
        yield text + ("" if kept else "  MISSED"), kept
    for per_week, change, tail, promised in ((2000, 1.0, 2.0, True), (2000, 1.3, 1.0, True), (250, 1.0, 2.0, False)):
        generator = np.random.default_rng([SEED, per_week, int(10 * change), int(10 * tail)])
        delays: list[int | None] = []
        reps = max(20, quarters // 2)
        for number in range(reps):
            bins = simulate_latencies(
                SETTLING_DAYS + 28, generator, per_week=per_week, change=change, tail=tail, day=SETTLING_DAYS
            )
            alarms = find_quantile_alarms(bins.counts, 0.95, SETTLING_DAYS, SETTLING_DAYS + 27, 1, number)
            delays.append(alarms[0].alarm.day - SETTLING_DAYS + 1 if alarms else None)
        what = f"all × {change:g}" if change != 1 else f"the slowest tenth × {tail:g}"
        yield describe_delays(f"{per_week} a week, {what}", delays, promised=promised)


def describe_delays(name: str, delays: list[int | None], *, promised: bool) -> tuple[str, bool]:
    """Return a line on delays, and whether nine of ten changes were found in 14 days where that is promised."""
    reached = sorted(delay for delay in delays if delay is not None)
    share = [sum(delay <= days for delay in reached) / len(delays) for days in (7, 14, 28)]
    error = sqrt(max(share[1] * (1 - share[1]), 1 / len(delays)) / len(delays))
    kept = not promised or share[1] + 2 * error >= DETECTED_IN_TWO_WEEKS
    median = f"{reached[len(reached) // 2]}" if len(reached) * 2 > len(delays) else "more than 28"
    shares = f"within 7: {share[0]:.0%}, 14: {share[1]:.0%} ± {error:.0%}, 28: {share[2]:.0%}"
    note = "  (promised: 90% within 14)" if promised else ""
    return f"  {name:<44} median {median}; {shares}{note}" + ("" if kept else "  MISSED"), kept


def report_bounds(quarters: int) -> Iterator[tuple[str, bool]]:
    """Yield lines on bounds that are watched from the first day on: false alarms, and how soon a breach is found."""
    bound = 0.05
    yield f"a bound of {bound:.0%} from the first day on ({quarters} quarters; promised: {FALSE_ALARMS} alerts)", True
    worst = float(WEEKDAY_RISK.max())
    for world in (
        World("all days at the bound", is_fixed=True),
        World("all days at the bound, little traffic", per_week=250, users=80, is_fixed=True),
        World("at the bound, users and bursts", overdispersion=0.1, activity=0.5, bursts=0.3, is_fixed=True),
        World("worst weekday at the bound", rate=bound / worst, seasonal=True, is_fixed=True),
        World("mean of the week at the bound", seasonal=True, is_fixed=True, is_promised=False),
    ):
        alerts = count_bound_alarms(world, bound, quarters)
        error = float(alerts.std()) / sqrt(quarters)
        kept = float(alerts.mean()) - 2 * error <= FALSE_ALARMS or not world.is_promised
        promise = "" if world.is_promised else "  weekends are beyond it: nothing promised"
        text = f"  {world.name:<44} {alerts.mean():.3f} ± {error:.3f} alerts{promise}"
        yield text + ("" if kept else "  MISSED"), kept
    base = World("bound", overdispersion=0.05, activity=0.5, seasonal=True)
    for per_week, rate, change, first_day, promised in (
        (2000, 0.075, 1.0, 0, False),
        (2000, 0.10, 1.0, 0, True),
        (2000, 0.15, 1.0, 0, True),
        (250, 0.10, 1.0, 0, False),
        (2000, 0.03, 10 / 3, 45, True),
    ):
        world = replace(base, per_week=per_week, rate=rate, change=change, users=max(80, per_week // 5))
        delays = measure_bound_delays(world, bound, first_day, max(20, quarters // 2))
        since = f", {rate:.1%} until day {first_day}" if first_day else ""
        yield describe_delays(f"{per_week} a week, {rate * change:.1%}{since}", delays, promised=promised)


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def compare_cost(world: World, budget: int, reps: int) -> tuple[float, float, float]:
    """Return the width with a stratified budget, and how many answers a simple random sample needs for that width.

    The third number is the width when every answer is judged.
    """
    generator = np.random.default_rng([SEED, budget, hash_name(world.name)])
    stratified: list[float] = []
    complete: list[float] = []
    grid = [budget * factor // 4 for factor in (2, 3, 4, 5, 6, 8, 10, 12)]
    simple: dict[int, list[float]] = {number: [] for number in grid}
    for _ in range(reps):
        week = simulate(world, 7, generator)
        stratified.append(_width(estimate_sample(week, draw_sample(week, budget, generator), week.wrong)))
        everything = np.ones(len(week.wrong), dtype=np.bool_)
        complete.append(_width(estimate_sample(week, everything, week.wrong)))
        merged = week._replace(strata=np.zeros(len(week.wrong), dtype=np.int64))
        for number in grid:
            chosen = np.zeros(len(week.wrong), dtype=np.bool_)
            chosen[generator.choice(len(week.wrong), size=min(number, len(week.wrong)), replace=False)] = True
            simple[number].append(_width(estimate_sample(merged, chosen, week.wrong)))
    width = float(np.mean(stratified))
    widths = [float(np.mean(simple[number])) for number in grid]
    needed = float(np.interp(-width, [-value for value in widths], grid))
    return width, needed, float(np.mean(complete))


def _width(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.bounds.high - estimate.bounds.low


# ── report ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def report_coverage(reps: int) -> Iterator[tuple[str, bool]]:
    """Yield a line for each world and method, and whether its promise was kept."""
    yield f"coverage of 95% intervals of a week ({reps} weeks each; promised: at least 93%)", True
    for world in WORLDS:
        for method, budget in (("census", None), ("sample", 100), ("sample", 400), ("corrected", 400)):
            row = measure_coverage(world, budget, method, reps)
            kept = row.share + 2 * row.error >= COVERAGE
            label = "  conservative" if row.share > CONSERVATIVE else ""
            name = f"{world.name}, {method}" + (f" of {budget}" if budget else "")
            text = f"  {name:<44} {row.share:6.1%} ± {row.error:.1%}   width {row.width:.4f}{label}"
            yield text + ("" if kept else "  MISSED"), kept


def report_alarms(quarters: int) -> Iterator[tuple[str, bool]]:
    """Yield a line for each stationary world, and whether its promise was kept."""
    yield (
        f"alarms while nothing changes, a quarter ({quarters} quarters each; promised: at most {FALSE_ALARMS} alerts)",
        True,
    )
    for world in STATIONARY:
        alerts, days = count_false_alarms(world, quarters)
        error, day_error = float(alerts.std()) / sqrt(quarters), float(days.std()) / sqrt(quarters)
        kept = float(alerts.mean()) - 2 * error <= FALSE_ALARMS or not world.is_promised
        promise = "" if world.is_promised else "  assumption broken: nothing promised"
        counts = f"{alerts.mean():.3f} ± {error:.3f} alerts, {days.mean():.3f} ± {day_error:.3f} days"
        text = f"  {world.name:<44} {counts}{promise}"
        yield text + ("" if kept else "  MISSED"), kept


def report_delays(reps: int) -> Iterator[tuple[str, bool]]:
    """Yield a line for each change, and whether its promise was kept."""
    yield f"days from a change to its alarm ({reps} changes each)", True
    base = World("users differ", overdispersion=0.05, activity=0.5, seasonal=True)
    for per_week, rate, change, promised in (
        (2000, 0.03, 7 / 3, True),
        (2000, 0.05, 1.5, False),
        (2000, 0.05, 2.0, True),
        (2000, 0.05, 3.0, True),
        (400, 0.05, 2.0, False),
        (20_000, 0.05, 1.2, False),
        (20_000, 0.05, 1.5, True),
    ):
        world = replace(base, per_week=per_week, rate=rate, users=max(80, per_week // 5))
        delays = measure_delays(world, change, reps)
        name = f"{per_week} a week, {rate:.0%} → {rate * change:.1%}"
        yield describe_delays(name, delays, promised=promised)


def report_cost(reps: int) -> Iterator[tuple[str, bool]]:
    """Yield a line for each world: what the design saves at equal width."""
    yield f"judged answers for the same width ({reps} weeks each; promised: no more than without strata)", True
    useless = (
        replace(WORLDS[0], name="strata tell nothing", flagged_alike=0.02, is_promised=False),
        replace(WORLDS[4], name="strata tell nothing, a tenth flagged", flagged_alike=0.1, is_promised=False),
    )
    budget = 400
    for world in (WORLDS[0], WORLDS[1], WORLDS[2], WORLDS[4], WORLDS[5], *useless):
        width, needed, complete = compare_cost(world, budget, reps)
        saved = 1 - budget / needed
        simple = f"simple random sample: {needed:.0f} ({saved:.0%} saved)"
        text = f"  {world.name:<44} width {width:.4f} with {budget}; {simple}"
        kept = saved >= -COST_ERROR or not world.is_promised
        promise = "" if world.is_promised else "  nothing promised"
        yield f"{text}; all {world.per_week} judged: {complete:.4f}{promise}" + ("" if kept else "  MISSED"), kept


def main(arguments: list[str] | None = None) -> int:
    """Print everything; return 1 if a promise is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reps", type=int, default=500)
    parser.add_argument("--quarters", type=int, default=200)
    options = parser.parse_args(arguments)
    is_kept = True
    for lines in (
        report_coverage(options.reps),
        report_alarms(options.quarters),
        report_delays(max(20, options.quarters // 2)),
        report_named_changes(max(20, options.reps // 5)),
        report_courses(max(20, options.quarters // 2)),
        report_bounds(options.quarters),
        report_percentiles(options.quarters),
        report_cost(max(20, options.reps // 5)),
    ):
        for text, kept in lines:
            print(text, flush=True)
            is_kept = is_kept and kept
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
