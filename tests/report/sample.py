"""A small scoring with everything a report must cope with: two configurations, a leak, a case without output, hostile
ids, a metric that was not measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.records.golden_set import Case, Evidence, Rubric, User
from assay.records.observations import Chunk, Observation, Stage, Usage
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

GOOD, BAD = "hybrid-rerank", "vector-only"
SECRET = "band 7 pays 41 million"

CASES = (
    Case(
        "leave_001",
        "Nhân viên chính thức có bao nhiêu ngày nghỉ phép năm?",
        reference="12 ngày",
        must_have=("12 ngày",),
        rubric=Rubric(correct_keywords=("12 ngày",)),
        evidence=(Evidence(({"chunk_id": "leave:v1:003"},)),),
        must_cite=("leave:v1",),
        user=User(tenant="company_a", roles=("employee",), locale="vi"),
        tags=("hr", "exact"),
        difficulty="easy",
    ),
    Case(
        "leave_002",
        "PTO or sick leave:\nwhich needs a certificate?",
        evidence=(
            Evidence(({"chunk_id": "leave:v1:003"},), grade=2),
            Evidence(({"document": "leave", "section": "sick"}, {"quote": "from the third day"})),
        ),
        tags=("hr", "multi-hop"),
        difficulty="medium",
    ),
    Case(
        "pay_001",
        "What does band 7 pay?",
        behaviour="permission_denied",
        evidence=(Evidence(({"document": "pay", "quote": SECRET},)),),
        forbidden=({"chunk_id": "pay:v1:001"},),
        forbidden_text=(SECRET,),
        user=User(tenant="company_a", roles=("employee",)),
        tags=("acl",),
        difficulty="hard",
    ),
    Case("none_001", "Is there a gym?", behaviour="abstain", tags=("no-answer",)),
)
CASE_BY_ID = {case.id: case for case in CASES}
N = len(CASES)

_S, _NA, _E = 0, 1, 2


def column(metric: str, cells: list[float | str], error: str = "no observation") -> ScoreColumn:
    """Make a column of numbers and reasons; the reason `error` is an error, any other not applicable."""
    reasons = ("", *dict.fromkeys(cell for cell in cells if isinstance(cell, str)))
    state = [_S if not isinstance(cell, str) else _E if cell == error else _NA for cell in cells]
    return ScoreColumn(
        metric,
        np.array([0.0 if isinstance(cell, str) else cell for cell in cells]),
        np.array(state, dtype=np.uint8),
        np.array([reasons.index(cell) if isinstance(cell, str) else 0 for cell in cells], dtype=np.uint16),
        reasons,
    )


def summary(
    metric: str,
    cells: list[float | str],
    where: str = "",
    bounds: Interval | None = None,
    statistic: str = "mean",
    notes: tuple[str, ...] = (),
) -> Summary:
    """Summarise a column by hand: the mean, or the largest value for a percentile."""
    found = column(metric, cells)
    scored = found.values[found.status == _S]
    errors = int((found.status == _E).sum())
    mean = float(scored.mean()) if len(scored) and statistic == "mean" else None
    return Summary(
        metric=metric,
        slice=where,
        statistic=statistic,
        value=mean if statistic == "mean" else float(scored.max()) if len(scored) else None,
        mean=mean,
        mean_worst=None if mean is None else mean * len(scored) / (len(scored) + errors),
        interval=bounds,
        scored=len(scored),
        not_applicable=int((found.status == _NA).sum()),
        errors=errors,
        notes=notes,
    )


_FORBIDDEN, _NOTHING, _GONE = "evidence is forbidden to this user", "no evidence to find", "no observation"
_BLIND = "no source of truth about access"
CELLS: Mapping[str, Mapping[str, list[float | str]]] = {
    GOOD: {
        "hit@5": [1.0, 1.0, _FORBIDDEN, _NOTHING],
        "recall@10": [1.0, 1.0, _FORBIDDEN, _NOTHING],
        "rr@10": [1.0, 0.5, _FORBIDDEN, _NOTHING],
        "ndcg@10": [1.0, 0.7, _FORBIDDEN, _NOTHING],
        "context_recall": [1.0, 1.0, _FORBIDDEN, _NOTHING],
        "citation_correctness(by=rules)": [1.0, 1.0, "no citations", "no citations"],
        "behaviour": [1.0, 1.0, 1.0, 1.0],
        "keywords": [1.0, "no keywords", "no keywords", "no keywords"],
        "visibility_leaks": [_BLIND, _BLIND, 0.0, _BLIND],
        "latency_ms": [900.0, 1200.4, 300.0, 400.0],
        "cost_usd": [0.0012, 0.0013, 0.0001, 0.0002],
    },
    BAD: {
        "hit@5": [0.0, 1.0, _FORBIDDEN, _GONE],
        "recall@10": [0.0, 0.5, _FORBIDDEN, _GONE],
        "rr@10": [0.0, 0.25, _FORBIDDEN, _GONE],
        "ndcg@10": [0.0, 0.4, _FORBIDDEN, _GONE],
        "context_recall": [0.0, 0.5, _FORBIDDEN, _GONE],
        "citation_correctness(by=rules)": [0.0, 1.0, 0.0, _GONE],
        "behaviour": [1.0, 1.0, 0.0, _GONE],
        "keywords": [0.0, "no keywords", "no keywords", _GONE],
        "visibility_leaks": [_BLIND, _BLIND, 2.0, _GONE],
        "latency_ms": [700.0, 650.0, "not reported", _GONE],
        "cost_usd": ["not reported", "not reported", "not reported", _GONE],
    },
}
CHECKS = {
    GOOD: (),
    BAD: (
        CaseChecks("leave_001", ("retrieval_miss", "context_miss", "bad_citation", "wrong_answer")),
        CaseChecks("leave_002", (), ("partial_retrieval", "partial_context")),
        CaseChecks("pay_001", ("leak", "bad_citation", "wrong_behavior")),
        CaseChecks("none_001", ("missing_output",)),
    ),
}
TAGS = {"exact": [0], "hr": [0, 1], "acl": [2], "no-answer": [3]}


def table(config: str) -> ScoreTable:
    """Return the score table of one configuration."""
    return ScoreTable(
        config_id=config,
        case_ids=tuple(CASE_BY_ID),
        columns={metric: column(metric, cells) for metric, cells in CELLS[config].items()},
        missing=("none_001",) if config == BAD else (),
        checks=CHECKS[config],
        versions={"corpus": ("2026-01",), "generator": ("small-3", "small-4")} if config == BAD else {},
    )


def _interval(metric: str, config: str) -> Interval | None:
    if metric == "recall@10":
        # The good one has no variation: an interval of no width, which a report must not print as certainty.
        return Interval(0.0, 0.9, "wilson", note="few cases") if config == BAD else Interval(1.0, 1.0, "t")
    return Interval(0.2, 0.8, "t", confidence=0.9) if metric == "rr@10" else None


def result(config: str, decision: Decision | None) -> ConfigResult:
    """Return one configuration's result with overall and tag summaries."""
    cells = CELLS[config]
    overall = {
        metric: summary(metric, values, bounds=_interval(metric, config))
        for metric, values in cells.items()
        if metric != "latency_ms"
    }
    overall["latency_ms(stat=p95)"] = summary("latency_ms(stat=p95)", cells["latency_ms"], statistic="p95")
    slices = {
        f"tag={tag}": {
            metric: summary(metric, [values[row] for row in rows], f"tag={tag}") for metric, values in cells.items()
        }
        for tag, rows in TAGS.items()
    }
    return ConfigResult(table(config), overall, slices, decision)


RECALL_RULE = Rule("recall@10", at_least=0.85)
LEAK_RULE = Rule("visibility_leaks", at_most=0, zero_event=True)
JUDGED_RULE = Rule("faithfulness(by=judge)", at_least=0.9, if_unmeasured="risk", slice="tag=hr")


def scoring() -> ScoringResult:
    """Return the whole sample."""
    good = Decision(
        "PASS_WITH_RISK",
        ("faithfulness(by=judge) on tag=hr: not measured",),
        (
            RuleResult(RECALL_RULE, "pass", 1.0, 2, "recall@10 is 1.000"),
            RuleResult(LEAK_RULE, "pass", 0.0, 1, "no leak seen", upper_bound=0.95),
            RuleResult(JUDGED_RULE, "unmeasured", None, 0, "not measured"),
        ),
    )
    bad = Decision(
        "FAIL",
        ("visibility_leaks: 2 > 0 in pay_001", "recall@10: 0.250 < 0.85", "1 case without output", "p95: n < 20"),
        (
            RuleResult(RECALL_RULE, "fail", 0.25, 2, "0.250 < 0.85"),
            RuleResult(LEAK_RULE, "fail", 2.0, 1, "2 leaks", cases=("pay_001",)),
        ),
    )
    return ScoringResult(
        golden=GoldenInfo("handbook", "2026-03", "sha256:" + "ab" * 32, N),
        configs={BAD: result(BAD, bad), GOOD: result(GOOD, good)},
        decision=Decision("FAIL", tuple(f"{BAD}: {reason}" for reason in bad.reasons)),
        inputs=(InputFile("runs/night.jsonl", "rag-trace", 7, (GOOD, BAD)),),
        gate=Gate((RECALL_RULE, LEAK_RULE, JUDGED_RULE), name="hr-legal-finance"),
        stages={BAD: "retrieved", GOOD: "merge"},
        warnings=("runs/night.jsonl: 2 unknown keys ignored",),
        assay_version="0.1.0",
    )


def observation(case_id: str, config: str = BAD) -> Observation:
    """Return the observation of a case; `vector-only` finds the wrong chunks and leaks."""
    chunks = {
        "leave_001": ("travel:v1:001", "leave:v1:009", "leave:v1:004", "travel:v1:002"),
        "pay_001": ("pay:v1:001", "leave:v1:003"),
    }.get(case_id, ("leave:v1:003",))
    return Observation(
        case_id,
        config,
        stages=(
            Stage("retrieved", tuple(Chunk(chunk, 1.0 / (i + 1)) for i, chunk in enumerate(chunks)), latency_ms=12.4),
            Stage("context", tuple(Chunk(chunk, text=f"Text of {chunk}.") for chunk in chunks[:2])),
        ),
        answer=f"In short: {SECRET}." if case_id == "pay_001" else "Bạn có 15 ngày nghỉ phép mỗi năm.",
        citations=chunks[:1],
        usage=Usage(end_to_end_ms=700.0),
    )


DETAILS = {(BAD, case_id): observation(case_id) for case_id in ("leave_001", "pay_001")}
