// The release gate: every rule with its state, the number that decided and the cases behind it.

import type { CaseRows, RuleResult } from "./types";
import { CaseLink, ClassBadge, Scroll, StateBadge, useWords } from "./parts";
import { Data, Name } from "./text";

export function Rules({ rules, rows }: { rules: RuleResult[]; rows: CaseRows | null }) {
  const { t } = useWords();
  return (
    <Scroll label={t("rules")}>
      <table class="cards rules" role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">{t("state")}</th>
            <th scope="col" role="columnheader">{t("metric")}</th>
            <th scope="col" role="columnheader">{t("slice")}</th>
            <th scope="col" role="columnheader" class="number">
              {t("number")}
            </th>
            <th scope="col" role="columnheader" class="number">
              {t("bound")}
            </th>
            <th scope="col" role="columnheader" class="number">
              {t("scored")}
            </th>
            <th scope="col" role="columnheader" class="number">
              {t("detects")}
            </th>
            <th scope="col" role="columnheader">{t("severity")}</th>
            <th scope="col" role="columnheader">{t("found")}</th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rules.map((rule, index) => (
            <tr role="row" key={index}>
              <td role="cell" data-label={t("state")}>
                <StateBadge kind="rule" name={rule.state} />
                {rule.waived !== "" && (
                  <span class="hint">
                    <Data text={rule.waived} />
                  </span>
                )}
              </td>
              <th scope="row" role="rowheader">
                <ClassBadge mark={rule.class} /> <Name text={rule.title} />
                <span class="hint">
                  <Name text={rule.title === rule.metric ? rule.config : `${rule.metric}, ${rule.config}`} />
                </span>
              </th>
              <td role="cell" data-label={t("slice")}>
                <Name text={rule.slice} />
              </td>
              <td role="cell" class="number" data-label={t("number")}>
                {rule.number}
              </td>
              <td role="cell" class="number" data-label={t("bound")}>
                {rule.bound}
              </td>
              <td role="cell" class="number" data-label={t("scored")}>
                {rule.scored}
              </td>
              <td role="cell" class="number" data-label={t("detects")}>
                {rule.detects}
              </td>
              <td role="cell" data-label={t("severity")}>
                <Data text={rule.severity} />
              </td>
              <td role="cell" class="wrap" data-label={t("found")}>
                <Name text={rule.message} />
                {rule.reason !== "" && (
                  <span class="hint">
                    <Data text={rule.reason} />
                  </span>
                )}
                {rows !== null && rule.cases.length > 0 && <RuleCases rule={rule} rows={rows} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function RuleCases({ rule, rows }: { rule: RuleResult; rows: CaseRows }) {
  const { t } = useWords();
  return (
    <details>
      <summary>{t("show_cases", { n: rule.cases.length + rule.more })}</summary>
      <ul class="inline">
        {rule.cases.map((index) => (
          <li key={index}>
            <CaseLink rows={rows} index={index} />
          </li>
        ))}
        {rule.more > 0 && <li>{t("more", { n: rule.more })}</li>}
      </ul>
    </details>
  );
}
