"""The screen: decisions first, tables of safe text after them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.report.sample import BAD, GOOD, RECALL_RULE, result, scoring
from tests.report.test_safe import HOSTILE

from assay.records.release_gates import Decision, RuleResult
from assay.records.scores import CaseChecks, GoldenInfo, ScoringResult
from assay.report.screen.terminal import Screen, render_score_screen
from assay.text.escaping import escape_terminal


def _everything(screen: Screen) -> list[str]:
    cells = [cell for table in screen.tables for row in (table.columns, *table.rows) for cell in row]
    titles = [text for table in screen.tables for text in (table.title, *table.notes)]
    return [*screen.lines, *screen.notes, *titles, *cells]


def test_each_configuration_has_its_decision_then_its_reasons() -> None:
    expected = (
        "hybrid-rerank: PASS_WITH_RISK (release only if its owner accepts the risks)",
        " - faithfulness(by=judge) on tag=hr: not measured",
        "vector-only: FAIL",
        " - visibility_leaks: 2 > 0 in pay_001",
        " - recall@10: 0.250 < 0.85",
        " - 1 case without output",
        " - p95: n < 20",
    )
    assert expected == render_score_screen(scoring()).lines


def test_configuration_without_a_gate_says_so() -> None:
    scored = replace(scoring(), configs={GOOD: result(GOOD, None)})
    assert ("hybrid-rerank: not gated",) == render_score_screen(scored).lines


METRICS = "Metrics (value, 95% interval, cases scored)"


def _metric_rows() -> dict[str, tuple[str, ...]]:
    return {row[0]: row for row in render_score_screen(scoring()).tables[0].rows}


def test_tables_are_metrics_rules_and_failed_cases() -> None:
    expected = [METRICS, "Release Gate Checklist", "Cases", "Failed cases"]
    assert expected == [table.title for table in render_score_screen(scoring()).tables]


def test_metrics_stand_side_by_side_with_class_interval_counts_and_the_worst_case() -> None:
    assert ("Metric", "Class", "hybrid-rerank", "vector-only") == render_score_screen(scoring()).tables[0].columns
    # 0 and 0.5 scored, the error counted as 0: 0.5 / 3.
    expected = "0.250  0.000 to 0.900  n=2, 1 error (0.167 if errors count as the worst)"
    assert ("recall@10", "D", expected) == (*_metric_rows()["recall@10"][:2], _metric_rows()["recall@10"][3])


def test_metric_that_one_configuration_does_not_have_shows_why() -> None:
    assert _metric_rows()["cost_usd"][3].startswith("n/a: not reported")


def test_numbers_are_printed_by_their_unit() -> None:
    rows = _metric_rows()
    shown = [rows[metric][2].split()[0] for metric in ("latency_ms(stat=p95)", "cost_usd", "rr@10")]
    assert ["1200", "0.000700", "0.750"] == shown


def test_what_must_be_said_of_a_number_stands_below_the_table() -> None:
    assert "vector-only: few cases: recall@10" in render_score_screen(scoring()).tables[0].notes


def test_notes_tell_missing_cases_stages_and_warnings() -> None:
    expected = (
        "hybrid-rerank: ranking metrics score the stage 'merge'",
        "vector-only: 1 case without output: none_001",
        "vector-only: ranking metrics score the stage 'retrieved'",
        "vector-only: warnings that fail no case: partial_context × 1, partial_retrieval × 1",
        "runs/night.jsonl: 2 unknown keys ignored",
    )
    assert expected == render_score_screen(scoring()).notes


def test_long_list_of_missing_cases_is_cut() -> None:
    bad = scoring().configs[BAD]
    ids = tuple(f"case_{i}" for i in range(25))
    scored = replace(scoring(), configs={BAD: replace(bad, table=replace(bad.table, missing=ids))})
    assert render_score_screen(scored).notes[0].endswith("case_19 … and 5 more")


def test_failed_cases_are_ten_at_most_with_a_note_on_the_rest() -> None:
    bad = scoring().configs[BAD]
    ids = tuple(f"case_{i}" for i in range(12))
    table = replace(bad.table, case_ids=ids, checks=tuple(CaseChecks(each, ("leak",)) for each in ids))
    failed = render_score_screen(replace(scoring(), configs={BAD: replace(bad, table=table)})).tables[-1]
    assert (10, ("vector-only: 2 more failed cases (the HTML and JSON reports list all)",)) == (
        len(failed.rows),
        failed.notes,
    )


def test_nothing_scored_makes_an_empty_screen() -> None:
    assert Screen((), (), ()) == render_score_screen(
        ScoringResult(GoldenInfo("", "", "", 0), {}, Decision("INCOMPLETE", ()))
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ids_are_safe_in_every_cell(name: str) -> None:
    text = HOSTILE[name]
    bad = scoring().configs[BAD]
    table = replace(bad.table, case_ids=(text,), checks=(CaseChecks(text, (text,)),), missing=(text,), notes=(text,))
    gated = replace(bad, table=table, decision=Decision("FAIL", (text,)))
    screen = render_score_screen(replace(scoring(), configs={text: gated}, stages={text: text}, warnings=(text,)))
    assert [] == [each for each in _everything(screen) if each != escape_terminal(each)]


def test_slices_are_shown_for_the_keys_asked_for() -> None:
    titles = [table.title for table in render_score_screen(scoring(), by=("tag",)).tables]
    assert ["Slices", "Release Gate Checklist", "Cases", "Failed cases"] == titles[1:]
    slices = render_score_screen(scoring(), by=("tag",)).tables[1]
    assert ("vector-only", "tag=hr", "2", "0.000 (n=1)") == slices.rows[-2][:4]
    assert "0.250 (n=2)" == slices.rows[-2][slices.columns.index("Recall@10")]
    assert "Slices" not in [table.title for table in render_score_screen(scoring(), by=("difficulty",)).tables]


def test_number_just_below_its_bound_does_not_look_equal_to_it() -> None:
    bad = scoring().configs[BAD]
    close = RuleResult(RECALL_RULE, "fail", 0.84996, 41, "close")
    scored = replace(scoring(), configs={BAD: replace(bad, decision=Decision("FAIL", (), (close,)))})
    assert ("0.84996", "≥ 0.85000") == render_score_screen(scored).tables[1].rows[0][4:6]
