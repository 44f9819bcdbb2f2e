// The history of runs: metrics over time, versions, cases that flap, incidents.

import type { FlappingCase, IncidentCounts, TrendPage, VersionChange, VersionStep } from "./page_types";
import { Facts, Section, useWords } from "./parts";
import { Paged, SeriesList } from "./series";
import { DataTable } from "./table";
import { Data, Items } from "./text";

export function Trend({ page }: { page: TrendPage }) {
  const { t } = useWords();
  return (
    <>
      <PageHead kind="page.trend" title={page.title} madeAt={page.made_at} />
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
      <p class="eyebrow">{t(kind)}</p>
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

/** Versions as `name: before → after`. */
export function Changes({ changes }: { changes: readonly VersionChange[] }) {
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

function Incidents({ counts }: { counts: IncidentCounts }) {
  const { t } = useWords();
  return (
    <>
      <Facts
        facts={[
          [t("open_incidents"), counts.open],
          [t("closed_incidents"), counts.closed],
        ]}
      />
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

function Flapping({ cases }: { cases: readonly FlappingCase[] }) {
  const { t } = useWords();
  return (
    <>
      <p class="hint">{t("flapping_note")}</p>
      <Paged
        label={t("flapping")}
        rows={cases}
        columns={[
          { key: "case", head: t("case"), wrap: true, cell: (row) => <Data text={row.case_id} /> },
          { key: "outcomes", head: t("outcomes"), cell: (row) => <Outcomes outcomes={row.outcomes} /> },
          { key: "passed", head: t("last_passed"), cell: (row) => <Data text={row.last_passed ?? t("never_passed")} /> },
        ]}
      />
    </>
  );
}

function Versions({ steps }: { steps: readonly VersionStep[] }) {
  const { t } = useWords();
  return (
    <DataTable
      label={t("versions")}
      rows={steps}
      columns={[
        { key: "at", head: t("at"), cell: (step) => <Data text={step.at} /> },
        { key: "run", head: t("run"), wrap: true, cell: (step) => <Data text={step.run ?? ""} /> },
        { key: "changed", head: t("changed"), wrap: true, cell: (step) => <Changes changes={step.changed} /> },
      ]}
    />
  );
}
