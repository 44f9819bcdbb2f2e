"""The reports of a result as files."""

from __future__ import annotations

from pathlib import Path

from assay.records.errors import InputError
from assay.records.requests import ReportFiles
from assay.runs.check_arguments import read_path
from assay.runs.python_values import PathLike, says_arguments
from assay.runs.score_result import ScoreResult, require_result


@says_arguments
def report(
    result: ScoreResult,
    *,
    markdown: PathLike | None = None,
    html: PathLike | None = None,
    json: PathLike | None = None,
    junit: PathLike | None = None,
    csv: PathLike | None = None,
    per_case: PathLike | None = None,
    now: str | None = None,
) -> list[Path]:
    """Write the reports that are named, and return their paths. `now` is the time in them, ISO 8601.

    Raises IncompleteError for a file that cannot be written.
    """
    from assay.report.write_reports import write_reports

    files = ReportFiles(
        markdown=read_path(markdown),
        html=read_path(html),
        json=read_path(json),
        junit=read_path(junit),
        csv=read_path(csv),
        per_case=read_path(per_case),
        now=now,
    )
    written = write_reports(require_result(result, "result").run, files)
    if not written:
        raise InputError("report: no file named (expected markdown, html, json, junit, csv or per_case)")
    return [path for _, path in written]
