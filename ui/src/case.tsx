// One case in full: question and expectation, and for one configuration every step from the search to the score.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Answer } from "./answer";
import { Attributed } from "./attribution";
import { loadDetail, getOwn, findUnscoredReason } from "./data";
import type { CaseDetail, CaseRows, CaseView, RankedChunk, Report, ScoreColumn, StageRanking } from "./types";
import { stateOf } from "./filter";
import { caseHash, ClassBadge, Facts, Remedy, Section, StateBadge, useChecks, useHappened, useScores, useWords } from "./parts";
import { DataTable, type Column } from "./table";
import { Block, Data, Items, marked, quoted, visible } from "./text";

export function CasePage(props: { report: Report; rows: CaseRows; id: string; config: string }) {
  const { report, rows, id } = props;
  const { t } = useWords();
  const index = rows.ids.indexOf(id);
  const [detail, take] = useState<CaseDetail | null | undefined>(undefined);
  useEffect(() => {
    let wanted = true;
    take(undefined);
    void loadDetail(rows, index).then((configRows) => wanted && take(configRows));
    return () => {
      wanted = false;
    };
  }, [rows, index]);
  useStepKeys(rows, index, props.config);
  const config = report.configs.some((item) => item.id === props.config) ? props.config : (report.configs[0]?.id ?? "");
  const configRows = getOwn(rows.configs, config);
  if (index < 0 || configRows === undefined) return <p>{t("no_such_case")}</p>;
  const view = detail == null ? undefined : getOwn(detail.views, config);
  return (
    <article>
      <Head report={report} rows={rows} index={index} config={config} />
      {detail === undefined && <p>{t("loading")}</p>}
      {detail === null && (
        <section>
          <p>
            <Data text={rows.questions[index] ?? ""} />
          </p>
          <p>{t("not_held")}</p>
        </section>
      )}
      {view !== undefined && <Outcome view={view} rows={rows} config={config} index={index} />}
      <KeyScores report={report} index={index} config={config} />
      {detail != null && <Asked detail={detail} />}
      {view !== undefined && detail != null && (
        <>
          {!view.observed && <p>{t("no_output")}</p>}
          {view.observed && (
            <Section id="answer" title={t("answer")}>
              <Answer view={view} detail={detail} />
            </Section>
          )}
          {view.attribution !== null && <Attributed attribution={view.attribution} />}
          {view.observed && <Seen view={view} detail={detail} />}
        </>
      )}
      <Scores report={report} index={index} config={config} how={view?.how ?? {}} />
      <Section id="explain" title={t("explain")}>
        <code class="command">
          {visible(`assay explain ${quoted(id)} --config ${quoted(config)} ${report.explain}`.trimEnd())}
        </code>
      </Section>
    </article>
  );
}

/** The left and right arrow lead to the neighbouring cases, unless something that uses them has the focus. */
function useStepKeys(rows: CaseRows, index: number, config: string) {
  useEffect(() => {
    const step = (event: KeyboardEvent) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const idle = document.activeElement === document.body || document.activeElement?.id === "content";
      const id = move === undefined ? undefined : rows.ids[index + move];
      if (id === undefined || !idle || event.altKey || event.ctrlKey || event.metaKey) return;
      location.hash = caseHash(id, config === "" ? undefined : config);
    };
    window.addEventListener("keydown", step);
    return () => window.removeEventListener("keydown", step);
  }, [rows, index, config]);
}

function Head(props: { report: Report; rows: CaseRows; index: number; config: string }) {
  const { report, rows, index, config } = props;
  const { t } = useWords();
  const link = (to: number, label: string) =>
    to >= 0 && to < rows.ids.length && <a href={caseHash(rows.ids[to] ?? "", config)}>{label}</a>;
  return (
    <header>
      <nav class="crumbs" aria-label={t("case")}>
        <a href={`#/cases?${new URLSearchParams({ config })}`}>{t("back")}</a>
        {link(index - 1, `← ${t("previous")}`)}
        {link(index + 1, `${t("next")} →`)}
      </nav>
      <h1>
        <Data text={rows.ids[index] ?? ""} />
      </h1>
      <ul class="tabs" aria-label={t("configs")}>
        {report.configs.map((item) => {
          const configRows = getOwn(rows.configs, item.id);
          return (
            <li key={item.id}>
              <a href={caseHash(rows.ids[index] ?? "", item.id)} aria-current={item.id === config ? "page" : undefined}>
                <Data text={item.id} />{" "}
                {configRows !== undefined && <StateBadge kind="state" name={stateOf(rows, configRows, index)} />}
              </a>
            </li>
          );
        })}
      </ul>
    </header>
  );
}

function Asked({ detail }: { detail: CaseDetail }) {
  const { t, w } = useWords();
  const list = (items: string[]) => <Items items={items} />;
  const facts: [string, ComponentChildren][] = [
    [t("behaviour"), w("behaviour", detail.behaviour)],
    [t("user"), <Data text={detail.user.map(([name, value]) => `${name} ${value}`).join(", ") || t("anyone")} />],
  ];
  const add = (name: string, items: string[]) => items.length > 0 && facts.push([name, list(items)]);
  add(t("also"), detail.also.map((item) => w("behaviour", item)));
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
          {detail.history.map((turn, index) => (
            <div key={index}>
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

function Outcome({ view, rows, config, index }: { view: CaseView; rows: CaseRows; config: string; index: number }) {
  const { t, w } = useWords();
  const { tell } = useHappened();
  const nameChecks = useChecks();
  const configRows = getOwn(rows.configs, config);
  if (configRows === undefined) return null;
  return (
    <section id="outcome" aria-label={t("verdict_now")}>
      <p class="lead">
        <StateBadge kind="state" name={stateOf(rows, configRows, index)} />{" "}
        {view.failed.length === 0 ? t("no_failed") : <Data text={`${t("failed_checks")}: ${nameChecks(view.failed).join(", ")}`} />}
      </p>
      {view.warnings.length > 0 && (
        <p>
          <Data text={`${t("case_warnings")}: ${nameChecks(view.warnings).join(", ")}`} />
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
      {view.attribution?.cause != null && (
        <p>
          {t("happened")}:{" "}
          <strong>
            <Data text={view.attribution.happened !== undefined ? tell(view.attribution.happened) : w("cause", view.attribution.cause)} />
          </strong>{" "}
          <span class="n">{t("confidence", { level: w("level", view.attribution.confidence ?? "medium") })}</span>
          {view.attribution.fix && (
            <>
              {". "}
              {t("fix")}: <Remedy cause={view.attribution.cause} fix={view.attribution.fix} />
            </>
          )}
        </p>
      )}
    </section>
  );
}

function Seen({ view, detail }: { view: CaseView; detail: CaseDetail }) {
  const { t } = useWords();
  return (
    <>
      <Section id="context" title={t("context")}>
        {view.entities !== undefined && (
          <p id="entities">
            {t("entities")}:{" "}
            {view.entities.map(([name, found], index) => (
              <span key={name}>
                {index > 0 && "; "}
                <Data text={name} /> {found ? t("entity_found") : <strong>{t("entity_missing")}</strong>}
              </span>
            ))}
          </p>
        )}
        {view.context === null && <p>{t("not_reported")}</p>}
        {view.context?.length === 0 && <p>{t("nothing")}</p>}
        <ol class="chunks">
          {view.context?.map((chunk, index) => (
            <Chunk key={index} chunk={chunk} rank={index + 1} view={view} detail={detail} open />
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
          {view.stages?.map((stage, index) => (
            <Stage key={index} stage={stage} view={view} detail={detail} />
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
    .map(([name, item]) => `${name} ${String(item)}`)
    .join(", ");
}

function Stage({ stage, view, detail }: { stage: StageRanking; view: CaseView; detail: CaseDetail }) {
  const { t } = useWords();
  return (
    <div class="stage">
      <h3>
        <Data text={stage.name} /> {stage.ms !== null && <span class="n">{Math.round(stage.ms)} ms</span>}
      </h3>
      {stage.chunks.length === 0 && <p>{t("nothing")}</p>}
      <ol class="chunks">
        {stage.chunks.map((chunk, index) => (
          <Chunk key={index} chunk={chunk} rank={index + 1} view={view} detail={detail} open={false} />
        ))}
      </ol>
    </div>
  );
}

interface ChunkProps {
  chunk: RankedChunk;
  rank: number;
  view: CaseView;
  detail: CaseDetail;
  open: boolean;
}

function Chunk({ chunk, rank, view, detail, open }: ChunkProps) {
  const { t } = useWords();
  const covers = chunk.grade !== null && chunk.grade > 0;
  const text = getOwn(view.texts, chunk.id);
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
          {marked(visible(text, true), detail.quotes.map((quote) => visible(quote, true))).map(([piece, quote], index) =>
            quote < 0 ? piece : <mark key={index}>{piece}</mark>,
          )}
        </p>
      </details>
    </li>
  );
}

type How = Record<string, string>;

const KEY_SCORES = 5;

/** The scores that matter most of those that this case has. */
function KeyScores({ report, index, config }: { report: Report; index: number; config: string }) {
  const { t } = useWords();
  const columns = useScores(report, config);
  const metrics = new Map(report.metrics.map((metric) => [metric.name, metric]));
  const scored = report.key_metrics.flatMap((name) => {
    const value = columns?.find((column) => column.name === name)?.values[index];
    return value == null ? [] : [{ name, value }];
  });
  if (scored.length === 0) return null;
  return (
    <dl class="key-scores" aria-label={t("key_scores")}>
      {scored.slice(0, KEY_SCORES).map(({ name, value }) => (
        <div key={name}>
          <dt title={name}>
            <Data text={metrics.get(name)?.title ?? name} />
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Scores({ report, index, config, how }: { report: Report; index: number; config: string; how: How }) {
  const { t } = useWords();
  const columns = useScores(report, config);
  if (columns === null) return <p>{t("loading")}</p>;
  const table = (chosen: ScoreColumn[], label: string) => (
    <ScoreTable report={report} columns={chosen} index={index} how={how} label={label} />
  );
  const scored = columns.filter((column) => column.values[index] != null);
  const unscored = columns.filter((column) => column.values[index] == null);
  return (
    <Section id="scores" title={t("scores")}>
      {scored.length > 0 && (
        <details>
          <summary>{t("all_scores", { n: scored.length })}</summary>
          {table(scored, t("scores"))}
        </details>
      )}
      {unscored.length > 0 && (
        <details>
          <summary>{t("unscored", { n: unscored.length })}</summary>
          {table(unscored, t("unscored", { n: unscored.length }))}
        </details>
      )}
    </Section>
  );
}

interface ScoreTableProps {
  report: Report;
  columns: ScoreColumn[];
  index: number;
  how: How;
  label: string;
}

function ScoreTable({ report, columns: scores, index, how, label }: ScoreTableProps) {
  const { t, w } = useWords();
  const metrics = new Map(report.metrics.map((metric) => [metric.name, metric]));
  const explain = (score: ScoreColumn): [string, string] =>
    score.values[index] == null ? findUnscoredReason(score, index) : ["", getOwn(how, score.name) ?? ""];
  const columns: Column<ScoreColumn>[] = [
    {
      key: "metric",
      head: t("metric"),
      cell: (score) => (
        <>
          <ClassBadge mark={metrics.get(score.name)?.class ?? "D"} />{" "}
          <Data text={metrics.get(score.name)?.title ?? score.name} />
          <span class="hint">
            <Data text={score.name} />
          </span>
        </>
      ),
    },
    { key: "score", head: t("score"), cell: (score) => score.values[index] ?? w("status", explain(score)[0]), number: true },
    { key: "reason", head: t("reason"), cell: (score) => <Data text={explain(score)[1]} />, wrap: true },
  ];
  return <DataTable label={label} columns={columns} rows={scores} rowKey={(score) => score.name} />;
}
