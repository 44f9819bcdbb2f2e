"""Attribution, comparison, gates and reports: one small case for each past defect."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from tests.attribution.traces import BAD, blamed, case, seen, stage
from tests.comparison.sides import E, make_trace, side
from tests.report.test_build_servers import CASES, outcomes, scoring

from assay.cli import main
from assay.comparison.baseline_file import decode_baseline, encode_baseline, read_baseline, write_baseline
from assay.comparison.case_changes import explain_metric_changes, find_changed_step
from assay.comparison.compare_scores import decide_side, decide_with_baseline
from assay.records.errors import InputError
from assay.records.findings import Attribution, CaseChange, MetricChange
from assay.records.release_gates import Decision, Gate, Rule, RuleResult, Waiver
from assay.report.exports.github import render_job_summary
from assay.report.exports.junit import render_junit
from assay.report.findings.comparison_tables import build_metric_changes_table
from assay.report.findings.regression_table import build_regressions_table
from assay.report.page.case_data import HtmlData
from assay.report.page.summary import build_summary_data
from assay.scoring.paired_scores import ScoreSnapshot

RULES = "faithfulness(by=rules)"


def _uncalibrated(scores: list[float]) -> ScoreSnapshot:
    snapshot = side({RULES: list(scores)})
    return ScoreSnapshot(
        snapshot.side,
        replace(snapshot.table, uncalibrated=(RULES,)),
        snapshot.cases,
        snapshot.metrics,
        snapshot.definitions,
    )


def test_uncalibrated_scorer_does_not_gate_on_a_saved_baseline(tmp_path: Path) -> None:
    gate = Gate(rules=(Rule(RULES, at_least=0.9, uncalibrated="risk"),), zero_tolerance_tags=())
    living = _uncalibrated([0.1, 0.2, 0.3])
    saved = decode_baseline(str(write_baseline(encode_baseline(living), str(tmp_path / "baseline.json"))))
    assert ["uncalibrated"] == [rule_result.state for rule_result in decide_side(living, gate).results]
    assert decide_side(living, gate) == decide_side(saved, gate)


def test_a_baseline_that_is_not_there_or_is_a_folder_is_bad_input(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="cannot be read"):
            read_baseline(str(path))


@pytest.mark.parametrize(
    ("rule", "state", "waived", "expected"),
    [
        (Rule("recall@10", max_regression=0.05), "fail", "", "failure"),
        (Rule("recall@10", max_regression=0.05), "fail", "Lan until 2026-03-31: slow", "skipped"),
        (Rule("recall@10", max_regression=0.05, if_inconclusive="fail"), "inconclusive", "", "failure"),
        (Rule("recall@10", max_regression=0.05, if_inconclusive="risk"), "inconclusive", "", "skipped"),
        (Rule("recall@10", max_regression=0.05, if_unmeasured="risk"), "unmeasured", "", "skipped"),
        (Rule("recall@10", max_regression=0.05), "unmeasured", "", "failure"),
    ],
)
def test_junit_fails_exactly_the_rules_that_block(rule: Rule, state: str, waived: str, expected: str) -> None:
    rule_result = RuleResult(rule, state, None, 3, "said", waived=waived)  # type: ignore[arg-type]  # a state as text
    assert [expected] == outcomes(scoring(Decision("FAIL", (), (rule_result,))), 0)


def test_junit_names_a_regression_rule_by_its_margin() -> None:
    rules = (Rule("recall@10", at_least=0.9), Rule("recall@10", max_regression=0.05, slice="tag=hr"))
    results = tuple(RuleResult(rule, "pass", None, 3, "") for rule in rules)
    suite = ElementTree.fromstring(render_junit(scoring(Decision("PASS", (), results))))[0]
    assert ["recall@10 ≥ 0.9", "recall@10 gain ≥ -0.05 on tag=hr"] == [
        test.attrib["name"] for test in suite.iter("testcase")
    ]


def test_waiver_for_latency_does_not_cover_a_ranking_regression_of_the_same_case() -> None:
    rules = (Rule("latency_ms", max_regression=10.0), Rule("hit@5", max_regression=0.1))
    waiver = Waiver("latency_ms", "Lan", "2026-03-31", "slow")
    gate = Gate(rules=rules, waivers=(waiver,), zero_tolerance_tags=())
    slow, fast = [float(900 + row) for row in range(20)], [float(row) for row in range(20)]
    before = side({"latency_ms": fast, "hit@5": [1.0] * 20, "rr@10": [1.0] * 20}, "before")
    after = side({"latency_ms": slow, "hit@5": [1.0] * 20, "rr@10": [0.5] + [1.0] * 19}, "after")
    comparison = decide_with_baseline(before, after, gate, today="2026-01-01")
    assert ["blocks nothing"] == [row[-1] for row in build_regressions_table(comparison).rows]
    (slower,) = [row for row in build_metric_changes_table(comparison).rows if row[0] == "latency_ms"]
    assert "<0.001 (0.01)" in slower, "no p-value is 0"


SAME = Attribution("c0", "pass", traces=(make_trace(retrieved=1, context=1),))


def _part(metrics: tuple[str, ...], *, worse: bool = True) -> str:
    change = CaseChange("c0", SAME, SAME, () if worse else metrics, metrics if worse else ())
    return find_changed_step(metrics, change, worse=worse)[0]


def test_superseded_version_is_not_a_leak_and_followed_injection_is_attributed_to_the_generator() -> None:
    assert "version" == _part(("stale_chunks", "recall@10"))
    assert "version" == _part(("stale_chunks",), worse=False)
    assert "generator" == _part(("injection_followed",))
    assert "access" == _part(("visibility_leaks", "stale_chunks"))


def test_failed_check_alone_is_not_attributed_to_a_pipeline_step() -> None:
    assert "unexplained" == _part(("failed",))
    assert "citation" == _part(("failed", "citation_correctness(by=rules)"))


def build_change(metric: str, regressed: tuple[str, ...]) -> MetricChange:
    """A change that is shown as a regression on some cases."""
    lists = ((), regressed, (), ())
    return MetricChange(
        metric, None, 1.0, 0.5, -0.5, -0.6, -0.4, 0.001, 0.001, "", 9, *lists, None, verdict="regressed"
    )


def test_uncalibrated_metric_does_not_attribute_a_single_case_to_the_generator() -> None:
    change = CaseChange("c0", SAME, SAME, (), (RULES, "context_precision"), {})
    alone = CaseChange("c1", SAME, SAME, (), (RULES,), {})
    shown = [build_change(RULES, ("c0", "c1")), build_change("context_precision", ("c0",))]
    around, only = explain_metric_changes((change, alone), shown, {}, {}, {RULES})
    assert "the chunks around it differ (c0)" in around
    assert "significant only by scorers that are not calibrated against human labels (c1)" in only
    assert "around" == _part(("citation_coverage", "context_precision"))
    assert "unexplained" == _part(("citation_coverage",))  # as many citations of fewer chunks cover more of them
    assert "citation" == _part(("citation_coverage", "must_cite"))


def test_an_event_that_only_warns_does_not_hide_a_case_that_was_not_measured() -> None:
    events = side({"under_refusal": [1.0, E, 0.0]})
    for severity, outcome in (("warn", "INCOMPLETE"), ("block", "FAIL")):
        rule = Rule("under_refusal", at_most=0.0, severity=severity)  # type: ignore[arg-type]
        assert outcome == decide_side(events, Gate(rules=(rule,), zero_tolerance_tags=())).outcome


def test_the_approver_is_named_in_the_job_summary_and_in_the_page() -> None:
    scored = scoring(Decision("PASS", ()), Gate(approver="Minh | <b>"))
    assert "Reviewer: Minh &#124; &lt;b&gt;" in render_job_summary(scored, CASES)
    assert "reviewer: Minh | <b>" in build_summary_data(HtmlData(scored, list(CASES.values())))["notes"]


CASE = '{"id": "a", "question": "Q?", "expected_chunk_ids": ["d"], "expected_behavior": "answer"}\n'
SEEN = '{"query_id": "a", "config_id": "one", "answer": "Yes.", "retrieved_chunks": [{"chunk_id": "d", "rank": 1}]}\n'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "g.jsonl").write_text(CASE, encoding="utf-8")
    (tmp_path / "o.jsonl").write_text(SEEN, encoding="utf-8")
    files = ["--golden", str(tmp_path / "g.jsonl"), "--outputs", str(tmp_path / "o.jsonl")]
    assert main(["score", *files, "--run-dir", str(tmp_path / "run")]) == 0
    return tmp_path / "run"


@pytest.mark.slow
@pytest.mark.parametrize("file", ["golden.jsonl", "observations.jsonl", "manifest.json"])
def test_no_report_is_written_over_what_a_run_is_scored_from(run: Path, file: str) -> None:
    target, before = str(run / file), (run / file).read_bytes()
    assert 2 == main(["report", str(run), "--json", target])
    assert 2 == main(["baseline", "save", str(run), "--out", target])
    assert 2 == main(["compare", str(run), str(run), "--json-report", target])
    assert before == (run / file).read_bytes()


def test_report_does_not_overwrite_the_baseline_it_is_compared_with(run: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "baseline.json")
    assert 0 == main(["baseline", "save", str(run), "--out", kept])
    files = ["--golden", str(tmp_path / "g.jsonl"), "--outputs", str(tmp_path / "o.jsonl")]
    assert 2 == main(["score", *files, "--baseline", kept, "--json-report", kept])
    assert 2 == main(["report", str(run), "--baseline", kept, "--json", kept])
    assert 2 == main(["baseline", "show", str(run)])


def test_a_run_whose_golden_set_was_edited_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = run / "golden.jsonl"
    golden.write_text(golden.read_text(encoding="utf-8").replace("Q?", "Another?"), encoding="utf-8")
    assert 2 == main(["gate", "check", str(run), "--profile", "general"])
    assert 2 == main(["report", str(run), "--junit", str(run / "junit.xml")])
    assert "is not the golden set that the run was made with" in capsys.readouterr().err


@pytest.mark.parametrize("searches", [("bm25", "vector"), ("vector", "bm25")])
def test_loss_is_not_attributed_to_a_search_if_another_found_the_evidence_and_no_merge_is_reported(
    searches: tuple[str, str],
) -> None:
    finds, misses = searches
    attribution = blamed(
        case(),
        seen(
            stage(finds, "leave", "sick"),
            stage(misses, "sick", "office"),
            stage("context", "sick", "office"),
            answer=BAD,
        ),
    )
    assert ("insufficient_trace", None, ("hybrid_merge",)) == (attribution.cause, attribution.stage, attribution.also)


def test_access_is_not_the_cause_if_the_search_returns_nothing_in_the_whole_run() -> None:
    nothing = seen(stage("dense"), stage("context"), answer=BAD)
    assert "insufficient_trace" == blamed(case(), nothing).cause
    others = [seen(stage("dense", "office"), stage("context", "office"))]
    assert "embedding" == blamed(case(), nothing, others=others).cause  # the same user was served elsewhere
