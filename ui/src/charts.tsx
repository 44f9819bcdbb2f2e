// The charts of the summary: slices as a heat table, causes by tag, latency by step. Each is an accessible table or list.

import { useState } from "preact/hooks";
import { getOwn } from "./data";
import type { CauseCounts, Figure, MetricChange, Report, SliceRow, StepTime } from "./types";
import { Scroll, Section, useWords } from "./parts";
import { DataTable, type Column } from "./table";
import { Data, Name, visible } from "./text";

/** Selects one configuration, if there are several. */
export function ConfigChoice(props: { ids: string[]; chosen: string; name: string; choose: (id: string) => void }) {
  const { t } = useWords();
  if (props.ids.length < 2) return null;
  return (
    <label class="choice">
      {t("config")}{" "}
      <select name={props.name} value={props.chosen} onChange={(event) => props.choose(event.currentTarget.value)}>
        {props.ids.map((id) => (
          <option key={id} value={id}>
            {visible(id)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The class for one of five colour strengths of a share; the policy of the page forbids inline styles. */
function depth(share: number): string {
  return `heat-${Math.min(4, Math.max(0, Math.floor(share * 5)))}`;
}

export function Heat({ report }: { report: Report }) {
  const { t } = useWords();
  const ids = report.configs.map((config) => config.id);
  const [chosen, choose] = useState(ids[0] ?? "");
  const rows = report.slices.rows.filter((row) => row.config === chosen);
  const [small, large] = [rows.filter((row) => row.small), rows.filter((row) => !row.small)];
  const columns = report.slices.columns;
  return (
    <>
      <ConfigChoice ids={ids} chosen={chosen} choose={choose} name="slices-config" />
      {rows.length === 0 ? <p>{t("no_slices")}</p> : <p class="hint">{t("slices_note")}</p>}
      {large.length > 0 && <HeatTable columns={columns} rows={large} label={t("slices")} />}
      {small.length > 0 && (
        <details>
          <summary>{t("small_slices", { n: small.length })}</summary>
          <HeatTable columns={columns} rows={small} label={t("small_slices", { n: small.length })} />
        </details>
      )}
      {report.slices.left_out > 0 && <p class="hint">{t("slices_left", { n: report.slices.left_out })}</p>}
    </>
  );
}

function HeatTable({ columns, rows, label }: { columns: string[]; rows: SliceRow[]; label: string }) {
  const { t } = useWords();
  return (
    <Scroll label={label}>
      <table class="heat">
        <thead>
          <tr>
            <th scope="col">{t("slice")}</th>
            <th scope="col" class="number">
              {t("count")}
            </th>
            {columns.map((column) => (
              <th scope="col" class="number" key={column}>
                <Name text={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.slice}>
              <th scope="row">
                <Name text={row.slice} />
              </th>
              <td class="number">{row.cases}</td>
              {row.cells.map((cell, index) => (
                <HeatCell key={index} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const FEW = 10;

function HeatCell({ cell }: { cell: Figure }) {
  if (cell.value === null) return <td class="number none">–</td>;
  return (
    <td class={`number ${depth(cell.value)} ${cell.n < FEW ? "few" : ""}`} title={cell.interval ?? ""}>
      {cell.text} <span class="n">n {cell.n}</span>
    </td>
  );
}

export function CausesByTag({ report }: { report: Report }) {
  const { t } = useWords();
  const ids = report.configs.map((config) => config.id);
  const [chosen, choose] = useState(ids[0] ?? "");
  const causes = getOwn(report.causes, chosen);
  const byCause = causes?.kind === "cause";
  return (
    <Section id="causes" title={t(byCause ? "causes" : "checks")}>
      <ConfigChoice ids={ids} chosen={chosen} choose={choose} name="causes-config" />
      {causes === undefined || causes.rows.length === 0 ? (
        <p>{t("nothing_failed")}</p>
      ) : (
        <>
          <p class="hint">{t(byCause ? "causes_note" : "checks_note")}</p>
          <CauseTable causes={causes} config={chosen} />
          {causes.left_out > 0 && <p class="hint">{t("tags_left", { n: causes.left_out })}</p>}
        </>
      )}
    </Section>
  );
}

const BAR = { width: 72, height: 12 };

function CauseTable({ causes, config }: { causes: CauseCounts; config: string }) {
  const { t, w } = useWords();
  const most = Math.max(1, ...causes.rows.map((row) => row.total));
  const deepest = Math.max(1, ...causes.rows.flatMap((row) => row.counts));
  const link = (values: Record<string, string>) => `#/cases?${new URLSearchParams({ config, ...values })}`;
  return (
    <Scroll label={t(causes.kind === "cause" ? "causes" : "checks")}>
      <table class="heat by-tag">
        <thead>
          <tr>
            <th scope="col">{t(causes.kind)}</th>
            <th scope="col">{t("total")}</th>
            {causes.tags.map((tag) => (
              <th scope="col" class="number" key={tag}>
                <Name text={tag} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {causes.rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <a href={link({ [causes.kind]: row.name })}>
                  <Data text={w(causes.kind === "cause" ? "sign" : "check", row.name)} />
                </a>
                {causes.kind === "cause" && (
                  <span class="hint">
                    <Data text={row.name} />
                  </span>
                )}
              </th>
              <td class="bar-cell">
                <svg class="bar" width={BAR.width} height={BAR.height} aria-hidden="true">
                  <rect width={(BAR.width * row.total) / most} height={BAR.height} rx={2} />
                </svg>{" "}
                {row.total}
              </td>
              {row.counts.map((count, index) => (
                <td key={index} class={`number ${count === 0 ? "none" : depth(count / deepest)}`}>
                  {count === 0 ? "·" : <a href={link({ [causes.kind]: row.name, tag: causes.tags[index] ?? "" })}>{count}</a>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const TIME = { width: 260, height: 16 };

export function Latency({ report }: { report: Report }) {
  const { t } = useWords();
  if (report.times.length === 0) return <p>{t("no_times")}</p>;
  const longest = Math.max(1, ...report.times.map((item) => item.p95));
  const steps = [...new Set(report.times.map((item) => item.step))];
  const rows = steps.flatMap((step) => report.times.filter((item) => item.step === step));
  const name = (step: string) => (step === "end_to_end" ? t("end_to_end") : step);
  const isRepeated = (item: StepTime, index: number) => rows[index - 1]?.step === item.step;
  const columns: Column<StepTime>[] = [
    {
      key: "step",
      head: t("step"),
      cell: (item, index) => (
        <span class={isRepeated(item, index) ? "sr-only" : ""}>
          <Data text={name(item.step)} />
        </span>
      ),
    },
    { key: "config", head: t("config"), cell: (item) => <Data text={item.config} /> },
    {
      key: "time",
      head: `0 – ${Math.round(longest)} ms`,
      cell: (item) => <TimeBar time={item} longest={longest} />,
    },
    { key: "p50", head: "p50", cell: (item) => Math.round(item.p50), number: true },
    { key: "p95", head: "p95", cell: (item) => Math.round(item.p95), number: true },
    { key: "n", head: "n", cell: (item) => item.n, number: true },
  ];
  return (
    <>
      <p class="hint">{t("times_note")}</p>
      <DataTable label={t("times")} columns={columns} rows={rows} />
    </>
  );
}

function TimeBar({ time, longest }: { time: StepTime; longest: number }) {
  const toX = (value: number) => (TIME.width * value) / longest;
  return (
    <svg class="bar" width={TIME.width} height={TIME.height} aria-hidden="true">
      <rect y={3} width={Math.max(1, toX(time.p95))} height={TIME.height - 6} rx={2} />
      <rect class="mark" x={Math.max(0, toX(time.p50) - 1.5)} width={3} height={TIME.height} />
    </svg>
  );
}

const GAIN = { width: 140, height: 18, pad: 8 };

/** A gain as a dot, its interval as a line, and no change as a line in the middle; `reach` is the end of the scale. */
export function GainPlot({ change, reach }: { change: MetricChange; reach: number }) {
  if (change.gain === null) return null;
  const toX = (value: number) =>
    GAIN.width / 2 + (Math.max(-reach, Math.min(reach, value)) / reach) * (GAIN.width / 2 - GAIN.pad);
  const tone = change.verdict === "improved" ? "good" : change.verdict === "regressed" ? "bad" : "";
  const middle = GAIN.height / 2;
  return (
    <svg class={`dot ${tone}`} viewBox={`0 0 ${GAIN.width} ${GAIN.height}`} width={GAIN.width} height={GAIN.height} aria-hidden="true">
      <line class="zero" x1={GAIN.width / 2} x2={GAIN.width / 2} y1={0} y2={GAIN.height} />
      {change.low !== null && change.high !== null && (
        <line class="whisker" x1={toX(change.low)} x2={toX(change.high)} y1={middle} y2={middle} />
      )}
      <circle cx={toX(change.gain)} cy={middle} r={4} />
    </svg>
  );
}
