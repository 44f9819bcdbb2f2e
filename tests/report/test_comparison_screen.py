"""What `assay compare` prints by default: few lines, what matters first, nothing broken inside a word."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.comparison.sides import side

from assay.cli import main
from assay.comparison.paired_comparison import compare_snapshots
from assay.records.findings import Attribution, Comparison
from assay.records.golden_set import Case
from assay.records.release_gates import Decision
from assay.report.findings.comparison_tables import build_metric_changes_table
from assay.report.findings.flipped_cases import FlippedCases, list_flipped_cases
from assay.report.page.summary import build_comparison_data
from assay.report.screen.case_change import render_short_case_change
from assay.report.screen.comparison_screen import MAX_LINES, list_significant_changes, render_short_comparison
from assay.report.wording.change_order import CHECKABLE_NOTE, rank_importance

LONG = "the measure went from 0.9 to 0.8 on case-of-a-very-long-name-that-cannot-be-folded and others " * 3
NAMES = ("recall@10", "rr@10", "ndcg@10", "hit@5", "citation_correctness(by=rules)", "correct_answer", "failed")


def make_comparison(size: int = 60, losses: int = 30) -> Comparison:
    """Recall falls by 1 on half of the cases, MRR by 0.4, and the rate of failed cases rises."""
    tags = ("hr",), ("it",)
    cases = [Case(f"case-{row:03}", "?", tags=tags[row % 2]) for row in range(size)]
    before = {"recall@10": [1.0] * size, "rr@10": [0.9] * size, "failed": [0.0] * size, "behaviour": [1.0] * size}
    after = before | {
        "recall@10": [0.0] * losses + [1.0] * (size - losses),
        "rr@10": [0.5, 0.9] * (size // 2),
        "failed": [1.0] * losses + [0.0] * (size - losses),
    }
    attributions = {
        case.id: Attribution(case.id, "retrieval_fault", "embedding", fix="embed it again; another model")
        for case in cases[:losses]
    }
    baseline = side(before, "runs/a", cases=cases, made_with={"prompt": "p1", "index": "i1", "seed": "1"})
    made = {"prompt": "p2", "index": "i2", "seed": "2"}
    return compare_snapshots(baseline, side(after, "runs/b", cases=cases, attributions=attributions, made_with=made))


def test_the_screen_has_the_decision_what_differs_significant_changes_and_cases() -> None:
    lines = render_short_comparison(make_comparison(), Decision("FAIL", ("recall is too low",))).lines
    assert ["runs/b compared with runs/a: FAIL", " - recall is too low", "What differs:"] == list(lines[:3])
    assert " - and 3 more: --verbose" in lines[:6]
    start = next(row for row, line in enumerate(lines) if line.startswith("Significant changes, most important first"))
    change = r" - \S+ regressed: \d\.\d+ → \d\.\d+, interval \S+ to \S+ \(\S+%\); 0 better, 30 worse"
    assert any(re.fullmatch(change, line) for line in lines[start + 1 : start + 3])
    assert "Cases: 30 fail now, 0 no longer; significantly more: adjusted p <0.001:" in lines
    happened = " - case-000: the search, if by vectors, ranked the right passage low or not at all"
    assert any(line.startswith(happened) for line in lines)


def test_what_got_worse_is_read_where_all_else_got_better() -> None:
    worse, size = "tokens", 60
    before = {name: [0.2, 0.4] * (size // 2) for name in ("recall@10", "rr@10", "ndcg@10", "hit@5", "behaviour")}
    after = {name: [0.7, 0.8] * (size // 2) for name in before}
    before[worse], after[worse] = [10.0, 11.0] * (size // 2), [40.0, 42.0] * (size // 2)
    comparison = compare_snapshots(side(before, "runs/a"), side(after, "runs/b"))
    screen = render_short_comparison(comparison, Decision("PASS", ()))
    start = next(row for row, line in enumerate(screen.lines) if line.startswith("Significant changes"))
    end = next(row for row, line in enumerate(screen.lines) if "more" in line and row > start)
    listed = screen.lines[start + 1 : end]
    assert " improved: " in listed[0]
    assert [line for line in listed if line.startswith(" - Tokens regressed: ")]
    shown = list_significant_changes(comparison)
    left_out = len(shown) - len(listed), sum(change.verdict == "regressed" for change in shown) - 1
    regressed = f" ({left_out[1]} regressed)" if left_out[1] else ""
    assert f" - and {left_out[0]} more{regressed}: --verbose" == screen.lines[end]


def test_changes_come_by_importance_then_strongest_first_and_slices_last() -> None:
    changes = list_significant_changes(make_comparison())
    assert len(changes) > 3
    overall = [change for change in changes if change.slice is None]
    assert overall == changes[: len(overall)]
    places = [rank_importance(change) for change in overall]
    assert sorted(places) == places
    overall = [change for change in overall if rank_importance(change) == 0]

    def measure(low: float | None, high: float | None, gain: float | None) -> float:
        assert low is not None and high is not None and gain is not None
        return abs(gain) / (high - low)

    strengths = [measure(change.low, change.high, change.gain) for change in overall]
    assert sorted(strengths, reverse=True) == strengths
    assert {"regressed"} == {change.verdict for change in changes}


def test_what_could_be_checked_comes_last_with_the_reason_however_strong_it_is() -> None:
    before = {"access_self_reported": [0.0] * 60, "recall@10": [1.0] * 60}
    before |= {"context_precision": [1.0] * 60}
    after = {"access_self_reported": [1.0] * 60, "recall@10": [0.0] * 25 + [1.0] * 35}
    after |= {"context_precision": [0.0] * 45 + [1.0] * 15}
    comparison = compare_snapshots(side(before), side(after, "d"))
    changes = list_significant_changes(comparison)
    assert ["recall@10", "context_precision"] == [change.metric for change in changes][:2]
    assert "access_self_reported" == changes[-1].metric
    rows = build_metric_changes_table(comparison).rows
    assert ["recall@10", "context_precision"] == [row[0] for row in rows[:2]]
    assert rows[2][-1].endswith(CHECKABLE_NOTE)
    lines = render_short_comparison(comparison, Decision("PASS", ()), width=200, max_lines=60).lines
    assert any("Access self reported regressed (says what could be checked" in line for line in lines)


def test_where_nothing_is_shown_that_is_said_before_what_moved() -> None:
    before = {"recall@10": [1.0] * 20}
    after = {"recall@10": [0.0] + [1.0] * 19}
    lines = render_short_comparison(compare_snapshots(side(before), side(after, "d")), Decision("PASS", ())).lines
    (row,) = [row for row, line in enumerate(lines) if line.startswith("No significant change (1 metric tested)")]
    assert lines[row + 1].startswith(" - Recall@10: 1.000 → 0.950; 0 better, 1 worse of 20; interval ")
    same = render_short_comparison(compare_snapshots(side(before), side(before, "d")), Decision("PASS", ())).lines
    assert "No significant change (1 metric tested)." in same
    assert "Cases: the same ones fail on both sides." in same
    (note,) = build_metric_changes_table(compare_snapshots(side(before), side(after, "d"))).notes
    assert "The percentage after an interval is its confidence" in note
    assert "Detects: the smallest true difference that so many cases find" in note


def test_where_no_metric_is_shown_to_change_cases_that_fail_now_are_said_at_once() -> None:
    before = {"recall@10": [1.0] * 20, "failed": [0.0] * 20}
    after = {"recall@10": [0.0, 0.0] + [1.0] * 18, "failed": [1.0, 1.0] + [0.0] * 18}
    pair = side(before), side(after, "d")
    lines = render_short_comparison(compare_snapshots(*pair), Decision("PASS", ()), width=200).lines
    (head,) = [line for line in lines if line.startswith("No significant change")]
    assert head.endswith("; but 2 cases fail now and did not before (see Cases):")
    back = render_short_comparison(compare_snapshots(*reversed(pair)), Decision("PASS", ()), width=200).lines
    assert not any("did not before" in line for line in back)


def test_worse_answers_are_said_before_better_retrieval() -> None:
    """Of 40 cases 20 gain their evidence, and four answers fail now that did not: too few to be shown."""
    before = side({"recall@10": [0.0] * 20 + [1.0] * 20, "failed": [0.0] * 40}, "old")
    after = side({"recall@10": [1.0] * 40, "failed": [1.0] * 4 + [0.0] * 36}, "new")
    lines = render_short_comparison(compare_snapshots(before, after), Decision("NOT_GATED", ()), width=200).lines
    (heading,) = [line for line in lines if "Significant changes" in line]
    assert heading.startswith("4 cases fail now and did not before, 0 no longer (see Cases). Significant changes")
    assert " - Recall@10 improved" in lines[lines.index(heading) + 1]
    other = render_short_comparison(compare_snapshots(after, before), Decision("NOT_GATED", ()), width=200).lines
    assert any(line.startswith("Significant changes") for line in other)


def test_without_the_metric_the_causes_say_which_cases_flipped() -> None:
    bad, good = Attribution("c0", "generation_fault", "generator"), Attribution("c1", "pass")
    values = {"recall@10": [1.0] * 10}
    baseline = side(values, "a", attributions={"c0": Attribution("c0", "pass"), "c1": bad})
    comparison = compare_snapshots(baseline, side(values, "b", attributions={"c0": bad, "c1": good}))
    assert FlippedCases(("c0",), ("c1",), ()) == list_flipped_cases(comparison)


@given(
    st.integers(60, 140),
    st.integers(11, MAX_LINES),
    st.lists(st.sampled_from([LONG, "short", "two words"]), max_size=9),
)
def test_it_never_has_more_lines_or_columns_and_breaks_no_word(width: int, most: int, reasons: list[str]) -> None:
    comparison = make_comparison()
    screen = render_short_comparison(comparison, Decision("FAIL", tuple(reasons)), width, max_lines=most)
    assert len(screen.lines) <= most
    assert max(map(len, screen.lines)) <= max(width, len("case-of-a-very-long-name-that-cannot-be-folded") + 5)
    whole = " ".join(render_short_comparison(comparison, Decision("FAIL", tuple(reasons)), 4000).lines).split()
    whole_words = {
        *whole,
        *LONG.split(),
        "…",
        "-",
        "and",
        "more:",
        "--verbose",
        "case",
        "cases",
        "first",
        "of",
        "regressed):",
    }
    for line in screen.lines:
        for word in line.split():
            assert word in whole_words or word.strip("(:").isdigit() or word.removesuffix("…") in whole_words, (
                word,
                line,
            )


def test_a_moved_case_is_told_in_lines_of_the_screen() -> None:
    metrics = {name: [1.0] * 12 for name in NAMES}
    worse = {name: [0.0] * 12 for name in NAMES}
    comparison = compare_snapshots(side(metrics, "a"), side(worse, "b"))
    for width in (80, 100):
        lines = render_short_case_change(comparison, "c0", width=width).lines
        assert max(map(len, lines)) <= width
        assert any("worse:" in line for line in lines)


def test_what_decides_leads_whether_it_got_better_or_worse() -> None:
    """A leak that is gone comes before a share of citations that fell."""
    before = {"visibility_leaks": [3.0] * 12, "citation_coverage": [1.0] * 12, "latency_ms": [1.0] * 12}
    after = {"visibility_leaks": [0.0] * 12, "citation_coverage": [0.0] * 12, "latency_ms": [1.0] * 12}
    comparison = compare_snapshots(side(before, "a"), side(after, "b"))
    directions = [
        line.split(":")[0] for line in render_short_case_change(comparison, "c0").lines if line.startswith(" - ")
    ]
    assert [" - better", " - worse"] == directions
    back = compare_snapshots(side(after, "a"), side(before, "b"))
    lines = [line for line in render_short_case_change(back, "c0").lines if line.startswith(" - ")]
    assert [" - worse: visibility_leaks 0.000 → 3.000", " - better: citation_coverage 0.000 → 1.000"] == lines


@pytest.mark.parametrize(("factor", "word"), [(9.0, "slower"), (0.1, "faster"), (1.0, "")])
def test_a_run_that_was_much_slower_is_noted_although_nothing_is_claimed(factor: float, word: str) -> None:
    before = [100.0 + 7.0 * (row % 11) for row in range(60)]
    comparison = compare_snapshots(
        side({"latency_ms": before}, "a"), side({"latency_ms": [factor * time for time in before]}, "b")
    )
    text = " ".join(render_short_comparison(comparison, Decision("NOT_GATED", ())).lines)
    assert "No significant change" in text
    assert (f", {word} in this run: one run each cannot tell" in text) == bool(word)


ROWS = [{"id": f"q{row}", "question": f"What is {row}?", "must_have": [f"value {row}"]} for row in range(12)]


def write_run(folder: Path, name: str, wrong: set[int]) -> str:
    outputs = folder / f"{name}.jsonl"
    rows = [
        {"case_id": f"q{row}", "config_id": name, "answer": "no idea at all" if row in wrong else f"It is value {row}."}
        for row in range(12)
    ]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    golden = folder / "golden.jsonl"
    golden.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    run = str(folder / f"run {name}")
    main(["score", "--golden", str(golden), "--outputs", str(outputs), "--run-dir", run])
    return run


def test_the_command_is_short_and_what_it_suggests_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    before, after = write_run(tmp_path, "old", {1}), write_run(tmp_path, "new", {2, 3})
    capsys.readouterr()
    assert 0 == main(["compare", before, after])
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert len(lines) <= MAX_LINES and max(map(len, lines)) <= 100
    assert "Cases: 2 fail now, 1 no longer (q1); not significant: adjusted p 1.000:" in lines
    (command,) = re.findall(r"^next: assay (.+)$", printed.err, re.MULTILINE)
    assert ["explain", "q2", "--run", after, "--baseline", before] == shlex.split(command)
    assert 0 == main(shlex.split(command))
    assert "q2 under new: failed" in capsys.readouterr().out
    assert 0 == main(["compare", before, after, "--verbose"])
    assert len(capsys.readouterr().out.splitlines()) > MAX_LINES


def test_configurations_of_the_same_outputs_get_a_command_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path, "old", set())
    write_run(tmp_path, "new", {5})
    golden, outputs = str(tmp_path / "golden.jsonl"), [str(tmp_path / f"{name}.jsonl") for name in ("old", "new")]
    named = ["--golden", golden, "--outputs", *outputs]
    capsys.readouterr()
    assert 0 == main(["compare", *named, "--baseline-config", "old", "--candidate-config", "new"])
    (command,) = re.findall(r"^next: assay (.+)$", capsys.readouterr().err, re.MULTILINE)
    assert 0 == main(shlex.split(command))
    assert "q5 under new: failed" in capsys.readouterr().out


def test_options_choose_the_configurations_of_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path, "old", set())
    write_run(tmp_path, "new", {5})
    golden, outputs = str(tmp_path / "golden.jsonl"), [str(tmp_path / f"{name}.jsonl") for name in ("old", "new")]
    both = str(tmp_path / "both")
    assert 0 == main(["score", "--golden", golden, "--outputs", *outputs, "--run-dir", both])
    capsys.readouterr()
    assert 0 == main(["compare", both, both, "--baseline-config", "old", "--candidate-config", "new"])
    by_options = capsys.readouterr().out
    assert 0 == main(["compare", f"{both}:old", f"{both}:new"])
    assert capsys.readouterr().out == by_options
    assert 0 == main(["compare", f"{both}:old", both, "--candidate-config", "new", "old"])
    assert "2 candidates compared with" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["a:old", "b", "--baseline-config", "old"], "--baseline-config: a:old names a configuration already"),
        (["a", "b:new", "--candidate-config", "old"], "--candidate-config: b:new names a configuration already"),
        (["a", "b", "c", "--candidate-config", "old"], "--candidate-config: 2 candidates (expected one run"),
    ],
)
def test_an_option_that_fits_no_side_is_refused(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["compare", *arguments])
    assert expected in capsys.readouterr().err


def test_one_line_of_a_list_shows_its_first_item_and_how_many_there_are() -> None:
    changed = ("target.call was python, is http", "corpus was v1, is v2", "index was a, is b")
    comparison = replace(make_comparison(), changed=changed)
    lines = render_short_comparison(comparison, Decision("NOT_GATED", ()), 100, max_lines=11).lines
    at = lines.index("What differs:")
    assert lines[at + 1] == " - first of 3: target.call was python, is http"


def make_shorter_answers() -> Comparison:
    """A larger share of what the answers say is cited on all cases, and two answers of forty are no longer right."""
    before = {"claim_citation_coverage": [0.4, 0.6] * 20, "correct_answer": [1.0] * 40, "rr@10": [1.0] * 40}
    after = {"claim_citation_coverage": [1.0] * 40, "correct_answer": [0.0] * 2 + [1.0] * 38, "rr@10": [1.0] * 40}
    return compare_snapshots(side(before, "runs/a"), side(after, "runs/b"))


def test_headlines_that_fell_are_said_before_a_secondary_metric_that_is_significant() -> None:
    lines = render_short_comparison(make_shorter_answers(), Decision("NOT_GATED", ()), width=200).lines
    start = next(row for row, line in enumerate(lines) if line.startswith("Significant changes"))
    assert lines[start + 1].startswith(
        " - Answer correctness (not significant): 1.000 → 0.950; 0 better, 2 worse of 40;"
    )
    assert lines[start + 2].startswith(
        " - Claim citation coverage rose (also rises where answers say less): 0.500 → 1.000"
    )


def test_a_larger_share_that_is_cited_is_nowhere_told_as_an_improvement() -> None:
    comparison = make_shorter_answers()
    assert "improved" == comparison.metrics["claim_citation_coverage"].verdict
    assert "rose significantly:\n - claim_citation_coverage 0.500 → 1.000" in repr(comparison)
    assert "improved" not in repr(comparison)
    rows = {row[0]: row for row in build_metric_changes_table(comparison).rows}
    assert "rose" in rows["claim_citation_coverage"] and "improved" not in rows["claim_citation_coverage"]
    assert rows["claim_citation_coverage"][-1].endswith("also rises where answers say less")
    (page_row,) = [
        row for row in build_comparison_data(comparison, {})["metrics"] if row["name"] == "claim_citation_coverage"
    ]
    assert "rose" == page_row["verdict"]
    back = compare_snapshots(
        side({"claim_citation_coverage": [1.0] * 40}), side({"claim_citation_coverage": [0.4, 0.6] * 20}, "d")
    )
    assert "regressed" == back.metrics["claim_citation_coverage"].claim
