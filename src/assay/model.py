"""The records: facts (what was expected and what was observed) and the findings computed from them.

Facts are frozen msgspec Structs and correspond exactly to the native files. Findings can be recomputed from facts.
`None` means "not reported"; it never stands for zero or an empty list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec import UNSET, Meta, Struct, UnsetType, field

SCHEMA_VERSION = 1

Behaviour = Literal["answer", "abstain", "permission_denied", "escalate"]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)
Difficulty = Literal["easy", "medium", "hard", "unknown"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
Judgments = Literal["complete", "partial"]
AnswerKind = Literal["text", "exact", "number"]

NonNegative = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]
Grade = Annotated[int, Meta(ge=0, le=10)]
Position = Annotated[int, Meta(ge=1)]

Selector = dict[str, str | int]
"""Stable key fields that together identify a chunk: `{"chunk_id": …}`, `{"document": …, "page": …}`, `{"quote": …}`."""


# ── what was expected ────────────────────────────────────────────────────────────────────────────────────────────


class User(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The user who asks the question: decides what may be shown (tenant, roles, position) and in which language."""

    tenant: str | None = None
    roles: tuple[str, ...] = ()
    position: float | None = None
    position_scope: str | None = None
    locale: str | None = None
    as_of: str | None = None
    id: str | None = None


class Evidence(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One unit of evidence. A chunk covers it if the chunk matches any of its selectors."""

    any_of: tuple[Selector, ...]
    grade: Grade = 3
    required: bool = True
    reason: str = ""
    quote: str | None = None
    text_hash: str | None = None
    kind: str | None = None


class Rubric(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What deterministic metrics look for in the text of the answer."""

    correct_keywords: tuple[str, ...] = ()
    incorrect_patterns: tuple[str, ...] = ()
    match: Literal["any", "all"] = "any"
    kind: AnswerKind = "text"
    tolerance: NonNegative = 0.0


class Turn(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    text: str


class Case(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One question and the expected behaviour of the system.

    If the expected behaviour is `permission_denied`, the listed evidence is the forbidden set: it counts for leaks and
    not for recall. `attributes` are free slice keys (`category`, `domain`, …); `metadata` is passed through unread.
    """

    id: str
    question: str
    behaviour: Behaviour = "answer"
    also_accept: tuple[Behaviour, ...] = ()
    reference: str | None = None
    must_have: tuple[str, ...] = ()
    rubric: Rubric | None = None
    evidence: tuple[Evidence, ...] = ()
    must_cite: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    forbidden: tuple[Selector, ...] = ()
    forbidden_text: tuple[str, ...] = ()
    user: User | None = None
    tags: tuple[str, ...] = ()
    difficulty: Difficulty = "unknown"
    language: str | None = None
    cluster: str | None = None
    history: tuple[Turn, ...] = ()
    attributes: dict[str, str] = {}
    notes: str = ""
    metadata: dict[str, Any] = {}


class GoldenSet(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A named set of cases, identified by its digest. `judgments` says whether unlisted chunks were judged."""

    cases: tuple[Case, ...]
    name: str = ""
    version: str = ""
    split: str = ""
    owner: str = ""
    changelog: tuple[str, ...] = ()
    corpus_version: str = ""
    judgments: Judgments = "complete"
    as_of: str | None = None
    schema_version: int = SCHEMA_VERSION


class CorpusChunk(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the index should hold for one chunk: the reference for access rules and text."""

    chunk_id: str
    text: str | None = None
    text_hash: str | None = None
    document: str | None = None
    version: str | None = None
    section: str | None = None
    pages: tuple[int, ...] = ()
    path: str | None = None
    tenant: str | None = None
    roles: tuple[str, ...] = ()
    position: float | None = None
    position_scope: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    kind: str | None = None
    chunking_strategy: str | None = None
    index_version: str | None = None
    metadata: dict[str, Any] = {}


class Corpus(Struct, frozen=True):
    """The chunks of the corpus by id."""

    chunks: dict[str, CorpusChunk]
    digest: str = ""


# ── what was observed ────────────────────────────────────────────────────────────────────────────────────────────


class Chunk(Struct, frozen=True, omit_defaults=True, gc=False):
    """One retrieved chunk as the target reported it; its position in the list is its rank."""

    chunk_id: str
    score: float | None = None
    rank: Position | None = None
    stage: str | None = None
    text: str | None = None
    text_hash: str | None = None
    metadata: dict[str, Any] | None = None


class Stage(Struct, frozen=True, omit_defaults=True):
    """The chunks that one step of the pipeline returned, in rank order."""

    name: str
    chunks: tuple[Chunk, ...]
    latency_ms: NonNegative | None = None


class Sentence(Struct, frozen=True, omit_defaults=True):
    """One sentence of the answer with the ids it cites, for targets that report citations sentence by sentence."""

    text: str
    citations: tuple[str, ...] = ()


class ToolCall(Struct, frozen=True, omit_defaults=True):
    """One tool call that the target made while answering."""

    name: str
    arguments: dict[str, Any] = {}
    error: str | None = None
    latency_ms: NonNegative | None = None


class Usage(Struct, frozen=True, omit_defaults=True):
    """Latency, tokens and cost of one observation, without those of the judge.

    `stage_ms` holds the latency of steps that are not retrieval stages (embedding, generation, …).
    """

    end_to_end_ms: NonNegative | None = None
    stage_ms: dict[str, NonNegative] = {}
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    context_tokens: Count | None = None
    cost_usd: NonNegative | None = None


class TargetError(Struct, frozen=True, omit_defaults=True):
    """Why the target returned no observation, or only part of one."""

    code: str
    message: str = ""


class Observation(Struct, frozen=True, omit_defaults=True):
    """What the target did with one case.

    An absent `answer` means that the target was not asked for one; null means that it failed to give one.
    """

    case_id: str
    config_id: str = "unknown"
    repeat: Count = 0
    question: str | None = None
    query_rewrite: str | None = None
    stages: tuple[Stage, ...] | None = None
    answer: str | UnsetType | None = UNSET
    behaviour: Behaviour | None = None
    citations: tuple[str, ...] | None = None
    sentences: tuple[Sentence, ...] | None = None
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    usage: Usage | None = None
    versions: dict[str, str] = {}
    error: TargetError | None = None


# ── findings ─────────────────────────────────────────────────────────────────────────────────────────────────────

SCORED, NOT_APPLICABLE, ERROR = 0, 1, 2
STATUS_NAMES = ("scored", "not_applicable", "error")
NEEDS_REVIEW = "needs_review"
"""Prefix of reasons that ask for human review: the score rests on votes that disagree widely, or the votes are tied."""


class ScoreColumn(Struct, frozen=True):
    """The scores of one metric, one entry per row.

    `values` is meaningful only where `status` is SCORED. `reason` holds indices into `reasons`: why a row has no score,
    or, for a scored row, nothing or why it needs review.
    """

    metric: str
    values: npt.NDArray[np.float64]
    status: npt.NDArray[np.uint8]
    reason: npt.NDArray[np.uint16]
    reasons: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        if not (len(self.values) == len(self.status) == len(self.reason)):
            raise ValueError(f"{self.metric}: columns of different lengths")


class Interval(Struct, frozen=True):
    """A confidence interval and the method that computed it; `note` states its limitations."""

    low: float
    high: float
    method: str
    confidence: float = 0.95
    note: str = ""


class Summary(Struct, frozen=True):
    """The summary of one metric over one slice, always with its counts."""

    metric: str
    slice: str
    statistic: str
    value: float | None
    mean: float | None
    mean_worst: float | None
    interval: Interval | None
    scored: int
    not_applicable: int
    errors: int
    notes: tuple[str, ...] = ()
    needs_review: int = 0


Outcome = Literal["PASS", "PASS_WITH_RISK", "FAIL", "INCOMPLETE"]
RuleState = Literal["pass", "fail", "inconclusive", "unmeasured", "no_data", "incomplete"]
Severity = Literal["block", "warn"]


class Rule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One condition of a release gate.

    Exactly one of `at_least`, `at_most` and `max_regression` (compared with a baseline) must be set.
    """

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    max_regression: float | None = None
    slice: str | None = None
    severity: Severity = "block"
    min_coverage: Annotated[float, Meta(ge=0, le=1)] = 1.0
    basis: Literal["point", "bound"] = "point"
    if_unmeasured: Literal["fail", "risk", "ignore"] = "fail"
    if_inconclusive: Literal["fail", "risk"] | None = None
    zero_event: bool | None = None
    reason: str = ""


class Waiver(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A named owner's acceptance that one rule may stay unmet until the end of a day (`expires`, YYYY-MM-DD)."""

    metric: str
    owner: str
    expires: str
    reason: str
    slice: str | None = None


class Gate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The rules that decide a release.

    Any failed check on a case with one of the `blocking_tags` blocks the release. `approver` is who reviews the
    decision. `waivers` turn failures of named rules into risks; an observed event cannot be waived. `usual_tags` (never
    in files) may be absent from the golden set, because a shipped profile names them and not its user.
    """

    rules: tuple[Rule, ...] = ()
    name: str = ""
    description: str = ""
    zero_tolerance_tags: tuple[str, ...] = ("acl", "tenant", "permission_denied", "prompt-injection")
    blocking_tags: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    approver: str = ""
    usual_tags: tuple[str, ...] = ("acl", "tenant", "permission_denied", "prompt-injection")


class RuleResult(Struct, frozen=True):
    """The result of one rule: its state, the number that decided and a sentence that explains it.

    `detectable` is the smallest difference that these cases can show with a power of 80%; `waived` says who accepted an
    unmet rule.
    """

    rule: Rule
    state: RuleState
    value: float | None
    scored: int
    message: str
    upper_bound: float | None = None
    cases: tuple[str, ...] = ()
    detectable: float | None = None
    waived: str = ""


class Decision(Struct, frozen=True):
    """The release decision: the outcome, its reasons (the weightiest first) and the result of every rule."""

    outcome: Outcome
    reasons: tuple[str, ...]
    results: tuple[RuleResult, ...] = ()


class CaseChecks(Struct, frozen=True):
    """The checks that one case failed; `warnings` do not count as failures."""

    case_id: str
    failed: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class ScoreTable(Struct, frozen=True):
    """All scores of one configuration, one row per golden case in golden order, repeats averaged.

    `uncalibrated` names the columns that may inform but not gate.
    """

    config_id: str
    case_ids: Sequence[str]
    columns: dict[str, ScoreColumn]
    missing: tuple[str, ...]
    checks: tuple[CaseChecks, ...]
    repeats: int = 1
    versions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    uncalibrated: tuple[str, ...] = ()


class GoldenInfo(Struct, frozen=True):
    """Which golden set was used."""

    name: str
    version: str
    digest: str
    cases: int
    format: str = ""
    judgments: Judgments = "complete"


class InputFile(Struct, frozen=True):
    """One outputs file that was read."""

    path: str
    format: str
    rows: int
    configs: tuple[str, ...]


class ConfigResult(Struct, frozen=True):
    """The results of one configuration. `slices` maps `key=value` to summaries by metric name."""

    table: ScoreTable
    summary: dict[str, Summary]
    slices: Mapping[str, Mapping[str, Summary]] = {}
    decision: Decision | None = None


class Scoring(Struct, frozen=True):
    """The complete result of scoring, from which every report, file and exit code is derived."""

    golden: GoldenInfo
    configs: dict[str, ConfigResult]
    decision: Decision
    inputs: tuple[InputFile, ...] = ()
    gate: Gate | None = None
    stages: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    assay_version: str = ""
