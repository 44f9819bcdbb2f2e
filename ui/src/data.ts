// Reading the islands of data that src/assay/report/page writes; their types come from its JSON schema (types.ts).

import type { CaseDetail, CaseRows, Report, ScoreColumn, SliceChange } from "./types";

/** The value under a key of a record with untrusted keys; inherited members such as `constructor` are not returned. */
export function getOwn<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function text(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

/** Resolves when the document is complete: the script runs before the rest of a large file has loaded. */
const arrived = new Promise<void>((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", () => done());
});

async function unpacked<T>(id: string): Promise<T> {
  await arrived;
  const packed = atob(text(id));
  const bytes = new Uint8Array(packed.length);
  for (let offset = 0; offset < packed.length; offset += 1) bytes[offset] = packed.charCodeAt(offset);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text()) as T;
}

export const report = /* @__PURE__ */ JSON.parse(text("report") || "null") as Report | null;

let rows: Promise<CaseRows> | undefined;

export function loadRows(): Promise<CaseRows> {
  rows ??= unpacked<CaseRows>("rows");
  return rows;
}

const scores = new Map<string, Promise<ScoreColumn[]>>();

/** Loads the scores of every case in one configuration, metric by metric. */
export function loadScores(data: Report, config: string): Promise<ScoreColumn[]> {
  const number = data.configs.findIndex((summary) => summary.id === config);
  let columns = scores.get(config);
  if (columns === undefined) {
    columns = unpacked<ScoreColumn[]>(`scores-${number}`);
    scores.set(config, columns);
  }
  return columns;
}

let slices: Promise<SliceChange[]> | undefined;

/** Loads how each metric changed on each slice; only a report with a comparison has them. */
export function loadSliceChanges(): Promise<SliceChange[]> {
  slices ??= unpacked<SliceChange[]>("slices");
  return slices;
}

const islands = new Map<number, Promise<Record<string, CaseDetail>>>();

/** Loads the case at an index of the golden set in full, null if the file does not contain it. */
export async function loadDetail(caseRows: CaseRows, index: number): Promise<CaseDetail | null> {
  const number = caseRows.islands[index] ?? -1;
  if (number < 0) return null;
  let island = islands.get(number);
  if (island === undefined) {
    island = unpacked<Record<string, CaseDetail>>(`detail-${number}`);
    islands.set(number, island);
  }
  return (await island)[String(index)] ?? null;
}

/** Finds why a case has no score: its status and reason. */
export function findUnscoredReason(column: ScoreColumn, index: number): [string, string] {
  let remaining = index;
  for (let offset = 0; offset < column.why.length; offset += 2) {
    remaining -= column.why[offset] ?? 0;
    if (remaining < 0) return column.reasons[column.why[offset + 1] ?? 0] ?? ["", ""];
  }
  return ["", ""];
}
