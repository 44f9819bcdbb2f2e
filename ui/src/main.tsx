import { render } from "preact";
import { App } from "./app";
import { report } from "./data";
import { REPORT_TEXTS } from "./strings";
import { setTexts } from "./words";
import "./style.css";

setTexts(REPORT_TEXTS);

const root = document.getElementById("app");
if (root !== null) render(<App report={report} />, root);
