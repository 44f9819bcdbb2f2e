"""Lists the run folders below a folder, and finds the newest HTML report, for people who come back to them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assay.formats.run_files.run_folder import DERIVED_FOLDER, MANIFEST_FILE, read_manifest
from assay.records.errors import AssayError, InputError, Problem
from assay.report.findings.table import Table
from assay.runs.saved_scores import load_saved_report

SEARCH_DEPTH = 3
"""How many folders deep runs and reports are looked for."""
_REPORT_TITLE = b"<title>Assay report</title>"
_HEAD_BYTES = 4096
_DIGEST_LETTERS = len("sha256:") + 8
_SKIPPED = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run folder: when it was last scored, what is in it, and what its gate decided, "not scored" without scores."""

    path: Path
    changed: datetime
    configs: tuple[str, ...]
    golden: str
    decision: str


def list_runs(folder: Path) -> list[RunRow]:
    """Return the run folders in a folder and below it, the one that changed last first.

    Raises InputError if the folder does not exist.
    """
    rows = [
        _read_run(path.parent, path)
        for path in iterate_files_below(_require_folder(folder), SEARCH_DEPTH, MANIFEST_FILE)
    ]
    return sorted(rows, key=lambda row: (-row.changed.timestamp(), str(row.path)))


def build_runs_table(rows: list[RunRow]) -> Table:
    """Return the run folders as a table."""
    cells = [
        (str(row.path), row.changed.strftime("%Y-%m-%d %H:%M"), ", ".join(row.configs), row.golden, row.decision)
        for row in rows
    ]
    return Table("Runs", ("Run", "Changed (UTC)", "Configurations", "Golden set", "Decision"), tuple(cells))


def describe_last_gate(folder: Path, profiles: Collection[str], decided: str) -> str:
    """Return a note of what the last gate decided about a run to which none is applied now; "" without one.

    `profiles` are the names of the gates that need no file; `decided` names what is made without a gate, in the plural.
    """
    try:
        saved = load_saved_report(folder)
    except AssayError:
        return ""
    if saved.decision.outcome in ("NOT_GATED", "PARTIAL"):
        return ""
    option = f"--profile {saved.gate}" if saved.gate in profiles else "--gate with its file"
    gate = f"the gate {saved.gate}" if saved.gate else "a gate without a name"
    return (
        f"the run was last decided by {gate} ({saved.decision.outcome}); no gate was given for {decided}, so they "
        f"decide nothing ({option} applies it)"
    )


def find_newest_report(place: Path) -> Path:
    """Return an HTML report: the file itself, or of those in a folder and below it the one written last.

    Raises InputError if there is none, or if the file is no report.
    """
    if place.is_file():
        if not _is_report(place):
            raise InputError([Problem(str(place), None, "", "no HTML report of Assay (expected one)", "E_REPORT")])
        return place
    reports = [path for path in iterate_files_below(_require_folder(place), SEARCH_DEPTH, "*.html") if _is_report(path)]
    if not reports:
        message = (
            "no HTML report here (expected one written by `assay score --html FILE` or `assay report RUN --html FILE`)"
        )
        raise InputError([Problem(str(place), None, "", message, "E_REPORT")])
    return max(reports, key=lambda path: (path.stat().st_mtime_ns, str(path)))


def _require_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError([Problem(str(folder), None, "", "no such folder (expected a folder with runs)", "E_PATH")])
    return folder


def iterate_files_below(folder: Path, depth: int, pattern: str) -> Iterator[Path]:
    """Yield the files that match a pattern in a folder and so many levels below; links to folders are not followed."""
    try:
        entries = sorted(folder.iterdir())
        yield from (path for path in sorted(folder.glob(pattern)) if path.is_file())
    except OSError:
        return  # a folder that may not be read holds no runs of the reader
    for entry in entries if depth else ():
        if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith(".") and entry.name not in _SKIPPED:
            yield from iterate_files_below(entry, depth - 1, pattern)


def _read_run(folder: Path, manifest_file: Path) -> RunRow:
    report = folder / DERIVED_FOLDER / "report.json"
    newest = report if report.is_file() else manifest_file
    changed = datetime.fromtimestamp(newest.stat().st_mtime, UTC)
    try:
        manifest = read_manifest(folder)
    except AssayError:
        return RunRow(folder, changed, (), "", "not a readable run folder")
    named = manifest.get("golden") or {}
    golden = " ".join(part for part in (named.get("name"), named.get("version")) if part)
    golden = golden or str(manifest.get("golden_digest") or "")[:_DIGEST_LETTERS]  # a set without name and version
    return RunRow(folder, changed, tuple(manifest.get("configs") or ()), golden, _read_decision(report))


def _read_decision(report: Path) -> str:
    if not report.is_file():
        return "not scored"
    try:
        content = json.loads(report.read_bytes())
        return str(content["decision"]["outcome"])
    except (OSError, ValueError, KeyError, TypeError):
        return "unreadable scores"


def _is_report(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _REPORT_TITLE in file.read(_HEAD_BYTES)
    except OSError:
        return False
