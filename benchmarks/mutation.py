"""Mutation test of the metrics: good observations are damaged in known ways, and the right metrics must notice it.

`python -m benchmarks.mutation` prints, for each mutation, the number of damaged observations and the share that each
responsible metric noticed; then failed checks of unchanged observations, and every score that moved on an unchanged
row. The golden sets are those of the handbook example; its application is not used. Its answers are the references.

Then answers that never repeat a reference, and defects that keep the words of a right answer, over golden sets of every
kind (`benchmarks/answer_mutations.py`): the share of cases that fail a check, that are unknown, that only have a
warning, and of which only attribution has a doubt. It is printed as it is; there is no bar.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

import assay
from assay.metrics.catalog import DEFAULT_METRICS, find_metric, parse_metric
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.observations import Observation
from assay.records.scores import SCORED, ScoreTable
from benchmarks.answer_mutations import format_outcomes, measure_answers
from benchmarks.mutations import MUTATIONS, make_good_observation, make_settings

HANDBOOK = Path(__file__).parents[1] / "examples" / "handbook"
SETS = (("handbook", "chunks"), ("operations", "operations"))
UNTOUCHED = "untouched"


class Noticed(NamedTuple):
    """How often one metric got worse on the rows of one mutation."""

    mutation: str
    metric: str
    worse: int
    of: int


class MutationResult(NamedTuple):
    """What a golden set gave: detections, good observations that failed a check, and scores that moved unprovoked."""

    noticed: list[Noticed]
    cases: int
    alarmed: list[str]
    moved: list[str]
    spoiled: dict[str, int]


def is_worse(metric: str, before: ScoreTable, after: ScoreTable, row: int) -> bool:
    """Return whether the score of a case got worse, or a fault without score before has one now."""
    old, new = before.columns.get(metric), after.columns.get(metric)
    if old is None or new is None or new.status[row] != SCORED:
        return False
    lower = find_metric(parse_metric(metric)).direction == "lower"
    if old.status[row] != SCORED:
        return lower and new.values[row] > 0
    change = new.values[row] - old.values[row]
    return bool(change > 0 if lower else change < 0)


def measure_golden_set(golden: GoldenSet, corpus: Corpus) -> MutationResult:
    """Score the good observations of a golden set, and each mutation of them as a configuration."""
    settings = make_settings(golden, corpus)
    good_observations = [make_good_observation(setting) for setting in settings]
    rows: list[Observation] = [*good_observations]
    spoiled: dict[str, list[int]] = {}
    for mutation in MUTATIONS:
        mutated = [
            mutation.mutate(setting, observation)
            for setting, observation in zip(settings, good_observations, strict=True)
        ]
        spoiled[mutation.name] = [row for row, observation in enumerate(mutated) if observation is not None]
        rows += [
            replace(observation if observation is not None else untouched, config_id=mutation.name)
            for observation, untouched in zip(mutated, good_observations, strict=True)
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
        untouched_rows = np.setdiff1d(np.arange(len(good_observations)), chosen)
        moved += [
            f"{mutation.name}: {metric}" for metric in before.columns if _moved(metric, before, after, untouched_rows)
        ]
    failed = [f"{each.case_id}: {', '.join(each.failed)}" for each in before.checks if each.failed]
    return MutationResult(
        noticed, len(good_observations), failed, moved, {name: len(chosen) for name, chosen in spoiled.items()}
    )


def _applies(metric: str, before: ScoreTable, after: ScoreTable, row: int) -> bool:
    return any(table.columns[metric].status[row] == SCORED for table in (before, after) if metric in table.columns)


def _moved(metric: str, before: ScoreTable, after: ScoreTable, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> bool:
    old, new = before.columns[metric], after.columns[metric]
    same = np.array_equal(old.values[rows], new.values[rows]) and np.array_equal(old.status[rows], new.status[rows])
    return not same


def report(results: dict[str, MutationResult]) -> str:
    """Return the tables as Markdown."""
    lines = ["| mutation | spoiled | metric that must notice | noticed | of |", "|---|---|---|---|---|"]
    for mutation in MUTATIONS:
        spoiled = sum(result.spoiled[mutation.name] for result in results.values())
        for metric in mutation.worse:
            rows = [n for result in results.values() for n in result.noticed if n[:2] == (mutation.name, metric)]
            worse, of = sum(n.worse for n in rows), sum(n.of for n in rows)
            share = f"{worse / of:.3f}" if of else "n/a"
            lines.append(f"| {mutation.name} | {spoiled} | {metric} | {share} | {of} |")
    for name, result in results.items():
        lines += ["", f"{name}: {len(result.alarmed)} of {result.cases} untouched good observations fail a check"]
        lines += [f"- {case}" for case in result.alarmed]
        lines += [f"{name}: {len(result.moved)} scores moved on rows to which nothing was done", *result.moved]
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its tables."""
    results = {}
    for golden, corpus in SETS:
        cases = assay.load_golden(HANDBOOK / "golden" / f"{golden}.jsonl")
        results[golden] = measure_golden_set(cases, assay.load_corpus(HANDBOOK / "corpus" / f"{corpus}.jsonl"))
    print(report(results))
    print(format_outcomes(list(measure_answers())))


if __name__ == "__main__":
    main()
