// The filter of the case list; it is kept in the address so that a view can be shared.

import { getOwn } from "./data";
import type { CaseRows, ConfigRows, Report, ScoreColumn } from "./types";

export interface Filter {
  config: string;
  q: string;
  status: string;
  tag: string;
  cause: string;
  check: string;
  behaviour: string;
  change: string;
  metric: string;
  most: string;
  sort: string;
  differing: string;
  page: string;
}

const EMPTY: Filter = {
  config: "",
  q: "",
  status: "",
  tag: "",
  cause: "",
  check: "",
  behaviour: "",
  change: "",
  metric: "",
  most: "",
  sort: "golden",
  differing: "",
  page: "",
};

export function readFilter(query: URLSearchParams, report: Report): Filter {
  const filter = { ...EMPTY };
  for (const name of Object.keys(EMPTY) as (keyof Filter)[]) filter[name] = query.get(name) ?? EMPTY[name];
  if (!report.configs.some((config) => config.id === filter.config)) filter.config = report.configs[0]?.id ?? "";
  return filter;
}

/** The view that a filter belongs to: the list of cases or the matrix. */
export type FilteredView = "cases" | "matrix";

/** Writes a filter into the address, without a new entry in the history for each letter typed. */
export function changeFilter(filter: Filter, view: FilteredView = "cases"): void {
  history.replaceState(null, "", filterHash(filter, view));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

export function filterHash(filter: Filter, view: FilteredView = "cases"): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== EMPTY[name as keyof Filter]) query.set(name, value);
  }
  const text = query.toString();
  return text === "" ? `#/${view}` : `#/${view}?${text}`;
}

/** Normalises text for a search that ignores case and diacritics: `nghi phep` finds `nghỉ phép`. */
function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("đ", "d").replaceAll("Đ", "D").toLowerCase();
}

const searchable = new WeakMap<CaseRows, string[]>();

function searchTexts(rows: CaseRows): string[] {
  let texts = searchable.get(rows);
  if (texts === undefined) {
    texts = rows.ids.map((id, index) => folded(`${id} ${rows.questions[index] ?? ""}`));
    searchable.set(rows, texts);
  }
  return texts;
}

/** Returns the indices of the cases that pass the filter, in its order; `column` has the scores of its metric. */
export function matching(rows: CaseRows, filter: Filter, column: ScoreColumn | undefined): number[] {
  const configRows = getOwn(rows.configs, filter.config);
  if (configRows === undefined) return [];
  const tests: ((index: number) => boolean)[] = [];
  const is = (codes: number[], names: readonly string[], wanted: string) => {
    const code = names.indexOf(wanted);
    if (wanted !== "") tests.push((index) => codes[index] === code);
  };
  const has = (codes: number[][], names: string[], wanted: string) => {
    const code = names.indexOf(wanted);
    if (wanted !== "") tests.push((index) => codes[index]?.includes(code) ?? false);
  };
  is(rows.behaviours.codes, rows.behaviours.names, filter.behaviour);
  has(rows.tags.codes, rows.tags.names, filter.tag);
  has(configRows.checks.codes, configRows.checks.names, filter.check);
  is(configRows.causes?.codes ?? [], configRows.causes?.names ?? [], filter.cause);
  is(rows.changes?.codes ?? [], rows.changes?.names ?? [], filter.change);
  if (filter.status === "failed") tests.push((index) => ["failed", "leaked", "missing"].includes(stateOf(rows, configRows, index)));
  else is(configRows.states, rows.states, filter.status);
  if (filter.differing !== "") {
    const all = Object.values(rows.configs);
    tests.push((index) => all.some((other) => other.states[index] !== all[0]?.states[index]));
  }
  const words = folded(filter.q).split(/\s+/).filter(Boolean);
  if (words.length > 0) {
    const texts = searchTexts(rows);
    tests.push((index) => words.every((word) => texts[index]?.includes(word)));
  }
  const most = Number.parseFloat(filter.most);
  if (column !== undefined && Number.isFinite(most)) {
    tests.push((index) => (column.values[index] ?? Number.POSITIVE_INFINITY) <= most);
  }
  const indices = rows.ids.map((_, index) => index).filter((index) => tests.every((test) => test(index)));
  return sorted(indices, rows, configRows, column, filter.sort);
}

export function stateOf(rows: CaseRows, configRows: ConfigRows, index: number): string {
  return rows.states[configRows.states[index] ?? 0] ?? "";
}

function sorted(indices: number[], rows: CaseRows, configRows: ConfigRows, column: ScoreColumn | undefined, sort: string): number[] {
  if (sort === "id") {
    const order = new Intl.Collator("en", { numeric: true }).compare;
    return indices.sort((a, b) => order(rows.ids[a] ?? "", rows.ids[b] ?? ""));
  }
  if (sort === "failed") {
    const count = (index: number) => configRows.checks.codes[index]?.length ?? 0;
    return indices.sort((a, b) => count(b) - count(a) || a - b);
  }
  if ((sort === "low" || sort === "high") && column !== undefined) {
    const sign = sort === "low" ? 1 : -1;
    const value = (index: number) => column.values[index] ?? sign * Number.POSITIVE_INFINITY;
    return indices.sort((a, b) => (value(a) === value(b) ? a - b : sign * (value(a) - value(b))));
  }
  return indices;
}
