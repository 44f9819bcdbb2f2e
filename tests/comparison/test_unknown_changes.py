"""Changes where answers of either side are unknown: a direction is printed only if no unknown answer can turn it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.comparison.sides import E, N, side

import assay
from assay.cli import main
from assay.comparison.paired_comparison import compare_snapshots
from assay.metrics.answers.correctness import UNKNOWN_REASON
from assay.records.findings import Comparison, MetricChange
from assay.records.golden_set import Case
from assay.records.release_gates import Decision
from assay.report.exports.json_report import encode_metric_change
from assay.report.findings.comparison_tables import build_headline_changes_table
from assay.report.page.case_data import list_case_changes
from assay.report.page.summary import build_comparison_data
from assay.report.screen.comparison_screen import render_short_comparison
from assay.scoring.paired_scores import ScoreSnapshot

METRIC, U = "correct_answer", "unknown answer"
SAME = "unknown answer, the same on both sides"
Score = float | str
SCORE = st.sampled_from([0.0, 1.0, U])
PAIR = st.tuples(SCORE, SCORE) | st.just((SAME, SAME))
NO_DECISION = Decision("NOT_GATED", ())


def make_side(scores: Sequence[Score], name: str, cases: Sequence[Case] | None = None) -> ScoreSnapshot:
    """A side with one metric, in which nobody can tell the score of the answers `U` and `SAME`."""
    made = side({METRIC: [N if score in (U, SAME) else score for score in scores]}, name, cases=cases)
    column = made.table.columns[METRIC]
    reasons = (*column.reasons, UNKNOWN_REASON)
    codes = column.reason.copy()
    codes[[row for row, score in enumerate(scores) if score in (U, SAME)]] = len(reasons) - 1
    answers = np.array([row + 1 if score == SAME else 0 for row, score in enumerate(scores)], dtype=np.uint64)
    columns = {METRIC: replace(column, reason=codes, reasons=reasons, answers=answers)}
    return replace(made, table=replace(made.table, columns=columns))


def compare(before: Sequence[Score], after: Sequence[Score], cases: Sequence[Case] | None = None) -> Comparison:
    return compare_snapshots(make_side(before, "old", cases), make_side(after, "new", cases))


def get_change(before: Sequence[Score], after: Sequence[Score]) -> MetricChange:
    return compare(before, after).metrics[METRIC]


def complete(pairs: Sequence[tuple[Score, Score]]) -> Iterator[tuple[list[Score], list[Score]]]:
    """Every way in which the unknown answers may turn out on both sides; an answer that both gave scores alike."""
    choices: list[list[tuple[Score, Score]]] = []
    for pair in pairs:
        if pair == (SAME, SAME):
            choices.append([(0.0, 0.0), (1.0, 1.0)])
            continue
        first, second = ([0.0, 1.0] if score == U else [score] for score in pair)
        choices.append(list(product(first, second)))
    for chosen in product(*choices):
        yield [old for old, _ in chosen], [new for _, new in chosen]


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
    (page,) = build_comparison_data(comparison, {})["metrics"]
    assert ("0.500", "0.250–0.750", None, "-0.250 to +0.250") == tuple(
        page[key] for key in ("baseline", "candidate", "gain", "gain_text")
    )
    assert "direction not known: 2 answers unknown" in page["note"]
    encoded = encode_metric_change(comparison.metrics[METRIC])
    assert encoded["unknown"] == {
        "answers": 2,
        "same": 0,
        "cases": ["c0", "c1"],
        "baseline": [0.5, 0.5],
        "candidate": [0.25, 0.75],
        "gain": [-0.25, 0.25],
        "direction": "not known",
    }


@pytest.mark.parametrize(("pairs", "is_shown"), [(4, False), (60, True)])
def test_verdict_and_note_of_a_gain_with_unknown_answers_agree(pairs: int, is_shown: bool) -> None:
    """Every fourth case is unknown now and the others became right: more, at worst and at best, of few or many."""
    before: list[Score] = [0.0] * pairs
    after: list[Score] = [U if row % 4 == 0 else 1.0 for row in range(pairs)]
    change = get_change(before, after)
    assert change.unknown is not None
    assert ("better", is_shown) == (change.unknown.direction, change.verdict == "improved")
    assert is_shown == ("better with any score" in change.note)
    assert is_shown != change.note.startswith(f"not significant: {pairs // 4} answer")
    screen = "\n".join(render_short_comparison(compare(before, after), NO_DECISION).lines)
    assert is_shown or "better with any score" not in screen


def test_a_case_that_is_unknown_now_is_not_counted_as_repaired() -> None:
    """One case is right now, one is unknown, and one that was unknown is right."""
    sides = [make_side([0.0, 0.0, U, 1.0], "old"), make_side([1.0, U, 1.0, 1.0], "new")]
    failing = [[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    sides = [
        replace(
            made,
            metrics=(*made.metrics, "failed"),
            definitions={**made.definitions, "failed": "as it is"},
            table=replace(made.table, columns={**made.table.columns, **side({"failed": failed}, "").table.columns}),
        )
        for made, failed in zip(sides, failing, strict=True)
    ]
    comparison = compare_snapshots(*sides)
    screen = "\n".join(render_short_comparison(comparison, NO_DECISION).lines)
    counts = "Cases: 0 fail now, 3 no longer (c0, c1, c2, 1 of them unknown now); not significant: adjusted p 0.250"
    assert counts in " ".join(screen.split())
    counts = "cases: 0 fail now, 3 no longer, 1 of them unknown now (not significant: adjusted p 0.250)"
    assert counts in repr(comparison)
    notes = build_headline_changes_table(comparison, [("Answer correctness", (METRIC,))]).notes
    assert "Fail now: 0 cases. Fail no longer: 3 cases (c0, c1, c2), 1 of them unknown now." in notes[0]
    assert 1 == build_comparison_data(comparison, {})["flipped"]["unknown_now"]
    cases = [Case(f"c{row}", "?") for row in range(4)]
    assert ["improved", "unclear", "improved", "unchanged"] == list_case_changes(comparison, cases)


def test_an_improvement_that_holds_at_worst_is_claimed() -> None:
    change = get_change([0.0] * 40, [1.0] * 34 + [U] * 6)
    assert "improved" == change.verdict
    assert change.unknown is not None
    assert ("better", (0.85, 1.0)) == (change.unknown.direction, change.unknown.gain)
    assert "improved significantly:\n - correct_answer 0.000 → 0.850–1.000" in repr(
        compare([0.0] * 40, [1.0] * 34 + [U] * 6)
    )


def test_a_regression_that_holds_at_best_is_claimed_and_none_that_unknown_answers_make() -> None:
    assert "regressed" == get_change([1.0] * 40, [0.0] * 34 + [U] * 6).verdict
    assert "not significant" == get_change([1.0] * 40, [1.0] * 20 + [U] * 20).verdict


def test_errors_and_cases_that_do_not_apply_are_left_out_as_before() -> None:
    change = get_change([0.0, 1.0, 1.0, 1.0, 0.0], [U, 1.0, E, N, U])
    assert (3, ("c2", "c3")) == (change.n, tuple(change.unpaired))
    assert change.unknown is not None
    assert ("c0", "c4") == tuple(change.unknown.cases)


def test_equal_runs_with_unknown_answers_are_not_listed_as_changes() -> None:
    comparison = compare([1.0, 0.0, U, U], [1.0, 0.0, U, U])
    assert "direction not known" not in repr(comparison)
    screen = "\n".join(render_short_comparison(comparison, NO_DECISION).lines)
    assert "No significant change (1 metric tested)." in screen


def test_answers_that_are_the_same_on_both_sides_leave_no_gain_open() -> None:
    change = get_change([1.0, 0.0, SAME, SAME], [1.0, 0.0, SAME, SAME])
    assert change.unknown is not None
    assert (0.0, "none", 2, 2) == (change.gain, change.unknown.direction, change.unknown.answers, change.unknown.same)
    assert ((0.25, 0.75), (0.25, 0.75), (0.0, 0.0)) == (
        change.unknown.baseline,
        change.unknown.candidate,
        change.unknown.gain,
    )


def test_a_gain_beside_answers_that_are_the_same_is_a_number_everywhere() -> None:
    comparison = compare([0.0] * 30 + [SAME] * 10, [1.0] * 30 + [SAME] * 10)
    change = comparison.metrics[METRIC]
    assert ("improved", 0.75) == (change.verdict, change.gain)
    screen = "\n".join(render_short_comparison(comparison, NO_DECISION, width=200).lines)
    gain = "0.000–0.250 → 0.750–1.000, 10 answers unknown, the same on both sides"
    assert f"Answer correctness improved: {gain}" in screen
    table = build_headline_changes_table(comparison, [("Answer correctness", (METRIC,))])
    assert "+0.750 (10 answers unknown, the same on both sides)" == table.rows[0][4]
    assert {"direction": "better", "same": 10}.items() <= encode_metric_change(change)["unknown"].items()


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


@given(st.lists(PAIR, min_size=1, max_size=6))
def test_no_completion_contradicts_what_is_said(pairs: list[tuple[Score, Score]]) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    change = get_change(before, after)
    completed = [get_change(old, new) for old, new in complete(pairs)]
    gains, olds, news = (
        [float(getattr(end, name) or 0.0) for end in completed] for name in ("gain", "baseline", "candidate")
    )
    if change.gain is not None:
        assert [change.gain] * len(gains) == pytest.approx(gains)
    if change.unknown is None:
        return
    assert (min(gains), max(gains)) == pytest.approx(change.unknown.gain)
    assert (min(olds), max(olds)) == pytest.approx(change.unknown.baseline)
    assert (min(news), max(news)) == pytest.approx(change.unknown.candidate)
    is_known = not any(U in pair for pair in pairs)
    unmoved = "none" if is_known else "not known"
    expected = "better" if min(gains) > 0 else "worse" if max(gains) < 0 else unmoved
    assert expected == change.unknown.direction


@given(st.lists(PAIR, min_size=10, max_size=40))
def test_a_verdict_agrees_with_both_ends(pairs: list[tuple[Score, Score]]) -> None:
    change = get_change([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    if change.unknown is None or change.verdict not in ("improved", "regressed"):
        return
    ends = {"improved": (1.0, 0.0), "regressed": (0.0, 1.0)}[change.verdict]
    for level in (0.0, 1.0):
        old = [{U: ends[0], SAME: level}.get(str(pair[0]), pair[0]) for pair in pairs]
        new = [{U: ends[1], SAME: level}.get(str(pair[1]), pair[1]) for pair in pairs]
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
    "b": "Fares on the North Line are £14.50 and £24.00.",
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


@pytest.mark.parametrize("through_a_file", [False, True])
def test_the_same_answers_are_known_again_in_another_run_and_from_a_committed_baseline(
    tmp_path: Path, through_a_file: bool
) -> None:
    """Two runs give the same answers, one of which the rules cannot tell, and then it changes."""
    golden = tmp_path / "golden.jsonl"
    golden.write_text("".join(json.dumps(case) + "\n" for case in CASES), encoding="utf-8")
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules: [{metric: correct_answer, max_regression: 0.1, basis: point}]\n", encoding="utf-8")
    open_answers = OLD | {"c": "Yes, a single dog for each traveller."}
    other_words = open_answers | {"c": "Each traveller may bring a dog."}
    outputs = []
    for number, answers in enumerate((open_answers, open_answers, other_words)):
        path = tmp_path / f"{number}.jsonl"
        rows = [{"case_id": case_id, "config_id": "x", "answer": answer} for case_id, answer in answers.items()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        outputs.append(str(path))
    baseline = str(tmp_path / "first")
    assert main(["score", "--golden", str(golden), "--outputs", outputs[0], "--run-dir", baseline]) == 0
    if through_a_file:
        assert main(["baseline", "save", baseline, "--out", f"{baseline}.json"]) == 0
        baseline += ".json"
        assert not [answer for answer in open_answers.values() if answer in Path(baseline).read_text(encoding="utf-8")]
    results = [assay.score(golden, path, gate=str(gate), baseline=baseline) for path in outputs[1:]]
    unknown = [result.summary("x")[METRIC].unknown for result in results]
    assert [1, 1] == [span.count for span in unknown if span is not None]
    decisions = [result.scoring.configs["x"].decision for result in results]
    assert ["pass", "inconclusive"] == [decision.results[0].state for decision in decisions if decision is not None]
