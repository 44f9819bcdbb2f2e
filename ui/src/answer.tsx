// The answer with its claims and the evidence in it marked, then claims, citations and the judge's votes as tables.

import type { CaseDetail, CaseView, ClaimView, JudgeVote } from "./types";
import { Scroll, StateBadge, useWords } from "./parts";
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
  return (
    <>
      <h3>{t("claims")}</h3>
      <Scroll label={t("claims")}>
        <table>
          <thead>
            <tr>
              <th scope="col" class="number">
                #
              </th>
              <th scope="col">{t("claim")}</th>
              <th scope="col">{t("state")}</th>
              <th scope="col">{t("by")}</th>
              <th scope="col">{t("reasoning")}</th>
              <th scope="col">{t("quote")}</th>
            </tr>
          </thead>
          <tbody>
            {claims.map((claim, index) => (
              <tr key={index}>
                <td class="number">{index + 1}</td>
                <th scope="row" class="wrap">
                  <Data text={claim.text} />
                </th>
                <td>
                  <StateBadge kind="claim" name={claim.state} />
                </td>
                <td>
                  <Data text={claim.by} />
                </td>
                <td class="wrap">
                  <Data text={claim.reasoning} />
                </td>
                <td class="wrap">
                  {claim.quote !== null && <Data text={claim.quote} />}
                  {claim.source !== null && (
                    <span class="hint">
                      <Data text={claim.source} />
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function Citations({ view }: { view: CaseView }) {
  const { t } = useWords();
  return (
    <>
      <h3>{t("citations")}</h3>
      {view.citations === null && <p>{t("not_reported")}</p>}
      {view.citations?.length === 0 && <p>{t("none")}</p>}
      {view.citations !== null && view.citations.length > 0 && (
        <Scroll label={t("citations")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("citation")}</th>
                <th scope="col">{t("exists")}</th>
                <th scope="col">{t("reachable")}</th>
                <th scope="col">{t("in_context")}</th>
              </tr>
            </thead>
            <tbody>
              {view.citations.map(([citation, exists, reachable, inContext], index) => (
                <tr key={index}>
                  <th scope="row">
                    <Data text={citation} />
                  </th>
                  <Fact known={exists} />
                  <Fact known={reachable} />
                  <Fact known={inContext} />
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}

function Fact({ known }: { known: boolean | null }) {
  const { t } = useWords();
  if (known === null) return <td>{t("unknown")}</td>;
  return known ? <td>✓ {t("yes")}</td> : <td class="bad-text">✕ {t("no")}</td>;
}

function Votes({ votes }: { votes: JudgeVote[] }) {
  const { t } = useWords();
  return (
    <>
      <h3>{t("verdicts")}</h3>
      <Scroll label={t("verdicts")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("rubric")}</th>
              <th scope="col" class="number">
                {t("vote")}
              </th>
              <th scope="col">{t("item")}</th>
              <th scope="col">{t("label")}</th>
              <th scope="col">{t("reasoning")}</th>
              <th scope="col">{t("quote")}</th>
            </tr>
          </thead>
          <tbody>{votes.map((vote, index) => <VoteRows vote={vote} key={index} />)}</tbody>
        </table>
      </Scroll>
    </>
  );
}

function VoteRows({ vote }: { vote: JudgeVote }) {
  const head = (
    <>
      <th scope="row">
        <Data text={vote.rubric} />
        <span class="hint">
          <Data text={[vote.model ?? "", ...vote.flags].filter(Boolean).join(", ")} />
        </span>
      </th>
      <td class="number">{vote.sample + 1}</td>
    </>
  );
  if (vote.unscored !== null) {
    return (
      <tr>
        {head}
        <td />
        <td>
          <span class="bad-text">
            <Data text={vote.unscored} />
          </span>
        </td>
        <td class="wrap" colSpan={2}>
          <Data text={vote.message} />
        </td>
      </tr>
    );
  }
  return (
    <>
      {vote.items.map((item, index) => (
        <tr key={index}>
          {head}
          <td>
            <Data text={item.id} />
          </td>
          <td>
            <Data text={item.label} />
          </td>
          <td class="wrap">
            <Data text={item.reasoning} />
          </td>
          <td class="wrap">
            {item.quote !== null && <Data text={item.quote} />}
            {item.source !== null && (
              <span class="hint">
                <Data text={item.source} />
              </span>
            )}
          </td>
        </tr>
      ))}
    </>
  );
}
