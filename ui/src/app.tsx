// The pages of a report.

import { useEffect, useState } from "preact/hooks";
import { CasePage } from "./case";
import { Cases } from "./cases";
import { Compared } from "./comparison";
import { loadRows } from "./data";
import { readFilter } from "./filter";
import { Matrix } from "./matrix";
import { useWords } from "./parts";
import { Shell, type Route, type View } from "./shell";
import { Summary } from "./summary";
import { visible } from "./text";
import type { CaseRows, Report } from "./types";
import { translate, type Language } from "./words";

export function App({ report }: { report: Report | null }) {
  const [rows, fill] = useState<CaseRows | null>(null);
  const [broken, fail] = useState(false);
  useEffect(() => {
    if (report !== null) void loadRows().then(fill, () => fail(true));
  }, [report]);
  const views = report === null ? [{ name: "", render: () => <Missing /> }] : listViews(report, rows, broken);
  return <Shell views={views} title={(language, route) => nameReport(report, language, route)} />;
}

/** What a tab of the browser says: the case that is shown, the decision, of what and of when. */
function nameReport(report: Report | null, language: Language, route: Route): string {
  const kind = translate(language, "title");
  if (report === null) return kind;
  const { configs, golden, date, outcome } = report;
  const parts = [
    route.view === "case" ? route.id : "",
    translate(language, `outcome.${outcome}`),
    configs.length > 1 ? translate(language, "n_configs", { n: configs.length }) : (configs[0]?.id ?? ""),
    [golden.name, golden.version].filter((part) => part !== "").join(" "),
    date,
    kind,
  ];
  return parts.filter((part) => part !== "").map((part) => visible(part)).join(" · ");
}

function Missing() {
  const { t } = useWords();
  return <p>{t("no_report")}</p>;
}

/** The pages for which the report has data. */
function listViews(report: Report, rows: CaseRows | null, broken: boolean): View[] {
  const withRows = (show: (rows: CaseRows, route: Route) => preact.JSX.Element) => (route: Route) =>
    rows === null ? <Waiting broken={broken} /> : show(rows, route);
  const views: View[] = [
    { name: "", label: "summary", render: () => <Summary report={report} rows={rows} /> },
    {
      name: "cases",
      label: "cases",
      render: withRows((loaded, { query }) => <Cases report={report} rows={loaded} filter={readFilter(query, report)} />),
    },
    {
      name: "case",
      within: "cases",
      render: withRows((loaded, { id, query }) => (
        <CasePage report={report} rows={loaded} id={id} config={query.get("config") ?? ""} />
      )),
    },
  ];
  if (report.configs.length > 1) {
    views.push({
      name: "matrix",
      label: "matrix",
      render: withRows((loaded, { query }) => <Matrix report={report} rows={loaded} filter={readFilter(query, report)} />),
    });
  }
  const comparison = report.comparison;
  if (comparison !== null) {
    views.push({
      name: "comparison",
      label: "comparison",
      render: () => <Compared comparison={comparison} report={report} rows={rows} />,
    });
  }
  return views;
}

function Waiting({ broken }: { broken: boolean }) {
  const { t } = useWords();
  return <p role="status">{t(broken ? "broken" : "loading")}</p>;
}
