// The failed cases of every configuration, printed instead of the scrolling list.

import { getOwn } from "./data";
import type { CaseRows, Report } from "./types";
import { Section, StateBadge, useCauseOfRow, useChecks, useWords } from "./parts";
import { Data } from "./text";

const PRINTED = 200;

export function PrintedFailures({ report, rows }: { report: Report; rows: CaseRows }) {
  const { t } = useWords();
  const causeOf = useCauseOfRow();
  const nameChecks = useChecks();
  const failures = report.configs.flatMap((config) => {
    const configRows = getOwn(rows.configs, config.id);
    const indices = (configRows?.states ?? []).flatMap((state, index) => (["passed", "unknown"].includes(rows.states[state] ?? "") ? [] : [index]));
    return indices.map((index) => ({ config: config.id, index, configRows }));
  });
  return (
    <div class="print-only">
      <Section id="printed" title={t("printed_failed")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("config")}</th>
              <th scope="col">{t("case")}</th>
              <th scope="col">{t("question")}</th>
              <th scope="col">{t("status")}</th>
              <th scope="col">{t("failed_checks")}</th>
              <th scope="col">{t("happened")}</th>
            </tr>
          </thead>
          <tbody>
            {failures.slice(0, PRINTED).map(({ config, index, configRows }) => {
              const checks = (configRows?.checks.codes[index] ?? []).map((code) => configRows?.checks.names[code] ?? "");
              return (
                <tr key={`${config} ${index}`}>
                  <td>
                    <Data text={config} />
                  </td>
                  <th scope="row">
                    <Data text={rows.ids[index] ?? ""} />
                  </th>
                  <td class="wrap">
                    <Data text={rows.questions[index] ?? ""} />
                  </td>
                  <td>
                    <StateBadge kind="state" name={rows.states[configRows?.states[index] ?? 0] ?? ""} />
                  </td>
                  <td class="wrap">
                    <Data text={nameChecks(checks).join(", ")} />
                  </td>
                  <td class="wrap">
                    <Data text={causeOf(configRows, index)} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
        {failures.length > PRINTED && <p>{t("printed_more", { n: failures.length - PRINTED })}</p>}
      </Section>
    </div>
  );
}
