// The history of runs: metrics over time, versions, cases that flap, incidents.

import type { ChangeRow, FailingRow, FlappingRow, IncidentTotals, Series, TrendPage, VersionChange, VersionRow } from "./page_types";
import { formatInterval, formatValue } from "./figures";
import { Facts, Section, useWords } from "./parts";
import { Paged, SeriesList } from "./series";
import { DataTable } from "./table";
import { Data, Items } from "./text";

export function Trend({ page }: { page: TrendPage }) {
  const { t } = useWords();
  return (
    <>
      <PageHead kind="page.trend" title={page.title} madeAt={page.made_at} />
      {(page.changes ?? []).length > 0 && (
        <Section id="changes" title={t("metric_changes")}>
          <SteadyChanges changes={page.changes ?? []} series={page.series} />
          <Steps changes={page.changes ?? []} series={page.series} />
        </Section>
      )}
      <Section id="series" title={t("metrics_over_time")}>
        <SeriesList series={page.series} />
      </Section>
      {page.incidents !== null && (
        <Section id="incidents" title={t("incidents")}>
          <Incidents counts={page.incidents} />
        </Section>
      )}
      {page.flapping.length > 0 && (
        <Section id="flapping" title={t("flapping")}>
          <Flapping cases={page.flapping} />
        </Section>
      )}
      {(page.failing ?? []).length > 0 && (
        <Section id="failing" title={t("failing")}>
          <p class="hint">{t("outcomes_of_runs")}</p>
          <Failing cases={page.failing ?? []} />
        </Section>
      )}
      {page.versions.length > 0 && (
        <Section id="versions" title={t("versions")}>
          <Versions steps={page.versions} />
        </Section>
      )}
      <Notes notes={page.notes} />
    </>
  );
}

interface PageHeadProps {
  kind: "page.trend" | "page.monitor" | "page.incident";
  title: string;
  madeAt: string | null;
}

export function PageHead({ kind, title, madeAt }: PageHeadProps) {
  const { t } = useWords();
  return (
    <>
      {t(kind) !== title && <p class="eyebrow">{t(kind)}</p>}
      <h1>
        <Data text={title} />
      </h1>
      {madeAt !== null && (
        <p class="hint">
          <Data text={t("made_at", { at: madeAt })} />
        </p>
      )}
    </>
  );
}

export function Notes({ notes }: { notes: string[] }) {
  const { t } = useWords();
  if (notes.length === 0) return null;
  return (
    <Section id="notes" title={t("notes")}>
      <Items items={notes} />
    </Section>
  );
}

/** A time as day and minute: `2026-11-29 17:10`; a day alone, or another text, stays as it is. */
export function shortTime(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?$/, "$1 $2");
}

const FEW_CHANGES = 3;

/** Versions as `name: before → after`. */
export function Changes({ changes }: { changes: readonly VersionChange[] }) {
  const { t } = useWords();
  const rest = changes.slice(FEW_CHANGES);
  if (rest.length === 0) return <ListedChanges changes={changes} />;
  return (
    <>
      <ListedChanges changes={changes.slice(0, FEW_CHANGES)} />
      <details>
        <summary>{t("more", { n: rest.length })}</summary>
        <ListedChanges changes={rest} />
      </details>
    </>
  );
}

function ListedChanges({ changes }: { changes: readonly VersionChange[] }) {
  const { t } = useWords();
  return (
    <ul class="plain">
      {changes.map((change, index) => (
        <li key={index}>
          <Data text={change.name} />: <Data text={change.before ?? t("not_recorded")} /> →{" "}
          <b>
            <Data text={change.after ?? t("not_recorded")} />
          </b>
        </li>
      ))}
    </ul>
  );
}

function Incidents({ counts }: { counts: IncidentTotals }) {
  const { t } = useWords();
  return (
    <>
      <Facts
        facts={[
          [t("open_incidents"), counts.open ?? t("unknown")],
          [t("closed_incidents"), counts.closed ?? t("unknown")],
        ]}
      />
      {counts.reason != null && counts.reason !== "" && (
        <p class="hint">
          <Data text={counts.reason} />
        </p>
      )}
      {counts.by_cause.length > 0 && (
        <Paged
          label={t("incidents")}
          rows={counts.by_cause}
          columns={[
            { key: "cause", head: t("cause"), wrap: true, cell: (row) => <Data text={row.cause} /> },
            { key: "count", head: t("number"), number: true, cell: (row) => row.count },
          ]}
        />
      )}
    </>
  );
}

const MOST_OUTCOMES = 60;

/** The newest outcomes, one sign for each run. */
function Outcomes({ outcomes }: { outcomes: string }) {
  const signs = [...outcomes].slice(-MOST_OUTCOMES);
  return (
    <code class="outcome-line">
      {outcomes.length > signs.length && "…"}
      {signs.map((sign, index) => (
        <span key={index} class={sign === "P" ? "good-text" : sign === "F" ? "bad-text" : ""}>
          <Data text={sign} />
        </span>
      ))}
    </code>
  );
}

function NameInConfiguration({ row }: { row: { case_id: string; configuration?: string | null } }) {
  return (
    <>
      <Data text={row.case_id} />
      {row.configuration != null && (
        <span class="hint">
          <Data text={row.configuration} />
        </span>
      )}
    </>
  );
}

interface ChangesProps {
  changes: readonly ChangeRow[];
  series: readonly Series[];
}

/** A value of the metric of a change, in the unit of its series. */
function formatOf(row: ChangeRow, series: readonly Series[]): (value: number) => string {
  const unit = series.find((item) => item.key === row.metric)?.unit ?? "share";
  return (value) => formatValue(value, unit);
}

function formatP(p: number): string {
  return Number(p.toPrecision(2)).toString();
}

/** Changes by about as much with every run: a sentence each, because no run and no version is that of the change. */
function SteadyChanges({ changes, series }: ChangesProps) {
  const { t } = useWords();
  const lines = changes.flatMap((row) => {
    if (row.steady == null) return [];
    const format = formatOf(row, series);
    const sign = row.steady.slope > 0 ? 1 : -1;
    const low = Math.min(sign * row.steady.low, sign * row.steady.high);
    const high = Math.max(sign * row.steady.low, sign * row.steady.high);
    const where = [row.name || row.metric, row.slice, row.configuration].filter((part) => part != null).join(" · ");
    const values = {
      where,
      slope: format(Math.abs(row.steady.slope)),
      interval: formatInterval(low, high, series.find((item) => item.key === row.metric)?.unit ?? "share"),
      from: row.run_before ?? "",
      to: row.run ?? "",
      before: format(row.before),
      after: format(row.after),
      runs: row.runs ?? 0,
      cases: row.cases ?? 0,
      p: formatP(row.p),
    };
    return [t(row.steady.slope > 0 ? "rises_steadily" : "falls_steadily", values)];
  });
  return lines.length === 0 ? null : <Items items={lines} />;
}

function Steps({ changes, series }: ChangesProps) {
  const { t } = useWords();
  const steps = changes.filter((row) => row.steady == null);
  if (steps.length === 0) return null;
  return (
    <Paged
      label={t("change_points")}
      rows={steps}
      columns={[
        { key: "metric", head: t("chosen_metric"), wrap: true, cell: (row) => <NameInConfiguration row={{ case_id: row.name || row.metric, configuration: row.configuration }} /> },
        { key: "slice", head: t("chosen_slice"), wrap: true, cell: (row) => <Data text={row.slice ?? t("all")} /> },
        { key: "at", head: t("at"), cell: (row) => <Data text={shortTime(row.at)} /> },
        { key: "before", head: t("alert_before"), number: true, cell: (row) => formatOf(row, series)(row.before) },
        { key: "after", head: t("after"), number: true, cell: (row) => formatOf(row, series)(row.after) },
        { key: "p", head: t("p_value"), number: true, cell: (row) => formatP(row.p) },
        {
          key: "versions",
          head: t("changed"),
          wrap: true,
          cell: (row) => (
            <>
              <Changes changes={row.versions ?? []} />
              {row.may_be_steady === true && <span class="hint">{t("may_be_steady")}</span>}
            </>
          ),
        },
      ]}
    />
  );
}

function Failing({ cases }: { cases: readonly FailingRow[] }) {
  const { t } = useWords();
  return (
    <Paged
      label={t("failing")}
      rows={cases}
      columns={[
        { key: "case", head: t("case"), wrap: true, cell: (row) => <NameInConfiguration row={row} /> },
        { key: "outcomes", head: t("outcomes"), cell: (row) => <Outcomes outcomes={row.outcomes} /> },
        { key: "passed", head: t("last_passed"), cell: (row) => <Data text={row.last_passed ?? t("never_passed")} /> },
        { key: "runs", head: t("runs_since"), number: true, cell: (row) => row.runs_since_pass },
      ]}
    />
  );
}

function Flapping({ cases }: { cases: readonly FlappingRow[] }) {
  const { t } = useWords();
  return (
    <>
      <p class="hint">{t("outcomes_of_runs")}</p>
      <Paged
        label={t("flapping")}
        rows={cases}
        columns={[
          { key: "case", head: t("case"), wrap: true, cell: (row) => <NameInConfiguration row={row} /> },
          { key: "outcomes", head: t("outcomes"), cell: (row) => <Outcomes outcomes={row.outcomes} /> },
          { key: "passed", head: t("last_passed"), cell: (row) => <Data text={row.last_passed ?? t("never_passed")} /> },
        ]}
      />
    </>
  );
}

function Versions({ steps }: { steps: readonly VersionRow[] }) {
  const { t } = useWords();
  return (
    <DataTable
      label={t("versions")}
      rows={steps}
      columns={[
        { key: "at", head: t("at"), cell: (step) => <Data text={shortTime(step.at)} /> },
        { key: "run", head: t("run"), wrap: true, cell: (step) => <NameInConfiguration row={{ case_id: step.run ?? "", configuration: step.configuration ?? null }} /> },
        { key: "changed", head: t("changed"), wrap: true, cell: (step) => <Changes changes={step.changed} /> },
      ]}
    />
  );
}
