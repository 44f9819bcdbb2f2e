"""Invalid judges, uncalibrated scorers in gates, and large judging requests: one small case for each past defect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from msgspec import structs
from msgspec.structs import replace
from tests.cli.judging import METRICS, NAMED, judging
from tests.comparison.sides import side
from tests.runs.judged import JUDGE as JUDGE_1
from tests.runs.judged import World, read_summary
from tests.support.judge_server import JudgeServer
from tests.support.verdicts import JUDGE

from assay.cli import main
from assay.cli.judge import _status_lines
from assay.gates.release_decision import decide_release
from assay.judging.collect_questions import JudgeQuestions
from assay.judging.control_questions import list_possible_controls
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_files import StoreContents, encode_lines, read_export
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import parse_metric
from assay.metrics.grounding.citation_support import score_citation_support
from assay.metrics.parsed_answer import ParsedAnswer
from assay.metrics.scorers import collect_requests
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.records.release_gates import Decision, Gate, Rule
from assay.records.scores import SCORED
from assay.records.verdicts import JudgeStatus

INVALID = JudgeStatus(JUDGE.digest, 8, 1.0, 20, 0.5, invalid=True, reasons=("controls colon_answer: mean 1.00",))
VALID = JudgeStatus(JUDGE.digest, 0, None, 20, 0.9)


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


def judge(*more: str) -> int:
    return main(["judge", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *NAMED, *METRICS, *more])


def test_judge_that_failed_its_controls_stays_invalid_when_fewer_cases_are_judged(server: JudgeServer) -> None:
    """One case alone gives no controls; the server passes everything, so with more cases it fails them."""
    server.answer = JudgeServer().answer
    assert 1 == judge("--votes", "1")
    (before,) = read_store("verdicts.sqlite").statuses.values()
    assert 1 == judge("--votes", "1", "--only", "case:c1")
    (after,) = read_store("verdicts.sqlite").statuses.values()
    assert before.invalid
    assert before == replace(after, at=before.at)


def test_a_judge_with_most_of_few_anchors_wrong_has_not_passed_its_controls(tmp_path: Path) -> None:
    """21 controls with a low mean and 2 of 5 anchors as expected were "passed", and the scores said nothing."""
    doubtful = JudgeStatus(JUDGE_1.digest, 21, 0.1, 5, 0.4, anchors_unasked=15)
    assert _status_lines(doubtful)[0].startswith("anchors NOT PASSED yet")
    assert "controls passed: " in _status_lines(replace(doubtful, anchors=20, anchors_right=0.9, anchors_unasked=0))[0]
    world = World(tmp_path)
    contents = world.contents(JUDGE_1)
    contents.statuses[JUDGE_1.digest] = doubtful
    _, _, report = world.score(world.export(contents))
    assert any("E_JUDGE_DOUBTFUL" in warning and "40% of anchors" in warning for warning in report["warnings"])


@pytest.mark.slow
def test_what_comes_after_judging_a_run_is_a_command_that_works(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "run"])
    assert 0 == main(["judge", "--run", "run", *NAMED, *METRICS, "--votes", "1"])
    (following,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next: assay report")]
    assert 0 == main(following.split()[2:])
    assert "faithfulness(by=judge)" in Path("run/report.md").read_text(encoding="utf-8")


def test_unreachable_endpoint_is_reported_as_such(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("THE_JUDGE", "http://127.0.0.1:9")
    assert 3 == judge("--attempts", "1")
    assert "samples: provider, such as unreachable: " in capsys.readouterr().err


@pytest.mark.parametrize("same", ["question", "cluster", ""])
def test_an_honest_judge_is_not_made_invalid_by_questions_that_have_the_same_answer(same: str) -> None:
    """The answer to a question asked again, or put in other words, is no wrong answer to it."""
    questions = ["How many days?", "how many  DAYS?" if same == "question" else "What is the allowance?"]
    cases = tuple(
        Case(f"q{n}", each, cluster="leave" if same == "cluster" else None) for n, each in enumerate(questions)
    )
    observations = [Observation("q0", answer="It is 12 days."), Observation("q1", answer="Twelve days, in all.")]
    name = parse_metric("answer_relevance(by=judge)")
    asking = JudgeQuestions(GoldenSet(cases), None, load_rubrics(), [name], observations)
    controls = list_possible_controls(asking.find_requests({}), asking.subjects_of, asking.rubrics)
    assert (0 if same else 2) == sum(control.kind == "swapped_answer" for control in controls)


def test_requests_that_a_halted_judging_never_asked_count_as_unscored(tmp_path: Path) -> None:
    """One of two answers has a verdict (the third refuses); the other was left out, and the rate read 0."""
    world = World(tmp_path)
    first, *_ = world.requests([parse_metric("faithfulness(by=judge)")])
    contents = world.contents(JUDGE_1, but=lambda each: each.digest != first.digest)
    report = world.score(world.export(contents), "--metrics", "faithfulness(by=judge),judge_unscored")[2]
    found = read_summary(report, "faithfulness(by=judge)")
    assert (None, 1) == (found["value"], found["scored"])  # one of two is too little to be a measurement
    assert 0.5 == read_summary(report, "judge_unscored")["value"]


def test_invalid_judge_stays_invalid_after_a_later_valid_status(tmp_path: Path) -> None:
    with SqliteVerdictStore(tmp_path / "book.sqlite") as store:
        store.register_judge(JUDGE)
        assert INVALID == store.record_status(INVALID)
        assert replace(INVALID, anchors_right=0.9) == store.record_status(VALID)
        assert replace(INVALID, anchors_right=0.9) == store.load_contents().statuses[JUDGE.digest]


def test_valid_status_added_to_an_export_does_not_hide_an_invalid_one(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    lines = [
        line
        for each in (INVALID, VALID)
        for line in encode_lines(StoreContents([JUDGE], statuses={JUDGE.digest: each}))
    ]
    path.write_bytes(b"".join(lines))
    assert read_export(path).statuses[JUDGE.digest].invalid


def gated(rule: Rule, scores: list[float], baseline: list[float] | None = None) -> Decision:
    """Evaluate one rule on scores that are uncalibrated in the baseline, else in the candidate."""
    table, cases = side({rule.metric: scores}).table, side({rule.metric: scores}).cases
    raw = (rule.metric,)
    if baseline is None:
        return decide_release(
            Gate(rules=(rule,), zero_tolerance_tags=()), structs.replace(table, uncalibrated=raw), cases
        )
    before = structs.replace(side({rule.metric: baseline}).table, uncalibrated=raw)
    return decide_release(Gate(rules=(rule,), zero_tolerance_tags=()), table, cases, baseline=before)


@pytest.mark.parametrize(("unmeasured", "outcome"), [("fail", "FAIL"), ("risk", "PASS_WITH_RISK")])
def test_uncalibrated_scorer_does_not_disable_a_rule_without_cases(unmeasured: Any, outcome: str) -> None:
    """A misspelt tag fails whatever the metric, unless the rule itself calls what is not measured a risk."""
    rule = Rule("faithfulness(by=rules)", at_least=0.1, slice="tag=hrr", if_unmeasured=unmeasured, uncalibrated="risk")
    assert outcome == gated(rule, [0.9] * 5).outcome
    assert "PASS_WITH_RISK" == gated(structs.replace(rule, slice=None), [0.9] * 5).outcome


@pytest.mark.parametrize("is_blocked", [False, True])
def test_a_kept_rule_on_an_uncalibrated_judge_does_not_read_as_what_blocks(is_blocked: bool) -> None:
    """Next to a rule that failed, the sentence on the kept one says that it blocks nothing."""
    columns = {"answer_relevance(by=judge)": [0.9] * 20, "recall@5": [0.0 if is_blocked else 1.0] * 20}
    world = side(columns)
    table = structs.replace(world.table, uncalibrated=("answer_relevance(by=judge)",))
    rules = (Rule("answer_relevance(by=judge)", at_least=0.5), Rule("recall@5", at_least=0.5))
    decision = decide_release(Gate(rules=rules, zero_tolerance_tags=()), table, world.cases)
    assert ("FAIL" if is_blocked else "PASS_WITH_RISK") == decision.outcome
    (kept,) = [reason for reason in decision.reasons if "answer_relevance" in reason]
    assert is_blocked == kept.startswith("blocks nothing: answer_relevance(by=judge)")
    assert is_blocked == decision.reasons[0].startswith("recall@5")
    assert kept in decision.risks


def test_probabilities_are_not_compared_with_raw_scores_of_an_uncalibrated_baseline() -> None:
    """Calibrating alone raises the number; that shows nothing about the candidate."""
    raw, probable = [0.5, 0.6, 0.4, 0.55] * 15, [0.9, 0.95, 0.85, 0.9] * 15
    by_rules = gated(Rule("faithfulness(by=rules)", max_regression=0.05, uncalibrated="risk"), probable, raw)
    by_judge = gated(Rule("faithfulness(by=judge)", max_regression=0.05), probable, raw)
    assert ["uncalibrated", "pass"] == [each.results[0].state for each in (by_rules, by_judge)]
    assert "PASS_WITH_RISK" == by_rules.outcome


def test_a_claim_with_very_many_citations_does_not_cost_the_square_of_them() -> None:
    """Each citation was compared with the claim with and without all others, which took minutes for 400."""
    names = [f"c{number}" for number in range(60)]
    chunks = tuple(Chunk(name, text=f"Employees get {name} days of leave.") for name in names)
    answer = "Employees get 12 days of leave. " + " ".join(f"[{name}]" for name in names)
    observation = Observation("q", answer=answer, stages=(Stage("context", chunks),), citations=tuple(names))
    reading = ParsedAnswer(GoldenIndex(GoldenSet((Case("q", "How many days?"),))).case_index(0), observation)
    asked = Mock(wraps=reading.support_by_chunks)
    reading.support_by_chunks = asked  # type: ignore[method-assign]
    assert SCORED == score_citation_support(reading).status
    assert [{name} for name in names] == [set(call.args[1]) for call in asked.call_args_list]


def test_citations_beyond_one_request_are_sent_with_their_own_sources_only() -> None:
    """All sources in every request were cut at the judge's limit: the last ones were empty where asked about."""
    chunks = tuple(Chunk(f"c{number}", text=f"Item {number} costs {number} dollars.") for number in range(15))
    answer = " ".join(f"Item {number} costs {number} dollars [c{number}]." for number in range(15))
    observation = Observation(
        "q", answer=answer, stages=(Stage("context", chunks),), citations=tuple(c.chunk_id for c in chunks)
    )
    case = GoldenIndex(GoldenSet((Case("q", "How much?"),))).case_index(0)
    requests = collect_requests(case, observation, [parse_metric("citation_support(by=judge)")], load_rubrics())
    shown = [[entry["id"] for entry in each.inputs["context"]] for each in requests]
    assert [[f"c{number}" for number in range(12)], ["c12", "c13", "c14"]] == shown
