"""What a summary says: the value, the pessimistic value, the interval, the counts and the warnings."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import assay
from assay.metrics.answers.correctness import UNKNOWN_REASON
from assay.metrics.catalog import CATALOG, case_column_name, parse_metric
from assay.metrics.judged.judge_requests import NO_VERDICT
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation
from assay.records.scores import ERROR, NEEDS_REVIEW, NOT_APPLICABLE, SCORED, SETTLED, ScoreColumn, ScoreTable, Summary
from assay.report.exports.json_report import render_json_report
from assay.report.exports.markdown import ReportMeta, render_markdown_report
from assay.report.screen.run_summary import render_run_summary
from assay.report.screen.terminal import render_score_screen
from assay.scoring import summaries
from assay.scoring.case_clusters import number_clusters
from assay.scoring.column_values import MIN_JUDGED_SHARE
from assay.scoring.summaries import summarise_column, summarise_metric, summarise_table
from assay.stats.arrays import RowIndices

E, N = "error", "not applicable"


def column(metric: str, scores: Sequence[float | str]) -> ScoreColumn:
    """A column from numbers, `E` and `N`."""
    status = [{E: ERROR, N: NOT_APPLICABLE}[score] if isinstance(score, str) else SCORED for score in scores]
    values = [0.0 if isinstance(score, str) else score for score in scores]
    return ScoreColumn(
        metric, np.array(values), np.array(status, dtype=np.uint8), np.zeros(len(values), dtype=np.uint16)
    )


def summary(metric: str, scores: Sequence[float | str], rows: Sequence[int] | None = None) -> Summary:
    chosen = None if rows is None else np.array(rows, dtype=np.intp)
    metric_row = CATALOG[parse_metric(metric).base]
    return summarise_column(
        metric_row, column(metric, scores), chosen, metric=metric, slice_name="all" if rows is None else "tag=x"
    )


def test_a_mean_is_over_scored_cases_and_the_pessimistic_one_counts_errors_as_the_worst() -> None:
    summarised = summary("recall@10", [1.0, 0.5, E, N])
    assert (summarised.value, summarised.mean, summarised.mean_worst) == (0.75, 0.75, 0.5)  # (1 + .5 + 0) / 3
    assert (summarised.scored, summarised.errors, summarised.not_applicable) == (2, 1, 1)


def test_where_low_is_better_an_error_counts_as_the_top_of_the_range() -> None:
    summarised = summary("over_refusal", [0.0, 0.0, 1.0, E])
    assert summarised.value == pytest.approx(1 / 3)
    assert summarised.mean_worst == 0.5  # (0 + 0 + 1 + 1) / 4


def test_an_open_range_has_no_pessimistic_mean() -> None:
    assert summary("cost_usd", [0.1, 0.2, E]).mean_worst is None


def test_only_errors_leave_no_value_and_the_worst_pessimistic_one() -> None:
    summarised = summary("recall@10", [E, E, N])
    assert (summarised.value, summarised.mean, summarised.interval, summarised.mean_worst) == (None, None, None, 0.0)


@pytest.mark.parametrize(
    "metric", ["recall@10", "latency_ms(stat=p95)", "tokens(stat=total)", "error_rate", "cost_usd", "latency_ms"]
)
@pytest.mark.parametrize("scores", [[], [N, N]])
def test_nothing_applicable_gives_no_number_at_all(metric: str, scores: list[str]) -> None:
    summarised = summary(metric, scores)
    assert (summarised.value, summarised.mean, summarised.mean_worst, summarised.interval) == (None, None, None, None)


def test_a_score_of_zeros_and_ones_gets_the_wilson_interval() -> None:
    summarised = summary("hit@5", [1.0] * 30 + [0.0] * 11)
    assert summarised.interval is not None
    assert summarised.interval.method == "Wilson"
    assert summarised.value is not None
    assert summarised.interval.low < summarised.value < summarised.interval.high


def test_other_scores_get_a_t_interval_inside_the_range() -> None:
    summarised = summary("recall@10", [1.0, 0.5, 0.75, 1.0, 0.25])
    assert summarised.interval is not None
    assert summarised.interval.method.startswith("t")
    assert 0 <= summarised.interval.low < 0.7 < summarised.interval.high <= 1


def test_cases_of_one_cluster_widen_the_interval() -> None:
    scores = [1.0, 1.0, 0.0, 0.0] * 10
    alone = summarise_column(CATALOG["hit"], column("hit@5", scores))
    twins = number_clusters([Case(str(row), "?", cluster=str(row // 2)) for row in range(40)])
    shared = summarise_column(CATALOG["hit"], column("hit@5", scores), clusters=twins)
    assert alone.interval is not None
    assert shared.interval is not None
    assert shared.interval.method.startswith("CR1-t")
    assert shared.interval.high - shared.interval.low > alone.interval.high - alone.interval.low
    assert shared.value == alone.value


def test_clusters_of_other_cases_do_not_change_the_method() -> None:
    """Only the scored rows of the slice count: here the twins are outside."""
    clusters = np.array([0, 1, 2, 3, 3], dtype=np.intp)
    summarised = summarise_column(
        CATALOG["hit"],
        column("hit@5", [1.0, 0.0, 1.0, 1.0, 1.0]),
        np.array([0, 1, 2], dtype=np.intp),
        slice_name="tag=x",
        clusters=clusters,
    )
    assert summarised.interval is not None
    assert summarised.interval.method == "Wilson"


def test_one_cluster_gives_no_interval_and_says_why() -> None:
    summarised = summarise_column(CATALOG["hit"], column("hit@5", [1.0, 0.0]), clusters=np.array([0, 0], dtype=np.intp))
    assert summarised.interval is None
    assert any("one cluster" in note for note in summarised.notes)


def test_p95_is_the_nearest_rank_and_needs_twenty_for_an_interval() -> None:
    # index ceil(.95 · 19) − 1 = 18 of 0 … 18, and ceil(.95 · 20) − 1 = 18 of 0 … 19
    few, enough = (summary("latency_ms(stat=p95)", [float(n) for n in range(size)]) for size in (19, 20))
    assert (few.statistic, few.value, few.mean, few.interval) == ("p95", 18.0, None, None)
    assert few.notes == ("n 19 is too few for an interval of p95",)
    assert enough.value == 18.0
    assert enough.interval is not None


def test_a_total_is_the_sum() -> None:
    summarised = summary("tokens(stat=total)", [10.0, 20.0, N, E])
    assert (summarised.statistic, summarised.value, summarised.mean, summarised.mean_worst) == (
        "total",
        30.0,
        None,
        None,
    )


def test_a_rate_is_no_mean_but_has_its_pessimistic_value() -> None:
    summarised = summary("error_rate", [1.0, 0.0, 0.0, E])
    assert summarised.statistic == "rate"
    assert summarised.value == pytest.approx(1 / 3)
    assert (summarised.mean, summarised.mean_worst) == (None, 0.5)


def calibration(refused: Sequence[float | str], answered: Sequence[float | str]) -> Summary:
    both = [N if pair == (N, N) else 1.0 for pair in zip(refused, answered, strict=True)]
    scores = {"refused": refused, "answered": answered, "refusal_calibration": both}
    columns = {metric: column(metric, given) for metric, given in scores.items()}
    table = ScoreTable("c", [str(row) for row in range(len(refused))], columns, (), ())
    return summarise_metric(table, parse_metric("refusal_calibration"))


def test_refusal_calibration_is_the_mean_of_both_kinds_of_right() -> None:
    # of 2 that must be refused 1 was answered: .5 right; of 4 others 1 was refused: .75 right
    calibrated = calibration([0.0, 1.0, N, N, N, N], [N, N, 0.0, 1.0, 1.0, 1.0])
    assert (calibrated.statistic, calibrated.value, calibrated.mean) == ("balanced", 0.625, None)
    assert calibrated.interval is not None


def test_always_answering_calibrates_to_a_half() -> None:
    assert calibration([0.0, 0.0, N, N], [N, N, 1.0, 1.0]).value == 0.5


def test_always_refusing_where_nothing_must_be_refused_calibrates_to_nothing_and_says_what_is_absent() -> None:
    calibrated = calibration([N, N], [0.0, 0.0])
    assert calibrated.value == 0.0
    assert "no case for refused: left out" in calibrated.notes


def test_calibration_counts_errors_of_each_kind_as_wrong() -> None:
    calibrated = calibration([1.0, E, N, N], [N, N, 1.0, 1.0])
    assert (calibrated.value, calibrated.mean_worst) == (1.0, 0.75)


def test_repeats_that_disagree_leave_calibration_without_an_interval() -> None:
    calibrated = calibration([0.5, N], [N, 1.0])
    assert (calibrated.value, calibrated.interval) == (0.75, None)
    assert "no interval: repeats of a case disagree" in calibrated.notes


def test_a_perfect_headline_warns_that_it_is_too_easy_and_a_perfect_slice_that_it_is_small() -> None:
    assert summary("recall@10", [1.0, 1.0, N]).notes == (
        "perfect on every scored case (n 2): cannot tell systems apart",
    )
    assert summary("recall@10", [1.0, 1.0], [0, 1]).notes == ("descriptive only (n < 10)",)
    assert summary("recall@10", [1.0] * 10, list(range(10))).notes == ()


def test_no_leaks_is_not_a_perfect_score_to_warn_of() -> None:
    assert summary("injection_followed", [0.0] * 12).notes == ()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_counts_as_an_error(bad: float) -> None:
    summarised = summary("recall@10", [1.0, bad])
    assert (summarised.value, summarised.mean_worst, summarised.scored, summarised.errors) == (1.0, 0.5, 1, 1)
    assert "not finite and counted as errors: 1" in summarised.notes


def test_a_slice_holds_only_its_rows() -> None:
    summarised = summary("recall@10", [0.0, 1.0, E, 0.5], [1, 3])
    assert (summarised.slice, summarised.value, summarised.scored, summarised.errors) == ("tag=x", 0.75, 2, 0)


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_headline_means_are_exact_and_slice_means_are_sums_in_order(scores: list[float]) -> None:
    headline, part = summary("recall@10", scores), summary("recall@10", scores, list(range(len(scores))))
    total = 0.0
    for score in scores:
        total += score
    assert headline.value == math.fsum(scores) / len(scores)
    assert part.value == total / len(scores)


scores_with_gaps = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([E, N])), max_size=30)


@pytest.mark.slow
@given(scores_with_gaps)
def test_counts_add_up_and_every_number_is_in_the_range(scores: list[float | str]) -> None:
    summarised = summary("recall@10", scores)
    assert summarised.scored + summarised.errors + summarised.not_applicable == len(scores)
    numbers = [
        summarised.value,
        summarised.mean_worst,
        *((summarised.interval.low, summarised.interval.high) if summarised.interval else ()),
    ]
    assert all(number is None or 0 <= number <= 1 for number in numbers)


def test_all_summaries_of_a_table_are_keyed_by_metric_and_slice() -> None:
    latency = column("latency_ms", [100.0, 300.0])
    table = ScoreTable("c", ["a", "b"], {"recall@10": column("recall@10", [1.0, 0.0]), "latency_ms": latency}, (), ())
    names = [parse_metric("recall@10"), parse_metric("latency_ms(stat=p50)")]
    headline, by_slice = summarise_table(table, names, {"tag=hr": np.array([1], dtype=np.intp)})
    assert {"recall@10": 0.5, "latency_ms(stat=p50)": 100.0} == {key: each.value for key, each in headline.items()}
    of_hr = {key: each.value for key, each in by_slice["tag=hr"].items()}
    assert of_hr == {"recall@10": 0.0, "latency_ms(stat=p50)": 300.0}


REASONS = ("", f"{NEEDS_REVIEW}: tied votes", f"{SETTLED} by a person", UNKNOWN_REASON, NO_VERDICT)
PARTS = CATALOG["refusal_calibration"].parts
NAMES = ("recall@10", "faithfulness(by=rules)", "latency_ms(stat=p95)", "cost_usd", "refusal_calibration")


@st.composite
def tables_with_slices(draw: st.DrawFn) -> tuple[ScoreTable, dict[str, RowIndices]]:
    """Tables with two different scores in each column, so that many slices hold the same ones, and small slices."""
    count = draw(st.integers(2, 6))
    scores = st.tuples(
        st.sampled_from([0.0, 1.0, 0.5, math.nan]),
        st.sampled_from([SCORED, SCORED, NOT_APPLICABLE, ERROR]),
        st.integers(0, len(REASONS) - 1),
    )
    columns = {}
    for name in (*NAMES, *PARTS):
        two_scores = draw(st.tuples(scores, scores))
        values, status, reason = zip(*(two_scores[draw(st.integers(0, 1))] for _ in range(count)), strict=True)
        key = str(case_column_name(parse_metric(name)))
        columns[key] = ScoreColumn(
            key, np.array(values), np.array(status, np.uint8), np.array(reason, np.uint16), REASONS
        )
    slices = draw(st.lists(st.sets(st.integers(0, count - 1), min_size=1, max_size=3), max_size=8))
    table = ScoreTable("c", [str(row) for row in range(count)], columns, (), ())
    return table, {f"tag={number}": np.array(sorted(rows), np.intp) for number, rows in enumerate(slices)}


@given(tables_with_slices(), st.booleans(), st.sampled_from([0.1, 0.95]))
def test_slices_that_hold_the_same_scores_are_summarised_as_if_each_stood_alone(
    content: tuple[ScoreTable, dict[str, RowIndices]], has_clusters: bool, floor: float
) -> None:
    table, slices = content
    clusters = np.arange(len(table.case_ids), dtype=np.intp) // 2 if has_clusters else None
    names = [parse_metric(name) for name in NAMES]
    floors = {(str(name), "tag=1"): floor for name in names}
    _, by_slice = summarise_table(table, names, slices, clusters, floors)
    for key, rows in slices.items():
        for name in names:
            alone = summarise_metric(
                table,
                name,
                rows,
                slice_name=key,
                clusters=clusters,
                coverage_floor=floors.get((str(name), key), MIN_JUDGED_SHARE),
            )
            assert repr(by_slice[key][str(name)]) == repr(alone)  # a value that is not a number equals nothing


def test_slices_that_hold_the_same_scores_are_summarised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = []

    def summarise(*arguments: Any, **options: Any) -> Summary:
        computed.append(options["slice_name"])
        return summarise_column(*arguments, **options)

    monkeypatch.setattr(summaries, "summarise_column", summarise)
    scores = column("recall@10", [1.0, 0.0, 1.0, 1.0])
    table = ScoreTable("c", ["a", "b", "c", "d"], {"recall@10": scores}, (), ())
    slices = {f"tag={row}": np.array([row], dtype=np.intp) for row in range(4)}
    _, by_slice = summarise_table(table, [parse_metric("recall@10")], slices)
    printed = {key: (of_slice["recall@10"].slice, of_slice["recall@10"].value) for key, of_slice in by_slice.items()}
    assert printed == {
        "tag=0": ("tag=0", 1.0),
        "tag=1": ("tag=1", 0.0),
        "tag=2": ("tag=2", 1.0),
        "tag=3": ("tag=3", 1.0),
    }
    assert computed == ["all", "tag=0", "tag=1"]


@pytest.mark.parametrize("metric", ["recall@5", "latency_ms(stat=p95)", "over_refusal", "cost_usd"])
def test_a_slice_to_which_a_metric_does_not_apply_is_summarised_as_any_other(metric: str) -> None:
    name = parse_metric(metric)
    column = ScoreColumn(
        str(case_column_name(name)),
        np.array([1.0, 0.0, 0.0]),
        np.array([SCORED, NOT_APPLICABLE, NOT_APPLICABLE], dtype=np.uint8),
        np.zeros(3, dtype=np.uint16),
    )
    table = ScoreTable("c", ["a", "b", "c"], {column.metric: column}, (), ())
    rows = np.array([1, 2])
    (found,) = summarise_table(table, [name], {"tag=x": rows})[1]["tag=x"].values()
    assert summarise_metric(table, name, rows, slice_name="tag=x") == found
    assert (None, 0, 2) == (found.value, found.scored, found.not_applicable)


def test_a_metric_without_a_column_is_not_summarised_in_silence() -> None:
    with pytest.raises(KeyError, match="recall@10"):
        summarise_metric(ScoreTable("c", [], {}, (), ()), parse_metric("recall@10"))


def test_number_of_an_uncalibrated_scorer_is_marked() -> None:
    status, reason = np.zeros(1, np.uint8), np.zeros(1, np.uint16)
    column = ScoreColumn("faithfulness(by=rules)", np.array([0.7]), status, reason)
    table = ScoreTable("c", ["q"], {column.metric: column}, (), (), uncalibrated=(column.metric,))
    headline, _ = summarise_table(table, [parse_metric(column.metric)], {})
    assert ("uncalibrated: for ranking and trend only",) == headline[column.metric].notes
    known, _ = summarise_table(replace(table, uncalibrated=()), [parse_metric(column.metric)], {})
    assert () == known[column.metric].notes


def test_unknown_answers_bound_the_mean_at_worst_and_at_best() -> None:
    """2 of 3 are right, and of 2 nobody can tell: from 2/5 to 4/5."""
    scores = column("correct_answer", [1.0, 1.0, 0.0, N, N, N])
    codes = np.array([0, 0, 0, 1, 1, 2], np.uint16)
    scores = replace(scores, reason=codes, reasons=("", UNKNOWN_REASON, "no answer is expected"))
    metric_row = CATALOG["correct_answer"]
    unknown = summarise_column(metric_row, scores).unknown
    assert unknown is not None
    assert pytest.approx((2, 0.4, 0.8)) == (unknown.count, unknown.low, unknown.high)
    slice_of_one = summarise_column(metric_row, scores, np.array([2, 3], np.intp)).unknown
    assert slice_of_one is not None
    assert (1, 0.0, 0.5) == (slice_of_one.count, slice_of_one.low, slice_of_one.high)
    assert summarise_column(metric_row, scores, np.array([0, 5], np.intp)).unknown is None


def test_every_table_shows_the_range_where_answers_are_unknown() -> None:
    answers = ("Staff get 12 days.", "Maybe 12 days.", "14 days")
    cases = tuple(Case(f"c{row}", "How many days?", must_have=("12 days",)) for row in range(3))
    observations = [Observation(case.id, "x", answer=text) for case, text in zip(cases, answers, strict=True)]
    run = assay.score(GoldenSet(cases), observations).run.scoring
    rows = render_score_screen(run).tables[0].rows
    (shown,) = [row[2] for row in rows if row[0] == "correct_answer"]
    assert "0.333–0.667  n=2, 1 unknown" == shown
    assert any("0.333–0.667" in line and "1 unknown" in line for line in render_run_summary(run, {}, {}).lines)
    report = json.loads(render_json_report(run))
    ends = report["configs"]["x"]["summary"]["correct_answer"]["unknown"]
    assert ends["cases"] == 1
    assert [1 / 3, 2 / 3] == pytest.approx([ends["low"], ends["high"]])
    markdown = render_markdown_report(run, {}, {case.id: case for case in cases}, ReportMeta())
    assert "0.333–0.667 (n=2, 1 unknown)" in markdown
