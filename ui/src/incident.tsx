// One production answer, rebuilt: what was asked, retrieved, cited and answered, and what is left of it today.

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { AnswerNow, CitationCheck, CitationState, ClaimCheck, Finding, Incident as IncidentRecord, ShownChunk } from "./page_types";
import { Badge, Facts, Section, signOf, toneOf, useWords } from "./parts";
import { DataTable } from "./table";
import { Block, Data, Items, Lines, quoted, visible } from "./text";
import { Notes, PageHead, shortTime } from "./trend";

const FIELDS = ["model", "prompt_hash", "config_id", "context_tokens", "latency_ms", "cost_usd"] as const;
const EXPECTED = [
  "question", "user_uid", "retrieved_uids", "context_tokens", "model", "prompt_hash", "answer", "citations", "tool_calls", "latency_ms",
] as const;

export function Incident({ incident, title, madeAt }: { incident: IncidentRecord; title: string; madeAt: string | null }) {
  const { t } = useWords();
  const record = incident.record;
  // The last stage is what the model was shown; the others say how that came about.
  const shown = incident.stages.slice(-1);
  const earlier = incident.stages.slice(0, -1);
  const basis = [shortTime(record.at), record.user?.tenant, record.user?.roles?.join(", "), record.config_id];
  return (
    <>
      <PageHead kind="page.incident" title={title} madeAt={madeAt} />
      <p class="basis">
        <Data text={basis.filter((part) => part != null && part !== "").join(" · ")} />
      </p>
      {incident.leaks.length > 0 && <Warning title={t("found_in")} items={incident.leaks} />}
      {(incident.summary ?? []).length > 0 && (
        <Section id="summary" title={t("in_short")}>
          <Items items={incident.summary ?? []} />
        </Section>
      )}
      {(incident.stale ?? []).length > 0 && <Warning tone="warn" title={t("stale")} items={incident.stale ?? []} />}
      {incident.chain_faults.length > 0 && <Warning title={t("chain_broken")} items={incident.chain_faults} />}
      <Section id="asked" title={t("asked")}>
        <div class="question">
          <LongBlock text={record.question ?? t("not_recorded")} />
        </div>
      </Section>
      <Section id="answered" title={t("answered")}>
        <LongBlock text={record.answer ?? t("answered_nothing")} />
      </Section>
      {incident.answer_now != null && <Now now={incident.answer_now} />}
      {incident.claims.length > 0 && <Claims claims={incident.claims} />}
      {incident.citations.length > 0 && <Citations citations={incident.citations} />}
      {shown.map(([name, chunks]) => (
        <StageChunks key={name} name={name} chunks={chunks} />
      ))}
      {earlier.length > 0 && (
        <details class="earlier">
          <summary>{t("earlier_stages", { n: earlier.length })}</summary>
          {earlier.map(([name, chunks], index) => (
            <StageChunks key={index} name={name} chunks={chunks} />
          ))}
        </details>
      )}
      <NearCases incident={incident} />
      <Section id="record" title={t("record")}>
        <RecordFacts incident={incident} />
      </Section>
      <Findings findings={incident.findings} id={record.id} />
      <Notes notes={incident.notes} />
    </>
  );
}

const MOST_OF_A_BLOCK = 20_000;

/** A text as a block; a long one is cut, and says so, until the rest is asked for. */
function LongBlock({ text }: { text: string }) {
  const { t } = useWords();
  const [open, toggle] = useState(false);
  if (open || text.length <= MOST_OF_A_BLOCK) return <Block text={text} />;
  return (
    <>
      <Block text={`${text.slice(0, MOST_OF_A_BLOCK)}…`} />
      <p>
        <span class="hint">{t("characters_of", { shown: MOST_OF_A_BLOCK, all: text.length })}</span>{" "}
        <button type="button" class="button print-hidden" onClick={() => toggle(true)}>
          {t("show_more")}
        </button>
      </p>
    </>
  );
}

function Warning({ title, items, tone = "bad" }: { title: string; items: string[]; tone?: "bad" | "warn" }) {
  return (
    <section class={`banner ${tone}`}>
      <h2>
        <span class="sign" aria-hidden="true">
          {tone === "bad" ? "⚑" : "!"}
        </span>
        {title}
      </h2>
      <Items items={items} />
    </section>
  );
}

function Now({ now }: { now: AnswerNow }) {
  const { t } = useWords();
  const same = now.changes.every(([kind]) => kind === "same");
  return (
    <Section id="now" title={t("answered_now")}>
      <p class="hint">
        <bdi>{visible(t("asked_again", { target: now.target, at: now.at }))}</bdi> · {t("behaviour")}: <Data text={now.behaviour} />
      </p>
      {now.error !== null && (
        <p class="bad-text">
          <Data text={now.error} />
        </p>
      )}
      {now.answer !== null && same && <p>{t("same_answer")}</p>}
      {now.answer !== null && !same && (
        <p class="block" dir="auto">
          {now.changes.map(([kind, text], index) => {
            if (kind === "removed") return <Difference key={index} element="del" text={text} label={t("removed")} />;
            if (kind === "added") return <Difference key={index} element="ins" text={text} label={t("added")} />;
            return <span key={index}>{visible(text, true)}</span>;
          })}
        </p>
      )}
    </Section>
  );
}

function Difference({ element: Element, text, label }: { element: "del" | "ins"; text: string; label: string }) {
  return (
    <Element>
      <span class="sr-only">[{label}: </span>
      {visible(text, true)}
      <span class="sr-only">]</span>
    </Element>
  );
}

/** A verdict of the rules with its sign; unknown names are shown as they are. */
function Support({ verdict }: { verdict: string | null }) {
  const { w } = useWords();
  const name = verdict ?? "unknown";
  const state = name === "not_found" ? "unsupported" : name;
  return (
    <Badge tone={toneOf(state)} sign={signOf(state)}>
      {visible(w("support", name))}
    </Badge>
  );
}

/** The label of a judge with its sign where it is a known one. */
function Judged({ label }: { label: string | null | undefined }) {
  const { t } = useWords();
  if (label == null) return <span class="n">{t("not_judged")}</span>;
  return <Support verdict={label} />;
}

function Claims({ claims }: { claims: readonly ClaimCheck[] }) {
  const { t } = useWords();
  const judged = claims.some((claim) => claim.judged != null);
  const explained = claims.some((claim) => claim.reasons.length > 0 || claim.lost_at != null);
  return (
    <Section id="claims" title={t("claims")}>
      <DataTable
        label={t("claims")}
        rows={claims}
        className="wide"
        columns={[
          { key: "claim", head: t("claim"), wrap: true, cell: (claim) => <Lines text={claim.text} /> },
          { key: "verdict", head: t("by_context"), cell: (claim) => <Support verdict={claim.verdict} /> },
          ...(judged ? [{ key: "judged", head: t("by_judge"), cell: (claim: ClaimCheck) => <Judged label={claim.judged} /> }] : []),
          { key: "source", head: t("source"), wrap: true, cell: (claim) => <Data text={claim.source ?? ""} /> },
          { key: "evidence", head: t("evidence"), wrap: true, cell: (claim) => <Lines text={claim.quote ?? ""} /> },
          ...(explained
            ? [
                {
                  key: "why",
                  head: t("why"),
                  wrap: true,
                  cell: (claim: ClaimCheck) => <Data text={[...claim.reasons, claim.lost_at ?? ""].filter(Boolean).join("; ")} />,
                },
              ]
            : []),
        ]}
      />
    </Section>
  );
}

function YesNo({ value }: { value: boolean | null }) {
  const { t } = useWords();
  if (value === null) return <span class="n">{t("unknown")}</span>;
  return value ? <>{t("yes")}</> : <b class="bad-text">{t("no")}</b>;
}

/** What a citation names and, where its name does not say so, the chunks that it means. */
function Cited({ check }: { check: CitationCheck }) {
  const { t } = useWords();
  const by = check.by ?? "name";
  if (by === "name") return <Data text={check.name} />;
  const chunks = check.chunks ?? [];
  return (
    <>
      <Data text={check.name} />
      <p class="hint">
        {t(`cited_by.${by}`)}: <Data text={chunks.length > 0 ? chunks.join(", ") : t("nothing_known")} />
      </p>
    </>
  );
}

/** A source that is not in force any more: since when, what is in force in its place, and what its own text says. */
function Expired({ standing }: { standing: CitationState }) {
  const { t, w } = useWords();
  const current = standing.current ?? [];
  return (
    <span class="expired">
      <Badge tone="bad" sign="!">
        {visible(t("expired_since", { day: standing.expired_since ?? "" }))}
      </Badge>{" "}
      {current.length > 0 && (
        <>
          {t("in_force")}: <Data text={current.join(", ")} />.{" "}
        </>
      )}
      <span class="hint">
        {t("its_text")}: {visible(w("support", standing.support ?? "unknown"))}
      </span>
    </span>
  );
}

/** How a citation stood in one corpus: whether it existed, was reachable, and supported its claim. */
function Standing({ standing }: { standing: CitationCheck["now"] }) {
  const { t } = useWords();
  const answers: [string, ComponentChildren][] = [
    [t("exists"), <YesNo value={standing?.exists ?? null} />],
    [t("reachable"), <YesNo value={standing?.reachable ?? null} />],
    [t("supports"), standing?.expired_since == null ? <Support verdict={standing?.support ?? null} /> : <Expired standing={standing} />],
  ];
  return (
    <ul class="plain standing">
      {answers.map(([name, value]) => (
        <li key={name}>
          <span class="hint">{name}:</span> {value}
        </li>
      ))}
    </ul>
  );
}

function Citations({ citations }: { citations: readonly CitationCheck[] }) {
  const { t } = useWords();
  const judged = citations.some((check) => check.judged != null);
  const again = citations.some((check) => check.now !== null);
  const standing = (when: "then" | "now") => ({ key: when, head: t(when), cell: (check: CitationCheck) => <Standing standing={check[when]} /> });
  return (
    <Section id="citations" title={t("citations")}>
      <DataTable
        label={t("citations")}
        rows={citations}
        className="wide"
        columns={[
          { key: "name", head: t("citation"), wrap: true, cell: (check) => <Cited check={check} /> },
          { key: "claim", head: t("claim"), wrap: true, cell: (check) => <Lines text={check.claim ?? t("whole_answer")} /> },
          standing("then"),
          ...(again ? [standing("now")] : []),
          ...(again ? [{ key: "changed", head: t("text_changed"), cell: (check: CitationCheck) => <Changed value={check.text_changed} /> }] : []),
          ...(judged ? [{ key: "judged", head: t("by_judge"), cell: (check: CitationCheck) => <Judged label={check.judged} /> }] : []),
        ]}
      />
    </Section>
  );
}

function Changed({ value }: { value: boolean | null }) {
  const { t } = useWords();
  if (value === null) return <span class="n">{t("unknown")}</span>;
  return value ? <b class="bad-text">{t("yes")}</b> : <>{t("no")}</>;
}

const MOST_TEXT = 600;

/** A text of which a long rest is shown on request; it is printed in full. */
function Folded({ text }: { text: string }) {
  const { t } = useWords();
  const [open, toggle] = useState(false);
  if (open || text.length <= MOST_TEXT) return <Lines text={text} />;
  return (
    <>
      <span class="print-hidden">
        <Lines text={`${text.slice(0, MOST_TEXT)}…`} />{" "}
        <button type="button" class="button" onClick={() => toggle(true)}>
          {t("show_more")}
        </button>
      </span>
      <span class="print-only">
        <Lines text={text} />
      </span>
    </>
  );
}

function StageChunks({ name, chunks }: { name: string; chunks: readonly ShownChunk[] }) {
  const { t } = useWords();
  const label = visible(t("stage", { name, n: chunks.length }));
  const text = (chunk: ShownChunk): ComponentChildren => {
    if (chunk.restricted && chunk.text === null) return <b class="bad-text">{t("withheld")}</b>;
    return chunk.text === null ? <span class="n">{t("not_recorded")}</span> : <Folded text={chunk.text} />;
  };
  return (
    <section>
      <h2>{label}</h2>
      <DataTable
        label={label}
        rows={chunks}
        columns={[
          { key: "rank", head: t("rank"), number: true, cell: (_, index) => index + 1 },
          { key: "chunk", head: t("chunk"), wrap: true, cell: (chunk) => <Data text={chunk.chunk_id} /> },
          { key: "score", head: t("score"), number: true, cell: (chunk) => (chunk.score === null ? "" : Number(chunk.score.toPrecision(4))) },
          { key: "text", head: t("text"), wrap: true, cell: text },
        ]}
      />
    </section>
  );
}

function NearCases({ incident }: { incident: IncidentRecord }) {
  const { t } = useWords();
  if (incident.near_cases.length === 0) return null;
  return (
    <Section id="near" title={t("near_cases")}>
      <DataTable
        label={t("near_cases")}
        rows={incident.near_cases}
        columns={[
          { key: "case", head: t("case"), wrap: true, cell: (near) => <Data text={near.case_id} /> },
          { key: "question", head: t("question"), wrap: true, cell: (near) => <Data text={near.question} /> },
          { key: "alike", head: t("question_alike"), number: true, cell: (near) => near.similarity.toFixed(2) },
          { key: "answer", head: t("answer_alike"), number: true, cell: (near) => near.answer_similarity?.toFixed(2) ?? t("unknown") },
          { key: "expected", head: t("case_expects"), wrap: true, cell: (near) => <Data text={near.expected ?? ""} /> },
          { key: "stated", head: t("answer_states"), wrap: true, cell: (near) => <Data text={near.stated ?? ""} /> },
        ]}
      />
    </Section>
  );
}

function RecordFacts({ incident }: { incident: IncidentRecord }) {
  const { t } = useWords();
  const record = incident.record;
  const received = record.time_source === "received" ? ` (${t("received")})` : "";
  const facts: [string, ComponentChildren][] = [
    [t("id"), <Data text={record.id} />],
    [t("asked_at"), <Data text={record.at + received} />],
    [t("by"), <Data text={record.user_uid ?? t("not_recorded")} />],
    [t("behaviour"), <Data text={incident.behaviour} />],
  ];
  if (record.user != null) facts.push([t("tenant_roles"), <Data text={[record.user.tenant ?? "–", ...(record.user.roles ?? [])].join("; ")} />]);
  for (const field of FIELDS) {
    const value = record[field];
    if (value != null) facts.push([t(field), <Data text={String(value)} />]);
  }
  if (record.feedback != null) {
    const feedback = typeof record.feedback === "object" ? JSON.stringify(record.feedback) : String(record.feedback);
    facts.push([t("feedback"), <Data text={feedback} />]);
  }
  for (const [name, version] of Object.entries(record.versions ?? {}).sort()) {
    facts.push([visible(t("version_of", { name })), <Data text={version} />]);
  }
  if (record.error != null) facts.push([t("error"), <Data text={`${record.error.code}: ${record.error.message ?? ""}`} />]);
  const missing = EXPECTED.filter((field) => record[field] == null);
  if (missing.length > 0) facts.push([t("missing_fields"), missing.join(", ")]);
  const redacted = Object.entries(record.redacted ?? {}).map(([name, count]) => `${name} ×${count}`);
  if (redacted.length > 0) facts.push([t("redacted"), <Data text={redacted.join(", ")} />]);
  const chain = incident.chain_faults.length > 0 ? incident.chain_faults.join("; ") : t("as_committed");
  facts.push([t("in_chain"), <Data text={`${t("chain_place", { n: incident.sequence, day: incident.day })}: ${chain}`} />]);
  return <Facts facts={facts} />;
}

/** What people found, and room to write on paper. */
function Findings({ findings, id }: { findings: readonly Finding[]; id: string }) {
  const { t } = useWords();
  const blank: Finding = { answer_id: "", cause: "", owner: "", decision: "", at: "" };
  return (
    <Section id="findings" title={t("findings")}>
      <p class="hint">
        {t("findings_note")} <code>{`assay audit show ${visible(quoted(id))} --cause … --owner … --decision …`}</code>
      </p>
      <DataTable
        label={t("findings")}
        className="form"
        rows={[...findings, blank]}
        columns={[
          { key: "cause", head: t("cause"), wrap: true, cell: (row) => (row.cause === "" ? <span class="sr-only">{t("to_fill_in")}</span> : <Data text={row.cause} />) },
          { key: "owner", head: t("owner"), wrap: true, cell: (row) => <Data text={row.owner} /> },
          { key: "decision", head: t("decision"), wrap: true, cell: (row) => <Data text={row.decision} /> },
          { key: "date", head: t("date"), cell: (row) => <Data text={row.at} /> },
        ]}
      />
    </Section>
  );
}
