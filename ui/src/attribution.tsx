// The attribution of a case: root cause, facts, what to try, and the rank of each piece of evidence at every stage.

import type { ComponentChildren } from "preact";
import { getOwn } from "./data";
import type { Attribution, EvidenceTrace } from "./types";
import { Facts, Remedy, Scroll, Section, useHappened, useWords } from "./parts";
import { Data, Items } from "./text";

export function Attributed({ attribution }: { attribution: Attribution }) {
  const { t, w } = useWords();
  const { tell } = useHappened();
  const facts: [string, ComponentChildren][] = [];
  if (attribution.evidence?.length) facts.push([t("facts"), <Items items={attribution.evidence} />]);
  if (attribution.fix) facts.push([t("fix"), <Remedy cause={attribution.cause} fix={attribution.fix} />]);
  if (attribution.signal) facts.push([t("signal"), <Data text={attribution.signal} />]);
  if (attribution.also?.length) facts.push([t("also_causes"), attribution.also.map((cause) => w("cause", cause)).join(", ")]);
  if (attribution.record?.length) facts.push([t("record"), <Items items={attribution.record} />]);
  return (
    <Section id="attribution" title={t("attribution")}>
      {attribution.happened !== undefined && (
        <p class="lead">
          <strong>
            <Data text={tell(attribution.happened)} />
          </strong>
        </p>
      )}
      <p class="lead">
        {w("fault", attribution.verdict)}
        {attribution.subtype && (
          <>
            {" · "}
            <Data text={attribution.subtype.replaceAll("_", " ")} />
          </>
        )}
        {attribution.cause != null && (
          <>
            {": "}
            {t("cause")} <Data text={attribution.happened?.ids[0] ?? attribution.cause} />
            {attribution.subcause && (
              <>
                {" · "}
                <Data text={attribution.subcause.replaceAll("_", " ")} />
              </>
            )}
          </>
        )}
        {attribution.stage != null && (
          <>
            {" · "}
            <Data text={attribution.stage} />
          </>
        )}{" "}
        {attribution.cause != null && (
          <span class="n">{t("confidence", { level: w("level", attribution.confidence ?? "medium") })}</span>
        )}
      </p>
      <Facts facts={facts} />
      {attribution.traces !== undefined && attribution.traces.length > 0 && <EvidenceTraces traces={attribution.traces} />}
    </Section>
  );
}

function EvidenceTraces({ traces }: { traces: EvidenceTrace[] }) {
  const { t } = useWords();
  const stages = [...new Set(traces.flatMap((unit) => Object.keys(unit.ranks)))];
  return (
    <>
      <h3>{t("traces")}</h3>
      <p class="hint">{t("traces_note")}</p>
      <Scroll label={t("traces")}>
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
            {traces.map((unit) => (
              <tr key={unit.unit}>
                <th scope="row">
                  <Data text={unit.name} /> <span class="grade">{t("grade", { n: unit.grade })}</span>
                  {!unit.required && <span class="hint">{t("optional")}</span>}
                </th>
                {stages.map((stage) => (
                  <Rank key={stage} rank={getOwn(unit.ranks, stage)} lost={unit.lost_at === stage} />
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
        {rank} ✕ <span class="hint">{t("lost")}</span>
      </td>
    );
  }
  return <td class="number">{rank ?? <span class="hint">{t("absent")}</span>}</td>;
}
