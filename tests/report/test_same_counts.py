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

from assay.attribution.whole_run.failed_cases import reconcile_with_checks
from assay.gates.release_decision import decide_release
from assay.records.findings import FAULT_PARTIES, ROOT_CAUSES, Attribution, RootCause
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
    Summary,
)
from assay.report.exports.case_scores import iter_csv_lines
from assay.report.exports.github import render_job_summary
from assay.report.exports.json_report import render_json_report
from assay.report.exports.junit import render_junit
from assay.report.exports.markdown import ReportMeta, render_markdown_report
from assay.report.findings.attribution_tables import OUTCOME_CELLS
from assay.report.page.case_data import HtmlData, build_case_rows
from assay.report.page.summary import build_summary_data
from assay.report.screen.run_summary import render_run_summary
from assay.report.screen.terminal import render_score_screen

_UNKNOWN_COUNT = re.compile(
    r"^Cases: .* (?:failed|without an answer).*, (\d+)(?: of the others)? unknown", re.MULTILINE
)
CHECKS = ("retrieval_miss", "bad_citation", "wrong_answer", "incomplete_answer")
GATES = (None, Gate(rules=(Rule("recall@10", at_least=0.5),)), Gate(rules=(Rule("recall@10", at_least=0.0),)))
KINDS = st.sampled_from(["good", "bad", "warned", "missing", "error", "leaked", "unknown", "doubted"])
FAILED_KINDS = ("bad", "leaked", "missing", "error")
TAGS = ("hr", "it", "acl")
CAUSES = st.sampled_from([None, *ROOT_CAUSES])


def make_column(metric: str, values: list[float], status: list[int]) -> ScoreColumn:
    codes = np.array([1 if state == ERROR else 0 for state in status], dtype=np.uint16)
    return ScoreColumn(metric, np.array(values), np.array(status, dtype=np.uint8), codes, ("", "timeout"))


def make_scoring(kinds: list[str], checks: list[str], gate: Gate | None) -> tuple[ScoringResult, list[Case]]:
    """A run of one configuration whose cases are of these kinds, decided by a gate or by none."""
    cases = [Case(f"case_{number}", "Q?", tags=TAGS[: number % 4]) for number in range(len(kinds))]
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
    warnings_by_kind = {
        "warned": ("stale_context",),
        "doubted": ("unsourced_number",),
        "unknown": ("unknown_answer",),
        "leaked": ("unknown_answer",),
    }
    all_checks = [
        CaseChecks(case.id, failed_by_kind.get(kind, ()), warnings_by_kind.get(kind, ()))
        for case, kind in zip(cases, kinds, strict=True)
        if kind != "good"
    ]
    missing = tuple(case.id for case, kind in zip(cases, kinds, strict=True) if kind == "missing")
    table = ScoreTable("one", tuple(case.id for case in cases), columns, missing, tuple(all_checks))
    decision = decide_release(gate, table, cases)
    slices = build_slice_summaries(table, cases)
    result = ConfigResult(table, {}, slices, decision)
    golden = GoldenInfo("g", "1", "sha256:0", len(cases))
    # As for a whole run: the reasons and events of the only configuration, without the results of its rules.
    return ScoringResult(golden, {"one": result}, replace(decision, results=()), gate=gate), cases


def build_slice_summaries(table: ScoreTable, cases: list[Case]) -> dict[str, dict[str, Summary]]:
    """Return a summary of recall on each tag."""
    slices = {}
    for tag in TAGS:
        rows = [row for row, case in enumerate(cases) if tag in case.tags]
        if rows:
            summary = Summary("recall@10", f"tag={tag}", "mean", None, None, None, None, 0, len(rows), 0)
            slices[f"tag={tag}"] = {"recall@10": summary}
    return slices


def attribute_cases(scoring: ScoringResult, causes: list[RootCause | None]) -> dict[str, dict[str, Attribution]]:
    """Return attributions with any causes, as the checks allow them."""
    table = scoring.configs["one"].table
    checks = {item.case_id: item for item in table.checks}
    return {
        "one": {
            case_id: reconcile_with_checks(
                Attribution(case_id, FAULT_PARTIES[row % len(FAULT_PARTIES)], causes[row % len(causes)]),
                checks.get(case_id),
            )
            for row, case_id in enumerate(table.case_ids)
        }
    }


def read_table(markdown: str, title: str) -> list[list[str]]:
    """Return the cells of the table under a heading of a Markdown report; none where there is no such heading."""
    match = re.search(rf"^#+ {re.escape(title)}$(.*?)(?=^#|\Z)", markdown, re.MULTILINE | re.DOTALL)
    lines = [line for line in match[1].splitlines() if line.startswith("|")] if match else []
    return [[cell.strip().replace("\\", "") for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.slow
@given(
    st.lists(KINDS, min_size=1, max_size=9),
    st.lists(st.sampled_from(CHECKS), min_size=1),
    st.sampled_from(GATES),
    st.lists(CAUSES, min_size=1),
)
def test_outcomes_and_counts_are_the_same_in_every_output(
    kinds: list[str], checks: list[str], gate: Gate | None, causes: list[RootCause | None]
) -> None:
    scoring, cases = make_scoring(kinds, checks, gate)
    attributions = attribute_cases(scoring, causes)
    by_id = {case.id: case for case in cases}
    screen = render_score_screen(scoring, attributions=attributions)
    short = render_run_summary(scoring, attributions, {}).lines
    markdown = render_markdown_report(scoring, {}, by_id, ReportMeta(), attributions=attributions)
    report = json.loads(render_json_report(scoring, attributions=attributions))
    junit = ElementTree.fromstring(render_junit(scoring, attributions))
    page_data = HtmlData(scoring, cases, attributions=attributions)
    page, page_rows = build_summary_data(page_data), build_case_rows(page_data, {})
    rows = list(
        csv.DictReader(b"".join(iter_csv_lines({"one": scoring.configs["one"].table}, by_id)).decode().split("\n"))
    )
    summary = render_job_summary(scoring, by_id)

    outcome = scoring.decision.outcome
    outcomes = {
        "screen": screen.lines[0].removeprefix("one: ").partition(" (release only")[0],
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

    failed = sum(kind in FAILED_KINDS for kind in kinds)
    unknown = kinds.count("unknown")
    (suite,) = [element for element in junit if element.attrib["name"] == "one: cases"]
    states = page["configs"][0]["states"]
    config = report["configs"]["one"]
    attributed = config["attributions"].values()
    (screen_counts,) = next(table.rows for table in screen.tables if table.title == "Cases")
    outcome_line = re.search(
        r"^- (\d+) of \d+ cases? (?:failed|without an answer)[^,]*, (\d+) passed(?:, (\d+) unknown)?",
        markdown,
        re.MULTILINE,
    )
    assert outcome_line is not None
    markdown_failed, markdown_passed, markdown_unknown = (int(count or 0) for count in outcome_line.groups())
    attribution_head, _, attribution_row = read_table(markdown, "Attribution")
    verdicts = dict(zip(attribution_head[1:], map(int, attribution_row[1:]), strict=True))
    row_states = [page_rows["states"][code] for code in page_rows["configs"]["one"]["states"]]
    named_causes = page_rows["configs"]["one"]["causes"]
    counts = {
        "json failed_cases": len(config["failed_cases"]),
        "json counts": config["counts"]["failed"],
        "json causes": sum(item["cause"] is not None for item in attributed),
        "json faults": sum(item["verdict"] not in ("pass", "unknown") for item in attributed),
        "junit": sum(len(test) > 0 and not is_skipped_as_unknown(test) for test in suite.iter("testcase")),
        "html states": states["failed"] + states["leaked"] + states["missing"],
        "html rows": sum(state not in ("passed", "unknown") for state in row_states),
        "html row causes": sum(bool(named_causes["names"][code]) for code in named_causes["codes"]),
        "html causes": sum(row["total"] for row in page["causes"]["one"]["rows"]),
        "html to do": sum(row["total"] for row in page["failures"][0]["causes"]),
        "csv": sum(bool(row["failed_checks"]) for row in rows),
        "csv outcome": sum(row["outcome"] == "failed" for row in rows),
        "screen rows": sum(len(table.rows) for table in screen.tables if table.title == "Failed cases"),
        "screen": int(screen_counts[3]),
        "markdown rows": len(read_table(markdown, "Failed Queries")[2:]),
        "markdown": markdown_failed,
        "markdown causes": sum(int(row[2]) for row in read_table(markdown, "Root causes")[2:]),
        "markdown faults": sum(count for name, count in verdicts.items() if name not in ("pass", "unknown")),
        "job summary": int(re.findall(r"^Cases: one: (\d+) of", summary, re.MULTILINE)[0]),
        "short screen": sum(int(count) for line in short for count in re.findall(r"^Cases: one (\d+) of", line)),
    }
    assert dict.fromkeys(counts, failed) == counts
    unknowns = {
        "json": len(config["unknown_cases"]),
        "json counts": config["counts"]["unknown"],
        "json verdicts": sum(item["verdict"] == "unknown" for item in attributed),
        "junit": sum(is_skipped_as_unknown(test) for test in suite.iter("testcase")),
        "html states": states["unknown"],
        "html rows": row_states.count("unknown"),
        "csv": sum(row["outcome"] == "unknown" for row in rows),
        "screen": int(screen_counts[4]),
        "markdown": markdown_unknown,
        "markdown verdicts": verdicts["unknown"],
        "job summary": sum(map(int, _UNKNOWN_COUNT.findall(summary))),
        "short screen": sum(int(count) for line in short for count in _UNKNOWN_COUNT.findall(line)),
    }
    assert dict.fromkeys(unknowns, unknown) == unknowns
    passed = {
        "json": config["counts"]["passed"],
        "json verdicts": sum(item["verdict"] == "pass" for item in attributed),
        "junit": sum(len(test) == 0 for test in suite.iter("testcase")),
        "html": states["passed"],
        "csv": sum(row["outcome"] == "passed" for row in rows),
        "screen": int(screen_counts[2]),
        "markdown": markdown_passed,
        "markdown verdicts": verdicts["pass"],
    }
    assert dict.fromkeys(passed, len(kinds) - failed - unknown) == passed

    for tag in TAGS:
        by_tag = sum(kind in FAILED_KINDS for case, kind in zip(cases, kinds, strict=True) if tag in case.tags)
        markdown_failures = [int(row[-1]) for row in read_table(markdown, "Breakdown By Tag")[2:] if row[1] == tag]
        cause_rows = [row[2] for row in read_table(markdown, "Causes by tag")[2:] if row[1] == tag]
        page_causes = page["causes"]["one"]
        column = page_causes["tags"].index(tag) if tag in page_causes["tags"] else None
        tagged = {
            "markdown failures": sum(markdown_failures),
            "markdown causes": sum(map(int, cause_rows)),
            "html causes": 0 if column is None else sum(row["counts"][column] for row in page_causes["rows"]),
        }
        assert dict.fromkeys(tagged, by_tag) == tagged
    (screen_outcomes,) = next(table.rows for table in screen.tables if table.title == "Evidence and answers")
    cells = {
        "json": list(config["outcomes"].values()),
        "markdown": [int(cell) for cell in read_table(markdown, "Evidence and answers")[2][1:]],
        "screen": [int(cell) for cell in screen_outcomes[1:]],
    }
    by_name = [config["outcomes"][name] for name in OUTCOME_CELLS]
    assert {**cells, "json": by_name} == dict.fromkeys(cells, by_name)

    doubted = [case.id for case, kind in zip(cases, kinds, strict=True) if kind == "doubted"]
    assert config["doubted_cases"] == doubted
    doubts = {
        "json": report["doubts"],
        "html": page["doubts"],
        "screen": [line for line in screen.lines if line.startswith("doubt: ")],
        "short screen": [line for line in short if line.startswith("doubt: ")],
        "markdown": [line.replace("\\", "")[2:] for line in markdown.splitlines() if line.startswith("- doubt: ")],
        "job summary": [line.replace("\\", "")[2:] for line in summary.splitlines() if line.startswith("- doubt: ")],
        "junit": [item.attrib["value"] for item in suite.iter("property") if item.attrib["name"] == "doubt"],
    }
    counted = {
        name: [int(line.split()[1]) for line in lines if " with numbers " in line] for name, lines in doubts.items()
    }
    assert dict.fromkeys(counted, [len(doubted)] if doubted else []) == counted

    leaked = [case.id for case, kind in zip(cases, kinds, strict=True) if kind == "leaked"]
    assert bool(leaked) == bool(scoring.decision.events)
    assert len(leaked) == states["leaked"]
    events = list(scoring.decision.events)
    assert events == report["decision"]["events"] == list(page["events"])
    assert [f" - {event}" for event in events] == list(screen.alerts)
    assert len(events) == summary.count("🔴")


def is_skipped_as_unknown(test: ElementTree.Element) -> bool:
    """Return whether a test case of JUnit is skipped because nobody can tell."""
    return any(child.tag == "skipped" and child.attrib["message"].startswith("unknown: ") for child in test)
