"""Reports of a comparison: wording, hostile names, and the regression summary."""

from __future__ import annotations

import json

from msgspec.structs import replace
from tests.comparison.sides import make_trace, side
from tests.report.schema_check import load_schema, violations

from assay.comparison.paired_comparison import compare_snapshots
from assay.gates.release_decision import decide_release
from assay.records.findings import Attribution, Comparison
from assay.records.golden_set import Case
from assay.records.release_gates import Decision, Gate, Rule, Waiver
from assay.report.exports.json_report import render_comparison_json
from assay.report.exports.markdown import ReportMeta, render_comparison_markdown
from assay.report.findings.regression_table import build_regressions_table
from assay.report.screen.comparison_screen import render_comparison_screen

HOSTILE = "q|<img src=x onerror=alert(1)>\x1b[31m‮"
PASS = Decision("PASS", ())


def compared(*, gate: Gate | None = None, today: str | None = None, losses: int = 12) -> Comparison:
    cases = [Case(HOSTILE if row == 0 else f"c{row}", "?") for row in range(20)]
    before = {case.id: Attribution(case.id, "pass", traces=(make_trace(retrieved=1),)) for case in cases}
    after = dict(before)
    lost = (make_trace(retrieved=None),)
    after[HOSTILE] = Attribution(HOSTILE, "retrieval_fault", "embedding", evidence=(HOSTILE,), traces=lost)
    baseline = side({"recall@10": [1.0] * 20}, HOSTILE, cases=cases, attributions=before)
    candidate = side({"recall@10": [0.0] * losses + [1.0] * (20 - losses)}, "b", cases=cases, attributions=after)
    difference = compare_snapshots(baseline, candidate, gate=gate)
    if gate is None:
        return difference
    return replace(
        difference, decision=decide_release(gate, candidate.table, cases, baseline=baseline.table, today=today)
    )


def test_hostile_names_do_nothing_in_markdown_terminal_and_json() -> None:
    found = compared()
    text = render_comparison_markdown(found, PASS, ReportMeta())
    screen = render_comparison_screen(found, PASS)
    cells = [cell for table in screen.tables for row in table.rows for cell in row]
    said = "\n".join([*screen.lines, *screen.notes, *cells])
    assert "<img" not in text
    assert all(sign not in text + said for sign in ("\x1b", "\u202e"))
    report = json.loads(render_comparison_json(found, PASS, gate=Gate(approver="Minh")))
    assert "Minh" == report["approver"]
    assert HOSTILE in report["comparison"]["recall@10"]["regressed"]
    assert [] == violations(report, (schema := load_schema("comparison")), schema)


def test_the_regression_summary_says_what_blocks_what_is_waived_and_what_is_not_gated() -> None:
    assert "not gated" == build_regressions_table(compared()).rows[0][-1]
    rule = Rule("recall@10", max_regression=0.05)
    gate = Gate((rule,), zero_tolerance_tags=())
    first = build_regressions_table(compared(gate=gate)).rows[0]
    happened = "the search, if by vectors, ranked the right passage low or not at all (embedding)"
    assert (HOSTILE, "recall@10", "1.000", "0.000", happened, "blocks: recall@10") == first
    waiver = Waiver("recall@10", "Lan", "2026-03-31", "new index")
    waived = Gate((rule,), zero_tolerance_tags=(), waivers=(waiver,))
    assert "waived: recall@10" == build_regressions_table(compared(gate=waived, today="2026-03-01")).rows[0][-1]
    assert "a risk: recall@10" == build_regressions_table(compared(gate=gate, losses=1)).rows[0][-1]
    lenient = Gate((Rule("recall@10", max_regression=0.95),), zero_tolerance_tags=())
    assert "blocks nothing" == build_regressions_table(compared(gate=lenient, losses=2)).rows[0][-1]


def test_a_case_that_got_worse_and_still_passes_has_no_root_cause() -> None:
    rows = {row[0]: row for row in build_regressions_table(compared()).rows}
    assert "none: it still passes" == rows["c1"][4]


def test_the_report_states_approver_and_date_and_is_the_same_twice() -> None:
    meta = ReportMeta(date="2026-03-01", approver="Minh")
    first, second = (render_comparison_markdown(compared(), PASS, meta) for _ in range(2))
    assert first == second
    assert "Date: 2026-03-01. Approved by: Minh" in first


def test_a_shown_change_that_no_trace_explains_is_not_called_no_change() -> None:
    found = replace(compared(), moved=())
    assert ["recall@10"] == [name for name, change in found.metrics.items() if change.verdict == "regressed"]
    expected = "The traces of the cases do not show why these moved: recall@10."
    assert expected in render_comparison_screen(found, PASS).lines
    assert expected in render_comparison_markdown(found, PASS, ReportMeta())
    equal = compare_snapshots(side({"recall@10": [1.0] * 20}), side({"recall@10": [1.0] * 20}, "b"))
    assert "No metric changed significantly, so none is explained here." in render_comparison_screen(equal, PASS).lines
