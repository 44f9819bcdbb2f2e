"""Intervals, samples and alarms of the monitor: small floors of what `python -m benchmarks.monitor` measures."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.monitor import (
    SETTLING_DAYS,
    STATIONARY,
    WORLDS,
    World,
    count_false_alarms,
    find_day_alarms,
    find_named_changes,
    measure_coverage,
    measure_delays,
)
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.change_alarms import find_change_interval, find_change_point
from assay.stats.detectable_changes import find_detectable_change
from assay.stats.weighted_estimates import estimate_mean_of_groups, estimate_mean_of_sample, find_limit_at_end
from assay.trends.answer_sample import AnswerSampler, allocate_budget
from assay.trends.topic_drift import QuestionSample, compare_questions

COVERAGE_FLOOR = 0.90  # of 200 weeks: three Monte Carlo errors below the promise


@pytest.mark.slow
@pytest.mark.parametrize("method", ["census", "sample", "corrected"])
def test_intervals_of_samples_cover(method: str) -> None:
    world = next(row for row in WORLDS if row.name == "all at once")
    assert measure_coverage(world, 400, method, 200).share >= COVERAGE_FLOOR


@pytest.mark.slow
def test_alarms_are_rare_while_nothing_changes() -> None:
    world = next(row for row in STATIONARY if row.name == "seasonality, users and bursts")
    alerts, days = count_false_alarms(world, 15)
    assert alerts.mean() <= 0.4
    assert days.mean() <= 1.0


@pytest.mark.slow
def test_a_doubled_rate_is_found_within_two_weeks() -> None:
    world = World("users differ", overdispersion=0.05, activity=0.5, seasonal=True)
    delays = measure_delays(world, 2.0, 12)
    assert sum(delay is not None and delay <= 14 for delay in delays) >= 11


# ── estimates ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_sample_of_everything_is_the_mean_with_users_as_units() -> None:
    generator = np.random.default_rng(1)
    users, values = generator.integers(0, 50, 600), (generator.random(600) < 0.2).astype(float)
    everything = np.ones(600, dtype=bool)
    strata = generator.integers(0, 3, 600)
    sizes = np.bincount(strata, minlength=3).astype(float)
    sampled = estimate_mean_of_sample(values, everything, strata, sizes, users, 0.0, 1.0)
    summed = estimate_mean_of_groups(
        np.bincount(users, weights=values, minlength=50).astype(float),
        np.bincount(users, minlength=50).astype(float),
        0.0,
        1.0,
    )
    assert sampled is not None and summed is not None
    assert sampled.value == pytest.approx(values.mean()) == pytest.approx(summed.value)
    assert sampled.bounds.low <= summed.bounds.low + 0.01 and sampled.bounds.high >= summed.bounds.high - 0.01


def test_weights_undo_that_flagged_answers_are_judged_more_often() -> None:
    values = np.array([1.0] * 10 + [0.0] * 10)
    strata = np.array([0] * 10 + [1] * 10)
    estimate = estimate_mean_of_sample(
        values, np.ones(20, dtype=bool), strata, np.array([10.0, 90.0]), np.arange(20), 0.0, 1.0
    )
    assert estimate is not None and estimate.value == pytest.approx(0.1)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2), st.integers(0, 5), st.booleans()), min_size=1, max_size=40),
    st.integers(0, 50),
)
def test_an_interval_holds_its_estimate_and_has_a_width(
    rows: list[tuple[float, int, int, bool]], unjudged: int
) -> None:
    values, strata, users, applies = (np.array(column) for column in zip(*rows, strict=True))
    sizes = np.bincount(strata, minlength=3) + unjudged * (np.bincount(strata, minlength=3) > 0)
    estimate = estimate_mean_of_sample(values, applies, strata, sizes.astype(float), users, 0.0, 1.0)
    assert (estimate is None) == (not applies.any())
    if estimate is not None:
        bounds = estimate.bounds
        assert 0 <= bounds.low <= estimate.value + 1e-9 and estimate.value - 1e-9 <= bounds.high <= 1
        assert bounds.high - bounds.low > 0


@given(st.integers(12, 500), st.tuples(*[st.integers(0, 2000)] * 3))
def test_a_budget_is_spent_and_never_exceeded(budget: int, sizes: tuple[int, int, int]) -> None:
    chosen = allocate_budget(budget, sizes)
    assert sum(chosen) == min(budget, sum(sizes))
    assert all(0 <= number <= size for number, size in zip(chosen, sizes, strict=True))
    assert all(number > 0 for number, size in zip(chosen, sizes, strict=True) if size)


def test_the_sample_does_not_depend_on_the_order_of_answers() -> None:
    rows = [(f"req-{number}", number, number % 3) for number in range(300)]
    samples = []
    for order in (rows, rows[::-1]):
        sampler = AnswerSampler(30, seed=4)
        for row in order:
            sampler.add_answer(*row)
        samples.append(sampler.close_week(0))
    assert samples[0] == samples[1]
    other = AnswerSampler(30, seed=5)
    for row in rows:
        other.add_answer(*row)
    assert other.close_week(0) != samples[0]


# ── alarms ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_days(
    rate: float, after: float, change_day: int, days: int = SETTLING_DAYS + 28
) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    sizes = np.full(days, 200.0)
    rates = np.where(np.arange(days) < change_day, rate, after)
    return generator.binomial(200, rates).astype(float), sizes


def test_a_rise_of_a_good_metric_is_no_alarm() -> None:
    totals, sizes = make_days(0.05, 0.25, SETTLING_DAYS)
    last = len(sizes) - 1
    assert find_day_alarms(totals, sizes, SETTLING_DAYS, last, 1)
    assert find_day_alarms(totals, sizes, SETTLING_DAYS, last, 0)
    assert not find_day_alarms(totals, sizes, SETTLING_DAYS, last, -1)


def test_weekends_that_are_always_worse_are_no_alarm() -> None:
    sizes = np.full(SETTLING_DAYS + 28, 200.0)
    totals = np.where(np.arange(len(sizes)) % 7 >= 5, 40.0, 4.0)
    assert not find_day_alarms(totals, sizes, SETTLING_DAYS, len(sizes) - 1, 1)


def test_no_alarm_before_four_weeks_of_answers() -> None:
    totals, sizes = make_days(0.01, 0.9, 20, days=30)
    assert not find_day_alarms(totals, sizes, 0, 29, 1)
    assert find_detectable_change(totals[:20], sizes[:20], 1, 0.0, 1.0) is None


@pytest.mark.slow
@pytest.mark.parametrize(("per_day", "rate"), [(50, 0.08), (120, 0.3)])
def test_a_change_of_the_size_that_is_named_is_found_within_its_week(per_day: int, rate: float) -> None:
    world = World("named", per_week=7 * per_day, rate=rate, users=90, overdispersion=0.05, activity=0.5)
    row = find_named_changes(world, 20)
    assert row.given == 20
    assert row.found >= 15  # of 20 at 90%: three Monte Carlo errors below the promise


def test_a_named_change_is_not_far_beyond_what_is_found() -> None:
    generator = np.random.default_rng(5)
    sizes = np.full(SETTLING_DAYS, 100.0)
    totals = generator.binomial(100, 0.1, SETTLING_DAYS).astype(float)
    named = find_detectable_change(totals, sizes, 1, 0.0, 1.0)
    assert named is not None
    found = 0
    for number in range(20):  # half of what is named is seldom found
        week = generator.binomial(100, 0.1 + named / 2, 7).astype(float)
        whole = np.concatenate((totals, week)), np.full(SETTLING_DAYS + 7, 100.0)
        found += bool(find_day_alarms(*whole, SETTLING_DAYS, SETTLING_DAYS + 6, 1, seed=number))
    assert found <= 12


def test_weeks_without_any_event_name_a_change_that_several_events_make() -> None:
    sizes = np.full(SETTLING_DAYS, 100.0)
    named = find_detectable_change(np.zeros(SETTLING_DAYS), sizes, 1, 0.0, 1.0)
    assert named is not None and 4 < 700 * named < 25


@pytest.mark.parametrize("score", [0.9608342772032357, 1 / 3, 0.1, 0.7])
def test_a_score_that_is_the_same_every_day_names_a_small_change_at_once(score: float) -> None:
    """Means of equal values differ in their last digits by how many there are, and that is no spread."""
    sizes = (20 + np.arange(SETTLING_DAYS) * 7 % 13).astype(np.float64)
    totals = np.array([sum([score] * int(size)) for size in sizes])
    named = find_detectable_change(totals, sizes, -1, 0.0, 1.0)
    assert named is not None and 1e-5 < named < 0.01
    assert find_detectable_change(1000 * totals, sizes, 1) is None  # values without a range have no smallest step
    assert not find_day_alarms(totals, sizes, 30, SETTLING_DAYS - 1, 0)


def test_what_a_fall_would_be_is_named_as_what_a_rise_of_the_rest_would_be() -> None:
    generator = np.random.default_rng(6)
    sizes = np.full(SETTLING_DAYS, 80.0)
    wrong = generator.binomial(80, 0.2, SETTLING_DAYS).astype(float)
    rise = find_detectable_change(wrong, sizes, 1, 0.0, 1.0)
    assert find_detectable_change(sizes - wrong, sizes, -1, 0.0, 1.0) == pytest.approx(rise)


def test_a_rate_with_little_room_names_no_change() -> None:
    assert find_detectable_change(np.full(70, 20.0), np.full(70, 20.0), 1, 0.0, 1.0) is None


def test_more_tests_of_one_metric_find_less() -> None:
    generator = np.random.default_rng(8)
    sizes = np.full(SETTLING_DAYS, 60.0)
    values = 700 * sizes + generator.normal(size=SETTLING_DAYS) * 900
    alone = find_detectable_change(values, sizes, 1, 0.0, None, 0.25)
    shared = find_detectable_change(values, sizes, 1, 0.0, None, 0.05)
    assert alone is not None and shared is not None and alone < shared


def test_an_alarm_of_a_day_does_not_depend_on_the_days_after_it() -> None:
    totals, sizes = make_days(0.05, 0.2, SETTLING_DAYS + 5)
    whole = find_day_alarms(totals, sizes, SETTLING_DAYS, len(sizes) - 1, 1)
    first = whole[0].day
    assert find_day_alarms(totals[: first + 1], sizes[: first + 1], SETTLING_DAYS, first, 1) == whole[:1]
    change = find_change_point(totals, sizes, 0, first)
    assert change is not None and abs(change.day - SETTLING_DAYS - 5) <= 2


# ── topics ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_other_questions_are_drift_and_the_same_ones_are_not() -> None:
    generator = np.random.default_rng(7)
    old = [frozenset(generator.choice(["leave", "days", "travel", "cost", "claim", "form"], 3)) for _ in range(120)]
    new = [frozenset({*words, "strike"}) for words in old[:60]]
    drifted, same = compare_questions(old[60:], new), compare_questions(old[60:], old[:60])
    assert drifted is not None and same is not None
    assert drifted.p < 0.01 < same.p
    assert drifted.more[0] == "strike"
    assert compare_questions(old[:19], new) is None


def test_no_user_is_on_both_sides_of_a_comparison() -> None:
    before, after = QuestionSample(3), QuestionSample(4)
    for number in range(200):
        before.add_question(f"user-{number}", f"word{number}")
        after.add_question(f"user-{number}", f"word{number}")
    first, second = before.list_questions(), after.list_questions()
    assert first and second and not set(first) & set(second)
    assert len(first) + len(second) == 200


@pytest.mark.parametrize("weights", [(0.56, *[0.022] * 20), (0.8, *[0.02] * 10), (0.4, 0.4, *[0.02] * 10), (0.25,) * 4])
def test_the_limit_at_an_end_holds_for_users_of_any_weight_who_answer_alike(weights: tuple[float, ...]) -> None:
    """Whatever the rates of single users: those that leave a chance of 2.5% for no event at all have no lower mean."""
    sizes = np.array(weights) / sum(weights)
    limit = find_limit_at_end(sizes, 0.025)
    rng = np.random.default_rng(3)
    for _ in range(300):
        parts = rng.dirichlet(np.full(len(sizes), 0.3))
        rates = 0.025**parts  # their product is 0.025
        assert float(sizes @ rates) >= limit - 1e-9


def test_an_interval_says_that_one_user_has_most_of_the_answers() -> None:
    sizes = np.array([200.0, *[8.0] * 20])
    estimate = estimate_mean_of_groups(sizes.copy(), sizes, 0.0, 1.0)
    assert estimate is not None
    assert "one user has 56% of the answers" == estimate.bounds.note
    assert 0.4 < estimate.bounds.low < 0.6
    equal = estimate_mean_of_groups(np.full(20, 5.0), np.full(20, 5.0), 0.0, 1.0)
    assert equal is not None
    assert ("", round(0.025 ** (1 / 20), 6)) == (equal.bounds.note, round(equal.bounds.low, 6))


@pytest.mark.parametrize("rate", [0.04, 0.1, 0.5])
@pytest.mark.parametrize(("users", "spread"), [(100, 2.0), (30, 1.0)])
def test_intervals_cover_where_few_users_have_most_answers_and_each_gets_only_right_or_only_wrong_ones(
    users: int, spread: float, rate: float
) -> None:
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(150):
        weights = np.exp(spread * rng.standard_normal(users))
        sizes = rng.multinomial(360, weights / weights.sum()).astype(float)
        totals = np.where(rng.random(users) < rate, sizes, 0.0)
        estimate = estimate_mean_of_groups(totals, sizes, 0.0, 1.0)
        assert estimate is not None
        covered += estimate.bounds.low <= rate <= estimate.bounds.high
    assert covered >= 138  # 92%; it was 84 to 92% when the observed variance alone counted


def test_independent_answers_of_equal_users_have_the_width_of_so_many_answers() -> None:
    rng = np.random.default_rng(5)
    sizes = np.full(200, 10.0)
    totals = rng.binomial(10, 0.2, 200).astype(float)
    estimate = estimate_mean_of_groups(totals, sizes, 0.0, 1.0)
    assert estimate is not None
    alone = 2 * 1.96 * np.sqrt(0.2 * 0.8 / 2000)
    assert alone * 0.85 < estimate.bounds.high - estimate.bounds.low < alone * 1.15


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after", "answers"), [(0.05, 0.10, 60), (0.10, 0.13, 285), (0.3, 0.2, 120)])
def test_the_interval_of_a_change_holds_its_day(before: float, after: float, answers: int) -> None:
    rng = np.random.default_rng(7)
    hits = near = 0
    for _ in range(100):
        day = int(rng.integers(40, 60))
        rates = np.where(np.arange(65) < day, before, after)
        sizes = rng.integers(answers // 2, answers * 3 // 2, 65).astype(float)
        totals = rng.binomial(sizes.astype(int), rates).astype(float)
        interval = find_change_interval(totals, sizes, 0, 64)
        point = find_change_point(totals, sizes, 0, 64)
        assert interval is not None
        assert point is not None
        assert interval[0] <= point.day <= interval[1]
        hits += interval[0] <= day <= interval[1]
        near += abs(point.day - day) <= 2
    assert hits >= 90
    assert near < hits


def test_three_days_with_values_give_no_interval_of_a_change() -> None:
    assert find_change_interval(np.array([1.0, 1.0, 9.0]), np.full(3, 10.0), 0, 2) is None
