import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file with its script and style inside; Chromium 116, Firefox 113 and Safari 16.4 can all unpack the islands.
// `--mode pages` builds pages.html (trends, monitors, incidents) next to index.html (the report): neither pays for the other.
export default defineConfig(({ mode }) => ({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: ["chrome116", "firefox113", "safari16.4"],
    outDir: "dist",
    emptyOutDir: mode !== "pages",
    rolldownOptions: { input: mode === "pages" ? "pages.html" : "index.html" },
    reportCompressedSize: false,
  },
}));
