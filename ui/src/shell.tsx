// The frame around every page: language, navigation, and the view that the address names. It knows nothing of reports:
// a page is a row of `views`, so that pages of other data need no change here.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LanguageContext, useWords } from "./parts";
import { translate, type Key, type Language } from "./words";

/** What the address names: `#/VIEW/ID?QUERY`. */
export interface Route {
  view: string;
  id: string;
  query: URLSearchParams;
}

/** A page. Those with a `label` are in the navigation; a page without one is shown as part of the page `within`. */
export interface View {
  name: string;
  label?: Key;
  within?: string;
  render: (route: Route) => ComponentChildren;
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

/** Shows the view that the address names, the first one if it names none. `title` names the document in a language, with what is shown. */
export function Shell({ views, title }: { views: View[]; title: (language: Language, route: Route) => string }) {
  const [language, speak] = useState<Language>(firstLanguage);
  const [route, go] = useState<Route>(readRoute);
  useEffect(() => {
    const moved = () => go(readRoute());
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = title(language, route);
  }, [language, route, title]);
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
  const view = views.find(({ name }) => name === route.view) ?? views[0];
  return (
    <LanguageContext.Provider value={language}>
      <a class="skip" href="#content" onClick={skip}>
        {translate(language, "skip")}
      </a>
      <TopBar views={views} current={view?.within ?? view?.name ?? ""} language={language} choose={choose} />
      <main id="content" tabIndex={-1}>
        {view?.render(route)}
      </main>
    </LanguageContext.Provider>
  );
}

/** Moves the focus to the content without changing the address, which holds the view. */
function skip(event: Event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

interface TopBarProps {
  views: View[];
  current: string;
  language: Language;
  choose: (language: Language) => void;
}

function TopBar({ views, current, language, choose }: TopBarProps) {
  const { t } = useWords();
  return (
    <header class="top">
      <span class="brand">Assay</span>
      {views.length > 1 && (
        <nav aria-label={t("nav")}>
          {views.map(
            ({ name, label }) =>
              label !== undefined && (
                <a key={name} href={`#/${name}`} aria-current={current === name ? "page" : undefined}>
                  {t(label)}
                </a>
              ),
          )}
        </nav>
      )}
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
