// Small components that every view uses: translated texts, marks, intervals, scrollable tables.

import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { loadScores, getOwn } from "./data";
import type { CaseRows, ConfigRows, Figure, Happened, MetricClass, Report, ScoreColumn } from "./types";
import { findName, findText, translate, translateName, type Key, type Language } from "./words";
import { Data, English, Items } from "./text";

export const LanguageContext = createContext<Language>("en");

export function useWords() {
  const language = useContext(LanguageContext);
  return {
    language,
    t: (key: Key, values?: Record<string, string | number>) => translate(language, key, values),
    w: (kind: string, name: string) => translateName(language, kind, name),
  };
}

/** The names of checks as people read them; one that the texts do not know is shown in words. */
export function useChecks(): (names: readonly string[]) => string[] {
  const { w } = useWords();
  return (names) =>
    names.map((name) => {
      const known = w("check", name);
      return known === name ? name.replaceAll("_", " ") : known;
    });
}

/** What to try first for a cause, in the language of the page; a text of another version is shown as it is. */
export function Remedy({ cause, fix }: { cause: string | null | undefined; fix: string }) {
  const { w } = useWords();
  const name = cause != null ? findName("remedy", cause, fix) : null;
  return name !== null ? <Data text={w("remedy", name)} /> : <English text={fix} />;
}

/** What happened to a case, as a sentence in the language of the page: one thing, or one of several where the facts do not
    decide. `ofSign` says one thing alone. A text of another version is shown as it is. */
export function useHappened() {
  const { t, w } = useWords();
  const ofSign = (sign: string) => {
    const name = findText("sign", sign);
    return name === null ? sign : w("sign", name);
  };
  const tell = ({ claim, signs }: Happened) => {
    const said = signs.map(ofSign);
    const [first = "", ...rest] = said;
    if (claim === "likely") return t("claim.likely", { first, others: rest.join(t("claim.or")) });
    if (claim === "several") return t("claim.several", { all: said.join("; ") });
    if (claim === "untold" && rest.length === 1) return t("claim.untold_one", { first, other: rest[0] ?? "" });
    if (claim === "untold" && rest.length > 0) return t("claim.untold", { first, others: rest.join("; ") });
    return claim === "perhaps" ? t("claim.perhaps", { first }) : first;
  };
  return { ofSign, tell: (happened: Happened) => beginSentence(tell(happened)) };
}

/** What happened to a case of the list, as a sentence; empty without a cause. */
export function useCauseOfRow(): (configRows: ConfigRows | undefined, index: number) => string {
  const { tell } = useHappened();
  return (configRows, index) => {
    const happened = configRows?.happened?.findings[configRows.happened.codes[index] ?? -1];
    return happened === undefined ? "" : tell(happened);
  };
}

/** A sentence that begins with a capital letter. */
export function beginSentence(text: string): string {
  const [first = ""] = text;
  return first.toLocaleUpperCase() + text.slice(first.length);
}

/** An interval as the data have it, `0.565 to 0.980`, in the language of the page. */
export function useInterval(): (interval: string | null) => string | null {
  const { t } = useWords();
  return (interval) => {
    if (interval === null) return null;
    return interval.startsWith("none: ") ? t("no_variation") : interval.replace(" to ", ` ${t("to")} `);
  };
}

/** The scores of a configuration, null until they are unpacked or if no configuration is named. */
export function useScores(report: Report, config: string | null): ScoreColumn[] | null {
  const [columns, take] = useState<ScoreColumn[] | null>(null);
  useEffect(() => {
    let wanted = true;
    take(null);
    if (config !== null) void loadScores(report, config).then((loaded) => wanted && take(loaded));
    return () => {
      wanted = false;
    };
  }, [report, config]);
  return columns;
}

export function Section({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section id={id}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** A table in its own region, which can be scrolled with the keyboard on a narrow screen. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

/** The name of a state with a symbol, so that colour is not the only cue. */
export function Badge({ tone, sign, children }: { tone: string; sign?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      {sign !== undefined && <span aria-hidden="true">{sign} </span>}
      {children}
    </span>
  );
}

const SIGNS: Record<string, [string, string]> = {
  PASS: ["good", "✓"],
  PASS_WITH_RISK: ["warn", "!"],
  FAIL: ["bad", "✕"],
  INCOMPLETE: ["warn", "…"],
  NOT_GATED: ["plain", "○"],
  PARTIAL: ["plain", "◔"],
  pass: ["good", "✓"],
  fail: ["bad", "✕"],
  passed: ["good", "✓"],
  failed: ["bad", "✕"],
  leaked: ["bad", "⚑"],
  missing: ["warn", "…"],
  unknown: ["warn", "?"],
  supported: ["good", "✓"],
  contradicted: ["bad", "✕"],
  unsupported: ["warn", "–"],
  improved: ["good", "▲"],
  regressed: ["bad", "▼"],
  rose: ["plain", "↑"],
  unclear: ["warn", "?"],
  cleared: ["plain", "✓"],
  worse: ["warn", "▽"],
  better: ["plain", "△"],
  mixed: ["warn", "◆"],
  "not significant": ["plain", "○"],
  "n/a": ["plain", "–"],
};

export function toneOf(name: string): string {
  return getOwn(SIGNS, name)?.[0] ?? "plain";
}

export function signOf(name: string): string {
  return getOwn(SIGNS, name)?.[1] ?? "";
}

export function StateBadge({ kind, name }: { kind: string; name: string }) {
  const { w } = useWords();
  const [tone, sign] = getOwn(SIGNS, name) ?? ["plain", "?"];
  return (
    <Badge tone={tone} sign={sign}>
      {w(kind, name)}
    </Badge>
  );
}

export function ClassBadge({ mark }: { mark: MetricClass }) {
  const { t } = useWords();
  return (
    <abbr class={`class-mark class-${mark}`} title={t(mark === "D" ? "class.D" : "class.J")}>
      {mark}
    </abbr>
  );
}

/** A case's id as a link to the case. */
export function CaseLink({ rows, index }: { rows: CaseRows; index: number }) {
  const id = rows.ids[index] ?? "";
  return (
    <a href={caseHash(id)}>
      <Data text={id} />
    </a>
  );
}

export function caseHash(id: string, config?: string): string {
  const query = config === undefined ? "" : `?${new URLSearchParams({ config })}`;
  return `#/case/${encodeURIComponent(id)}${query}`;
}

const FIRST = 3;

/** The reasons of a decision; leaks and followed injections (`events`) come first and are red whatever the outcome is. */
export function Reasons({ reasons, events, ids }: { reasons: string[]; events: string[]; ids?: ReadonlySet<string> | undefined }) {
  const { t } = useWords();
  if (reasons.length === 0) return <p>{t("no_reason")}</p>;
  const others = reasons.filter((reason) => !events.includes(reason));
  const free = Math.max(1, FIRST - events.length);
  const rest = [...events.slice(FIRST), ...others.slice(free)];
  return (
    <>
      {events.length > 0 && (
        <div class="events">
          <Items items={events.slice(0, FIRST)} ids={ids} />
        </div>
      )}
      <Items items={others.slice(0, free)} ids={ids} />
      {rest.length > 0 && (
        <details>
          <summary>{t("more", { n: rest.length })}</summary>
          <Items items={rest} ids={ids} />
        </details>
      )}
    </>
  );
}

const PLOT = { width: 132, height: 16, pad: 6 };

/** A value as a dot and its interval as a line, on a scale shared by all configurations of a metric. */
export function Dot({ figure, low, high, tone = "" }: { figure: Figure; low: number; high: number; tone?: string }) {
  if (figure.value === null || !(high > low)) return null;
  const toX = (value: number) => PLOT.pad + ((value - low) / (high - low)) * (PLOT.width - 2 * PLOT.pad);
  const middle = PLOT.height / 2;
  return (
    <svg class={`dot ${tone}`} viewBox={`0 0 ${PLOT.width} ${PLOT.height}`} width={PLOT.width} height={PLOT.height} aria-hidden="true">
      <line class="rail" x1={PLOT.pad} x2={PLOT.width - PLOT.pad} y1={middle} y2={middle} />
      {figure.low !== null && figure.high !== null && (
        <>
          <line class="whisker" x1={toX(figure.low)} x2={toX(figure.high)} y1={middle} y2={middle} />
          <line class="whisker" x1={toX(figure.low)} x2={toX(figure.low)} y1={middle - 4} y2={middle + 4} />
          <line class="whisker" x1={toX(figure.high)} x2={toX(figure.high)} y1={middle - 4} y2={middle + 4} />
        </>
      )}
      <circle cx={toX(figure.value)} cy={middle} r={4} />
    </svg>
  );
}

/** Returns the ends of a scale that fits all of these figures: 0 to 1 for shares. */
export function scaleOf(figures: (Figure | null)[], unit: string): [number, number] {
  const bounds = figures.flatMap((item) => (item === null ? [] : [item.value, item.low, item.high]));
  const values = bounds.filter((item): item is number => item !== null);
  return [Math.min(0, ...values), Math.max(unit === "share" ? 1 : 0, ...values)];
}

export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
