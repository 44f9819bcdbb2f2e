"""Recall of each entity of the questions: how many of the cases that name it got evidence that mentions it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.report.findings.table import Table
from assay.report.wording.number_format import format_number

MAX_ENTITIES_SHOWN = 20
_MAX_CASES_SHOWN = 5


class EntityRecall(NamedTuple):
    """One entity: in how many measured cases the question names it, and in which of them the evidence does not.

    Of several observations of a case the first counts.
    """

    entity: str
    cases: int
    missing: tuple[str, ...]

    @property
    def recall(self) -> float:
        """The share of the cases whose evidence mentions the entity, in [0, 1]."""
        return 1 - len(self.missing) / self.cases


EntityRecalls = Mapping[str, Mapping[str, Sequence[EntityRecall]]]
"""The recall of each entity by configuration and metric, the lowest first."""


def build_entities_table(recalls: EntityRecalls) -> Table:
    """Return the entities that evidence lacked, those with the lowest recall first."""
    rows: list[tuple[str, ...]] = []
    left_out = 0
    for config, by_metric in recalls.items():
        for metric, entities in by_metric.items():
            lacking = [row for row in entities if row.missing]
            left_out += max(0, len(lacking) - MAX_ENTITIES_SHOWN)
            for row in lacking[:MAX_ENTITIES_SHOWN]:
                more = " …" if len(row.missing) > _MAX_CASES_SHOWN else ""
                cases = ", ".join(row.missing[:_MAX_CASES_SHOWN]) + more
                rows.append((config, metric, row.entity, format_number(row.recall), str(row.cases), cases))
    notes = (f"{left_out} more entities are in the JSON report.",) if left_out else ()
    columns = ("Config", "Metric", "Entity", "Recall", "Cases", "Missing in")
    return Table("Entities missing from the evidence", columns, tuple(rows), notes)
