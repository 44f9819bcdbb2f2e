"""Every record: facts (what was expected, what was seen) and findings (what follows from them).

Facts are msgspec Structs, frozen, and are exactly what the native files hold. Findings are recomputable.
`None` means "not reported"; it never stands for zero or for an empty list.
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
"""An AND of stable key fields that names a chunk: `{"chunk_id": …}`, `{"document": …, "page": …}`, `{"quote": …}`."""


# ── what was expected ────────────────────────────────────────────────────────────────────────────────────────────


class User(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Who is asking; decides what may be shown (tenant, roles, position) and in which language."""

    tenant: str | None = None
    roles: tuple[str, ...] = ()
    position: float | None = None
    position_scope: str | None = None
    locale: str | None = None
    as_of: str | None = None
    id: str | None = None


class Evidence(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One unit of evidence: any chunk that matches any of its selectors covers it."""

    any_of: tuple[Selector, ...]
    grade: Grade = 3
    required: bool = True
    reason: str = ""
    quote: str | None = None
    text_hash: str | None = None
    kind: str | None = None


class Rubric(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a deterministic grader may look for in the answer's text."""

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
    """One question with what is expected of the system.

    Under `permission_denied` the listed evidence is the forbidden set: it is never recalled, it is leak-checked.
    `attributes` are free slices (`category`, `domain`, …); `metadata` is carried along and never read.
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
    """The cases under one name; its digest is its identity. `judgments` says whether unlisted chunks were judged."""

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
    """What the index should hold for one chunk: the truth for access and text."""

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
    """Chunks by id."""

    chunks: dict[str, CorpusChunk]
    digest: str = ""


# ── what was seen ────────────────────────────────────────────────────────────────────────────────────────────────


class Chunk(Struct, frozen=True, omit_defaults=True, gc=False):
    """One retrieved chunk as the target reported it; its place in the list is its rank."""

    chunk_id: str
    score: float | None = None
    rank: Position | None = None
    stage: str | None = None
    text: str | None = None
    text_hash: str | None = None
    metadata: dict[str, Any] | None = None


class Stage(Struct, frozen=True, omit_defaults=True):
    """What one step of the pipeline returned, in rank order."""

    name: str
    chunks: tuple[Chunk, ...]
    latency_ms: NonNegative | None = None


class Sentence(Struct, frozen=True, omit_defaults=True):
    """A piece of the answer with the ids it cites, where the target reports citations sentence by sentence."""

    text: str
    citations: tuple[str, ...] = ()


class ToolCall(Struct, frozen=True, omit_defaults=True):
    """One tool call that the target made while answering."""

    name: str
    arguments: dict[str, Any] = {}
    error: str | None = None
    latency_ms: NonNegative | None = None


class Usage(Struct, frozen=True, omit_defaults=True):
    """Time, tokens and money of one observation; the judge's own are never in here. `stage_ms` has the steps that are
    not stages (embed, generate …)."""

    end_to_end_ms: NonNegative | None = None
    stage_ms: dict[str, NonNegative] = {}
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    context_tokens: Count | None = None
    cost_usd: NonNegative | None = None


class TargetError(Struct, frozen=True, omit_defaults=True):
    """Why the target gave no observation, or only a part of one."""

    code: str
    message: str = ""


class Observation(Struct, frozen=True, omit_defaults=True):
    """What the target did with one case. `answer` absent: it was never asked for one; null: it failed to give one."""

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
"""How reasons begin that ask for a person: of a score that stands on votes far apart, or of tied votes."""


class ScoreColumn(Struct, frozen=True):
    """One metric over rows: `values` is meaningful only where `status` is SCORED; `reason` indexes `reasons`, and says
    of a scored row nothing, or why it needs review."""

    metric: str
    values: npt.NDArray[np.float64]
    status: npt.NDArray[np.uint8]
    reason: npt.NDArray[np.uint16]
    reasons: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        if not (len(self.values) == len(self.status) == len(self.reason)):
            raise ValueError(f"{self.metric}: columns of different lengths")


class Interval(Struct, frozen=True):
    """Bounds with the method that made them; `note` says what they cannot be trusted for."""

    low: float
    high: float
    method: str
    confidence: float = 0.95
    note: str = ""


class Summary(Struct, frozen=True):
    """One metric over one slice, never without its counts."""

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
    """One condition of a release gate; exactly one of `at_least`, `at_most`, `max_regression` (from a baseline)."""

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
    """Somebody's word that one rule may stay unmet until the end of a day (`expires`, YYYY-MM-DD)."""

    metric: str
    owner: str
    expires: str
    reason: str
    slice: str | None = None


class Gate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The rules that decide a release; `blocking_tags`: any failed check on a case with such a tag blocks.

    `approver` is who reviews the decision; `waivers` make failures of named rules a risk, never an observed event.
    `usual_tags` (not written in files) are those that no case needs to have: a shipped gate names them, not its user.
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
    """What one rule found: the state, the number that decided and a sentence for people.

    `detectable` is the smallest difference that these cases show with a power of 80%; `waived` says who accepted it.
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
    """May it ship? The outcome, its reasons in order of weight, and every rule's result."""

    outcome: Outcome
    reasons: tuple[str, ...]
    results: tuple[RuleResult, ...] = ()


class CaseChecks(Struct, frozen=True):
    """The checks that one case failed; `warnings` do not count as failures."""

    case_id: str
    failed: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class ScoreTable(Struct, frozen=True):
    """All scores of one configuration, one row per golden case in golden order (repeats folded). `uncalibrated` names
    the columns that may inform but not gate."""

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
    """One file of outputs that was read."""

    path: str
    format: str
    rows: int
    configs: tuple[str, ...]


class ConfigResult(Struct, frozen=True):
    """Everything found about one configuration: `slices` maps `key=value` to summaries by metric name."""

    table: ScoreTable
    summary: dict[str, Summary]
    slices: Mapping[str, Mapping[str, Summary]] = {}
    decision: Decision | None = None


class Scoring(Struct, frozen=True):
    """The whole result of scoring: what every report, file and exit code is made from."""

    golden: GoldenInfo
    configs: dict[str, ConfigResult]
    decision: Decision
    inputs: tuple[InputFile, ...] = ()
    gate: Gate | None = None
    stages: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    assay_version: str = ""
