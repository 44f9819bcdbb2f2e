"""Contenders of `benchmarks.trec`: each scores a TREC run with qrels in its own process.

`python trec_contenders.py NAME QRELS RUN` prints the means and the peak memory of the process and of its children as
JSON. Imports are local to the contenders, so that each one pays only for its own.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

Means = dict[str, float]
Table = dict[str, dict[str, Any]]

MEASURES = ("ndcg@10", "recall@100", "ap", "rr", "precision@10")


def assay(workers: int) -> Callable[[Path, Path], Means]:
    """Return a scoring function that uses Assay with `workers` processes, set up as its command does."""

    def score(qrels: Path, run: Path) -> Means:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from math import fsum

        from assay.formats.trec.qrels import read_qrels
        from assay.metrics.metric import parse_metric_name
        from assay.runs.score_trec_run import score_trec_file

        names = ("ndcg(gain=linear)@10", *MEASURES[1:])
        scores = score_trec_file(read_qrels(qrels), run, [parse_metric_name(name) for name in names], workers=workers)
        means = {}
        for measure, name in zip(MEASURES, names, strict=True):
            column = scores.table.columns[name]
            means[measure] = fsum(column.values[column.status == 0]) / int((column.status == 0).sum())
        return means

    return score


def _pytrec_means(qrels: Table, run: Table) -> Means:
    import pytrec_eval

    their_names = ("ndcg_cut_10", "recall_100", "map", "recip_rank", "P_10")
    requested = {"ndcg_cut.10", "recall.100", "map", "recip_rank", "P.10"}
    results = pytrec_eval.RelevanceEvaluator(qrels, requested).evaluate(run)
    return {
        name: sum(values[measure] for values in results.values()) / len(results)
        for name, measure in zip(MEASURES, their_names, strict=True)
    }


def pytrec_eval_own(qrels: Path, run: Path) -> Means:
    """pytrec_eval with its own functions for reading files."""
    import pytrec_eval

    with qrels.open() as lines:
        judgments = pytrec_eval.parse_qrel(lines)
    with run.open() as lines:
        rankings = pytrec_eval.parse_run(lines)
    return _pytrec_means(judgments, rankings)


def pytrec_eval_loop(qrels: Path, run: Path) -> Means:
    """pytrec_eval with the fastest plain loop that was found: no checks, no garbage collection meanwhile."""
    gc.disable()
    return _pytrec_means(_read(qrels, 3, int), _read(run, 4, float))


def _read(path: Path, column: int, convert: Callable[[str], float]) -> Table:
    table: Table = {}
    query, documents = "", {}
    with path.open() as lines:
        for line in lines:
            fields = line.split()
            if fields[0] != query:
                query = fields[0]
                documents = table.setdefault(query, {})
            documents[fields[2]] = convert(fields[column])
    return table


def ir_measures(qrels: Path, run: Path) -> Means:
    """ir_measures with its own reading and its default provider for each measure."""
    ir: Any = import_module("ir_measures")

    theirs = [ir.parse_measure(name) for name in ("nDCG@10", "R@100", "AP", "RR", "P@10")]
    results = ir.calc(theirs, ir.read_trec_qrels(str(qrels)), ir.read_trec_run(str(run)))
    return {name: results.aggregated[measure] for name, measure in zip(MEASURES, theirs, strict=True)}


def ranx(qrels: Path, run: Path) -> Means:
    """ranx with its own reading; its compiled functions come from their cache after the first run."""
    library: Any = import_module("ranx")

    theirs = ("ndcg@10", "recall@100", "map", "mrr", "precision@10")
    judgments = library.Qrels.from_file(str(qrels), kind="trec")
    rankings = library.Run.from_file(str(run), kind="trec")
    means: Mapping[str, float] = library.evaluate(judgments, rankings, list(theirs))
    return {name: float(means[measure]) for name, measure in zip(MEASURES, theirs, strict=True)}


CONTENDERS: dict[str, Callable[[Path, Path], Means]] = {
    "assay-1": assay(1),
    "assay-2": assay(2),
    "pytrec_eval-own": pytrec_eval_own,
    "pytrec_eval-loop": pytrec_eval_loop,
    "ir_measures": ir_measures,
    "ranx": ranx,
}


def main() -> None:
    """Run one contender and print what it found."""
    name, qrels, run = sys.argv[1:]
    means = CONTENDERS[name](Path(qrels), Path(run))
    peaks = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({"means": means, "peaks_mib": peaks}))


if __name__ == "__main__":
    main()
