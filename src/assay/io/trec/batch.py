"""Scores the rankings of a TREC run in batches: builds `RankingTable`s and computes the ranking metrics on them."""

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
"""Rankings that are collected before they are scored."""
CELLS = 1 << 21
"""Cells of a table at most, padding included; it bounds the memory of a batch."""


def relevance(name: MetricName) -> int:
    """Return the lowest grade that counts as relevant: N of `rel=N`, else 1."""
    rel = name.key("rel", "required")
    return DEFAULT_REL if rel == "required" else int(rel)


def check_names(names: Sequence[MetricName]) -> None:
    """Raise MetricNameError for metrics that cannot be computed from one ranking per query."""
    unsupported = [name for name in names if name.base not in METRICS or name.key("stage", "retrieved") != "retrieved"]
    if unsupported:
        reason = f"a TREC run holds one ranking per query (expected one of {', '.join(METRICS)}, without a stage)"
        raise MetricNameError([Problem("", None, "metric", f"cannot score {name}: {reason}") for name in unsupported])


class Scorer:
    """Scores rankings in batches; the values of a query do not depend on its batch."""

    def __init__(self, qrels: Qrels, names: Sequence[MetricName]) -> None:
        self.names = names
        self._qrels = qrels
        self._units = {rel: qrels.units(rel) for rel in {DEFAULT_REL, *map(relevance, names)}}
        self._pending: list[Rankings] = []
        self._queries: list[Places] = [np.zeros(0, dtype=np.int64)]
        self._values: list[list[Floats]] = [[np.zeros(0)] for _ in names]

    def add(self, rankings: Rankings) -> None:
        """Add rankings; they are scored once there are enough of them, or by `result`."""
        self._pending.append(rankings)
        if sum(len(pending.query) for pending in self._pending) >= ROWS:
            self._flush()

    def result(self) -> tuple[Places, list[Floats]]:
        """Return the ordinals of the scored queries, of shape (n,), and for each metric an array of their values."""
        if self._pending:
            self._flush()
        return np.concatenate(self._queries), [np.concatenate(values) for values in self._values]

    def _flush(self) -> None:
        """Score the pending rankings, those of similar length together to keep the padding small."""
        rankings = Rankings.joined(self._pending)
        self._pending = []
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
        """Return the table for each level of relevance, its arrays in column order because sums run rank by rank."""
        shape = (int(rankings.length.max()), len(rankings.query))
        cells = rankings.slot, rankings.row
        grade = np.zeros(shape, dtype=np.int8)
        grade[cells] = np.maximum(rankings.grade, 0)
        judged = np.zeros(shape, dtype=np.bool_)
        judged[cells] = rankings.grade >= 0
        positive = self._units[DEFAULT_REL][rankings.query]
        ideal = self._qrels.ideal(rankings.query, positive)
        length = rankings.length.astype(np.int32)
        tables: dict[int, RankingTable] = {}
        for rel, units in self._units.items():
            covered = (grade >= rel).astype(np.int32)
            tables[rel] = RankingTable(length, units[rankings.query], grade.T, covered.T, judged.T, ideal)
        return tables
