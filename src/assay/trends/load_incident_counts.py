"""Counts incidents by the cause that people found: from incident files that they filled in, and from an audit store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

from assay.audit.commands import list_findings
from assay.formats.file_io import open_file
from assay.records.errors import InputError, Problem
from assay.trends.history_results import CauseCount, IncidentCounts

MAX_INCIDENT_BYTES = 64 * 2**20
FINDING_COLUMNS = 4
_TITLE = re.compile(r"^# Incident (.+)$", re.MULTILINE)
_FINDINGS_HEADING = "\n## Findings\n"
_CELL_END = re.compile(r"(?<!\\)\|")


def count_incidents(store: str | None, files: Sequence[str]) -> IncidentCounts:
    """Return the incidents of an audit store and of incident files in Markdown, each counted once by its answer.

    An answer of the store with a finding is closed, under the cause of its last finding. A file is closed if a row of
    its findings has cause, owner, decision and date, else open. Raises InputError for a file that is no incident.
    """
    if store is None and not files:
        return IncidentCounts(None, None, (), "no audit store or incident files were named (--store, --incidents)")
    causes: dict[str, str | None] = {}
    for path in files:
        answer_id, cause = read_incident_finding(Path(path))
        causes[answer_id] = cause or causes.get(answer_id)
    if store is not None:
        causes |= {finding.answer_id: finding.cause for finding in list_findings(store)}
    counted = Counter(cause for cause in causes.values() if cause is not None)
    by_cause = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    closed = sum(counted.values())
    return IncidentCounts(len(causes) - closed, closed, tuple(CauseCount(*item) for item in by_cause))


def read_incident_finding(path: Path) -> tuple[str, str | None]:
    """Return the id of the answer in an incident file of `assay audit show --file`, and the cause of its last finding.

    The cause is None while no row is filled in. Raises InputError for another file.
    """
    with open_file(path) as file:
        content = file.read(MAX_INCIDENT_BYTES + 1)
    if len(content) > MAX_INCIDENT_BYTES:
        raise _refuse(path, f"larger than {MAX_INCIDENT_BYTES} bytes")
    try:
        text = content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _refuse(path, f"not UTF-8 (byte {error.start})") from None
    title = _TITLE.match(text)
    _, heading, findings = text.rpartition(_FINDINGS_HEADING)
    if title is None or not heading:
        raise _refuse(path, "not an incident in Markdown")
    cause = None
    for cells in _iterate_rows(findings.partition("\n## ")[0]):
        cause = cells[0]
    return unescape(title[1].strip()), cause


def _iterate_rows(table: str) -> Iterator[list[str]]:
    """Yield the rows of the findings of which every cell is filled in."""
    rows = [line.strip() for line in table.splitlines() if line.strip().startswith("|")]
    for row in rows[2:]:
        cells = [unescape(cell.replace("\\|", "|")).strip() for cell in _CELL_END.split(row.strip("|"))]
        if len(cells) == FINDING_COLUMNS and all(cells):
            yield cells


def _refuse(path: Path, fault: str) -> InputError:
    message = f"{fault} (expected a file of `assay audit show ID --file FILE.md`, with its table of findings)"
    return InputError([Problem(str(path), None, "", message, "E_FORMAT")])
