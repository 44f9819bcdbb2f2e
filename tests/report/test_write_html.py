"""What a run gives to its HTML report: the order of whole cases, times of steps, claims and votes."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection

import pytest
from msgspec import structs
from tests.metrics.rubrics import RUBRICS

from assay.metrics import parsed_answer
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import parse_metric
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.scorers import collect_requests
from assay.records.findings import CaseChange, Comparison, ComparisonSide
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage, Usage
from assay.records.requests import ReportFiles, ScoreRequest, ScoringOptions
from assay.records.verdicts import ItemVerdict, Verdict
from assay.report.cases.explain_case import build_explanation
from assay.report.page import html_page
from assay.report.page.case_data import CaseDetail, HtmlData, Json, build_case_detail
from assay.report.page.write_html import (
    collect_claims,
    collect_verdicts,
    iterate_case_details,
    measure_step_times,
    shuffle_cases,
)
from assay.report.wording.pipeline_order import order_steps
from assay.report.write_reports import iterate_html
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_run import score_observations
from assay.scoring.scored_run import ScoredRun
from assay.text.claims.claim_segments import Claim, segment_claims

LEAVE = "Staff get 12 days of paid leave every year after the first."
ANSWER = "Staff get 12 days of paid leave every year. The moon is made of green cheese."
FAITHFUL = parse_metric("faithfulness(by=judge)")


def observation_of(case_id: str, chunk: str = "a") -> Observation:
    """An output that found `chunk`, in 10 ms and a tenth of a second in all."""
    stages = (Stage("retrieved", (Chunk(chunk),), 10.0),)
    return Observation(case_id, "c", stages=stages, usage=Usage(100.0, {"generate": 50.0}))


def run() -> ScoredRun:
    """Six cases: b fails, d leaks, f is missing."""
    evidence = Evidence(({"chunk_id": "a"},))
    cases = [Case(case_id, "?", evidence=(evidence,)) for case_id in "abcdef"]
    cases[3] = structs.replace(cases[3], forbidden=({"chunk_id": "z"},))
    request = ScoreRequest(scoring=ScoringOptions(metrics=("recall@10",)))
    inputs = ScoreInputs.from_golden(GoldenSet(tuple(cases)), request)
    return score_observations(
        inputs,
        [
            observation_of("a"),
            observation_of("b", "x"),
            observation_of("c"),
            observation_of("d", "z"),
            observation_of("e"),
        ],
    )


def test_whole_cases_begin_with_leaks_and_failures_and_end_with_a_sample_of_the_rest() -> None:
    scored = run()
    order = shuffle_cases(scored)
    places = [detail.case_index for detail in iterate_case_details(scored, order, None)]
    assert [3, 1, 5] == places[:3]
    assert [place for place in order if place in (0, 2, 4)] == places[3:]


def test_what_changed_comes_before_what_is_missing() -> None:
    scored, side = run(), ComparisonSide("s", "c", "sha256:0", 6)
    change = CaseChange("e", None, None, improved=("recall@10",))
    comparison = Comparison(side, side, {}, cases=(change, CaseChange("gone", None, None, ("recall@10",))))
    assert [3, 1, 4, 5] == [
        detail.case_index for detail in iterate_case_details(scored, shuffle_cases(scored), comparison)
    ][:4]


def test_the_sample_depends_on_the_golden_set_alone() -> None:
    assert shuffle_cases(run()) == shuffle_cases(run())
    assert sorted(shuffle_cases(run())) == list(range(6))


def test_steps_are_timed_with_the_whole_last() -> None:
    scored = run()
    times = measure_step_times(scored, shuffle_cases(scored))
    assert [("retrieved", 10.0, 10.0, 5), ("generate", 50.0, 50.0, 5), ("end_to_end", 100.0, 100.0, 5)] == [
        (step_time.step, step_time.p50, step_time.p95, step_time.n) for step_time in times
    ]


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [
        (["answer", "bm25", "embed_query", "rerank", "vector"], ["embed_query", "bm25", "vector", "rerank", "answer"]),
        (["generate", "prompt", "retrieve"], ["retrieve", "prompt", "generate"]),  # as a file sorts them
        (["one", "two", "three"], ["one", "two", "three"]),  # names that tell nothing
        (["search", "cache", "llm", "citation_check"], ["search", "cache", "llm", "citation_check"]),
    ],
)
def test_steps_are_shown_in_the_order_of_a_pipeline(recorded: list[str], shown: list[str]) -> None:
    assert shown == order_steps(recorded)


def answered(judging: RecordedVerdicts | None = None, answer: str | None = ANSWER) -> tuple[GoldenIndex, Observation]:
    """An answer whose first sentence is in its context, and the second is not."""
    context = Stage("context", (Chunk("leave", text=LEAVE),))
    joins = GoldenIndex(GoldenSet((Case("q", "How much leave?", reference=LEAVE),)), judging=judging)
    return joins, Observation("q", "c", stages=(context,), answer=answer)


def test_without_verdicts_rules_say_what_they_hold_of_each_claim() -> None:
    joins, observation = answered()
    first, second = collect_claims(joins.case_index(0), observation)
    assert ("Staff get 12 days of paid leave every year.", "rules") == (first.text, first.by)
    assert ("leave", LEAVE.removesuffix(".")) == (first.source, first.quote)
    assert "The moon is made of green cheese." == second.text
    assert "supported" != second.state
    assert () == collect_verdicts(joins.case_index(0), observation, [FAITHFUL])


def test_recorded_verdicts_decide_claims_and_every_vote_is_kept() -> None:
    joins, observation = answered()
    (request,) = collect_requests(joins.case_index(0), observation, [FAITHFUL], RUBRICS)
    items = (
        ItemVerdict("c1", "supported", "it says so", "12 days of paid leave", "leave"),
        ItemVerdict("c2", "not_found", "nowhere"),
    )
    votes = tuple(Verdict(request.digest, "sha256:j", sample, "support", items) for sample in range(3))
    joins, observation = answered(RecordedVerdicts(RUBRICS, {request.digest: votes}, "sha256:j"))
    first, second = collect_claims(joins.case_index(0), observation)
    assert ("supported", "judge", "it says so", "12 days of paid leave") == (
        first.state,
        first.by,
        first.reasoning,
        first.quote,
    )
    assert ("unsupported", "nowhere", None) == (second.state, second.reasoning, second.quote)
    assert votes == collect_verdicts(
        joins.case_index(0), observation, [FAITHFUL, parse_metric("unsupported_claims(by=judge)")]
    )


def test_without_an_answer_there_are_no_claims() -> None:
    for answer in (None, "", "I cannot answer that from the documents."):
        joins, observation = answered(answer=answer)
        assert () == collect_claims(joins.case_index(0), observation)


def test_by_rules_a_claim_that_is_not_found_is_unknown_until_calibrated_and_the_sentence_it_was_compared_with() -> None:
    """The quotation is cut from the composed text, in which the rules counted."""
    source = unicodedata.normalize(
        "NFD", "Trả lời: nhân viên được nghỉ 12 ngày phép năm. Tối đa 5 ngày được chuyển tiếp."
    )
    answer = (
        "Nhân viên được nghỉ 15 ngày phép năm. Ngày nghỉ được chuyển tiếp tối đa khi quản lý cho phép. Canteen mở cửa."
    )
    joins = GoldenIndex(GoldenSet((Case("a", "?"),)))
    stage = Stage("context", (Chunk("vn", text=source),))
    claims = collect_claims(joins.case_index(0), Observation("a", "c", answer=answer, stages=(stage,)))
    assert ["contradicted", "unknown", "unknown"] == [claim.state for claim in claims]
    assert '"15 ngày" where the source has "12 ngày"; in no source: 15 ngày' == claims[0].reasoning
    assert "Trả lời: nhân viên được nghỉ 12 ngày phép năm" == claims[0].quote


def test_an_answer_is_read_once_for_the_explanations_of_all_its_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = (Stage("retrieved", (Chunk("a", text=LEAVE),)), Stage("context", (Chunk("a", text=LEAVE),)))
    observation = Observation("q", "c", stages=stages, answer=ANSWER, citations=("a",))
    golden = GoldenSet((Case("q", "How much leave?", reference=LEAVE, evidence=(Evidence(({"chunk_id": "a"},)),)),))
    scored = score_observations(ScoreInputs.from_golden(golden, ScoreRequest()), [observation])
    answers_read = []

    def segment(answer: str, citation_ids: Collection[str] = ()) -> tuple[Claim, ...]:
        answers_read.append(answer)
        return segment_claims(answer, citation_ids)

    monkeypatch.setattr(parsed_answer, "segment_claims", segment)
    explanation = build_explanation(scored, scored.joins, 0, "c", None)
    scored_lines = {line.metric for line in explanation.scores if line.value is not None}
    assert {"faithfulness(by=rules)", "citation_support(by=rules)", "claim_citation_coverage"} <= scored_lines
    assert answers_read == [ANSWER]


def test_every_whole_case_is_built_once_for_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    built = Counter[int]()

    def build(detail: CaseDetail, data: HtmlData) -> Json:
        built[detail.case_index] += 1
        return build_case_detail(detail, data)

    monkeypatch.setattr(html_page, "build_case_detail", build)
    assert len(b"".join(iterate_html(run(), ReportFiles(html="report.html")))) > 100_000
    assert built == Counter(range(6))
