// A case in one configuration in a few words: the beginning of its answer, or why there is none, and its evidence.

import type { EvidenceRank as Rank } from "./types";
import { useWords } from "./parts";
import { Data, visible } from "./text";

/** The states of short answers, in the order of ANSWER_STATES in src/assay/report/page/overview.py. */
export const ANSWER_STATES = ["absent", "text", "null", "never", "withheld", "error"] as const;
export type ShortAnswerState = (typeof ANSWER_STATES)[number];

export function ShortAnswer({ state, text }: { state: ShortAnswerState; text: string | null }) {
  const { t } = useWords();
  if (state === "text" && text !== null) return <Data text={text} />;
  if (state === "error") return <bdi class="bad-text">{t("short.error", { text: visible(text ?? "") })}</bdi>;
  return <em class="n">{t(state === "text" ? "short.null" : `short.${state}`)}</em>;
}

export function EvidenceRank({ rank }: { rank: Rank | null }) {
  const { t } = useWords();
  if (rank === null) return null;
  return <span class="n">{typeof rank === "number" ? t("rank", { n: rank }) : t(`rank.${rank}`)}</span>;
}
