// The first screen: the decision and its reasons, the inputs, the metrics with intervals, and the limitations.

import { Fragment, type ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { CaseRows, ConfigSummary, MetricSummary, MetricValue, Report, ReportTable } from "./types";
import { CausesByTag, Heat, Latency } from "./charts";
import { ClassBadge, Dot, Facts, Reasons, Scroll, Section, StateBadge, scaleOf, signOf, toneOf, useInterval, useWords } from "./parts";
import { nameBaseline, nameRegressed, Overview } from "./overview";
import { PrintedFailures } from "./printed";
import { Rules } from "./rules";
import { DataTable, type Column } from "./table";
import { Data, English, Items, Name, titled, visible } from "./text";

export function Summary({ report, rows }: { report: Report; rows: CaseRows | null }) {
  const { t } = useWords();
  return (
    <>
      <Banner report={report} rows={rows} />
      <Overview report={report} />
      <Section id="metrics" title={t("metrics")}>
        <p class="hint">
          {t("metrics_note")} {t("class_key")}
        </p>
        <Metrics report={report} />
      </Section>
      <Section id="gate" title={t("rules")}>
        {report.rules.length === 0 ? <p>{t("no_rules")}</p> : <Rules rules={report.rules} rows={rows} />}
      </Section>
      <Section id="slices" title={t("slices")}>
        <Heat report={report} />
      </Section>
      <CausesByTag report={report} />
      {report.variants.length > 0 && (
        <Section id="variants" title={t("variants")}>
          {report.variants.map((table) => (
            <PlainTable key={table.title} table={table} />
          ))}
        </Section>
      )}
      <Section id="times" title={t("times")}>
        <Latency report={report} />
      </Section>
      <Section id="limits" title={t("reproducible")}>
        <Items items={report.limits} />
      </Section>
      {report.warnings.length + report.notes.length > 0 && (
        <Section id="warnings" title={t("warnings")}>
          <Items items={[...report.warnings, ...report.notes]} />
        </Section>
      )}
      <Section id="about" title={t("about")}>
        <Identity report={report} />
      </Section>
      <Inputs report={report} />
      {rows !== null && <PrintedFailures report={report} rows={rows} />}
    </>
  );
}

function Banner({ report, rows }: { report: Report; rows: CaseRows | null }) {
  const { t, language } = useWords();
  const several = report.configs.length > 1;
  // One configuration may be released although another one may not.
  const isMixed = new Set(report.configs.flatMap(({ outcome }) => outcome ?? [])).size > 1; // the gate may check some alone
  const titles = new Map(report.rules.map((rule) => [rule.metric, rule.title]));
  const title = (reason: string) => titled(reason, titles);
  const ids = useMemo(() => new Set(rows?.ids ?? []), [rows]);
  const reasons = report.reasons.filter((reason) => reason !== NO_GATE); // the sentence above says so
  return (
    <section class={`banner ${toneOf(report.outcome)}`}>
      <p class="eyebrow">{t("decision")}</p>
      <h1>
        <span class="sign" aria-hidden="true">
          {signOf(report.outcome)}
        </span>
        {t(`outcome.${report.outcome}`)}
      </h1>
      <Basis report={report} />
      <p class="todo">{t(isMixed ? "todo_mixed" : `todo.${report.outcome}`)}</p>
      {several && (
        <ul class="chips">
          {report.configs.map((config) => (
            <li key={config.id}>
              <Data text={config.id} />{" "}
              {config.outcome === null ? <em>{t("not_gated")}</em> : <StateBadge kind="outcome" name={config.outcome} />}
            </li>
          ))}
        </ul>
      )}
      {(reasons.length > 0 || report.reasons.length === 0) && (
        <Reasons reasons={reasons.map(title)} events={report.events.map(title)} ids={ids} />
      )}
      <Doubts report={report} ids={ids} />
      <p class="hint">
        {t(report.show_forbidden ? "unmasked" : "masked")} {language !== "en" && t("data_in_english")}
      </p>
    </section>
  );
}

/** What was measured with what, in one line: a reader of several reports sees which one this is. */
function Basis({ report }: { report: Report }) {
  const { t } = useWords();
  const { configs, golden, gate, comparison, date } = report;
  const name = [golden.name, golden.version].filter((item) => item !== "").join(" ") || t("golden");
  const parts = [
    configs.length > 1 ? t("n_configs", { n: configs.length }) : visible(configs[0]?.id ?? ""),
    `${visible(name)}: ${t("n_cases", { n: golden.cases })}`,
    ...(gate === null ? [] : [t("basis_gate", { gate: visible(gate) })]),
    ...(comparison === null ? [] : [t("basis_baseline", { baseline: nameBaseline(comparison) })]),
    ...(date === "" ? [] : [visible(date)]),
  ];
  return (
    <p class="basis">
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index > 0 && " · "}
          <bdi>{part}</bdi>
        </Fragment>
      ))}
    </p>
  );
}

/** The reason of a run without a gate, as `ungated_decision.py` words it. */
const NO_GATE = "no gate was given: nothing was decided";
const MOST_DOUBTS = 2;

/** What to doubt although no check failed: which metrics regressed (by how much is said under what changed), and of several
    configurations the first lines, with the others to unfold. */
function Doubts({ report, ids }: { report: Report; ids: ReadonlySet<string> }) {
  const { t } = useWords();
  const { doubts, comparison } = report;
  const regressed = comparison === null ? "" : nameRegressed(report, comparison, t);
  if (doubts.length === 0 && regressed === "") return null;
  const rest = doubts.slice(MOST_DOUBTS);
  return (
    <div class="doubts">
      {regressed !== "" && (
        <ul class="plain">
          <li>
            <Data text={regressed} />
          </li>
        </ul>
      )}
      <Items items={doubts.slice(0, MOST_DOUBTS)} ids={ids} />
      {rest.length > 0 && (
        <details>
          <summary>{rest.length === 1 ? t("one_more_doubt") : t("more_doubts", { n: rest.length })}</summary>
          <Items items={rest} ids={ids} />
        </details>
      )}
    </div>
  );
}

function Identity({ report }: { report: Report }) {
  const { t } = useWords();
  const golden = report.golden;
  const name = [golden.name, golden.version].filter((item) => item !== "").join(" ");
  const facts: [string, ComponentChildren][] = [
    [
      t("golden"),
      <>
        <Data text={name || t("not_stated")} />, {t("n_cases", { n: golden.cases })}
        <code class="digest">
          <Data text={golden.digest} />
        </code>
      </>,
    ],
    [t("gate"), <Data text={report.gate ?? t("none")} />],
    [t("owner"), <Data text={report.owner || t("not_stated")} />],
    [t("date"), <Data text={report.date || t("not_stated")} />],
    [t("made_with"), <Data text={`Assay ${report.assay}`} />],
  ];
  const versions = (config: ConfigSummary) =>
    Object.entries(config.versions).map(([part, measure]) => `${part} ${measure.join(" → ")}`);
  const columns: Column<ConfigSummary>[] = [
    { key: "config", head: t("config"), cell: (config) => <Data text={config.id} /> },
    {
      key: "decision",
      head: t("decision"),
      cell: ({ outcome }) => (outcome === null ? t("not_gated") : <StateBadge kind="outcome" name={outcome} />),
    },
    { key: "cases", head: t("cases"), cell: (config) => <ConfigCases config={config} /> },
    {
      key: "versions",
      head: t("versions"),
      cell: (config) => <Data text={versions(config).join(", ") || t("not_stated")} />,
      wrap: true,
    },
    { key: "stage", head: t("stage_scored"), cell: (config) => <Data text={config.stage ?? "–"} /> },
    { key: "repeats", head: t("repeats"), cell: (config) => config.repeats, number: true },
  ];
  return (
    <div id="identity">
      <Facts facts={facts} />
      <DataTable label={t("configs")} columns={columns} rows={report.configs} rowKey={(config) => config.id} />
    </div>
  );
}

function ConfigCases({ config }: { config: ConfigSummary }) {
  const { t, w } = useWords();
  const { passed = 0, failed = 0, leaked = 0, missing = 0, unknown = 0 } = config.states;
  const name = ([state, count]: [string, number]) => `${count} ${w("state", state)}`;
  const named = (states: [string, number][]) => states.filter(([, count]) => count > 0).map(name).join(", ");
  // A case that leaked or is missing is a failed one, here as in every other report.
  const kinds = named([["leaked", leaked], ["missing", missing]]);
  const all = [named([["passed", passed]]), named([["failed", failed + leaked + missing]]) + (kinds && ` (${kinds})`)];
  const counts = [...all, named([["unknown", unknown]])].filter((text) => text !== "");
  return (
    <>
      <a href={`#/cases?${new URLSearchParams({ config: config.id })}`}>{t("n_cases", { n: config.cases })}</a>
      <span class="hint"> {counts.join(", ")}</span>
    </>
  );
}

function Metrics({ report }: { report: Report }) {
  const { t } = useWords();
  const headlines = report.headlines.flatMap((name) => report.metrics.filter((metric) => metric.name === name));
  return (
    <>
      {headlines.length > 0 && <MetricTable report={report} metrics={headlines} label={t("headline_metrics")} />}
      <details open={headlines.length === 0}>
        <summary>{t("all_metrics", { n: report.metrics.length })}</summary>
        <MetricTable report={report} metrics={report.metrics} label={t("all_metrics", { n: report.metrics.length })} />
      </details>
    </>
  );
}

function MetricTable({ report, metrics, label }: { report: Report; metrics: MetricSummary[]; label: string }) {
  const { t } = useWords();
  return (
    <Scroll label={label}>
      <table class={`metrics cards ${report.configs.length === 1 ? "single" : ""}`.trimEnd()} role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">{t("metric")}</th>
            {report.configs.map((config) => (
              <th scope="col" role="columnheader" key={config.id}>
                <Data text={config.id} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {metrics.map((metric) => (
            <MetricRow key={metric.name} metric={metric} report={report} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function MetricRow({ metric, report }: { metric: MetricSummary; report: Report }) {
  const { t } = useWords();
  const [low, high] = scaleOf(metric.by, metric.unit);
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        <ClassBadge mark={metric.class} /> <span title={metric.meaning}><Name text={metric.title} /></span>
        {metric.title !== metric.name && (
          <span class="hint">
            <Name text={metric.name} />
          </span>
        )}
        {metric.direction === "lower" && <span class="hint">{t("better_lower")}</span>}
      </th>
      {metric.by.map((measure, index) => (
        <td role="cell" data-label={visible(report.configs[index]?.id ?? "")} key={index}>
          {measure === null ? "–" : <MeasureCell measure={measure} low={low} high={high} />}
        </td>
      ))}
    </tr>
  );
}

function MeasureCell({ measure, low, high }: { measure: MetricValue; low: number; high: number }) {
  const { t } = useWords();
  const interval = useInterval();
  const total = measure.n + measure.errors;
  const coverage = total > 0 && measure.errors > 0 ? t("coverage", { share: `${((100 * measure.n) / total).toFixed(1)}%` }) : null;
  const details = [
    interval(measure.interval),
    coverage,
    measure.errors > 0 ? t(measure.errors === 1 ? "one_error" : "errors", { n: measure.errors }) : null,
    measure.worst !== null ? t(measure.unknown > 0 ? "if_worst_unknown" : "if_worst", { value: measure.worst }) : null,
    measure.known_alone !== null ? t("known_alone", { n: measure.n, value: measure.known_alone }) : null,
  ].filter((item): item is string => item !== null);
  const counts = [
    `n ${measure.n}`,
    ...(measure.unknown > 0 ? [t("and_unknown", { n: measure.unknown })] : []),
    ...(measure.unchecked > 0 ? [t("and_unchecked", { n: measure.unchecked })] : []),
  ].join(", ");
  if (measure.text === null) {
    return (
      <>
        <span>n/a</span>
        <span class="hint">{measure.why ? <English text={measure.why} /> : t("not_scored")}</span>
      </>
    );
  }
  return (
    <div class="measure">
      <span class="measured">
        <span class="value">{measure.text}</span> <span class="n">{counts}</span>
      </span>
      <Dot figure={measure} low={low} high={high} />
      <span class="hint">
        {details.join("; ")}
        {measure.notes.length > 0 && (
          <>
            {details.length > 0 && "; "}
            <English text={measure.notes.join("; ")} />
          </>
        )}
      </span>
    </div>
  );
}

function PlainTable({ table }: { table: ReportTable }) {
  return (
    <>
      <h3>
        <Data text={table.title} />
      </h3>
      <Scroll label={table.title}>
        <table>
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th scope="col" key={column}>
                  <Data text={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((cells, index) => (
              <tr key={index}>
                {cells.map((cell, column) => (
                  <td key={column}>
                    <Data text={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Items items={table.notes} />
    </>
  );
}

function Inputs({ report }: { report: Report }) {
  const { t } = useWords();
  const columns: Column<Report["inputs"][number]>[] = [
    { key: "file", head: t("file"), cell: (input) => <Data text={input.path} />, wrap: true },
    { key: "format", head: t("format"), cell: (input) => <Data text={input.format} /> },
    { key: "rows", head: t("rows"), cell: (input) => input.rows, number: true },
    { key: "configs", head: t("configs"), cell: (input) => <Data text={input.configs.join(", ")} /> },
  ];
  return (
    <Section id="inputs" title={t("inputs")}>
      <DataTable label={t("inputs")} columns={columns} rows={report.inputs} />
    </Section>
  );
}
