// The shapes of the islands (src/assay/report/html_*.py writes them) and how they are unpacked.

export type Outcome = "PASS" | "PASS_WITH_RISK" | "FAIL" | "INCOMPLETE";
export type State = "passed" | "failed" | "leaked" | "missing";
export type ClassMark = "D" | "J";

export interface Figure {
  value: number | null;
  text: string | null;
  low: number | null;
  high: number | null;
  interval: string | null;
  n: number;
}

export interface Measure extends Figure {
  statistic: string;
  not_applicable: number;
  errors: number;
  worst: string | null;
  why: string;
  notes: string[];
  method: string | null;
}

export interface Metric {
  name: string;
  class: ClassMark;
  headline: string | null;
  family: string;
  unit: string;
  direction: "higher" | "lower" | "neutral";
  meaning: string;
  by: (Measure | null)[];
}

export interface ConfigFacts {
  id: string;
  outcome: Outcome | null;
  reasons: string[];
  cases: number;
  states: Record<State, number>;
  repeats: number;
  stage: string | null;
  versions: Record<string, string[]>;
}

export interface Rule {
  config: string;
  state: string;
  metric: string;
  slice: string;
  number: string;
  bound: string;
  scored: string;
  detects: string;
  severity: string;
  message: string;
  waived: string;
  class: ClassMark;
  reason: string;
  cases: number[];
  more: number;
}

export interface SliceRow {
  config: string;
  slice: string;
  cases: number;
  small: boolean;
  cells: Figure[];
}

export interface Causes {
  kind: "cause" | "check";
  tags: string[];
  rows: { name: string; total: number; counts: number[] }[];
  left_out: number;
}

export interface StepTime {
  config: string;
  step: string;
  p50: number;
  p95: number;
  n: number;
}

export interface Side {
  name: string;
  config: string;
  golden: string;
  cases: number;
  versions: Record<string, string[]>;
  judge: string | null;
}

export interface Change {
  name: string;
  class: ClassMark;
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
  method: string;
  n: number;
  improved: number;
  regressed: number;
  unchanged: number;
  unpaired: number;
  detectable: string | null;
  note: string;
}

export interface Lane {
  stage: string;
  before: number | null;
  after: number | null;
  count: number;
}

export interface Move {
  case: number;
  id: string;
  name: string;
  stage: string;
  before: number | null;
  after: number | null;
}

export interface Comparison {
  baseline: Side;
  candidate: Side;
  metrics: Change[];
  slices: (Change & { slice: string })[];
  slices_left_out: number;
  lanes: Lane[];
  moves: Move[];
  moves_left_out: number;
  transitions: [string, string, number][];
  changed: string[];
  moved: string[];
  notes: string[];
  decision: { outcome: Outcome; reasons: string[] } | null;
  rules: Rule[];
}

export interface Report {
  outcome: Outcome;
  reasons: string[];
  golden: { name: string; version: string; digest: string; cases: number; judgments: string };
  gate: string | null;
  date: string;
  owner: string;
  assay: string;
  explain: string;
  show_forbidden: boolean;
  configs: ConfigFacts[];
  inputs: { path: string; format: string; rows: number; configs: string[] }[];
  warnings: string[];
  notes: string[];
  limits: string[];
  metrics: Metric[];
  rules: Rule[];
  slices: { columns: string[]; rows: SliceRow[]; left_out: number };
  causes: Record<string, Causes>;
  times: StepTime[];
  comparison: Comparison | null;
}

export interface Coded {
  names: string[];
  codes: number[];
}

export interface CodedLists {
  names: string[];
  codes: number[][];
}

/** One metric's score of every case; `why` holds runs of (rows, place in `reasons`) for rows without a number. */
export interface Column {
  name: string;
  values: (number | null)[];
  why: number[];
  reasons: [string, string][];
}

export interface ConfigRows {
  states: number[];
  checks: CodedLists;
  warned: CodedLists;
  metrics: string[];
  causes?: Coded;
  verdicts?: Coded;
}

export interface Rows {
  ids: string[];
  questions: string[];
  behaviours: Coded;
  tags: CodedLists;
  islands: number[];
  states: State[];
  configs: Record<string, ConfigRows>;
  changes?: Coded & { metrics: Record<string, { improved: number[]; regressed: number[] }> };
}

export interface ChunkRow {
  id: string;
  score: number | null;
  grade: number | null;
  units: number;
  marks: string[];
  hidden: boolean;
}

export interface StageRows {
  name: string;
  ms: number | null;
  chunks: ChunkRow[];
}

export interface Walk {
  unit: number;
  name: string;
  grade: number;
  required: boolean;
  ranks: Record<string, number | null>;
  lost_at?: string | null;
}

export interface Attribution {
  verdict: string;
  cause?: string | null;
  subtype?: string;
  stage?: string | null;
  evidence?: string[];
  confidence?: string;
  sign?: string;
  fix?: string;
  good?: boolean | null;
  reached?: boolean | null;
  signal?: string;
  walk?: Walk[];
  also?: string[];
}

export interface Claim {
  text: string;
  state: "supported" | "contradicted" | "unsupported" | "unknown";
  by: string;
  reasoning: string;
  quote: string | null;
  source: string | null;
}

export interface Vote {
  rubric: string;
  sample: number;
  model: string | null;
  unscored: string | null;
  message: string;
  flags: string[];
  items: { id: string; label: string; reasoning: string; quote: string | null; source: string | null }[];
}

export type Answered = "text" | "null" | "never" | "withheld";
export type Known = boolean | null;

export interface View {
  observed: boolean;
  failed: string[];
  warnings: string[];
  stages: StageRows[] | null;
  context: ChunkRow[] | null;
  texts: Record<string, string>;
  citations: [string, Known, Known, Known][] | null;
  how: Record<string, string>;
  claims: Claim[];
  verdicts: Vote[];
  attribution: Attribution | null;
  answer?: string | null;
  answered?: Answered;
  declared?: string | null;
  rewrite?: string | null;
  error?: string | null;
  usage?: Record<string, unknown> | null;
  tools?: { name: string; error: string | null }[] | number | null;
  versions?: Record<string, string>;
}

export interface Detail {
  question: string;
  history: { role: string; text: string }[];
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
  views: Record<string, View>;
}

/** What a record that strangers named the keys of holds under a key: never what every object has, as `constructor`. */
export function own<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function text(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

/** The script runs before the rest of a large file has arrived. */
const arrived = new Promise<void>((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", () => done());
});

async function unpacked<T>(id: string): Promise<T> {
  await arrived;
  const packed = atob(text(id));
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at += 1) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text()) as T;
}

export const report = JSON.parse(text("report") || "null") as Report | null;

let rows: Promise<Rows> | undefined;

export function loadRows(): Promise<Rows> {
  rows ??= unpacked<Rows>("rows");
  return rows;
}

const scores = new Map<string, Promise<Column[]>>();

/** The scores of every case under a configuration, metric by metric. */
export function loadScores(found: Report, config: string): Promise<Column[]> {
  const number = found.configs.findIndex((each) => each.id === config);
  let columns = scores.get(config);
  if (columns === undefined) {
    columns = unpacked<Column[]>(`scores-${number}`);
    scores.set(config, columns);
  }
  return columns;
}

const islands = new Map<number, Promise<Record<string, Detail>>>();

/** The whole case at a place of the golden set, null where the file does not hold it. */
export async function loadDetail(found: Rows, place: number): Promise<Detail | null> {
  const number = found.islands[place] ?? -1;
  if (number < 0) return null;
  let island = islands.get(number);
  if (island === undefined) {
    island = unpacked<Record<string, Detail>>(`detail-${number}`);
    islands.set(number, island);
  }
  return (await island)[String(place)] ?? null;
}

/** Why a case has no score: its state and reason. */
export function whyOf(column: Column, place: number): [string, string] {
  let rest = place;
  for (let at = 0; at < column.why.length; at += 2) {
    rest -= column.why[at] ?? 0;
    if (rest < 0) return column.reasons[column.why[at + 1] ?? 0] ?? ["", ""];
  }
  return ["", ""];
}
