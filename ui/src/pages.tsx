// The pages on trends, monitors and incidents. `show` takes the data: this file reads it from the island of the
// document, and a server can call it again with newer data.

import { render } from "preact";
import { Incident } from "./incident";
import { Monitor } from "./monitor";
import type { Incident as IncidentRecord, MonitorPage, TrendPage } from "./page_types";
import { PAGE_TEXTS } from "./page_strings";
import { useWords } from "./parts";
import { Shell } from "./shell";
import { visible } from "./text";
import { Trend } from "./trend";
import { setTexts, translate, type Language } from "./words";
import "./style.css";
import "./pages.css";

interface IncidentPage {
  page: "incident";
  title: string;
  made_at: string | null;
  incident: IncidentRecord;
}

export type PageData = TrendPage | MonitorPage | IncidentPage;

function Content({ page }: { page: PageData | null }) {
  const { t } = useWords();
  if (page === null) return <p>{t("no_page")}</p>;
  if (page.page === "trend") return <Trend page={page} />;
  if (page.page === "monitor") return <Monitor page={page} />;
  return <Incident incident={page.incident} title={page.title} madeAt={page.made_at} />;
}

/** What a tab of the browser says: which kind of page, of what and of when. */
function namePage(page: PageData, language: Language): string {
  const kind = translate(language, `page.${page.page}`);
  const when = page.page === "monitor" ? `${page.period.from} – ${page.period.to}` : (page.made_at ?? "").slice(0, 10);
  const parts = new Set([visible(page.title), kind, visible(when)]);
  return [...parts].filter((part) => part !== "").join(" · ");
}

/** Shows data in an element; called again with other data it updates what is there. */
export function show(root: Element, page: PageData | null): void {
  const title = (language: Language) => (page === null ? "Assay" : namePage(page, language));
  render(<Shell views={[{ name: "", render: () => <Content page={page} /> }]} title={title} />, root);
}

setTexts(PAGE_TEXTS);
const root = document.getElementById("app");
if (root !== null) show(root, JSON.parse(document.getElementById("page")?.textContent || "null") as PageData | null);
