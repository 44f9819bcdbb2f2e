// Production answers of a period: leaks and alerts first, then the metrics over time and what they rest on.

import type { ComponentChildren } from "preact";
import { formatInterval, formatValue } from "./figures";
import type { AlertCard, DriftRow, LeakCard, MonitorPage, RefusalPanel, SamplingPanel } from "./page_types";
import { Badge, Facts, Section, useWords } from "./parts";
import { Paged, SeriesList } from "./series";
import { Data, Items, visible } from "./text";
import { Changes, Notes, PageHead } from "./trend";

export function Monitor({ page }: { page: MonitorPage }) {
  const { t, w } = useWords();
  return (
    <>
      <PageHead kind="page.monitor" title={page.title} madeAt={page.made_at} />
      <p class="lead">
        <bdi>{visible(t("period", { from: page.period.from, to: page.period.to, by: w("by", page.by) }))}</bdi>
      </p>
      {(page.unmeasured_bounds ?? []).length > 0 && <Unmeasured lines={page.unmeasured_bounds ?? []} />}
      {page.leaks.length > 0 && <Leaks leaks={page.leaks} gaps={page.leak_gaps ?? []} />}
      {page.leaks.length === 0 && (page.leak_gaps ?? []).length > 0 && (
        <Section id="leaks" title={t("leaks_found", { n: 0 })}>
          <Items items={page.leak_gaps ?? []} />
        </Section>
      )}
      <Section id="alerts" title={t("alerts")}>
        {page.alerts.length === 0 ? <p>{t("no_alerts")}</p> : page.alerts.map((alert, index) => <Alert key={index} alert={alert} />)}
        {(page.watch ?? []).length > 0 && (
          <>
            <h3>{t("watched")}</h3>
            <Items items={page.watch ?? []} />
          </>
        )}
      </Section>
      <Section id="series" title={t("metrics_over_time")}>
        <SeriesList series={page.series} />
      </Section>
      {page.refusal_band !== null && <Refusals band={page.refusal_band} />}
      {page.sampling !== null && <Sampling sampling={page.sampling} />}
      <Section id="drift" title={t("drift")}>
        {page.drift.length === 0 ? <p>{t("no_drift")}</p> : <Drift rows={page.drift} />}
      </Section>
      <Notes notes={page.notes} />
    </>
  );
}

function Unmeasured({ lines }: { lines: string[] }) {
  const { t } = useWords();
  return (
    <section class="banner bad" id="unmeasured">
      <h2>
        <span class="sign" aria-hidden="true">
          !
        </span>
        {t("unmeasured_bounds")}
      </h2>
      <Items items={lines} />
    </section>
  );
}

/** The answers of one day that leaked the same to users of the same rights: most likely one incident. */
interface LeakGroup {
  day: string;
  text: string;
  leaks: LeakCard[];
}

function groupLeaks(leaks: readonly LeakCard[]): LeakGroup[] {
  const groups = new Map<string, LeakGroup>();
  for (const leak of leaks) {
    const day = leak.at.slice(0, 10);
    const key = `${day} ${leak.text}`;
    const group = groups.get(key) ?? { day, text: leak.text, leaks: [] };
    group.leaks.push(leak);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const ANSWERS_NAMED = 3;

/** The answers of a group with their users: the first of them, and the others on demand. */
function LeakingAnswers({ leaks }: { leaks: readonly LeakCard[] }) {
  const { t } = useWords();
  const list = (shown: readonly LeakCard[]) => (
    <ul class="plain">
      {shown.map((leak) => (
        <li key={leak.record_id}>
          <Data text={leak.record_id} />{" "}
          <span class="hint">
            <Data text={`${leak.at.slice(11, 16)}, ${leak.user ?? t("not_recorded")}`} />
          </span>
        </li>
      ))}
    </ul>
  );
  const first = leaks.slice(0, ANSWERS_NAMED);
  const rest = leaks.slice(ANSWERS_NAMED);
  return (
    <>
      {list(first)}
      {rest.length > 0 && (
        <details>
          <summary>{t("and_more", { n: rest.length })}</summary>
          {list(rest)}
        </details>
      )}
    </>
  );
}

function Leaks({ leaks, gaps }: { leaks: readonly LeakCard[]; gaps: string[] }) {
  const { t } = useWords();
  return (
    <section class="banner bad" id="leaks">
      <h2>
        <span class="sign" aria-hidden="true">
          ⚑
        </span>
        {t("leaks")} <span class="n">{t("leaks_count", { n: leaks.length })}</span>
      </h2>
      <Paged
        label={t("leaks")}
        rows={groupLeaks(leaks)}
        columns={[
          { key: "at", head: t("at"), cell: (group) => <Data text={group.day} /> },
          { key: "text", head: t("where"), wrap: true, cell: (group) => <Data text={group.text} /> },
          { key: "count", head: t("leaks_of_group"), number: true, cell: (group) => group.leaks.length },
          { key: "answers", head: t("answer"), wrap: true, cell: (group) => <LeakingAnswers leaks={group.leaks} /> },
        ]}
      />
      {gaps.length > 0 && <Items items={gaps} />}
    </section>
  );
}

const ALERT_TONES = { open: "bad", acknowledged: "warn", quiet: "plain" } as const;

function Alert({ alert }: { alert: AlertCard }) {
  const { t } = useWords();
  const number = (value: number | null) => (value === null ? t("unknown") : formatValue(value, Math.abs(value) <= 1 ? "share" : ""));
  return (
    <article class={`banner alert ${ALERT_TONES[alert.state]}`}>
      <h3>
        <Badge tone={ALERT_TONES[alert.state]}>{t(`alert.${alert.state}`)}</Badge> <Data text={alert.name || alert.metric} />{" "}
        <span class="pill">
          <Data text={alert.slice ?? t("all_answers")} />
        </span>
      </h3>
      <p class="todo">
        <Data text={alert.text} />
      </p>
      <Facts
        facts={[
          [t("alert_value"), number(alert.value)],
          ...(alert.before === null ? [] : [[t("alert_before"), number(alert.before)] as [string, ComponentChildren]]),
          [t("alert_bound"), number(alert.bound)],
          [t("at"), <Data text={alert.at} />],
          [t("id"), <Data text={alert.id} />],
        ]}
      />
      {alert.since.length > 0 && (
        <>
          <p class="eyebrow">{t("since")}</p>
          <Changes changes={alert.since} />
        </>
      )}
    </article>
  );
}

function Refusals({ band }: { band: RefusalPanel }) {
  const { t } = useWords();
  const share = (value: number | null) => (value === null ? t("unknown") : formatValue(value, "share"));
  return (
    <Section id="refusals" title={t("refusals")}>
      <Facts
        facts={[
          [t("value"), share(band.value)],
          [t("band"), formatInterval(band.low, band.high, "share")],
        ]}
      />
      {band.text !== "" && (
        <p>
          <Data text={band.text} />
        </p>
      )}
    </Section>
  );
}

function Sampling({ sampling }: { sampling: SamplingPanel }) {
  const { t } = useWords();
  const number = (value: number | null) => (value === null ? t("unknown") : formatValue(value, ""));
  const by = sampling.by ?? "judge";
  const cost: [string, ComponentChildren] = [t("cost"), number(sampling.cost)];
  return (
    <Section id="sampling" title={t("sampling")}>
      <Facts
        facts={[
          [t(by === "judge" ? "judged" : "read_by_rules"), t("judged_of", { judged: sampling.judged, answers: sampling.answers })],
          [t("budget"), number(sampling.budget)],
          ...(by === "judge" ? [cost] : []),
          [t("width"), sampling.width === null ? t("unknown") : formatValue(sampling.width, "share")],
          [t("design"), <Data text={sampling.design} />],
        ]}
      />
    </Section>
  );
}

function Drift({ rows }: { rows: readonly DriftRow[] }) {
  const { t } = useWords();
  const number = (value: number | null) => (value === null ? t("unknown") : Number(value.toPrecision(3)).toString());
  return (
    <Paged
      label={t("drift")}
      rows={rows}
      columns={[
        { key: "what", head: t("what"), wrap: true, cell: (row) => <Data text={row.what} /> },
        { key: "from", head: t("from"), cell: (row) => <Data text={row.from} /> },
        { key: "to", head: t("to"), cell: (row) => <Data text={row.to} /> },
        { key: "statistic", head: t("statistic"), number: true, cell: (row) => number(row.statistic) },
        { key: "p", head: t("p_value"), number: true, cell: (row) => number(row.p) },
        { key: "text", head: t("text"), wrap: true, cell: (row) => <Data text={row.text} /> },
      ]}
    />
  );
}
