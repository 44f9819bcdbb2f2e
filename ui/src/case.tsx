// One case whole: what was asked and expected, and for a configuration every step from the search to the score.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Answer } from "./answer";
import { Attributed } from "./attribution";
import { loadDetail, own, whyOf, type ChunkRow, type Column, type Detail, type Report, type Rows, type StageRows, type View } from "./data";
import { stateOf } from "./filter";
import { caseHash, ClassBadge, Facts, Scroll, Section, StateBadge, useScores, useWords } from "./parts";
import { Block, Data, Items, marked, quoted, visible } from "./text";

export function CasePage(props: { report: Report; rows: Rows; id: string; config: string }) {
  const { report, rows, id } = props;
  const { t } = useWords();
  const place = rows.ids.indexOf(id);
  const [detail, take] = useState<Detail | null | undefined>(undefined);
  useEffect(() => {
    let wanted = true;
    take(undefined);
    void loadDetail(rows, place).then((found) => wanted && take(found));
    return () => {
      wanted = false;
    };
  }, [rows, place]);
  const config = report.configs.some((each) => each.id === props.config) ? props.config : (report.configs[0]?.id ?? "");
  const found = own(rows.configs, config);
  if (place < 0 || found === undefined) return <p>{t("no_such_case")}</p>;
  const view = detail == null ? undefined : own(detail.views, config);
  return (
    <article>
      <Head report={report} rows={rows} place={place} config={config} />
      {detail === undefined && <p>{t("loading")}</p>}
      {detail === null && (
        <section>
          <p>
            <Data text={rows.questions[place] ?? ""} />
          </p>
          <p>{t("not_held")}</p>
        </section>
      )}
      {detail != null && <Asked detail={detail} />}
      {view !== undefined && detail != null && (
        <>
          {!view.observed && <p>{t("no_output")}</p>}
          <Outcome view={view} rows={rows} config={config} place={place} />
          {view.attribution !== null && <Attributed found={view.attribution} />}
          {view.observed && <Seen view={view} detail={detail} />}
        </>
      )}
      <Scores report={report} place={place} config={config} how={view?.how ?? {}} />
      <Section id="explain" title={t("explain")}>
        <code class="command">
          {visible(`assay explain ${quoted(id)} --config ${quoted(config)} ${report.explain}`.trimEnd())}
        </code>
      </Section>
    </article>
  );
}

function Head(props: { report: Report; rows: Rows; place: number; config: string }) {
  const { report, rows, place, config } = props;
  const { t } = useWords();
  const link = (to: number, label: string) =>
    to >= 0 && to < rows.ids.length && <a href={caseHash(rows.ids[to] ?? "", config)}>{label}</a>;
  return (
    <header>
      <nav class="crumbs" aria-label={t("case")}>
        <a href={`#/cases?${new URLSearchParams({ config })}`}>{t("back")}</a>
        {link(place - 1, `← ${t("previous")}`)}
        {link(place + 1, `${t("next")} →`)}
      </nav>
      <h1>
        <Data text={rows.ids[place] ?? ""} />
      </h1>
      <ul class="tabs" aria-label={t("configs")}>
        {report.configs.map((each) => {
          const found = own(rows.configs, each.id);
          return (
            <li key={each.id}>
              <a href={caseHash(rows.ids[place] ?? "", each.id)} aria-current={each.id === config ? "page" : undefined}>
                <Data text={each.id} />{" "}
                {found !== undefined && <StateBadge kind="state" name={stateOf(rows, found, place)} />}
              </a>
            </li>
          );
        })}
      </ul>
    </header>
  );
}

function Asked({ detail }: { detail: Detail }) {
  const { t, w } = useWords();
  const list = (items: string[]) => <Items items={items} />;
  const facts: [string, ComponentChildren][] = [
    [t("behaviour"), w("behaviour", detail.behaviour)],
    [t("asker"), <Data text={detail.user.map(([name, value]) => `${name} ${value}`).join(", ") || t("anyone")} />],
  ];
  const add = (name: string, items: string[]) => items.length > 0 && facts.push([name, list(items)]);
  add(t("also"), detail.also.map((each) => w("behaviour", each)));
  if (detail.reference !== null) facts.push([t("reference"), <Block text={detail.reference} />]);
  add(t("must_have"), detail.must_have);
  add(t("keywords"), detail.keywords);
  add(t("must_cite"), detail.must_cite);
  add(t("evidence"), detail.evidence);
  add(t("forbidden"), detail.forbidden);
  if (detail.notes !== "") facts.push([t("notes"), <Block text={detail.notes} />]);
  const more: [string, string][] = [
    [t("difficulty"), detail.difficulty],
    ...(detail.language === null ? [] : [[t("lang"), detail.language] as [string, string]]),
    ...Object.entries(detail.attributes),
    ...detail.metadata,
  ];
  return (
    <section id="asked">
      <h2>{t("question")}</h2>
      {detail.history.length > 0 && (
        <div class="history">
          <h3>{t("history")}</h3>
          {detail.history.map((turn, place) => (
            <div key={place}>
              <strong>
                <Data text={turn.role} />
              </strong>
              <Block text={turn.text} />
            </div>
          ))}
        </div>
      )}
      <div class="question">
        <Block text={detail.question} />
      </div>
      <h3>{t("expected")}</h3>
      <Facts facts={facts} />
      <details>
        <summary>{t("more_facts")}</summary>
        <Facts facts={more.map(([name, value]) => [visible(name), <Data text={value} />])} />
      </details>
    </section>
  );
}

function Outcome({ view, rows, config, place }: { view: View; rows: Rows; config: string; place: number }) {
  const { t, w } = useWords();
  const found = own(rows.configs, config);
  if (found === undefined) return null;
  return (
    <Section id="outcome" title={t("verdict_now")}>
      <p>
        <StateBadge kind="state" name={stateOf(rows, found, place)} />{" "}
        {view.failed.length === 0 ? t("no_failed") : <Data text={`${t("failed_checks")}: ${view.failed.join(", ")}`} />}
      </p>
      {view.warnings.length > 0 && (
        <p>
          <Data text={`${t("case_warnings")}: ${view.warnings.join(", ")}`} />
        </p>
      )}
      {view.declared != null && (
        <p>
          {t("declared")}: {w("behaviour", view.declared)}
        </p>
      )}
      {view.error != null && (
        <p class="bad-text">
          {t("target_error")}: <Data text={view.error} />
        </p>
      )}
    </Section>
  );
}

function Seen({ view, detail }: { view: View; detail: Detail }) {
  const { t } = useWords();
  return (
    <>
      <Section id="answer" title={t("answer")}>
        <Answer view={view} detail={detail} />
      </Section>
      <Section id="context" title={t("context")}>
        {view.context === null && <p>{t("not_reported")}</p>}
        {view.context?.length === 0 && <p>{t("nothing")}</p>}
        <ol class="chunks">
          {view.context?.map((chunk, place) => (
            <Chunk key={place} chunk={chunk} rank={place + 1} view={view} detail={detail} open />
          ))}
        </ol>
      </Section>
      <Section id="stages" title={t("stages")}>
        <p class="hint">{t("stages_note")}</p>
        {view.rewrite != null && (
          <p>
            {t("rewrite")}: <Data text={view.rewrite} />
          </p>
        )}
        {view.stages === null && <p>{t("not_reported")}</p>}
        <div class="stages" role="group" aria-label={t("stages")} tabIndex={0}>
          {view.stages?.map((stage, place) => (
            <Stage key={place} stage={stage} view={view} detail={detail} />
          ))}
        </div>
      </Section>
      {view.usage != null && (
        <Section id="usage" title={t("usage")}>
          <Facts facts={Object.entries(view.usage).map(([name, value]) => [visible(name), <Data text={plain(value)} />])} />
        </Section>
      )}
    </>
  );
}

function plain(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name} ${String(each)}`)
    .join(", ");
}

function Stage({ stage, view, detail }: { stage: StageRows; view: View; detail: Detail }) {
  const { t } = useWords();
  return (
    <div class="stage">
      <h3>
        <Data text={stage.name} /> {stage.ms !== null && <span class="n">{Math.round(stage.ms)} ms</span>}
      </h3>
      {stage.chunks.length === 0 && <p>{t("nothing")}</p>}
      <ol class="chunks">
        {stage.chunks.map((chunk, place) => (
          <Chunk key={place} chunk={chunk} rank={place + 1} view={view} detail={detail} open={false} />
        ))}
      </ol>
    </div>
  );
}

interface ChunkProps {
  chunk: ChunkRow;
  rank: number;
  view: View;
  detail: Detail;
  open: boolean;
}

function Chunk({ chunk, rank, view, detail, open }: ChunkProps) {
  const { t } = useWords();
  const covers = chunk.grade !== null && chunk.grade > 0;
  const text = own(view.texts, chunk.id);
  const head = (
    <>
      <span class="rank">{rank}</span> <Data text={chunk.id} />{" "}
      <span class={covers ? "grade" : "n"}>{chunk.grade === null ? t("unjudged") : t("grade", { n: chunk.grade })}</span>
      {chunk.score !== null && <span class="n"> {Number(chunk.score.toPrecision(4))}</span>}
      {chunk.marks.map((mark) => (
        <span class={`pill ${mark === "forbidden" ? "bad" : ""}`} key={mark}>
          <Data text={mark} />
        </span>
      ))}
    </>
  );
  if (chunk.hidden || text === undefined) {
    return (
      <li class={covers ? "covers" : ""}>
        {head} <em class="n">{chunk.hidden ? t("withheld") : ""}</em>
      </li>
    );
  }
  return (
    <li class={covers ? "covers" : ""}>
      <details open={open && covers}>
        <summary>{head}</summary>
        <p class="block" dir="auto">
          {marked(visible(text, true), detail.quotes.map((quote) => visible(quote, true))).map(([piece, quote], place) =>
            quote < 0 ? piece : <mark key={place}>{piece}</mark>,
          )}
        </p>
      </details>
    </li>
  );
}

type How = Record<string, string>;

function Scores({ report, place, config, how }: { report: Report; place: number; config: string; how: How }) {
  const { t } = useWords();
  const columns = useScores(report, config);
  if (columns === null) return <p>{t("loading")}</p>;
  const table = (chosen: Column[], label: string) => (
    <ScoreTable report={report} columns={chosen} place={place} how={how} label={label} />
  );
  const scored = columns.filter((column) => column.values[place] != null);
  const unscored = columns.filter((column) => column.values[place] == null);
  return (
    <Section id="scores" title={t("scores")}>
      {scored.length > 0 && table(scored, t("scores"))}
      {unscored.length > 0 && (
        <details open={scored.length === 0}>
          <summary>{t("unscored", { n: unscored.length })}</summary>
          {table(unscored, t("unscored", { n: unscored.length }))}
        </details>
      )}
    </Section>
  );
}

interface ScoreTableProps {
  report: Report;
  columns: Column[];
  place: number;
  how: How;
  label: string;
}

function ScoreTable({ report, columns, place, how, label }: ScoreTableProps) {
  const { t, w } = useWords();
  const marks = new Map(report.metrics.map((metric) => [metric.name, metric.class]));
  return (
    <Scroll label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("metric")}</th>
            <th scope="col" class="number">
              {t("score")}
            </th>
            <th scope="col">{t("reason")}</th>
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => {
            const value = column.values[place] ?? null;
            const [status, reason] = value === null ? whyOf(column, place) : ["", own(how, column.name) ?? ""];
            return (
              <tr key={column.name}>
                <th scope="row">
                  <ClassBadge mark={marks.get(column.name) ?? "D"} /> <Data text={column.name} />
                </th>
                <td class="number">{value ?? w("status", status)}</td>
                <td class="wrap">
                  <Data text={reason} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}
