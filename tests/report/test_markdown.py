"""The Markdown report: reviewed as a whole, and inert whatever the ids and questions contain."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.report.golden_files import assert_golden
from tests.report.sample import BAD, CASE_BY_ID, DETAILS, GOOD, SECRET, column, observation, result, scoring
from tests.report.test_safe import HOSTILE

from assay.cli import main
from assay.records.findings import Attribution
from assay.records.golden_set import Case
from assay.records.release_gates import Decision
from assay.records.scores import CaseChecks, ConfigResult, GoldenInfo, InputFile, ScoreTable, ScoringResult
from assay.report.exports.markdown import ReportMeta, render_markdown_report, render_table_lines
from assay.report.findings.attribution_tables import build_root_causes_table
from assay.report.findings.table import Table

META = ReportMeta(date="2026-03-01", owner="HR platform", approver="")

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
EXAMPLE = [
    *("--golden", str(HANDBOOK / "golden" / "handbook.jsonl")),
    *("--corpus", str(HANDBOOK / "corpus" / "chunks.jsonl")),
]
AGGREGATE = (
    "| Config | Cases | Recall@10 | MRR@10 | NDCG@10 | Context recall | Citation correctness | Behavior score "
    "| Failed case rate | p95 latency ms |"
)
BY_TAG = "| Config | Tag | Cases | Recall@10 | MRR@10 | Citation correctness | Failures |"
FAILED = "| Config | Query ID | Expected behavior | Failed checks | Retrieved top 3 | Context IDs | Citations |"


def _markdown(scored: ScoringResult, meta: ReportMeta = META) -> str:
    return render_markdown_report(scored, DETAILS, CASE_BY_ID, meta)


def _cells(line: str) -> int:
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def _rows_have_the_cells_of_their_table(text: str) -> bool:
    """Whether every block of table lines has one number of cells, and no other line looks like a table."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines[0].startswith("|") and len({_cells(line) for line in lines if line.startswith("|")}) != 1:
            return False
    return True


def test_report_is_as_reviewed() -> None:
    assert_golden("report.md", _markdown(scoring()))


@pytest.mark.parametrize("header", [AGGREGATE, BY_TAG, FAILED])
def test_tables_of_the_runner_have_its_columns(header: str) -> None:
    assert header in _markdown(scoring()).split("\n")


def test_the_decision_its_remedy_and_its_reasons_are_the_first_ten_lines() -> None:
    lines = _markdown(scoring()).split("\n")
    assert ["# Evaluation report", ""] == lines[:2]
    assert lines[2].startswith("**Decision: FAIL**. Do not release. Fix the problems below")
    assert "hybrid-rerank: **PASS_WITH_RISK**; vector-only: **FAIL**. Reviewer: nobody yet." in lines[2]
    reasons = scoring().decision.reasons
    assert [f"- {reason}" for reason in reasons] == [unescape(line).replace("\\", "") for line in lines[4:8]]
    assert ["", "## Top Failed Queries"] == lines[8:10]


def test_each_reason_of_a_decision_is_told_once_however_many_there_are() -> None:
    reasons = tuple(f"recall@{number} is {number} cases short" for number in range(1, 15))
    good = replace(scoring().configs[GOOD], decision=Decision("FAIL", reasons))
    text = _markdown(replace(scoring(), configs={GOOD: good}, decision=Decision("FAIL", reasons)))
    assert [1] * len(reasons) == [len(re.findall(f"{re.escape(reason)}$", text, re.MULTILINE)) for reason in reasons]
    assert "- and 4 more reasons under Rules of the gate" in text.split("\n")


def test_what_is_unknown_is_said_and_named_where_nothing_failed() -> None:
    good = scoring().configs[GOOD]
    checks = tuple(CaseChecks(case_id, (), ("unknown_answer",)) for case_id in good.table.case_ids[:3])
    scored = replace(scoring(), configs={GOOD: replace(good, table=replace(good.table, checks=checks))})
    section = _markdown(scored).split("## Top Failed Queries\n\n")[1].split("\n\n")[0].replace("\\", "")
    assert (
        "- 0 of 4 cases failed, 1 passed, 3 unknown: nothing that was measured tells whether the answer is right"
        in (section)
    )
    assert "leave_001, leave_002, pay_001" in section


def test_root_causes_begin_with_leaks_however_few_they_are() -> None:
    slow = Attribution("a", "retrieval_fault", "reranker", confidence="high")
    denied = Attribution("c", "access_fault", "acl", "access_denied")
    leak = Attribution("d", "access_fault", "stale_index", "leak")
    attributions = {"one": {"a": slow, "b": replace(slow, case_id="b"), "c": denied, "d": leak}}
    table = build_root_causes_table(attributions, dict.fromkeys("abcd", ()))
    assert ["stale_index", "ranking", "acl"] == [row[3] for row in table.rows]
    assert "the index has an old version, or lacks the passage × 1" == table.rows[0][1]


def test_of_many_metrics_those_of_the_gate_and_of_judges_are_listed_and_the_others_counted() -> None:
    good = scoring().configs[GOOD]
    extra = {f"recall@{depth}": replace(good.summary["recall@10"], metric=f"recall@{depth}") for depth in range(11, 60)}
    judged = {"faithfulness(by=judge)": replace(good.summary["recall@10"], metric="faithfulness(by=judge)")}
    many = replace(good, summary={**good.summary, **extra, **judged})
    text = _markdown(replace(scoring(), configs={GOOD: many}))
    listed = text.split("### Metrics of gates, judges and plugins: hybrid-rerank")[1].split("\n\n")[1].split("\n")[2:]
    assert {"recall@10", "visibility_leaks", "faithfulness(by=judge)"} == {
        row.split("|")[1].strip().replace("\\", "") for row in listed
    }
    assert f"{len(many.summary) - 3} more metrics in the JSON and in the HTML report." in text


@pytest.mark.parametrize(
    "title",
    [
        "Summary",
        "Headline metrics",
        "Tags",
        "Top Failed Queries",
        "Release Gate Checklist",
        "Regression Summary",
        "All metrics",
        "Aggregate",
        "Breakdown By Tag",
        "Evidence and answers of the top failed queries",
        "Failed Queries",
        "Limitations",
        "Inputs",
        "Warnings",
    ],
)
def test_every_section_of_the_template_is_there_once(title: str) -> None:
    assert 1 == _markdown(scoring()).split("\n").count(f"## {title}")


def test_order_of_configurations_changes_no_byte() -> None:
    scored = scoring()
    assert _markdown(scored) == _markdown(replace(scored, configs=dict(reversed(scored.configs.items()))))


def test_forbidden_text_is_printed_only_on_request() -> None:
    assert SECRET not in _markdown(scoring())
    asked = {**CASE_BY_ID, "pay_001": replace(CASE_BY_ID["pay_001"], question=f"Is it true that {SECRET.upper()}?")}
    assert "[withheld]?" in render_markdown_report(scoring(), DETAILS, asked, META).replace("&#91;", "[").replace(
        "&#93;", "]"
    )
    assert SECRET.upper() in render_markdown_report(scoring(), DETAILS, asked, ReportMeta(show_forbidden=True))


def test_every_mean_has_its_count() -> None:
    text = _markdown(scoring())
    aggregate = text.split(AGGREGATE)[1].split("\n")[2:4]
    for row in aggregate:
        means = [cell.strip() for cell in row.split("|")[3:9]]
        assert [cell for cell in means if cell != "n/a" and "(n=" not in cell] == []


def test_an_interval_without_width_is_not_printed() -> None:
    assert "1.000 to 1.000" not in _markdown(scoring())
    assert "none: no variation" in _markdown(scoring())


def test_only_the_first_thirty_failed_cases_are_listed() -> None:
    ids = tuple(f"case_{i:02}" for i in range(32))
    checks = tuple(CaseChecks(each, ("retrieval_miss",)) for each in reversed(ids))
    table = ScoreTable("c", ids, {"recall@10": column("recall@10", [0.0] * 32)}, (), checks)
    scored = ScoringResult(
        GoldenInfo("g", "", "", 32), {"c": ConfigResult(table, {}, {}, None)}, Decision("PASS", ()), assay_version="1"
    )
    text = render_markdown_report(scored, {}, {each: Case(each, "Why?") for each in ids}, ReportMeta())
    listed = text.split(FAILED)[1].split("\n\n")[0].strip().split("\n")[1:]
    assert list(ids[:30]) == [row.split("|")[2].strip() for row in listed]
    assert "c: 2 more failed cases are in the JSON report." in text


def test_scoring_without_anything_still_makes_a_report() -> None:
    empty = ScoringResult(GoldenInfo("", "", "", 0), {}, Decision("INCOMPLETE", ()))
    text = render_markdown_report(empty, {}, {}, ReportMeta())
    assert "**Decision: INCOMPLETE**" in text
    assert "No gate was given, so no rule was checked." in text


def _hostile(text: str) -> tuple[ScoringResult, dict[str, Case], dict[tuple[str, str], object]]:
    base = scoring().configs[BAD]
    table = replace(base.table, case_ids=(text, "b"), checks=(CaseChecks(text, (text,)),), missing=(text,))
    table = replace(table, columns={}, config_id=text, versions={"corpus": (text,)}, notes=(text,))
    scored = replace(
        scoring(),
        golden=GoldenInfo(text, text, text, 2),
        configs={text: replace(base, table=table, slices={f"tag={text}": base.slices["tag=hr"]})},
        decision=Decision("FAIL", (text,)),
        inputs=(InputFile(text, "native", 1, (text,)),),
        stages={text: text},
        warnings=(text,),
    )
    observed = observation("leave_001")
    return scored, {text: Case(text, text, tags=(text,))}, {(text, text): replace(observed, citations=(text,))}


_TITLES = (
    "Rules of the gate",
    "Tags and slices",
    "All metrics",
    "Evidence and answers of the top failed queries",
    "Failed cases by retrieved chunks",
    "Limitations and inputs",
)
"""The sections that are closed at first, in a report without attributions."""


def _inert(text: str) -> None:
    scored, cases, details = _hostile(text)
    report = render_markdown_report(scored, details, cases, ReportMeta(date=text, owner=text, approver=text))  # type: ignore[arg-type]
    assert _rows_have_the_cells_of_their_table(report)
    assert report.count("<details>\n<summary>") == report.count("\n\n</details>") == len(_TITLES)
    for title in _TITLES:
        report = report.replace(f"\n<details>\n<summary>{title}</summary>\n", "\n", 1)
    report = report.replace("\n</details>\n", "\n")
    prose = "\n".join(line for line in report.split("\n") if not line.startswith("|"))
    assert not re.search(r"[<`\[\]\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200b\u2028]", report)
    assert {2, 3, 1} >= {len(mark) for mark in re.findall(r"^#+(?= )", prose, re.MULTILINE)}
    assert 17 == len(re.findall(r"^#+ ", prose, re.MULTILINE))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_everywhere_adds_no_cell_heading_or_markup(name: str) -> None:
    _inert(HOSTILE[name])


@pytest.mark.slow
@given(st.text(min_size=1))
def test_any_text_everywhere_adds_no_cell_heading_or_markup(text: str) -> None:
    _inert(text)


@pytest.mark.slow
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(st.text(), min_size=n, max_size=n), min_size=1)))
def test_table_rows_all_have_the_same_number_of_cells(rows: list[list[str]]) -> None:
    table = Table("t", tuple("c" for _ in rows[0]), tuple(tuple(row) for row in rows))
    lines = render_table_lines(table)
    assert [len(rows[0])] * (len(rows) + 2) == [_cells(line) for line in lines]


def test_table_with_a_short_row_is_a_defect() -> None:
    with pytest.raises(ValueError, match="2 cells"):
        Table("t", ("a", "b"), (("1",),))


def test_a_judged_metric_is_marked_and_its_reproducibility_explained() -> None:
    good = scoring().configs[GOOD]
    judged = replace(good.summary["recall@10"], metric="faithfulness(by=judge)")
    scored = replace(
        scoring(), configs={GOOD: replace(good, summary={**good.summary, "faithfulness(by=judge)": judged})}
    )
    text = _markdown(scored)
    assert "| faithfulness(by=judge) | J |" in text
    assert "| recall@10 | D |" in text
    assert "a judge's recorded verdicts: faithfulness(by=judge)." in text
    assert "No judge was asked" in _markdown(scoring())


def test_not_gated_configuration_says_so() -> None:
    scored = replace(scoring(), configs={GOOD: result(GOOD, None)}, gate=None)
    other = replace(scored, configs={**scored.configs, BAD: result(BAD, None)})
    assert "hybrid-rerank: not gated; vector-only: not gated." in _markdown(other)


def test_slices_other_than_tags_have_a_table_of_their_own() -> None:
    good = scoring().configs[GOOD]
    scored = replace(scoring(), configs={GOOD: replace(good, slices={"language=vi": good.summary, **good.slices})})
    table = _markdown(scored).split("## Slices\n\n")[1].split("\n\n")[0].split("\n")
    assert table[0].startswith("| Config | Slice | Cases | Answer correctness | Behaviour | Recall@10 |")
    (row,) = table[2:]
    assert row.startswith(
        "| hybrid-rerank | language=vi | 4 | 1.000 (n=1) | 1.000 (n=4) | 1.000 (n=2), none: no variation |"
    )
    assert "## Slices" not in _markdown(scoring())


def test_leaks_come_before_cases_with_more_failed_checks() -> None:
    worst = _markdown(scoring()).split("## Top Failed Queries")[1].split("\n\n")[2].split("\n")[2:]
    assert ["pay_001", "leave_001", "none_001"] == [row.split("|")[2].strip() for row in worst]


@pytest.mark.slow
def test_what_a_reader_sees_of_the_example_has_at_most_90_lines(tmp_path: Path) -> None:
    """Two configurations, a gate and a baseline; the rest is in sections that are closed at first."""
    files = [*EXAMPLE, "--outputs", str(HANDBOOK / "outputs" / "vector-only.jsonl")]
    main(["score", *files, "--run-dir", str(tmp_path / "base")])
    main(["baseline", "save", str(tmp_path / "base"), "--out", str(tmp_path / "baseline.json")])
    report = tmp_path / "report.md"
    compared = ["--baseline", str(tmp_path / "baseline.json"), "--profile", "capstone", "--report", str(report)]
    main(["score", *EXAMPLE, "--outputs", str(HANDBOOK / "outputs" / "*.jsonl"), *compared])
    text = report.read_text(encoding="utf-8")
    visible = re.sub(r"\n<details>.*?</details>\n", "", text, flags=re.DOTALL)
    assert len(visible.splitlines()) <= 90
    worst = visible.partition("## Top Failed Queries")[2].partition("\n| ")[2].partition("\n")[0]
    assert ["Config", "Query ID", "Question", "Failed checks", "Root cause", "Fix"] == worst.removesuffix(" |").split(
        " | "
    )
    folded = text.partition("## Evidence and answers of the top failed queries")[2]
    assert "| Expected source | Retrieved? | Context? | Answer correct? | Citation correct? |" in folded
    headings = re.findall(r"^## (.+)$", visible, flags=re.MULTILINE)
    changes = [f"Changes since the baseline: {config}" for config in (GOOD, BAD)]
    assert headings == ["Top Failed Queries", *changes, "Headline metrics"]
