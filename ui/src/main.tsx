import { render } from "preact";
import { App } from "./app";
import { report } from "./data";
import "./style.css";

const place = document.getElementById("app");
if (place !== null) render(<App report={report} />, place);
