"""The evaluator evaluated: good observations are spoiled in known ways, and every metric has to notice what is its own.

`python -m benchmarks.mutation` prints, for each mutation, how many observations it spoiled and the share that each
metric which must notice did notice; then what the checks say of the untouched good observations, and every score that
moved although nothing was done to its row. The golden sets are the handbook's; its system has no part in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

import assay
from assay.graders.catalog import DEFAULT_METRICS, grader_of, parse
from assay.model import SCORED, Corpus, GoldenSet, Observation, ScoreTable
from benchmarks.mutations import MUTATIONS, good, settings_of

HANDBOOK = Path(__file__).parents[1] / "examples" / "handbook"
SETS = (("handbook", "chunks"), ("operations", "operations"))
UNTOUCHED = "untouched"


class Noticed(NamedTuple):
    """How often one metric got worse on the rows of one mutation."""

    mutation: str
    metric: str
    worse: int
    of: int


class Found(NamedTuple):
    """What a golden set gave: detections, good observations that failed a check, and scores that moved unprovoked."""

    noticed: list[Noticed]
    cases: int
    alarmed: list[str]
    moved: list[str]
    spoiled: dict[str, int]


def is_worse(metric: str, before: ScoreTable, after: ScoreTable, row: int) -> bool:
    """Return whether a case's score got worse, or an unmeasured fault became a measured one."""
    one, two = before.columns.get(metric), after.columns.get(metric)
    if one is None or two is None or two.status[row] != SCORED:
        return False
    lower = grader_of(parse(metric)).direction == "lower"
    if one.status[row] != SCORED:
        return lower and two.values[row] > 0
    change = two.values[row] - one.values[row]
    return bool(change > 0 if lower else change < 0)


def measure(golden: GoldenSet, corpus: Corpus) -> Found:
    """Score the good observations of a golden set, and as a configuration of its own each way to spoil them."""
    settings = settings_of(golden, corpus)
    fine = [good(setting) for setting in settings]
    rows: list[Observation] = [*fine]
    spoiled: dict[str, list[int]] = {}
    for mutation in MUTATIONS:
        made = [mutation.mutate(setting, seen) for setting, seen in zip(settings, fine, strict=True)]
        spoiled[mutation.name] = [row for row, seen in enumerate(made) if seen is not None]
        rows += [
            replace(seen if seen is not None else untouched, config_id=mutation.name)
            for seen, untouched in zip(made, fine, strict=True)
        ]
    needed = [metric for mutation in MUTATIONS for metric in mutation.worse]
    result = assay.score(golden, rows, corpus=corpus, metrics=tuple(dict.fromkeys((*DEFAULT_METRICS, *needed))))
    before = result.table(UNTOUCHED)
    noticed, moved = [], []
    for mutation in MUTATIONS:
        after, chosen = result.table(mutation.name), spoiled[mutation.name]
        for metric in mutation.worse:
            measured = [row for row in chosen if _applies(metric, before, after, row)]
            worse = sum(is_worse(metric, before, after, row) for row in measured)
            noticed.append(Noticed(mutation.name, metric, worse, len(measured)))
        left = np.setdiff1d(np.arange(len(fine)), chosen)
        moved += [f"{mutation.name}: {metric}" for metric in before.columns if _moved(metric, before, after, left)]
    failed = [f"{each.case_id}: {', '.join(each.failed)}" for each in before.checks if each.failed]
    return Found(noticed, len(fine), failed, moved, {name: len(chosen) for name, chosen in spoiled.items()})


def _applies(metric: str, before: ScoreTable, after: ScoreTable, row: int) -> bool:
    return any(table.columns[metric].status[row] == SCORED for table in (before, after) if metric in table.columns)


def _moved(metric: str, before: ScoreTable, after: ScoreTable, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> bool:
    one, two = before.columns[metric], after.columns[metric]
    same = np.array_equal(one.values[rows], two.values[rows]) and np.array_equal(one.status[rows], two.status[rows])
    return not same


def report(found: dict[str, Found]) -> str:
    """Return the tables as Markdown."""
    lines = ["| mutation | spoiled | metric that must notice | noticed | of |", "|---|---|---|---|---|"]
    for mutation in MUTATIONS:
        spoiled = sum(each.spoiled[mutation.name] for each in found.values())
        for metric in mutation.worse:
            rows = [n for each in found.values() for n in each.noticed if n[:2] == (mutation.name, metric)]
            worse, of = sum(n.worse for n in rows), sum(n.of for n in rows)
            share = f"{worse / of:.3f}" if of else "n/a"
            lines.append(f"| {mutation.name} | {spoiled} | {metric} | {share} | {of} |")
    for name, each in found.items():
        lines += ["", f"{name}: {len(each.alarmed)} of {each.cases} untouched good observations fail a check"]
        lines += [f"- {case}" for case in each.alarmed]
        lines += [f"{name}: {len(each.moved)} scores moved on rows to which nothing was done", *each.moved]
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its tables."""
    found = {}
    for golden, corpus in SETS:
        cases = assay.load_golden(HANDBOOK / "golden" / f"{golden}.jsonl")
        found[golden] = measure(cases, assay.load_corpus(HANDBOOK / "corpus" / f"{corpus}.jsonl"))
    print(report(found))


if __name__ == "__main__":
    main()
