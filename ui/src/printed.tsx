// What paper gets in place of the list that scrolls: the failed cases of every configuration.

import { own, type Report, type Rows } from "./data";
import { Section, StateBadge, useWords } from "./parts";
import { Data } from "./text";

const PRINTED = 200;

export function PrintedFailures({ report, rows }: { report: Report; rows: Rows }) {
  const { t, w } = useWords();
  const failures = report.configs.flatMap((config) => {
    const found = own(rows.configs, config.id);
    const places = (found?.states ?? []).flatMap((state, place) => (rows.states[state] === "passed" ? [] : [place]));
    return places.map((place) => ({ config: config.id, place, found }));
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
              <th scope="col">{t("cause")}</th>
            </tr>
          </thead>
          <tbody>
            {failures.slice(0, PRINTED).map(({ config, place, found }) => {
              const cause = found?.causes?.names[found.causes.codes[place] ?? 0] ?? "";
              const checks = (found?.checks.codes[place] ?? []).map((code) => found?.checks.names[code] ?? "");
              return (
                <tr key={`${config} ${place}`}>
                  <td>
                    <Data text={config} />
                  </td>
                  <th scope="row">
                    <Data text={rows.ids[place] ?? ""} />
                  </th>
                  <td class="wrap">
                    <Data text={rows.questions[place] ?? ""} />
                  </td>
                  <td>
                    <StateBadge kind="state" name={rows.states[found?.states[place] ?? 0] ?? ""} />
                  </td>
                  <td class="wrap">
                    <Data text={checks.join(", ")} />
                  </td>
                  <td>{cause === "" ? "" : w("cause", cause)}</td>
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
