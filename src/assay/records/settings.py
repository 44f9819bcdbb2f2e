"""The records of a settings file with their defaults; the JSON Schema for editors is generated from them.

`config` reads the file. Keys and tokens are never values of these records: they hold only the names of environment
variables.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from assay.records.release_gates import Gate

Name = Annotated[str, Meta(min_length=1, max_length=200)]
EnvName = Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_]*$")]
Seconds = Annotated[float, Meta(gt=0)]
AtLeastOne = Annotated[int, Meta(ge=1)]
ClockTime = Annotated[str, Meta(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")]
ValuePath = str
"""The path of a value in a reply: `data.hits[0].id`, or `hits[*].id` for one value per hit; `$` is the whole reply."""


class Section(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every section."""


# ── how a target's reply becomes an observation ──────────────────────────────────────────────────────────────────


class ChunkMapping(Section, frozen=True):
    """Where the parts of a chunk are inside one item; `metadata` maps metadata names to paths in the item."""

    id: ValuePath = "chunk_id"
    text: ValuePath = "text"
    score: ValuePath = "score"
    text_hash: ValuePath = "text_hash"
    metadata: dict[str, ValuePath] = {}


class ToolMapping(Section, frozen=True):
    """Where the parts of a tool call are inside one item of `tool_calls`; `result` is what the model was shown."""

    name: ValuePath = "name"
    arguments: ValuePath = "arguments"
    result: ValuePath = "result"
    error: ValuePath = "error"


class ResponseMapping(Section, frozen=True):
    """Where the parts of an observation are in a reply; without `answer` and `stages` the reply itself is read as one.

    `key` builds chunk ids from stable fields of the chunk (`document+page`), for systems whose own ids change.
    `tool_calls` is the list of tool calls, or their number; it may be mapped alone.
    """

    answer: ValuePath | None = None
    behaviour: ValuePath | None = None
    citations: ValuePath | None = None
    query_rewrite: ValuePath | None = None
    stages: dict[str, ValuePath] = {}
    chunk: ChunkMapping = ChunkMapping()
    key: str | None = None
    tool_calls: ValuePath | None = None
    tool: ToolMapping = ToolMapping()
    usage: dict[str, ValuePath] = {}
    versions: dict[str, ValuePath] = {}
    case_id: ValuePath | None = None


class AuthSettings(Section, frozen=True):
    """A header with a secret from the environment: `Authorization: Bearer <value of the variable>`."""

    env: EnvName
    header: Name = "Authorization"
    scheme: str = "Bearer"


# ── targets, one record for each kind ────────────────────────────────────────────────────────────────────────────


class BaseTargetSettings(Section, frozen=True, tag_field="type", kw_only=True):
    """Base of every kind of target.

    `context` names the stage that the model was shown, for a system that does not report a stage `context`.
    """

    context: Name | None = None
    response: ResponseMapping = ResponseMapping()


class PythonTargetSettings(BaseTargetSettings, frozen=True, tag="python"):
    """A function `module:attr` (or an object with `ask` and `search`), called in this process."""

    call: Name
    search: Name | None = None


class RecordedTargetSettings(BaseTargetSettings, frozen=True, tag="recorded"):
    """Outputs recorded earlier; `config` selects one configuration of the file."""

    path: Name
    format: str | None = None
    config: str | None = None


class HttpSearchSettings(Section, frozen=True):
    """An address for retrieval only."""

    url: Name
    method: Literal["POST", "GET", "PUT"] = "POST"
    body: Any = None
    query: dict[str, str] = {}


class HttpTargetSettings(BaseTargetSettings, frozen=True, tag="http"):
    """A JSON API. `body` and `query` are templates; `identity` maps headers to fields of the case's user.

    A system that only searches has `search` and no `url`.
    """

    url: Name | None = None
    method: Literal["POST", "GET", "PUT"] = "POST"
    body: Any = None
    query: dict[str, str] = {}
    search: HttpSearchSettings | None = None
    headers: dict[str, str] = {}
    identity: dict[str, ValuePath] = {}
    auth: AuthSettings | None = None
    max_bytes: AtLeastOne = 8 * 2**20


class McpToolNames(Section, frozen=True):
    """The names of the server's tools; null for a tool that it does not have."""

    search: str | None = "search"
    ask: str | None = "ask"


class McpArguments(Section, frozen=True):
    """The tools' arguments, as templates."""

    search: dict[str, Any] = field(default_factory=lambda: {"query": "{{question}}", "k": "{{k}}"})
    ask: dict[str, Any] = field(default_factory=lambda: {"question": "{{question}}"})


class McpTargetSettings(BaseTargetSettings, frozen=True, tag="mcp"):
    """An MCP server: a command that communicates over its standard streams, or a streamable HTTP address."""

    command: tuple[str, ...] = ()
    url: str | None = None
    env: tuple[EnvName, ...] = ()
    tools: McpToolNames = McpToolNames()
    arguments: McpArguments = McpArguments()
    identity: dict[str, ValuePath] = {}
    auth: AuthSettings | None = None
    max_bytes: AtLeastOne = 8 * 2**20


class CommandTargetSettings(BaseTargetSettings, frozen=True, tag="command"):
    """A program that reads one JSON line for each case and writes one; `env` names variables that it may see."""

    command: tuple[str, ...]
    env: tuple[EnvName, ...] = ()
    max_bytes: AtLeastOne = 8 * 2**20


class LangchainTargetSettings(BaseTargetSettings, frozen=True, tag="langchain"):
    """A LangChain runnable `module:attr`; `input` is the template of what it is invoked with."""

    call: Name
    input: Any = "{{question}}"


class LlamaindexTargetSettings(BaseTargetSettings, frozen=True, tag="llamaindex"):
    """A LlamaIndex query engine `module:attr`, or a retriever as `search`."""

    call: Name
    search: Name | None = None


TargetSettings = (
    PythonTargetSettings
    | RecordedTargetSettings
    | HttpTargetSettings
    | McpTargetSettings
    | CommandTargetSettings
    | LangchainTargetSettings
    | LlamaindexTargetSettings
)
"""The kinds of target: the `tag` of a record is the kind's name, and that of the file in `targets` that makes it."""


# ── everything else ──────────────────────────────────────────────────────────────────────────────────────────────


class GoldenSettings(Section, frozen=True):
    """The golden set to use; with `split`, a set that states another split is refused."""

    path: Name
    format: str | None = None
    split: str | None = None


class RunSettings(Section, frozen=True):
    """How targets are called: limits in calls, seconds and dollars; `deadline` covers a case with all its retries."""

    concurrency: Annotated[int, Meta(ge=1, le=1024)] = 8
    deadline: Seconds = 120.0
    attempts: Annotated[int, Meta(ge=1, le=20)] = 4
    breaker: AtLeastOne = 10
    retry_after_cap: Seconds = 60.0
    max_calls: AtLeastOne | None = None
    max_cost: Annotated[float, Meta(gt=0)] | None = None
    repeat: Annotated[int, Meta(ge=1, le=1000)] = 1
    seed: Annotated[int, Meta(ge=0)] = 0


class ScoringSettings(Section, frozen=True):
    """What is scored.

    `k` are the cut-offs at which hit, recall, precision, rr and ndcg are scored beside the usual ones, unless `metrics`
    are named; a search is asked for as many chunks as the largest of them and `production_k` say. `production_k` is the
    number of chunks that the system shows its model. `good` decides whether an answer is good: `auto`, or a metric with
    its minimum, such as `correctness(by=judge)>=0.75`. `lexicons` are files or folders with lexicons of refusals in
    addition to the shipped ones. `entailment_model` is the folder of a local model for metrics with `by=entailment`, of
    `assay run` and `assay monitor`. `labels` are files of labels by people who read answers, of `assay run`.
    `internal_stages` are stages whose chunks nobody is shown unless a later one passes
    them on: what a user must not see there is over-fetched and no leak.
    """

    metrics: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    k: tuple[AtLeastOne, ...] = (1, 3, 5, 10)
    production_k: AtLeastOne = 5
    good: str = "auto"
    lexicons: tuple[str, ...] = ()
    entailment_model: str | None = None
    labels: tuple[str, ...] = ()
    internal_stages: tuple[str, ...] = ()


class RedactionRule(Section, frozen=True):
    """A pattern that is replaced in every text before it is sent to a judge; by default by the name in brackets.

    `pattern` is a regular expression in linear time (`assay.text.linear_patterns`).
    """

    name: Name
    pattern: str
    replacement: str | None = None
    ignore_case: bool = False


class JudgeSettings(Section, frozen=True):
    """Which model judges.

    `protocol` is `openai`, `anthropic`, `azure`, `litellm` or the name of an installed judge provider. `endpoint` is a
    name for the address that is stored with the verdicts instead of it. `family` is derived from the model's id by
    default. `rubrics` are folders of rubrics in addition to the shipped ones. `redact` are rules that act on every text
    before it is sent. `control_share` is the largest share of the calls of a run that may be controls and anchors.
    Controls count for `control_days` days; `control_store` is a verdict store in which their answers are shared between
    runs that have stores of their own.
    """

    protocol: Name = "openai"
    model: str | None = None
    endpoint: Name | None = None
    family: Name | None = None
    base_url_env: EnvName | None = None
    api_key_env: EnvName | None = None
    api_version: Name | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = 0.0
    max_tokens: AtLeastOne = 4096
    prompt_usd_per_1k: Annotated[float, Meta(ge=0)] | None = None
    completion_usd_per_1k: Annotated[float, Meta(ge=0)] | None = None
    rubrics: tuple[str, ...] = ()
    votes: Literal["auto"] | AtLeastOne = "auto"
    max_cost_usd: Annotated[float, Meta(gt=0)] | None = None
    redact: tuple[RedactionRule, ...] = ()
    control_share: Annotated[float, Meta(gt=0, lt=1)] = 0.2
    control_days: AtLeastOne = 30
    control_store: str | None = None


class GateSettings(Gate, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The release gate: a shipped profile, rules, or a profile with additional rules."""

    profile: str | None = None


class ReportSettings(Section, frozen=True):
    """Where reports are written; null means that a report is not written."""

    markdown: str | None = None
    json: str | None = None
    per_case: str | None = None
    html: str | None = None


class QuietHours(Section, frozen=True):
    """The hours of every day in which alerts wait: `start` to `end`, both as 22:00, at `utc_offset`. Leaks never do."""

    start: ClockTime
    end: ClockTime
    utc_offset: Annotated[str, Meta(pattern=r"^[+-](0[0-9]|1[0-4]):[0-5][0-9]$")] = "+00:00"


class WebhookSettings(Section, frozen=True):
    """Where alerts are sent; the variable `secret_env` holds the secret that signs them."""

    url: Name
    secret_env: EnvName


class MonitorSettings(Section, frozen=True):
    """What is watched in production.

    `slices` are `key` or `key=value`, `budget` the answers that are read a week (null: all), `false_alarms` the most
    that are expected in a quarter for each metric and slice while nothing changes, `bounds` what is watched from the
    first day on, such as `hallucination_risk<=0.05`.
    """

    by: Literal["day", "week", "month"] = "week"
    metrics: list[Name] | None = None
    slices: list[Name] = []
    budget: Annotated[int, Meta(ge=12)] | None = 400
    seed: Annotated[int, Meta(ge=0)] = 0
    false_alarms: Annotated[float, Meta(gt=0, le=92)] = 0.25
    bounds: list[Name] = []
    quiet: QuietHours | None = None
    webhook: WebhookSettings | None = None


class Settings(Section, frozen=True):
    """A whole settings file.

    `history: false` keeps runs out of the registry that `assay history` reads, `ledger: false` keeps
    them out of the count of looks at a frozen test split.
    """

    golden: str | GoldenSettings | None = None
    corpus: str | None = None
    run_dir: str | None = None
    targets: dict[str, TargetSettings] = {}
    run: RunSettings = RunSettings()
    scoring: ScoringSettings = ScoringSettings()
    judge: JudgeSettings | None = None
    judges: dict[Name, JudgeSettings] = {}
    gate: str | GateSettings | None = None
    report: ReportSettings = ReportSettings()
    monitor: MonitorSettings = MonitorSettings()
    history: bool = True
    ledger: bool = True
