// The list of all cases: filters, then the rows. Only the visible rows are in the document, however many there are.

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { getOwn } from "./data";
import type { CaseRows, Report, ScoreColumn } from "./types";
import { changeFilter, filterHash, matching, stateOf, type Filter } from "./filter";
import { caseHash, StateBadge, useCauseOfRow, useChecks, useScores, useWords } from "./parts";
import { PrintedFailures } from "./printed";
import type { Key } from "./words";
import { Data, visible } from "./text";

const WIDE_ROW = 68;
const NARROW_ROW = 96; // of three lines, as in `style.css`
const NARROW = "(max-width: 40rem)";
const MARGIN = 8;
const SORTS = ["golden", "id", "failed", "low", "high"] as const;

export function Cases({ report, rows, filter }: { report: Report; rows: CaseRows; filter: Filter }) {
  const { t } = useWords();
  const key = filterHash(filter);
  const columns = useScores(report, filter.metric === "" ? null : filter.config);
  const column = columns?.find((item) => item.name === filter.metric);
  const indices = useMemo(() => matching(rows, filter, column), [rows, key, column]);
  const change = (changed: Partial<Filter>) => changeFilter({ ...filter, ...changed });
  return (
    <>
      <h1>{t("cases")}</h1>
      <Filters report={report} rows={rows} filter={filter} change={change} />
      <p class="count" aria-live="polite">
        {t("matching", { n: indices.length, total: rows.ids.length })}
      </p>
      {indices.length === 0 ? <p>{t("none_match")}</p> : <List key={key} rows={rows} filter={filter} column={column} indices={indices} />}
      <PrintedFailures report={report} rows={rows} />
    </>
  );
}

interface FilterProps {
  report: Report;
  rows: CaseRows;
  filter: Filter;
  change: (changed: Partial<Filter>) => void;
  matrix?: boolean;
}

/** The filters of the list of cases; those of the matrix have no metric, and one more for outcomes that differ. */
export function Filters({ report, rows, filter, change, matrix = false }: FilterProps) {
  const { t, w } = useWords();
  const configRows = getOwn(rows.configs, filter.config);
  const nameChecks = useChecks();
  const named = (kind: string) => (name: string) => w(kind, name);
  const options = (names: readonly string[]) => names.filter((name) => name !== "").toSorted();
  const choice = (name: keyof Filter, label: Key, values: readonly string[], shown = visible, any = true) => (
    <Choice name={name} label={t(label)} values={values} shown={shown} any={any} filter={filter} change={change} />
  );
  return (
    <form role="search" class="filters" aria-label={t("filters")} onSubmit={(event) => event.preventDefault()}>
      <label class="wide">
        {t("search")}
        <Search value={filter.q} change={(q) => change({ q })} />
      </label>
      {report.configs.length > 1 && choice("config", "config", report.configs.map((item) => item.id), visible, false)}
      {choice("status", "status", rows.states, named("state"))}
      {choice("tag", "tag", options(rows.tags.names))}
      {configRows?.causes !== undefined && choice("cause", "cause", options(configRows.causes.names), named("cause"))}
      {choice("check", "failed_check", options(configRows?.checks.names ?? []), (name) => visible(nameChecks([name]).join()))}
      {choice("behaviour", "behaviour", options(rows.behaviours.names), named("behaviour"))}
      {rows.changes !== undefined && choice("change", "change", rows.changes.names, named("change"))}
      {matrix && choice("differing", "differing", ["yes"], named("differing"))}
      {!matrix && choice("metric", "score_metric", configRows?.metrics ?? [])}
      {!matrix && filter.metric !== "" && (
        <label>
          {t("at_most")}
          <input
            type="number"
            step="any"
            value={filter.most}
            onInput={(event) => change({ most: event.currentTarget.value })}
          />
        </label>
      )}
      {choice("sort", "sort", matrix || filter.metric === "" ? SORTS.slice(0, 3) : SORTS, named("sort"), false)}
      <a class="button" href={matrix ? "#/matrix" : "#/cases"}>
        {t("reset")}
      </a>
    </form>
  );
}

interface ChoiceProps {
  name: keyof Filter;
  label: string;
  values: readonly string[];
  shown: (value: string) => string;
  any: boolean;
  filter: Filter;
  change: (changed: Partial<Filter>) => void;
}

function Choice({ name, label, values, shown, any, filter, change }: ChoiceProps) {
  const { t } = useWords();
  return (
    <label>
      {label}
      <select name={name} value={filter[name]} onChange={(event) => change({ [name]: event.currentTarget.value })}>
        {any && <option value="">{t("any")}</option>}
        {filter[name] !== "" && !values.includes(filter[name]) && (
          <option value={filter[name]}>{visible(filter[name])}</option> // from an address: it filters, so it is shown
        )}
        {values.map((value) => (
          <option key={value} value={value}>
            {shown(value)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A search field that waits for a pause in typing, because it may search 50,000 questions. */
function Search({ value, change }: { value: string; change: (text: string) => void }) {
  const [typed, type] = useState(value);
  const sent = useRef(value); // so that a value that comes back late does not undo what was typed since
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    type(value);
  }, [value]);
  useEffect(() => {
    if (typed === value) return;
    const waiting = setTimeout(() => {
      sent.current = typed;
      change(typed);
    }, 150);
    return () => clearTimeout(waiting);
  }, [typed]);
  return <input type="search" name="q" value={typed} onInput={(event) => type(event.currentTarget.value)} />;
}

interface ListProps {
  rows: CaseRows;
  filter: Filter;
  column: ScoreColumn | undefined;
  indices: number[];
}

/** The height of a row, followed as the window changes. */
function useRowHeight(): number {
  const [isNarrow, measure] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const changed = () => measure(media.matches);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, []);
  return isNarrow ? NARROW_ROW : WIDE_ROW;
}

/** Rows of one height in a box that scrolls; arrow keys, Page Up and Down, Home and End move between them. */
function List({ rows, filter, column, indices }: ListProps) {
  const { t } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const [top, scroll] = useState(0);
  const [height, measure] = useState(600);
  const [active, activate] = useState(-1);
  const rowHeight = useRowHeight();
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => measure(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (active >= 0) box.current?.querySelector<HTMLElement>(`[data-row="${active}"] a`)?.focus({ preventScroll: true });
  }, [active]);
  const first = Math.max(0, Math.floor(top / rowHeight) - MARGIN);
  const last = Math.min(indices.length, Math.ceil((top + height) / rowHeight) + MARGIN);
  const go = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const focused = (event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"];
    const to = nextRow(event.key, focused === undefined ? first - 1 : Number(focused), indices.length, Math.floor(height / rowHeight));
    if (to === null || box.current === null) return;
    event.preventDefault();
    const element = box.current;
    if (to * rowHeight < element.scrollTop) element.scrollTop = to * rowHeight;
    if ((to + 1) * rowHeight > element.scrollTop + height) element.scrollTop = (to + 1) * rowHeight - height;
    scroll(element.scrollTop);
    activate(to);
  };
  return (
    <div
      class="list"
      ref={box}
      role="table"
      aria-label={t("cases")}
      aria-rowcount={indices.length}
      tabIndex={0}
      onKeyDown={go}
      onScroll={(event) => scroll(event.currentTarget.scrollTop)}
    >
      <div class="list-space" role="rowgroup" style={{ height: `${indices.length * rowHeight}px` }}>
        {indices.slice(first, last).map((index, offset) => (
          <Row key={index} rows={rows} filter={filter} column={column} index={index} row={first + offset} height={rowHeight} />
        ))}
      </div>
    </div>
  );
}

function nextRow(key: string, row: number, count: number, visibleRows: number): number | null {
  const page = Math.max(1, visibleRows - 1);
  const moves: Record<string, number> = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: count - 1,
  };
  const to = Object.hasOwn(moves, key) ? moves[key] : undefined;
  return to === undefined ? null : Math.min(count - 1, Math.max(0, to));
}

interface RowProps {
  rows: CaseRows;
  filter: Filter;
  column: ScoreColumn | undefined;
  index: number;
  row: number;
  height: number;
}

function Row({ rows, filter, column, index, row, height }: RowProps) {
  const nameChecks = useChecks();
  const causeOf = useCauseOfRow();
  const configRows = getOwn(rows.configs, filter.config);
  if (configRows === undefined) return null;
  const id = rows.ids[index] ?? "";
  const checks = (configRows.checks.codes[index] ?? []).map((code) => configRows.checks.names[code] ?? "");
  const tags = (rows.tags.codes[index] ?? []).map((code) => rows.tags.names[code] ?? "");
  const cause = causeOf(configRows, index);
  const change = rows.changes?.names[rows.changes.codes[index] ?? 0] ?? "";
  const value = column?.values[index];
  const marks = [nameChecks(checks).join(", "), tags.join(" · ")].filter(Boolean).join(" — ");
  return (
    <div class="row" role="row" aria-rowindex={row + 1} data-row={row} style={{ top: `${row * height}px`, height: `${height}px` }}>
      <span role="cell" class="row-id">
        <a href={caseHash(id, filter.config)} title={id}>
          <Data text={id} />
        </a>
      </span>
      <span role="cell" class="row-question" title={visible(rows.questions[index] ?? "")}>
        <Data text={rows.questions[index] ?? ""} />
      </span>
      <span role="cell" class="row-marks">
        <StateBadge kind="state" name={stateOf(rows, configRows, index)} />
        {change !== "" && change !== "unchanged" && <StateBadge kind="change" name={change} />}
        {cause !== "" && (
          <span class="row-cause" title={cause}>
            <Data text={cause} />
          </span>
        )}
        <span class="hint" title={visible(marks)}>
          <Data text={marks} />
        </span>
      </span>
      <span role="cell" class="row-score">
        {column !== undefined && (value === null || value === undefined ? "–" : value)}
      </span>
    </div>
  );
}
