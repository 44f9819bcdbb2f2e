"""A report for tests: each case has one given text in every field that can hold text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.records.findings import (
    Attribution,
    CaseChange,
    Comparison,
    ComparisonSide,
    EvidenceTrace,
    MetricChange,
    RankMove,
)
from assay.records.golden_set import Case, Evidence, Rubric, Turn, User
from assay.records.observations import Chunk, Observation, Stage, TargetError, ToolCall, Usage
from assay.records.release_gates import Decision, Gate, Rule, RuleResult
from assay.records.scores import (
    CaseChecks,
    ConfigResult,
    GoldenInfo,
    InputFile,
    Interval,
    ScoreColumn,
    ScoreTable,
    ScoringResult,
    Summary,
)
from assay.records.verdicts import ItemVerdict, Verdict
from assay.report.cases.full_case import CitationMark, Explanation, RankedChunk, RankedStage, ScoreLine
from assay.report.page.case_data import CaseDetail, CaseView, ClaimView, HtmlData, StepTime

METRICS = ("recall@10", "rr@10", "behaviour", "latency_ms")


def case(text: str, index: int) -> Case:
    """Return a case with `text` in every field."""
    return Case(
        id=f"{text}{index}",
        question=f"{text} question",
        also_accept=("abstain",),
        reference=text,
        must_have=(text,),
        rubric=Rubric((text,)),
        evidence=(Evidence(({text: text, "chunk_id": text},), reason=text, quote=f"{text} quote", kind=text),),
        must_cite=(text,),
        forbidden=({"document": text},),
        user=User(tenant=text, roles=(text,), locale=text, id=text),
        tags=(text, "even" if index % 2 == 0 else "odd"),
        language=text,
        history=(Turn("user", text),),
        attributes={text: text},
        notes=text,
        metadata={text: {text: [text]}},
    )


def view(golden_case: Case, config: str, text: str, kind: int) -> CaseView:
    """Return a case in one configuration: with claims and votes (`kind` 0), an error (1), or without output (2)."""
    if kind == 2:
        return CaseView(Explanation(golden_case, config, None, checks=CaseChecks(golden_case.id, (text,))))
    chunks = (
        RankedChunk(1, text, 0.5, 3, 1, (), f"before {text} quote after"),
        RankedChunk(2, f"{text}2", None, None, 0, ("stale", text), text),
        RankedChunk(3, f"{text}3", 0.1, 0, 0, ("forbidden",), f"secret of {text}"),
    )
    observed = Observation(
        golden_case.id,
        config,
        query_rewrite=text,
        stages=(Stage(text, (Chunk(text),)),),
        answer=f"First {text}. Second {text}! {text} quote",
        citations=(text,),
        tool_calls=(ToolCall(text, error=text),),
        usage=Usage(12.5, {text: 3.0}, 10),
        versions={text: text},
        error=TargetError(text, text) if kind == 1 else None,
    )
    explanation = Explanation(
        golden_case,
        config,
        observed,
        (RankedStage(text, chunks, 3.0), RankedStage("rerank", ())),
        chunks[:2],
        (CitationMark(text, True, False, None),),
        (ScoreLine("recall@10", 0.5, reason=text), ScoreLine("rr@10", None, "error", "no observation")),
        checks=CaseChecks(golden_case.id, (text, "wrong_answer"), (text,)),
    )
    claims = (
        ClaimView(f"First {text}.", "supported", "judge", text, f"{text} quote", text),
        ClaimView(f"Second {text}!", "contradicted", "rules", text),
        ClaimView("never said", "unsupported", text),
    )
    votes = (
        Verdict(
            "sha256:1", "sha256:2", 0, text, (ItemVerdict(text, text, text, text, text),), model=text, flags=(text,)
        ),
        Verdict("sha256:1", "sha256:2", 1, text, unscored="quote", message=text),
    )
    return CaseView(explanation, claims, votes)


def attribution(golden_case: Case, text: str, cause: str = "reranker") -> Attribution:
    """Return an attribution with `text` in every field."""
    traces = (EvidenceTrace(0, text, 3, True, {"retrieved": 2, text: None, "context": None}, text),)
    return Attribution(
        golden_case.id,
        "retrieval_fault",
        cause,  # type: ignore[arg-type]
        text,
        text,
        (text, text),
        "high",
        text,
        text,
        False,
        False,
        text,
        traces,
        ("judge_noise",),
    )


def _column(metric: str, texts: Sequence[str]) -> ScoreColumn:
    size = len(texts)
    status = np.array([row % 3 for row in range(size)], dtype=np.uint8)
    reason = np.array([row + 1 if row % 3 else 0 for row in range(size)], dtype=np.uint16)
    return ScoreColumn(metric, np.linspace(0, 1, size), status, reason, ("", *texts))


def _summary(metric: str, text: str, slice_name: str = "all") -> Summary:
    bounds = Interval(0.4, 0.8, "Wilson", note=text)
    return Summary(metric, slice_name, "mean", 0.6, 0.6, 0.5, bounds, 12, 3, 2, (text,))


def _change(metric: str, cases: Sequence[Case], text: str) -> MetricChange:
    ids = [golden_case.id for golden_case in cases]
    return MetricChange(
        metric, None, 0.5, 0.4, -0.1, -0.2, 0.05, 0.04, 0.2, text, len(ids), *_thirds(ids), (text,), 0.08, text
    )


def _thirds(ids: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    return tuple(ids[0::3]), tuple(ids[1::3]), tuple(ids[2::3])


def comparison(cases: Sequence[Case], texts: Sequence[str], decision: Decision) -> Comparison:
    """Return a comparison: a third of the cases got better, a third worse; evidence moved or was lost."""
    first = texts[0]
    side = ComparisonSide(first, first, first, len(cases), {first: (first, first)}, first)
    moves = [
        RankMove(
            golden_case.id, 0, text, first if index % 2 else "retrieved", index % 12 + 1, None if index % 4 == 0 else 1
        )
        for index, (golden_case, text) in enumerate(zip(cases, texts, strict=True))
    ]
    changes = [
        CaseChange(
            golden_case.id,
            None,
            None,
            ("recall@10",) if index % 3 == 0 else (),
            ("recall@10",) if index % 3 == 1 else (),
        )
        for index, golden_case in enumerate(cases)
    ]
    metrics = {metric: _change(metric, cases, first) for metric in METRICS}
    return Comparison(
        side,
        side,
        metrics,
        {first: metrics},
        tuple(moves),
        tuple(changes),
        ((first, "reranker", 3),),
        tuple(texts[:5]),
        tuple(texts[:5]),
        decision,
        (first,),
    )


def _result(config: str, cases: Sequence[Case], texts: Sequence[str], decision: Decision) -> ConfigResult:
    """Every third case passed, failed or leaked; the last is missing."""
    first = texts[0]
    checks = [
        CaseChecks(golden_case.id, (text, "leak")[: index % 3], (text,))
        for index, (golden_case, text) in enumerate(zip(cases, texts, strict=True))
    ]
    table = ScoreTable(
        config,
        tuple(golden_case.id for golden_case in cases),
        {metric: _column(metric, texts) for metric in METRICS},
        (cases[-1].id,),
        tuple(checks),
        versions={first: (first, first)},
        notes=(first,),
    )
    slices = {f"tag={text}": {metric: _summary(metric, text, text) for metric in METRICS} for text in texts}
    return ConfigResult(table, {metric: _summary(metric, first) for metric in METRICS}, slices, decision)


def world(texts: Sequence[str], detail_mb: float = 25.0, *, show_forbidden: bool = False) -> HtmlData:
    """Return a report with one case for each text, under two configurations named after the first text."""
    cases = tuple(case(text, index) for index, text in enumerate(texts))
    first = texts[0]
    configs = (first, f"{first}2")
    rule = Rule("recall@10", at_least=0.9, slice=first, reason=first)
    rule_result = RuleResult(
        rule, "fail", 0.6, 12, f"recall@10 {first}", cases=tuple(golden_case.id for golden_case in cases), waived=first
    )
    decision = Decision("FAIL", tuple(texts), (rule_result,))
    results = {config: _result(config, cases, texts, decision) for config in configs}
    details = [
        CaseDetail(
            index,
            {config: view(golden_case, config, text, (index + shift) % 3) for shift, config in enumerate(configs)},
        )
        for index, (golden_case, text) in enumerate(zip(cases, texts, strict=True))
    ]
    scoring = ScoringResult(
        GoldenInfo(first, first, first, len(cases)),
        results,
        decision,
        (InputFile(first, first, 3, configs),),
        Gate((rule,), name=first),
        dict.fromkeys(configs, first),
        tuple(texts),
        first,
    )
    return HtmlData(
        scoring,
        cases,
        details,
        {
            config: {
                golden_case.id: attribution(golden_case, text) for golden_case, text in zip(cases, texts, strict=True)
            }
            for config in configs
        },
        comparison(cases, texts, decision),
        [StepTime(config, first, 3.0, 9.0, 12) for config in configs],
        first,
        first,
        first,
        detail_mb,
        show_forbidden,
    )
