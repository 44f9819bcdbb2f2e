"""Scores of every case as CSV, for a spreadsheet: a cell without a score is empty and the last column says why."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

from assay.model import SCORED, STATUS_NAMES, Case, ScoreTable
from assay.report.safe import csv_cell

_LEADING_COLUMNS = ("config_id", "case_id", "behaviour", "difficulty", "tags", "failed_checks", "warnings")
_NOT_SCORED_COLUMN = "not_scored"


class _LineBuffer:
    """The file that the CSV writer writes to: holds the last row only, so that rows can be streamed."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        """Keep one row."""
        self.text = text


def csv_lines(tables: Mapping[str, ScoreTable], cases: Mapping[str, Case], *, raw: bool = False) -> Iterator[bytes]:
    """Yield a header and one row for each configuration and case, configurations sorted, cases in golden order.

    All configurations have the same metric columns. The last column lists the metrics without a score and the reasons.
    Unless `raw`, a cell that a spreadsheet would take for a formula starts with an apostrophe.
    """
    line = _LineBuffer()
    writer = csv.writer(line)
    metrics = sorted({metric for table in tables.values() for metric in table.columns})
    writer.writerow([*_LEADING_COLUMNS, *metrics, _NOT_SCORED_COLUMN])
    yield line.text.encode()
    cell = str if raw else csv_cell
    for config, table in sorted(tables.items()):
        checks = {case_checks.case_id: case_checks for case_checks in table.checks}
        columns = [table.columns.get(metric) for metric in metrics]
        for row, case_id in enumerate(table.case_ids):
            case, case_checks = cases[case_id], checks.get(case_id)
            failed, warned = (case_checks.failed, case_checks.warnings) if case_checks is not None else ((), ())
            leading = (config, case_id, case.behaviour, case.difficulty, ";".join(case.tags), ";".join(failed))
            values = [
                repr(float(column.values[row])) if column is not None and column.status[row] == SCORED else ""
                for column in columns
            ]
            unscored = [
                f"{column.metric}: {STATUS_NAMES[column.status[row]]} ({column.reasons[column.reason[row]]})"
                for column in columns
                if column is not None and column.status[row] != SCORED
            ]
            writer.writerow([*map(cell, (*leading, ";".join(warned))), *values, cell("; ".join(unscored))])
            yield line.text.encode()
