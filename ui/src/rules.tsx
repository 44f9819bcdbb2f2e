// The release gate: every rule with its state, the number that decided and the cases behind it.

import { useMemo } from "preact/hooks";
import type { CaseRows, RuleResult } from "./types";
import { CaseLink, ClassBadge, Scroll, StateBadge, useWords } from "./parts";
import { Data, English, Name } from "./text";

interface RulesProps {
  rules: RuleResult[];
  rows: CaseRows | null;
}

/** Rules that are not met, or met by waiver, are listed openly; the others are counted, in a list to unfold. */
export function Rules({ rules, rows }: RulesProps) {
  const { t } = useWords();
  const met = rules.filter(({ state, waived }) => state === "pass" && waived === "");
  const open = rules.filter((rule) => !met.includes(rule));
  const several = new Set(rules.map(({ config }) => config)).size > 1;
  return (
    <>
      {open.length > 0 && <RuleTable rules={open} rows={rows} several={several} label={t("rules")} />}
      {met.length > 0 && (
        <details class="met">
          <summary>{t(open.length > 0 ? "other_rules_met" : "all_rules_met", { n: met.length })}</summary>
          <RuleTable rules={met} rows={rows} several={several} label={t("rules_met")} />
        </details>
      )}
      <p class="hint">{t("detects_note")}</p>
    </>
  );
}

function RuleTable({ rules, rows, several, label }: RulesProps & { several: boolean; label: string }) {
  const { t } = useWords();
  const ids = useMemo(() => new Set(rows?.ids ?? []), [rows]);
  return (
    <Scroll label={label}>
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
                  <Name text={nameRule(rule, several)} />
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
                <English text={describeFound(rule)} ids={ids} />
                {rule.reason !== "" && !saysWhoseRule(rule) && (
                  <span class="hint">
                    <Data text={rule.reason} />
                  </span>
                )}
                {rows !== null && !namesAll(rule, rows) && <RuleCases rule={rule} rows={rows} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** What was found, without the metric and the slice, which have columns of their own. */
function describeFound({ metric, slice, message }: RuleResult): string {
  const subject = [`${metric} on ${slice} `, `${metric} `].find((start) => message.startsWith(start)) ?? "";
  return message.slice(subject.length);
}

function saysWhoseRule({ message }: RuleResult): boolean {
  return message.endsWith("; every gate has this rule");
}

/** Whether the message names every case that decided. */
function namesAll({ message, cases, more }: RuleResult, rows: CaseRows): boolean {
  return more === 0 && cases.every((index) => message.includes(rows.ids[index] ?? ""));
}

/** The name of the metric where the title is another one, and the configuration where there are several. */
function nameRule({ title, metric, config }: RuleResult, several: boolean): string {
  return [title === metric ? "" : metric, several ? config : ""].filter((part) => part !== "").join(", ");
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
