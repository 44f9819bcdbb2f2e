// Small parts that every view uses: words in the reader's language, marks, intervals, tables that scroll on their own.

import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { loadScores, own, type ClassMark, type Column, type Figure, type Report, type Rows } from "./data";
import { said, word, type Key, type Language } from "./strings";
import { Data, Items } from "./text";

export const LanguageContext = createContext<Language>("en");

export function useWords() {
  const language = useContext(LanguageContext);
  return {
    language,
    t: (key: Key, values?: Record<string, string | number>) => said(language, key, values),
    w: (kind: string, name: string) => word(language, kind, name),
  };
}

/** The scores of a configuration, null until they are unpacked and where no configuration is named. */
export function useScores(report: Report, config: string | null): Column[] | null {
  const [columns, take] = useState<Column[] | null>(null);
  useEffect(() => {
    let wanted = true;
    take(null);
    if (config !== null) void loadScores(report, config).then((found) => wanted && take(found));
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

/** A table in a region of its own, which the keyboard can scroll where the screen is narrow. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

/** The word of a state with a sign, so that colour is never the only carrier. */
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
  pass: ["good", "✓"],
  fail: ["bad", "✕"],
  passed: ["good", "✓"],
  failed: ["bad", "✕"],
  leaked: ["bad", "⚑"],
  missing: ["warn", "…"],
  supported: ["good", "✓"],
  contradicted: ["bad", "✕"],
  unsupported: ["warn", "–"],
  improved: ["good", "▲"],
  regressed: ["bad", "▼"],
  mixed: ["warn", "◆"],
};

export function toneOf(name: string): string {
  return own(SIGNS, name)?.[0] ?? "plain";
}

export function StateBadge({ kind, name }: { kind: string; name: string }) {
  const { w } = useWords();
  const [tone, sign] = own(SIGNS, name) ?? ["plain", "?"];
  return (
    <Badge tone={tone} sign={sign}>
      {w(kind, name)}
    </Badge>
  );
}

export function ClassBadge({ mark }: { mark: ClassMark }) {
  const { t } = useWords();
  return (
    <abbr class={`class-mark class-${mark}`} title={t(mark === "D" ? "class.D" : "class.J")}>
      {mark}
    </abbr>
  );
}

/** A case's id as the link to it. */
export function CaseLink({ rows, place }: { rows: Rows; place: number }) {
  const id = rows.ids[place] ?? "";
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

const FIRST = 5;

/** Reasons of a decision: the first few, the others on demand. */
export function Reasons({ reasons }: { reasons: string[] }) {
  const { t } = useWords();
  if (reasons.length === 0) return <p>{t("no_reason")}</p>;
  return (
    <>
      <Items items={reasons.slice(0, FIRST)} />
      {reasons.length > FIRST && (
        <details>
          <summary>{t("more", { n: reasons.length - FIRST })}</summary>
          <Items items={reasons.slice(FIRST)} />
        </details>
      )}
    </>
  );
}

const PLOT = { width: 132, height: 16, pad: 6 };

/** A value as a dot with its interval as a line, on a scale that all configurations of a metric share. */
export function Dot({ figure, low, high, tone = "" }: { figure: Figure; low: number; high: number; tone?: string }) {
  if (figure.value === null || !(high > low)) return null;
  const at = (value: number) => PLOT.pad + ((value - low) / (high - low)) * (PLOT.width - 2 * PLOT.pad);
  const middle = PLOT.height / 2;
  return (
    <svg class={`dot ${tone}`} width={PLOT.width} height={PLOT.height} aria-hidden="true">
      <line class="rail" x1={PLOT.pad} x2={PLOT.width - PLOT.pad} y1={middle} y2={middle} />
      {figure.low !== null && figure.high !== null && (
        <>
          <line class="whisker" x1={at(figure.low)} x2={at(figure.high)} y1={middle} y2={middle} />
          <line class="whisker" x1={at(figure.low)} x2={at(figure.low)} y1={middle - 4} y2={middle + 4} />
          <line class="whisker" x1={at(figure.high)} x2={at(figure.high)} y1={middle - 4} y2={middle + 4} />
        </>
      )}
      <circle cx={at(figure.value)} cy={middle} r={4} />
    </svg>
  );
}

/** The ends of a scale on which all of these figures fit: 0 to 1 for shares. */
export function scaleOf(figures: (Figure | null)[], unit: string): [number, number] {
  const known = figures.flatMap((each) => (each === null ? [] : [each.value, each.low, each.high]));
  const values = known.filter((each): each is number => each !== null);
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
