// The release gate: every rule with its state, the number that decided and the cases behind it.

import type { CaseRows, RuleResult } from "./types";
import { CaseLink, ClassBadge, Scroll, StateBadge, useWords } from "./parts";
import { Data } from "./text";

export function Rules({ rules, rows }: { rules: RuleResult[]; rows: CaseRows | null }) {
  const { t } = useWords();
  return (
    <Scroll label={t("rules")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("state")}</th>
            <th scope="col">{t("metric")}</th>
            <th scope="col">{t("slice")}</th>
            <th scope="col" class="number">
              {t("number")}
            </th>
            <th scope="col" class="number">
              {t("bound")}
            </th>
            <th scope="col" class="number">
              {t("scored")}
            </th>
            <th scope="col" class="number">
              {t("detects")}
            </th>
            <th scope="col">{t("severity")}</th>
            <th scope="col">{t("found")}</th>
          </tr>
        </thead>
        <tbody>
          {rules.map((rule, index) => (
            <tr key={index}>
              <td>
                <StateBadge kind="rule" name={rule.state} />
                {rule.waived !== "" && (
                  <span class="hint">
                    <Data text={rule.waived} />
                  </span>
                )}
              </td>
              <th scope="row">
                <ClassBadge mark={rule.class} /> <Data text={rule.title} />
                <span class="hint">
                  <Data text={rule.title === rule.metric ? rule.config : `${rule.metric}, ${rule.config}`} />
                </span>
              </th>
              <td>
                <Data text={rule.slice} />
              </td>
              <td class="number">{rule.number}</td>
              <td class="number">{rule.bound}</td>
              <td class="number">{rule.scored}</td>
              <td class="number">{rule.detects}</td>
              <td>
                <Data text={rule.severity} />
              </td>
              <td class="wrap">
                <Data text={rule.message} />
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
