"""Changes where answers of either side are unknown: a direction is printed only if no unknown answer can turn it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.comparison.sides import E, N, side

import assay
from assay.comparison.paired_comparison import compare_snapshots
from assay.metrics.catalog import CATALOG
from assay.metrics.correctness import UNKNOWN_REASON
from assay.records.findings import Comparison, MetricChange
from assay.records.golden_set import Case
from assay.records.release_gates import Decision
from assay.report.comparison_screen import render_short_comparison
from assay.report.comparison_tables import build_headline_changes_table
from assay.report.html_summary import build_comparison_data
from assay.report.json_report import encode_metric_change
from assay.scoring.paired_scores import ScoreSnapshot

METRIC, U = "correct_answer", "unknown answer"
Score = float | str
SCORE = st.sampled_from([0.0, 1.0, U])
NO_DECISION = Decision("NOT_GATED", ())


def make_side(scores: Sequence[Score], name: str, cases: Sequence[Case] | None = None) -> ScoreSnapshot:
    """A side with one metric, in which `U` is an answer that nobody can tell the score of."""
    made = side({METRIC: [N if score == U else score for score in scores]}, name, cases=cases)
    column = made.table.columns[METRIC]
    reasons = (*column.reasons, UNKNOWN_REASON)
    codes = column.reason.copy()
    codes[[row for row, score in enumerate(scores) if score == U]] = len(reasons) - 1
    columns = {METRIC: replace(column, reason=codes, reasons=reasons)}
    return replace(made, table=replace(made.table, columns=columns))


def compare(before: Sequence[Score], after: Sequence[Score], cases: Sequence[Case] | None = None) -> Comparison:
    return compare_snapshots(make_side(before, "old", cases), make_side(after, "new", cases))


def get_change(before: Sequence[Score], after: Sequence[Score]) -> MetricChange:
    return compare(before, after).metrics[METRIC]


def complete(scores: Sequence[Score]) -> Iterator[list[Score]]:
    """Every way in which the unknown answers may turn out."""
    yield from map(list, product(*[[0.0, 1.0] if score == U else [score] for score in scores]))


BEFORE: list[Score] = [0.0, 0.0, 1.0, 1.0]
AFTER: list[Score] = [U, U, 0.0, 1.0]


def test_a_change_from_failed_to_unknown_has_no_direction() -> None:
    """Two of four were right; one is right, one failed and two are unknown now."""
    change = get_change(BEFORE, AFTER)
    assert change.unknown is not None
    assert ((0.5, 0.5), (0.25, 0.75), (-0.25, 0.25)) == (
        change.unknown.baseline,
        change.unknown.candidate,
        change.unknown.gain,
    )
    assert ("not known", 2, ("c0", "c1")) == (
        change.unknown.direction,
        change.unknown.answers,
        tuple(change.unknown.cases),
    )
    assert (0.5, None, None, 4) == (change.baseline, change.candidate, change.gain, change.n)
    assert ("c2",) == tuple(change.regressed)


def test_every_report_shows_the_ranges_and_that_the_direction_is_not_known() -> None:
    comparison = compare(BEFORE, AFTER)
    screen = "\n".join(render_short_comparison(comparison, NO_DECISION).lines)
    assert "Answer correctness: 0.500 → 0.250–0.750: direction not known (2 unknown), -0.250 to +0.250" in screen
    assert "direction not known:\n - correct_answer 0.500 → 0.250–0.750 (2 answers unknown)" in repr(comparison)
    table = build_headline_changes_table(comparison, [("Answer correctness", (METRIC,))])
    gain = "-0.250 to +0.250 (direction not known: 2 answers unknown)"
    assert ("Answer correctness", "0.500", "0.250–0.750", "4", gain) == table.rows[0][:5]
    assert "an unknown answer is in no pair" not in table.notes[0]
    (page,) = build_comparison_data(comparison, {}, CATALOG)["metrics"]
    assert ("0.500", "0.250–0.750", None, gain) == tuple(
        page[key] for key in ("baseline", "candidate", "gain", "gain_text")
    )
    encoded = encode_metric_change(comparison.metrics[METRIC])
    assert encoded["unknown"] == {
        "answers": 2,
        "cases": ["c0", "c1"],
        "baseline": [0.5, 0.5],
        "candidate": [0.25, 0.75],
        "gain": [-0.25, 0.25],
        "direction": "not known",
    }


def test_an_improvement_that_holds_at_worst_is_claimed() -> None:
    change = get_change([0.0] * 40, [1.0] * 34 + [U] * 6)
    assert "improved" == change.verdict
    assert change.unknown is not None
    assert ("better", (0.85, 1.0)) == (change.unknown.direction, change.unknown.gain)
    assert "improved, shown:\n - correct_answer 0.000 → 0.850–1.000" in repr(compare([0.0] * 40, [1.0] * 34 + [U] * 6))


def test_a_regression_that_holds_at_best_is_claimed_and_none_that_unknown_answers_make() -> None:
    assert "regressed" == get_change([1.0] * 40, [0.0] * 34 + [U] * 6).verdict
    assert "not shown" == get_change([1.0] * 40, [1.0] * 20 + [U] * 20).verdict


def test_errors_and_cases_that_do_not_apply_are_left_out_as_before() -> None:
    change = get_change([0.0, 1.0, 1.0, 1.0, 0.0], [U, 1.0, E, N, U])
    assert (3, ("c2", "c3")) == (change.n, tuple(change.unpaired))
    assert change.unknown is not None
    assert ("c0", "c4") == tuple(change.unknown.cases)


def test_equal_runs_with_unknown_answers_are_not_listed_as_changes() -> None:
    comparison = compare([1.0, 0.0, U, U], [1.0, 0.0, U, U])
    assert "direction not known" not in repr(comparison)
    screen = "\n".join(render_short_comparison(comparison, NO_DECISION).lines)
    assert "No change is shown (1 metric tested)." in screen


def test_without_unknown_answers_a_change_is_what_it_was() -> None:
    change = get_change([0.0, 1.0, 1.0, 1.0], [1.0, 1.0, E, N])
    assert change.unknown is None
    assert (0.5, 1.0, 0.5, 2) == (change.baseline, change.candidate, change.gain, change.n)
    assert "unknown" not in encode_metric_change(change)


def test_a_slice_is_bounded_by_its_own_unknown_answers() -> None:
    cases = [Case(f"c{row}", "?", tags=("hr",) if row < 2 else ("it",)) for row in range(4)]
    slices = compare(BEFORE, AFTER, cases).slices
    bounded, known = slices["tag=hr"][METRIC], slices["tag=it"][METRIC]
    assert bounded.unknown is not None
    assert ((0.0, 1.0), -0.5) == (bounded.unknown.gain, known.gain)
    assert known.unknown is None


@given(st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=6))
def test_no_completion_contradicts_what_is_said(pairs: list[tuple[Score, Score]]) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    change = get_change(before, after)
    gains = []
    for old, new in product(complete(before), complete(after)):
        gain = get_change(old, new).gain
        assert gain is not None
        gains.append(gain)
    if change.unknown is None:
        assert {change.gain} == set(gains)
        return
    assert (min(gains), max(gains)) == pytest.approx(change.unknown.gain)
    expected = "better" if min(gains) > 0 else "worse" if max(gains) < 0 else "not known"
    assert expected == change.unknown.direction


@given(st.lists(st.tuples(SCORE, SCORE), min_size=10, max_size=40))
def test_a_verdict_agrees_with_both_ends(pairs: list[tuple[Score, Score]]) -> None:
    change = get_change([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    if change.unknown is None or change.verdict not in ("improved", "regressed"):
        return
    ends = {"improved": (1.0, 0.0), "regressed": (0.0, 1.0)}[change.verdict]
    old = [ends[0] if pair[0] == U else pair[0] for pair in pairs]
    new = [ends[1] if pair[1] == U else pair[1] for pair in pairs]
    assert change.verdict == get_change(old, new).verdict


CASES = [
    {"id": "a", "question": "When must I check in with my car?", "must_have": ["45 minutes"]},
    {"id": "b", "question": "What does a return ticket for an adult cost on the North Line?", "must_have": ["£24.00"]},
    {"id": "c", "question": "May I take my dog on the bus?", "must_have": ["one dog per passenger"]},
    {"id": "d", "question": "How long do you keep lost property?", "must_have": ["90 days"]},
]
OLD = {
    "a": "Foot passengers check in at least 15 minutes before departure.",
    "b": "An adult single on the North Line costs £14.50.",
    "c": "On buses, one dog per passenger is allowed.",
    "d": "It is kept for 90 days.",
}
NEW = {
    "a": (
        "Foot passengers check in at least 15 minutes before departure. "
        "Vehicles check in at least 45 minutes before departure."
    ),
    "b": "An adult single on the North Line costs £14.50. An adult return costs £24.00.",
    "c": "Sorry, I can't find anything about that.",
    "d": "It is kept for 90 days.",
}


def test_a_repaired_system_is_not_called_worse_from_files_to_python(tmp_path: Path) -> None:
    golden = tmp_path / "golden.jsonl"
    golden.write_text("".join(json.dumps(case) + "\n" for case in CASES), encoding="utf-8")
    runs = [
        assay.score(golden, [{"case_id": case_id, "answer": answer} for case_id, answer in answers.items()])
        for answers in (OLD, NEW)
    ]
    change = assay.compare(*runs).metrics[METRIC]
    assert change.unknown is not None
    assert ("not known", (-0.25, 0.25), None) == (change.unknown.direction, change.unknown.gain, change.gain)
