// The frame: navigation, language, and which view the address asks for.

import { useEffect, useState } from "preact/hooks";
import { CasePage } from "./case";
import { Cases } from "./cases";
import { Compared } from "./comparison";
import { loadRows, type Report, type Rows } from "./data";
import { readFilter } from "./filter";
import { LanguageContext, useWords } from "./parts";
import { said, type Language } from "./strings";
import { Summary } from "./summary";

interface Place {
  view: string;
  id: string;
  query: URLSearchParams;
}

function readPlace(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view = "", id = ""] = path.split("/");
  return { view, id: decoded(id), query: new URLSearchParams(query) };
}

/** An id out of the address; one that somebody cut in the middle of a character names no case. */
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
    // Storage may be forbidden for files; the browser's language decides.
  }
  return (chosen ?? navigator.language).startsWith("vi") ? "vi" : "en";
}

export function App({ report }: { report: Report | null }) {
  const [language, speak] = useState<Language>(firstLanguage);
  const [place, go] = useState<Place>(readPlace);
  const [rows, fill] = useState<Rows | null>(null);
  const [broken, fail] = useState(false);
  useEffect(() => {
    const moved = () => go(readPlace());
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => {
    if (report !== null) void loadRows().then(fill, () => fail(true));
  }, [report]);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = said(language, "title");
  }, [language]);
  useEffect(() => {
    window.scrollTo(0, 0);
  }, [place.view, place.id]);
  const choose = (wanted: Language) => {
    speak(wanted);
    try {
      localStorage.setItem(STORE, wanted);
    } catch {
      // It is forgotten with the page.
    }
  };
  return (
    <LanguageContext.Provider value={language}>
      <a class="skip" href="#content" onClick={skip}>
        {said(language, "skip")}
      </a>
      <TopBar report={report} place={place} language={language} choose={choose} />
      <main id="content" tabIndex={-1}>
        {report === null ? <Missing /> : <Body report={report} rows={rows} broken={broken} place={place} />}
      </main>
    </LanguageContext.Provider>
  );
}

/** Go to the content without touching the address, which holds the view. */
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
  rows: Rows | null;
  broken: boolean;
  place: Place;
}

function Body({ report, rows, broken, place }: BodyProps) {
  const { t } = useWords();
  if (place.view === "comparison" && report.comparison !== null) {
    return <Compared found={report.comparison} report={report} rows={rows} />;
  }
  if (place.view !== "cases" && place.view !== "case") return <Summary report={report} rows={rows} />;
  if (rows === null) return <p role="status">{t(broken ? "broken" : "loading")}</p>;
  if (place.view === "cases") return <Cases report={report} rows={rows} filter={readFilter(place.query, report)} />;
  return <CasePage report={report} rows={rows} id={place.id} config={place.query.get("config") ?? ""} />;
}

interface TopBarProps {
  report: Report | null;
  place: Place;
  language: Language;
  choose: (language: Language) => void;
}

function TopBar({ report, place, language, choose }: TopBarProps) {
  const { t } = useWords();
  const here = place.view === "case" ? "cases" : place.view;
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
          <a key={view} href={`#/${view}`} aria-current={here === view ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <div class="languages" role="group" aria-label={t("language")}>
        {(["en", "vi"] as const).map((each) => (
          <button key={each} type="button" lang={each} aria-pressed={language === each} onClick={() => choose(each)}>
            {each === "en" ? "English" : "Tiếng Việt"}
          </button>
        ))}
      </div>
    </header>
  );
}
