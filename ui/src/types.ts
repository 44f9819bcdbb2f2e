// Written by scripts/ui_types.py from src/assay/report/schemas/html-page.schema.json. Do not edit.

export type Outcome = "PASS" | "PASS_WITH_RISK" | "FAIL" | "INCOMPLETE" | "NOT_GATED" | "PARTIAL";

export type CaseState = "passed" | "failed" | "leaked" | "missing" | "unknown";

export type MetricClass = "D" | "J";

/** One value as a number and as text. `low` and `high` are null without an interval that has a width. */
export interface Figure {
  value: number | null;
  text: string | null;
  low: number | null;
  high: number | null;
  interval: string | null;
  n: number;
}

/** A metric's summary in one configuration. */
export interface MetricValue {
  value: number | null;
  text: string | null;
  low: number | null;
  high: number | null;
  interval: string | null;
  n: number;
  statistic: string;
  not_applicable: number;
  errors: number;
  unknown: number;
  unchecked: number;
  known_alone: string | null;
  worst: string | null;
  why: string;
  notes: string[];
  method: string | null;
}

/** A metric and its values, one for each of `configs` in order, null if it was not requested. */
export interface MetricSummary {
  name: string;
  title: string;
  class: MetricClass;
  family: string;
  unit: string;
  direction: "higher" | "lower" | "neutral";
  meaning: string;
  by: (MetricValue | null)[];
}

/** A configuration; `states` counts its cases, `judged_unknowns` what a judge says of the unknown ones, null where none was asked whether answers are right; `unjudged` the cases that lack a verdict. */
export interface ConfigSummary {
  id: string;
  outcome: Outcome | null;
  reasons: string[];
  cases: number;
  states: {
    passed: number;
    failed: number;
    leaked: number;
    missing: number;
    unknown: number;
  };
  judged_unknowns: JudgedUnknowns | null;
  unjudged: number;
  repeats: number;
  stage: string | null;
  versions: Record<string, string[]>;
}

/** Unknown cases by what a judge says of their answers; `standing` is why that does not count, empty if it counts. */
export interface JudgedUnknowns {
  right: number;
  partly_right: number;
  wrong: number;
  unlabelled: number;
  standing: "" | "uncalibrated" | "may not gate";
}

/** A rule of the gate and its result. `cases` are indices in the golden set, `more` counts those not listed. */
export interface RuleResult {
  config: string;
  state: string;
  metric: string;
  title: string;
  slice: string;
  number: string;
  bound: string;
  scored: string;
  detects: string;
  severity: string;
  message: string;
  waived: string;
  class: MetricClass;
  reason: string;
  cases: number[];
  more: number;
}

/** One slice of one configuration; `cells` are aligned with `columns`. */
export interface SliceRow {
  config: string;
  slice: string;
  cases: number;
  small: boolean;
  cells: Figure[];
}

/** Cases by root cause, or by failed check, and tag; `counts` are aligned with `tags`. */
export interface CauseCounts {
  kind: "cause" | "check";
  tags: string[];
  rows: {
    name: string;
    total: number;
    counts: number[];
  }[];
  left_out: number;
}

/** Milliseconds of one step over `n` cases. */
export interface StepTime {
  config: string;
  step: string;
  p50: number;
  p95: number;
  n: number;
}

export interface ComparisonSide {
  name: string;
  config: string;
  golden: string;
  cases: number;
  versions: Record<string, string[]>;
  judge: string | null;
}

/** One metric's change from baseline to candidate; a positive gain is an improvement. */
export interface MetricChange {
  name: string;
  title: string;
  class: MetricClass;
  unit: string;
  baseline: string | null;
  candidate: string | null;
  gain: number | null;
  gain_text: string | null;
  low: number | null;
  high: number | null;
  interval: string | null;
  p: number | null;
  p_adjusted: number | null;
  verdict: "improved" | "regressed" | "rose" | "not significant" | "n/a";
  method: string;
  n: number;
  improved: number;
  regressed: number;
  unchanged: number;
  unpaired: number;
  detectable: string | null;
  note: string;
  importance: number;
}

/** One metric's change on one slice. */
export interface SliceChange {
  slice: string;
  name: string;
  title: string;
  class: MetricClass;
  unit: string;
  baseline: string | null;
  candidate: string | null;
  gain: number | null;
  gain_text: string | null;
  low: number | null;
  high: number | null;
  interval: string | null;
  p: number | null;
  p_adjusted: number | null;
  verdict: "improved" | "regressed" | "rose" | "not significant" | "n/a";
  method: string;
  n: number;
  improved: number;
  regressed: number;
  unchanged: number;
  unpaired: number;
  detectable: string | null;
  note: string;
  importance: number;
}

/** How often evidence moved from one rank to another at a stage; null if absent. */
export interface RankLane {
  stage: string;
  before: number | null;
  after: number | null;
  count: number;
}

/** Evidence of a case that changed rank. `case` is an index in the golden set, -1 if unknown. */
export interface RankMove {
  case: number;
  id: string;
  name: string;
  stage: string;
  before: number | null;
  after: number | null;
}

/** How many cases, and the ids of the first ones. */
export interface FlippedCases {
  total: number;
  cases: string[];
}

export interface Comparison {
  baseline: ComparisonSide;
  candidate: ComparisonSide;
  metrics: MetricChange[];
  regressed: string[];
  slices: number;
  slices_left_out: number;
  lanes: RankLane[];
  moves: RankMove[];
  moves_left_out: number;
  flipped: {
    fail_now: FlippedCases;
    fail_no_longer: FlippedCases;
    unknown_now: number;
  };
  leaks: string;
  leaking: {
    now_alone: FlippedCases;
    before_alone: FlippedCases;
    on_both: boolean;
  };
  transitions: [string, string, number][];
  changed: string[];
  moved: string[];
  notes: string[];
  decision: {
    outcome: Outcome;
    reasons: string[];
    events: string[];
  } | null;
  rules: RuleResult[];
}

export type ShortAnswerState = "absent" | "text" | "null" | "never" | "withheld" | "error";

/** The rank of evidence in the last ranking, or why it has none. */
export type EvidenceRank = number | "absent" | "none_expected" | "no_ranking" | "untold";

/** A failed case in short. `case` is an index in the golden set, `rank` that of its first required evidence in the last ranking. */
export interface FailedCase {
  case: number;
  id: string;
  state: CaseState;
  change: string;
  question: string;
  behaviour: string;
  expected: string;
  answered: ShortAnswerState;
  answer: string | null;
  rank: EvidenceRank | null;
  checks: string[];
  cause: string | null;
  happened: Happened | null;
  fix: string;
}

/** What happened to a case: the signs of its causes, most likely first, with their ids, and what the finding claims of them. */
export interface Happened {
  claim: "one" | "likely" | "perhaps" | "several" | "untold";
  signs: string[];
  ids: string[];
}

/** The failed cases of a configuration; `total` counts those that are not listed too, `unanswered` those without an answer: nothing was measured of them. */
export interface ConfigFailures {
  config: string;
  total: number;
  unanswered: number;
  causes: {
    cause: string;
    sign: string;
    decided: number;
    likely: number;
    total: number;
    fix: string;
    cases: string[];
    leaked: boolean;
  }[];
  cases: FailedCase[];
}

/** How often the evidence reached the generator, and how often the answer was good. */
export interface OutcomeCounts {
  config: string;
  reached_good: number;
  reached_bad: number;
  not_reached_good: number;
  not_reached_bad: number;
  no_cell: number;
}

/** A table as text. */
export interface ReportTable {
  title: string;
  columns: string[];
  rows: string[][];
  notes: string[];
}

/** The island `report`: everything on the first screen. */
export interface Report {
  outcome: Outcome;
  reasons: string[];
  events: string[];
  doubts: string[];
  golden: {
    name: string;
    version: string;
    digest: string;
    cases: number;
    judgments: string;
  };
  gate: string | null;
  date: string;
  owner: string;
  assay: string;
  explain: string;
  show_forbidden: boolean;
  configs: ConfigSummary[];
  inputs: {
    path: string;
    format: string;
    rows: number;
    configs: string[];
  }[];
  warnings: string[];
  notes: string[];
  limits: string[];
  variants: ReportTable[];
  failures: ConfigFailures[];
  outcomes: OutcomeCounts[];
  headlines: string[];
  key_metrics: string[];
  metrics: MetricSummary[];
  rules: RuleResult[];
  slices: {
    columns: string[];
    rows: SliceRow[];
    left_out: number;
  };
  causes: Record<string, CauseCounts>;
  times: StepTime[];
  comparison: Comparison | null;
}

/** One name per case, as an index in `names`. */
export interface CodedNames {
  names: string[];
  codes: number[];
}

/** What happened to each case, as an index in `findings`, -1 without a cause. */
export interface CodedFindings {
  findings: Happened[];
  codes: number[];
}

/** A list of names per case, as indices in `names`. */
export interface CodedNameLists {
  names: string[];
  codes: number[][];
}

/** How each case changed from the baseline; by metric, the indices of improved and regressed cases. */
export interface CaseChanges {
  names: string[];
  codes: number[];
  metrics: Record<string, {
    improved: number[];
    regressed: number[];
  }>;
}

/** One metric's score of every case; `why` holds runs of (rows, index in `reasons`) for rows without a number. */
export interface ScoreColumn {
  name: string;
  values: (number | null)[];
  why: number[];
  reasons: [string, string][];
}

/** One configuration's part of the case list; `states` are indices in the `states` of the rows, `answered` indices in the states of short answers, `ranks` the rank of the first required evidence in the last ranking. */
export interface ConfigRows {
  states: number[];
  checks: CodedNameLists;
  warned: CodedNameLists;
  metrics: string[];
  answers: (string | null)[];
  answered: number[];
  ranks: (EvidenceRank | null)[];
  causes?: CodedNames;
  happened?: CodedFindings;
  verdicts?: CodedNames;
}

/** The island `rows`: the case list, column by column. `islands` is the number of the `detail-N` island, -1 if none. */
export interface CaseRows {
  ids: string[];
  questions: string[];
  expected: (string | null)[];
  behaviours: CodedNames;
  tags: CodedNameLists;
  islands: number[];
  states: CaseState[];
  configs: Record<string, ConfigRows>;
  changes?: CaseChanges;
}

/** One chunk of a ranking; `hidden` if its text is withheld. */
export interface RankedChunk {
  id: string;
  score: number | null;
  grade: number | null;
  units: number;
  marks: string[];
  hidden: boolean;
}

export interface StageRanking {
  name: string;
  ms: number | null;
  chunks: RankedChunk[];
}

/** The rank of one unit of evidence at every stage, null where it is absent. */
export interface EvidenceTrace {
  unit: number;
  name: string;
  grade: number;
  required: boolean;
  ranks: Record<string, number | null>;
  lost_at?: string | null;
}

/** The root cause of a case's outcome; fields with their default value are left out. */
export interface Attribution {
  case_id: string;
  verdict: string;
  cause?: string | null;
  subtype?: string;
  stage?: string | null;
  evidence?: string[];
  confidence?: string;
  sign?: string;
  happened?: Happened;
  fix?: string;
  good?: boolean | null;
  reached?: boolean | null;
  signal?: string;
  traces?: EvidenceTrace[];
  also?: string[];
  subcause?: string;
  record?: string[];
}

/** One claim of the answer and the label that a scorer gave it. */
export interface ClaimView {
  text: string;
  state: "supported" | "contradicted" | "unsupported" | "unknown";
  by: string;
  reasoning: string;
  quote: string | null;
  source: string | null;
}

/** One recorded vote of the judge. */
export interface JudgeVote {
  rubric: string;
  sample: number;
  model: string | null;
  unscored: string | null;
  message: string;
  flags: string[];
  items: ({
    id: string;
    label: string;
    reasoning: string;
    quote: string | null;
    source: string | null;
  })[];
}

/** Whether there is an answer: text, null, never requested, or withheld. */
export type AnswerState = "text" | "null" | "never" | "withheld";

/** One case in one configuration; the optional fields are absent if there is no output. Citations are (citation, exists, reachable, in context). */
export interface CaseView {
  observed: boolean;
  failed: string[];
  warnings: string[];
  stages: StageRanking[] | null;
  context: RankedChunk[] | null;
  texts: Record<string, string>;
  citations: ([string, boolean | null, boolean | null, boolean | null])[] | null;
  how: Record<string, string>;
  entities?: [string, boolean][];
  claims: ClaimView[];
  verdicts: JudgeVote[];
  attribution: Attribution | null;
  answer?: string | null;
  answered?: AnswerState;
  declared?: string | null;
  rewrite?: string | null;
  error?: string | null;
  usage?: Record<string, unknown> | null;
  tools?: ({
    name: string;
    error: string | null;
    result: string | null;
  })[] | number | null;
  versions?: Record<string, string>;
}

/** One case in full, with its view in each configuration. */
export interface CaseDetail {
  question: string;
  history: {
    role: string;
    text: string;
  }[];
  user: [string, string][];
  behaviour: string;
  also: string[];
  reference: string | null;
  must_have: string[];
  must_cite: string[];
  keywords: string[];
  evidence: string[];
  forbidden: string[];
  quotes: string[];
  difficulty: string;
  language: string | null;
  attributes: Record<string, string>;
  notes: string;
  metadata: [string, string][];
  views: Record<string, CaseView>;
}
