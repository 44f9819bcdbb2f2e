// The frame of the page: navigation, language, and the view that the address names.

import { useEffect, useState } from "preact/hooks";
import { CasePage } from "./case";
import { Cases } from "./cases";
import { Compared } from "./comparison";
import { loadRows } from "./data";
import type { CaseRows, Report } from "./types";
import { readFilter } from "./filter";
import { LanguageContext, useWords } from "./parts";
import { translate, type Language } from "./strings";
import { Summary } from "./summary";

interface Route {
  view: string;
  id: string;
  query: URLSearchParams;
}

function readRoute(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view = "", id = ""] = path.split("/");
  return { view, id: decoded(id), query: new URLSearchParams(query) };
}

/** Decodes an id from the address; an address cut in the middle of an escape names no case. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

const STORE = "assay-language";

function firstLanguage(): Language {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(STORE);
  } catch {
    // Browsers may block storage for local files; then the browser's language is used.
  }
  return (chosen ?? navigator.language).startsWith("vi") ? "vi" : "en";
}

export function App({ report }: { report: Report | null }) {
  const [language, speak] = useState<Language>(firstLanguage);
  const [route, go] = useState<Route>(readRoute);
  const [rows, fill] = useState<CaseRows | null>(null);
  const [broken, fail] = useState(false);
  useEffect(() => {
    const moved = () => go(readRoute());
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => {
    if (report !== null) void loadRows().then(fill, () => fail(true));
  }, [report]);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = translate(language, "title");
  }, [language]);
  useEffect(() => {
    window.scrollTo(0, 0);
  }, [route.view, route.id]);
  const choose = (wanted: Language) => {
    speak(wanted);
    try {
      localStorage.setItem(STORE, wanted);
    } catch {
      // Without storage, the choice lasts until the page is closed.
    }
  };
  return (
    <LanguageContext.Provider value={language}>
      <a class="skip" href="#content" onClick={skip}>
        {translate(language, "skip")}
      </a>
      <TopBar report={report} route={route} language={language} choose={choose} />
      <main id="content" tabIndex={-1}>
        {report === null ? <Missing /> : <Body report={report} rows={rows} broken={broken} route={route} />}
      </main>
    </LanguageContext.Provider>
  );
}

/** Moves the focus to the content without changing the address, which holds the view. */
function skip(event: Event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function Missing() {
  const { t } = useWords();
  return <p>{t("no_report")}</p>;
}

interface BodyProps {
  report: Report;
  rows: CaseRows | null;
  broken: boolean;
  route: Route;
}

function Body({ report, rows, broken, route }: BodyProps) {
  const { t } = useWords();
  if (route.view === "comparison" && report.comparison !== null) {
    return <Compared comparison={report.comparison} report={report} rows={rows} />;
  }
  if (route.view !== "cases" && route.view !== "case") return <Summary report={report} rows={rows} />;
  if (rows === null) return <p role="status">{t(broken ? "broken" : "loading")}</p>;
  if (route.view === "cases") return <Cases report={report} rows={rows} filter={readFilter(route.query, report)} />;
  return <CasePage report={report} rows={rows} id={route.id} config={route.query.get("config") ?? ""} />;
}

interface TopBarProps {
  report: Report | null;
  route: Route;
  language: Language;
  choose: (language: Language) => void;
}

function TopBar({ report, route, language, choose }: TopBarProps) {
  const { t } = useWords();
  const section = route.view === "case" ? "cases" : route.view;
  const links: [string, string][] = [
    ["", t("summary")],
    ["cases", t("cases")],
    ...(report?.comparison != null ? [["comparison", t("comparison")] as [string, string]] : []),
  ];
  return (
    <header class="top">
      <span class="brand">Assay</span>
      <nav aria-label={t("nav")}>
        {links.map(([view, label]) => (
          <a key={view} href={`#/${view}`} aria-current={section === view ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <div class="languages" role="group" aria-label={t("language")}>
        {(["en", "vi"] as const).map((code) => (
          <button key={code} type="button" lang={code} aria-pressed={language === code} onClick={() => choose(code)}>
            {code === "en" ? "English" : "Tiếng Việt"}
          </button>
        ))}
      </div>
    </header>
  );
}
