"""Every count and outcome in two outputs is equal: screen, Markdown, JSON, JUnit, HTML, CSV, job summary."""

from __future__ import annotations

import csv
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.gates.release_decision import decide_release
from assay.records.golden_set import Case
from assay.records.release_gates import Gate, Rule
from assay.records.scores import (
    ERROR,
    NOT_APPLICABLE,
    SCORED,
    CaseChecks,
    ConfigResult,
    GoldenInfo,
    ScoreColumn,
    ScoreTable,
    ScoringResult,
)
from assay.report.case_scores import iter_csv_lines
from assay.report.github import render_job_summary
from assay.report.html_cases import HtmlData
from assay.report.html_summary import build_summary_data
from assay.report.json_report import render_json_report
from assay.report.junit import render_junit
from assay.report.markdown import ReportMeta, render_markdown_report
from assay.report.terminal import render_score_screen

CHECKS = ("retrieval_miss", "bad_citation", "wrong_answer", "incomplete_answer")
GATES = (None, Gate(rules=(Rule("recall@10", at_least=0.5),)), Gate(rules=(Rule("recall@10", at_least=0.0),)))
KINDS = st.sampled_from(["good", "bad", "warned", "missing", "error", "leaked"])


def make_column(metric: str, values: list[float], status: list[int]) -> ScoreColumn:
    codes = np.array([1 if state == ERROR else 0 for state in status], dtype=np.uint16)
    return ScoreColumn(metric, np.array(values), np.array(status, dtype=np.uint8), codes, ("", "timeout"))


def make_scoring(kinds: list[str], checks: list[str], gate: Gate | None) -> tuple[ScoringResult, list[Case]]:
    """A run of one configuration whose cases are of these kinds, decided by a gate or by none."""
    cases = [Case(f"case_{number}", "Q?") for number in range(len(kinds))]
    unscored = [ERROR if kind in ("missing", "error") else SCORED for kind in kinds]
    leaks = [float(kind == "leaked") for kind in kinds]
    columns = {
        "recall@10": make_column("recall@10", [float(kind != "bad") for kind in kinds], unscored),
        "visibility_leaks": make_column(
            "visibility_leaks", leaks, [state if state == SCORED else NOT_APPLICABLE for state in unscored]
        ),
    }
    failed_by_kind = {"bad": tuple(dict.fromkeys(checks)), "leaked": ("leak",), "missing": ("missing_output",)}
    failed_by_kind["error"] = ("target_error",)
    all_checks = [
        CaseChecks(case.id, failed_by_kind.get(kind, ()), ("stale_context",) if kind == "warned" else ())
        for case, kind in zip(cases, kinds, strict=True)
        if kind != "good"
    ]
    missing = tuple(case.id for case, kind in zip(cases, kinds, strict=True) if kind == "missing")
    table = ScoreTable("one", tuple(case.id for case in cases), columns, missing, tuple(all_checks))
    decision = decide_release(gate, table, cases)
    result = ConfigResult(table, {}, {}, decision)
    golden = GoldenInfo("g", "1", "sha256:0", len(cases))
    # As for a whole run: the reasons and events of the only configuration, without the results of its rules.
    return ScoringResult(golden, {"one": result}, replace(decision, results=()), gate=gate), cases


@pytest.mark.slow
@given(st.lists(KINDS, min_size=1, max_size=9), st.lists(st.sampled_from(CHECKS), min_size=1), st.sampled_from(GATES))
def test_outcomes_and_counts_are_the_same_in_every_output(
    kinds: list[str], checks: list[str], gate: Gate | None
) -> None:
    scoring, cases = make_scoring(kinds, checks, gate)
    by_id = {case.id: case for case in cases}
    screen = render_score_screen(scoring)
    markdown = render_markdown_report(scoring, {}, by_id, ReportMeta())
    report = json.loads(render_json_report(scoring))
    junit = ElementTree.fromstring(render_junit(scoring))
    page = build_summary_data(HtmlData(scoring, cases))
    rows = list(
        csv.DictReader(b"".join(iter_csv_lines({"one": scoring.configs["one"].table}, by_id)).decode().split("\n"))
    )
    summary = render_job_summary(scoring, by_id)

    outcome = scoring.decision.outcome
    outcomes = {
        "screen": screen.lines[0].removeprefix("one: "),
        "markdown": re.findall(r"\*\*Decision: (\w+)\*\*", markdown)[0],
        "markdown summary": re.findall(r"\| Decision \| (\w+(?:\\_\w+)*) \|", markdown)[0].replace("\\", ""),
        "json": report["decision"]["outcome"],
        "json config": report["configs"]["one"]["decision"]["outcome"],
        "junit": next(element.attrib["value"] for element in junit.iter("property")),
        "html": page["outcome"],
        "html config": page["configs"][0]["outcome"],
        "job summary": re.findall(r"^## \S+ Assay: (\w+)", summary)[0],
    }
    assert dict.fromkeys(outcomes, outcome) == outcomes

    failed = sum(kind in ("bad", "leaked", "missing", "error") for kind in kinds)
    (suite,) = [element for element in junit if element.attrib["name"] == "one: cases"]
    states = page["configs"][0]["states"]
    screen_rows = [row for table in screen.tables if table.title == "Failed cases" for row in table.rows]
    counts = {
        "json": len(report["configs"]["one"]["failed_cases"]),
        "junit": sum(bool(len(test)) for test in suite.iter("testcase")),
        "html": states["failed"] + states["leaked"] + states["missing"],
        "csv": sum(bool(row["failed_checks"]) for row in rows),
        "screen": len(screen_rows),
        "markdown": sum(
            line.startswith("| one | case")
            for line in markdown.split("## Failed Queries")[1].split("\n## ")[0].split("\n")
        ),
    }
    assert dict.fromkeys(counts, failed) == counts

    leaked = [case.id for case, kind in zip(cases, kinds, strict=True) if kind == "leaked"]
    assert bool(leaked) == bool(scoring.decision.events)
    assert len(leaked) == states["leaked"]
    events = list(scoring.decision.events)
    assert events == report["decision"]["events"] == list(page["events"])
    assert [f" - {event}" for event in events] == list(screen.alerts)
    assert len(events) == summary.count("🔴")
