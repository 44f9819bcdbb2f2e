"""What became of leaks stands first in every form of a comparison, and the verdict of a case before its metrics."""

from __future__ import annotations

from msgspec.structs import replace
from tests.comparison.sides import side

from assay.comparison.paired_comparison import compare_snapshots
from assay.records.findings import Attribution, Comparison, FaultParty, describe_leaks, list_leaking_cases
from assay.records.golden_set import Case
from assay.records.release_gates import Decision, Rule, RuleResult
from assay.report.exports.markdown import ReportMeta, render_comparison_markdown
from assay.report.findings.regression_table import build_regressions_table
from assay.report.page.case_data import list_case_changes
from assay.report.screen.case_change import render_case_change
from assay.report.screen.comparison_screen import render_comparison_screen, render_short_comparison

CASES = [Case(name, "?") for name in ("gate-code", "lost-days", "dog-bus", "north-return")]
FAIL = Decision("FAIL", ("recall is too low",))
NONE = [0.0] * 4


def compare(
    before: list[float], after: list[float], *, swapped: bool = False, decision: Decision | None = None
) -> Comparison:
    """The first case leaks and the last fails before; all but the third lose their citations beside the claims."""
    verdicts: tuple[tuple[FaultParty, FaultParty], ...] = (
        ("access_fault", "refusal_fault"),
        ("pass", "pass"),
        ("pass", "refusal_fault"),
        ("generation_fault", "unknown"),
    )
    sides = []
    scores = (
        {
            "visibility_leaks": before,
            "claim_citation_coverage": [1.0] * 4,
            "behaviour": [0.0, 1.0, 1.0, 1.0],
            "failed": [1.0, 0.0, 0.0, 1.0],
        },
        {
            "visibility_leaks": after,
            "claim_citation_coverage": [0.0, 0.0, 1.0, 0.0],
            "behaviour": [0.0, 1.0, 0.0, 1.0],
            "failed": [1.0, 0.0, 1.0, 0.0],
        },
    )
    for position, name in enumerate(("runs/v1", "runs/v2")):
        attributions = {
            case.id: Attribution(case.id, pair[position]) for case, pair in zip(CASES, verdicts, strict=True)
        }
        sides.append(side(scores[position], name, cases=CASES, attributions=attributions))
    baseline, candidate = reversed(sides) if swapped else sides
    return replace(compare_snapshots(baseline, candidate), decision=decision)


def test_a_leak_that_is_gone_is_said_on_the_screen_in_python_and_in_markdown() -> None:
    comparison = compare([3.0, 0.0, 0.0, 0.0], NONE)
    sentence = "leaks: 1 case before, none now (gate-code)"
    assert sentence == describe_leaks(comparison)
    assert sentence in render_short_comparison(comparison, FAIL).lines
    assert sentence in render_comparison_screen(comparison, FAIL).lines
    assert sentence in repr(comparison).splitlines()
    assert sentence in render_comparison_markdown(comparison, FAIL, ReportMeta())
    assert "better" == list_case_changes(comparison, CASES)[0]


def test_a_user_who_was_denied_what_they_may_see_was_shown_no_leak() -> None:
    """Whether the case leaks is known on one side only: then the attribution tells, and being denied is no leak."""
    sides = []
    for name, subtype in (("runs/v1", ""), ("runs/v2", "access_denied")):
        attribution = Attribution("gate-code", "access_fault" if subtype else "pass", subtype=subtype)
        scores = {
            "visibility_leaks": [float("nan") if subtype else 0.0, 0.0, 0.0, 0.0],
            "failed": [float(bool(subtype)), 0.0, 0.0, 0.0],
        }
        sides.append(side(scores, name, cases=CASES, attributions={"gate-code": attribution}))
    comparison = compare_snapshots(*sides)
    assert ("gate-code",) == comparison.metrics["visibility_leaks"].unpaired
    assert "" == describe_leaks(comparison) and not list_leaking_cases(comparison).now_alone


def test_a_new_leak_comes_before_all_reasons_and_stands_out() -> None:
    comparison = compare([3.0, 0.0, 0.0, 0.0], NONE, swapped=True, decision=FAIL)
    sentence = "leaks: none before, 1 case now (gate-code)"
    screen = render_short_comparison(comparison, FAIL)
    assert sentence == screen.lines[1]
    assert sentence in screen.alerts
    assert sentence == repr(comparison).splitlines()[1]
    assert "worse" == list_case_changes(comparison, CASES)[0]


def test_leaks_that_stay_are_never_said_to_be_gone() -> None:
    assert "" == describe_leaks(compare(NONE, NONE))
    assert "leaks: some cases, on both sides alike" == describe_leaks(compare([2.0, 0, 0, 0], [2.0, 0, 0, 0]))
    some = describe_leaks(compare([2.0, 1.0, 0, 0], [2.0, 0, 0, 0]))
    assert "leaks: no longer in 1 case (lost-days), still in other cases" == some
    assert list_leaking_cases(compare([2.0, 1.0, 0, 0], [1.0, 0, 0, 0])).on_both
    moved = describe_leaks(compare([1.0, 0, 0, 0], [0, 1.0, 0, 0]))
    assert "leaks: now in 1 case (lost-days), no longer in 1 case (gate-code)" == moved


def test_a_case_whose_verdict_got_better_is_no_regression_by_a_metric_of_form() -> None:
    table = build_regressions_table(compare([3.0, 0.0, 0.0, 0.0], NONE))
    assert ["dog-bus"] == [row[0] for row in table.rows]
    assert "Worse only in where citations stand: 1 case (claim_citation_coverage)." in table.notes


def test_a_rule_on_the_metric_lists_the_case_and_is_named() -> None:
    results = (
        RuleResult(
            Rule("claim_citation_coverage", max_regression=0.1),
            "fail",
            0.7,
            4,
            "fell",
            cases=("gate-code", "lost-days"),
        ),
        RuleResult(Rule("behaviour", at_least=0.9), "fail", 0.5, 4, "too low"),
    )
    comparison = compare([3.0, 0.0, 0.0, 0.0], NONE, decision=Decision("FAIL", ("fell",), results))
    rulings = {row[0]: row[-1] for row in build_regressions_table(comparison).rows}
    assert "blocks: claim_citation_coverage" == rulings["gate-code"]
    assert "blocks: behaviour" == rulings["dog-bus"]


def test_the_change_of_a_case_is_told_by_behaviour_and_correctness_before_form() -> None:
    cases = [Case("a", "?")]
    names = ("citation_coverage", "rr@10", "correct_answer", "behaviour", "visibility_leaks")
    before = {name: [1.0] for name in names} | {"visibility_leaks": [0.0]}
    after = {name: [0.0] for name in names} | {"visibility_leaks": [1.0]}
    comparison = compare_snapshots(side(before, "a", cases=cases), side(after, "b", cases=cases))
    rows = render_case_change(comparison, "a").tables[0].rows
    assert ["visibility_leaks", "behaviour", "correct_answer", "rr@10", "citation_coverage"] == [row[0] for row in rows]
