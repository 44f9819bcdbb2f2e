import { render } from "preact";
import { App } from "./app";
import { report } from "./data";
import "./style.css";

const root = document.getElementById("app");
if (root !== null) render(<App report={report} />, root);
