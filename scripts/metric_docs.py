"""Write docs/metrics/index.md from the catalogue of metrics and docs/metrics/notes.yaml; `--check` only compares."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from assay.metrics.catalog import CATALOG, DEFAULT_METRICS, METRIC_ALIASES
from assay.metrics.metric import Metric, parse_metric_name
from assay.report.catalog_tables import build_catalog_table
from assay.report.wording.metric_titles import METRIC_TITLES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/metrics/index.md"
NOTES = ROOT / "docs/metrics/notes.yaml"
PARTS = ("formula", "undefined", "note")
FAMILIES = {
    "retrieval": "Retrieval",
    "context": "Context: what the model was shown",
    "citation": "Citations",
    "answer": "Answers and refusals",
    "visibility": "Visibility: who may see what",
    "operations": "Operations",
    "checks": "Checks",
    "variants": "Variants of cases",
    "judged": "Grounding and correctness: by rules, by a judge",
}
INTRODUCTION = """\
# Metrics

<!-- Written by scripts/metric_docs.py from the catalogue and notes.yaml; edit those, then run it again. -->

A metric's name carries its parameters: `name(key=value,…)@k`. Keys that have their default are left out, so
`ndcg(gain=linear,stage=final)@10` differs from `ndcg@10` in two ways, and what is printed can be typed back.
`assay metrics` prints this table on the screen; `assay metrics --format json` gives it to programs.

Every (case, metric) pair ends as one of three things: *scored* (a number), *not applicable* (the metric has no meaning
there) or *error* (it should have been measured and could not be). Only scored ones have a number. The unit of a ranking
metric is the *unit of evidence*: one or more selectors, any of which may cover it. For the denied user
(`permission_denied`) the listed evidence is forbidden, so ranking metrics do not apply to such a case at all.

Some definitions are taken over from neighbouring systems: a code benchmark, the `rag-trace` contract of a RAG runner,
a keyword rubric, an answer audit record and a tool-side evaluator. ADR 0038 says which conventions and why.
"""


def load_notes() -> dict[str, dict[str, str]]:
    """Return the handwritten notes by metric."""
    notes: dict[str, dict[str, str]] = yaml.safe_load(NOTES.read_text(encoding="utf-8"))
    return notes


def find_note_problems(notes: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield a sentence for each metric that is not fully described, and for each note that describes none."""
    for name in notes.keys() - CATALOG.keys():
        yield f"notes.yaml: {name}: no such metric"
    for name, metric in CATALOG.items():
        written = notes.get(name, {})
        if not written.get("formula"):
            yield f"notes.yaml: {name}: no formula"
        if bool(metric.undefined) == ("undefined" in written):
            where = "both" if metric.undefined else "neither"
            yield f"notes.yaml: {name}: `undefined` must be given in the catalogue or here (got {where})"
        for part in written.keys() - set(PARTS):
            yield f"notes.yaml: {name}: unknown part {part!r}"


def render_page() -> str:
    """Return the whole page."""
    return "\n".join(_render_lines(load_notes())) + "\n"


def _render_lines(notes: dict[str, dict[str, str]]) -> Iterator[str]:
    yield INTRODUCTION
    yield "## All names"
    yield ""
    yield "| Metric | Unit | Better | Range | Summed up as | Class |"
    yield "| --- | --- | --- | --- | --- | --- |"
    table = build_catalog_table()
    column_positions = {
        column: table.columns.index(column) for column in ("Metric", "Unit", "Better", "Range", "Statistic", "Class")
    }
    for metric, row in zip(CATALOG.values(), table.rows, strict=True):
        cells = [row[column_positions[column]].replace("|", "\\|") for column in column_positions]
        yield f"| [`{cells[0]}`](#{metric.name}) | {' | '.join(cells[1:])} |"
    yield ""
    yield (
        "Also accepted on input, never printed: "
        + ", ".join(f"`{a}` for `{b}`" for a, b in METRIC_ALIASES.items())
        + "."
    )
    for family, title in FAMILIES.items():
        yield f"\n## {title}"
        for metric in CATALOG.values():
            if metric.family == family:
                yield from _render_section(metric, notes[metric.name])


def _render_section(metric: Metric, written: dict[str, str]) -> Iterator[str]:
    high = "no upper end" if math.isinf(metric.high) else f"{metric.high:g}"
    better = {"higher": "higher is better", "lower": "lower is better", "neutral": "neither end is better"}
    cut = {"no": "takes no cut-off", "optional": "cut-off `@k` optional", "required": "needs a cut-off `@k`"}
    defaults = [name for name in DEFAULT_METRICS if parse_metric_name(name).base == metric.name]
    yield f"\n### {metric.name}\n"
    yield f"{metric.summary}\n"
    title = METRIC_TITLES.get(metric.name, metric.name)
    if title.lower() != metric.name:
        yield f"- **Shown as:** {title}"
    yield f"- **One case:** {written['formula']}"
    yield f"- **Range:** {metric.low:g} to {high}, {better[metric.direction]}; unit: {metric.unit}; {cut[metric.cut]}"
    yield f"- **Summed up as:** {metric.statistic}; class: {metric.scoring_class}"
    if metric.least_difference or metric.least_share:
        parts = [f"{metric.least_difference:g} {metric.unit}"] if metric.least_difference else []
        parts += [f"{metric.least_share:.0%} of the baseline's value"]
        larger = ", whichever is larger" if len(parts) > 1 else ""
        yield f"- **Smallest difference that matters:** {' or '.join(parts)}{larger}; a comparison shows no smaller one"
    for name, key in metric.keys.items():
        values = f"{' or '.join(f'`{value}`' for value in key.values)}; " if key.values else ""
        default = f"default `{key.default}`" if key.default else "must be stated"
        yield f"- **Key `{name}`:** {values}{default}; {key.doc}"
    yield f"- **Not applicable when:** {metric.undefined or written['undefined']}"
    yield f"- **Source:** {metric.source}"
    yield f"- **Scored by default:** {', '.join(f'`{name}`' for name in defaults) or 'no; ask for it with `--metrics`'}"
    if metric.yields_to_leaks:
        yield "- **After a leak:** becomes 0 for the case, whatever it was"
    if "note" in written:
        yield f"\n{written['note']}"


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` say whether it is current; return the exit code."""
    wrong = sorted(find_note_problems(load_notes()))
    if wrong:
        print("\n".join(wrong))
        return 1
    if "--check" not in arguments:
        PAGE.write_text(render_page(), encoding="utf-8")
        print(f"{len(CATALOG)} metrics written to {PAGE.relative_to(ROOT)}")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != render_page():
        print(f"{PAGE.relative_to(ROOT)} is out of date: run python scripts/metric_docs.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
