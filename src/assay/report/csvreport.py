"""Scores of every case as CSV, for a spreadsheet: a cell without a score is empty and another column says why."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

from assay.model import SCORED, STATUS_NAMES, Case, ScoreTable
from assay.report.safe import csv_cell

_FIRST = ("config_id", "case_id", "behaviour", "difficulty", "tags", "failed_checks", "warnings")
_LAST = "not_scored"


class _Line:
    """Takes what the CSV writer writes, one row at a time."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        """Take one row."""
        self.text = text


def csv_lines(tables: Mapping[str, ScoreTable], cases: Mapping[str, Case], *, raw: bool = False) -> Iterator[bytes]:
    """Yield a header and one row for each configuration and case, configurations sorted, cases in golden order.

    Columns of metrics are the same for all configurations. The last column names every metric without a score with its
    reason. Unless `raw`, a cell that a spreadsheet would take for a formula begins with an apostrophe.
    """
    line = _Line()
    writer = csv.writer(line)
    metrics = sorted({metric for table in tables.values() for metric in table.columns})
    writer.writerow([*_FIRST, *metrics, _LAST])
    yield line.text.encode()
    cell = str if raw else csv_cell
    for config, table in sorted(tables.items()):
        checks = {found.case_id: found for found in table.checks}
        columns = [table.columns.get(metric) for metric in metrics]
        for row, case_id in enumerate(table.case_ids):
            case, found = cases[case_id], checks.get(case_id)
            failed, warned = (found.failed, found.warnings) if found is not None else ((), ())
            first = (config, case_id, case.behaviour, case.difficulty, ";".join(case.tags), ";".join(failed))
            values = [
                repr(float(column.values[row])) if column is not None and column.status[row] == SCORED else ""
                for column in columns
            ]
            without = [
                f"{column.metric}: {STATUS_NAMES[column.status[row]]} ({column.reasons[column.reason[row]]})"
                for column in columns
                if column is not None and column.status[row] != SCORED
            ]
            writer.writerow([*map(cell, (*first, ";".join(warned))), *values, cell("; ".join(without))])
            yield line.text.encode()
