// The answer with its claims and the evidence in it marked, then claims, citations and the judge's votes as tables.

import type { CaseDetail, CaseView, ClaimView, JudgeVote } from "./types";
import { StateBadge, useWords } from "./parts";
import { DataTable, type Column } from "./table";
import { Block, Data, inOrder, marked, visible } from "./text";

export function Answer({ view, detail }: { view: CaseView; detail: CaseDetail }) {
  const { t } = useWords();
  const answer = view.answer ?? "";
  if (view.answered !== "text") return <p>{t(`answered.${view.answered ?? "never"}`)}</p>;
  if (answer.trim() === "") return <p>{t("empty")}</p>;
  return (
    <>
      {view.claims.length === 0 ? <Plain answer={answer} quotes={detail.quotes} /> : <Marked answer={answer} claims={view.claims} />}
      {view.claims.length > 0 && <Claims claims={view.claims} />}
      <Citations view={view} />
      {view.verdicts.length > 0 && <Votes votes={view.verdicts} />}
    </>
  );
}

function Plain({ answer, quotes }: { answer: string; quotes: string[] }) {
  if (!quotes.some((quote) => answer.includes(quote))) return <Block text={answer} />;
  return (
    <p class="block" dir="auto">
      {marked(visible(answer, true), quotes.map((quote) => visible(quote, true))).map(([piece, quote], index) =>
        quote < 0 ? piece : <mark key={index}>{piece}</mark>,
      )}
    </p>
  );
}

function Marked({ answer, claims }: { answer: string; claims: ClaimView[] }) {
  const { t, w } = useWords();
  const states = [...new Set(claims.map((claim) => claim.state))];
  return (
    <>
      <p class="block answer" dir="auto">
        {inOrder(visible(answer, true), claims.map((claim) => visible(claim.text, true))).map(([piece, index], key) => {
          const claim = claims[index];
          return claim === undefined ? (
            piece
          ) : (
            <mark class={`claim ${claim.state}`} key={key}>
              {piece}
              <sup>
                <span class="sr-only">{w("claim", claim.state)} </span>
                {index + 1}
              </sup>
            </mark>
          );
        })}
      </p>
      <ul class="chips" aria-label={t("claims")}>
        {states.map((state) => (
          <li key={state}>
            <mark class={`claim ${state}`}>{w("claim", state)}</mark>
          </li>
        ))}
      </ul>
    </>
  );
}

function Claims({ claims }: { claims: ClaimView[] }) {
  const { t } = useWords();
  const columns: Column<ClaimView>[] = [
    { key: "claim", head: t("claim"), cell: (claim, index) => <Data text={`${index + 1}. ${claim.text}`} />, wrap: true },
    { key: "state", head: t("state"), cell: (claim) => <StateBadge kind="claim" name={claim.state} /> },
    { key: "by", head: t("by"), cell: (claim) => <Data text={claim.by} /> },
    { key: "reasoning", head: t("reasoning"), cell: (claim) => <Data text={claim.reasoning || "–"} />, wrap: true },
    { key: "quote", head: t("quote"), cell: (claim) => <Quote quote={claim.quote} source={claim.source} />, wrap: true },
  ];
  return (
    <>
      <h3>{t("claims")}</h3>
      <DataTable label={t("claims")} columns={columns} rows={claims} />
    </>
  );
}

function Quote({ quote, source }: { quote: string | null; source: string | null }) {
  return (
    <>
      {quote !== null && <Data text={quote} />}
      {source !== null && (
        <span class="hint">
          <Data text={source} />
        </span>
      )}
    </>
  );
}

function Citations({ view }: { view: CaseView }) {
  const { t } = useWords();
  const columns: Column<NonNullable<CaseView["citations"]>[number]>[] = [
    { key: "citation", head: t("citation"), cell: ([citation]) => <Data text={citation} />, wrap: true },
    { key: "exists", head: t("exists"), cell: ([, exists]) => <Fact known={exists} /> },
    { key: "reachable", head: t("reachable"), cell: ([, , reachable]) => <Fact known={reachable} /> },
    { key: "in_context", head: t("in_context"), cell: ([, , , inContext]) => <Fact known={inContext} /> },
  ];
  return (
    <>
      <h3>{t("citations")}</h3>
      {view.citations === null && <p>{t("not_reported")}</p>}
      {view.citations?.length === 0 && <p>{t("none")}</p>}
      {view.citations !== null && view.citations.length > 0 && (
        <DataTable label={t("citations")} columns={columns} rows={view.citations} />
      )}
    </>
  );
}

function Fact({ known }: { known: boolean | null }) {
  const { t } = useWords();
  if (known === null) return <>{t("unknown")}</>;
  return known ? <>✓ {t("yes")}</> : <span class="bad-text">✕ {t("no")}</span>;
}

/** A vote on one item; of a vote that could not be read, the reason instead of a label. */
interface ItemVote {
  vote: JudgeVote;
  item: JudgeVote["items"][number] | null;
}

function Votes({ votes }: { votes: JudgeVote[] }) {
  const { t } = useWords();
  const rows = votes.flatMap((vote): ItemVote[] =>
    vote.unscored !== null ? [{ vote, item: null }] : vote.items.map((item) => ({ vote, item })),
  );
  const columns: Column<ItemVote>[] = [
    { key: "rubric", head: t("rubric"), cell: ({ vote }) => <VoteRubric vote={vote} />, wrap: true },
    { key: "vote", head: t("vote"), cell: ({ vote }) => vote.sample + 1, number: true },
    { key: "item", head: t("item"), cell: ({ item }) => item !== null && <Data text={item.id} /> },
    { key: "label", head: t("label"), cell: (row) => <VoteLabel row={row} /> },
    {
      key: "reasoning",
      head: t("reasoning"),
      cell: ({ vote, item }) => <Data text={item === null ? vote.message : item.reasoning || "–"} />,
      wrap: true,
    },
    {
      key: "quote",
      head: t("quote"),
      cell: ({ item }) => item !== null && <Quote quote={item.quote} source={item.source} />,
      wrap: true,
    },
  ];
  return (
    <>
      <h3>{t("verdicts")}</h3>
      <DataTable label={t("verdicts")} columns={columns} rows={rows} />
    </>
  );
}

function VoteRubric({ vote }: { vote: JudgeVote }) {
  return (
    <>
      <Data text={vote.rubric} />
      <span class="hint">
        <Data text={[vote.model ?? "", ...vote.flags].filter(Boolean).join(", ")} />
      </span>
    </>
  );
}

function VoteLabel({ row: { vote, item } }: { row: ItemVote }) {
  if (item !== null) return <Data text={item.label} />;
  return (
    <span class="bad-text">
      <Data text={vote.unscored ?? ""} />
    </span>
  );
}
