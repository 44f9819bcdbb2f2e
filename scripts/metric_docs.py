"""Write docs/metrics/index.md from the catalogue of graders and docs/metrics/notes.yaml; `--check` only compares."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from assay.graders.base import Grader
from assay.graders.catalog import ALIASES, CATALOG, DEFAULT_METRICS
from assay.graders.names import read_name
from assay.workflow.catalogue import catalogue_table

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
    "judged": "Grounding and correctness: by rules, by a judge",
}
INTRODUCTION = """\
# Metrics

<!-- Written by scripts/metric_docs.py from the catalogue and notes.yaml; edit those, then run it again. -->

A metric's name carries its parameters: `name(key=value,…)@k`. Keys with their default value are left out, so
`ndcg(gain=linear,stage=final)@10` differs from `ndcg@10` in two ways, and a printed name is a valid input.
`assay graders` prints this table on the screen; `assay graders --format json` prints it for programs.

Every (case, metric) pair ends as one of three things: *scored* (a number), *not applicable* (the metric has no meaning
there) or *error* (it should have been measured and could not be). Only scored ones have a number. The unit of a ranking
metric is the *unit of evidence*: one or more selectors, any of which may cover it. For the denied user
(`permission_denied`) the listed evidence is forbidden, so ranking metrics do not apply to such a case at all.

Sources that are systems (the code benchmark, the RAG runner of `rag-trace`, the keyword rubric, the answer audit
record, the tool-side evaluator) are described in
[ADR 0038](../adr/0038-conventions-taken-over-from-neighbouring-systems.md).
"""


def load_notes() -> dict[str, dict[str, str]]:
    """Return what is written by hand, by metric."""
    notes: dict[str, dict[str, str]] = yaml.safe_load(NOTES.read_text(encoding="utf-8"))
    return notes


def faults(notes: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield a sentence for each metric that is not fully described, and for each note that describes none."""
    for name in notes.keys() - CATALOG.keys():
        yield f"notes.yaml: {name}: no such metric"
    for name, grader in CATALOG.items():
        written = notes.get(name, {})
        if not written.get("formula"):
            yield f"notes.yaml: {name}: no formula"
        if bool(grader.undefined) == ("undefined" in written):
            where = "both" if grader.undefined else "neither"
            yield f"notes.yaml: {name}: `undefined` must stand in the catalogue or here (got {where})"
        for part in written.keys() - set(PARTS):
            yield f"notes.yaml: {name}: unknown part {part!r}"


def page() -> str:
    """Return the whole page."""
    return "\n".join(_lines(load_notes())) + "\n"


def _lines(notes: dict[str, dict[str, str]]) -> Iterator[str]:
    yield INTRODUCTION
    yield "## All names"
    yield ""
    yield "| Metric | Unit | Better | Range | Summed up as | Class |"
    yield "| --- | --- | --- | --- | --- | --- |"
    table = catalogue_table()
    place = {
        column: table.columns.index(column) for column in ("Metric", "Unit", "Better", "Range", "Statistic", "Class")
    }
    for grader, row in zip(CATALOG.values(), table.rows, strict=True):
        cells = [row[place[column]].replace("|", "\\|") for column in place]
        yield f"| [`{cells[0]}`](#{grader.name}) | {' | '.join(cells[1:])} |"
    yield ""
    yield "Also accepted on input, never printed: " + ", ".join(f"`{a}` for `{b}`" for a, b in ALIASES.items()) + "."
    for family, title in FAMILIES.items():
        yield f"\n## {title}"
        for grader in CATALOG.values():
            if grader.family == family:
                yield from _section(grader, notes[grader.name])


def _section(grader: Grader, written: dict[str, str]) -> Iterator[str]:
    high = "no upper end" if math.isinf(grader.high) else f"{grader.high:g}"
    better = {"higher": "higher is better", "lower": "lower is better", "neutral": "neither end is better"}
    cut = {"no": "takes no cut-off", "optional": "cut-off `@k` optional", "required": "needs a cut-off `@k`"}
    defaults = [name for name in DEFAULT_METRICS if read_name(name).base == grader.name]
    yield f"\n### {grader.name}\n"
    yield f"{grader.summary}\n"
    yield f"- **One case:** {written['formula']}"
    yield f"- **Range:** {grader.low:g} to {high}, {better[grader.direction]}; unit: {grader.unit}; {cut[grader.cut]}"
    yield f"- **Summed up as:** {grader.statistic}; class: {grader.instrument}"
    for name, key in grader.keys.items():
        values = f"{' or '.join(f'`{value}`' for value in key.values)}; " if key.values else ""
        default = f"default `{key.default}`" if key.default else "must be stated"
        yield f"- **Key `{name}`:** {values}{default}; {key.doc}"
    yield f"- **Not applicable when:** {grader.undefined or written['undefined']}"
    yield f"- **Source:** {grader.source}"
    yield f"- **Scored by default:** {', '.join(f'`{name}`' for name in defaults) or 'no; ask for it with `--metrics`'}"
    if grader.yields_to_leaks:
        yield "- **After a leak:** becomes 0 for the case, whatever it was"
    if "note" in written:
        yield f"\n{written['note']}"


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` say whether it is current; return the exit code."""
    wrong = sorted(faults(load_notes()))
    if wrong:
        print("\n".join(wrong))
        return 1
    if "--check" not in arguments:
        PAGE.write_text(page(), encoding="utf-8")
        print(f"{len(CATALOG)} metrics written to {PAGE.relative_to(ROOT)}")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        print(f"{PAGE.relative_to(ROOT)} is out of date: run python scripts/metric_docs.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
