"""Findings beyond scores: whose fault a bad answer was, and what changed between two configurations."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from assay.model import Decision, InputFile

Fault = Literal["pass", "generation_fault", "retrieval_fault", "masked_gap", "refusal_fault", "access_fault", "unknown"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
Confidence = Literal["high", "medium", "low"]
Cause = Literal[
    "parser",
    "chunking",
    "embedding",
    "bm25_analyzer",
    "hybrid_merge",
    "reranker",
    "context_builder",
    "generator",
    "citation",
    "acl",
    "stale_index",
    "golden_label_issue",
    "judge_noise",
    "insufficient_trace",
]
CAUSES: tuple[Cause, ...] = get_args(Cause)


class EvidenceWalk(Struct, frozen=True, omit_defaults=True):
    """One unit of evidence on its way: its rank (from 1) in every stage that was reported, None where it is absent;
    `lost_at` is the first stage without it after one that had it, or the first stage of all where none had it."""

    unit: int
    name: str
    grade: int
    required: bool
    ranks: dict[str, int | None]
    lost_at: str | None = None


class Attribution(Struct, frozen=True, omit_defaults=True):
    """Which part caused a case's outcome.

    `verdict` is the cell of reached × good (or the fault that takes precedence over it), `subtype` refines it; `cause`
    is None where nothing went wrong. `sign` is what was seen, `evidence` the facts behind it, `fix` what to try first.
    `good` and `reached` are None where they could not be told; `signal` names what decided `good`, with its threshold.
    """

    case_id: str
    verdict: Fault
    cause: Cause | None = None
    subtype: str = ""
    stage: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: Confidence = "medium"
    sign: str = ""
    fix: str = ""
    good: bool | None = None
    reached: bool | None = None
    signal: str = ""
    walk: tuple[EvidenceWalk, ...] = ()
    also: tuple[Cause, ...] = ()


class MetricChange(Struct, frozen=True):
    """One metric of candidate against baseline over the cases scored in both; `gain` is positive when better.

    `low`, `high` and `p` are None where nothing can be said (see `note`); `p_adjusted` is Holm's in gated slices, that
    of Benjamini and Hochberg elsewhere. The lists hold case ids: `unpaired` those scored on one side only,
    `needs_review` those that came out better by votes that are far apart, which `gain` counts as none.
    """

    metric: str
    slice: str | None
    baseline: float | None
    candidate: float | None
    gain: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    method: str
    n: int
    improved: tuple[str, ...]
    regressed: tuple[str, ...]
    unchanged: tuple[str, ...]
    unpaired: tuple[str, ...]
    smallest_detectable: float | None
    note: str = ""
    needs_review: tuple[str, ...] = ()


class RankMove(Struct, frozen=True):
    """One unit of evidence of one case in one stage: its rank on either side, None where it is not there."""

    case_id: str
    unit: int
    name: str
    stage: str
    before: int | None
    after: int | None


class CaseChange(Struct, frozen=True):
    """One case on either side: the attributions, and the metrics that got better or worse, with both `scores`.

    `needs_review` are metrics that came out better by votes that are far apart: never an improvement."""

    case_id: str
    before: Attribution | None
    after: Attribution | None
    improved: tuple[str, ...] = ()
    regressed: tuple[str, ...] = ()
    scores: dict[str, tuple[float, float]] = {}
    needs_review: tuple[str, ...] = ()


class Side(Struct, frozen=True):
    """One side of a comparison: where it came from, and what it was made with; `rubrics` are hashes by name, `stage`
    the one that was scored as `retrieved`."""

    name: str
    config_id: str
    golden_digest: str
    cases: int
    versions: dict[str, tuple[str, ...]] = {}
    judge: str | None = None
    rubrics: dict[str, str] = {}
    stage: str = ""
    assay_version: str = ""
    inputs: tuple[InputFile, ...] = ()


class Comparison(Struct, frozen=True):
    """Candidate against baseline: every metric, every slice, the moves of evidence, the transitions of attribution.

    `transitions` counts cases by (before, after) cause or verdict; `changed` and `moved` are the sentences of "What
    changed" and "Why did the metrics move"; `decision` is that of a gate over the candidate, with every rule's result.
    """

    baseline: Side
    candidate: Side
    metrics: dict[str, MetricChange]
    slices: dict[str, dict[str, MetricChange]] = {}
    moves: tuple[RankMove, ...] = ()
    cases: tuple[CaseChange, ...] = ()
    transitions: tuple[tuple[str, str, int], ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    decision: Decision | None = None
    notes: tuple[str, ...] = ()
