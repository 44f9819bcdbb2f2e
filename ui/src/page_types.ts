// Written by scripts/ui_types.py from src/assay/report/schemas/trend-pages.schema.json. Do not edit.

/** An alert: `value` crossed `bound`, `before` is the value of the reference, `since` what changed there. */
export interface AlertCard {
  id: string;
  at: string;
  metric: string;
  slice: string | null;
  value: number | null;
  before: number | null;
  bound: number | null;
  since: VersionChange[];
  text: string;
  state: "acknowledged" | "open" | "quiet";
  name?: string;
}

/** What the system answers to the same question now, and how that differs from the answer of then. */
export interface AnswerNow {
  target: string;
  at: string;
  answer: string | null;
  behaviour: string;
  error: string | null;
  changes: [string, string][];
}

/** One production answer as it is stored: without secrets, and with a pseudonym in place of the user. */
export interface AuditRecord {
  id: string;
  at: string;
  time_source?: "received" | "reported";
  config_id?: string | null;
  user_uid?: string | null;
  user?: User | null;
  question?: string | null;
  query_rewrite?: string | null;
  retrieved_uids?: string[] | null;
  stages?: Stage[] | null;
  context_tokens?: number | null;
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  model?: string | null;
  prompt_hash?: string | null;
  versions?: Record<string, string>;
  answer?: string | null;
  behaviour?: "abstain" | "answer" | "clarify" | "escalate" | "permission_denied" | null;
  citations?: string[] | null;
  tool_calls?: ToolCall[] | number | null;
  latency_ms?: number | null;
  cost_usd?: number | null;
  feedback?: string | number | boolean | Record<string, string | number | boolean | null> | null;
  error?: TargetError | null;
  redacted?: Record<string, number>;
}

/** How often people named a cause. */
export interface CauseRow {
  cause: string;
  count: number;
}

/** A change of a metric that stands after the correction for the number of series; `p` is adjusted. */
export interface ChangeRow {
  metric: string;
  slice: string | null;
  configuration: string | null;
  at: string;
  run: string | null;
  before: number;
  after: number;
  p: number;
  versions?: VersionChange[];
  name?: string;
  run_before?: string | null;
  runs?: number;
  cases?: number;
  steady?: SteadyRow | null;
  may_be_steady?: boolean;
}

/** One retrieved chunk as the target reported it; its position in the list is its rank. */
export interface Chunk {
  chunk_id: string;
  score?: number | null;
  rank?: number | null;
  stage?: string | null;
  text?: string | null;
  text_hash?: string | null;
  metadata?: Record<string, unknown> | null;
}

/** One citation with its claim (None: of the answer as a whole), then and now (None without a corpus of now). */
export interface CitationCheck {
  name: string;
  claim: string | null;
  then: CitationState;
  now: CitationState | null;
  text_changed: boolean | null;
  by?: "link" | "list" | "name" | "position";
  chunks?: string[];
  judged?: string | null;
}

/** A citation by one corpus: None where it cannot be told. `support` is the verdict on its claim. */
export interface CitationState {
  exists: boolean | null;
  reachable: boolean | null;
  support: string | null;
  expired_since?: string | null;
  current?: string[];
}

/** One claim of the answer: its verdict by the context, its evidence, and for a claim without any, the step. */
export interface ClaimCheck {
  text: string;
  verdict: string;
  source: string | null;
  quote: string | null;
  reasons: string[];
  lost_at: string | null;
  judged?: string | null;
}

/** How far something moved between two periods, with the p value of the test. */
export interface DriftRow {
  what: string;
  from: string;
  to: string;
  statistic: number | null;
  p: number | null;
  text: string;
}

/** A case that did not pass in the last run, and how many runs ago it last did. */
export interface FailingRow {
  case_id: string;
  outcomes: string;
  last_passed: string | null;
  runs_since_pass: number;
  configuration?: string | null;
}

/** What people found out about an answer: the cause, who acts on it, and what was decided. */
export interface Finding {
  answer_id: string;
  cause: string;
  owner: string;
  decision: string;
  at: string;
}

/** A case whose outcome changes: `outcomes` has P (passed), F (failed) or another letter a run, oldest first. */
export interface FlappingRow {
  case_id: string;
  outcomes: string;
  last_passed: string | null;
  configuration?: string | null;
}

/** Everything that is known of one answer. Restricted text is withheld in all of it, unless it was asked for. */
export interface Incident {
  record: AuditRecord;
  sequence: number;
  day: string;
  chain_faults: string[];
  behaviour: string;
  stages: [string, ShownChunk[]][];
  claims: ClaimCheck[];
  citations: CitationCheck[];
  leaks: string[];
  near_cases: NearCase[];
  findings: Finding[];
  notes: string[];
  stale?: string[];
  answer_now?: AnswerNow | null;
  summary?: string[];
}

/** How many incidents are open and closed, and by which causes; None with a reason where that was not read. */
export interface IncidentTotals {
  open: number | null;
  closed: number | null;
  by_cause: CauseRow[];
  reason?: string;
}

/** One answer in which its user saw what they may not see; `text` says where, never what. */
export interface LeakCard {
  at: string;
  record_id: string;
  user: string | null;
  chunk: string | null;
  text: string;
}

/** Production answers of a period: alerts and leaks first, then the metrics over time. */
export interface MonitorPage {
  page: "monitor";
  title: string;
  made_at: string | null;
  period: PagePeriod;
  by: string;
  series: Series[];
  alerts: AlertCard[];
  leaks: LeakCard[];
  sampling: SamplingPanel | null;
  refusal_band: RefusalPanel | null;
  drift: DriftRow[];
  notes: string[];
  watch?: string[];
  leak_gaps?: string[];
  unmeasured_bounds?: string[];
}

/** A golden case that asks nearly the same: what it expects, and what the answer does with it ("" without one). */
export interface NearCase {
  case_id: string;
  question: string;
  similarity: number;
  answer_similarity: number | null;
  expected?: string;
  stated?: string;
}

/** The period that a monitor looked at, as ISO dates or times. */
export interface PagePeriod {
  from: string;
  to: string;
}

/** The share of answers that refused (`value`), next to the band from `low` to `high` in which it is expected. */
export interface RefusalPanel {
  low: number;
  high: number;
  value: number | null;
  state: string;
  text: string;
}

/** How many of the answers were read, by rules or a judge, at which cost, and how wide the interval is. */
export interface SamplingPanel {
  judged: number;
  answers: number;
  budget: number | null;
  cost: number | null;
  width: number | null;
  design: string;
  by?: "" | "judge" | "rules";
}

/** One metric over time, of all answers or of one slice (`key=value`) or configuration. */
export interface Series {
  name: string;
  key: string;
  unit: string;
  higher_is_better: boolean | null;
  slice: string | null;
  configuration: string | null;
  points: SeriesPoint[];
  marks?: SeriesMark[];
  caveat?: string;
}

/** Something that happened at a time, such as a new version of the index or an alert. */
export interface SeriesMark {
  at: string;
  kind: "acknowledged" | "alert" | "change_point" | "incident" | "version";
  text: string;
}

/** One value of a metric: of a run or of a period that begins at `at`, an ISO date or time. */
export interface SeriesPoint {
  at: string;
  label: string;
  value: number | null;
  low: number | null;
  high: number | null;
  n: number;
  reason?: string;
  run?: string | null;
  open_range?: [number, number] | null;
}

/** A chunk of a stage; `restricted` if the user may not see it, and its text is then withheld. */
export interface ShownChunk {
  chunk_id: string;
  score: number | null;
  text: string | null;
  restricted: boolean;
}

/** The chunks that one step of the pipeline returned, in rank order. */
export interface Stage {
  name: string;
  chunks: Chunk[];
  latency_ms?: number | null;
}

/** By how much a metric changes with every run, with the 95% interval. */
export interface SteadyRow {
  slope: number;
  low: number;
  high: number;
}

/** Why the target returned no observation, or only part of one. */
export interface TargetError {
  code: string;
  message?: string;
}

/** One tool call that the target made while answering. */
export interface ToolCall {
  name: string;
  arguments?: Record<string, unknown>;
  error?: string | null;
  latency_ms?: number | null;
  result?: unknown;
}

/** The history of runs: metrics over time, versions, cases that flap, incidents. */
export interface TrendPage {
  page: "trend";
  title: string;
  made_at: string | null;
  series: Series[];
  flapping: FlappingRow[];
  versions: VersionRow[];
  incidents: IncidentTotals | null;
  notes: string[];
  changes?: ChangeRow[];
  failing?: FailingRow[];
}

/** The user who asks the question: decides what may be shown (tenant, roles, position) and in which language. */
export interface User {
  tenant?: string | null;
  roles?: string[];
  position?: number | null;
  position_scope?: string | null;
  locale?: string | null;
  as_of?: string | null;
  id?: string | null;
}

/** A part of the system whose version changed; None where a version was not recorded. */
export interface VersionChange {
  name: string;
  before: string | null;
  after: string | null;
}

/** What changed in the versions with a run or at a time. */
export interface VersionRow {
  at: string;
  run: string | null;
  changed: VersionChange[];
  configuration?: string | null;
}
