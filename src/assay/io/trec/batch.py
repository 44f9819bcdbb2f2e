"""Rankings of TREC queries as `RankingTable`s, and the ranking metrics over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.errors import MetricNameError, Problem
from assay.graders.names import MetricName
from assay.graders.retrieval import _values as ranking_values
from assay.io.trec.qrels import Qrels
from assay.io.trec.run import Rankings
from assay.io.trec.tokens import Floats, Places
from assay.metrics.ranking import RankingTable

METRICS = ("ap", "hit", "judged", "ndcg", "precision", "r_precision", "recall", "rr")
DEFAULT_REL = 1
ROWS = 4096
CELLS = 1 << 21


def relevance(name: MetricName) -> int:
    """Return the lowest grade that counts as relevant: `rel=N`, else 1."""
    rel = name.key("rel", "required")
    return DEFAULT_REL if rel == "required" else int(rel)


def check_names(names: Sequence[MetricName]) -> None:
    """Raise MetricNameError for metrics that a TREC run cannot have: all it holds is one ranking per query."""
    wrong = [name for name in names if name.base not in METRICS or name.key("stage", "retrieved") != "retrieved"]
    if wrong:
        why = f"a TREC run holds one ranking per query (expected one of {', '.join(METRICS)}, without a stage)"
        raise MetricNameError([Problem("", None, "metric", f"cannot score {name}: {why}") for name in wrong])


class Scorer:
    """Scores rankings in batches; the values of a query do not depend on the batch that it falls into."""

    def __init__(self, qrels: Qrels, names: Sequence[MetricName]) -> None:
        self.names = names
        self._qrels = qrels
        self._units = {rel: qrels.units(rel) for rel in {DEFAULT_REL, *map(relevance, names)}}
        self._waiting: list[Rankings] = []
        self._queries: list[Places] = [np.zeros(0, dtype=np.int64)]
        self._values: list[list[Floats]] = [[np.zeros(0)] for _ in names]

    def add(self, rankings: Rankings) -> None:
        """Take more rankings."""
        self._waiting.append(rankings)
        if sum(len(waiting.query) for waiting in self._waiting) >= ROWS:
            self._flush()

    def result(self) -> tuple[Places, list[Floats]]:
        """Return the queries scored, and one array of their values for each metric."""
        if self._waiting:
            self._flush()
        return np.concatenate(self._queries), [np.concatenate(values) for values in self._values]

    def _flush(self) -> None:
        """Score what is waiting: rankings of like size together, so that padding stays small."""
        rankings = Rankings.joined(self._waiting)
        self._waiting = []
        size = np.maximum(rankings.length, self._units[DEFAULT_REL][rankings.query])
        order = np.argsort(-size, kind="stable")
        first = 0
        while first < len(order):
            count = max(1, CELLS // int(size[order[first]]))
            self._score(rankings.take(order[first : first + count]))
            first += count

    def _score(self, rankings: Rankings) -> None:
        tables = self._tables(rankings)
        self._queries.append(rankings.query)
        for name, values in zip(self.names, self._values, strict=True):
            values.append(ranking_values(tables[relevance(name)], name))

    def _tables(self, rankings: Rankings) -> dict[int, RankingTable]:
        """Return the table for each level of relevance; columns lie together in memory, for sums go rank by rank."""
        shape = (int(rankings.length.max()), len(rankings.query))
        place = rankings.slot, rankings.row
        grade = np.zeros(shape, dtype=np.int8)
        grade[place] = np.maximum(rankings.grade, 0)
        judged = np.zeros(shape, dtype=np.bool_)
        judged[place] = rankings.grade >= 0
        positive = self._units[DEFAULT_REL][rankings.query]
        ideal = self._qrels.ideal(rankings.query, positive)
        length = rankings.length.astype(np.int32)
        tables: dict[int, RankingTable] = {}
        for rel, units in self._units.items():
            covered = (grade >= rel).astype(np.int32)
            tables[rel] = RankingTable(length, units[rankings.query], grade.T, covered.T, judged.T, ideal)
        return tables
