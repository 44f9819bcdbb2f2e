"""JUnit XML, GitHub's commands and summaries, and CSV: untrusted text stays text."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace

from assay.cli import main
from assay.records.findings import Attribution
from assay.records.golden_set import Case
from assay.records.release_gates import Decision, Gate, Outcome, Rule, RuleResult
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
from assay.report.exports.case_scores import iter_csv_lines
from assay.report.exports.github import MAX_ANNOTATIONS, MAX_SUMMARY_BYTES, render_job_summary, render_workflow_commands
from assay.report.exports.junit import render_junit

HOSTILE = "=cmd|' /C calc'!A0 \x1b[2J ::error::x <b>&\n%0A"
CASES = {"a": Case("a", "Q?"), HOSTILE: Case(HOSTILE, HOSTILE, tags=("t",)), "c": Case("c", "Q?")}


def scoring(decision: Decision, gate: Gate | None = None) -> ScoringResult:
    column = ScoreColumn(
        "recall@10",
        np.array([1.0, 0.0, 0.0]),
        np.array([SCORED, NOT_APPLICABLE, ERROR], dtype=np.uint8),
        np.array([0, 1, 2], dtype=np.uint16),
        ("", "no evidence", "no observation"),
    )
    checks = (CaseChecks(HOSTILE, ("leak",), ("stale_context",)), CaseChecks("c", ("missing",)))
    table = ScoreTable("one", tuple(CASES), {"recall@10": column}, ("c",), checks)
    return ScoringResult(
        GoldenInfo("g", "1", "sha256:0", 3), {"one": ConfigResult(table, {}, {}, decision)}, decision, gate=gate
    )


def result(state: str, severity: str = "block") -> RuleResult:
    rule = Rule("recall@10", at_least=0.5, severity=severity)  # type: ignore[arg-type]
    return RuleResult(rule, state, 0.1, 3, f"it is {state}")  # type: ignore[arg-type]


def outcomes(scored: ScoringResult, suite: int) -> list[str]:
    root = ElementTree.fromstring(render_junit(scored))
    return ["".join(element.tag for element in test) for test in root[suite].iter("testcase")]


@pytest.mark.parametrize(
    ("state", "severity", "expected"),
    [
        ("pass", "block", ""),
        ("fail", "block", "failure"),
        ("fail", "warn", "skipped"),
        ("no_data", "block", "failure"),
        ("incomplete", "block", "error"),
        ("inconclusive", "block", "skipped"),
        ("unmeasured", "block", "failure"),
        ("unmeasured", "warn", "skipped"),
        ("uncalibrated", "block", "skipped"),
    ],
)
def test_a_rule_is_a_test(state: str, severity: str, expected: str) -> None:
    assert [expected] == outcomes(scoring(Decision("FAIL", (), (result(state, severity),))), 0)


def test_a_pass_with_risk_begins_with_what_its_owner_has_to_accept() -> None:
    decision = Decision(
        "PASS_WITH_RISK", ("it is open", "it is open"), (result("inconclusive"),), risks=("it is open",) * 2
    )
    scored = scoring(decision)
    assert ["skipped", "skipped"] == outcomes(scored, 0)
    root = ElementTree.fromstring(render_junit(scored))
    (first, *_) = root[0].iter("skipped")
    assert "PASS_WITH_RISK (release only if its owner accepts the risks): it is open" == first.attrib["message"]
    assert ["it is open"] == [
        item.attrib["value"] for item in root[0].iter("property") if item.attrib["name"] == "risk"
    ]
    assert render_job_summary(scored, CASES).startswith("## ⚠️ Assay: PASS_WITH_RISK (release only if its owner accepts")
    assert ["failure"] == outcomes(scoring(Decision("FAIL", (), (result("fail"),), risks=("it is open",))), 0)


def test_failed_cases_are_failures_and_missing_ones_errors() -> None:
    scored = scoring(Decision("FAIL", (), (result("fail"),)))
    assert ["", "failure", "error"] == outcomes(scored, 1)
    suite = ElementTree.fromstring(render_junit(scored))[1]
    assert ("3", "1", "1", "0") == tuple(suite.attrib[name] for name in ("tests", "failures", "errors", "skipped"))


def test_a_build_does_not_fail_for_cases_that_its_gate_accepts() -> None:
    scored = scoring(Decision("PASS", (), (result("pass"),)))
    assert ["", "skipped", "error"] == outcomes(scored, 1)


@pytest.mark.parametrize(("incomplete", "expected"), [(False, "skipped"), (True, "error")])
def test_without_a_gate_failed_cases_are_failures_and_the_decision_says_that_there_is_none(
    incomplete: bool, expected: str
) -> None:
    scored = scoring(Decision("NOT_GATED", ("no gate was given",), incomplete=incomplete))
    assert ([expected], ["", "failure", "error"]) == (outcomes(scored, 0), outcomes(scored, 1))
    root = ElementTree.fromstring(render_junit(scored))
    assert ["NOT_GATED"] == [element.attrib["value"] for element in root.iter("property")]


@pytest.mark.parametrize("outcome", ["NOT_GATED", "PARTIAL"])
def test_a_leak_is_an_error_annotation_even_where_nothing_was_decided(outcome: Outcome) -> None:
    decision = Decision(outcome, ("1 case leaked", "no gate was given"), events=("1 case leaked",))
    assert ["::error", "::notice"] == [line.split(" ")[0] for line in render_workflow_commands(scoring(decision))]
    text = render_job_summary(scoring(decision), CASES)
    assert text.startswith(f"## ⚪ Assay: {outcome}\n\n- 🔴 **1 case leaked**\n- no gate was given\n")


def test_a_failure_says_what_to_do_in_one_line_and_what_is_unknown_is_counted() -> None:
    scored = scoring(Decision("NOT_GATED", ("no gate was given",)))
    one = scored.configs["one"]
    first, second, _ = one.table.case_ids
    checks = (CaseChecks(first, (), ("unknown_answer",)), CaseChecks(second, ("wrong_answer",)))
    table = replace(one.table, checks=checks, missing=())
    cause = Attribution(second, "generation_fault", "generator", subcause="partial", confidence="high", fix="ask twice")
    texts = {("one", first): "Question  Is it?", ("one", second): "Question  Why?"}
    junit = render_junit(replace(scored, configs={"one": replace(one, table=table)}), {"one": {second: cause}}, texts)
    suite = ElementTree.fromstring(junit)[1]
    failures = [test[0] for test in suite.iter("testcase") if len(test)]
    opened, failure = sorted(failures, key=lambda element: element.tag, reverse=True)
    happened = "the model answered wrongly from what it was shown (generator)"
    assert f"failed wrong_answer: {happened}; try first: ask twice" == failure.attrib["message"]
    assert ("failure", "Question  Why?") == (failure.tag, failure.text)
    assert ("skipped", "Question  Is it?") == (opened.tag, opened.text)
    (counted,) = [item.attrib["value"] for item in suite.iter("property") if item.attrib["name"] == "outcomes"]
    assert counted.startswith("1 of 3 cases failed, 1 passed, 1 unknown: ")


def test_control_characters_are_escaped_in_xml() -> None:
    root = ElementTree.fromstring(render_junit(scoring(Decision("PASS", ()))))
    names = [test.attrib["name"] for test in root.iter("testcase")]
    assert "\\u001b[2J" in names[2]


def test_an_annotation_is_one_line_whatever_a_reason_says() -> None:
    (command,) = render_workflow_commands(scoring(Decision("FAIL", ("line\none: %, <b>\x1b",))))
    assert "::error title=assay%3A FAIL::line\\u000aone: %25, <b>\\u001b" == command


def test_at_most_ten_annotations_say_how_many_are_left_out() -> None:
    commands = render_workflow_commands(scoring(Decision("FAIL", tuple(f"reason {i}" for i in range(14)))))
    assert MAX_ANNOTATIONS == len(commands)
    assert commands[-1].endswith("5 more reasons are in the summary of this job")


def test_a_risk_is_a_warning_and_a_pass_is_a_notice() -> None:
    risk = scoring(Decision("PASS_WITH_RISK", ("r",)))
    assert render_workflow_commands(risk)[0].startswith("::warning ")
    assert render_workflow_commands(risk, strict=True)[0].startswith("::error ")
    assert render_workflow_commands(scoring(Decision("PASS", ()), Gate()))[0].startswith("::notice ")
    assert [] == render_workflow_commands(scoring(Decision("PASS", ("no gate was given",))))


def test_a_risk_next_to_a_failure_is_a_warning_and_with_strict_an_error() -> None:
    failed = scoring(Decision("FAIL", ("recall is too low", "nobody can tell"), risks=("nobody can tell",)))
    assert [
        "::error title=assay%3A FAIL::recall is too low",
        "::warning title=assay%3A risk::nobody can tell",
    ] == render_workflow_commands(failed)
    assert all(line.startswith("::error ") for line in render_workflow_commands(failed, strict=True))


@pytest.mark.slow
def test_a_job_summary_is_inert_and_within_the_limit() -> None:
    scored = scoring(Decision("FAIL", ("<script>alert(1)</script>",), (result("fail"),)))
    text = render_job_summary(scored, CASES)
    assert "<script>" not in text
    assert text.startswith("## ❌ Assay: FAIL\n")
    many = tuple(replace(result("fail"), message="x" * 4000) for _ in range(600))
    long = render_job_summary(scoring(Decision("FAIL", (), many)), CASES)
    assert len(long.encode()) <= MAX_SUMMARY_BYTES
    assert long.endswith("too long for a job summary; see the report.\n")


def test_a_job_summary_has_failed_cases_before_numbers_and_names_what_is_unknown() -> None:
    scored = scoring(Decision("FAIL", ("too low",), (result("fail"),)))
    one = scored.configs["one"]
    checks = tuple(CaseChecks(case_id, (), ("unknown_answer",)) for case_id in one.table.case_ids[:1])
    open_case = replace(one, table=replace(one.table, checks=(*checks, *one.table.checks[1:])))
    text = render_job_summary(replace(scored, configs={"one": open_case}), CASES)
    assert f"one, unknown: nothing that was measured tells whether the answer is right ({checks[0].case_id})" in text
    titles = [line for line in text.splitlines() if line.startswith("### ")]
    assert ["### Top Failed Queries", "### Headline metrics", "### Release Gate Checklist"] == titles


def test_csv_has_a_row_for_every_case_and_says_why_a_cell_is_empty() -> None:
    scored = scoring(Decision("PASS", ()))
    tables = {"one": scored.configs["one"].table}
    rows = list(csv.DictReader(b"".join(iter_csv_lines(tables, CASES)).decode().splitlines(keepends=True)))
    assert ["1.0", "", ""] == [row["recall@10"] for row in rows]
    assert ["", "recall@10: not_applicable (no evidence)", "recall@10: error (no observation)"] == [
        row["not_scored"] for row in rows
    ]
    assert ["", "leak", "missing"] == [row["failed_checks"] for row in rows]


def test_csv_cells_are_no_formulas_unless_asked_for() -> None:
    tables = {"one": scoring(Decision("PASS", ())).configs["one"].table}
    safe = b"".join(iter_csv_lines(tables, CASES)).decode()
    assert "'=cmd|" in safe
    raw = b"".join(iter_csv_lines(tables, CASES, raw=True)).decode()
    rows = list(csv.DictReader(raw.splitlines(keepends=True)))
    assert HOSTILE.startswith(rows[1]["case_id"][:10])
    assert "'=cmd" not in raw


@pytest.mark.slow
def test_failed_cases_of_the_example_say_what_was_asked_expected_answered_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, junit, summary = (str(tmp_path / name) for name in ("run", "junit.xml", "summary.md"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", summary)
    inputs = ["--golden", "golden/handbook.jsonl", "--corpus", "corpus/chunks.jsonl"]
    monkeypatch.chdir(Path(__file__).resolve().parents[2] / "examples" / "handbook")
    main(["score", *inputs, "--outputs", "outputs/*.jsonl", "--profile", "capstone", "--run-dir", run])
    main(["report", run, "--profile", "capstone", "--baseline", f"{run}:vector-only", "--junit", junit, "--github"])
    texts: dict[str, str] = {}
    for suite in ElementTree.parse(junit).getroot():
        for case in suite:
            for failure in case.findall("failure"):
                if case.get("classname", "").endswith(".cases"):
                    texts[f"{case.get('classname')} {case.get('name')}"] = failure.text or ""
    assert len(texts) == 18, "vector-only fails 18 cases; those of hybrid-rerank are accepted by its gate"
    for name, text in texts.items():
        for label in ("Question  ", "Expected  ", "Answer  ", "Verdict  "):
            assert f"\n{label}" in text, f"{name}: {label}"
        assert text.count("\n") <= 30
    assert "Try first       make the filters mandatory" in texts["vector-only.cases acl_001"]
    assert "withheld: it shows or cites what the user must not see" in texts["vector-only.cases acl_001"]

    shown = Path(summary).read_text(encoding="utf-8")
    visible = re.sub(r"\n<details>.*?</details>\n", "", shown, flags=re.DOTALL)
    assert len(visible.splitlines()) <= 90
    assert "### Changes since the baseline: hybrid-rerank" in visible
    assert "| the reranker ranked the right passage too low (reranker) | another reranking model or prompt" in visible
