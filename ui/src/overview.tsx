// What the first screen answers below the decision: why not, what to do, what changed, and which cases failed.

import type { Comparison, ConfigFailures, ConfigSummary, FailedCase, FlippedCases, MetricChange, OutcomeCounts, Report } from "./types";
import { GainPlot } from "./charts";
import { beginSentence, caseHash, Remedy, Section, StateBadge, useHappened, useChecks, useInterval, useWords } from "./parts";
import { ShortAnswer } from "./short";
import { DataTable } from "./table";
import { Data, Sentence, visible } from "./text";

export function Overview({ report }: { report: Report }) {
  const { t } = useWords();
  return (
    <>
      <div class="columns overview">
        <div>
          <ToDo report={report} />
          {report.comparison !== null && <Outcomes counts={report.outcomes} />}
        </div>
        {report.comparison !== null ? (
          <WhatChanged comparison={report.comparison} report={report} />
        ) : (
          <div>
            <Outcomes counts={report.outcomes} />
            {report.configs.length === 1 && (
              <p class="hint">
                <Sentence text={t("no_baseline")} />
              </p>
            )}
          </div>
        )}
      </div>
      {report.failures.map((failures) => (
        <Failures key={failures.config} failures={failures} report={report} />
      ))}
      <Movement report={report} />
    </>
  );
}

type CauseOfConfig = ConfigFailures["causes"][number] & { config: string };
/** A cause with the configurations that have it, each with its count and its first cases. */
type CountedCause = { cause: string; sign: string; decided: number; likely: number; fix: string; total: number; leaked: boolean; parts: CauseOfConfig[] };

/** The causes of all configurations: one that several have is one, and those of leaks come first. */
function mergeCauses(failures: readonly ConfigFailures[]): CountedCause[] {
  const merged = new Map<string, CountedCause>();
  for (const { config, causes } of failures) {
    for (const counted of causes) {
      const { cause, sign, decided, likely, fix, total, leaked } = counted;
      const key = JSON.stringify([cause, sign, fix]);
      const same = merged.get(key) ?? { cause, sign, decided: 0, likely: 0, fix, total: 0, leaked: false, parts: [] };
      same.total += total;
      same.decided += decided;
      same.likely += likely;
      same.leaked ||= leaked;
      same.parts.push({ config, ...counted });
      merged.set(key, same);
    }
  }
  const causes = [...merged.values()];
  return failures.length > 1 ? causes.toSorted((a, b) => Number(b.leaked) - Number(a.leaked) || b.total - a.total) : causes;
}

/** The most causes that are listed openly; of more the first two are, and the others in a list to unfold, so that all
    failed cases are counted and the first of them is on the first screen. */
const SHOWN_CAUSES = 3;
const NAMED_OTHERS = 2;

function ToDo({ report }: { report: Report }) {
  const { t } = useWords();
  const nameCounted = useCountedClaim();
  const causes = mergeCauses(report.failures);
  const shown = causes.length > SHOWN_CAUSES ? SHOWN_CAUSES - 1 : SHOWN_CAUSES;
  const others = causes.slice(shown);
  const several = report.failures.length > 1;
  const unjudged = report.configs.filter((config) => config.outcome === "INCOMPLETE" && config.unjudged > 0);
  const firstOthers = [...new Set(others.map(nameCounted))].slice(0, NAMED_OTHERS);
  return (
    <Section id="todo" title={t("to_do")}>
      {unjudged.map(({ id, cases, unjudged: n }) => (
        <p key={id} class="unjudged">
          {several && (
            <>
              <Data text={id} />
              {": "}
            </>
          )}
          <Sentence text={t("lack_verdicts", { n, total: cases })} />
        </p>
      ))}
      {causes.length === 0 && <p>{report.failures.some(({ total }) => total > 0) ? t("no_causes") : t("nothing_failed")}</p>}
      <ol class="todo-list">
        {causes.slice(0, shown).map((counted) => (
          <CountedCauseItem key={`${counted.cause} ${counted.sign} ${counted.fix}`} counted={counted} several={several} />
        ))}
      </ol>
      {others.length > 0 && (
        <details class="other-causes">
          <summary>
            {t("other_causes", { n: others.reduce((sum, { total }) => sum + total, 0) })}{" "}
            {firstOthers.join("; ")}
            {others.length > firstOthers.length && "; …"}
          </summary>
          <ul class="todo-list">
            {others.map((counted) => (
              <CountedCauseItem key={`${counted.cause} ${counted.sign} ${counted.fix}`} counted={counted} several={several} />
            ))}
          </ul>
        </details>
      )}
      <OpenCases report={report} />
    </Section>
  );
}

/** What happened to some of the cases of a cause, or perhaps did, as a sentence without a capital letter. */
function useCountedClaim(): (counted: CountedCause) => string {
  const { t } = useWords();
  const { ofSign } = useHappened();
  return ({ cause, sign, decided, likely, total }) => {
    if (cause === "") return t("without_cause");
    const text = ofSign(sign);
    if (decided === total || cause === "insufficient_trace") return text;
    if (decided > 0) return t("claim.some", { sign: text, n: decided });
    return likely === total ? t("claim.all_likely", { sign: text }) : t("claim.none", { sign: text });
  };
}

function CountedCauseItem({ counted, several }: { counted: CountedCause; several: boolean }) {
  const { t } = useWords();
  const nameCounted = useCountedClaim();
  const { ofSign } = useHappened();
  const { cause, sign, decided, total, fix, parts } = counted;
  const isMixed = decided > 0 && decided < total && cause !== "" && cause !== "insufficient_trace";
  const linkCases = (config: string) => `#/cases?${new URLSearchParams({ config, cause })}`;
  const { config, cases } = parts[0] ?? { config: "", cases: [] };
  return (
    <li>
      <a href={linkCases(config)}>
        <strong>
          <Data text={beginSentence(isMixed ? ofSign(sign) : nameCounted(counted))} />
        </strong>
      </a>{" "}
      <span class="n">
        {isMixed ? t("cause_count_some", { n: total, decided }) : t("cause_count", { n: total })} (
        {parts.length === 1 ? (
          <>
            <CaseNames ids={cases} config={config} />
            {total > cases.length && ", …"}
          </>
        ) : (
          parts.map((part, index) => (
            <span key={part.config}>
              {index > 0 && ", "}
              <a href={linkCases(part.config)}>
                <Data text={part.config} />
              </a>{" "}
              {part.total}
            </span>
          ))
        )}
        )
        {several && parts.length === 1 && (
          <>
            {", "}
            <Data text={config} />
          </>
        )}
      </span>
      {fix !== "" && (
        <>
          {": "}
          <Remedy cause={cause} fix={fix} />
        </>
      )}
    </li>
  );
}

/** How many answers nobody can tell, where there are any: a run in which nothing failed is not known to be good. What a
    judge says of them is said with why it does not count, and only a judge that was not asked yet is recommended. */
function OpenCases({ report }: { report: Report }) {
  const { t } = useWords();
  const open = report.configs.filter((config) => (config.states.unknown ?? 0) > 0);
  if (open.length === 0) return null;
  const several = report.configs.length > 1;
  const judged = open.filter(({ judged_unknowns }) => judged_unknowns !== null);
  const asked = report.metrics.some(({ class: mark, by }) => mark === "J" && by.some((measure) => (measure?.n ?? 0) > 0));
  const remedy = judged.length > 0 ? "open_person" : asked ? "open_unasked" : "open_remedy";
  return (
    <p class="open-cases">
      {t(judged.length > 0 ? "open_judged" : "open_cases")}{" "}
      {open.map((config, index) => (
        <span key={config.id}>
          {index > 0 && ", "}
          {several && (
            <>
              <Data text={config.id} />{" "}
            </>
          )}
          <a href={`#/cases?${new URLSearchParams({ config: config.id, status: "unknown" })}`}>
            {t("n_of", { n: config.states.unknown ?? 0, total: config.cases })}
          </a>
        </span>
      ))}
      {". "}
      {judged.map((config) => (
        <JudgedUnknowns key={config.id} config={config} several={several} />
      ))}
      <Sentence text={t(remedy)} />
    </p>
  );
}

const LABELS = ["right", "partly_right", "wrong", "unlabelled"] as const;

function JudgedUnknowns({ config, several }: { config: ConfigSummary; several: boolean }) {
  const { t } = useWords();
  const judged = config.judged_unknowns;
  if (judged === null) return null;
  const isLabelled = judged.right + judged.partly_right + judged.wrong > 0;
  const labels = LABELS.filter((label) => judged[label] > 0).map((label) => t(`judged.${label}`, { n: judged[label] }));
  return (
    <>
      {several && (
        <>
          <Data text={config.id} />
          {": "}
        </>
      )}
      {isLabelled ? t("judged.labels", { labels: labels.join(", ") }) : t("judged.none")}{" "}
      {isLabelled && judged.standing !== "" && (
        <>
          <Sentence text={t(`standing.${judged.standing}`)} />{" "}
        </>
      )}
    </>
  );
}

function Outcomes({ counts }: { counts: OutcomeCounts[] }) {
  const { t } = useWords();
  return (
    <Section id="outcomes" title={t("outcomes")}>
      {counts.length === 0 && <p>{t("no_outcomes")}</p>}
      <div class="outcomes">
        {counts.length > 1 ? (
          <ManyCounts counts={counts} />
        ) : (
          counts.map((count) => (
            <div key={count.config}>
              <CountTable count={count} />
              {count.no_cell > 0 && <p class="hint">{t("not_counted", { n: count.no_cell })}</p>}
            </div>
          ))
        )}
      </div>
    </Section>
  );
}

/** The four counts of each configuration in a line. */
function ManyCounts({ counts }: { counts: OutcomeCounts[] }) {
  const { t } = useWords();
  const heads = [t("good"), t("bad"), t("good"), t("bad")];
  return (
    <table class="many">
      <thead>
        <tr>
          <td rowSpan={2} />
          <th scope="colgroup" colSpan={2} class="number">
            {t("reached")}
          </th>
          <th scope="colgroup" colSpan={2} class="number">
            {t("not_reached")}
          </th>
          <th scope="col" rowSpan={2} class="number">
            {t("uncounted")}
          </th>
        </tr>
        <tr>
          {heads.map((head, index) => (
            <th scope="col" class="number" key={index}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {counts.map((count) => (
          <tr key={count.config}>
            <th scope="row">
              <Data text={count.config} />
            </th>
            <td class="number good-cell">{count.reached_good}</td>
            <td class="number">{count.reached_bad}</td>
            <td class="number">{count.not_reached_good}</td>
            <td class="number">{count.not_reached_bad}</td>
            <td class="number">{count.no_cell}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The four counts of a configuration, or that there are none. */
function CountTable({ count }: { count: OutcomeCounts }) {
  const { t } = useWords();
  const { reached_good, reached_bad, not_reached_good, not_reached_bad } = count;
  if (reached_good + reached_bad + not_reached_good + not_reached_bad === 0) {
    return (
      <p>
        <Data text={count.config} />: {t("none_counted")}
      </p>
    );
  }
  return (
    <table>
      <caption>
        <Data text={count.config} />
      </caption>
      <thead>
        <tr>
          <td />
          <th scope="col" class="number">
            {t("good")}
          </th>
          <th scope="col" class="number">
            {t("bad")}
          </th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">{t("reached")}</th>
          <td class="number good-cell">{count.reached_good}</td>
          <td class="number">{count.reached_bad}</td>
        </tr>
        <tr>
          <th scope="row">{t("not_reached")}</th>
          <td class="number">{count.not_reached_good}</td>
          <td class="number">{count.not_reached_bad}</td>
        </tr>
      </tbody>
    </table>
  );
}

const MOVED = 6;
const SIGNIFICANT: MetricChange["verdict"][] = ["regressed", "improved", "rose"];

/** The most important changes first: significant ones before others, then by what they are of, then by the gain in widths of
 * its interval. */
export function importantFirst(changes: readonly MetricChange[]): MetricChange[] {
  const strength = (change: MetricChange) => {
    // A range of a gain has no strength; it is a change all the same, other than a metric that was not measured.
    if (change.gain === null) return change.gain_text === null ? -1 : 0;
    const width = change.low === null || change.high === null ? Number.POSITIVE_INFINITY : change.high - change.low;
    return Math.abs(change.gain) / Math.max(width, 1e-9);
  };
  const significant = (change: MetricChange) => (SIGNIFICANT.includes(change.verdict) ? 1 : 0);
  return changes.toSorted((a, b) => significant(b) - significant(a) || a.importance - b.importance || strength(b) - strength(a));
}

/** The metrics of the report's first table, or all if the comparison has none of them. */
export function headlineChanges(report: Report, comparison: Comparison): MetricChange[] {
  const headlines = new Set(report.headlines);
  const first = comparison.metrics.filter((change) => headlines.has(change.name));
  return first.length > 0 ? first : comparison.metrics;
}

const FIRST = 3;
/** How many regressed metrics are named: as many as the other reports name among what to doubt. */
const FIRST_REGRESSED = 4;

/** The metrics that regressed significantly, the most important first, as one sentence, with the configuration where there are
    several; empty without any. */
export function nameRegressed(report: Report, comparison: Comparison, t: ReturnType<typeof useWords>["t"]): string {
  const { regressed } = comparison;
  if (regressed.length === 0) return "";
  const titles = nameMetrics(report);
  const named = regressed.slice(0, FIRST_REGRESSED).map((name) => titles.get(name) ?? name);
  const rest = regressed.length - named.length;
  const metrics = `${named.join(", ")}${rest > 0 ? ` ${t("and_more", { n: rest })}` : ""}`;
  const sentence = t("regressed_since", { baseline: nameBaseline(comparison), metrics });
  return report.configs.length < 2 ? sentence : `${visible(comparison.candidate.config)}: ${sentence}`;
}

/** The titles of metrics by name, those of the headlines among them. */
export function nameMetrics(report: Report): Titles {
  return new Map(report.metrics.map(({ name, title }) => [name, title]));
}

/** The baseline as people call it: the last part of its path, and its configuration where that is another one. */
export function nameBaseline({ baseline, candidate }: Comparison): string {
  const name = baseline.name.split(/[\\/]/).findLast((part) => part !== "") ?? baseline.name;
  const named = baseline.config === candidate.config || baseline.config === name ? name : `${baseline.config} (${name})`;
  return visible(named);
}

/** A title with the configuration that is compared, where there are several. */
function nameComparison(title: string, report: Report): string {
  if (report.comparison === null || report.configs.length < 2) return title;
  return `${title}: ${visible(report.comparison.candidate.config)}`;
}

/** What changed, in a few lines: which versions and settings differ, the most important movements, which cases flipped. */
function WhatChanged({ comparison, report }: { comparison: Comparison; report: Report }) {
  const { t } = useWords();
  const titles = nameMetrics(report);
  const significant = comparison.metrics.filter((change) => SIGNIFICANT.includes(change.verdict));
  const moved = importantFirst(headlineChanges(report, comparison)).filter(
    (change) => change.improved + change.regressed > 0 && change.baseline !== change.candidate,
  );
  // A secondary metric that is significant does not hide that the answers may have got worse: the worst first.
  const balance = (change: MetricChange) => (change.improved - change.regressed) / Math.max(1, change.n);
  const others = moved
    .filter((change) => !SIGNIFICANT.includes(change.verdict) && change.importance === 0)
    .toSorted((a, b) => balance(a) - balance(b));
  const rest = comparison.changed.length - FIRST;
  const { fail_now, fail_no_longer, unknown_now } = comparison.flipped;
  const noLonger = unknown_now > 0 ? "fail_no_longer_or_unknown" : "fail_no_longer";
  return (
    <Section id="what-changed" title={nameComparison(t("movement", { baseline: nameBaseline(comparison) }), report)}>
      <div class="what-changed">
        <Leaks comparison={comparison} />
        <p>
          <strong>{t("differs")}</strong>: <Data text={comparison.changed.slice(0, FIRST).join("; ")} />
          {rest > 0 && (
            <>
              {" "}
              <a href="#/comparison">{t("and_more", { n: rest })}</a>
            </>
          )}
        </p>
        {SIGNIFICANT.map((verdict) => (
          <SignificantChanges key={verdict} verdict={verdict} changes={significant} titles={titles} />
        ))}
        {significant.length > 0 && others.length > 0 && (
          <p>
            <strong>{t("movements")}</strong>: {t("headlines_moved")} <ChangeList changes={others.slice(0, FIRST)} titles={titles} />
          </p>
        )}
        {significant.length === 0 && (
          <p>
            <strong>{t("movements")}</strong>: {t(moved.length === 0 ? "nothing_moved" : "none_significant")}{" "}
            <ChangeList changes={moved.slice(0, FIRST)} titles={titles} />
          </p>
        )}
        <p>
          <a href="#/comparison">{t("movement_all")}</a>
        </p>
        {fail_now.total + fail_no_longer.total === 0 && <p>{t("none_flipped")}</p>}
        <Flips title={t("fail_now", { n: fail_now.total })} flips={fail_now} config={comparison.candidate.config} />
        <Flips title={t(noLonger, { n: fail_no_longer.total, unknown: unknown_now })} flips={fail_no_longer} config={comparison.candidate.config} />
      </div>
    </Section>
  );
}

type Titles = ReadonlyMap<string, string>;

/** The significant changes of one direction, the most important first, with the number of those that are left out. */
function SignificantChanges(props: { verdict: MetricChange["verdict"]; changes: readonly MetricChange[]; titles: Titles }) {
  const { t } = useWords();
  const changes = importantFirst(props.changes.filter((change) => change.verdict === props.verdict));
  if (changes.length === 0) return null;
  const most = props.verdict === "regressed" ? FIRST_REGRESSED : FIRST;
  return (
    <p>
      <StateBadge kind="verdict" name={props.verdict} /> <ChangeList changes={changes.slice(0, most)} titles={props.titles} />
      {changes.length > most && <> {t("and_more", { n: changes.length - most })}</>}
    </p>
  );
}

function ChangeList({ changes, titles }: { changes: readonly MetricChange[]; titles: Titles }) {
  return (
    <>
      {changes.map((change, index) => (
        <span key={change.name}>
          {index > 0 && "; "}
          <Data text={titles.get(change.name) ?? change.title} /> {change.baseline} → {change.candidate}
          {change.gain === null && change.gain_text !== null && `, ${change.gain_text}`}
        </span>
      ))}
    </>
  );
}

function Flips({ title, flips, config }: { title: string; flips: FlippedCases; config: string }) {
  const { t } = useWords();
  if (flips.total === 0) return null;
  const rest = flips.total - flips.cases.length;
  return (
    <p>
      <strong>{title}</strong>:{" "}
      <CaseNames ids={flips.cases} config={config} />
      {rest > 0 && <> {t("and_more", { n: rest })}</>}
    </p>
  );
}

/** Which cases leak now or no longer; nothing where none leaks on either side. */
export function Leaks({ comparison }: { comparison: Comparison }) {
  const { language, t } = useWords();
  if (comparison.leaks === "") return null;
  const { now_alone, before_alone, on_both } = comparison.leaking;
  const parts: string[] = [];
  if (now_alone.total > 0) parts.push(t("leak_now", { n: now_alone.total, ids: listIds(now_alone) }));
  if (before_alone.total > 0) parts.push(t("leak_no_longer", { n: before_alone.total, ids: listIds(before_alone) }));
  if (on_both) parts.push(t("leak_still"));
  return (
    <p>
      <strong>
        <Data text={language === "en" ? comparison.leaks : `${t("leak_title")}: ${parts.join("; ")}`} />
      </strong>
    </p>
  );
}

function listIds(cases: FlippedCases): string {
  return cases.cases.join(", ") + (cases.total > cases.cases.length ? ", …" : "");
}

function CaseNames({ ids, config }: { ids: readonly string[]; config: string }) {
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <a href={caseHash(id, config)}>
            <Data text={id} />
          </a>
        </span>
      ))}
    </>
  );
}

function Movement({ report }: { report: Report }) {
  const { t } = useWords();
  const interval = useInterval();
  const comparison = report.comparison;
  if (comparison === null) return null;
  const changes = importantFirst(headlineChanges(report, comparison)).slice(0, MOVED);
  const titles = nameMetrics(report);
  const title = nameComparison(t("movement_table", { baseline: nameBaseline(comparison) }), report);
  const reach = Math.max(1e-9, ...changes.filter(({ unit }) => unit === "share").flatMap(spread));
  return (
    <Section id="movement" title={title}>
      <DataTable
        label={title}
        className="metrics"
        rows={changes}
        columns={[
          { key: "metric", head: t("metric"), cell: (change) => <Data text={titles.get(change.name) ?? change.title} /> },
          {
            key: "gain",
            head: t("gain"),
            number: true,
            cell: (change) => (
              <>
                <strong class={change.gain === null ? "range" : undefined}>{change.gain_text ?? "n/a"}</strong> <span class="n">{interval(change.interval) ?? ""}</span>
              </>
            ),
          },
          {
            key: "verdict",
            head: t("change"),
            cell: (change) => <StateBadge kind="verdict" name={change.verdict} />,
          },
          {
            key: "plot",
            head: <span class="sr-only">{t("gain")}</span>,
            cell: (change) => (
              <GainPlot change={change} reach={change.unit === "share" ? reach : Math.max(1e-9, ...spread(change))} />
            ),
          },
          { key: "before", head: t("before"), number: true, cell: (change) => change.baseline ?? "n/a" },
          { key: "after", head: t("after"), number: true, cell: (change) => change.candidate ?? "n/a" },
        ]}
      />
      <p>
        <a href="#/comparison">{t("movement_all")}</a>
      </p>
    </Section>
  );
}

function spread(change: MetricChange): number[] {
  return [change.gain, change.low, change.high].map((value) => Math.abs(value ?? 0));
}

const LISTED = 6;

function Failures({ failures, report }: { failures: ConfigFailures; report: Report }) {
  const { t } = useWords();
  const summary = report.configs.find((config) => config.id === failures.config);
  const unknown = summary?.states.unknown ?? 0;
  const { unanswered } = failures;
  const areUnanswered = unanswered > 0 && unanswered === failures.total; // nothing was measured of them, so that they are no failures
  const counted = areUnanswered ? "unanswered_of" : unanswered > 0 ? "failed_of_without" : "failed_of";
  const failed = t(counted, { n: failures.total, total: summary?.cases ?? 0, unanswered });
  const count = unknown > 0 ? `${failed}, ${t(failures.total > 0 ? "others_unknown" : "and_unknown", { n: unknown })}` : failed;
  const title = report.configs.length > 1 ? `${visible(failures.config)}: ${count}` : count;
  const listed = Math.max(2, Math.floor(LISTED / report.failures.length));
  const all = new URLSearchParams({ config: failures.config, status: "failed" });
  return (
    <section id={`failed-${report.failures.indexOf(failures)}`}>
      <h2>
        <bdi>{title}</bdi>
      </h2>
      {failures.cases.slice(0, listed).map((failed) => (
        <Failure key={failed.id} failed={failed} config={failures.config} />
      ))}
      <p class="links">
        {failures.total > 0 && <a href={`#/cases?${all}`}>{t(areUnanswered ? (failures.total === 1 ? "one_unanswered" : "all_unanswered") : failures.total === 1 ? "one_failed" : "all_failed", { n: failures.total })}</a>}
        {report.configs.length > 1 && <a href="#/matrix?differing=yes">{t("see_matrix")}</a>}
      </p>
    </section>
  );
}

function Failure({ failed, config }: { failed: FailedCase; config: string }) {
  const { t, w } = useWords();
  const { tell } = useHappened();
  const nameChecks = useChecks();
  return (
    <article class="failure">
      <p class="failure-head">
        <StateBadge kind="state" name={failed.state} />
        <a href={caseHash(failed.id, config)}>
          <Data text={failed.id} />
        </a>
        {failed.change !== "" && failed.change !== "unchanged" && failed.change !== "unpaired" && (
          <StateBadge kind="change" name={failed.change} />
        )}
        {failed.happened !== null && (
          <span class="failure-cause">
            <Data text={tell(failed.happened)} />
          </span>
        )}
        <span class="n">
          <Data text={[...nameChecks(failed.checks), ...(failed.happened?.ids ?? [])].join(", ")} />
        </span>
      </p>
      <p class="failure-question">
        <Data text={failed.question} />
      </p>
      <dl class="failure-facts">
        <div>
          <dt>{t("expected")}</dt>
          <dd>
            {failed.behaviour !== "answer" && <strong>{w("behaviour", failed.behaviour)}. </strong>}
            <Data text={failed.expected || (failed.behaviour === "answer" ? t("not_stated") : "")} />
          </dd>
        </div>
        <div>
          <dt>{t("answer")}</dt>
          <dd>
            <ShortAnswer state={failed.answered} text={failed.answer} />
          </dd>
        </div>
        {failed.fix !== "" && (
          <div>
            <dt>{t("fix")}</dt>
            <dd>
              <Remedy cause={failed.cause} fix={failed.fix} />
            </dd>
          </div>
        )}
      </dl>
    </article>
  );
}
