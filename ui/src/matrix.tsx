// The matrix: one row for each case, one column for each configuration, so that two systems can be read side by side.

import type { TargetedKeyboardEvent } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { Filters } from "./cases";
import { getOwn } from "./data";
import { changeFilter, filterHash, matching, stateOf, type Filter } from "./filter";
import { caseHash, StateBadge, useCauseOfRow, useWords } from "./parts";
import { ANSWER_STATES, EvidenceRank, ShortAnswer } from "./short";
import type { CaseRows, Report } from "./types";
import { Data } from "./text";

const PAGE = 50;

export function Matrix({ report, rows, filter }: { report: Report; rows: CaseRows; filter: Filter }) {
  const { t } = useWords();
  const key = filterHash(filter, "matrix");
  const indices = useMemo(() => matching(rows, filter, undefined), [rows, key]);
  const last = Math.max(0, Math.ceil(indices.length / PAGE) - 1);
  const page = Math.min(last, Math.max(0, (Number.parseInt(filter.page, 10) || 1) - 1));
  const shown = indices.slice(page * PAGE, (page + 1) * PAGE);
  const change = (changed: Partial<Filter>) => changeFilter({ ...filter, page: "", ...changed }, "matrix");
  return (
    <>
      <h1>{t("matrix")}</h1>
      <p class="hint">{t("matrix_note")}</p>
      <Filters report={report} rows={rows} filter={filter} change={change} matrix />
      <p class="count" aria-live="polite">
        {indices.length === 0
          ? t("none_match")
          : t("matrix_rows", { from: page * PAGE + 1, to: page * PAGE + shown.length, n: indices.length })}
      </p>
      {shown.length > 0 && <Grid report={report} rows={rows} indices={shown} />}
      {last > 0 && (
        <nav class="links" aria-label={t("cases")}>
          {page > 0 && <a href={filterHash({ ...filter, page: String(page) }, "matrix")}>← {t("previous")}</a>}
          {page < last && <a href={filterHash({ ...filter, page: String(page + 2) }, "matrix")}>{t("next")} →</a>}
        </nav>
      )}
    </>
  );
}

function Grid({ report, rows, indices }: { report: Report; rows: CaseRows; indices: number[] }) {
  const { t } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const step = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...(box.current?.querySelectorAll<HTMLElement>("tbody th a") ?? [])];
    const from = links.findIndex((link) => link.closest("tr")?.contains(document.activeElement));
    if (move === undefined || links.length === 0) return;
    event.preventDefault();
    const next = links[Math.min(links.length - 1, Math.max(0, from + move))];
    next?.focus({ preventScroll: true });
    next?.closest("tr")?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div class="scroll" role="group" aria-label={t("matrix")} tabIndex={0} ref={box} onKeyDown={step}>
      <table class={`matrix of-${Math.min(6, report.configs.length)}`} role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">
              {t("case")}
            </th>
            {report.configs.map((config) => (
              <th scope="col" role="columnheader" key={config.id}>
                <Data text={config.id} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {indices.map((index) => (
            <MatrixRow key={index} report={report} rows={rows} index={index} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MatrixRow({ report, rows, index }: { report: Report; rows: CaseRows; index: number }) {
  const { t } = useWords();
  const id = rows.ids[index] ?? "";
  const expected = rows.expected[index] ?? "";
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        <a href={caseHash(id, report.configs[0]?.id)}>
          <Data text={id} />
        </a>
        <span class="matrix-question">
          <Data text={rows.questions[index] ?? ""} />
        </span>
        {expected !== "" && (
          <span class="hint">
            {t("expected")}: <Data text={expected} />
          </span>
        )}
      </th>
      {report.configs.map((config) => (
        <MatrixCell key={config.id} rows={rows} config={config.id} index={index} />
      ))}
    </tr>
  );
}

function MatrixCell({ rows, config, index }: { rows: CaseRows; config: string; index: number }) {
  const causeOf = useCauseOfRow();
  const configRows = getOwn(rows.configs, config);
  if (configRows === undefined) return <td role="cell" />;
  const state = stateOf(rows, configRows, index);
  const answered = ANSWER_STATES[configRows.answered[index] ?? 0] ?? "absent";
  const cause = causeOf(configRows, index);
  return (
    <td role="cell" class={`cell-${state}`}>
      <span class="matrix-config">
        <Data text={config} />
      </span>
      <a href={caseHash(rows.ids[index] ?? "", config)}>
        <StateBadge kind="state" name={state} />
      </a>{" "}
      <EvidenceRank rank={configRows.ranks[index] ?? null} />
      {cause !== "" && (
        <span class="matrix-cause">
          <Data text={cause} />
        </span>
      )}
      <span class="matrix-answer">
        <ShortAnswer state={answered} text={configRows.answers[index] ?? null} />
      </span>
    </td>
  );
}
