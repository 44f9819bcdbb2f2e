"""Attributions of whole runs: read once, in every report, and the same whether a clean pass was read again or not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.schema_check import load_schema, violations
from tests.runs.scoring import HANDBOOK

from assay import api
from assay.attribution import attribute_run
from assay.cli import main
from assay.records.findings import Attribution
from assay.records.golden_set import Case, Evidence, GoldenSet, Rubric
from assay.records.observations import Chunk, Observation, Stage
from assay.report.findings import collect_findings
from assay.report.findings.collect_findings import (
    attribute_all_configs,
    attribute_small_failures,
    attribute_small_run,
)
from assay.report.screen.run_summary import render_run_summary
from assay.runs.rescore_run import open_run
from assay.runs.score_result import ScoreResult
from assay.scoring.attribution_settings import AttributionSettings
from assay.scoring.scored_run import ScoredRun

pytestmark = pytest.mark.slow

INPUTS = [
    *("--golden", str(HANDBOOK / "golden/handbook.jsonl")),
    *("--outputs", str(HANDBOOK / "outputs/vector-only.jsonl"), str(HANDBOOK / "outputs/hybrid-rerank.jsonl")),
    *("--corpus", str(HANDBOOK / "corpus/chunks.jsonl")),
]


@pytest.fixture(scope="module")
def handbook() -> ScoredRun:
    return api.score(
        api.load_golden(HANDBOOK / "golden/handbook.jsonl"),
        api.load_observations(HANDBOOK / "outputs/vector-only.jsonl", HANDBOOK / "outputs/hybrid-rerank.jsonl"),
        corpus=api.load_corpus(HANDBOOK / "corpus/chunks.jsonl"),
    ).run


def test_every_case_has_one_attribution_in_golden_order(handbook: ScoredRun) -> None:
    for config in ("vector-only", "hybrid-rerank"):
        by_case = attribute_run.attribute_run(handbook, config)
        assert [case.id for case in handbook.golden.cases] == list(by_case)
        assert by_case is attribute_run.attribute_run(handbook, config)


@pytest.mark.parametrize(
    ("config", "case_id", "cause", "stage"),
    [
        ("hybrid-rerank", "hr_leave_002", "reranker", "reranked"),
        ("vector-only", "version_002", "stale_index", "index"),
        ("vector-only", "acl_001", "acl", "retrieved"),
        ("vector-only", "redteam_001", "generator", "generate"),
        ("vector-only", "no_answer_001", "generator", "generate"),
    ],
)
def test_the_failures_of_the_handbook_are_those_on_its_documentation_page(
    handbook: ScoredRun, config: str, case_id: str, cause: str, stage: str
) -> None:
    attribution = attribute_run.attribute_run(handbook, config)[case_id]
    assert (cause, stage) == (attribution.cause, attribution.stage)


def test_a_single_case_is_attributed_as_in_the_whole_run(handbook: ScoredRun) -> None:
    alone = api.score(handbook.golden, ScoreResult(handbook), corpus=handbook.corpus).run
    attribution = attribute_run.attribute_run_case(alone, "hybrid-rerank", "hr_leave_002")
    assert attribute_run.attribute_run(handbook, "hybrid-rerank")["hr_leave_002"] == attribution


def test_a_summary_needs_no_doubts_of_cases_that_failed_no_check(handbook: ScoredRun) -> None:
    run = api.score(handbook.golden, ScoreResult(handbook), corpus=handbook.corpus).run
    failures = attribute_small_failures(run)  # before the doubts are known
    everything = attribute_small_run(run)
    assert everything.keys() == failures.keys()
    doubts = 0
    for config, by_case in everything.items():
        failed = {checks.case_id for checks in run.scoring.configs[config].table.checks if checks.failed}
        for case_id, attribution in by_case.items():
            alone = failures[config][case_id]
            assert (attribution.good, attribution.reached, attribution.traces) == (
                alone.good,
                alone.reached,
                alone.traces,
            )
            assert case_id not in failed or attribution == alone
            doubts += len(attribution.also) - len(alone.also)
    assert doubts > 0
    assert render_run_summary(run.scoring, everything, {}) == render_run_summary(run.scoring, failures, {})
    assert attribute_small_failures(run) == everything  # what is known is not attributed again


def test_a_large_run_shows_the_causes_that_a_report_had_computed(
    handbook: ScoredRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect_findings, "MAX_CASES_ATTRIBUTED_FOR_SCREEN", len(handbook.golden.cases) - 1)
    run = api.score(handbook.golden, ScoreResult(handbook), corpus=handbook.corpus).run
    assert {} == attribute_small_failures(run)
    reported = attribute_all_configs(run)
    assert reported and reported == attribute_small_failures(run) == attribute_small_run(run)


def many(answers: dict[str, str]) -> ScoredRun:
    """A run of cases whose evidence was shown; the answers are by case id."""
    rubric = Rubric(correct_keywords=("12 days",))
    golden = GoldenSet(tuple(Case(n, "?", evidence=(Evidence(({"chunk_id": "a"},)),), rubric=rubric) for n in answers))
    stages = (Stage("dense", (Chunk("a"),)), Stage("context", (Chunk("a"),)))
    return api.score(golden, [Observation(n, "c", stages=stages, answer=said) for n, said in answers.items()]).run


def test_a_clean_pass_of_a_large_run_is_attributed_from_its_scores_as_from_its_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = {f"q{n}": "It is 12 days." if n % 3 else "It is 20 days." for n in range(12)}
    small = attribute_run.attribute_run(many(answers), "c")
    monkeypatch.setattr(attribute_run, "LARGE_RUN_CASES", 10)
    large = attribute_run.attribute_run(many(answers), "c")
    assert list(small) == list(large)
    assert [_essence(attribution) for attribution in small.values()] == [
        _essence(attribution) for attribution in large.values()
    ]
    assert {"pass": 8, "generation_fault": 4} == _count(large)
    assert [bool(attribution.traces) for attribution in large.values()] == [not n % 3 for n in range(12)]


@pytest.mark.parametrize(
    ("answer", "confidence"),
    [
        ("It is 12 days.", "high"),
        ("It is 12 days, and 5 of them may be taken later.", "high"),
        ("It is 12 days, to be asked for 6 weeks ahead.", "medium"),
    ],
)
def test_a_pass_with_a_value_that_nothing_expected_explains_is_less_sure(answer: str, confidence: str) -> None:
    text = "Staff get 12 days of leave; 5 days carry over."
    case = Case("a", "?", evidence=(Evidence(({"chunk_id": "x"},)),), must_have=("12 days",))
    chunks = (Chunk("x", text=text), Chunk("y", text="A room is booked 6 weeks ahead."))
    stages = (Stage("dense", chunks), Stage("context", chunks))
    run = api.score(GoldenSet((case,)), [Observation("a", "c", stages=stages, answer=answer)]).run
    found = attribute_run.attribute_run(run, "c")["a"]
    assert (found.verdict, found.confidence) == ("pass", confidence)
    assert any("6 weeks" in reason for reason in found.evidence) == (confidence == "medium")


def _essence(found: Attribution) -> tuple[object, ...]:
    return found.verdict, found.cause, found.good, found.reached, found.signal, found.confidence


def _count(found: dict[str, Attribution]) -> dict[str, int]:
    verdicts = [each.verdict for each in found.values()]
    return {verdict: verdicts.count(verdict) for verdict in verdicts}


def test_a_case_without_output_is_attributed_too() -> None:
    golden = GoldenSet((Case("a", "?"), Case("b", "?")))
    run = api.score(golden, [Observation("a", "c", answer="Yes.")]).run
    assert "insufficient_trace" == attribute_run.attribute_run(run, "c")["b"].cause


def test_of_repeated_observations_the_one_that_is_read_is_attributed() -> None:
    """The first repeat is bad and the second good: the folded scores are neither."""
    case = Case("a", "?", evidence=(Evidence(({"chunk_id": "x"},)),), rubric=Rubric(correct_keywords=("12 days",)))
    stages = (Stage("dense", (Chunk("x"),)), Stage("context", (Chunk("x"),)))
    answers = ("I could not find that.", "It is 12 days.")
    observations = [Observation("a", "c", repeat, stages=stages, answer=text) for repeat, text in enumerate(answers)]
    attribution = attribute_run.attribute_run(api.score(GoldenSet((case,)), observations).run, "c")["a"]
    assert ("refusal_fault", "generator") == (attribution.verdict, attribution.cause)


# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reports_show_the_attribution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    main(["score", *INPUTS, "--json-report", str(tmp_path / "r.json"), "--report", str(tmp_path / "r.md")])
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    schema = load_schema("report")
    assert [] == violations(report, schema, schema)
    attributions = report["configs"]["hybrid-rerank"]["attributions"]
    assert 41 == len(attributions)
    assert {
        "verdict": "retrieval_fault",
        "cause": "reranker",
        "happened": "the reranker ranked the right passage too low",
        "stage": "reranked",
        "evidence": ["hr_leave_policy:v2026-01:004 has rank 2 in retrieved; in reranked it falls to rank 7"],
        "confidence": "high",
        "subcause": "ranked_below_cut_off",
        "also": [],
        "record": [],
    } == attributions["hr_leave_002"]
    outcomes = report["configs"]["hybrid-rerank"]["outcomes"]
    assert 41 == sum(outcomes.values())
    screen = capsys.readouterr().out
    cells = ("reached_good", "reached_bad", "not_reached_good", "not_reached_bad", "no_cell")
    reached_good, reached_bad, lost_good, lost_bad, no_cell = (outcomes[cell] for cell in cells)
    counted = (
        f"hybrid-rerank: {reached_good} good, {reached_bad} bad; without it: {lost_good} good, {lost_bad} bad; "
        f"not counted: {no_cell}"
    )
    assert counted in " ".join(screen.split())
    page = (tmp_path / "r.md").read_text(encoding="utf-8")
    for heading in ("## Attribution", "### Root causes", "### Causes by tag"):
        assert f"\n{heading}\n" in page
    (row,) = (line for line in page.splitlines() if line.startswith("| hybrid-rerank | hr_leave_002 | Tôi"))
    fix = "another reranking model or prompt; train it on pairs; rerank more candidates"
    assert f"| context_miss | the reranker ranked the right passage too low (reranker) | {fix} |" in row


def test_a_case_is_explained_with_its_evidence_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["explain", "hr_leave_002", "--verbose", "--config", "hybrid-rerank", *INPUTS])
    page = capsys.readouterr().out
    verdict = "retrieval fault: reranker (ranked below cut off) at reranked, high confidence"
    assert verdict in " ".join(page.split())  # it may take two lines
    (walked,) = (line.split() for line in page.splitlines() if line.startswith("  hr_leave_policy:v2026-01:004  3"))
    assert ["hr_leave_policy:v2026-01:004", "3", "2", "7", "-", "reranked"] == walked


def test_missing_and_extra_files_are_shown_with_the_case_and_in_the_failed_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The case lists two files; one of them and another one came back, and the answer was refused, so it failed."""
    units = [{"any_of": [{"path": name}]} for name in ("src/a.py", "src/b.py")]
    golden, outputs = tmp_path / "golden.jsonl", tmp_path / "outputs.jsonl"
    golden.write_text(json.dumps({"id": "q", "question": "Where?", "evidence": units, "symbols": ["run"]}) + "\n")
    chunks = [{"chunk_id": name, "metadata": {"path": name}, "text": "def go(): ..."} for name in ("src/a.py", "c.py")]
    row = {"case_id": "q", "config_id": "c", "stages": [{"name": "retrieved", "chunks": chunks}], "answer": ""}
    outputs.write_text(json.dumps(row) + "\n")
    inputs = ["--golden", str(golden), "--outputs", str(outputs), "--golden-format", "assay"]
    main(["explain", "q", *inputs])
    page = capsys.readouterr().out
    for said in ("missing files: src/b.py", "extra files: c.py", "missing symbols: run"):
        assert said in page
    main(["score", *inputs, "--report", str(tmp_path / "r.md")])
    assert "c, q: missing files: src/b.py" in (tmp_path / "r.md").read_text(encoding="utf-8").replace("\\", "")


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_makes_an_answer_good_can_be_named_with_its_threshold(tmp_path: Path) -> None:
    """Half of the answer's keywords are there: bad for keywords>=1, good for keywords>=0.5; kept in the run folder."""
    row = {"id": "q", "question": "?", "expected_chunk_ids": ["a"], "rubric": {"correct_keywords": ["x", "y"]}}
    stages = [{"name": name, "chunks": [{"chunk_id": "a"}]} for name in ("dense", "context")]
    trace = {"case_id": "q", "config_id": "c", "answer": "It is x.", "stages": stages}
    inputs = ["--golden", str(tmp_path / "g.jsonl"), "--outputs", str(tmp_path / "o.jsonl")]
    (tmp_path / "g.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "o.jsonl").write_text(json.dumps(trace) + "\n")
    for good, verdict in (("keywords>=1", "generation_fault"), ("keywords>=0.5", "pass"), ("auto", "pass")):
        folder = tmp_path / good.replace(">=", "")
        main(["score", *inputs, "--good", good, "--run-dir", str(folder)])
        with open_run(folder) as run:
            attribution = attribute_run.attribute_run(run, "c")["q"]
        assert verdict == attribution.verdict
        assert ("keywords" if good == "auto" else good.replace(">=", " ≥ ")) == attribution.signal


@pytest.mark.parametrize("good", ["keywords", "keywords>=", "keywords>=x", ">=1", "nonsense>=1", "keywords<=1", ""])
def test_a_signal_that_cannot_be_read_is_bad_input(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["score", *INPUTS, "--good", good])
    assert capsys.readouterr().err


def test_production_k_decides_what_reached_where_no_context_is_reported() -> None:
    """Without a context stage the evidence, third of the last ranking, reached at k = 3 and not at k = 2."""
    golden = GoldenSet((Case("q", "?", evidence=(Evidence(({"chunk_id": "c"},)),)),))
    observations = [Observation("q", "c", stages=(Stage("dense", tuple(map(Chunk, "abc"))),), answer="Yes.")]
    reached = []
    for k in (3, 2):
        run = api.score(golden, observations).run
        run.attribution = AttributionSettings(production_k=k)
        reached.append(attribute_run.attribute_run(run, "c")["q"].reached)
    assert [True, False] == reached
