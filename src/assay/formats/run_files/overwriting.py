"""Refuses to write over what is read: every command that writes a file named by the user asks here first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from assay.formats.file_io import is_file, is_folder
from assay.formats.run_files.run_folder import (
    CALIBRATION_FILE,
    CORPUS_FILE,
    GOLDEN_FILE,
    LABELS_FILE,
    MANIFEST_FILE,
    OBSERVATIONS_FILE,
    REPLACED_FILE,
    RUBRICS_FOLDER,
    RUN_LOCK_FILE,
    VERDICTS_FILE,
    VERDICTS_STORE_FILE,
)
from assay.records.errors import InputError, Problem, shorten_repr
from assay.text.late_pattern import LatePattern

_RUN_FILES = frozenset(
    {
        *(MANIFEST_FILE, GOLDEN_FILE, CORPUS_FILE, OBSERVATIONS_FILE, REPLACED_FILE, RUN_LOCK_FILE),
        *(VERDICTS_STORE_FILE, VERDICTS_FILE, CALIBRATION_FILE, LABELS_FILE),
    }
)
_NUMBERED_RUN_FILE = LatePattern(rf"observations-\d+\.jsonl|{re.escape(VERDICTS_STORE_FILE)}-(wal|shm)")


def refuse_overwriting(
    written: Sequence[str | None], read: Sequence[str | None], *, into_runs: bool = False, run: str | None = None
) -> None:
    """Raise InputError if a name to write is not that of a file, or the file is also read or written elsewhere.

    `read` are files and folders; nothing may be written into a folder that is read. Nor is a file of any run folder
    replaced, except with `into_runs`. `run` is a folder that is about to become one.
    """
    read_paths = {os.path.realpath(name) for name in read if name is not None and name != "-"}
    folders = {path for path in read_paths if is_folder(path)}
    written_paths: set[str] = set()
    problems = []
    for name in written:
        if name is None:
            continue
        path = os.path.realpath(name) if "\0" not in name else name
        if not name.strip() or name == "-" or "\0" in name:
            message = f"not the name of a file to write (got {shorten_repr(name)}; expected one such as report.md)"
            problems.append(Problem("", None, "", message, "E_FILE_NAME"))
        elif name.endswith(os.sep) or is_folder(name):
            problems.append(Problem(name, None, "", "is a folder (expected the name of a file)", "E_FILE_NAME"))
        elif path in read_paths | written_paths or not folders.isdisjoint(map(str, Path(path).parents)):
            message = "would overwrite a file that is also read or written (expected a different name)"
            problems.append(Problem(name, None, "", message, "E_OVERWRITE"))
        elif not into_runs and _is_run_file(Path(path), None if run is None else Path(os.path.realpath(run))):
            message = "would overwrite a file of a run folder (expected a different name)"
            problems.append(Problem(name, None, "", message, "E_OVERWRITE"))
        written_paths.add(path)
    if problems:
        raise InputError(problems)


def list_rubric_files(folders: Iterable[str]) -> Iterator[str]:
    """Yield the rubrics in some folders, which are read, unlike other files there."""
    for folder in folders:
        yield from map(str, Path(folder).glob("*.yaml"))


def _is_run_file(path: Path, run: Path | None) -> bool:
    """Return whether a path is that of a file that a run consists of; derived files and reports are not."""
    folder = path.parent.parent if path.parent.name == RUBRICS_FOLDER else path.parent
    if folder != run and not is_file(folder / MANIFEST_FILE):
        return False
    return folder != path.parent or path.name in _RUN_FILES or _NUMBERED_RUN_FILE.fullmatch(path.name) is not None
