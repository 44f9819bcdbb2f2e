// One metric over time: a line with its intervals and gaps, what happened in between, and the same as tables.

import { useEffect, useRef, useState } from "preact/hooks";
import { drawBand, drawLine, formatInterval, formatValue, makeScales, thinOut, type Frame } from "./figures";
import type { Series, SeriesMark, SeriesPoint } from "./page_types";
import { useWords } from "./parts";
import { DataTable } from "./table";
import { Data, visible } from "./text";

const HEIGHT = 190;
const MOST_DRAWN = 1500;
const MOST_DOTS = 100;
const MOST_NUMBERED = 24;
const PAGE = 100;

/** The width of an element, followed as it changes. */
function useWidth(first: number) {
  const holder = useRef<HTMLDivElement>(null);
  const [width, measure] = useState(first);
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) measure(Math.max(200, Math.floor(entry.contentRect.width)));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { holder, width };
}

/** Charts of some series; more than a screen of them are shown on request. */
export function SeriesList({ series }: { series: readonly Series[] }) {
  const { t } = useWords();
  const [limit, extend] = useState(12);
  const [chosen, choose] = useState({ metric: "", slice: "", configuration: "" });
  if (series.length === 0) return <p>{t("no_series")}</p>;
  const fits = series.filter(
    (item) =>
      (chosen.metric === "" || item.name === chosen.metric) &&
      (chosen.slice === "" || item.slice === chosen.slice) &&
      (chosen.configuration === "" || item.configuration === chosen.configuration),
  );
  const select = (name: keyof typeof chosen) => (value: string) => {
    choose({ ...chosen, [name]: value });
    extend(12);
  };
  return (
    <>
      <div class="filters">
        <Choice name="metric" values={series.map((item) => item.name)} value={chosen.metric} choose={select("metric")} />
        <Choice name="slice" values={series.map((item) => item.slice)} value={chosen.slice} choose={select("slice")} />
        <Choice
          name="configuration"
          values={series.map((item) => item.configuration)}
          value={chosen.configuration}
          choose={select("configuration")}
        />
      </div>
      <div class="series-list">
        {fits.slice(0, limit).map((item, index) => (
          <SeriesFigure key={`${item.key} ${item.slice} ${item.configuration} ${index}`} series={item} />
        ))}
      </div>
      {fits.length > limit && (
        <p class="print-hidden">
          <button type="button" class="button" onClick={() => extend(limit + 12)}>
            {t("show_more")}
          </button>{" "}
          <span class="hint">{t("show_of", { shown: limit, all: fits.length })}</span>
        </p>
      )}
    </>
  );
}

interface ChoiceProps {
  name: "metric" | "slice" | "configuration";
  values: (string | null)[];
  value: string;
  choose: (value: string) => void;
}

/** Selects one of several values; absent where there is nothing to select. */
function Choice({ name, values, value, choose }: ChoiceProps) {
  const { t } = useWords();
  const names = [...new Set(values.filter((item) => item !== null))];
  if (names.length < 2) return null;
  return (
    <label>
      {t(`chosen_${name}`)}
      <select name={name} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{t("all")}</option>
        {names.map((item) => (
          <option key={item} value={item}>
            {visible(item)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function SeriesFigure({ series }: { series: Series }) {
  const { t, w } = useWords();
  const { holder, width } = useWidth(640);
  const last = series.points.findLast((point) => point.value !== null);
  const gaps = series.points.filter((point) => point.value === null);
  return (
    <figure class="series" ref={holder}>
      <figcaption>
        <strong>
          <Data text={series.name} />
        </strong>{" "}
        {series.slice !== null && (
          <span class="pill">
            <Data text={series.slice} />
          </span>
        )}
        {series.configuration !== null && (
          <span class="pill">
            <Data text={series.configuration} />
          </span>
        )}
        {series.caveat && (
          <span class="pill warn">
            <Data text={series.caveat} />
          </span>
        )}
        {last !== undefined && (
          <span class="series-last">
            {t("last_value")} <b>{formatValue(last.value ?? 0, series.unit)}</b>{" "}
            <span class="n">{formatInterval(last.low, last.high, series.unit)}</span>
          </span>
        )}
        <span class="hint">
          {[w("unit", series.unit), series.higher_is_better === null ? "" : t(`better.${series.higher_is_better}`)]
            .filter(Boolean)
            .map((text) => visible(text))
            .join(" · ")}
        </span>
      </figcaption>
      {series.points.length === 0 ? <p>{t("no_points")}</p> : <Chart series={series} width={width} />}
      {gaps.length > 0 && <Gaps points={gaps} />}
      <Marks marks={series.marks ?? []} />
      {series.points.length > 0 && <Points series={series} />}
    </figure>
  );
}

/** Says in one line what a point shows. */
function useDescription(unit: string): (point: SeriesPoint) => string {
  const { t } = useWords();
  return (point) => {
    const label = visible(point.label || point.at);
    if (point.value === null) return `${label}: ${t("no_value", { reason: visible(point.reason ?? "") })}`;
    const interval = formatInterval(point.low, point.high, unit);
    const values = { label, value: formatValue(point.value, unit), interval, n: point.n };
    return t(interval === "" ? "value_only" : "value_of", values);
  };
}

function Chart({ series, width }: { series: Series; width: number }) {
  const { t } = useWords();
  const describe = useDescription(series.unit);
  const points = series.points;
  const [current, move] = useState(points.length - 1);
  const at = Math.min(current, points.length - 1);
  const frame: Frame = { width, height: HEIGHT, left: 46, right: 10, top: 16, bottom: 20 };
  const scales = makeScales(series, frame);
  const drawn = thinOut(points, scales.x, MOST_DRAWN);
  const point = points[at];
  if (point === undefined) return null;
  const press = (event: KeyboardEvent) => {
    const far = Math.max(1, Math.round(points.length / 10));
    const steps: Record<string, number> = {
      ArrowRight: 1,
      ArrowUp: 1,
      ArrowLeft: -1,
      ArrowDown: -1,
      PageUp: far,
      PageDown: -far,
      Home: -points.length,
      End: points.length,
    };
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    if (step === undefined) return;
    event.preventDefault();
    move(Math.max(0, Math.min(points.length - 1, at + step)));
  };
  const follow = (event: PointerEvent & { currentTarget: SVGElement }) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    let nearest = 0;
    for (const index of drawn) {
      if (Math.abs(scales.x(index) - x) < Math.abs(scales.x(nearest) - x)) nearest = index;
    }
    move(nearest);
  };
  return (
    <>
      <div
        class="chart"
        role="slider"
        tabIndex={0}
        aria-label={t("chart", { name: visible(series.name) })}
        aria-valuemin={1}
        aria-valuemax={points.length}
        aria-valuenow={at + 1}
        aria-valuetext={describe(point)}
        title={t("chart_help")}
        onKeyDown={press}
      >
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} aria-hidden="true" onPointerMove={follow}>
          <Axes frame={frame} scales={scales} points={points} unit={series.unit} />
          <path class="band" d={drawBand(points, drawn, scales)} />
          <path class="gap" d={drawGaps(points, drawn, scales.x, HEIGHT - frame.bottom)} />
          <MarkLines marks={series.marks ?? []} ofTime={scales.ofTime} frame={frame} />
          <path class="line" d={drawLine(points, drawn, scales)} />
          {points.map(
            (item, index) =>
              item.open_range != null && (
                <line
                  key={`open-${index}`}
                  class="open-range"
                  x1={scales.x(index)}
                  x2={scales.x(index)}
                  y1={scales.y(item.open_range[0])}
                  y2={scales.y(item.open_range[1])}
                />
              ),
          )}
          {points.length <= MOST_DOTS
            ? points.map((item, index) => item.value !== null && <circle key={index} cx={scales.x(index)} cy={scales.y(item.value)} r={2.5} />)
            : drawn.map((index) => isAlone(points, index) && <circle key={index} cx={scales.x(index)} cy={scales.y(points[index]?.value ?? 0)} r={1.5} />)}
          <line class="cursor" x1={scales.x(at)} x2={scales.x(at)} y1={frame.top} y2={HEIGHT - frame.bottom} />
          {point.value !== null && <circle class="cursor" cx={scales.x(at)} cy={scales.y(point.value)} r={5} />}
        </svg>
      </div>
      <p class="reading" aria-hidden="true">
        <bdi>{describe(point)}</bdi>
      </p>
    </>
  );
}

/** Whether a point has a value and neither neighbour has: a line would not show it. */
function isAlone(points: readonly SeriesPoint[], index: number): boolean {
  const value = (at: number) => points[at]?.value ?? null;
  return value(index) !== null && value(index - 1) === null && value(index + 1) === null;
}

/** Ticks on the lower edge where a value is unknown. */
function drawGaps(points: readonly SeriesPoint[], drawn: readonly number[], x: (index: number) => number, floor: number): string {
  let path = "";
  let before = -1;
  for (const index of drawn) {
    const at = Math.round(x(index));
    if ((points[index]?.value ?? null) === null && at !== before) {
      path += `M${at} ${floor}v-7`;
      before = at;
    }
  }
  return path;
}

interface AxesProps {
  frame: Frame;
  scales: { x: (index: number) => number; y: (value: number) => number; ticks: number[] };
  points: readonly SeriesPoint[];
  unit: string;
}

const LABEL_WIDTH = 16;

function shortLabel(point: SeriesPoint | undefined): string {
  const text = visible(point?.label || point?.at || "");
  return text.length > LABEL_WIDTH ? `${text.slice(0, LABEL_WIDTH - 1)}…` : text;
}

function Axes({ frame, scales, points, unit }: AxesProps) {
  const end = frame.width - frame.right;
  return (
    <g class="axes">
      {scales.ticks.map((tick) => (
        <g key={tick}>
          <line x1={frame.left} x2={end} y1={scales.y(tick)} y2={scales.y(tick)} />
          <text x={frame.left - 6} y={scales.y(tick) + 4} text-anchor="end">
            {unit === "share" ? Number(tick.toPrecision(3)) : Math.abs(tick) >= 10000 ? tick.toExponential(1) : Number(tick.toPrecision(4))}
          </text>
        </g>
      ))}
      <text x={frame.left} y={frame.height - 5}>
        {shortLabel(points[0])}
      </text>
      {points.length > 1 && (
        <text x={end} y={frame.height - 5} text-anchor="end">
          {shortLabel(points.at(-1))}
        </text>
      )}
    </g>
  );
}

function MarkLines({ marks, ofTime, frame }: { marks: readonly SeriesMark[]; ofTime: (at: string) => number | null; frame: Frame }) {
  return (
    <>
      {marks.slice(0, MOST_NUMBERED * 10).map((mark, index) => {
        const x = ofTime(mark.at);
        if (x === null) return null;
        const numbers = marks.flatMap((other, number) => (ofTime(other.at) === x ? [number + 1] : []));
        return (
          <g key={index} class={`event ${mark.kind}`}>
            <line x1={x} x2={x} y1={frame.top} y2={frame.height - frame.bottom} />
            {marks.length <= MOST_NUMBERED && numbers[0] === index + 1 && (
              <text x={x} y={frame.top - 4} text-anchor="middle">
                {numbers.join(", ")}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

function Gaps({ points }: { points: readonly SeriesPoint[] }) {
  const { t } = useWords();
  const counts = new Map<string, number>();
  for (const point of points) counts.set(point.reason ?? "", (counts.get(point.reason ?? "") ?? 0) + 1);
  const reasons = [...counts].sort((one, other) => other[1] - one[1]).slice(0, 3);
  return (
    <p class="hint">
      {t("gaps", { n: points.length })}:{" "}
      {reasons.map(([reason, count], index) => (
        <span key={reason}>
          {index > 0 && "; "}
          <Data text={reason} />
          {counts.size > 1 && ` (${count})`}
        </span>
      ))}
      {counts.size > reasons.length && "; …"}
    </p>
  );
}

function Marks({ marks }: { marks: readonly SeriesMark[] }) {
  const { t, w } = useWords();
  const [open, toggle] = useState(false);
  if (marks.length === 0) return null;
  const label = t("marks_table", { n: marks.length });
  return (
    <details open={open} onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && (
        <Paged
          rows={marks}
          label={label}
          columns={[
            { key: "number", head: "#", cell: (_, index) => index + 1 },
            { key: "at", head: t("at"), cell: (mark) => <Data text={mark.at} /> },
            { key: "kind", head: t("what"), cell: (mark) => w("mark", mark.kind) },
            { key: "text", head: t("text"), wrap: true, cell: (mark) => <Data text={mark.text} /> },
          ]}
        />
      )}
    </details>
  );
}

function Points({ series }: { series: Series }) {
  const { t } = useWords();
  const [open, toggle] = useState(false);
  const label = t("points_table", { n: series.points.length });
  const runs = series.points.some((point) => point.run != null);
  return (
    <details open={open} onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && (
        <Paged
          rows={[...series.points].reverse()}
          label={label}
          columns={[
            { key: "point", head: t("point"), cell: (point) => <Data text={point.label || point.at} /> },
            {
              key: "value",
              head: t("value"),
              number: true,
              cell: (point) => (point.value === null ? "–" : formatValue(point.value, series.unit)),
            },
            { key: "interval", head: t("interval"), number: true, cell: (point) => formatInterval(point.low, point.high, series.unit) },
            { key: "n", head: t("count"), number: true, cell: (point) => point.n },
            ...(runs ? [{ key: "run", head: t("run"), cell: (point: SeriesPoint) => <Data text={point.run ?? ""} /> }] : []),
            { key: "reason", head: t("reason"), wrap: true, cell: (point) => <Data text={point.reason ?? ""} /> },
          ]}
        />
      )}
    </details>
  );
}

/** A table of which a page at a time is added. */
export function Paged<Row>(props: Parameters<typeof DataTable<Row>>[0]) {
  const { t } = useWords();
  const [limit, extend] = useState(PAGE);
  return (
    <>
      <DataTable {...props} rows={props.rows.slice(0, limit)} />
      {props.rows.length > limit && (
        <p>
          <button type="button" class="button" onClick={() => extend(limit + PAGE)}>
            {t("show_more")}
          </button>{" "}
          <span class="hint">{t("show_of", { shown: limit, all: props.rows.length })}</span>
        </p>
      )}
    </>
  );
}
