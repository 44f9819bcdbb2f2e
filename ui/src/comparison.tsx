// The comparison of candidate and baseline: gains with their intervals, rank changes, and the cases behind them.

import { useMemo, useState } from "preact/hooks";
import { GainPlot } from "./charts";
import { getOwn, loadSliceChanges } from "./data";
import type { CaseRows, Comparison, ComparisonSide, MetricChange, RankLane, RankMove, Report, RuleResult, SliceChange } from "./types";
import { filterHash, readFilter } from "./filter";
import { caseHash, CaseLink, ClassBadge, Reasons, Scroll, Section, toneOf, useInterval, useWords } from "./parts";
import { importantFirst, Leaks, nameBaseline, nameMetrics } from "./overview";
import { Rules } from "./rules";
import type { Key } from "./words";
import { DataTable, type Column } from "./table";
import { Data, Items, Name, titled, visible } from "./text";

export function Compared({ comparison, report, rows }: { comparison: Comparison; report: Report; rows: CaseRows | null }) {
  const { t } = useWords();
  const title = t("compare_title", { candidate: visible(comparison.candidate.config), baseline: nameBaseline(comparison) });
  return (
    <>
      <h1>
        <bdi>{title}</bdi>
      </h1>
      {comparison.decision !== null && <ComparedDecision decision={comparison.decision} rules={comparison.rules} />}
      <Leaks comparison={comparison} />
      <Section id="changed" title={t("what_changed")}>
        {comparison.changed.length === 0 ? <p>{t("nothing_said")}</p> : <Items items={comparison.changed} />}
      </Section>
      <Section id="gains" title={t("metrics")}>
        <p class="hint">{t("gain_note")}</p>
        <AllGains comparison={comparison} report={report} rows={rows} />
      </Section>
      <Section id="moved" title={t("why_moved")}>
        {comparison.moved.length === 0 ? <p>{t("nothing_said")}</p> : <Items items={comparison.moved} />}
      </Section>
      <CaseLists report={report} rows={rows} comparison={comparison} />
      {comparison.lanes.length > 0 && <Moves comparison={comparison} />}
      {comparison.transitions.length > 0 && <Transitions transitions={comparison.transitions} />}
      {comparison.slices > 0 && <ChangedSlices count={comparison.slices} leftOut={comparison.slices_left_out} />}
      {comparison.rules.length > 0 && (
        <Section id="compared-gate" title={t("rules")}>
          <Rules rules={comparison.rules} rows={rows} />
        </Section>
      )}
      <Section id="sides" title={t("sides")}>
        <Sides comparison={comparison} />
      </Section>
      {comparison.notes.length > 0 && (
        <Section id="compared-notes" title={t("warnings")}>
          <Items items={comparison.notes} />
        </Section>
      )}
    </>
  );
}

/** The changes on slices, unpacked when they are looked at: there may be thousands. */
function ChangedSlices({ count, leftOut }: { count: number; leftOut: number }) {
  const { t } = useWords();
  const [changes, take] = useState<SliceChange[] | null>(null);
  return (
    <Section id="compared-slices" title={t("slices_changed")}>
      <details onToggle={(event) => event.currentTarget.open && void loadSliceChanges().then(take)}>
        <summary>{t("slice_changes", { n: count })}</summary>
        {changes === null ? (
          <p role="status">{t("loading")}</p>
        ) : (
          <Gains changes={changes.map((change) => ({ change, label: change.slice }))} rows={null} label={t("slices_changed")} />
        )}
        {leftOut > 0 && <p class="hint">{t("more", { n: leftOut })}</p>}
      </details>
    </Section>
  );
}

function Sides({ comparison }: { comparison: Comparison }) {
  const { t } = useWords();
  const versions = (side: ComparisonSide) =>
    Object.entries(side.versions)
      .map(([part, values]) => `${part} ${values.join(" → ")}`)
      .join(", ");
  const columns: Column<"baseline" | "candidate">[] = [
    { key: "side", head: t("side"), cell: (name) => t(name) },
    { key: "config", head: t("config"), cell: (name) => <Data text={comparison[name].config} /> },
    { key: "name", head: t("side_name"), cell: (name) => <Data text={comparison[name].name} /> },
    {
      key: "versions",
      head: t("versions"),
      cell: (name) => <Data text={versions(comparison[name]) || t("not_stated")} />,
      wrap: true,
    },
    { key: "judge", head: t("judge"), cell: (name) => <Name text={comparison[name].judge ?? "–"} />, wrap: true },
  ];
  return <DataTable className="sides" label={t("versions")} columns={columns} rows={["baseline", "candidate"]} rowKey={(name) => name} />;
}

function ComparedDecision({ decision, rules }: { decision: NonNullable<Comparison["decision"]>; rules: RuleResult[] }) {
  const { t } = useWords();
  const titles = new Map(rules.map(({ metric, title }) => [metric, title]));
  const title = (reason: string) => titled(reason, titles);
  return (
    <section class={`banner ${toneOf(decision.outcome)}`} id="compared-decision">
      <h2>
        {t("decision")}: {t(`outcome.${decision.outcome}`)}
      </h2>
      <Reasons reasons={decision.reasons.map(title)} events={decision.events.map(title)} />
    </section>
  );
}

/** The headline metrics, and all metrics on demand. */
function AllGains({ comparison, report, rows }: { comparison: Comparison; report: Report; rows: CaseRows | null }) {
  const { t } = useWords();
  const headlines = new Set(report.headlines);
  const titles = nameMetrics(report);
  const all = importantFirst(comparison.metrics).map((change) => ({
    change: { ...change, title: titles.get(change.name) ?? change.title },
    label: null,
  }));
  const first = all.filter(({ change }) => headlines.has(change.name));
  const label = t("all_metrics", { n: all.length });
  return (
    <>
      {first.length > 0 && <Gains changes={first} rows={rows} label={t("headline_metrics")} />}
      <details open={first.length === 0}>
        <summary>{label}</summary>
        <Gains changes={all} rows={rows} label={label} />
      </details>
    </>
  );
}

interface GainsProps {
  changes: { change: MetricChange; label: string | null }[];
  rows: CaseRows | null;
  label: string;
}

function Gains({ changes, rows, label }: GainsProps) {
  const { t } = useWords();
  const interval = useInterval();
  const reach = useMemo(() => {
    const by = new Map<string, number>();
    for (const { change } of changes) {
      const largest = Math.max(...[change.gain, change.low, change.high].map((item) => Math.abs(item ?? 0)));
      const key = change.unit === "share" ? "share" : change.name;
      by.set(key, Math.max(by.get(key) ?? 1e-9, largest));
    }
    return (change: MetricChange) => by.get(change.unit === "share" ? "share" : change.name) ?? 1;
  }, [changes]);
  const heads: [Key, boolean][] = [
    ["baseline", true],
    ["candidate", true],
    ["gain", true],
    ["won", true],
    ["lost_cases", true],
    ["same", true],
    ["p_value", true],
    ["detectable", true],
  ];
  return (
    <Scroll label={label}>
      <table class="metrics gains cards" role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">{t("metric")}</th>
            <td role="cell" />
            {heads.map(([key]) => (
              <th scope="col" role="columnheader" class="number" key={key}>
                {t(key)}
              </th>
            ))}
            <th scope="col" role="columnheader" class="number">
              n
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {changes.map(({ change, label: slice }, index) => (
            <tr role="row" key={index}>
              <th scope="row" role="rowheader">
                <ClassBadge mark={change.class} /> <Name text={change.title} />
                {change.title !== change.name && (
                  <span class="hint">
                    <Name text={change.name} />
                  </span>
                )}
                {slice !== null && (
                  <span class="hint">
                    <Name text={slice} />
                  </span>
                )}
                {change.note !== "" && (
                  <span class="hint">
                    <Data text={change.note} />
                  </span>
                )}
              </th>
              <td role="cell">
                <GainPlot change={change} reach={reach(change)} />
              </td>
              <td role="cell" class="number" data-label={t("baseline")}>
                {change.baseline ?? "n/a"}
              </td>
              <td role="cell" class="number" data-label={t("candidate")}>
                {change.candidate ?? "n/a"}
              </td>
              <td role="cell" class="number" data-label={t("gain")}>
                <strong class={change.gain === null ? "range" : undefined}>{change.gain_text ?? "n/a"}</strong>
                <span class="hint">{interval(change.interval) ?? ""}</span>
              </td>
              <td role="cell" class="number" data-label={t("won")}>
                <ChangeCount rows={rows} metric={change.name} kind="improved" count={change.improved} />
              </td>
              <td role="cell" class="number" data-label={t("lost_cases")}>
                <ChangeCount rows={rows} metric={change.name} kind="regressed" count={change.regressed} />
              </td>
              <td role="cell" class="number" data-label={t("same")}>
                {change.unchanged}
              </td>
              <td role="cell" class="number" data-label={t("p_value")}>
                {small(change.p)}
                {change.p_adjusted !== null && <span class="hint">({small(change.p_adjusted)})</span>}
              </td>
              <td role="cell" class="number" data-label={t("detectable")}>
                {change.detectable ?? "–"}
              </td>
              <td role="cell" class="number" data-label="n">
                {change.n}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function small(p: number | null): string {
  return p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3);
}

const LISTED = 50;

function ChangeCount(props: { rows: CaseRows | null; metric: string; kind: "improved" | "regressed"; count: number }) {
  const { t } = useWords();
  const indices = getOwn(props.rows?.changes?.metrics ?? {}, props.metric)?.[props.kind] ?? [];
  if (props.rows === null || indices.length === 0) return <>{props.count}</>;
  const rows = props.rows;
  return (
    <details>
      <summary>{props.count}</summary>
      <ul class="inline">
        {indices.slice(0, LISTED).map((index) => (
          <li key={index}>
            <CaseLink rows={rows} index={index} />
          </li>
        ))}
        {props.count > LISTED && <li>{t("more", { n: props.count - LISTED })}</li>}
      </ul>
    </details>
  );
}

function CaseLists({ report, rows, comparison }: { report: Report; rows: CaseRows | null; comparison: Comparison }) {
  const { t } = useWords();
  const changes = rows?.changes;
  if (rows === null || changes === undefined) return null;
  const empty = readFilter(new URLSearchParams({ config: comparison.candidate.config }), report);
  const lists: [Key, string][] = [
    ["regressed_list", "regressed"],
    ["improved_list", "improved"],
    ["unclear_list", "unclear"],
    ["cleared_list", "cleared"],
    ["worse_list", "worse"],
    ["better_list", "better"],
    ["mixed_list", "mixed"],
    ["unchanged_list", "unchanged"],
  ];
  return (
    <div class="columns">
      {lists.map(([title, name]) => {
        const code = changes.names.indexOf(name);
        const indices = changes.codes.flatMap((item, index) => (item === code ? [index] : []));
        return (
          <Section id={name} title={t(title)} key={name}>
            {indices.length > 0 && (
              <ul class="inline">
                {indices.slice(0, LISTED).map((index) => (
                  <li key={index}>
                    <CaseLink rows={rows} index={index} />
                  </li>
                ))}
              </ul>
            )}
            <p>
              {indices.length === 0 ? (
                t("none")
              ) : (
                <a href={filterHash({ ...empty, change: name })}>{t(indices.length === 1 ? "see_one" : "see_list", { n: indices.length })}</a>
              )}
            </p>
          </Section>
        );
      })}
    </div>
  );
}

const SLOPE = { width: 420, row: 22, top: 12, left: 60 };
const RANKS = 10;

/** Ranks before and after as lines; ranks beyond ten share one row, absent evidence another. */
function Moves({ comparison }: { comparison: Comparison }) {
  const { t } = useWords();
  const stages = [...new Set(comparison.lanes.map((lane) => lane.stage))];
  const [chosen, choose] = useState(stages[0] ?? "");
  const lanes = comparison.lanes.filter((lane) => lane.stage === chosen);
  return (
    <Section id="moves" title={t("moves")}>
      {stages.length > 1 && (
        <label class="choice">
          {t("step")}{" "}
          <select name="moves-stage" value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
            {stages.map((stage) => (
              <option key={stage} value={stage}>
                {visible(stage)}
              </option>
            ))}
          </select>
        </label>
      )}
      <p class="hint">{t("moves_note")}</p>
      <div class="columns">
        <Slope lanes={lanes} />
        <MoveList moves={comparison.moves.filter((move) => move.stage === chosen)} leftOut={comparison.moves_left_out} />
      </div>
    </Section>
  );
}

function Slope({ lanes }: { lanes: RankLane[] }) {
  const { t } = useWords();
  const row = (rank: number | null) => (rank === null ? RANKS + 1 : Math.min(rank, RANKS + 1) - 1);
  const y = (rank: number | null) => SLOPE.top + row(rank) * SLOPE.row;
  const [from, to] = [SLOPE.left, SLOPE.width - SLOPE.left];
  const kind = (lane: RankLane) => {
    if (lane.before === lane.after) return "same";
    return lane.after === null ? "bad" : lane.before === null || lane.after < lane.before ? "good" : "bad";
  };
  const largest = Math.max(1, ...lanes.map((lane) => lane.count));
  const labels = [...Array.from({ length: RANKS }, (_, index) => `${index + 1}`), `> ${RANKS}`, t("gone")];
  return (
    <svg class="slope" viewBox={`0 0 ${SLOPE.width} ${SLOPE.top * 2 + (RANKS + 1) * SLOPE.row}`} role="img" aria-label={t("moves")}>
      {labels.map((label, index) => (
        <g key={label}>
          <text x={from - 10} y={SLOPE.top + index * SLOPE.row + 4} text-anchor="end">
            {label}
          </text>
          <text x={to + 10} y={SLOPE.top + index * SLOPE.row + 4}>
            {label}
          </text>
        </g>
      ))}
      {lanes.map((lane, index) => (
        <line
          key={index}
          class={`${kind(lane)} ${lane.after === null && lane.before !== null ? "dropped" : ""}`}
          x1={from}
          x2={to}
          y1={y(lane.before)}
          y2={y(lane.after)}
          stroke-width={1 + (5 * lane.count) / largest}
        >
          <title>
            {lane.before ?? t("gone")} → {lane.after ?? t("gone")}: {lane.count}
          </title>
        </line>
      ))}
    </svg>
  );
}

const MOVES = 20;

function MoveList({ moves, leftOut }: { moves: RankMove[]; leftOut: number }) {
  const { t } = useWords();
  const more = leftOut + Math.max(0, moves.length - MOVES);
  const columns: Column<RankMove>[] = [
    {
      key: "case",
      head: t("case"),
      cell: (move) => (
        <a href={caseHash(move.id)}>
          <Name text={move.id} />
        </a>
      ),
    },
    { key: "evidence", head: t("evidence"), cell: (move) => <Name text={move.name} />, wrap: true },
    { key: "before", head: t("before"), cell: (move) => move.before ?? t("absent"), number: true },
    {
      key: "after",
      head: t("after"),
      cell: (move) => (move.after === null ? <span class="bad-text">{t("gone")}</span> : move.after),
      number: true,
    },
  ];
  return (
    <div>
      <h3>{t("moves_list")}</h3>
      <DataTable label={t("moves_list")} columns={columns} rows={moves.slice(0, MOVES)} />
      {more > 0 && <p class="hint">{t("more", { n: more })}</p>}
    </div>
  );
}

function Transitions({ transitions }: { transitions: Comparison["transitions"] }) {
  const { t, w } = useWords();
  const name = (item: string) => {
    const cause = w("cause", item);
    return cause === item ? w("fault", item) : cause;
  };
  return (
    <Section id="transitions" title={t("transitions")}>
      <Scroll label={t("transitions")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("before")}</th>
              <th scope="col">{t("after")}</th>
              <th scope="col" class="number">
                {t("count")}
              </th>
            </tr>
          </thead>
          <tbody>
            {transitions.map(([before, after, count], index) => (
              <tr key={index}>
                <td>
                  <Data text={name(before)} />
                </td>
                <td>
                  <Data text={name(after)} />
                </td>
                <td class="number">{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}
