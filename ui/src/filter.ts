// Which cases a reader wants to see, kept in the address so that a view can be sent to somebody.

import { own, type Column, type ConfigRows, type Report, type Rows } from "./data";

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
};

export function readFilter(query: URLSearchParams, report: Report): Filter {
  const filter = { ...EMPTY };
  for (const name of Object.keys(EMPTY) as (keyof Filter)[]) filter[name] = query.get(name) ?? EMPTY[name];
  if (!report.configs.some((config) => config.id === filter.config)) filter.config = report.configs[0]?.id ?? "";
  return filter;
}

export function filterHash(filter: Filter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== EMPTY[name as keyof Filter]) query.set(name, value);
  }
  const text = query.toString();
  return text === "" ? "#/cases" : `#/cases?${text}`;
}

/** Text for a search that does not care for case, and finds `nghi phep` in `nghỉ phép`. */
function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("đ", "d").replaceAll("Đ", "D").toLowerCase();
}

const searchable = new WeakMap<Rows, string[]>();

function searchTexts(rows: Rows): string[] {
  let texts = searchable.get(rows);
  if (texts === undefined) {
    texts = rows.ids.map((id, place) => folded(`${id} ${rows.questions[place] ?? ""}`));
    searchable.set(rows, texts);
  }
  return texts;
}

/** The places of the cases that pass the filter, in its order; `column` holds the scores of the metric it names. */
export function matching(rows: Rows, filter: Filter, column: Column | undefined): number[] {
  const found = own(rows.configs, filter.config);
  if (found === undefined) return [];
  const tests: ((place: number) => boolean)[] = [];
  const is = (codes: number[], names: readonly string[], wanted: string) => {
    const code = names.indexOf(wanted);
    if (wanted !== "") tests.push((place) => codes[place] === code);
  };
  const has = (codes: number[][], names: string[], wanted: string) => {
    const code = names.indexOf(wanted);
    if (wanted !== "") tests.push((place) => codes[place]?.includes(code) ?? false);
  };
  is(rows.behaviours.codes, rows.behaviours.names, filter.behaviour);
  has(rows.tags.codes, rows.tags.names, filter.tag);
  has(found.checks.codes, found.checks.names, filter.check);
  is(found.causes?.codes ?? [], found.causes?.names ?? [], filter.cause);
  is(rows.changes?.codes ?? [], rows.changes?.names ?? [], filter.change);
  if (filter.status === "failed") tests.push((place) => ["failed", "leaked"].includes(stateOf(rows, found, place)));
  else is(found.states, rows.states, filter.status);
  const words = folded(filter.q).split(/\s+/).filter(Boolean);
  if (words.length > 0) {
    const texts = searchTexts(rows);
    tests.push((place) => words.every((word) => texts[place]?.includes(word)));
  }
  const most = Number.parseFloat(filter.most);
  if (column !== undefined && Number.isFinite(most)) {
    tests.push((place) => (column.values[place] ?? Number.POSITIVE_INFINITY) <= most);
  }
  const places = rows.ids.map((_, place) => place).filter((place) => tests.every((test) => test(place)));
  return sorted(places, rows, found, column, filter.sort);
}

export function stateOf(rows: Rows, found: ConfigRows, place: number): string {
  return rows.states[found.states[place] ?? 0] ?? "";
}

function sorted(places: number[], rows: Rows, found: ConfigRows, column: Column | undefined, sort: string): number[] {
  if (sort === "id") {
    const order = new Intl.Collator("en", { numeric: true }).compare;
    return places.sort((a, b) => order(rows.ids[a] ?? "", rows.ids[b] ?? ""));
  }
  if (sort === "failed") {
    const count = (place: number) => found.checks.codes[place]?.length ?? 0;
    return places.sort((a, b) => count(b) - count(a) || a - b);
  }
  if ((sort === "low" || sort === "high") && column !== undefined) {
    const sign = sort === "low" ? 1 : -1;
    const value = (place: number) => column.values[place] ?? sign * Number.POSITIVE_INFINITY;
    return places.sort((a, b) => (value(a) === value(b) ? a - b : sign * (value(a) - value(b))));
  }
  return places;
}
