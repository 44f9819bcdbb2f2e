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

/** Shows data in an element; called again with other data it updates what is there. */
export function show(root: Element, page: PageData | null): void {
  const title = (language: Language) =>
    page === null ? "Assay" : [translate(language, `page.${page.page}`), visible(page.title)].filter(Boolean).join(" · ");
  render(<Shell views={[{ name: "", render: () => <Content page={page} /> }]} title={title} />, root);
}

setTexts(PAGE_TEXTS);
const root = document.getElementById("app");
if (root !== null) show(root, JSON.parse(document.getElementById("page")?.textContent || "null") as PageData | null);
