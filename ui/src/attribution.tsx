// Whose fault it was: cause, evidence, what to try, and the way of each piece of evidence through the stages.

import type { ComponentChildren } from "preact";
import { own, type Attribution, type Walk } from "./data";
import { Facts, Scroll, Section, useWords } from "./parts";
import { Data, Items } from "./text";

export function Attributed({ found }: { found: Attribution }) {
  const { t, w } = useWords();
  const facts: [string, ComponentChildren][] = [];
  if (found.sign) facts.push([t("sign"), <Data text={found.sign} />]);
  if (found.evidence?.length) facts.push([t("facts"), <Items items={found.evidence} />]);
  if (found.fix) facts.push([t("fix"), <Data text={found.fix} />]);
  if (found.signal) facts.push([t("signal"), <Data text={found.signal} />]);
  if (found.also?.length) facts.push([t("also_causes"), found.also.map((cause) => w("cause", cause)).join(", ")]);
  return (
    <Section id="attribution" title={t("attribution")}>
      <p class="lead">
        {w("fault", found.verdict)}
        {found.subtype && (
          <>
            {" · "}
            <Data text={found.subtype} />
          </>
        )}
        {found.cause != null && (
          <>
            {": "}
            <strong>{w("cause", found.cause)}</strong>
          </>
        )}
        {found.stage != null && (
          <>
            {" · "}
            <Data text={found.stage} />
          </>
        )}{" "}
        <span class="n">{t("confidence", { level: w("level", found.confidence ?? "medium") })}</span>
      </p>
      <Facts facts={facts} />
      {found.walk !== undefined && found.walk.length > 0 && <WalkTable walk={found.walk} />}
    </Section>
  );
}

function WalkTable({ walk }: { walk: Walk[] }) {
  const { t } = useWords();
  const stages = [...new Set(walk.flatMap((each) => Object.keys(each.ranks)))];
  return (
    <>
      <h3>{t("walk")}</h3>
      <p class="hint">{t("walk_note")}</p>
      <Scroll label={t("walk")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("unit")}</th>
              {stages.map((stage) => (
                <th scope="col" class="number" key={stage}>
                  <Data text={stage} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {walk.map((each) => (
              <tr key={each.unit}>
                <th scope="row">
                  <Data text={each.name} /> <span class="grade">{t("grade", { n: each.grade })}</span>
                  {!each.required && <span class="hint">{t("optional")}</span>}
                </th>
                {stages.map((stage) => (
                  <Rank key={stage} rank={own(each.ranks, stage)} lost={each.lost_at === stage} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function Rank({ rank, lost }: { rank: number | null | undefined; lost: boolean }) {
  const { t } = useWords();
  if (lost) {
    return (
      <td class="number bad-text">
        ✕ <span class="hint">{t("lost")}</span>
      </td>
    );
  }
  return <td class="number">{rank ?? <span class="hint">{t("absent")}</span>}</td>;
}
