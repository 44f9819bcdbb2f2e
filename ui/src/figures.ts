// Geometry of a metric over time: where points, intervals and gaps lie in a picture of a given size. No part draws.

import type { Series, SeriesPoint } from "./page_types";

export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Scales {
  x: (index: number) => number;
  ofTime: (at: string) => number | null;
  y: (value: number) => number;
  ticks: number[];
}

/** A time as milliseconds, null for a text that is no time. */
function readTime(at: string): number | null {
  const time = Date.parse(at);
  return Number.isNaN(time) ? null : time;
}

/** A round step that gives about four ticks. */
function roundStep(span: number): number {
  const raw = span / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) ?? 10;
  return step * power;
}

/** The ends of the value axis: from 0 where values are not negative, to a round number above the largest. */
function valueRange(points: readonly SeriesPoint[], unit: string): [number, number, number] {
  let low = 0;
  let high = 0;
  for (const point of points) {
    for (const value of [point.value, point.low, point.high, ...(point.open_range ?? [])]) {
      if (value !== null) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  if (low === high) high = low + 1;
  const step = roundStep(high - low);
  const top = Math.ceil(high / step - 1e-9) * step;
  return [Math.floor(low / step + 1e-9) * step, unit === "share" && high <= 1 ? Math.min(1, top) : top, step];
}

/** Scales of a series: points lie by their times, or evenly where one of them has no readable time. */
export function makeScales(series: Series, frame: Frame): Scales {
  const times = series.points.map((point) => readTime(point.at));
  const [low, high, step] = valueRange(series.points, series.unit);
  const inner = Math.max(1, frame.width - frame.left - frame.right);
  const tall = frame.height - frame.top - frame.bottom;
  const last = Math.max(1, series.points.length - 1);
  const timed = times.every((time) => time !== null);
  let first = Infinity;
  let end = -Infinity;
  for (const time of times) {
    first = Math.min(first, time ?? first);
    end = Math.max(end, time ?? end);
  }
  const span = end - first;
  const place = (time: number) => frame.left + (span > 0 ? ((time - first) / span) * inner : inner / 2);
  const ticks: number[] = [];
  for (let tick = low; tick <= high + step / 1000 && ticks.length < 12; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return {
    x: (index) => (timed && span > 0 ? place(times[index] ?? first) : frame.left + (series.points.length === 1 ? 0.5 : index / last) * inner),
    ofTime: (at) => {
      const time = readTime(at);
      if (!timed || time === null || time < first || time > end) return null;
      return place(time);
    },
    y: (value) => frame.top + (1 - (value - low) / (high - low)) * tall,
    ticks,
  };
}

/** The indices to draw: all, or of very many the first, lowest, highest and last of each pixel and every gap's ends. */
export function thinOut(points: readonly SeriesPoint[], x: (index: number) => number, most: number): number[] {
  if (points.length <= most) return points.map((_, index) => index);
  const kept = new Set<number>();
  let start = 0;
  while (start < points.length) {
    const column = Math.floor(x(start));
    let end = start;
    let lowest = start;
    let highest = start;
    while (end < points.length && Math.floor(x(end)) === column) {
      const value = points[end]?.value ?? null;
      if (value === null) kept.add(end);
      else {
        if (value < (points[lowest]?.value ?? Infinity)) lowest = end;
        if (value > (points[highest]?.value ?? -Infinity)) highest = end;
      }
      end += 1;
    }
    for (const index of [start, lowest, highest, end - 1]) kept.add(index);
    start = Math.max(end, start + 1);
  }
  return [...kept].sort((one, other) => one - other);
}

/** The line as SVG path data; it is interrupted where a value is unknown. */
export function drawLine(points: readonly SeriesPoint[], indices: readonly number[], scales: Scales): string {
  let path = "";
  let open = false;
  for (const index of indices) {
    const value = points[index]?.value ?? null;
    if (value !== null) path += `${open ? "L" : "M"}${scales.x(index).toFixed(1)} ${scales.y(value).toFixed(1)}`;
    open = value !== null;
  }
  return path;
}

/** The intervals as closed SVG paths, one for each run of points that have one. */
export function drawBand(points: readonly SeriesPoint[], indices: readonly number[], scales: Scales): string {
  let path = "";
  let upper: string[] = [];
  let lower: string[] = [];
  const close = () => {
    if (upper.length > 1) path += `M${upper.join("L")}L${lower.reverse().join("L")}Z`;
    upper = [];
    lower = [];
  };
  for (const index of indices) {
    const point = points[index];
    if (point === undefined || point.value === null || point.low === null || point.high === null) {
      close();
      continue;
    }
    const x = scales.x(index).toFixed(1);
    upper.push(`${x} ${scales.y(point.high).toFixed(1)}`);
    lower.push(`${x} ${scales.y(point.low).toFixed(1)}`);
  }
  close();
  return path;
}

/** A number with the digits that its size calls for; shares have three decimals. */
export function formatValue(value: number, unit: string): string {
  if (unit === "share") return value.toFixed(3);
  return Math.abs(value) >= 1000 ? Math.round(value).toString() : Number(value.toPrecision(4)).toString();
}

export function formatInterval(low: number | null, high: number | null, unit: string): string {
  return low === null || high === null ? "" : `${formatValue(low, unit)}–${formatValue(high, unit)}`;
}
